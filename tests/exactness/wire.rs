//! What stands on the wire, and what stands in the home before it does.

use std::fs;
use std::process::Stdio;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::Digest;
use serde_json::{Value, json};

use super::{CHAT, holds, sha256, whole};
use crate::recording_support::{
    CHAT_BODY, Provider, REQUEST, call, call_once, chat_reply, home_with, observation,
};
use crate::support::{Ran, TestHome, text};

const MESSAGES_BODY: &str = "{\"id\":\"msg_1\",\"type\":\"message\",\"model\":\"heron-1\",\
    \"content\":[{\"type\":\"text\",\"text\":\"Done.\"}],\"stop_reason\":\"end_turn\"}";
const RESPONSES_BODY: &str = "{\"id\":\"resp_1\",\"status\":\"completed\",\"error\":null,\
    \"incomplete_details\":null,\"model\":\"kestrel-2\",\"output\":[{\"type\":\"message\",\
    \"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Done.\"}]}]}";

/// What every request carries, in the order of the wire.
const HEADERS: [&str; 6] = [
    "host",
    "user-agent",
    "accept",
    "connection",
    "content-type",
    "content-length",
];

const KEY: &str = "key_env = \"KESTREL_KEY\"";

/// Asks a provider of this dialect and asserts where the request went and which
/// headers it had besides those of every request. `base` is what the URL has after
/// the address, `more` are further lines of configuration.
fn asks((dialect, body): (&str, &str), (base, more): (&str, &str), target: &str, own: &[&str]) {
    let provider = Provider::start(&json!([{"body_utf8": body}]));
    let base_url = format!("http://{}{base}", provider.address());
    let home = home_with(&base_url, dialect, more);
    let mut command = call(&home, REQUEST, &["--max-attempts", "1"]);
    let ran: Ran = command.env("KESTREL_KEY", "k").output().unwrap().into();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    let called = ran.document();
    assert_eq!(called["status"], "succeeded", "{called}");
    let attempt = &called["attempts"][0];
    assert_eq!(attempt["generation_state"], "complete", "{called}");
    let receipts = provider.receipts();
    assert_eq!(receipts.len(), 1);
    let hash = sha256(target.as_bytes());
    assert_eq!(receipts[0]["target_sha256"], hash, "{dialect} {target}");
    let names = json!([&HEADERS, own].concat());
    assert_eq!(receipts[0]["header_names"], names);
    let manifest = body_of(&home, &called, "call.manifest");
    assert_eq!(manifest["header_names"], names);
    assert_eq!(manifest["method"], "POST");
}

#[test]
fn each_dialect_is_asked_at_its_path_with_its_own_headers() {
    let chat = (CHAT, CHAT_BODY);
    asks(chat, ("/v1", ""), "/v1/chat/completions", &[]);
    asks(
        chat,
        ("/v1", KEY),
        "/v1/chat/completions",
        &["authorization"],
    );
    let responses = ("openai.responses", RESPONSES_BODY);
    asks(responses, ("/v1", KEY), "/v1/responses", &["authorization"]);
    let messages = ("anthropic.messages", MESSAGES_BODY);
    let own = ["x-api-key", "anthropic-version"];
    asks(messages, ("", KEY), "/v1/messages", &own);
}

#[test]
fn a_path_a_key_header_and_further_headers_replace_those_of_the_dialect() {
    let more = format!(
        "{KEY}\nkey_header = \"api-key\"\npath = \"/custom?x=y\"\n\
         headers = {{ \"x-tag\" = \"v\" }}"
    );
    let own = ["api-key", "x-tag"];
    asks((CHAT, CHAT_BODY), ("/v1", &more), "/v1/custom?x=y", &own);
}

/// Returns the body of the one event of this kind that a call has.
fn body_of(home: &TestHome, called: &Value, kind: &str) -> Value {
    let shown = home.must(&["show", text(called, "call")]).document();
    let events = shown["events"].as_array().unwrap();
    let found: Vec<_> = events
        .iter()
        .filter(|event| event["kind"] == kind)
        .collect();
    assert_eq!(found.len(), 1, "{kind}: {shown}");
    found[0]["body"].clone()
}

#[test]
fn a_redirect_is_recorded_and_not_followed() {
    let elsewhere = Provider::start(&json!([chat_reply()]));
    let location = format!("{}/chat/completions", elsewhere.url());
    for status in [301, 302, 307, 308] {
        let reply = json!({"headers": [["location", location]], "body_utf8": "moved"});
        holds(&whole("a redirect", status, "unknown", reply), "");
    }
    assert_eq!(elsewhere.receipts(), Vec::<Value>::new());
}

#[test]
fn kept_headers_stand_in_the_event_in_the_order_of_the_wire() {
    let mut reply = chat_reply();
    reply["headers"] = json!([
        ["X-Request-Id", "first"],
        ["Set-Cookie", "session=1"],
        ["x-ratelimit-limit", "10"],
        ["CONTENT-TYPE", "application/json"],
        ["x-request-id", "second"],
        ["server", "kestrel"],
        ["X-RateLimit-Limit", "20"],
        ["x-request-id", "first"],
    ]);
    let provider = Provider::start(&json!([reply]));
    let home = home_with(&provider.url(), CHAT, "");
    let called = call_once(&home, REQUEST);
    let observed = observation(&home, text(&called["attempts"][0], "attempt"));
    let expected = json!([
        ["x-request-id", "first"],
        ["x-ratelimit-limit", "10"],
        ["content-type", "application/json"],
        ["x-request-id", "second"],
        ["x-ratelimit-limit", "20"],
        ["x-request-id", "first"],
        ["content-length", CHAT_BODY.len().to_string()],
    ]);
    assert_eq!(observed["headers"], expected);
    assert_eq!(observed["headers_dropped"], json!([]));
}

#[test]
fn an_interim_response_is_neither_head_nor_body() {
    let length = CHAT_BODY.len();
    let raw = format!(
        "HTTP/1.1 103 Early Hints\r\nx-request-id: early\r\n\r\n\
         HTTP/1.1 200 OK\r\nx-request-id: final\r\ncontent-length: {length}\r\n\r\n{CHAT_BODY}"
    );
    let provider = Provider::start(&json!([{"raw_b64": STANDARD.encode(raw)}]));
    let home = home_with(&provider.url(), CHAT, "");
    let called = call_once(&home, REQUEST);
    let attempt = &called["attempts"][0];
    assert_eq!(attempt["http_status"], 200, "{called}");
    assert_eq!(attempt["transport_outcome"], "response_received");
    assert_eq!(attempt["response"]["sha256"], sha256(CHAT_BODY.as_bytes()));
    let observed = observation(&home, text(attempt, "attempt"));
    let expected = json!([
        ["x-request-id", "final"],
        ["content-length", length.to_string()]
    ]);
    assert_eq!(observed["headers"], expected);
}

#[test]
fn a_proxy_of_the_environment_is_not_asked() {
    let proxy = Provider::start(&json!([chat_reply()]));
    let provider = Provider::start(&json!([chat_reply()]));
    let home = home_with(&provider.url(), CHAT, "");
    let mut command = call(&home, REQUEST, &[]);
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env(name, format!("http://{}", proxy.address()));
    }
    let ran: Ran = command.output().unwrap().into();
    assert_eq!(ran.document()["status"], "succeeded", "{ran:?}");
    assert_eq!(provider.receipts().len(), 1);
    assert_eq!(proxy.receipts(), Vec::<Value>::new());
}

#[test]
fn each_attempt_sends_the_same_bytes_and_keeps_its_own() {
    let busy = "{\"error\":{\"type\":\"rate_limit_error\"}}";
    let limited = json!({"status_line": "HTTP/1.1 429 Too Many Requests", "body_utf8": busy});
    let provider = Provider::start(&json!([limited, chat_reply()]));
    let home = home_with(&provider.url(), CHAT, "retry_wait_max_ms = 0");
    let ran: Ran = call(&home, REQUEST, &["--max-attempts", "5"])
        .output()
        .unwrap()
        .into();
    let called = ran.document();
    assert_eq!(called["status"], "succeeded", "{called}");
    let attempts = called["attempts"].as_array().unwrap();
    let found: Vec<_> = attempts
        .iter()
        .map(|one| {
            json!([
                one["index"],
                one["http_status"],
                one["response"]["sha256"],
                one["decision"],
            ])
        })
        .collect();
    let expected = [
        json!([1, 429, sha256(busy.as_bytes()), "retry"]),
        json!([2, 200, sha256(CHAT_BODY.as_bytes()), "accept"]),
    ];
    assert_eq!(found, expected);
    let received: Vec<_> = provider
        .receipts()
        .iter()
        .map(|receipt| receipt["body_sha256"].clone())
        .collect();
    assert_eq!(received, [sha256(REQUEST), sha256(REQUEST)]);
    home.must(&["verify", "--replay"]);
}

#[test]
fn when_a_request_arrives_its_intent_and_its_bytes_are_already_in_the_home() {
    let mut reply = chat_reply();
    reply["hold_before"] = json!(true);
    let mut provider = Provider::start(&json!([reply]));
    let home = home_with(&provider.url(), CHAT, "");
    let mut command = call(&home, REQUEST, &["--max-attempts", "1"]);
    let started = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    provider.wait_request(1);
    let kinds = |home: &TestHome| -> Vec<Value> {
        let events = home.must(&["log"]).lines();
        let of_call = events.iter().filter(|event| event["call"].is_string());
        of_call.map(|event| event["kind"].clone()).collect()
    };
    assert_eq!(
        kinds(&home),
        ["call.requested", "call.manifest", "attempt.started"]
    );
    let sha = Digest::of(REQUEST).to_string();
    assert_eq!(fs::read(home.artifact(&sha)).unwrap(), REQUEST);
    provider.go();
    let ran: Ran = started.wait_with_output().unwrap().into();
    assert_eq!(ran.code, 0, "{ran:?}");
    let after = [
        "call.requested",
        "call.manifest",
        "attempt.started",
        "attempt.observed",
        "attempt.interpreted",
        "attempt.retry_decided",
        "attempt.completed",
        "call.status_decided",
        "call.completed",
    ];
    assert_eq!(kinds(&home), after);
    assert_eq!(provider.receipts().len(), 1);
}
