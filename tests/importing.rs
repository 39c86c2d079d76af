//! Exchanges from files: what comes in, what is left out, and what refuses a file.

use std::fs;
use std::path::Path;
use std::process::Command;

use model::Digest;
use serde_json::{Value, json};

use crate::ledger::row_count;
use crate::support::{Ran, TestHome, after_init, chat, exchange, text};

const UNKNOWN_ID: &str = "01890000-0000-7000-8000-000000000000";

fn import(home: &TestHome, files: &[&Path], options: &[&str]) -> Ran {
    let mut arguments = vec!["import", "exchange"];
    arguments.extend(files.iter().map(|file| file.to_str().unwrap()));
    arguments.extend(options);
    home.run(&arguments)
}

/// The lines that were printed, and the summary after them.
fn printed(ran: &Ran) -> (Vec<Value>, Value) {
    assert_eq!(ran.code, 0, "{ran:?}");
    let mut lines = ran.lines();
    let summary = lines.pop().unwrap()["summary"].clone();
    (lines, summary)
}

fn summary(imported: u64, duplicates: u64, refused: u64) -> Value {
    json!({"imported": imported, "duplicates": duplicates, "refused": refused})
}

/// The bodies of a home's `call.imported` events.
fn imported_events(home: &TestHome) -> Vec<Value> {
    let events = home.must(&["log"]).lines();
    events
        .into_iter()
        .filter(|event| event["kind"] == "call.imported")
        .collect()
}

fn line(exchange: &Value) -> Vec<u8> {
    exchange.to_string().into_bytes()
}

#[test]
fn a_malformed_line_refuses_every_file_and_names_file_and_line() {
    let home = TestHome::new();
    let good = home.write_exchanges("good.jsonl", &[chat("1", "one", "stop")]);
    let mut bytes = line(&chat("2", "two", "stop"));
    bytes.extend_from_slice(b"\n{\"id\": \n\n");
    bytes.extend(line(&chat("3", "three", "stop")));
    bytes.extend_from_slice(b"\n[1, 2]\n");
    let bad = home.write("bad.jsonl", &bytes);
    let named = [good.to_str().unwrap(), bad.to_str().unwrap()];
    let command = ["import", "exchange", named[0], named[1]];
    let bad = named[1];
    let expected = format!(
        "{bad}:2: the line: expected JSON, found the end of the line at column 7\n\
         {bad}:5: the line: expected an object, found an array\n\
         nothing was imported"
    );
    assert_eq!(
        home.refuses(&command, 2),
        ("malformed_exchange".to_owned(), expected)
    );
    let hint = home.run(&command).error()["hint"].clone();
    assert_eq!(
        hint,
        "mend the lines, or import the others with --keep-going"
    );
    // Even where the order of the files is the other one.
    let (code, _) = home.refuses(&["import", "exchange", bad, named[0]], 2);
    assert_eq!(code, "malformed_exchange");
}

#[test]
fn keep_going_imports_the_other_lines_and_counts_what_was_refused() {
    let home = TestHome::new();
    let mut bytes = line(&chat("1", "one", "stop"));
    bytes.extend_from_slice(b"\n\xff\n\n");
    bytes.extend(line(&chat("2", "two", "stop")));
    bytes.extend_from_slice(b"\nnull\n");
    let first = home.write("first.jsonl", &bytes);
    let second = home.write_exchanges("second.jsonl", &[chat("3", "three", "stop")]);
    let (lines, counts) = printed(&import(&home, &[&first, &second], &["--keep-going"]));
    assert_eq!(counts, summary(3, 0, 2));
    let name = first.to_str().unwrap();
    let refusals: Vec<_> = lines
        .iter()
        .filter(|line| line["outcome"] == "refused")
        .collect();
    assert_eq!(
        refusals,
        [
            &json!({"file": name, "line": 2, "external_id": null, "outcome": "refused",
                "code": "malformed_exchange",
                "detail": "the line: expected UTF-8, found another byte at column 1"}),
            &json!({"file": name, "line": 5, "external_id": null, "outcome": "refused",
                "code": "malformed_exchange",
                "detail": "the line: expected an object, found null"}),
        ]
    );
    let ids: Vec<_> = lines
        .iter()
        .filter(|line| line["outcome"] == "imported")
        .map(|line| (&line["external_id"], &line["line"]))
        .collect();
    assert_eq!(
        ids,
        [
            (&json!("1"), &json!(1)),
            (&json!("2"), &json!(4)),
            (&json!("3"), &json!(1)),
        ]
    );
    let count = row_count(&home);
    let strict = import(&home, &[&first, &second], &["--keep-going", "--strict"]);
    assert_eq!(strict.code, 4, "{strict:?}");
    assert_eq!(
        strict.lines().pop().unwrap()["summary"],
        summary(0, 3, 2),
        "a strict run does the same and says so with its exit code"
    );
    assert_eq!(row_count(&home), count);
}

#[test]
fn of_many_malformed_lines_the_first_twenty_are_named() {
    let home = TestHome::new();
    let path = home.write("bad.jsonl", "{}\n".repeat(27).as_bytes());
    let name = path.to_str().unwrap();
    let (_, message) = home.refuses(&["import", "exchange", name], 2);
    let lines: Vec<_> = message.lines().collect();
    assert_eq!(lines.len(), 22);
    assert_eq!(
        lines[19],
        format!("{name}:20: `dialect`: expected the name of a dialect, found nothing")
    );
    assert_eq!(
        lines[20..],
        ["and 7 more malformed lines", "nothing was imported"]
    );
}

#[test]
fn blank_lines_line_ends_and_a_byte_order_mark_change_no_line() {
    let home = TestHome::new();
    let lines = ["a", "b", "c", "d"].map(|id| line(&chat(id, id, "stop")));
    let mut bytes = b"\xef\xbb\xbf".to_vec();
    bytes.extend_from_slice(&lines[0]);
    bytes.extend_from_slice(b"\r\n\r\n \t \n");
    bytes.extend_from_slice(&lines[1]);
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(&lines[2]);
    bytes.extend_from_slice(b"\n\n");
    bytes.extend_from_slice(&lines[3]);
    let path = home.write("ends.jsonl", &bytes);
    let (printed_lines, counts) = printed(&import(&home, &[&path], &[]));
    assert_eq!(counts, summary(4, 0, 0));
    let numbers: Vec<_> = printed_lines
        .iter()
        .map(|line| line["line"].clone())
        .collect();
    assert_eq!(numbers, [1, 4, 5, 7]);
    let bodies: Vec<_> = imported_events(&home)
        .iter()
        .map(|event| event["body"].clone())
        .collect();
    for (body, number, bytes) in [
        (
            &bodies[0],
            1,
            [b"\xef\xbb\xbf".as_slice(), &lines[0]].concat(),
        ),
        (&bodies[1], 4, lines[1].clone()),
        (&bodies[2], 5, lines[2].clone()),
        (&bodies[3], 7, lines[3].clone()),
    ] {
        assert_eq!(body["line"], number);
        assert_eq!(body["line_sha256"], Digest::of(&bytes).to_string());
        assert_eq!(
            body["source_sha256"],
            Digest::of(&fs::read(&path).unwrap()).to_string()
        );
    }
    // The same lines with other ends are the same lines.
    let path = home.write("other.jsonl", &lines[1..].join(b"\n".as_slice()));
    let (_, counts) = printed(&import(&home, &[&path], &[]));
    assert_eq!(counts, summary(0, 3, 0));
}

#[test]
fn an_empty_file_is_imported_as_nothing() {
    let home = TestHome::new();
    let count = row_count(&home);
    for bytes in ["", "\n", "\r\n \n"] {
        let path = home.write("empty.jsonl", bytes.as_bytes());
        let (lines, counts) = printed(&import(&home, &[&path], &["--strict"]));
        assert_eq!((lines.len(), counts), (0, summary(0, 0, 0)));
    }
    assert_eq!(row_count(&home), count);
}

#[test]
fn a_line_is_imported_once_in_a_file_in_two_files_and_in_two_runs() {
    let home = TestHome::new();
    let mut nameless = chat("gone", "nameless", "stop");
    nameless.as_object_mut().unwrap().remove("id");
    let one = chat("1", "one", "stop");
    let path = home.write_exchanges("a.jsonl", &[one.clone(), nameless.clone(), one, nameless]);
    let (lines, counts) = printed(&import(&home, &[&path, &path], &[]));
    assert_eq!(counts, summary(2, 6, 0));
    let count = row_count(&home);
    assert_eq!(count, after_init(4));
    let calls = |lines: &[Value]| -> Vec<(Value, Value)> {
        let ids = |line: &Value| (line["call"].clone(), line["attempt"].clone());
        lines.iter().map(ids).collect()
    };
    assert_eq!(calls(&lines[..2]), calls(&lines[2..4]));
    let outcomes: Vec<_> = lines
        .iter()
        .map(|line| text(line, "outcome").to_owned())
        .collect();
    assert_eq!(outcomes[..3], ["imported", "imported", "duplicate"]);
    let (again, counts) = printed(&import(&home, &[&path], &["--strict"]));
    assert_eq!(counts, summary(0, 4, 0));
    assert_eq!(calls(&again), calls(&lines[..4]));
    assert_eq!(row_count(&home), count);
}

#[test]
fn the_same_id_with_another_body_is_a_new_call() {
    let (home, first) = TestHome::importing(&[chat("same", "one", "stop")]);
    let second = home.import(&[chat("same", "two", "stop")]);
    assert_eq!(second[0]["outcome"], "imported");
    assert_ne!(first[0]["call"], second[0]["call"]);
    assert_eq!(row_count(&home), after_init(4));
}

#[test]
fn a_repeat_over_missing_bytes_is_refused_and_names_the_recorded_observation() {
    for body in ["response_body_artifact", "request_body_artifact"] {
        let (home, imported) = TestHome::importing(&[chat("1", "one", "stop")]);
        let attempt = text(&imported[0], "attempt");
        let shown = home.must(&["show", attempt]).document();
        let observation = &shown["observation"];
        let sha = text(&observation["body"][body], "sha256");
        fs::remove_file(home.artifact(sha)).unwrap();
        let before = (row_count(&home), home.files());
        let path = home.path().parent().unwrap().join("exchanges.jsonl");
        let (lines, counts) = printed(&import(&home, &[&path], &[]));
        assert_eq!(counts, summary(0, 0, 1));
        assert_eq!(lines[0]["code"], "observation_unavailable");
        let what = body.split('_').next().unwrap();
        let detail = format!(
            "ObservationUnavailable: missing: {what} body bytes are missing (attempt {attempt}, \
             {sha}, recorded reading or status {})",
            text(observation, "id")
        );
        assert_eq!(lines[0]["detail"], detail);
        assert_eq!(import(&home, &[&path], &["--strict"]).code, 4);
        assert_eq!(
            (row_count(&home), home.files()),
            before,
            "nothing stands in for the missing bytes"
        );
    }
}

#[test]
fn a_call_is_part_of_the_task_that_is_named_and_of_none_that_is_unknown() {
    let home = TestHome::new();
    let criteria = home.write("criteria", b"it is there\n");
    let created = home.must(&[
        "task",
        "create",
        "a title",
        "--output",
        "answer",
        "--criteria",
        criteria.to_str().unwrap(),
    ]);
    let created = created.document();
    let task = text(&created, "task");
    let path = home.write_exchanges("a.jsonl", &[chat("1", "one", "stop")]);
    let name = path.to_str().unwrap();
    let command = ["import", "exchange", name, "--task", UNKNOWN_ID];
    let message = format!("unknown task: {UNKNOWN_ID}");
    assert_eq!(
        home.refuses(&command, 2),
        ("unknown_name".to_owned(), message)
    );
    let (code, message) = home.refuses(&["import", "exchange", name, "--task", "nope"], 2);
    let expected = "task \"nope\": expected a UUID such as 0190a6c2-7c00-7000-8000-000000000000, \
                    found another text";
    assert_eq!((code.as_str(), message.as_str()), ("usage", expected));

    let (lines, _) = printed(&import(&home, &[&path], &["--task", task]));
    let events = home.must(&["log", "--task", task]).lines();
    let kinds: Vec<_> = events.iter().map(|event| text(event, "kind")).collect();
    assert_eq!(kinds, ["task.created", "call.imported", "attempt.observed"]);
    assert_eq!(events[1]["cause"], events[0]["id"]);
    assert_eq!(events[2]["cause"], events[1]["id"]);
    assert!(events.iter().all(|event| event["task"] == task));
    let state = home.must(&["state", "task", task]).document();
    assert_eq!(state["calls"][0]["call"], lines[0]["call"]);
}

/// Asserts how a source that is no plain file is refused. A process that would wait
/// for it is ended, which is another exit code.
fn is_no_source(home: &TestHome, source: &Path, code: &str, detail: &str) {
    let files = home.files();
    let count = row_count(home);
    let good = home.write_exchanges("good.jsonl", &[chat("1", "one", "stop")]);
    let ran: Ran = Command::new("timeout")
        .arg("60")
        .arg(env!("CARGO_BIN_EXE_reread"))
        .args(["--json", "import", "exchange"])
        .args([good.as_path(), source])
        .env("REREAD_HOME", home.path())
        .output()
        .unwrap()
        .into();
    let message = format!("{}{detail}", source.display());
    assert_eq!(ran.refused(2), (code.to_owned(), message));
    assert_eq!((row_count(home), home.files()), (count, files));
}

#[test]
fn a_source_that_is_no_plain_file_is_refused_and_not_waited_for() {
    let home = TestHome::new();
    let beside = home.path().parent().unwrap().to_owned();
    let twice = " is not a plain file: an import reads its source twice";
    let pipe = beside.join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    is_no_source(&home, &pipe, "usage", twice);
    is_no_source(&home, &beside, "usage", twice);
    is_no_source(&home, Path::new("/dev/null"), "usage", twice);
    let missing = beside.join("missing.jsonl");
    let detail = ": No such file or directory (os error 2)";
    is_no_source(&home, &missing, "file", detail);
    let below = beside.join("good.jsonl/below");
    is_no_source(&home, &below, "file", ": Not a directory (os error 20)");
}

#[test]
fn headers_on_the_list_are_kept_in_order_with_duplicates_and_others_leave_no_trace() {
    let mut line = exchange("h", "openai.chat", 200, "{}");
    let long = "v".repeat(4 * 1024 + 1);
    line["response"]["headers"] = json!([
        ["Content-Type", "text/plain; charset=utf-8"],
        ["X-RateLimit-Remaining", "7"],
        ["server", "kestrel"],
        ["Retry-After", "3"],
        ["x-ratelimit-remaining", "6"],
        ["anthropic-ratelimit-tokens", long],
        ["Set-Cookie", "a=b"],
        ["x-amzn-bedrock-input-token-count", 12],
        ["date", "Tue, 01 Dec 2026 00:00:00 GMT"],
        ["Date", ""],
    ]);
    let (home, imported) = TestHome::importing(&[line]);
    let shown = home
        .must(&["show", text(&imported[0], "attempt")])
        .document();
    let observed = &shown["observation"]["body"];
    assert_eq!(
        observed["headers"],
        json!([
            ["content-type", "text/plain; charset=utf-8"],
            ["x-ratelimit-remaining", "7"],
            ["retry-after", "3"],
            ["x-ratelimit-remaining", "6"],
            ["x-amzn-bedrock-input-token-count", "12"],
            ["date", "Tue, 01 Dec 2026 00:00:00 GMT"],
            ["date", ""],
        ])
    );
    assert_eq!(
        observed["headers_dropped"],
        json!(["anthropic-ratelimit-tokens"])
    );
    assert_eq!(
        observed["response_body_artifact"]["media_type"],
        "text/plain"
    );
}

#[test]
fn an_imported_call_says_where_it_came_from() {
    let home = TestHome::new();
    let mut bytes = line(&chat("first", "one", "stop"));
    bytes.extend_from_slice(b"\n\n");
    let second = line(&exchange("the second", "chat_completions", 429, "{}"));
    bytes.extend_from_slice(&second);
    bytes.push(b'\n');
    let path = home.write("a.jsonl", &bytes);
    let (lines, _) = printed(&import(&home, &[&path], &["--actor", "an importer"]));
    let events = home
        .must(&["log", "--call", text(&lines[1], "call")])
        .lines();
    assert_eq!(
        events[0]["body"],
        json!({
            "importer": "exchange-jsonl",
            "source_sha256": Digest::of(&bytes).to_string(),
            "line": 3,
            "line_sha256": Digest::of(&second).to_string(),
            "external_id": "the second",
            "provider": "kestrel",
            "dialect": "openai.chat",
            "exactness": "as_given",
        })
    );
    assert!(events.iter().all(|event| event["actor"] == "an importer"));
    let observed = &events[1]["body"];
    let found = ["provider", "dialect", "endpoint", "transport_outcome"]
        .map(|name| text(observed, name).to_owned());
    assert_eq!(found, ["kestrel", "openai.chat", "/v1/x", "http_error"]);
    assert_eq!(observed["http_status"], 429);
    assert_eq!(observed["index"], 1);
    let request = b"{\"model\":\"kestrel-2\"}";
    assert_eq!(
        observed["request_body_artifact"],
        json!({
            "sha256": Digest::of(request).to_string(),
            "length": request.len(),
            "media_type": "application/octet-stream",
            "preservation": "keep",
        })
    );
    assert_eq!(lines[1]["external_id"], "the second");
    let state = home
        .must(&["state", "call", text(&lines[1], "call")])
        .document();
    assert_eq!(state["external_id"], "the second");
    let read = home.must(&["interpret", "all"]).lines();
    let names: Vec<_> = read.iter().map(|line| text(line, "external_id")).collect();
    assert_eq!(names, ["first", "the second"]);
}

#[test]
fn equal_bodies_of_two_calls_are_one_file() {
    let home = TestHome::new();
    let before = home.files();
    let body = "the same bytes";
    let lines = ["a", "b", "c"].map(|id| exchange(id, "openai.chat", 200, body));
    let imported = home.import(&lines);
    assert_eq!(imported.len(), 3);
    let mut after = home.files();
    after.retain(|path, _| !before.contains_key(path));
    // One of the response and one of the request.
    assert_eq!(after.len(), 2, "{after:?}");
    let sha = Digest::of(body.as_bytes()).to_string();
    assert_eq!(fs::read(home.artifact(&sha)).unwrap(), body.as_bytes());
    let readers = home.must(&["who-read", &sha]).document();
    assert_eq!(readers["observed_by"].as_array().unwrap().len(), 3);
}
