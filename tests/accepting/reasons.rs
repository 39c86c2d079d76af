//! Reasons that are about who accepts, what stands already and what is declared; and
//! many reasons at once.

use super::support::{FIRST, SAID, Source, UNKNOWN_ID, Work, declare};
use crate::support::{Ran, TestHome, V1, V2, chat, text};

#[test]
fn whoever_is_not_granted_acceptance_learns_that_and_nothing_else() {
    let work = Work::new("stop", &V2);
    // Nobody, a capability of another name, and a citation that has nothing right.
    for actor in ["eve", "grace", "Ada"] {
        work.refused(actor, &work.cited(), &["unauthorized"]);
        work.refused(
            actor,
            &[&work.cited()[..], &FIRST].concat(),
            &["unauthorized"],
        );
    }
    let wrong = ["--interpretation", UNKNOWN_ID, "--check", UNKNOWN_ID];
    work.refused("eve", &wrong, &["unauthorized"]);
    work.accepted("ada", &work.cited());
    work.home.must(&["verify"]);
}

#[test]
fn an_acceptance_that_differs_in_anything_from_the_standing_one_conflicts_with_it() {
    let work = Work::new("stop", &V1);
    let first = work.cited().map(str::to_owned);
    let first = first.each_ref().map(String::as_str);
    let second = work.source.read(&work.home, "operator", &V2);
    let again = work.source.read(
        &work.home,
        "operator",
        &[&V1[..], &["--allow-older=as it was"]].concat(),
    );
    assert_eq!(again, work.source.interpretation);
    work.accepted("ada", &first);
    let other_check = work.checked("true");
    let mut both_checks = first.to_vec();
    both_checks.extend(["--check", &other_check]);
    let reading = ["--interpretation", second.as_str(), "--check", &work.check];
    let criteria = [&first[..], &["--criteria-sha256", &work.artifact]].concat();
    let conflict = ["conflicting_acceptance"];
    for cited in [
        &work.citing(&other_check)[..],
        &both_checks,
        &first[..2],
        &reading,
        &criteria,
        &[&first[..], &FIRST].concat(),
    ] {
        work.rejected("ada", cited, &conflict);
    }
    work.rejected("operator", &first, &conflict);
    let artifact = work.another(&[], "Three.").stored(&work.home);
    let mut other = work.copy();
    other.artifact = artifact;
    other.rejected("ada", &first, &conflict);
    assert_eq!(
        (work.count("task.accepted"), work.count("task.completed")),
        (1, 1)
    );
    work.home.must(&["verify"]);
}

#[test]
fn rules_that_are_not_registered_judge_nothing() {
    let work = Work::new("stop", &V2);
    // A label of nothing, a module of another world, and a hash of nothing.
    for policy in ["v9", "attempt-policy-v1", &work.artifact] {
        let cited = [&work.cited()[..], &["--policy", policy]].concat();
        let message = work.unjudged("ada", &cited, "unknown_policy");
        let detail = format!("{policy} is no registered module of world acceptance");
        assert_eq!(message, format!("not accepted: unknown_policy: {detail}"));
    }
    work.accepted("ada", &work.cited());
}

#[test]
fn a_task_that_is_not_declared_has_nothing_to_accept() {
    let mut work = Work::new("stop", &V2);
    UNKNOWN_ID.clone_into(&mut work.task);
    for more in [&[][..], &FIRST] {
        let cited = [&work.cited()[..], more].concat();
        let message = work.unjudged("ada", &cited, "unknown_task");
        let expected = format!("not accepted: unknown_task: no task {UNKNOWN_ID} is declared");
        assert_eq!(message, expected);
    }
}

#[test]
fn an_acceptance_by_nobody_is_not_judged() {
    let work = Work::new("stop", &V2);
    for more in [&[][..], &FIRST] {
        let cited = [&work.cited()[..], more].concat();
        let message = work.unjudged("", &cited, "missing_actor");
        let expected = "not accepted: missing_actor: --actor names nobody";
        assert_eq!(message, expected);
    }
    // A name that cannot be one is a wrong question, of whatever command.
    let actor = |found: &str| {
        format!(
            "expected an actor's name of 1 to 512 bytes without control characters, found {found}"
        )
    };
    let ran = Ran::from(work.command("a\u{7}", &work.cited()).output().unwrap());
    let (code, _) = ran.refused(2);
    assert_eq!(code, "usage");
    let refused = work.home.refuses(&["--actor", "", "state"], 2);
    assert_eq!(refused, ("usage".to_owned(), actor("\"\"")));
    work.accepted("ada", &work.cited());
}

#[test]
fn criteria_that_are_not_the_declared_ones_are_refused() {
    let work = Work::new("stop", &V2);
    let other = [&work.cited()[..], &["--criteria-sha256", &work.artifact]].concat();
    let criteria = format!("check_wrong_criteria:{}", work.check);
    work.both_refuse(
        &other,
        &["criteria_mismatch"],
        &["criteria_mismatch", &criteria],
    );
    // The declared ones, by name, are what is meant when none are.
    let declared = work.home.must(&["log", "--task", &work.task]).lines()[0].clone();
    let declared = text(&declared["body"]["outputs"][0], "criteria_sha256").to_owned();
    let same = [&work.cited()[..], &["--criteria-sha256", &declared]].concat();
    let done = work.accepted("ada", &same);
    assert_eq!(
        work.accepted("ada", &work.cited())["acceptance"],
        done["acceptance"]
    );
}

#[test]
fn an_output_that_is_not_declared_has_no_criteria_that_fit() {
    let mut work = Work::new("stop", &V2);
    "title".clone_into(&mut work.output);
    let log = work.home.must(&["log", "--task", &work.task]).lines();
    let declared = text(&log[0]["body"]["outputs"][0], "criteria_sha256");
    let cited = [&work.cited()[..], &["--criteria-sha256", declared]].concat();
    let output = format!("check_wrong_output:{}", work.check);
    work.both_refuse(
        &cited,
        &["criteria_mismatch"],
        &["criteria_mismatch", &output],
    );
    let ran = Ran::from(work.command("ada", &work.cited()).output().unwrap());
    let unknown = (
        "unknown_name".to_owned(),
        "unknown output: title".to_owned(),
    );
    assert_eq!(ran.refused(2), unknown);
}

#[test]
fn every_reason_against_stands_in_one_rejection_in_the_order_of_the_rules() {
    let home = TestHome::new();
    let criteria = "names herons\nnames their number\n";
    let task = declare(&home, &[("report", criteria)]);
    let other = declare(&home, &[("report", criteria)]);
    // Cut off, of another task, and by the actor.
    let cut = Source::imported(&home, &[&other], &chat("1", SAID, "length"), &V2);
    let read = Source::imported(&home, &[&task], &chat("2", "Cranes.", "stop"), &V2);
    let mut work = Work::of(home, task, read);
    let wrong_task = work.checked_with(&other, &["--covers", "1"], &["true"]);
    let failed = work.checked("false");
    work.artifact = cut.stored(&work.home);
    let wrong_bytes = work.checked_with(&work.task, &["--covers", "1"], &["false"]);
    work.artifact = model::Digest::of(b"Cranes.").to_string();
    work.source = cut;
    let checks = [UNKNOWN_ID, &wrong_task, &failed, &wrong_bytes, &failed];
    let checks = checks.iter().flat_map(|check| ["--check", check]);
    let wrong_criteria = model::Digest::of(b"others").to_string();
    let mut cited: Vec<&str> = vec!["--interpretation", &work.source.interpretation];
    cited.extend(checks);
    cited.extend(["--criteria-sha256", &wrong_criteria]);
    std::fs::remove_file(work.home.artifact(&work.artifact)).unwrap();
    let of = |reason: &str, check: &str| format!("{reason}:{check}");
    let first: Vec<String> = [
        "criteria_mismatch",
        "source_call_wrong_task",
        "source_call_not_succeeded",
        "generation_not_complete",
        "self_acceptance",
        "artifact_not_source_output",
        "artifact_not_preserved",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain([
        of("check_not_found", UNKNOWN_ID),
        of("check_wrong_task", &wrong_task),
        of("check_not_passed", &format!("{failed}:FAIL")),
        of("check_wrong_artifact", &wrong_bytes),
        of("check_not_passed", &format!("{wrong_bytes}:FAIL")),
    ])
    .collect();
    let first: Vec<_> = first.iter().map(String::as_str).collect();
    work.refused("operator", &[&cited[..], &FIRST].concat(), &first);
    let second = [
        "criteria_mismatch",
        "source_call_wrong_task",
        "source_call_not_succeeded",
        "generation_not_complete",
        "self_acceptance",
        "derivation_not_recorded",
        "artifact_not_preserved",
        &of("check_not_found", UNKNOWN_ID),
        &of("check_wrong_task", &wrong_task),
        &of("check_wrong_criteria", &wrong_task),
        &of("check_wrong_criteria", &failed),
        &of("check_not_passed", &format!("{failed}:FAIL")),
        &of("check_wrong_artifact", &wrong_bytes),
        &of("check_wrong_criteria", &wrong_bytes),
        &of("check_not_passed", &format!("{wrong_bytes}:FAIL")),
        "criterion_not_covered:0",
    ];
    work.refused("operator", &cited, &second);
    assert_eq!(work.count("task.acceptance_rejected"), 2);
    // What was refused need not be kept.
    work.home.must(&["verify"]);
}
