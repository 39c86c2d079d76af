//! What a process that died left of a check or a derivation is continued, not repeated.

use serde_json::{Value, json};

use super::Checked;
use crate::faults;
use crate::support::{Ran, text};

/// A verifier that prints and says no.
const ARGV: [&str; 3] = ["sh", "-c", "echo seen; exit 1"];

/// Returns the work state of the task.
fn state(checked: &Checked) -> Value {
    checked
        .home
        .must(&["state", "task", &checked.task])
        .document()
}

#[test]
fn a_check_killed_at_any_point_is_named_by_the_state_and_closed_by_the_same_check() {
    let (ran, points) = faults::traced(Checked::new().command(&[], &ARGV));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(points.len(), 6, "{points:?}");
    for (place, point) in points.iter().enumerate() {
        let checked = Checked::new();
        faults::killed(checked.command(&[], &ARGV), point);
        checked.home.must(&["verify"]);
        let requested = checked.events("check.requested");
        let open: Vec<_> = requested.iter().map(|event| &event["id"]).collect();
        let open = if place == 5 { Vec::new() } else { open };
        assert_eq!(open.len(), usize::from((1..5).contains(&place)), "{point}");
        assert_eq!(
            state(&checked)["checks_without_verdict"],
            json!(open),
            "{point}"
        );
        let done = checked.check(&[], &ARGV);
        // Before the intent and after the verdict, the repeat is a check of its own.
        let missing = if (1..5).contains(&place) { 1 } else { 2 };
        assert_eq!(
            (&done["verdict"], &done["appended"]),
            (&json!("FAIL"), &json!(missing)),
            "{point}"
        );
        if missing == 1 {
            assert_eq!(&done["requested"], open[0]);
        }
        assert_eq!(state(&checked)["checks_without_verdict"], json!([]));
        let completed = checked.events("check.completed").len();
        assert_eq!(
            completed,
            checked.events("check.requested").len(),
            "{point}"
        );
        checked.home.must(&["verify"]);
    }
}

#[test]
fn only_the_same_check_of_the_same_actor_continues_an_intent() {
    let checked = Checked::new();
    faults::killed(checked.command(&[], &ARGV), "after:check.requested 1");
    let gap = text(&checked.events("check.requested")[0], "id").to_owned();
    for (more, argv) in [
        (&["--covers", "0"][..], &ARGV[..]),
        (&["--timeout-s", "7"], &ARGV),
        (&["--actor", "eve"], &ARGV),
        (&[], &["true"]),
    ] {
        let done = checked.check(more, argv);
        assert_eq!(done["appended"], 2, "{more:?} {argv:?}");
        assert_eq!(state(&checked)["checks_without_verdict"], json!([gap]));
    }
    assert_eq!(checked.check(&[], &ARGV)["requested"], json!(gap));
}

#[test]
fn two_processes_that_continue_one_intent_end_with_a_check_each() {
    let checked = Checked::new();
    faults::killed(checked.command(&[], &ARGV), "after:check.requested 1");
    let hold = ["hold before:check.completed 1"];
    let mut first = faults::start(checked.command(&[], &ARGV), &hold);
    let mut second = faults::start(checked.command(&[], &ARGV), &hold);
    for process in [&mut first, &mut second] {
        assert_eq!(process.reached(), "before:check.completed 1");
    }
    first.go();
    let first = first.ran().document();
    second.go();
    let second = second.ran().document();
    assert_eq!(
        (&first["appended"], &second["appended"]),
        (&json!(1), &json!(2))
    );
    assert_ne!(first["requested"], second["requested"]);
    let completed = checked.events("check.completed");
    let causes: Vec<_> = completed.iter().map(|event| &event["cause"]).collect();
    assert_eq!(causes, [&first["requested"], &second["requested"]]);
    checked.home.must(&["verify"]);
}

#[test]
fn a_check_by_a_module_is_continued_and_finds_the_same_again() {
    let checked = Checked::new();
    let what = ["--json", "check", "run", "--output", "report", "--task"];
    let bytes = [checked.task.as_str(), "--artifact", &checked.sha256];
    let rules = r#"{"rules":[{"criterion":0,"contains":"herons"},{"criterion":1,"absent":"%"}]}"#;
    let rules = checked.home.write("rules.json", rules.as_bytes());
    let module = ["--module", "text-check-v1", "--module-config"];
    let arguments = [&what[..], &bytes, &module, &[rules.to_str().unwrap()]].concat();
    let command = || checked.home.command(&arguments);
    faults::killed(command(), "after:check.requested 1");
    let done = Ran::from(command().output().unwrap()).document();
    assert_eq!(
        (&done["appended"], &done["verdict"]),
        (&json!(1), &json!("FAIL"))
    );
    let again = Ran::from(command().output().unwrap()).document();
    assert_eq!(again["appended"], 2, "{again}");
    let verdicts: Vec<_> = ["PASS", "FAIL"].iter().enumerate().collect();
    for (place, verdict) in verdicts {
        assert_eq!(done["findings"][place]["verdict"], *verdict, "{done}");
    }
    assert_eq!(done["findings"], again["findings"]);
    checked.home.must(&["verify"]);
}

#[test]
fn a_derivation_killed_at_any_point_is_closed_by_the_same_derivation_and_recorded_once() {
    let derive = |checked: &Checked, actor: &str| {
        let made = checked.home.write("made.txt", b"Two herons.");
        let what = ["--json", "--actor", actor, "derive", made.to_str().unwrap()];
        let from = ["--from", &checked.sha256, "--tool", "sed 4.9"];
        checked.home.command(&[&what[..], &from].concat())
    };
    let (ran, points) = faults::traced(derive(&Checked::new(), "editor"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(points.len(), 4, "{points:?}");
    for (place, point) in points.iter().enumerate() {
        let checked = Checked::new();
        let before = checked.home.event_count();
        faults::killed(derive(&checked, "editor"), point);
        checked.home.must(&["verify"]);
        let recorded = u64::from(place == 3);
        assert_eq!(checked.home.event_count(), before + recorded, "{point}");
        let closed = Ran::from(derive(&checked, "editor").output().unwrap()).document();
        assert_eq!(closed["appended"], json!(1 - recorded), "{point}");
        let again = Ran::from(derive(&checked, "editor").output().unwrap()).document();
        assert_eq!(
            (&again["appended"], &again["event"]),
            (&json!(0), &closed["event"]),
            "{point}"
        );
        // Another actor made it too: that is another record.
        let other = Ran::from(derive(&checked, "eve").output().unwrap()).document();
        assert_eq!(other["appended"], 1);
        checked.home.must(&["verify"]);
    }
}
