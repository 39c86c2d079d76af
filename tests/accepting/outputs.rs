//! A task of two outputs: each has its own criteria, its own checks and its own
//! acceptance.

use std::mem::swap;

use serde_json::{Value, json};

use super::support::{FIRST, SAID, Source, Work, declare};
use crate::support::{TestHome, V2, chat, text};

/// What is to be accepted as the other output.
struct Other {
    output: String,
    source: Source,
    artifact: String,
    check: String,
}

/// Work on the outputs `report`, of these criteria, and `title`.
fn both(criteria: &str) -> (Work, Other) {
    let home = TestHome::new();
    let outputs = [("report", criteria), ("title", "has no dot\n")];
    let task = declare(&home, &outputs);
    let source = Source::imported(&home, &[&task], &chat("1", SAID, "stop"), &V2);
    let mut work = Work::of(home, task, source);
    let source = work.another(&[&work.task], "On herons");
    let mut other = Other {
        output: "title".to_owned(),
        artifact: source.stored(&work.home),
        source,
        check: String::new(),
    };
    turn(&mut work, &mut other);
    work.check = work.checked("true");
    turn(&mut work, &mut other);
    (work, other)
}

/// Turns to the other output, or back.
fn turn(work: &mut Work, other: &mut Other) {
    swap(&mut work.output, &mut other.output);
    swap(&mut work.source, &mut other.source);
    swap(&mut work.artifact, &mut other.artifact);
    swap(&mut work.check, &mut other.check);
}

/// Asserts what `state task` and the list of the run say.
fn stands(work: &Work, status: &str, missing: &[&str], next: &str) -> Value {
    let state = work.home.must(&["state", "task", &work.task]).document();
    let listed = work.home.must(&["task", "list", "--run", "r"]).document();
    for said in [&state, &listed] {
        assert_eq!(said["task_status"], status);
        assert_eq!(said["outputs_missing"], json!(missing));
        assert_eq!(said["task_next_operation"], next);
    }
    state["outputs"].clone()
}

#[test]
fn a_task_is_completed_by_the_acceptance_of_its_last_output_whichever_comes_first() {
    for first in ["report", "title"] {
        let (mut work, mut other) = both("names herons\nis short\n");
        stands(
            &work,
            "incomplete",
            &["report", "title"],
            "check_and_accept",
        );
        if first == "title" {
            turn(&mut work, &mut other);
        }
        let one = work.accepted("ada", &work.cited());
        let outputs = stands(&work, "incomplete", &[&other.output], "check_and_accept");
        let outputs = outputs.as_array().unwrap();
        for output in outputs {
            let accepted = output["name"] == first;
            let (status, acceptance) = if accepted {
                ("completed", &one["acceptance"])
            } else {
                ("incomplete", &Value::Null)
            };
            assert_eq!(output["status"], status);
            assert_eq!(&output["acceptance"], acceptance);
        }
        turn(&mut work, &mut other);
        let two = work.accepted("ada", &work.cited());
        assert_ne!(one["acceptance"], two["acceptance"]);
        stands(&work, "completed", &[], "none");
        assert_eq!(
            (work.count("task.accepted"), work.count("task.completed")),
            (2, 2)
        );
        // Each is confirmed by itself.
        assert_eq!(work.accepted("ada", &work.cited())["appended"], 0);
        turn(&mut work, &mut other);
        let again = work.accepted("ada", &work.cited());
        assert_eq!(again["acceptance"], one["acceptance"]);
        work.home.must(&["verify"]);
    }
}

#[test]
fn the_check_of_another_output_does_not_count() {
    let (work, other) = both("names herons\nis short\n");
    let of = |reason: &str| format!("{reason}:{}", other.check);
    let bytes = of("check_wrong_artifact");
    let second = [
        &of("check_wrong_output"),
        &bytes,
        &of("check_wrong_criteria"),
        "criterion_not_covered:0",
        "criterion_not_covered:1",
    ];
    work.both_refuse(&work.citing(&other.check), &[&bytes], &second);
}

#[test]
fn a_check_of_the_same_bytes_as_another_output_counts_for_the_first_rules_alone() {
    let (mut work, mut other) = both("names herons\n");
    swap(&mut work.output, &mut other.output);
    let check = work.checked("true");
    swap(&mut work.output, &mut other.output);
    let of = |reason: &str| format!("{reason}:{check}");
    let (output, criteria) = (of("check_wrong_output"), of("check_wrong_criteria"));
    work.refused("ada", &work.citing(&check), &[&output, &criteria]);
    let first = [&work.citing(&check)[..], &FIRST].concat();
    work.accepted("ada", &first);
    stands(&work, "incomplete", &["title"], "check_and_accept");
}

#[test]
fn a_check_of_another_output_with_the_same_criteria_is_of_the_wrong_output_alone() {
    let (mut work, mut other) = both("has no dot\n");
    swap(&mut work.output, &mut other.output);
    let check = work.checked("true");
    swap(&mut work.output, &mut other.output);
    let output = format!("check_wrong_output:{check}");
    work.refused("ada", &work.citing(&check), &[&output]);
    // Nor does it add to one that counts.
    let both = [&work.cited()[..], &["--check", &check]].concat();
    work.refused("ada", &both, &[&output]);
    work.accepted("ada", &work.cited());
}

#[test]
fn one_text_may_be_both_outputs_by_two_acceptances() {
    let (mut work, mut other) = both("has no dot\n");
    let report = work.accepted("ada", &work.cited());
    swap(&mut work.output, &mut other.output);
    let check = work.checked("true");
    let title = work.accepted("ada", &work.citing(&check));
    assert_eq!(
        text(&report, "artifact_sha256"),
        text(&title, "artifact_sha256")
    );
    stands(&work, "completed", &[], "none");
    work.home.must(&["verify"]);
}
