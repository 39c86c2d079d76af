//! Reasons that are about the checks that are cited.

use super::support::{FIRST, SAID, Source, UNKNOWN_ID, Work, declare};
use crate::support::{TestHome, V2, chat};

#[test]
fn an_acceptance_without_a_check_lacks_one() {
    let work = Work::new("stop", &V2);
    let reading = &work.cited()[..2];
    let second = ["missing_check", "criterion_not_covered:0"];
    work.both_refuse(reading, &["missing_check"], &second);
}

#[test]
fn a_check_that_is_not_recorded_is_not_found() {
    let work = Work::new("stop", &V2);
    // An id of nothing, and one of another kind of event.
    for check in [UNKNOWN_ID, &work.source.interpretation] {
        let missing = format!("check_not_found:{check}");
        let second = [missing.as_str(), "criterion_not_covered:0"];
        work.both_refuse(&work.citing(check), &[&missing], &second);
        // Beside one that is found, and cited twice.
        let cited = [&work.cited()[..], &["--check", check, "--check", check]].concat();
        work.both_refuse(&cited, &[&missing], &[&missing]);
    }
}

#[test]
fn a_check_without_a_verdict_is_not_found() {
    let work = Work::new("stop", &V2);
    let check = ["--json", "check", "run", "--task", &work.task];
    let what = ["--output", "report", "--artifact", &work.artifact];
    let verifier = ["--", "grep", "herons"];
    let command = [&check[..], &what, &verifier].concat();
    crate::faults::killed(work.home.command(&command), "after:check.requested 1");
    let state = work.home.must(&["state", "task", &work.task]).document();
    let requested = state["checks_without_verdict"][0].as_str().unwrap();
    let missing = format!("check_not_found:{requested}");
    let second = [missing.as_str(), "criterion_not_covered:0"];
    work.both_refuse(&work.citing(requested), &[&missing], &second);
}

#[test]
fn a_check_that_was_asked_for_in_another_task_is_refused() {
    let work = Work::new("stop", &V2);
    let other = declare(&work.home, &[("report", "names herons\n")]);
    let check = work.checked_with(&other, &[], &["true"]);
    let reason = format!("check_wrong_task:{check}");
    work.both_refuse(&work.citing(&check), &[&reason], &[&reason]);
}

#[test]
fn a_check_of_other_bytes_is_refused() {
    let mut work = Work::new("stop", &V2);
    let artifact = work.artifact.clone();
    work.artifact = work.another(&[], "Three.").stored(&work.home);
    let check = work.checked("true");
    work.artifact = artifact;
    let reason = format!("check_wrong_artifact:{check}");
    let second = [reason.as_str(), "criterion_not_covered:0"];
    work.both_refuse(&work.citing(&check), &[&reason], &second);
}

#[test]
fn a_check_with_any_verdict_but_pass_is_refused_with_it() {
    let work = Work::new("stop", &V2);
    for (argv, verdict) in [
        (&["false"][..], "FAIL"),
        (&["sh", "-c", "exit 2"], "INCONCLUSIVE"),
        (&["sh", "-c", "exit 3"], "ERROR"),
        (&["/nonexistent/verifier"], "ERROR"),
    ] {
        let check = work.checked_with(&work.task, &[], argv);
        let reason = format!("check_not_passed:{check}:{verdict}");
        let second = [reason.as_str(), "criterion_not_covered:0"];
        work.both_refuse(&work.citing(&check), &[&reason], &second);
        // Another that passes does not outweigh it.
        let both = [&work.cited()[..], &["--check", &check]].concat();
        work.both_refuse(&both, &[&reason], &[&reason]);
    }
    work.accepted("ada", &work.cited());
    work.home.must(&["verify"]);
}

#[test]
fn the_second_rules_want_every_criterion_covered_and_the_first_do_not() {
    let home = TestHome::new();
    let task = declare(&home, &[("report", "names herons\nis short\nis true\n")]);
    let source = Source::imported(&home, &[&task], &chat("1", SAID, "stop"), &V2);
    let work = Work::of(home, task, source);
    let covering =
        |criterion: &str| work.checked_with(&work.task, &["--covers", criterion], &["true"]);
    let (first, last) = (covering("0"), covering("2"));
    let reasons = ["criterion_not_covered:1", "criterion_not_covered:2"];
    work.refused("ada", &work.citing(&first), &reasons);
    let both = [&work.citing(&last)[..], &["--check", &first]].concat();
    work.refused("ada", &both, &reasons[..1]);
    // A check that fails covers nothing.
    let failed = work.checked_with(&work.task, &["--covers", "1"], &["false"]);
    let all = [&both[..], &["--check", &failed]].concat();
    let not_passed = format!("check_not_passed:{failed}:FAIL");
    work.refused("ada", &all, &[&not_passed, "criterion_not_covered:1"]);
    let middle = covering("1");
    let by_first = work.copy();
    by_first.accepted("ada", &[&by_first.citing(&first)[..], &FIRST].concat());
    work.accepted("ada", &[&both[..], &["--check", &middle]].concat());
    work.home.must(&["verify"]);
}
