//! A refused acceptance that is killed leaves nothing or the whole rejection.

use super::support::Work;
use crate::faults;
use crate::support::V2;

#[test]
fn an_unauthorised_repeat_of_a_standing_acceptance_learns_nothing_of_it() {
    let work = Work::new("stop", &V2);
    let done = work.accepted("ada", &work.cited());
    work.rejected("eve", &work.cited(), &["unauthorized"]);
    work.rejected("grace", &work.cited(), &["unauthorized"]);
    // Not for people either.
    let what = ["accept", "--task", &work.task, "--output", "report"];
    let who = ["--actor", "eve", "--artifact", &work.artifact];
    let command = [&what[..], &who, &work.cited()].concat();
    for more in [&[][..], &["--json"]] {
        let ran = work.home.command(&[&command[..], more].concat()).output();
        let ran = crate::support::Ran::from(ran.unwrap());
        assert_eq!(ran.code, 5, "{ran:?}");
        for id in [&done["acceptance"], &done["completion"]] {
            let id = id.as_str().unwrap();
            let said = ran.stdout.contains(id) || ran.stderr.contains(id);
            assert!(!said, "{ran:?}");
        }
    }
    assert_eq!(
        (work.count("task.accepted"), work.count("task.completed")),
        (1, 1)
    );
    work.home.must(&["verify"]);
}

/// Kills a refused acceptance at every point that it reaches, and repeats it.
fn closed_by_the_repeat(work: &Work, actor: &str, cited: &[&str], reasons: &[&str]) {
    let (ran, points) = faults::traced(work.copy().command(actor, cited));
    assert_eq!(ran.code, 5, "{ran:?}");
    let expected = [
        "before:task.acceptance_rejected 1",
        "after:task.acceptance_rejected 1",
    ];
    assert_eq!(points, expected);
    for (point, missing) in points.iter().zip([1, 0]) {
        let work = work.copy();
        let before = (work.log().len(), work.count("task.acceptance_rejected"));
        faults::killed(work.command(actor, cited), point);
        work.home.must(&["verify"]);
        assert_eq!(work.log().len(), before.0 + 1 - missing, "{point}");
        for missing in [missing, 0] {
            let (code, done) = work.accept(actor, cited);
            assert_eq!(code, 5, "{point}: {done}");
            assert_eq!(done["reasons"], serde_json::json!(reasons), "{point}");
            assert_eq!(done["appended"], missing, "{point}");
            let last = work.log().pop().unwrap();
            assert_eq!(last["id"], done["rejection"], "{point}");
        }
        assert_eq!(work.count("task.acceptance_rejected"), before.1 + 1);
        assert_eq!(work.log().len(), before.0 + 1, "{point}");
        work.home.must(&["verify"]);
    }
}

#[test]
fn a_refused_acceptance_killed_at_any_point_is_recorded_once_by_the_identical_repeat() {
    let work = Work::new("stop", &V2);
    let cited = work.cited();
    closed_by_the_repeat(&work, "eve", &cited, &["unauthorized"]);
    closed_by_the_repeat(&work, "operator", &cited, &["self_acceptance"]);
    let failed = work.checked("false");
    let reason = format!("check_not_passed:{failed}:FAIL");
    let reasons = [reason.as_str(), "criterion_not_covered:0"];
    closed_by_the_repeat(&work, "ada", &work.citing(&failed), &reasons);
    work.accepted("ada", &cited);
    let conflict = ["conflicting_acceptance"];
    closed_by_the_repeat(&work, "ada", &work.citing(&failed), &conflict);
}
