//! The third day: somebody accepts the text on what day one made of it. The check
//! passes, the bytes are right, and the ground is gone.

use serde_json::{Value, json};

use super::claims::Claims;
use super::days::{DayOne, V1, put, text_of};
use super::expected::results;
use super::look::{count, event_count, kinds, one, receipts, task_events, task_state};
use super::stage::{Stage, text};
use crate::exit;

/// The evidence of day one, and who wants to accept by it.
struct Cited {
    task: String,
    artifact: String,
    interpretation: String,
    check: String,
}

impl Cited {
    fn accept<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let who = ["--actor", "editor", "accept", "--task", &self.task];
        let what = ["--output", "answer", "--artifact", &self.artifact];
        let evidence = ["--interpretation", &self.interpretation];
        let check = ["--check", &self.check];
        [&who[..], &what, &evidence, &check, more].concat()
    }
}

/// Tells the third day of the main home and makes its claims.
pub(super) fn tell(
    stage: &Stage,
    claims: &mut Claims<'_>,
    day_one: &DayOne,
    found: &mut Value,
) -> anyhow::Result<()> {
    let work = &day_one.work;
    let state = task_state(stage, "main", &work.task)?;
    let next = text_of(&state, "/task_next_operation");
    claims.claim(
        next == "start_call",
        "the task does not ask for its check any more, but for a call",
        format!("next {next}: {}", text(&state, "/task_reason")),
    )?;
    moved(stage, claims, day_one)?;
    let (cited, verdict) = evidence(stage, day_one)?;
    let ran = stage.run("main", &cited.accept(&["--policy", "task-acceptance-v1"]))?;
    let done = ran.lines.first().cloned().unwrap_or_default();
    let expected = results();
    let reasons = |done: &Value| done.pointer("/reasons").cloned().unwrap_or_default();
    let wanted = expected.pointer("/day_three/reasons");
    claims.claim(
        verdict == "PASS"
            && ran.code == i32::from(exit::NOT_ACCEPTED)
            && Some(&reasons(&done)) == wanted,
        "a passing check of the right bytes does not carry a reading that counts no more",
        format!("check {verdict}; exit {}: {}", ran.code, reasons(&done)),
    )?;
    let events = task_events(stage, "main", &work.task)?;
    let appended: Vec<_> = kinds(&events).split_off(events.len().min(12));
    let served = receipts(stage, "main")?;
    claims.claim(
        events.len() == 15 && served == 1,
        "evidence and refusal are three more events; nothing was asked of the provider",
        format!("{}; {served} receipt", appended.join(", ")),
    )?;
    let again = stage.run("main", &cited.accept(&["--policy", "task-acceptance-v1"]))?;
    let again = again.lines.first().cloned().unwrap_or_default();
    let after = event_count(stage, "main", &work.task)?;
    let status = text_of(&task_state(stage, "main", &work.task)?, "/task_status");
    claims.claim(
        reasons(&again) == reasons(&done)
            && text(&again, "/rejection") == text(&done, "/rejection")
            && count(&again, "/appended") == 0,
        "asked again, the answer is the recorded one",
        format!(
            "rejection {}, {after} events, task {status}",
            text(&again, "/rejection")
        ),
    )?;
    put(
        found,
        "day_three",
        json!({
            "task_next_operation": next,
            "check": verdict,
            "exit_code": ran.code,
            "reasons": reasons(&done),
            "appended": appended,
            "events": events.len(),
            "repeat": {"appended": count(&again, "/appended"), "events": after},
            "task_status": status,
            "receipts": served,
        }),
    );
    Ok(())
}

/// Whoever relied on day one is told what moved beneath.
fn moved(stage: &Stage, claims: &mut Claims<'_>, day_one: &DayOne) -> anyhow::Result<()> {
    let lines = stage.must("main", &["impact"])?;
    let first = lines.first().cloned().unwrap_or_default();
    let named = lines.iter().filter(|line| line.get("kind").is_some());
    let values = |name: &str| {
        let of = |side: &str| text_of(&first, &format!("/{side}/{name}"));
        format!("{} -> {}", of("old"), of("new"))
    };
    let fields = ["status", "interpretation", "interpreter/sha256"];
    let fields = fields.map(|name| format!("{name} {}", values(name)));
    claims.claim(
        named.count() == 1
            && text(&first, "/record_kind") == "call.status_decided"
            && text(&first, "/call") == day_one.work.call
            && text(&first, "/moved") == "status",
        "the decision of day one is named as replaced, field by field",
        fields.join("\n"),
    )
}

/// Keeps the text as the rule of day one yields it, and checks it; the check's verdict
/// comes beside.
fn evidence(stage: &Stage, day_one: &DayOne) -> anyhow::Result<(Cited, String)> {
    let work = &day_one.work;
    let store = ["output", &work.attempt, "--store", V1[0], V1[1]];
    let artifact = text_of(&one(stage, "main", &store)?, "/sha256");
    let what = [
        "--task",
        &work.task,
        "--output",
        "answer",
        "--artifact",
        &artifact,
    ];
    let run = ["--actor", "checker", "check", "run"];
    let verifier = ["--", "grep", "-q", "high water"];
    let check = one(stage, "main", &[&run[..], &what, &verifier].concat())?;
    let read = day_one
        .log
        .iter()
        .find(|event| text(event, "/kind") == "attempt.interpreted");
    let interpretation = read.map(|event| text_of(event, "/id")).unwrap_or_default();
    let cited = Cited {
        task: work.task.clone(),
        artifact,
        interpretation,
        check: text_of(&check, "/check"),
    };
    Ok((cited, text_of(&check, "/verdict")))
}
