//! From end to end: bytes that change places in memory pass every step in between, and
//! are caught by the check at the end, or by the acceptance that makes the text again.

use std::process::Command;

use serde_json::{Value, json};

use crate::faults::{self, Scene};
use crate::recording_support::CHAT_BODY;
use crate::support::{Ran, text};

/// What the provider says.
const SAID: &str = "Two herons.";

/// A scene with a task, and what its acceptance cites.
struct Work {
    scene: Scene,
    task: String,
}

impl Work {
    fn new() -> Self {
        let scene = Scene::answering();
        let criteria = scene.home.write("criteria", b"says what was sent\n");
        let create = ["task", "create", "t", "--output", "report", "--criteria"];
        let grant = ["--grant", "ada=accept"];
        let created = scene
            .home
            .must(&[&create[..], &[criteria.to_str().unwrap()], &grant].concat());
        let task = text(&created.document(), "task").to_owned();
        Self { scene, task }
    }

    /// Runs a command, with two bytes of a buffer changed where that is asked for.
    fn ran(command: Command, swap: Option<&str>) -> Value {
        let rules: Vec<_> = swap.into_iter().collect();
        let ran = faults::start(command, &rules).ran();
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.document()
    }

    /// Makes the call and returns the attempt and its reading.
    fn produce(&self, swap: Option<&str>) -> (String, String) {
        let made = Self::ran(self.scene.call(&["--task", &self.task]), swap);
        let events = self
            .scene
            .home
            .must(&["log", "--call", text(&made, "call")])
            .lines();
        assert_eq!(events.len(), 9, "{events:?}");
        let of_kind = |kind: &str| events.iter().find(|event| event["kind"] == kind).unwrap();
        let read = of_kind("attempt.interpreted");
        (
            text(read, "attempt").to_owned(),
            text(read, "id").to_owned(),
        )
    }

    /// Keeps the text of an attempt and returns its hash.
    fn keep(&self, attempt: &str, swap: Option<&str>) -> String {
        let store = self.scene.command(&["output", attempt, "--store"]);
        text(&Self::ran(store, swap), "sha256").to_owned()
    }

    /// Checks bytes with a shell script, and returns the check and its verdict.
    fn check(&self, artifact: &str, script: &str) -> (String, String) {
        let run = ["--json", "check", "run", "--task", &self.task];
        let what = ["--output", "report", "--artifact", artifact];
        let verifier = ["--", "sh", "-c", script];
        let done = self
            .scene
            .home
            .must(&[&run[..], &what, &verifier].concat())
            .document();
        let (check, verdict) = (text(&done, "check"), text(&done, "verdict"));
        (check.to_owned(), verdict.to_owned())
    }

    /// Accepts by the first rules, and returns the exit code and the reasons.
    fn accept(&self, cited: [&str; 3], policy: &str) -> (i32, Value) {
        let [artifact, reading, check] = cited;
        let who = ["--json", "--actor", "ada", "accept", "--task", &self.task];
        let what = ["--output", "report", "--artifact", artifact];
        let evidence = ["--interpretation", reading, "--check", check];
        let arguments = [&who[..], &what, &evidence, &["--policy", policy]].concat();
        let ran = Ran::from(self.scene.home.command(&arguments).output().unwrap());
        (ran.code, ran.document()["reasons"].clone())
    }

    /// Asserts that nothing in the home looks wrong.
    fn verifies(&self) {
        self.scene.home.must(&["verify"]);
        self.scene.home.must(&["verify", "--replay"]);
    }
}

/// What only somebody who knows what was sent can check.
fn says_what_was_sent() -> String {
    format!("test \"$(cat)\" = '{SAID}'")
}

#[test]
fn bytes_swapped_before_they_are_hashed_pass_every_step_and_fail_the_check_at_the_end() {
    let place = CHAT_BODY.find(SAID).unwrap() + 1;
    let swap = format!("swap received 1 {place}");
    for swap in [None, Some(swap.as_str())] {
        let work = Work::new();
        let (attempt, reading) = work.produce(swap);
        let artifact = work.keep(&attempt, None);
        let kept = work.scene.home.must(&["output", &attempt]).document();
        let said = if swap.is_some() { "Tow herons." } else { SAID };
        assert_eq!(kept["output_text"], said);
        work.verifies();
        let (check, verdict) = work.check(&artifact, &says_what_was_sent());
        let (code, reasons) = work.accept([&artifact, &reading, &check], "task-acceptance-v1");
        if swap.is_some() {
            let expected = json!([format!("check_not_passed:{check}:FAIL")]);
            assert_eq!((verdict.as_str(), code, reasons), ("FAIL", 5, expected));
        } else {
            assert_eq!((verdict.as_str(), code, reasons), ("PASS", 0, json!([])));
        }
        work.verifies();
    }
}

#[test]
fn bytes_swapped_on_their_way_to_the_artifacts_pass_a_check_and_fail_the_acceptance() {
    for (policy, reason) in [
        ("task-acceptance-v1", "artifact_not_source_output"),
        ("task-acceptance-v2", "derivation_not_recorded"),
    ] {
        let work = Work::new();
        let (attempt, reading) = work.produce(None);
        let right = work.keep(&attempt, None);
        let swapped = work.keep(&attempt, Some("swap output_text 1 1"));
        assert_eq!(swapped, model::Digest::of(b"Tow herons.").to_string());
        let (check, verdict) = work.check(&swapped, "grep -q herons");
        assert_eq!(verdict, "PASS");
        work.verifies();
        let (code, reasons) = work.accept([&swapped, &reading, &check], policy);
        assert_eq!((code, reasons), (5, json!([reason])));
        let (check, _) = work.check(&right, "grep -q herons");
        assert_eq!(work.accept([&right, &reading, &check], policy).0, 0);
        work.verifies();
    }
}
