//! Acceptance: exact bytes, by another actor, on evidence that is resolved and not
//! believed.

use serde_json::{Value, json};

use crate::faults;
use crate::support::{Ran, TestHome, V1, V2, chat, text};

const UNKNOWN_ID: &str = "01890000-0000-7000-8000-000000000000";

/// A home with a task, an imported call that is read, and a passing check of its text.
struct Work {
    home: TestHome,
    task: String,
    call: String,
    interpretation: String,
    artifact: String,
    check: String,
}

impl Work {
    fn new(finish_reason: &str, rules: &[&str]) -> Self {
        let home = TestHome::new();
        let criteria = home.write("criteria", b"names herons\n");
        let create = ["task", "create", "t", "--output", "report", "--criteria"];
        let grant = ["--grant", "ada=accept", "--grant", "operator=accept"];
        let criteria = criteria.to_str().unwrap();
        let created = home.must(&[&create[..], &[criteria], &grant].concat());
        let task = text(&created.document(), "task").to_owned();
        let lines = home.write_exchanges("one.jsonl", &[chat("1", "Two herons.", finish_reason)]);
        let import = [
            "import",
            "exchange",
            lines.to_str().unwrap(),
            "--task",
            &task,
        ];
        let imported = home.must(&import).lines().remove(0);
        let (call, attempt) = (text(&imported, "call"), text(&imported, "attempt"));
        let read = home.must(&[&["reinterpret", "call", call][..], rules].concat());
        let interpretation =
            text(&json!({"id": read.document()["interpretations"][0]}), "id").to_owned();
        let stored = home.must(&["output", attempt, "--store"]).document();
        let (call, artifact) = (call.to_owned(), text(&stored, "sha256").to_owned());
        let mut work = Self {
            home,
            task,
            call,
            interpretation,
            artifact,
            check: String::new(),
        };
        work.check = work.checked("true");
        work
    }

    /// Checks the text with a program and returns the check's id.
    fn checked(&self, program: &str) -> String {
        let what = [
            "--json", "check", "run", "--task", &self.task, "--output", "report",
        ];
        let more = ["--artifact", &self.artifact, "--", program];
        let ran = Ran::from(
            self.home
                .command(&[&what[..], &more].concat())
                .output()
                .unwrap(),
        );
        text(&ran.document(), "check").to_owned()
    }

    fn command(&self, actor: &str, more: &[&str]) -> std::process::Command {
        let who = ["--json", "--actor", actor, "accept", "--task", &self.task];
        let what = ["--output", "report", "--artifact", &self.artifact];
        self.home.command(&[&who[..], &what, more].concat())
    }

    fn accept(&self, actor: &str, more: &[&str]) -> (i32, Value) {
        let ran = Ran::from(self.command(actor, more).output().unwrap());
        (ran.code, ran.document())
    }

    /// Cites the reading and the check.
    fn cited(&self) -> [&str; 4] {
        [
            "--interpretation",
            &self.interpretation,
            "--check",
            &self.check,
        ]
    }

    fn events(&self) -> usize {
        self.home.must(&["log", "--task", &self.task]).lines().len()
    }

    /// Asserts that an acceptance is refused for exactly these reasons, once.
    fn refused(&self, actor: &str, more: &[&str], reasons: &[&str]) {
        let before = self.events();
        let (code, done) = self.accept(actor, more);
        assert_eq!((code, &done["reasons"]), (5, &json!(reasons)), "{done}");
        assert_eq!(self.events(), before + 1);
        let (_, again) = self.accept(actor, more);
        assert_eq!(
            (&again["appended"], &again["rejection"]),
            (&json!(0), &done["rejection"])
        );
        let status = self.home.must(&["state", "task", &self.task]).document();
        assert_ne!(status["task_status"], "completed");
    }
}

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
    let more = ["--interpretation", &work.interpretation, "--check", &other];
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
    let reading = ["--interpretation", work.interpretation.as_str()];
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
        .must(&[&["reinterpret", "call", work.call.as_str()][..], &V2].concat());
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
