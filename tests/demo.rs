//! The stories that the program tells of itself.

mod acceptance;

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::support::Ran;

fn demo(folder: &std::path::Path, arguments: &[&str]) -> Ran {
    Command::new(env!("CARGO_BIN_EXE_reread"))
        .arg("demo")
        .args(arguments)
        .current_dir(folder)
        .env("TMPDIR", folder)
        .output()
        .unwrap()
        .into()
}

#[test]
fn every_claim_holds_and_nothing_is_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let ran = demo(folder.path(), &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stdout.ends_with("\n25 claims hold, 0 do not\n"),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.stdout.matches("\n  ok   ").count(), 25);
    assert!(!ran.stdout.contains("\\n"), "{}", ran.stdout);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn the_homes_of_the_story_can_be_kept_and_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let kept = kept.to_str().unwrap();
    let ran = demo(folder.path(), &["--dir", kept, "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let mut claims = ran.lines();
    let summary = claims.pop().unwrap();
    assert_eq!(
        (&summary["claims"], &summary["failed"]),
        (&25.into(), &0.into())
    );
    for claim in &claims {
        assert_eq!(claim["holds"], true, "{claim}");
        assert_ne!(claim["evidence"], Value::from(""), "{claim}");
    }
    for (home, code) in [("main", 0), ("killed", 0), ("missing", 3), ("corrupt", 3)] {
        let verified = Command::new(env!("CARGO_BIN_EXE_reread"))
            .args(["--home", &format!("{kept}/{home}"), "verify"])
            .output()
            .unwrap();
        assert_eq!(verified.status.code(), Some(code), "{home}");
    }
    // Fifteen events of the task: ten, two by rereading, a check and a refusal.
    let log = Command::new(env!("CARGO_BIN_EXE_reread"))
        .args(["--home", &format!("{kept}/main"), "--json", "log"])
        .output()
        .unwrap();
    let mut events = Ran::from(log).lines();
    events.retain(|event| event.get("task").is_some());
    assert_eq!(events.len(), 15);
    let reasons = [
        "source_call_not_succeeded",
        "interpretation_not_decision_basis",
    ];
    assert_eq!(events[14]["body"]["reasons"], serde_json::json!(reasons));
    // A second story needs a folder of its own.
    let again = demo(folder.path(), &["--dir", kept]);
    assert_eq!(again.code, 2);
    let expected = format!("error: {kept} is not empty: the demo needs a folder of its own\n");
    assert_eq!(again.stderr, expected);
}
