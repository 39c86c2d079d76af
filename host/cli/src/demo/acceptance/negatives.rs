//! Twelve ways in which work is not finished, each in a home of its own.

use std::fs;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::desk::{Cited, Desk, EDITED, PARAGRAPH, WITH_FIGURE, of_kind, said};
use super::expected::REFUSED;
use crate::demo::claims::Claims;
use crate::demo::days::put;
use crate::demo::look::{count, one};
use crate::demo::stage::{Ran, Stage, text};
use crate::exit;

/// Tells all twelve and makes their claims.
pub(super) fn tell(
    stage: &Stage,
    claims: &mut Claims<'_>,
    found: &mut Value,
) -> anyhow::Result<()> {
    fs::create_dir(stage.path("negatives")).context("making a folder for the cases")?;
    let mut refused = json!({});
    for (name, events, exit_code, reasons) in REFUSED {
        let desk = desk(stage, name)?;
        let (ran, cited) = case(&desk, name)?;
        let seen = seen(&desk, ran.as_ref(), &cited)?;
        let expected = json!({
            "events": events, "exit_code": exit_code, "reasons": reasons,
            "rejections": usize::from(exit_code.is_some()), "task_status": "incomplete",
        });
        claims.claim(
            seen == expected,
            &format!("{name}: incomplete"),
            seen.to_string(),
        )?;
        put(&mut refused, name, seen);
    }
    put(found, "refused", refused);
    forged(stage, claims, found)?;
    interrupted(stage, claims, found)
}

/// Makes the home of a case and declares its task.
fn desk<'s>(stage: &'s Stage, name: &str) -> anyhow::Result<Desk<'s>> {
    let home = format!("negatives/{name}");
    stage.must(&home, &["init"])?;
    let grants: &[&str] = if name == "self-acceptance" {
        &["producer=accept"]
    } else {
        &[]
    };
    Desk::declare(stage, &home, grants)
}

/// Brings a case about and returns what became of the acceptance, and what it cited.
fn case(desk: &Desk<'_>, name: &str) -> anyhow::Result<(Option<Ran>, Cited)> {
    let editor = |cited: &Cited| desk.accept("editor", cited).map(Some);
    let (paragraph, reason) = match name {
        "failed-check" => (WITH_FIGURE, "stop"),
        "truncated-generation" => (PARAGRAPH, "length"),
        _ => (PARAGRAPH, "stop"),
    };
    if name == "call-from-other-task" {
        let other = Desk::declare(desk.stage, &desk.home, &[])?;
        let mut cited = other.keep(&other.produce(paragraph, reason)?)?;
        cited.check = Some(checked(&desk.check(&cited.artifact)?));
        return Ok((editor(&cited)?, cited));
    }
    let mut cited = desk.keep(&desk.produce(paragraph, reason)?)?;
    match name {
        "missing-check" => return Ok((editor(&cited)?, cited)),
        "changed-artifact" => cited.artifact = edited(desk, &cited)?,
        _ => {}
    }
    cited.check = Some(match name {
        "error-check" => checked(&desk.check_by(&cited.artifact, &["no-such-verifier"])?),
        "check-for-other-task" => {
            let other = Desk::declare(desk.stage, &desk.home, &[])?;
            checked(&other.check(&cited.artifact)?)
        }
        _ => checked(&desk.check(&cited.artifact)?),
    });
    let ran = match name {
        "no-acceptance" => None,
        "unauthorized" | "self-acceptance" => Some(desk.accept("producer", &cited)?),
        _ => editor(&cited)?,
    };
    Ok((ran, cited))
}

fn checked(check: &Value) -> String {
    text(check, "/check").to_owned()
}

/// Somebody works on the text and keeps what was made of it.
fn edited(desk: &Desk<'_>, cited: &Cited) -> anyhow::Result<String> {
    let file = desk.stage.path("edited.txt");
    let file = file.to_string_lossy();
    let derive = [
        "--actor",
        "writer",
        "derive",
        &file,
        "--from",
        &cited.artifact,
    ];
    let more = ["--tool", "by hand", "--note", "shorter"];
    let derived = one(desk.stage, &desk.home, &[&derive[..], &more].concat())?;
    let made = text(&derived, "/to_sha256").to_owned();
    let same = model::Digest::of(EDITED.as_bytes()).to_string() == made;
    anyhow::ensure!(same, "the edited text was kept as {made}");
    Ok(made)
}

/// Returns how a case ended, with the id of the cited check by its name.
fn seen(desk: &Desk<'_>, ran: Option<&Ran>, cited: &Cited) -> anyhow::Result<Value> {
    let events = desk.events()?;
    let state = desk.state()?;
    let check = cited.check.as_deref().unwrap_or("CHECK");
    let reasons: Vec<String> = ran
        .map(said)
        .and_then(|done| done.pointer("/reasons").and_then(Value::as_array).cloned())
        .unwrap_or_default()
        .iter()
        .map(|reason| reason.as_str().unwrap_or("").replace(check, "CHECK"))
        .collect();
    Ok(json!({
        "events": events.len(),
        "exit_code": ran.map(|ran| ran.code),
        "reasons": reasons,
        "rejections": of_kind(&events, "task.acceptance_rejected"),
        "task_status": text(&state, "/task_status"),
    }))
}

/// A completion that nothing caused. No task command makes one, so it is forged here.
fn forged(stage: &Stage, claims: &mut Claims<'_>, found: &mut Value) -> anyhow::Result<()> {
    let name = "completion-without-acceptance";
    let desk = desk(stage, name)?;
    let cited = desk.keep(&desk.produce(PARAGRAPH, "stop")?)?;
    desk.check(&cited.artifact)?;
    let what = ["--output", "paragraph", "--artifact", &cited.artifact];
    let forge = ["--actor", "forger", "demo-forge", "--task", &desk.task];
    let row = one(stage, &desk.home, &[&forge[..], &what].concat())?;
    let row = text(&row, "/forged").to_owned();
    let state = desk.state()?;
    let events = desk.events()?.len();
    let verified = stage.run(&desk.home, &["verify"])?;
    let finding = verified.lines.first().cloned().unwrap_or_default();
    let (status, basis) = (
        text(&state, "/task_status"),
        text(&state, "/outputs/0/basis"),
    );
    let detail = text(&finding, "/finding/detail");
    claims.claim(
        status == "incomplete" && verified.code == i32::from(exit::DAMAGE),
        &format!("{name}: a row with a valid leaf, forged by this demo, completes nothing"),
        format!(
            "forged {row}; task {status}: {basis}\nverify: {}: {detail}",
            text(&finding, "/finding/object")
        ),
    )?;
    put(
        found,
        name,
        json!({
            "events": events, "task_status": status, "basis": basis, "verify": verified.code,
        }),
    );
    Ok(())
}

/// The process that accepts is killed between its two appends.
fn interrupted(stage: &Stage, claims: &mut Claims<'_>, found: &mut Value) -> anyhow::Result<()> {
    let name = "interrupted-between-appends";
    let desk = desk(stage, name)?;
    let mut cited = desk.keep(&desk.produce(PARAGRAPH, "stop")?)?;
    cited.check = Some(checked(&desk.check(&cited.artifact)?));
    let arguments = desk.accepting("editor", &cited);
    let signal = stage.killed_at(&desk.home, &arguments, "after:task.accepted")?;
    let state = desk.state()?;
    let pending = state.pointer("/outputs/0/acceptance_pending_completion");
    let pending = pending.and_then(Value::as_bool);
    let next = text(&state, "/task_next_operation").to_owned();
    let gap = desk.events()?.len();
    let repaired = said(&desk.accept("editor", &cited)?);
    let events = desk.events()?;
    let after = desk.state()?;
    let status = text(&after, "/task_status");
    claims.claim(
        signal == Some(9) && pending == Some(true) && status == "completed",
        &format!("{name}: the gap is named, and the same acceptance closes it"),
        format!(
            "signal {}, next {next}; then {} more event, task {status}",
            signal.unwrap_or(0),
            count(&repaired, "/appended")
        ),
    )?;
    put(
        found,
        name,
        json!({
            "signal": signal, "pending": pending, "next": next, "events": gap,
            "repaired": {
                "appended": count(&repaired, "/appended"), "events": events.len(),
                "task_status": status,
            },
            "accepted": of_kind(&events, "task.accepted"),
            "completed": of_kind(&events, "task.completed"),
        }),
    );
    Ok(())
}
