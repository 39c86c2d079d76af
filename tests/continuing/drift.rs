//! What would be sent must be what was recorded.

use std::fs;

use crate::continuing::{reconfigure, standing};
use crate::faults::Scene;
use crate::recording_support::REQUEST;

const OTHER_BYTES: &[u8] = b"{\"model\": \"kestrel-2\", \"messages\": []}";
const OTHER_MODEL: &[u8] = b"{\"model\": \"kestrel-3\", \"messages\": []}";

fn drift(call: &str, fields: &str) -> (String, String) {
    let message = format!("call {call}: recorded intent does not reproduce: {fields}");
    ("drift".to_owned(), message)
}

/// One way in which the intent drifts, and the fields to be named.
struct Case {
    /// What stands in `config.toml`, and what takes its place.
    config: &'static [[&'static str; 2]],
    /// The request that is given again.
    request: Option<&'static [u8]>,
    fields: &'static str,
}

const URL: [&str; 2] = ["/v1\"", "/v2\""];
const HEADERS: [&str; 2] = [
    "retry_wait_max_ms = 0",
    "retry_wait_max_ms = 0\nheaders = { x-extra = \"1\" }",
];
const DIALECT: [&str; 2] = ["openai.chat", "openai.responses"];

const CASES: [Case; 8] = [
    Case {
        config: &[],
        request: Some(OTHER_BYTES),
        fields: "request_sha256",
    },
    Case {
        config: &[],
        request: Some(OTHER_MODEL),
        fields: "request_sha256, requested_model",
    },
    Case {
        config: &[URL],
        request: None,
        fields: "url",
    },
    Case {
        config: &[HEADERS],
        request: None,
        fields: "header_names",
    },
    Case {
        config: &[URL, HEADERS],
        request: None,
        fields: "url, header_names",
    },
    Case {
        config: &[URL],
        request: Some(REQUEST),
        fields: "url",
    },
    Case {
        config: &[URL, HEADERS],
        request: Some(OTHER_MODEL),
        fields: "request_sha256, url, header_names, requested_model",
    },
    Case {
        config: &[DIALECT],
        request: None,
        fields: "dialect, url",
    },
];

/// What was to be said, and what was.
type Told = ((String, String), (String, String));

/// Asserts that a call is not continued while the intent drifts, and is afterwards.
/// Returns what is said.
fn is_refused(case: &Case, scene: &Scene, command: &str, call: &str) -> Told {
    let config = scene.home.path().join("config.toml");
    let before = fs::read(&config).unwrap();
    for [from, to] in case.config {
        reconfigure(&scene.home, from, to);
    }
    let given = case
        .request
        .map(|bytes| scene.home.write("given.json", bytes));
    let mut arguments = vec![command, call];
    if let Some(path) = &given {
        arguments.extend(["--request", path.to_str().unwrap()]);
    }
    let refused = scene.refuses(&arguments, 4);
    fs::write(config, before).unwrap();
    let continued = scene.home.must(&[command, call]).document();
    assert_eq!(continued["status"], "succeeded", "{continued}");
    (drift(call, case.fields), refused)
}

fn all_as_said(told: Vec<Told>) {
    let (expected, found): (Vec<_>, Vec<_>) = told.into_iter().unzip();
    assert_eq!(found, expected);
}

#[test]
fn a_drifted_intent_is_not_resumed_and_every_field_is_named() {
    let mut told = Vec::new();
    for case in &CASES {
        let scene = Scene::answering();
        let call = scene.killed_call(&[], "after:call.manifest 1");
        told.push(is_refused(case, &scene, "resume", &call));
        assert_eq!(scene.receipts(), 1, "{}", case.fields);
    }
    all_as_said(told);
}

#[test]
fn a_decided_attempt_is_not_made_of_a_drifted_intent() {
    let mut told = Vec::new();
    for case in &CASES {
        let (scene, call) = standing("after:attempt.retry_decided 1 of 2");
        told.push(is_refused(case, &scene, "recover", &call));
        assert_eq!(scene.receipts(), 2, "{}", case.fields);
    }
    all_as_said(told);
}

#[test]
fn before_a_manifest_the_recorded_request_counts() {
    let scene = Scene::answering();
    let call = scene.killed_call(&[], "after:call.requested 1");
    let other = scene.home.write("other.json", OTHER_BYTES);
    let arguments = ["resume", &call, "--request", other.to_str().unwrap()];
    assert_eq!(scene.refuses(&arguments, 4), drift(&call, "request_sha256"));
    // Of where it goes, the intent fixes the path.
    reconfigure(&scene.home, URL[0], URL[1]);
    assert_eq!(
        scene.refuses(&["resume", &call], 4),
        drift(&call, "endpoint")
    );
    reconfigure(&scene.home, URL[1], URL[0]);
    let resumed = scene.home.must(&["resume", &call]).document();
    assert_eq!(resumed["status"], "succeeded");
    assert_eq!(scene.receipts(), 1);
}
