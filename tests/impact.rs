//! Impact: what rests on evidence that moved is named; nothing is undone.

use serde_json::{Value, json};

use crate::support::{TestHome, V1, V2, chat, text};

/// A home with a task whose output is accepted by the first rules.
pub(crate) struct Accepted {
    pub(crate) home: TestHome,
    pub(crate) task: String,
    call: String,
    interpretation: String,
    acceptance: String,
    completion: String,
}

impl Accepted {
    /// The provider's reason says that the text was cut.
    pub(crate) fn new(finish_reason: &str) -> Self {
        let home = TestHome::new();
        let criteria = home.write("criteria", b"names herons\n");
        let create = ["task", "create", "t", "--run", "r", "--grant", "ada=accept"];
        let output = ["--output", "report", "--criteria"];
        let created = home.must(&[&create[..], &output, &[criteria.to_str().unwrap()]].concat());
        let task = text(&created.document(), "task").to_owned();
        let lines = home.write_exchanges("one.jsonl", &[chat("1", "Two herons.", finish_reason)]);
        let import = ["import", "exchange", lines.to_str().unwrap(), "--task"];
        let imported = home
            .must(&[&import[..], &[&task]].concat())
            .lines()
            .remove(0);
        let (call, attempt) = (text(&imported, "call"), text(&imported, "attempt"));
        let read = home.must(&[&["reinterpret", "call", call][..], &V1].concat());
        let interpretation = read.document()["interpretations"][0].clone();
        let interpretation = interpretation.as_str().unwrap().to_owned();
        let stored = home.must(&["output", attempt, "--store"]).document();
        let (call, artifact) = (call.to_owned(), text(&stored, "sha256").to_owned());
        let rules = br#"{"rules":[{"criterion":0,"contains":"herons"}]}"#;
        let rules = home.write("rules.json", rules);
        let what = [
            "--task",
            &task,
            "--output",
            "report",
            "--artifact",
            &artifact,
        ];
        let module = ["--module", "text-check-v1", "--module-config"];
        let check = [
            &["check", "run"][..],
            &what,
            &module,
            &[rules.to_str().unwrap()],
        ]
        .concat();
        let check = home.must(&check);
        let check = text(&check.document(), "check").to_owned();
        let cited = ["--interpretation", &interpretation, "--check", &check];
        let done = home
            .must(&[&["--actor", "ada", "accept"][..], &what, &cited].concat())
            .document();
        let (acceptance, completion) = (text(&done, "acceptance"), text(&done, "completion"));
        let (acceptance, completion) = (acceptance.to_owned(), completion.to_owned());
        Self {
            home,
            task,
            call,
            interpretation,
            acceptance,
            completion,
        }
    }

    pub(crate) fn reread(&self) -> Value {
        let again = [&["reinterpret", "call", self.call.as_str()][..], &V2].concat();
        self.home.must(&again).document()
    }

    /// Asserts what moved, field by field.
    fn is_truncated_by_the_second_rules(&self, one: &Value, reread: &Value) {
        let fields = [
            "status",
            "interpretation",
            "generation_state",
            "interpreter",
            "policy",
        ];
        assert_eq!(one["changed"], json!(fields), "{one}");
        assert_eq!(one["old"]["status"], "succeeded");
        assert_eq!(one["new"]["status"], "unresolved");
        assert_eq!(one["old"]["interpretation"], self.interpretation);
        assert_eq!(one["new"]["interpretation"], reread["interpretations"][0]);
        assert_eq!(
            one["old"]["interpreter"]["label"],
            "attempt-interpretation-v1"
        );
        assert_eq!(
            one["new"]["interpreter"]["label"],
            "attempt-interpretation-v2"
        );
        assert_ne!(
            one["old"]["interpreter"]["sha256"],
            one["new"]["interpreter"]["sha256"]
        );
        assert_eq!(one["moved"], "status");
        assert_eq!(
            (&one["next_operation"], &one["task"]),
            (&json!("none"), &json!(self.task))
        );
    }

    /// Returns what moved, and the summary.
    fn impact(&self, more: &[&str]) -> (Vec<Value>, Value) {
        let mut lines = self.home.must(&[&["impact"][..], more].concat()).lines();
        let summary = lines.pop().unwrap();
        (lines, summary["impact"].clone())
    }
}

#[test]
fn a_completed_task_stays_completed_and_every_record_that_rests_on_the_old_reading_is_named() {
    let accepted = Accepted::new("length");
    assert_eq!(
        accepted.impact(&[]),
        (Vec::new(), json!({"calls": 0, "kinds": {}, "moves": {}}))
    );
    let before = accepted.home.must(&["log"]).stdout;
    let reread = accepted.reread();
    let (moved, summary) = accepted.impact(&[]);
    let named: Vec<_> = moved
        .iter()
        .map(|one| (&one["kind"], &one["record"]))
        .collect();
    let first = accepted
        .home
        .must(&["log", "--call", &accepted.call])
        .lines();
    let decided = first
        .iter()
        .find(|event| event["kind"] == "call.reinterpreted")
        .unwrap();
    let expected = [
        (&json!("decision"), &decided["id"]),
        (&json!("acceptance"), &json!(accepted.acceptance)),
        (&json!("completion"), &json!(accepted.completion)),
    ];
    assert_eq!(named, expected);
    for one in &moved {
        accepted.is_truncated_by_the_second_rules(one, &reread);
    }
    assert_eq!(moved[2]["standing"], "completed, basis moved");
    let kinds = json!({"acceptance": 1, "completion": 1, "decision": 1});
    assert_eq!(
        summary,
        json!({"calls": 1, "kinds": kinds, "moves": {"status": 3}})
    );
    // Not an event was touched, and looking appended nothing.
    let after = accepted.home.must(&["log"]).stdout;
    assert!(after.starts_with(&before), "{after}");
    let appended = after[before.len()..].lines().count();
    assert_eq!(json!(appended), reread["appended"]);
    let state = accepted
        .home
        .must(&["state", "task", &accepted.task])
        .document();
    assert_eq!(state["task_status"], "completed");
    assert_eq!(state["task_standing"], "completed, basis moved");
    assert_eq!(state["outputs"][0]["basis_moved_by"], reread["record"]);
    let listed = accepted
        .home
        .must(&["task", "list", "--run", "r"])
        .document();
    assert_eq!(listed["task_standing"], "completed, basis moved");
    let home = accepted.home.must(&["state"]).document();
    assert_eq!(
        (&home["tasks_completed"], &home["tasks_basis_moved"]),
        (&json!(1), &json!(1))
    );
    accepted.home.must(&["verify"]);
}

#[test]
fn other_rules_that_say_the_same_move_the_rules_alone() {
    let accepted = Accepted::new("stop");
    accepted.reread();
    let (moved, summary) = accepted.impact(&[]);
    for one in &moved {
        assert_eq!(
            one["changed"],
            json!(["interpretation", "interpreter", "policy"]),
            "{one}"
        );
    }
    assert_eq!(summary["moves"], json!({"rules": 3}));
}

#[test]
fn only_what_moved_after_an_event_is_named() {
    let accepted = Accepted::new("length");
    let reread = accepted.reread();
    let record = text(&reread, "record").to_owned();
    let event = accepted.home.must(&["show", &record]).document();
    let seq = event["seq"].as_u64().unwrap();
    for since in [record.clone(), seq.to_string()] {
        assert_eq!(
            accepted.impact(&["--since", &since]).0,
            Vec::<Value>::new(),
            "{since}"
        );
    }
    let before = (seq - 1).to_string();
    assert_eq!(accepted.impact(&["--since", &before]).0.len(), 3);
    // Back again: against what counted at the record, everything moved; ever, nothing did.
    let back = [
        "reinterpret",
        "call",
        &accepted.call,
        "--allow-older=as it was",
    ];
    accepted.home.must(&[&back[..], &V1].concat());
    assert_eq!(accepted.impact(&[]).0, Vec::<Value>::new());
    let moved = accepted.impact(&["--since", &record]).0;
    assert_eq!(moved.len(), 3);
    assert_eq!(moved[0]["record"], json!(record));
    assert_eq!(
        (&moved[0]["old"]["status"], &moved[0]["new"]["status"]),
        (&json!("unresolved"), &json!("succeeded"))
    );
}

#[test]
fn an_event_that_is_not_there_is_told_as_such() {
    let accepted = Accepted::new("stop");
    for since in ["99999", "01890000-0000-7000-8000-000000000000", "yesterday"] {
        let refused = accepted.home.refuses(&["impact", "--since", since], 2);
        let expected = format!("unknown event: {since}");
        assert_eq!(refused, ("unknown_name".to_owned(), expected));
    }
}

#[test]
fn people_read_what_moved_field_by_field() {
    let accepted = Accepted::new("length");
    accepted.reread();
    let run = |arguments: &[&str]| {
        let home = accepted.home.path();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_reread"));
        let output = command
            .arg("--home")
            .arg(home)
            .args(arguments)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let said = run(&["impact"]);
    let heading = format!(
        "\ncompletion {} completed, basis moved (status moved)\n",
        accepted.completion
    );
    assert!(said.contains(&heading), "{said}");
    assert!(
        said.contains("\n  status succeeded -> unresolved\n"),
        "{said}"
    );
    assert!(
        said.contains(
            "\n  next none (every output is accepted; what output report was accepted on moved)\n"
        ),
        "{said}"
    );
    let last = "1 calls moved: 1 acceptance, 1 completion, 1 decision (3 status)";
    assert_eq!(said.lines().last(), Some(last));
    let state = run(&["state", "task", &accepted.task]);
    assert!(
        state.contains("\nstatus completed, basis moved\n"),
        "{state}"
    );
}
