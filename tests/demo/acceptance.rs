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
        let receipts = fs::read_to_string(home.join("receipts.log")).unwrap();
        assert_eq!(receipts.lines().count(), 1, "{name}");
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
