//! The first two days: a call is read by a naive rule, and reread by a better one; what
//! a killed process leaves; and that nothing is read when the bytes are gone.

use std::fs;

use anyhow::{Context as _, ensure};
use model::Digest;
use serde_json::{Value, json};

use super::claims::Claims;
use super::day_three;
use super::expected::{self, TEN};
use super::look::{
    Work, call_state, count, event_count, keyless, kinds, one, receipts, task_events, task_state,
    work,
};
use super::provider::{self, Provider};
use super::stage::{Ran, Stage, number, text};
use crate::exit;

pub(super) const V1: [&str; 4] = [
    "--interpreter",
    "attempt-interpretation-v1",
    "--policy",
    "attempt-policy-v1",
];
const V2: [&str; 4] = [
    "--interpreter",
    "attempt-interpretation-v2",
    "--policy",
    "attempt-policy-v2",
];

/// What is asked. The file is sent exactly as it is.
const REQUEST: &str = concat!(
    r#"{"model":"kestrel-2","max_completion_tokens":16,"#,
    r#""messages":[{"role":"user","content":"When is high water in the harbour today?"}]}"#,
    "\n"
);

/// Tells the story and makes its claims.
pub(super) fn tell(stage: &Stage, claims: &mut Claims<'_>) -> anyhow::Result<()> {
    claims.part("Before anything runs: what is expected is fixed by its hash")?;
    let fixed = preregister(stage, claims)?;
    let mut found = json!({ "program": fixed.program });
    claims.part("Day one: one request, read by a rule that takes text for completeness (v1)")?;
    let one = day_one(stage, claims, &fixed, &mut found)?;
    claims.part("Day two: the provider's reason decides (v2), over the same bytes")?;
    day_two(stage, claims, &one, &mut found)?;
    claims.part("Day three: an acceptance on the evidence of day one")?;
    day_three::tell(stage, claims, &one, &mut found)?;
    claims.part("Killed right after the response was observed")?;
    killed(stage, claims, &mut found)?;
    claims.part("Without the bytes: refused")?;
    for copy in ["missing", "corrupt"] {
        damaged(stage, claims, &one, copy, &mut found)?;
    }
    claims.part("All of it")?;
    let text = document(&found)?;
    claims.claim(
        Digest::of(text.as_bytes()).to_string() == fixed.sha256,
        "the results are those that were fixed before anything ran",
        format!("{} of the results and of the expected ones", fixed.sha256),
    )?;
    keyless(stage, claims)
}

/// What was fixed before anything ran.
struct Fixed {
    sha256: String,
    seq: u64,
    program: Value,
}

/// How the home stood at the end of day one.
pub(super) struct DayOne {
    pub(super) work: Work,
    pub(super) log: Vec<Value>,
    checkpoint: String,
}

pub(super) fn document(value: &Value) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value).context("writing results")? + "\n")
}

fn preregister(stage: &Stage, claims: &mut Claims<'_>) -> anyhow::Result<Fixed> {
    let text = document(&expected::results())?;
    let path = stage.path("expected.json");
    fs::write(&path, &text).context("writing the expected results")?;
    fs::write(stage.path("request.json"), REQUEST).context("writing the request")?;
    stage.must("main", &["init"])?;
    let path = path.to_string_lossy();
    let note = ["--note", "the results of the three-day story"];
    let arguments = [&["preregister", &path][..], &note].concat();
    let said = one(stage, "main", &arguments)?;
    let log = stage.must("main", &["log", "--limit", "1"])?;
    let created = log.first().cloned().unwrap_or_default();
    let program = created
        .pointer("/body/program")
        .cloned()
        .unwrap_or_default();
    let fixed = Fixed {
        sha256: text_of(&said, "/expected_sha256"),
        seq: number(&said, "/seq"),
        program,
    };
    claims.claim(
        fixed.sha256 == Digest::of(text.as_bytes()).to_string(),
        "the expected results are fixed in the ledger",
        format!("event {} fixes {}", fixed.seq, fixed.sha256),
    )?;
    claims.claim(
        json!(crate::commands::program()) == fixed.program,
        "the home says which program made it",
        fixed.program.to_string(),
    )?;
    Ok(fixed)
}

pub(super) fn text_of(value: &Value, pointer: &str) -> String {
    text(value, pointer).to_owned()
}

/// Declares the task of a home.
fn declare(stage: &Stage, home: &str) -> anyhow::Result<String> {
    let criteria = stage.path("criteria.txt");
    fs::write(&criteria, "names both times of high water\n").context("writing criteria")?;
    let criteria = criteria.to_string_lossy();
    let title = "Say when high water is";
    let output = ["--output", "answer", "--criteria", &criteria];
    let grant = ["--grant", "editor=accept"];
    let arguments = [&["task", "create", title][..], &output, &grant].concat();
    let created = one(stage, home, &arguments)?;
    Ok(text_of(&created, "/task"))
}

fn call_arguments<'a>(request: &'a str, task: &'a str) -> Vec<&'a str> {
    let call = ["call", "run", "--task", task, "--provider", provider::NAME];
    [&call[..], &["--request", request], &V1].concat()
}

fn day_one(
    stage: &Stage,
    claims: &mut Claims<'_>,
    fixed: &Fixed,
    found: &mut Value,
) -> anyhow::Result<DayOne> {
    let task = declare(stage, "main")?;
    let provider = Provider::start(stage, "main", provider::BODY)?;
    let request = stage.path("request.json");
    let request = request.to_string_lossy();
    stage.must("main", &call_arguments(&request, &task))?;
    drop(provider);
    let work = work(stage, "main", &task)?;
    let events = task_events(stage, "main", &task)?;
    let served = receipts(stage, "main")?;
    claims.claim(
        kinds(&events) == TEN && served == 1,
        "one call is ten events in order, and one receipt of the provider",
        format!("{}; {served} receipt", kinds(&events).join(", ")),
    )?;
    let first = events.first().map_or(0, |event| number(event, "/seq"));
    claims.claim(
        fixed.seq < first,
        "they were expected before the first of them",
        format!("fixed at {}, the task begins at {first}", fixed.seq),
    )?;
    let response = response_of(&events);
    let kept = fs::read(stage.artifact("main", &response)?).context("reading the response")?;
    claims.claim(
        kept == provider::BODY.as_bytes(),
        "the bytes kept are the bytes that the provider sent",
        format!("{} bytes, {response}", kept.len()),
    )?;
    let state = call_state(stage, "main", &work.call)?;
    let next = text_of(&task_state(stage, "main", &task)?, "/task_next_operation");
    claims.claim(
        text(&state, "/call_status") == "succeeded" && next == "check_and_accept",
        "v1 takes the text for a success, and the task goes on to its check",
        standing(&state, &next),
    )?;
    counterfactual(stage, claims, &work)?;
    put(
        found,
        "day_one",
        json!({
            "kinds": kinds(&events),
            "response_sha256": response,
            "status": text(&state, "/call_status"),
            "reason": text(&state, "/status_reason"),
            "status_basis": text(&state, "/status_basis"),
            "task_next_operation": next,
            "receipts": served,
        }),
    );
    for copy in ["missing", "corrupt"] {
        stage.copy("main", copy)?;
    }
    let note = one(stage, "main", &["checkpoint"])?;
    let checkpoint = stage.path("day-one.checkpoint");
    fs::write(&checkpoint, text(&note, "/checkpoint")).context("keeping the checkpoint")?;
    Ok(DayOne {
        work,
        log: stage.must("main", &["log"])?,
        checkpoint: checkpoint.to_string_lossy().into_owned(),
    })
}

/// Returns where a call and its task stand, in words.
pub(super) fn standing(state: &Value, next: &str) -> String {
    format!(
        "{} ({}), basis {}, next {next}",
        text(state, "/call_status"),
        text(state, "/status_reason"),
        text(state, "/status_basis")
    )
}

pub(super) fn put(found: &mut Value, name: &str, value: Value) {
    if let Some(found) = found.as_object_mut() {
        found.insert(name.to_owned(), value);
    }
}

fn response_of(events: &[Value]) -> String {
    let pointer = "/body/response_body_artifact/sha256";
    let mut named = events.iter().map(|event| text(event, pointer));
    named.find(|sha| !sha.is_empty()).unwrap_or("").to_owned()
}

fn counterfactual(stage: &Stage, claims: &mut Claims<'_>, work: &Work) -> anyhow::Result<()> {
    let v2 = ["interpret", &work.attempt, V2[0], V2[1]];
    let reading = one(stage, "main", &v2)?;
    let events = event_count(stage, "main", &work.task)?;
    claims.claim(
        text(&reading, "/reading/generation_state") == "truncated" && events == TEN.len(),
        "v2 would already say otherwise, and saying so records nothing",
        format!(
            "{} ({}), {events} events",
            text(&reading, "/reading/generation_state"),
            text(&reading, "/reading/provider_reason")
        ),
    )
}

fn day_two(
    stage: &Stage,
    claims: &mut Claims<'_>,
    one_day: &DayOne,
    found: &mut Value,
) -> anyhow::Result<()> {
    let Work { task, call, .. } = &one_day.work;
    let again = [&["reinterpret", "call", call.as_str()][..], &V2].concat();
    let reread = one(stage, "main", &again)?;
    let state = call_state(stage, "main", call)?;
    let next = text_of(&task_state(stage, "main", task)?, "/task_next_operation");
    let events = event_count(stage, "main", task)?;
    let served = receipts(stage, "main")?;
    claims.claim(
        count(&reread, "/appended") == 2 && served == 1,
        "one reading and one status are appended; the provider is not asked",
        format!("{events} events, {served} receipt"),
    )?;
    claims.claim(
        text(&state, "/call_status") == "unresolved" && next == "start_call",
        "the same bytes are now a truncated answer, and the task starts again",
        standing(&state, &next),
    )?;
    put(
        found,
        "day_two",
        json!({
            "appended": count(&reread, "/appended"),
            "events": events,
            "status": text(&state, "/call_status"),
            "reason": text(&state, "/status_reason"),
            "status_basis": text(&state, "/status_basis"),
            "task_next_operation": next,
            "receipts": served,
        }),
    );
    history(stage, claims, one_day)?;
    let repeat = one(stage, "main", &again)?;
    let events = event_count(stage, "main", task)?;
    let same = text(&repeat, "/record") == text(&reread, "/record");
    claims.claim(
        same && count(&repeat, "/appended") == 0,
        "a repeat appends nothing and returns the same record",
        format!("{events} events, record {}", text(&repeat, "/record")),
    )?;
    put(
        found,
        "repeat",
        json!({
            "appended": count(&repeat, "/appended"), "events": events, "same_record": same,
        }),
    );
    let back = [&["reinterpret", "call", call.as_str()][..], &V1].concat();
    let refused = stage.run("main", &back)?;
    claims.claim(
        refused.code == i32::from(exit::REFUSED) && event_count(stage, "main", task)? == events,
        "the older pair is not adopted again in silence",
        refusal(&refused),
    )
}

fn history(stage: &Stage, claims: &mut Claims<'_>, one_day: &DayOne) -> anyhow::Result<()> {
    let log = stage.must("main", &["log"])?;
    let pairs = log.iter().zip(&one_day.log);
    let same = pairs.filter(|(now, then)| now == then).count();
    let verified = stage.run("main", &["verify", "--against", &one_day.checkpoint])?;
    let last = verified.lines.last().cloned().unwrap_or_default();
    claims.claim(
        same == one_day.log.len() && verified.code == 0,
        "the events of day one are an unchanged prefix, and its signed checkpoint proves it",
        format!(
            "{same} of {} events as they were; {} of {} leaves proved, {} findings",
            log.len(),
            number(&last, "/verified/consistent_with"),
            number(&last, "/verified/events"),
            number(&last, "/verified/findings")
        ),
    )
}

fn killed(stage: &Stage, claims: &mut Claims<'_>, found: &mut Value) -> anyhow::Result<()> {
    stage.must("killed", &["init"])?;
    let task = declare(stage, "killed")?;
    let provider = Provider::start(stage, "killed", provider::BODY)?;
    let request = stage.path("request.json");
    let request = request.to_string_lossy();
    let arguments = call_arguments(&request, &task);
    let signal = stage.killed_at("killed", &arguments, "after:attempt.observed")?;
    let work = work(stage, "killed", &task)?;
    let seen = |stage: &Stage| -> anyhow::Result<Value> {
        let state = call_state(stage, "killed", &work.call)?;
        Ok(json!({
            "events": event_count(stage, "killed", &task)?,
            "stage": text(&state, "/stage"),
            "next_operation": text(&state, "/next_operation"),
        }))
    };
    let before = seen(stage)?;
    claims.claim(
        signal == Some(9) && count(&before, "/events") == 5,
        "what was received is kept, and the next process can say what is safe",
        format!("signal {}, {before}", signal.unwrap_or(0)),
    )?;
    let again = ["reinterpret", "attempt", &work.attempt, V2[0], V2[1]];
    let reading = one(stage, "killed", &again)?;
    let after = seen(stage)?;
    drop(provider);
    let served = receipts(stage, "killed")?;
    claims.claim(
        count(&after, "/events") == 6 && served == 1,
        "the attempt is read from its bytes alone, without a completion record",
        format!(
            "{}, {after}, {served} receipt",
            text(&reading, "/generation_state")
        ),
    )?;
    put(
        found,
        "killed",
        json!({
            "signal": signal, "before": before, "after": after, "receipts": served,
        }),
    );
    Ok(())
}

fn damaged(
    stage: &Stage,
    claims: &mut Claims<'_>,
    one_day: &DayOne,
    copy: &str,
    found: &mut Value,
) -> anyhow::Result<()> {
    let Work { task, call, .. } = &one_day.work;
    let response = response_of(&one_day.log);
    let path = stage.artifact(copy, &response)?;
    if copy == "missing" {
        fs::remove_file(&path).with_context(|| format!("deleting {}", path.display()))?;
    } else {
        let mut bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        ensure!(!bytes.is_empty(), "{} is empty", path.display());
        if let Some(byte) = bytes.last_mut() {
            *byte ^= 1;
        }
        fs::write(&path, bytes).with_context(|| format!("altering {}", path.display()))?;
    }
    let again = [&["reinterpret", "call", call.as_str()][..], &V2].concat();
    let refused = stage.run(copy, &again)?;
    let events = event_count(stage, copy, task)?;
    let served = receipts(stage, copy)?;
    let expected = expected::results();
    let sentence = text(&expected, &format!("/{copy}/sentence")).to_owned();
    let said = refusal(&refused).contains(&sentence);
    claims.claim(
        refused.code == i32::from(exit::REFUSED) && said && events == TEN.len() && served == 1,
        &format!("{copy}: refused, and nothing is appended"),
        format!("{}; {events} events, {served} receipt", refusal(&refused)),
    )?;
    put(
        found,
        copy,
        json!({
            "exit_code": refused.code,
            "sentence": if said { sentence } else { refusal(&refused) },
            "events": events,
            "receipts": served,
        }),
    );
    let verified = stage.run(copy, &["verify"])?;
    let finding = verified.lines.first().cloned().unwrap_or_default();
    let object = text(&finding, "/finding/object");
    let still = response_of(&task_events(stage, copy, task)?);
    claims.claim(
        verified.code == i32::from(exit::DAMAGE)
            && object.ends_with(&response)
            && still == response,
        &format!("{copy}: verify names the bytes, and the record still says what arrived"),
        format!("{object}: {}", text(&finding, "/finding/detail")),
    )
}

/// Returns what a process said when it refused.
pub(super) fn refusal(ran: &Ran) -> String {
    let said: Value = serde_json::from_str(ran.stderr.trim()).unwrap_or_default();
    format!("exit {}: {}", ran.code, text(&said, "/error/message"))
}
