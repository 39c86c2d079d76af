//! `import har`.

use std::path::PathBuf;

use model::Digest;
use serde_json::{Value, json};

use super::{Recorded, body, import, recorded, summary};
use crate::support::{TestHome, text};

const URL: &str = "https://api.example.com/v1/chat/completions?key=k";

/// An entry with this response.
fn entry(response: &Value) -> Value {
    json!({
        "request": {
            "method": "POST",
            "url": URL,
            "headers": [{"name": "Content-Type", "value": "application/json; charset=utf-8"}],
            "postData": {"mimeType": "application/json", "text": "{\"model\": \"kestrel-2\"}"},
        },
        "response": response,
    })
}

fn har(home: &TestHome, entries: &[Value]) -> PathBuf {
    let file = json!({"log": {"version": "1.2", "entries": entries}});
    home.write("recording.har", file.to_string().as_bytes())
}

#[test]
fn an_entry_becomes_a_call_whose_body_is_said_to_be_decoded() {
    let home = TestHome::new();
    let answer = "{\"text\": \"é\"}";
    let entry = entry(&json!({
        "status": 200,
        "headers": [
            {"name": ":status", "value": "200"},
            {"name": "Content-Type", "value": "application/json"},
            {"name": "content-encoding", "value": "br"},
            {"name": "content-length", "value": "9"},
            {"name": "X-Request-Id", "value": "q-1"},
        ],
        "content": {"size": answer.len(), "mimeType": "application/json", "text": answer},
    }));
    let file = har(&home, std::slice::from_ref(&entry));
    let (lines, counts) = import(&home, "har", &[&file], &[]);
    assert_eq!(counts, summary(1, 0, 0));
    let found = recorded(&home, &lines[0]);
    // The line is frozen: another form of it would import every recording again.
    let line = concat!(
        r#"{"id":null,"dialect":"openai.chat","request":{"method":"POST","#,
        r#""path":"/v1/chat/completions","#,
        r#""headers":[["content-type","application/json; charset=utf-8"]],"#,
        r#""body_b64":"eyJtb2RlbCI6ICJrZXN0cmVsLTIifQ=="},"response":{"status":200,"#,
        r#""headers":[["content-type","application/json"],["x-request-id","q-1"]],"#,
        r#""body_b64":"eyJ0ZXh0IjogIsOpIn0="},"exception_type":null}"#,
    );
    assert_eq!(
        found.imported,
        json!({
            "importer": "har",
            "source_sha256": Digest::of(&std::fs::read(&file).unwrap()).to_string(),
            "line": 1,
            "line_sha256": Digest::of(line.as_bytes()).to_string(),
            "external_id": null,
            "provider": null,
            "dialect": "openai.chat",
            "exactness": "decoded",
        })
    );
    assert_eq!(
        found.observed,
        json!({
            "index": 1,
            "provider": null,
            "dialect": "openai.chat",
            "endpoint": "/v1/chat/completions",
            "transport_outcome": "response_received",
            "http_status": 200,
            "headers": [["content-type", "application/json"], ["x-request-id", "q-1"]],
            "headers_dropped": ["content-encoding", "content-length"],
            "exception_type": null,
            "request_body_artifact":
                body(&home, b"{\"model\": \"kestrel-2\"}", "application/json"),
            "response_body_artifact": body(&home, answer.as_bytes(), "application/json"),
        })
    );
}

#[test]
fn base64_another_size_and_a_missing_text_are_told_apart() {
    let home = TestHome::new();
    let bytes = [0xff, 0x00, 0x0a];
    let contents = [
        json!({"size": 3, "text": "/wAK", "encoding": "base64"}),
        json!({"size": 4, "text": "/wAK", "encoding": "base64"}),
        json!({"size": -1, "text": "{}"}),
        json!({"size": 2, "mimeType": "application/json"}),
        json!({"size": 2, "text": ""}),
        json!({"size": 0, "text": ""}),
        Value::Null,
    ];
    let entries: Vec<_> = contents
        .iter()
        .map(|content| entry(&json!({"status": 200, "headers": [], "content": content})))
        .collect();
    let file = har(&home, &entries);
    // Three of them have no body and are the same entry.
    let (lines, counts) = import(&home, "har", &[&file], &[]);
    assert_eq!(counts, summary(4, 3, 0));
    let octets = "application/octet-stream";
    let found: Vec<_> = [0, 2, 3, 5]
        .iter()
        .map(|place| {
            let Recorded { imported, observed } = recorded(&home, &lines[*place]);
            (
                imported["exactness"].clone(),
                observed["response_body_artifact"].clone(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (json!("decoded"), body(&home, &bytes, octets)),
            (json!("decoded"), body(&home, b"{}", octets)),
            (json!("not_preserved"), Value::Null),
            (json!("decoded"), body(&home, b"", octets)),
        ]
    );
    let home = TestHome::new();
    let file = har(&home, &entries[1..2]);
    let (lines, _) = import(&home, "har", &[&file], &[]);
    assert_eq!(
        recorded(&home, &lines[0]).imported["exactness"],
        "length_differs"
    );
}

#[test]
fn status_zero_is_a_request_without_response() {
    let home = TestHome::new();
    let content = json!({"size": 0, "mimeType": "x-unknown"});
    let blocked = |error: Value| {
        entry(&json!({"status": 0, "headers": [], "content": content, "_error": error}))
    };
    let file = har(
        &home,
        &[
            blocked(json!("net::ERR_NAME_NOT_RESOLVED")),
            blocked(json!("net::ERR_ABORTED")),
            blocked(json!("net::ERR_OF_ANOTHER_DAY")),
            entry(&json!({"status": 503, "headers": [], "content": content})),
        ],
    );
    let (lines, counts) = import(&home, "har", &[&file], &[]);
    assert_eq!(counts, summary(4, 0, 0));
    let found: Vec<_> = lines
        .iter()
        .map(|line| {
            let Recorded { imported, observed } = recorded(&home, line);
            assert_eq!(observed["response_body_artifact"], Value::Null);
            assert_eq!(imported["exactness"], "not_preserved");
            ["transport_outcome", "http_status", "exception_type"]
                .map(|name| observed[name].clone())
        })
        .collect();
    let row = |outcome: &str, status: Value, word: Value| [json!(outcome), status, word];
    assert_eq!(
        found,
        [
            row("no_response", Value::Null, json!("DnsError")),
            row("no_response", Value::Null, json!("ClientGone")),
            row("no_response", Value::Null, Value::Null),
            row("http_error", json!(503), Value::Null),
        ]
    );
}

#[test]
fn entries_of_no_known_dialect_are_skipped_unless_a_dialect_is_given_or_all_are_asked_for() {
    let response = json!({"status": 200, "headers": [], "content": {"size": 2, "text": "{}"}});
    let mut entries = vec![entry(&response); 4];
    entries[0]["request"]["method"] = json!("OPTIONS");
    entries[1]["request"]["url"] = json!("https://h/v1/models?key=k");
    entries[2]["request"]["url"] = json!(format!("data:image/png;base64,{}", "A".repeat(70_000)));
    let name = |home: &TestHome| har(home, &entries);
    let skipped = |line: u64, endpoint: &str, file: &PathBuf| {
        json!({"file": file, "line": line, "external_id": null, "outcome": "skipped",
            "endpoint": endpoint})
    };
    let home = TestHome::new();
    let file = name(&home);
    let (lines, counts) = import(&home, "har", &[&file], &["--strict"]);
    assert_eq!(counts, summary(1, 0, 3));
    assert_eq!(
        lines[..3],
        [
            skipped(1, "/v1/chat/completions", &file),
            skipped(2, "/v1/models", &file),
            skipped(3, "a URL without a path", &file),
        ]
    );
    let dialects = |options: &[&str]| -> Vec<Value> {
        let home = TestHome::new();
        let file = har(&home, &entries[..2]);
        let (lines, counts) = import(&home, "har", &[&file], options);
        assert_eq!(counts, summary(2, 0, 0));
        lines
            .iter()
            .map(|line| recorded(&home, line).observed["dialect"].clone())
            .collect()
    };
    assert_eq!(dialects(&["--all"]), ["unknown", "unknown"]);
    assert_eq!(
        dialects(&["--dialect", "messages"]),
        ["anthropic.messages"; 2]
    );
    assert_eq!(
        dialects(&["--dialect", "openai.chat", "--all"]),
        ["openai.chat"; 2]
    );
    let name = file.to_str().unwrap();
    let (code, message) = home.refuses(&["import", "har", name, "--dialect", "kestrel"], 2);
    assert_eq!(code, "usage");
    let expected = "dialect \"kestrel\": expected one of openai.chat, ";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn another_dialect_makes_another_call_of_the_same_entry() {
    let home = TestHome::new();
    let response = json!({"status": 200, "headers": [], "content": {"size": 2, "text": "{}"}});
    let file = har(&home, &[entry(&response)]);
    let (first, _) = import(&home, "har", &[&file], &[]);
    let (second, counts) = import(&home, "har", &[&file], &["--dialect", "mistral.chat"]);
    assert_eq!(counts, summary(1, 0, 0));
    assert_ne!(text(&first[0], "call"), text(&second[0], "call"));
}

#[test]
fn an_exchange_that_was_repeated_at_another_time_is_another_call() {
    let home = TestHome::new();
    let response = json!({"status": 0, "headers": [], "content": {"size": 0}});
    let entries = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:09Z"].map(|at| {
        let mut entry = entry(&response);
        entry["startedDateTime"] = json!(at);
        entry
    });
    let file = har(&home, &entries);
    let (_, counts) = import(&home, "har", &[&file], &[]);
    assert_eq!(counts, summary(2, 0, 0));
    // Another export of the same page.
    let file = har(&home, &entries[1..]);
    let (_, counts) = import(&home, "har", &[&file], &[]);
    assert_eq!(counts, summary(0, 1, 0));
}
