//! Tasks: declared with written conditions, listed, and refused when they are not
//! whole.

use std::process::Command;

use model::Digest;
use serde_json::json;

use crate::ledger::row_count;
use crate::support::{Ran, TestHome, chat, text};

const UNKNOWN_ID: &str = "01890000-0000-7000-8000-000000000000";

#[test]
fn a_task_is_declared_with_outputs_criteria_grants_and_a_run() {
    let home = TestHome::new();
    let first = home.write("first", b"it is there\n\n  \nit is \"right\"\r\n");
    let second = home.write("second", b"it has a title");
    let declared = home
        .must(&[
            "task",
            "create",
            "Write the report",
            "--output",
            "report",
            "--criteria",
            first.to_str().unwrap(),
            "--output",
            "title",
            "--criteria",
            second.to_str().unwrap(),
            "--grant",
            "ada=accept",
            "--grant",
            "ada=check",
            "--grant",
            "grace=accept",
            "--run",
            "night-7",
        ])
        .document();
    let task = text(&declared, "task");
    let event = home.must(&["log", "--task", task]).document();
    let criteria_sha256 = |canonical: &str| json!(Digest::of(canonical.as_bytes()).to_string());
    assert_eq!(
        event["body"],
        json!({
            "title": "Write the report",
            "run": "night-7",
            "outputs": [
                {
                    "name": "report",
                    "criteria": ["it is there", "it is \"right\""],
                    "criteria_sha256": criteria_sha256(r#"["it is there","it is \"right\""]"#),
                },
                {
                    "name": "title",
                    "criteria": ["it has a title"],
                    "criteria_sha256": criteria_sha256(r#"["it has a title"]"#),
                },
            ],
            "grants": {"ada": ["accept", "check"], "grace": ["accept"]},
        })
    );
    assert_eq!(event["id"], declared["event"]);
    assert_eq!(event["kind"], "task.created");
    assert_eq!(declared["outputs"], event["body"]["outputs"]);
    let shown = home.must(&["task", "show", task]).document();
    assert_eq!(shown["task_status"], "incomplete");
    assert_eq!(shown["task_next_operation"], "start_call");
    assert_eq!(home.must(&["state", "task", task]).document(), shown);
}

#[test]
fn tasks_are_listed_in_order_and_by_run() {
    let home = TestHome::new();
    let criteria = home.write("criteria", b"it is there\n");
    let criteria = criteria.to_str().unwrap();
    assert_eq!(home.must(&["task", "list"]).stdout, "");
    let mut tasks = Vec::new();
    for (title, run) in [
        ("a", Some("one")),
        ("b", None),
        ("c", Some("two")),
        ("d", Some("one")),
    ] {
        let mut command = vec![
            "task",
            "create",
            title,
            "--output",
            "o",
            "--criteria",
            criteria,
        ];
        if let Some(run) = run {
            command.extend(["--run", run]);
        }
        tasks.push(text(&home.must(&command).document(), "task").to_owned());
    }
    let listed = |options: &[&str]| -> Vec<String> {
        let lines = home
            .must(&[&["task", "list"][..], options].concat())
            .lines();
        lines
            .iter()
            .map(|task| text(task, "task").to_owned())
            .collect()
    };
    assert_eq!(listed(&[]), tasks);
    assert_eq!(
        listed(&["--run", "one"]),
        [tasks[0].clone(), tasks[3].clone()]
    );
    assert_eq!(listed(&["--run", "three"]), [""; 0]);
    let file = home.write_exchanges("one.jsonl", &[chat("one", "All of it.", "stop")]);
    let file = file.to_str().unwrap();
    home.must(&["import", "exchange", file, "--task", &tasks[1]]);
    home.must(&["reinterpret", "all"]);
    let second = home.must(&["task", "list"]).lines()[1].clone();
    assert_eq!(second["title"], "b");
    assert_eq!(second["task_status"], "incomplete");
    assert_eq!(second["task_next_operation"], "check_and_accept");
    assert_eq!(home.must(&["state"]).document()["tasks"], 4);
}

/// Asserts that this declaration is refused with this error and changes nothing.
fn is_not_declared(home: &TestHome, rest: &[&str], code: &str, message: String) {
    let command = [&["task", "create"][..], rest].concat();
    assert_eq!(home.refuses(&command, 2), (code.to_owned(), message));
}

#[test]
fn a_task_with_criteria_that_cannot_be_read_is_refused() {
    let home = TestHome::new();
    let blank = home.write("blank", b"\n  \n");
    let binary = home.write("binary", b"abc\xff");
    let large = home.write("large", &b"x".repeat(48 * 1024 + 1));
    let missing = home.path().with_file_name("missing");
    for (path, code, detail) in [
        (missing, "file", ": No such file or directory (os error 2)"),
        (blank, "usage", " holds no criterion: expected one per line"),
        (
            binary,
            "usage",
            ": expected UTF-8, found another byte at place 4",
        ),
        (large, "usage", ": expected at most 49152 bytes, found more"),
        (home.path(), "file", ": Is a directory (os error 21)"),
    ] {
        let path = path.to_str().unwrap();
        let rest = ["t", "--output", "o", "--criteria", path];
        is_not_declared(&home, &rest, code, format!("{path}{detail}"));
    }
}

#[test]
fn a_task_whose_parts_do_not_fit_is_refused() {
    let home = TestHome::new();
    let good = home.write("good", b"it is there\n");
    let good = good.to_str().unwrap();
    let whole = ["t", "--output", "o", "--criteria", good];
    let actor = "actor \"\": expected an actor's name of 1 to 512 bytes without control \
                 characters, found \"\"";
    for (more, message) in [
        (
            vec!["--output", "p"],
            "expected one --criteria for each --output, found 1 and 2",
        ),
        (
            vec!["--output", "o", "--criteria", good],
            "output o is given twice",
        ),
        (
            vec!["--grant", "ada"],
            "--grant \"ada\": expected ACTOR=CAPABILITY",
        ),
        (vec!["--grant", "=accept"], actor),
    ] {
        let rest = [&whole[..], &more].concat();
        is_not_declared(&home, &rest, "usage", message.to_owned());
    }
    let (code, message) = home.refuses(&["task", "create", "t"], 2);
    assert_eq!(code, "usage");
    let start = "the following required arguments were not provided:\n  --output <NAME>\n  \
                 --criteria <FILE>\n";
    assert!(message.starts_with(start), "{message}");
}

#[test]
fn a_task_with_a_text_that_is_no_name_is_refused() {
    let home = TestHome::new();
    let good = home.write("good", b"it is there\n");
    let good = good.to_str().unwrap();
    let long = "t".repeat(513);
    let whole = ["t", "--output", "o", "--criteria", good];
    for (rest, what, found) in [
        (
            vec!["", "--output", "o", "--criteria", good],
            "title",
            "none",
        ),
        (
            vec!["two\nlines", "--output", "o", "--criteria", good],
            "title",
            "one",
        ),
        (
            vec![&long, "--output", "o", "--criteria", good],
            "title",
            "513",
        ),
        (
            vec!["t", "--output", "\u{1b}o", "--criteria", good],
            "output",
            "one",
        ),
        (
            vec!["t", "--output", "", "--criteria", good],
            "output",
            "none",
        ),
        (
            [&whole[..], &["--grant", "ada="]].concat(),
            "capability",
            "none",
        ),
        ([&whole[..], &["--run", ""]].concat(), "run", "none"),
    ] {
        let message =
            format!("{what}: expected 1 to 512 bytes without control characters, found {found}");
        is_not_declared(&home, &rest, "usage", message);
    }
}

#[test]
fn criteria_that_fit_alone_and_not_together_are_a_usage_error() {
    let home = TestHome::new();
    let criteria = home.write("criteria", &b"x".repeat(40_000));
    let criteria = criteria.to_str().unwrap();
    let (code, message) = home.refuses(
        &[
            "task",
            "create",
            "t",
            "--output",
            "a",
            "--criteria",
            criteria,
            "--output",
            "b",
            "--criteria",
            criteria,
        ],
        2,
    );
    assert_eq!(code, "event");
    assert!(
        message.starts_with("the event task.created has 80"),
        "{message}"
    );
    assert!(
        message.ends_with(" bytes, but at most 65503 are allowed"),
        "{message}"
    );
}

#[test]
fn a_file_that_never_ends_is_read_no_further_than_its_bound() {
    let home = TestHome::new();
    let attempt = home.import(&[chat("one", "All of it.", "stop")])[0]["attempt"].clone();
    let attempt = attempt.as_str().unwrap();
    let count = row_count(&home);
    for (arguments, limit) in [
        (
            vec![
                "task",
                "create",
                "t",
                "--output",
                "o",
                "--criteria",
                "/dev/zero",
            ],
            48 << 10,
        ),
        (vec!["verify", "--against", "/dev/zero"], 1 << 20),
        (vec!["module", "add", "/dev/zero"], 64 << 20),
        (
            vec!["interpret", attempt, "--interpreter-config", "/dev/zero"],
            64 << 20,
        ),
    ] {
        let ran: Ran = Command::new("timeout")
            .arg("60")
            .arg(env!("CARGO_BIN_EXE_reread"))
            .args(&arguments)
            .arg("--json")
            .env("REREAD_HOME", home.path())
            .output()
            .unwrap()
            .into();
        let message = format!("/dev/zero: expected at most {limit} bytes, found more");
        assert_eq!(
            ran.refused(2),
            ("usage".to_owned(), message),
            "{arguments:?}"
        );
    }
    assert_eq!(row_count(&home), count);
}

#[test]
fn an_unknown_task_and_an_unknown_call_are_told_as_such() {
    let home = TestHome::new();
    for (command, what) in [
        (["task", "show"], "task"),
        (["state", "task"], "task"),
        (["state", "call"], "call"),
        (["reinterpret", "call"], "call"),
        (["reinterpret", "attempt"], "attempt"),
    ] {
        let expected = (
            "unknown_name".to_owned(),
            format!("unknown {what}: {UNKNOWN_ID}"),
        );
        let command = [command[0], command[1], UNKNOWN_ID];
        assert_eq!(home.refuses(&command, 2), expected);
        let (code, message) = home.refuses(&[command[0], command[1], "nope"], 2);
        assert_eq!(code, "usage");
        let form = "expected a UUID such as 0190a6c2-7c00-7000-8000-000000000000, found another \
                    text";
        assert_eq!(message, format!("{what} \"nope\": {form}"));
    }
}

#[test]
fn a_task_whose_outputs_nobody_may_accept_says_so() {
    let home = TestHome::new();
    let criteria = home.write("criteria", b"it is there");
    let create = ["task", "create", "t", "--output", "o", "--criteria"];
    let create = [&create[..], &[criteria.to_str().unwrap()]].concat();
    let note = "nobody may accept its outputs: --grant ACTOR=accept allows it\n";
    let said = |grants: &[&str]| home.must(&[&create[..], grants].concat()).stderr;
    assert_eq!(said(&[]), note);
    // A word that is written wrong grants nothing.
    assert_eq!(said(&["--grant", "ada=acept"]), note);
    assert_eq!(said(&["--grant", "ada=accept"]), "");
    assert_eq!(said(&["--quiet"]), "");
}
