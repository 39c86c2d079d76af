//! A home with work to accept, and acceptances of it by the built binary.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Ran, TestHome, chat, text};

/// An id that nothing has.
pub(super) const UNKNOWN_ID: &str = "01890000-0000-7000-8000-000000000000";

/// The older rules.
pub(super) const FIRST: [&str; 2] = ["--policy", "task-acceptance-v1"];

/// What the output says.
pub(super) const SAID: &str = "Two herons.";

/// A call that was read, and the last reading of it.
pub(super) struct Source {
    pub(super) call: String,
    pub(super) attempt: String,
    pub(super) interpretation: String,
}

/// A home with a task, a call that is read, and a passing check of its text.
pub(super) struct Work {
    pub(super) home: TestHome,
    pub(super) task: String,
    pub(super) output: String,
    pub(super) source: Source,
    pub(super) artifact: String,
    pub(super) check: String,
}

/// Declares a task of these outputs, each with its criteria, one a line.
pub(super) fn declare(home: &TestHome, outputs: &[(&str, &str)]) -> String {
    let mut command = vec!["task", "create", "t", "--run", "r"];
    for grant in ["ada=accept", "bob=accept", "operator=accept", "grace=check"] {
        command.extend(["--grant", grant]);
    }
    let files: Vec<_> = outputs
        .iter()
        .map(|(name, criteria)| home.write(&format!("criteria-{name}"), criteria.as_bytes()))
        .collect();
    for ((name, _), file) in outputs.iter().zip(&files) {
        command.extend(["--output", name, "--criteria", file.to_str().unwrap()]);
    }
    text(&home.must(&command).document(), "task").to_owned()
}

impl Source {
    /// Imports a call into a task, or into none, and reads it.
    pub(super) fn imported(home: &TestHome, task: &[&str], line: &Value, rules: &[&str]) -> Self {
        let lines = home.write_exchanges("one.jsonl", std::slice::from_ref(line));
        let import = ["import", "exchange", lines.to_str().unwrap()];
        let task = task.iter().flat_map(|task| ["--task", task]);
        let import: Vec<_> = import.into_iter().chain(task).collect();
        let imported = home.must(&import).lines().remove(0);
        let mut source = Self {
            call: text(&imported, "call").to_owned(),
            attempt: text(&imported, "attempt").to_owned(),
            interpretation: String::new(),
        };
        source.interpretation = source.read(home, "operator", rules);
        source
    }

    /// Reads the call again as an actor and returns the last reading.
    pub(super) fn read(&self, home: &TestHome, actor: &str, rules: &[&str]) -> String {
        let again = ["--actor", actor, "reinterpret", "call", &self.call];
        let read = home.must(&[&again[..], rules].concat()).document();
        let readings = read["interpretations"].as_array().unwrap();
        readings.last().unwrap().as_str().unwrap().to_owned()
    }

    /// Keeps the text and returns its hash.
    pub(super) fn stored(&self, home: &TestHome) -> String {
        let stored = home.must(&["output", &self.attempt, "--store"]).document();
        text(&stored, "sha256").to_owned()
    }

    /// Returns the hash of the response.
    pub(super) fn response(&self, home: &TestHome) -> String {
        let shown = home.must(&["show", &self.attempt]).document();
        let response = &shown["observation"]["body"]["response_body_artifact"];
        text(response, "sha256").to_owned()
    }

    /// Cites everything by name.
    pub(super) fn cited(&self) -> [&str; 6] {
        [
            "--call",
            &self.call,
            "--attempt",
            &self.attempt,
            "--interpretation",
            &self.interpretation,
        ]
    }
}

impl Work {
    pub(super) fn new(finish_reason: &str, rules: &[&str]) -> Self {
        let home = TestHome::new();
        let task = declare(&home, &[("report", "names herons\n")]);
        let line = chat("1", SAID, finish_reason);
        let source = Source::imported(&home, &[&task], &line, rules);
        Self::of(home, task, source)
    }

    /// Work on the output `report`, whose text passes a check of everything.
    pub(super) fn of(home: TestHome, task: String, source: Source) -> Self {
        let artifact = source.stored(&home);
        let mut work = Self {
            home,
            task,
            output: "report".to_owned(),
            source,
            artifact,
            check: String::new(),
        };
        work.check = work.checked("true");
        work
    }

    pub(super) fn copy(&self) -> Self {
        Self {
            home: self.home.copy(),
            task: self.task.clone(),
            output: self.output.clone(),
            source: Source {
                call: self.source.call.clone(),
                attempt: self.source.attempt.clone(),
                interpretation: self.source.interpretation.clone(),
            },
            artifact: self.artifact.clone(),
            check: self.check.clone(),
        }
    }

    /// Imports another call with this text into these tasks and reads it.
    pub(super) fn another(&self, task: &[&str], said: &str) -> Source {
        let line = chat(&format!("another-{}", self.log().len()), said, "stop");
        Source::imported(&self.home, task, &line, &crate::support::V2)
    }

    /// Checks the bytes with a program and returns the check's id.
    pub(super) fn checked(&self, program: &str) -> String {
        self.checked_with(&self.task, &[], &[program])
    }

    /// Checks the bytes as an output of a task and returns the check's id.
    pub(super) fn checked_with(&self, task: &str, more: &[&str], argv: &[&str]) -> String {
        let what = ["--json", "check", "run", "--task", task, "--output"];
        let bytes = [&self.output, "--artifact", &self.artifact];
        let command = [&what[..], &bytes, more, &["--"], argv].concat();
        let ran = Ran::from(self.home.command(&command).output().unwrap());
        text(&ran.document(), "check").to_owned()
    }

    pub(super) fn command(&self, actor: &str, more: &[&str]) -> Command {
        let who = ["--json", "--actor", actor, "accept", "--task", &self.task];
        let what = ["--output", &self.output, "--artifact", &self.artifact];
        self.home.command(&[&who[..], &what, more].concat())
    }

    pub(super) fn accept(&self, actor: &str, more: &[&str]) -> (i32, Value) {
        let ran = Ran::from(self.command(actor, more).output().unwrap());
        (ran.code, ran.document())
    }

    /// Accepts what is cited, and returns what was printed.
    pub(super) fn accepted(&self, actor: &str, more: &[&str]) -> Value {
        let (code, done) = self.accept(actor, more);
        assert_eq!((code, &done["accepted"]), (0, &json!(true)), "{done}");
        done
    }

    /// Cites the reading and the check.
    pub(super) fn cited(&self) -> [&str; 4] {
        self.citing(&self.check)
    }

    /// Cites the reading and another check.
    pub(super) fn citing<'a>(&'a self, check: &'a str) -> [&'a str; 4] {
        [
            "--interpretation",
            &self.source.interpretation,
            "--check",
            check,
        ]
    }

    pub(super) fn log(&self) -> Vec<Value> {
        self.home.must(&["log"]).lines()
    }

    pub(super) fn events(&self) -> usize {
        self.home.must(&["log", "--task", &self.task]).lines().len()
    }

    /// Returns how many events of a kind the task has.
    pub(super) fn count(&self, kind: &str) -> usize {
        let events = self.home.must(&["log", "--task", &self.task]).lines();
        events.iter().filter(|event| event["kind"] == kind).count()
    }

    /// Asserts that an acceptance is refused for exactly these reasons, which one event
    /// records once.
    pub(super) fn rejected(&self, actor: &str, more: &[&str], reasons: &[&str]) {
        let before = self.log().len();
        let (code, done) = self.accept(actor, more);
        assert_eq!((code, &done["reasons"]), (5, &json!(reasons)), "{done}");
        let log = self.log();
        let [event] = &log[before..] else {
            panic!("not one event: {:?}", &log[before..]);
        };
        assert_eq!(event["kind"], "task.acceptance_rejected");
        assert_eq!(event["actor"], actor);
        assert_eq!(event["body"]["reasons"], json!(reasons));
        assert_eq!(event["id"], done["rejection"]);
        let none = (&Value::Null, &Value::Null);
        assert_eq!((&done["acceptance"], &done["completion"]), none);
        let (_, again) = self.accept(actor, more);
        assert_eq!(
            (&again["appended"], &again["rejection"]),
            (&json!(0), &done["rejection"])
        );
        assert_eq!(self.log(), log);
    }

    /// Asserts the same, and that the task is not completed.
    pub(super) fn refused(&self, actor: &str, more: &[&str], reasons: &[&str]) {
        self.rejected(actor, more, reasons);
        let status = self.home.must(&["state", "task", &self.task]).document();
        assert_eq!(status["task_status"], "incomplete");
    }

    /// Asserts that the first and the second rules refuse for exactly these reasons.
    pub(super) fn both_refuse(&self, more: &[&str], first: &[&str], second: &[&str]) {
        self.refused("ada", &[more, &FIRST].concat(), first);
        self.refused("ada", more, second);
    }

    /// Asserts that an acceptance is answered without being judged, and that nothing
    /// is appended.
    pub(super) fn unjudged(&self, actor: &str, more: &[&str], reason: &str) -> String {
        let before = crate::ledger::rows(&self.home);
        let ran = Ran::from(self.command(actor, more).output().unwrap());
        let (code, message) = ran.refused(5);
        assert_eq!((code.as_str(), ran.stdout.as_str()), (reason, ""));
        assert_eq!(crate::ledger::rows(&self.home), before);
        message
    }
}
