//! Recordings of other tools: what comes in, how exact it is said to be, and what
//! refuses a file.

use std::path::Path;

use model::Digest;
use serde_json::{Value, json};

use crate::ledger::row_count;
use crate::support::{TestHome, root, text};

mod batch;
mod har;
mod refusals;
mod secrets;
mod vcr;

/// Imports files that are well-formed. Returns the lines, and the summary after them.
fn import(home: &TestHome, form: &str, files: &[&Path], options: &[&str]) -> (Vec<Value>, Value) {
    let mut arguments = vec!["import", form];
    arguments.extend(files.iter().map(|file| file.to_str().unwrap()));
    arguments.extend(options);
    let mut lines = home.must(&arguments).lines();
    let summary = lines.pop().unwrap()["summary"].clone();
    (lines, summary)
}

fn summary(imported: u64, duplicates: u64, skipped: u64) -> Value {
    json!({"imported": imported, "duplicates": duplicates, "refused": 0, "skipped": skipped})
}

/// What an import recorded of one line, without ids and times.
#[derive(Debug)]
struct Recorded {
    imported: Value,
    observed: Value,
}

fn recorded(home: &TestHome, line: &Value) -> Recorded {
    let events = home.must(&["log", "--call", text(line, "call")]).lines();
    let kinds: Vec<_> = events.iter().map(|event| text(event, "kind")).collect();
    assert_eq!(kinds, ["call.imported", "attempt.observed"]);
    Recorded {
        imported: events[0]["body"].clone(),
        observed: events[1]["body"].clone(),
    }
}

/// The reference to a body of these bytes, which are read back.
fn body(home: &TestHome, bytes: &[u8], media_type: &str) -> Value {
    let sha = Digest::of(bytes).to_string();
    let output = home.command(&["artifact", "cat", &sha]).output().unwrap();
    assert_eq!(output.stdout, bytes);
    json!({
        "sha256": sha,
        "length": bytes.len(),
        "media_type": media_type,
        "preservation": "keep",
    })
}

/// The message with which an import is refused whole.
fn refusal(home: &TestHome, form: &str, file: &Path, options: &[&str]) -> String {
    let mut arguments = vec!["import", form, file.to_str().unwrap()];
    arguments.extend(options);
    let (code, message) = home.refuses(&arguments, 2);
    assert_eq!(code, "malformed_exchange");
    let name = file.to_str().unwrap();
    let message = message.strip_suffix("\nnothing was imported").unwrap();
    message.replace(name, "FILE")
}

const FIXTURES: [(&str, &str, &str, &str, u64); 3] = [
    ("har", "chat.har", "har", "decoded", 1),
    ("vcr", "chat.yaml", "vcr", "length_matches", 0),
    (
        "openai-batch",
        "batch.jsonl",
        "openai-batch",
        "reserialised",
        0,
    ),
];

#[test]
fn each_form_is_imported_once_and_read_like_any_other_exchange() {
    for (form, file, importer, exactness, skipped) in FIXTURES {
        let home = TestHome::new();
        let file = root().join("tests/fixtures").join(file);
        let (lines, counts) = import(&home, form, &[&file], &[]);
        assert_eq!(counts, summary(1, 0, skipped), "{form}");
        let imported = lines.last().unwrap();
        let found = recorded(&home, imported).imported;
        assert_eq!(
            [&found["importer"], &found["exactness"], &found["dialect"]],
            [importer, exactness, "openai.chat"],
            "{form}"
        );
        let count = row_count(&home);
        let (again, counts) = import(&home, form, &[&file, &file], &["--strict"]);
        assert_eq!(counts, summary(0, 2, 2 * skipped), "{form}");
        assert_eq!(again.last().unwrap()["call"], imported["call"], "{form}");
        assert_eq!(row_count(&home), count, "{form}");
        let v2 = [
            "interpret",
            "all",
            "--interpreter",
            "attempt-interpretation-v2",
        ];
        let read = home.must(&v2).lines();
        assert_eq!(read[0]["reading"]["generation_state"], "complete", "{form}");
    }
}

#[test]
fn a_recording_is_part_of_the_task_that_is_named() {
    let home = TestHome::new();
    let criteria = home.write("criteria", b"it is there\n");
    let create = [
        "task",
        "create",
        "a title",
        "--output",
        "answer",
        "--criteria",
    ];
    let create = [&create[..], &[criteria.to_str().unwrap()]].concat();
    let created = home.must(&create).document();
    let task = text(&created, "task");
    for (form, file, ..) in FIXTURES {
        let file = root().join("tests/fixtures").join(file);
        import(&home, form, &[&file], &["--task", task]);
    }
    let events = home.must(&["log", "--task", task]).lines();
    let kinds: Vec<_> = events.iter().map(|event| text(event, "kind")).collect();
    let pair = ["call.imported", "attempt.observed"];
    assert_eq!(kinds, [&["task.created"][..], &pair, &pair, &pair].concat());
}

#[test]
fn without_json_the_summary_names_what_was_skipped() {
    let home = TestHome::new();
    let file = root().join("tests/fixtures/chat.har");
    let output = home
        .command(&["import", "har", file.to_str().unwrap()])
        .output()
        .unwrap();
    let expected = format!(
        "{}: entry 1: skipped, no known dialect: /app.js\n\
         1 imported, 0 duplicates, 0 refused, 1 skipped\n",
        file.display()
    );
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}
