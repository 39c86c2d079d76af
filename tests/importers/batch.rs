//! `import openai-batch`.

use std::path::PathBuf;

use model::Digest;
use serde_json::{Value, json};

use super::{Recorded, body, import, recorded, summary};
use crate::support::TestHome;

const OCTETS: &str = "application/octet-stream";

fn write(home: &TestHome, name: &str, lines: &[&str]) -> PathBuf {
    home.write(name, format!("{}\n", lines.join("\n")).as_bytes())
}

#[test]
fn a_line_is_kept_as_it_stands_and_joined_to_its_request() {
    let home = TestHome::new();
    // Spaces, the order of members and the writing of numbers are those of the file.
    let answer = r#"{ "object":"chat.completion", "rate": 1.50, "a": "\u00e9" }"#;
    let line = format!(
        r#"{{"id":"r","custom_id":"one","response":{{"status_code":200,"request_id":"q","body":{answer}}},"error":null}}"#
    );
    let output = write(&home, "output.jsonl", &["", &line]);
    let request = r#"{"model": "kestrel-2" }"#;
    let requests = write(
        &home,
        "requests.jsonl",
        &[
            r#"{"custom_id":"other","method":"POST","url":"/v1/responses","body":{}}"#,
            &format!(
                r#"{{"custom_id":"one","method":"POST","url":"/v1/chat/completions","body":{request}}}"#
            ),
        ],
    );
    let options = ["--requests", requests.to_str().unwrap()];
    let (lines, counts) = import(&home, "openai-batch", &[&output], &options);
    assert_eq!(counts, summary(1, 0, 0));
    assert_eq!(lines[0]["line"], 2);
    assert_eq!(lines[0]["external_id"], "one");
    let Recorded { imported, observed } = recorded(&home, &lines[0]);
    assert_eq!(
        imported,
        json!({
            "importer": "openai-batch",
            "source_sha256": Digest::of(&std::fs::read(&output).unwrap()).to_string(),
            "line": 2,
            "line_sha256": imported["line_sha256"],
            "external_id": "one",
            "provider": null,
            "dialect": "openai.chat",
            "exactness": "reserialised",
        })
    );
    assert_eq!(
        observed,
        json!({
            "index": 1,
            "provider": null,
            "dialect": "openai.chat",
            "endpoint": "/v1/chat/completions",
            "transport_outcome": "response_received",
            "http_status": 200,
            "headers": [],
            "headers_dropped": [],
            "exception_type": null,
            "request_body_artifact": body(&home, request.as_bytes(), OCTETS),
            "response_body_artifact": body(&home, answer.as_bytes(), OCTETS),
        })
    );
}

#[test]
fn without_requests_the_object_of_a_body_names_the_dialect() {
    let home = TestHome::new();
    let line = |id: &str, status: u16, body: &str| {
        format!(
            r#"{{"custom_id":"{id}","response":{{"status_code":{status},"body":{body}}},"error":null}}"#
        )
    };
    let lines = [
        line("chat", 200, r#"{"object":"chat.completion"}"#),
        line("responses", 200, r#"{"object":"response"}"#),
        line("text", 200, r#"{"object":"text_completion"}"#),
        line("embedding", 200, r#"{"object":"list"}"#),
        line("wrong", 400, r#"{"error":{"message":"no"}}"#),
        line("again", 200, r#"{"object":["chat.completion"]}"#),
    ];
    let lines = lines.each_ref().map(String::as_str);
    let output = write(&home, "output.jsonl", &lines);
    let (printed, counts) = import(&home, "openai-batch", &[&output], &[]);
    assert_eq!(counts, summary(3, 0, 3));
    let skipped: Vec<_> = printed
        .iter()
        .filter(|line| line["outcome"] == "skipped")
        .collect();
    assert_eq!(
        skipped[0],
        &json!({"file": output, "line": 4, "external_id": null, "outcome": "skipped",
            "endpoint": "a line whose dialect nothing names"})
    );
    let found: Vec<_> = printed
        .iter()
        .filter(|line| line["outcome"] == "imported")
        .map(|line| {
            let observed = recorded(&home, line).observed;
            ["dialect", "endpoint"].map(|name| observed[name].clone())
        })
        .collect();
    assert_eq!(
        found,
        [
            ["openai.chat", "/v1/chat/completions"],
            ["openai.responses", "/v1/responses"],
            ["openai.completions", "/v1/completions"],
        ]
    );
    let options = ["--dialect", "openai.chat"];
    let (printed, counts) = import(&home, "openai-batch", &[&output], &options);
    assert_eq!(counts, summary(5, 1, 0), "the first is what it was");
    assert_eq!(
        recorded(&home, &printed[4]).observed["transport_outcome"],
        "http_error"
    );
}

#[test]
fn an_error_in_place_of_a_response_is_a_call_without_response() {
    let home = TestHome::new();
    let line = r#"{"id":"r","custom_id":"late","response":null,"error":{"code":"batch_expired","message":"m"}}"#;
    let output = write(&home, "output.jsonl", &[line]);
    let (lines, counts) = import(&home, "openai-batch", &[&output], &[]);
    assert_eq!(counts, summary(0, 0, 1), "nothing names its dialect");
    assert_eq!(lines[0]["outcome"], "skipped");
    let request = r#"{"custom_id":"late","url":"/v1/responses","body":{"model":"m"}}"#;
    let requests = write(&home, "requests.jsonl", &[request]);
    let options = ["--requests", requests.to_str().unwrap()];
    let (lines, counts) = import(&home, "openai-batch", &[&output], &options);
    assert_eq!(counts, summary(1, 0, 0));
    let Recorded { imported, observed } = recorded(&home, &lines[0]);
    assert_eq!(imported["exactness"], "not_preserved");
    assert_eq!(
        observed,
        json!({
            "index": 1,
            "provider": null,
            "dialect": "openai.responses",
            "endpoint": "/v1/responses",
            "transport_outcome": "no_response",
            "http_status": null,
            "headers": [],
            "headers_dropped": [],
            "exception_type": null,
            "request_body_artifact": body(&home, b"{\"model\":\"m\"}", OCTETS),
            "response_body_artifact": Value::Null,
        })
    );
}
