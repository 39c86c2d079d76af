//! The story of finished work, and what its homes hold.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::demo;
use crate::support::{Ran, text};

/// What the homes hold of their task: events, rejections, acceptances and completions.
const HOMES: [(&str, [usize; 4]); 13] = [
    ("acceptance", [17, 1, 1, 1]),
    ("negatives/no-acceptance", [12, 0, 0, 0]),
    ("negatives/missing-check", [11, 1, 0, 0]),
    ("negatives/failed-check", [13, 1, 0, 0]),
    ("negatives/error-check", [13, 1, 0, 0]),
    ("negatives/check-for-other-task", [11, 1, 0, 0]),
    ("negatives/call-from-other-task", [4, 1, 0, 0]),
    ("negatives/changed-artifact", [13, 1, 0, 0]),
    ("negatives/unauthorized", [13, 1, 0, 0]),
    ("negatives/self-acceptance", [13, 1, 0, 0]),
    ("negatives/truncated-generation", [13, 1, 0, 0]),
    ("negatives/completion-without-acceptance", [13, 0, 0, 1]),
    ("negatives/interrupted-between-appends", [14, 0, 1, 1]),
];

/// The reasons that a home's one rejection gives; `CHECK` is the check it cites.
fn reasons(home: &str) -> &'static [&'static str] {
    match home.trim_start_matches("negatives/") {
        "acceptance" => &["conflicting_acceptance"],
        "missing-check" => &["missing_check"],
        "failed-check" => &["check_not_passed:CHECK:FAIL"],
        "error-check" => &["check_not_passed:CHECK:ERROR"],
        "check-for-other-task" => &["check_wrong_task:CHECK"],
        "call-from-other-task" => &["source_call_wrong_task"],
        "changed-artifact" => &["artifact_not_source_output"],
        "unauthorized" => &["unauthorized"],
        "self-acceptance" => &["self_acceptance"],
        "truncated-generation" => &["source_call_not_succeeded", "generation_not_complete"],
        _ => &[],
    }
}

/// Returns the reasons of the rejections among events.
fn recorded(events: &[Value]) -> Vec<String> {
    let rejections = events
        .iter()
        .filter(|event| event["kind"] == "task.acceptance_rejected");
    let reasons = rejections.flat_map(|event| {
        let body = &event["body"];
        let check = body["checks"][0].as_str().unwrap_or("CHECK").to_owned();
        let reasons = body["reasons"].as_array().unwrap().iter();
        reasons.map(move |reason| reason.as_str().unwrap().replace(&check, "CHECK"))
    });
    reasons.collect()
}

/// The one home whose ledger holds a forged row.
const FORGED: &str = "negatives/completion-without-acceptance";

fn run(home: &Path, arguments: &[&str]) -> Ran {
    Command::new(env!("CARGO_BIN_EXE_reread"))
        .arg("--home")
        .arg(home)
        .arg("--json")
        .args(arguments)
        .output()
        .unwrap()
        .into()
}

/// Returns the events of the first task of a home.
fn events(home: &Path) -> Vec<Value> {
    let log = run(home, &["log"]).lines();
    let created = log.iter().find(|event| event["kind"] == "task.created");
    let task = created.unwrap()["task"].clone();
    let mut events = log;
    events.retain(|event| event["task"] == task);
    events
}

fn of_kind(events: &[Value], kind: &str) -> usize {
    events.iter().filter(|event| event["kind"] == kind).count()
}

#[test]
fn every_claim_about_finished_work_holds_and_nothing_is_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let ran = demo(folder.path(), &["acceptance"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stdout.ends_with("\n24 claims hold, 0 do not\n"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("forged by this demo"), "{}", ran.stdout);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn the_homes_of_finished_work_hold_what_is_claimed_and_read_the_same_from_outside() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let ran = demo(
        folder.path(),
        &["acceptance", "--dir", kept.to_str().unwrap(), "--json"],
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    let summary = ran.lines().pop().unwrap();
    assert_eq!(summary["failed"], 0);
    let mut ledgers = BTreeMap::new();
    for (name, expected) in HOMES {
        let home = kept.join(name);
        let events = events(&home);
        let kinds = [
            "task.acceptance_rejected",
            "task.accepted",
            "task.completed",
        ];
        let [rejected, accepted, completed] = kinds.map(|kind| of_kind(&events, kind));
        let found = [events.len(), rejected, accepted, completed];
        assert_eq!(found, expected, "{name}");
        assert_eq!(recorded(&events), reasons(name), "{name}");
        let receipts = fs::read_to_string(home.join("receipts.log")).unwrap();
        let receipt: Value = serde_json::from_str(&receipts).unwrap();
        let sent = model::Digest::of(&fs::read(home.join("answer.json")).unwrap());
        assert_eq!(receipt["response_sha256"], sent.to_string(), "{name}");
        let code = if name == FORGED { 3 } else { 0 };
        assert_eq!(run(&home, &["verify"]).code, code, "{name}");
        let task = text(&events[0], "task");
        let done = run(&home, &["state", "task", task]).document();
        let finished = accepted == 1 && completed == 1;
        assert_eq!(done["task_status"] == "completed", finished, "{name}");
        ledgers.insert(text(&events[0], "id").to_owned(), name);
        crate::outside::is_read_the_same(&home, code);
    }
    assert_eq!(ledgers.len(), HOMES.len());
}

#[test]
fn the_producer_the_checker_and_the_acceptor_are_three_actors() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    demo(
        folder.path(),
        &["acceptance", "--dir", kept.to_str().unwrap()],
    );
    let events = events(&kept.join("acceptance"));
    let actor = |kind: &str| {
        let found = events.iter().find(|event| event["kind"] == kind);
        text(found.unwrap(), "actor").to_owned()
    };
    let actors = ["call.requested", "check.requested", "task.accepted"].map(actor);
    assert_eq!(actors, ["producer", "checker", "editor"]);
}

#[test]
fn the_verifier_of_the_story_stands_alone() {
    let script = crate::support::root().join("host/cli/src/demo/acceptance/check-paragraph.sh");
    let sentence = "They answer most requests without waking the origin.";
    let good = format!("Caches stand near readers [S1]. {sentence}");
    let check = |text: &str, sha256: &str| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("text");
        fs::write(&file, text).unwrap();
        Command::new("sh")
            .arg(&script)
            .arg(sha256)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .stdin(fs::File::open(&file).unwrap())
            .output()
            .unwrap()
    };
    let of = |text: &str| model::Digest::of(text.as_bytes()).to_string();
    assert_eq!(check(&good, &of(&good)).status.code(), Some(0));
    for (text, said) in [
        (
            format!("{good} 7 %"),
            "criterion 0: there is a percentage\n",
        ),
        (
            sentence.to_owned(),
            "criterion 1: expected [S1] once, found it 0 times\n",
        ),
        (
            format!("{good} [S1]"),
            "criterion 1: expected [S1] once, found it 2 times\n",
        ),
        (
            "They sleep [S1].".to_owned(),
            "criterion 2: the sentence is not there\n",
        ),
    ] {
        let ran = check(&text, &of(&text));
        let found = (ran.status.code(), String::from_utf8(ran.stdout).unwrap());
        assert_eq!(found, (Some(1), said.to_owned()), "{text}");
    }
    let other = of("other");
    let ran = check(&good, &other);
    let said = format!(
        "expected the bytes {}, found {}\n",
        other.trim_start_matches("sha256:"),
        of(&good).trim_start_matches("sha256:")
    );
    let found = (ran.status.code(), String::from_utf8(ran.stdout).unwrap());
    assert_eq!(found, (Some(1), said));
}
