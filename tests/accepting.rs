//! Acceptance: exact bytes, by another actor, on evidence that is resolved and not
//! believed.

mod bytes;
mod checks;
mod derived;
mod forged;
mod outputs;
mod races;
mod reasons;
mod rejected;
mod repeats;
mod source;
mod support;

use serde_json::json;

use crate::faults;
use crate::support::{Ran, V1, V2, text};
use support::{UNKNOWN_ID, Work};

#[test]
fn an_acceptance_and_its_completion_follow_from_the_evidence_once() {
    let work = Work::new("stop", &V2);
    let before = work.events();
    let (code, done) = work.accept("ada", &work.cited());
    assert_eq!((code, &done["accepted"]), (0, &json!(true)), "{done}");
    assert_eq!(work.events(), before + 2);
    let log = work.home.must(&["log", "--task", &work.task]).lines();
    let [accepted, completed] = &log[before..] else {
        panic!("{log:?}");
    };
    assert_eq!(accepted["cause"], work.check.as_str());
    assert_eq!(completed["cause"], accepted["id"]);
    assert_eq!(completed["body"]["acceptance"], accepted["id"]);
    let state = work.home.must(&["state", "task", &work.task]).document();
    assert_eq!(state["task_status"], "completed");
    let (code, again) = work.accept("ada", &work.cited());
    assert_eq!((code, &again["appended"]), (0, &json!(0)));
    assert_eq!(again["acceptance"], done["acceptance"]);
    let other = work.checked("true");
    let more = [
        "--interpretation",
        &work.source.interpretation,
        "--check",
        &other,
    ];
    let (code, conflict) = work.accept("ada", &more);
    assert_eq!(
        (code, &conflict["reasons"]),
        (5, &json!(["conflicting_acceptance"]))
    );
    work.home.must(&["verify"]);
    // Lost bytes confirm nothing, not even the same.
    std::fs::remove_file(work.home.artifact(&work.artifact)).unwrap();
    let ran = Ran::from(work.command("ada", &work.cited()).output().unwrap());
    let expected = format!(
        "acceptance {} of {} cannot be confirmed: bytes that it rests on are missing",
        text(&done, "acceptance"),
        work.artifact
    );
    assert_eq!(ran.refused(4), ("forbidden".to_owned(), expected));
}

#[test]
fn every_reason_is_collected_and_recorded_once() {
    let work = Work::new("stop", &V2);
    work.refused("eve", &work.cited(), &["unauthorized"]);
    work.refused("operator", &work.cited(), &["self_acceptance"]);
    let reading = ["--interpretation", work.source.interpretation.as_str()];
    work.refused(
        "ada",
        &reading,
        &["missing_check", "criterion_not_covered:0"],
    );
    let unknown = format!("check_not_found:{UNKNOWN_ID}");
    let cited = [
        &reading[..],
        &["--check", UNKNOWN_ID, "--policy", "task-acceptance-v1"],
    ]
    .concat();
    work.refused("ada", &cited, &[&unknown]);
    let failed = work.checked("false");
    let fail = format!("check_not_passed:{failed}:FAIL");
    let cited = [
        &reading[..],
        &["--check", &failed, "--policy", "task-acceptance-v1"],
    ]
    .concat();
    work.refused("ada", &cited, &[&fail]);
    let check = ["--check", work.check.as_str()];
    work.refused("ada", &check, &["source_call_not_found"]);
    let other = [&work.cited()[..], &["--criteria-sha256", &work.artifact]].concat();
    let criteria = format!("check_wrong_criteria:{}", work.check);
    let expected = ["criteria_mismatch", &criteria];
    let (_, done) = work.accept("ada", &other);
    assert_eq!(done["reasons"], json!(expected));
    let (code, message) = Ran::from(
        work.command("ada", &[&work.cited()[..], &["--policy", "v9"]].concat())
            .output()
            .unwrap(),
    )
    .refused(5);
    assert_eq!(code, "unknown_policy");
    let detail = "v9 is no registered module of world acceptance";
    assert_eq!(message, format!("not accepted: unknown_policy: {detail}"));
    work.home.must(&["verify"]);
}

#[test]
fn an_acceptance_on_a_reading_that_counts_no_more_is_refused_for_exactly_two_reasons() {
    let work = Work::new("length", &V1);
    work.home
        .must(&[&["reinterpret", "call", work.source.call.as_str()][..], &V2].concat());
    let reasons = [
        "source_call_not_succeeded",
        "interpretation_not_decision_basis",
    ];
    work.refused("ada", &work.cited(), &reasons);
}

#[test]
fn an_acceptance_killed_at_any_point_is_closed_by_the_identical_repeat() {
    let work = Work::new("stop", &V2);
    let (ran, points) = faults::traced(work.command("ada", &work.cited()));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(points.len(), 4, "{points:?}");
    for (place, point) in points.iter().enumerate() {
        let work = Work::new("stop", &V2);
        faults::killed(work.command("ada", &work.cited()), point);
        let state = work.home.must(&["state", "task", &work.task]).document();
        let pending = if [1, 2].contains(&place) {
            "repeat_acceptance"
        } else {
            "check_and_accept"
        };
        let next = if place == 3 { "none" } else { pending };
        assert_eq!(state["task_next_operation"], next, "{point}");
        let (code, done) = work.accept("ada", &work.cited());
        assert_eq!(
            (code, &done["appended"]),
            (0, &json!([2, 1, 1, 0][place])),
            "{point}"
        );
        work.home.must(&["verify"]);
    }
}

#[test]
fn a_derived_artifact_is_accepted_when_its_way_and_a_fresh_check_are_recorded() {
    let mut work = Work::new("stop", &V2);
    let made = work.home.write("made.txt", b"Two herons, at dawn.");
    let source = work.artifact.clone();
    work.artifact = model::Digest::of(b"Two herons, at dawn.").to_string();
    let derive = [
        "--actor",
        "editor",
        "derive",
        made.to_str().unwrap(),
        "--from",
        &source,
    ];
    work.home
        .must(&[&derive[..], &["--tool", "by hand"]].concat());
    let stale = format!("check_wrong_artifact:{}", work.check);
    let reasons = [stale.as_str(), "criterion_not_covered:0"];
    work.refused("ada", &work.cited(), &reasons);
    work.check = work.checked("true");
    let v1 = [&work.cited()[..], &["--policy", "task-acceptance-v1"]].concat();
    work.refused("ada", &v1, &["artifact_not_source_output"]);
    let (code, done) = work.accept("ada", &work.cited());
    assert_eq!((code, &done["accepted"]), (0, &json!(true)), "{done}");
    work.home.must(&["verify"]);
}
