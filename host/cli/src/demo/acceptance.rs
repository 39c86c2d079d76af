//! Finished work: a paragraph is written by a process that is killed, checked by a program
//! that knows nothing of this one, accepted by somebody else, and completed once. And
//! twelve ways in which work is not finished, each in a home of its own.

mod desk;
mod expected;
mod negatives;

use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use model::Digest;
use serde_json::{Value, json};

use super::claims::Claims;
use super::days::{document, put};
use super::look::{Work, count, keyless, kinds, one, receipts, work};
use super::stage::{Stage, number, text};
use crate::exit;
use desk::{Cited, Desk, PARAGRAPH, of_kind, said};

/// The home of the paragraph.
const HOME: &str = "acceptance";

/// Tells the story and makes its claims.
pub(super) fn tell(stage: &Stage, claims: &mut Claims<'_>) -> anyhow::Result<()> {
    claims.part("Before anything runs: what is expected is fixed by its hash")?;
    desk::prepare(stage)?;
    let mut found = json!({"program": crate::commands::program()});
    let fixed = preregister(stage, claims)?;
    let desk = Desk::declare(stage, HOME, &[])?;
    claims.part("The producer is killed when its call is complete")?;
    let work = produced(&desk, claims, &mut found)?;
    claims.part("A check is evidence about exact bytes, and completes nothing")?;
    let cited = checked(&desk, claims, &work, &mut found)?;
    claims.part("Somebody else accepts; completion follows from that alone")?;
    let history = accepted(&desk, claims, &cited, &mut found)?;
    conflict(&desk, claims, &cited, &mut found)?;
    reopened(&desk, claims, &cited, &history, &mut found)?;
    claims.part("Twelve ways in which work is not finished")?;
    negatives::tell(stage, claims, &mut found)?;
    claims.part("All of it")?;
    let text = document(&found)?;
    let same = Digest::of(text.as_bytes()).to_string();
    claims.claim(
        same == fixed,
        "the results are those that were fixed before anything ran",
        format!("fixed {fixed}\nfound {same}"),
    )?;
    keyless(stage, claims)
}

/// Fixes what is expected and returns its hash.
fn preregister(stage: &Stage, claims: &mut Claims<'_>) -> anyhow::Result<String> {
    let path = stage.path("expected.json");
    let text_of_it = document(&expected::results())?;
    fs::write(&path, &text_of_it).context("writing the expected results")?;
    stage.must(HOME, &["init"])?;
    let path = path.to_string_lossy();
    let note = ["--note", "the results of the paragraph"];
    let fixed = one(stage, HOME, &[&["preregister", &path][..], &note].concat())?;
    let sha256 = text(&fixed, "/expected_sha256").to_owned();
    claims.claim(
        sha256 == Digest::of(text_of_it.as_bytes()).to_string(),
        "the expected results are fixed in the ledger before the task is declared",
        format!("event {} fixes {sha256}", number(&fixed, "/seq")),
    )?;
    Ok(sha256)
}

fn produced(desk: &Desk<'_>, claims: &mut Claims<'_>, found: &mut Value) -> anyhow::Result<Work> {
    let provider = desk.provider(PARAGRAPH, "stop")?;
    let arguments = desk.producing();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let point = "after:call.status_decided";
    let signal = desk.stage.killed_at(&desk.home, &arguments, point)?;
    drop(provider);
    let state = desk.state()?;
    let events = desk.events()?;
    let next = text(&state, "/task_next_operation");
    claims.claim(
        signal == Some(9) && events.len() == 10,
        "the call is ten events, and its process was killed after the last of them",
        format!(
            "signal {}; {}",
            signal.unwrap_or(0),
            kinds(&events).join(", ")
        ),
    )?;
    let status = text(&state, "/task_status");
    claims.claim(
        status == "incomplete" && next == "check_and_accept" && desk.events()? == events,
        "another process knows that the call succeeded, and that the task is not done",
        format!(
            "task {status}, next {next}: {}",
            text(&state, "/task_reason")
        ),
    )?;
    put(
        found,
        "produced",
        json!({"signal": signal, "events": events.len(), "task_status": status, "next": next}),
    );
    work(desk.stage, &desk.home, &desk.task)
}

fn checked(
    desk: &Desk<'_>,
    claims: &mut Claims<'_>,
    work: &Work,
    found: &mut Value,
) -> anyhow::Result<Cited> {
    let mut cited = desk.keep(work)?;
    let refused = other_bytes(desk.stage, &cited)?;
    claims.claim(
        refused == Some(1),
        "the verifier, run by hand, refuses bytes that are not the ones named",
        format!("exit {}", refused.unwrap_or(-1)),
    )?;
    let check = desk.check(&cited.artifact)?;
    cited.check = Some(text(&check, "/check").to_owned());
    let events = desk.events()?.len();
    let state = desk.state()?;
    let (verdict, status) = (text(&check, "/verdict"), text(&state, "/task_status"));
    claims.claim(
        verdict == "PASS" && events == 12 && status == "incomplete",
        "a check that passed is two events, and the task is not done",
        format!(
            "{verdict} of {}; {events} events, task {status}",
            cited.artifact
        ),
    )?;
    put(
        found,
        "checked",
        json!({"verdict": verdict, "events": events, "task_status": status}),
    );
    Ok(cited)
}

/// Runs the verifier over other bytes than the ones named and returns its exit code.
fn other_bytes(stage: &Stage, cited: &Cited) -> anyhow::Result<Option<i32>> {
    let other = fs::File::open(stage.path("edited.txt")).context("opening the edited text")?;
    let status = Command::new("sh")
        .arg(stage.path("check-paragraph.sh"))
        .arg(&cited.artifact)
        .stdin(Stdio::from(other))
        .stdout(Stdio::null())
        .status()
        .context("running the verifier")?;
    Ok(status.code())
}

fn accepted(
    desk: &Desk<'_>,
    claims: &mut Claims<'_>,
    cited: &Cited,
    found: &mut Value,
) -> anyhow::Result<Vec<Value>> {
    let before = desk.events()?.len();
    let ran = desk.accept("editor", cited)?;
    let done = said(&ran);
    let events = desk.events()?;
    let appended = kinds(events.get(before..).unwrap_or_default());
    let state = desk.state()?;
    let status = text(&state, "/task_status");
    let pair = events.get(before..).unwrap_or_default();
    let caused = matches!(pair, [accepted, completed]
        if text(completed, "/cause") == text(accepted, "/id")
            && text(completed, "/body/acceptance") == text(accepted, "/id"));
    claims.claim(
        ran.code == 0 && caused && events.len() == 14 && status == "completed",
        "the acceptance and the completion it caused are the last two of fourteen events",
        format!("{}; task {status}", appended.join(", ")),
    )?;
    put(
        found,
        "accepted",
        json!({
            "exit_code": ran.code, "appended": appended, "events": events.len(),
            "task_status": status,
        }),
    );
    let ran = desk.accept("editor", cited)?;
    let again = said(&ran);
    let after = desk.events()?;
    claims.claim(
        ran.code == 0
            && after == events
            && text(&again, "/acceptance") == text(&done, "/acceptance")
            && text(&again, "/completion") == text(&done, "/completion"),
        "the same acceptance again appends nothing and gives the same answer",
        format!(
            "acceptance {}; {} events",
            text(&again, "/acceptance"),
            after.len()
        ),
    )?;
    put(
        found,
        "repeated",
        json!({
            "exit_code": ran.code, "appended": count(&again, "/appended"), "events": after.len(),
        }),
    );
    Ok(events)
}

fn conflict(
    desk: &Desk<'_>,
    claims: &mut Claims<'_>,
    cited: &Cited,
    found: &mut Value,
) -> anyhow::Result<()> {
    let second = desk.check(&cited.artifact)?;
    let other = Cited {
        check: Some(text(&second, "/check").to_owned()),
        ..cited.clone()
    };
    let before = desk.events()?.len();
    let ran = desk.accept("editor", &other)?;
    let reasons = said(&ran).pointer("/reasons").cloned().unwrap_or_default();
    let events = desk.events()?.len();
    claims.claim(
        ran.code == i32::from(exit::NOT_ACCEPTED) && before == 16 && events == 17,
        "an acceptance by other evidence is refused, once, for its conflict",
        format!(
            "exit {}: {reasons}; {before} then {events} events",
            ran.code
        ),
    )?;
    put(
        found,
        "conflict",
        json!({
            "events_before": before, "exit_code": ran.code, "reasons": reasons,
            "events": events,
        }),
    );
    Ok(())
}

fn reopened(
    desk: &Desk<'_>,
    claims: &mut Claims<'_>,
    cited: &Cited,
    history: &[Value],
    found: &mut Value,
) -> anyhow::Result<()> {
    let events = desk.events()?;
    let state = desk.state()?;
    let status = text(&state, "/task_status");
    let served = receipts(desk.stage, &desk.home)?;
    let accepted = of_kind(&events, "task.accepted");
    let completed = of_kind(&events, "task.completed");
    claims.claim(
        status == "completed" && accepted == 1 && completed == 1 && events.starts_with(history),
        "reopened: completed once, and no earlier event has changed",
        format!(
            "{accepted} accepted, {completed} completed, {} of {} events as they were",
            history.len(),
            events.len()
        ),
    )?;
    let verified = desk.stage.run(&desk.home, &["verify", "--replay"])?;
    let kept = fs::read(desk.stage.artifact(&desk.home, &cited.artifact)?)
        .context("reading the accepted bytes")?;
    let sent = fs::read_to_string(desk.stage.path(HOME).join("answer.json"))
        .context("reading what the provider sent")?;
    let sent: Value = serde_json::from_str(&sent).context("reading what the provider sent")?;
    ensure!(!kept.is_empty(), "the accepted bytes are none");
    claims.claim(
        kept == text(&sent, "/choices/0/message/content").as_bytes()
            && verified.code == 0
            && served == 1,
        "from end to end: the accepted bytes are the text that the provider sent, once",
        format!(
            "{} bytes, {served} receipt, verify exit {}",
            kept.len(),
            verified.code
        ),
    )?;
    put(
        found,
        "reopened",
        json!({
            "task_status": status, "accepted": accepted, "completed": completed,
            "receipts": served,
        }),
    );
    Ok(())
}
