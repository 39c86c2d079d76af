//! `import vcr`.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Recorded, body, import, recorded, summary};
use crate::support::TestHome;

const JSON: &str = "application/json";

/// `{"text":"heron"}` as gzip, in base64.
const GZIP: &str = "H4sIAAAAAAACA6tWKkmtKFGyUspILcrPU6oFAAZGe0UQAAAA";

/// The words and bodies that a cassette gives, in order.
fn found(cassette: &str) -> (TestHome, Vec<Recorded>) {
    let home = TestHome::new();
    let file = write(&home, cassette);
    let (lines, counts) = import(&home, "vcr", &[&file], &[]);
    assert_eq!(counts["refused"], 0);
    assert_eq!(counts["skipped"], 0);
    let found = lines.iter().map(|line| recorded(&home, line)).collect();
    (home, found)
}

fn write(home: &TestHome, cassette: &str) -> PathBuf {
    home.write("cassette.yaml", cassette.as_bytes())
}

/// A cassette of vcrpy with these responses, each indented by four.
fn python(responses: &[&str]) -> String {
    let mut cassette = "interactions:\n".to_owned();
    for response in responses {
        cassette.push_str(
            "- request:\n    body: '{\"model\": \"kestrel-2\"}'\n    headers:\n      \
             content-type: [application/json]\n    method: POST\n    \
             uri: https://api.example.com/v1/chat/completions\n  response:\n",
        );
        cassette.push_str(response);
    }
    cassette + "version: 1\n"
}

#[test]
fn a_compressed_body_comes_back_as_the_bytes_that_were_sent() {
    let gzip = STANDARD.decode(GZIP).unwrap();
    let (home, found) = found(&python(&[&format!(
        "    body:\n      string: !!binary |\n        {}\n        {}\n    headers:\n      \
         Content-Encoding: [gzip]\n      content-type: [application/json]\n    \
         status: {{code: 200, message: OK}}\n",
        &GZIP[..20],
        &GZIP[20..],
    )]));
    assert_eq!(found[0].imported["exactness"], "as_given");
    let observed = &found[0].observed;
    assert_eq!(observed["response_body_artifact"], body(&home, &gzip, JSON));
    assert_eq!(
        observed["headers"],
        json!([["content-encoding", "gzip"], ["content-type", JSON]])
    );
    assert_eq!(observed["headers_dropped"], json!([]));
    let request = body(&home, b"{\"model\": \"kestrel-2\"}", JSON);
    assert_eq!(observed["request_body_artifact"], request);
}

#[test]
fn a_text_is_as_exact_as_its_length_shows() {
    let with = |headers: &str| {
        format!(
            "    body: {{string: '{{\"text\": \"é\"}}'}}\n    headers: {{{headers}}}\n    \
             status: {{code: 200}}\n"
        )
    };
    let responses = [
        with("content-length: ['14']"),
        with("content-length: ['13']"),
        with("content-type: [application/json]"),
        with("content-length: ['9'], content-encoding: [gzip]"),
    ];
    let (home, found) = found(&python(&responses.each_ref().map(String::as_str)));
    let words: Vec<_> = found
        .iter()
        .map(|one| one.imported["exactness"].clone())
        .collect();
    assert_eq!(
        words,
        ["length_matches", "length_differs", "decoded", "decoded"]
    );
    let octets = "application/octet-stream";
    let text = body(&home, "{\"text\": \"é\"}".as_bytes(), octets);
    for place in [0, 1, 3] {
        assert_eq!(found[place].observed["response_body_artifact"], text);
    }
    assert_eq!(found[3].observed["headers"], json!([]));
    assert_eq!(
        found[3].observed["headers_dropped"],
        json!(["content-length", "content-encoding"])
    );
}

#[test]
fn strings_come_back_exactly_however_they_are_written() {
    let written = [
        (
            "\"tab\\t esc\\e nul\\0 \\u2028 \\U0001F600 \\\n        folded\"",
            "tab\t esc\u{1b} nul\0 \u{2028} \u{1f600} folded",
        ),
        ("'it''s # no: comment'", "it's # no: comment"),
        (
            "|-\n        data: 1\n\n        data: 2",
            "data: 1\n\ndata: 2",
        ),
        ("|+\n        data: 1\n", "data: 1\n\n"),
        ("12", "12"),
        ("'null'", "null"),
    ];
    for (yaml, text) in written {
        let response = format!("    body:\n      string: {yaml}\n    status: {{code: 200}}\n");
        let (home, found) = found(&python(&[&response]));
        let expected = body(&home, text.as_bytes(), "application/octet-stream");
        assert_eq!(
            found[0].observed["response_body_artifact"], expected,
            "{yaml}"
        );
    }
}

#[test]
fn a_parsed_body_is_written_anew_and_said_to_be() {
    let (home, found) = found(&python(&[
        "    parsed_body:\n      choices: [{index: 0, text: 'null'}]\n      done: true\n      \
         nothing: null\n      rate: 0.50\n    headers:\n      content-type: [application/json]\n      \
         content-encoding: [gzip]\n    status: {code: 200}\n",
        "    body: {string: null}\n    status: {code: 204}\n",
    ]));
    assert_eq!(found[0].imported["exactness"], "reserialised");
    let json = br#"{"choices":[{"index":0,"text":"null"}],"done":true,"nothing":null,"rate":0.50}"#;
    let observed = &found[0].observed;
    assert_eq!(observed["response_body_artifact"], body(&home, json, JSON));
    assert_eq!(observed["headers_dropped"], json!(["content-encoding"]));
    assert_eq!(found[1].imported["exactness"], "not_preserved");
    assert_eq!(found[1].observed["response_body_artifact"], Value::Null);
}

#[test]
fn cassettes_of_ruby_and_of_go_are_read() {
    let (home, ruby) = found(
        "---\nhttp_interactions:\n- request:\n    method: post\n    \
         uri: https://api.anthropic.com/v1/messages\n    body:\n      encoding: UTF-8\n      \
         string: '{}'\n    headers:\n      Content-Type:\n      - application/json\n  response:\n    \
         status:\n      code: 429\n      message: Too Many Requests\n    headers:\n      \
         Retry-After:\n      - '3'\n    body:\n      encoding: ASCII-8BIT\n      \
         base64_string: !binary |-\n        eyJ0\n        IjoxfQ==\n    http_version:\n  \
         recorded_at: Thu, 01 Jan 2026 00:00:00 GMT\nrecorded_with: VCR 6.1.0\n",
    );
    assert_eq!(ruby[0].imported["exactness"], "as_given");
    let observed = &ruby[0].observed;
    assert_eq!(
        observed,
        &json!({
            "index": 1,
            "provider": null,
            "dialect": "anthropic.messages",
            "endpoint": "/v1/messages",
            "transport_outcome": "http_error",
            "http_status": 429,
            "headers": [["retry-after", "3"]],
            "headers_dropped": [],
            "exception_type": null,
            "request_body_artifact": body(&home, b"{}", JSON),
            "response_body_artifact": body(&home, b"{\"t\":1}", "application/octet-stream"),
        })
    );
    let (home, go) = found(
        "---\nversion: 2\ninteractions:\n- id: 0\n  request:\n    proto: HTTP/1.1\n    body: '{}'\n    \
         form: {}\n    headers: {}\n    url: http://localhost:11434/api/chat\n    method: POST\n  \
         response:\n    body: \"{\\\"done\\\":true}\\n\"\n    headers: {}\n    status: 200 OK\n    \
         code: 200\n    duration: 1ms\n",
    );
    assert_eq!(go[0].imported["dialect"], "ollama.chat");
    let expected = body(&home, b"{\"done\":true}\n", "application/octet-stream");
    assert_eq!(go[0].observed["response_body_artifact"], expected);
    assert_eq!(go[0].observed["http_status"], 200);
}

#[test]
fn a_cassette_in_json_gives_the_same_calls_as_in_yaml() {
    let interaction = json!({
        "request": {
            "body": "{\"model\": \"kestrel-2\"}",
            "headers": {"content-type": ["application/json"]},
            "method": "POST",
            "uri": "https://api.example.com/v1/chat/completions",
        },
        "response": {
            "body": {"string": "{\"text\": \"\u{1f600}\"}"},
            "headers": {"content-length": ["16"]},
            "status": {"code": 200, "message": "OK"},
        },
    });
    let home = TestHome::new();
    let json = json!({"version": 1, "interactions": [interaction]});
    let json = home.write("cassette.json", json.to_string().as_bytes());
    let (lines, counts) = import(&home, "vcr", &[&json], &[]);
    assert_eq!(counts, summary(1, 0, 0));
    assert_eq!(
        recorded(&home, &lines[0]).imported["exactness"],
        "length_matches"
    );
    let yaml = write(
        &home,
        &python(&[
            "    body:\n      string: \"{\\\"text\\\": \\\"\\U0001F600\\\"}\"\n    headers:\n      \
             Content-Length: ['16']\n    status: {code: 200}\n",
        ]),
    );
    let (_, counts) = import(&home, "vcr", &[&yaml], &[]);
    assert_eq!(counts, summary(0, 1, 0));
}

#[test]
fn an_alias_stands_for_what_it_names() {
    let (home, found) = found(&python(&[
        "    body: {string: one}\n    headers: &h\n      retry-after: ['3']\n    \
         status: &s {code: 500}\n",
        "    body: {string: two}\n    headers: *h\n    status: *s\n",
    ]));
    assert_eq!(found[0].observed["headers"], json!([["retry-after", "3"]]));
    assert_eq!(found[1].observed["headers"], found[0].observed["headers"]);
    assert_eq!(found[1].observed["http_status"], 500);
    let expected = body(&home, b"two", "application/octet-stream");
    assert_eq!(found[1].observed["response_body_artifact"], expected);
}
