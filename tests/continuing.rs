//! Continuing a call: only as far as is safe, and never with another request.

mod deciding;
mod drift;
mod keys;
mod older;
mod races;
mod unprepared;

use std::fs;

use model::Digest;

use crate::faults::{Scene, Standing, killed, not_next};
use crate::recording_support::REQUEST;
use crate::support::{TestHome, text};

/// What a whole call of one attempt records.
const WHOLE: [&str; 9] = [
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

/// The points after which a call stands where an attempt was observed.
const OBSERVED: [(&str, Standing<'_>); 5] = [
    (
        "after:attempt.observed 1",
        ("observed", "reinterpret", "the observation is not read"),
    ),
    (
        "after:attempt.interpreted 1",
        ("interpreted", "redecide", "the reading is not decided"),
    ),
    (
        "after:attempt.retry_decided 1",
        (
            "decided",
            "finalize_call",
            "the call's status is not decided",
        ),
    ),
    (
        "after:call.status_decided 1",
        ("completed", "none", "call.completed is recorded"),
    ),
    ("after:attempt.retry_decided 1 of 2", RETRYING),
];

const RETRYING: Standing<'_> = (
    "retry_decided",
    "start_next_attempt",
    "another attempt is decided and not started",
);

/// Makes a call that stands after a point of [`OBSERVED`].
fn standing(point: &str) -> (Scene, String) {
    let (scene, more, point) = match point.strip_suffix(" of 2") {
        Some(point) => (
            Scene::overloaded_once(),
            &["--max-attempts", "2"][..],
            point,
        ),
        None => (Scene::answering(), &[][..], point),
    };
    let call = scene.killed_call(more, point);
    (scene, call)
}

/// Changes what `config.toml` says.
fn reconfigure(home: &TestHome, from: &str, to: &str) {
    let path = home.path().join("config.toml");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replace(from, to)).unwrap();
}

#[test]
fn a_resumed_call_sends_the_recorded_request_once() {
    let scene = Scene::answering();
    let key = ["--idempotency-key", "k-1"];
    let old = scene.killed_call(&key, "after:call.manifest 1");
    assert_eq!(scene.receipts(), 0);
    let resumed = scene.home.must(&["resume", &old]).document();
    assert_eq!(resumed["status"], "succeeded");
    assert_eq!(resumed["resumed_from"], old.as_str());
    let receipts = scene.provider.receipts();
    assert_eq!(receipts.len(), 1);
    assert_eq!(receipts[0]["body_sha256"], Digest::of(REQUEST).to_string());
    let calls = scene.calls();
    assert_eq!(
        calls[0].kinds(),
        ["call.requested", "call.manifest", "call.resumed"]
    );
    assert_eq!(calls[1].kinds(), WHOLE);
    // The intent is the same, key and all; only the call is another.
    assert_eq!(calls[0].events[0]["body"], calls[1].events[0]["body"]);
    assert_eq!(calls[0].events[1]["body"], calls[1].events[1]["body"]);
    let body = &calls[0].events[2]["body"];
    assert_eq!(body["to_call"], calls[1].id.as_str());
    assert_eq!(body["prior_stage"], "manifest_recorded");
    assert_eq!(body["basis"], "no attempt was started");
}

#[test]
fn a_call_of_which_an_attempt_was_observed_is_not_resumed() {
    for (point, at) in OBSERVED {
        let (scene, call) = standing(point);
        let expected = not_next("resume", &call, at);
        for flags in [&[][..], &["--accept-duplicate-effect"]] {
            let arguments = [&["resume", &call][..], flags].concat();
            assert_eq!(scene.refuses(&arguments, 4), expected, "{point}");
        }
        assert_eq!(scene.receipts(), 1, "{point}");
    }
}

#[test]
fn a_request_whose_bytes_are_gone_is_given_again() {
    let scene = Scene::answering();
    let old = scene.killed_call(&[], "after:call.manifest 1");
    let sha256 = Digest::of(REQUEST).to_string();
    fs::remove_file(scene.home.artifact(&sha256)).unwrap();
    let expected = format!(
        "call {old}: the bytes of its request {sha256} cannot be read: artifact {sha256} is missing"
    );
    for command in ["resume", "recover"] {
        let refused = scene.refuses(&[command, &old], 4);
        assert_eq!(
            refused,
            ("request_unavailable".to_owned(), expected.clone())
        );
    }
    let again = scene.home.write("again.json", REQUEST);
    let arguments = ["resume", &old, "--request", again.to_str().unwrap()];
    let resumed = scene.home.must(&arguments).document();
    assert_eq!(resumed["status"], "succeeded");
    assert_eq!(scene.receipts(), 1);
    scene.home.must(&["verify"]);
}

#[test]
fn a_decided_attempt_is_not_made_without_its_request() {
    let (scene, call) = standing("after:attempt.retry_decided 1 of 2");
    let sha256 = Digest::of(REQUEST).to_string();
    fs::remove_file(scene.home.artifact(&sha256)).unwrap();
    let expected = format!(
        "call {call}: the bytes of its request {sha256} cannot be read: artifact {sha256} is missing"
    );
    let refused = scene.refuses(&["recover", &call], 4);
    assert_eq!(refused, ("request_unavailable".to_owned(), expected));
}

#[test]
fn a_decided_attempt_is_made_with_the_request_given_again_which_is_kept() {
    let (scene, call) = standing("after:attempt.retry_decided 1 of 2");
    let sha256 = Digest::of(REQUEST).to_string();
    fs::remove_file(scene.home.artifact(&sha256)).unwrap();
    let again = scene.home.write("again.json", REQUEST);
    let arguments = ["recover", &call, "--request", again.to_str().unwrap()];
    let recovered = scene.home.must(&arguments).document();
    assert_eq!(scene.receipts(), 2);
    assert_eq!(recovered["stage"], "completed", "{recovered}");
    assert_eq!(recovered["status"], "succeeded", "{recovered}");
    assert_eq!(recovered["call"], call.as_str());
    assert!(scene.home.artifact(&sha256).exists());
    scene.home.must(&["verify"]);
}

#[test]
fn a_call_that_is_nowhere_is_not_continued() {
    let scene = Scene::answering();
    let missing = "01a22ff7-86de-745c-b9a1-2f6fd4a53edc";
    let known = scene.killed_call(&[], "after:call.requested 1");
    assert_eq!(known.len(), missing.len(), "{known}");
    for command in ["resume", "redecide", "finalize", "recover"] {
        let refused = scene.refuses(&[command, missing], 2);
        let expected = format!("unknown call: {missing}");
        assert_eq!(refused, ("unknown_name".to_owned(), expected));
    }
}

/// Makes a call whose request is not there, and returns its id.
fn unprepared_call(scene: &Scene, more: &[&str]) -> String {
    let missing = scene.home.path().join("missing.json");
    let call = ["call", "run", "--provider", "kestrel", "--request"];
    let arguments = [&call[..], &[missing.to_str().unwrap()], more].concat();
    killed(scene.command(&arguments), "after:call.preparation_failed 1");
    let calls = scene.calls();
    text(&calls.last().unwrap().events[0], "call").to_owned()
}

#[test]
fn the_producer_is_who_asked_whoever_leads_the_call_on() {
    let scene = Scene::overloaded_once();
    let call = scene.killed_call(
        &["--actor", "asker", "--max-attempts", "2"],
        "after:attempt.retry_decided 1",
    );
    let recovered = scene.home.must(&["--actor", "other", "recover", &call]);
    assert_eq!(recovered.document()["status"], "succeeded");
    let log = scene.calls().remove(0).events;
    let actors = |kind: &str| -> Vec<_> {
        let events = log.iter().filter(|event| event["kind"] == kind);
        events
            .map(|event| text(event, "actor").to_owned())
            .collect()
    };
    assert_eq!(actors("call.requested"), ["asker"]);
    assert_eq!(actors("attempt.observed"), ["asker", "asker"]);
    assert_eq!(actors("attempt.started"), ["asker", "other"]);
    assert_eq!(actors("call.completed"), ["other"]);
}

#[test]
fn the_calls_that_have_something_left_to_do_are_listed() {
    let scene = Scene::answering();
    scene.call(&[]).output().unwrap();
    let open = || scene.home.must(&["state", "open"]).lines();
    assert_eq!(open(), Vec::<serde_json::Value>::new());
    let killed = scene.killed_call(&["--idempotency-key", "k"], "after:attempt.observed 1");
    let listed = open();
    assert_eq!(listed, [scene.state(&killed)]);
    assert_eq!(listed[0]["next_operation"], "reinterpret");
    assert_eq!(listed[0]["idempotency_key"], "k");
    // What is listed does not depend on the cached summaries.
    crate::support::sql(&scene.home, "DELETE FROM projection").unwrap();
    assert_eq!(open(), listed);
    scene.home.must(&["recover", &killed]);
    assert_eq!(open(), Vec::<serde_json::Value>::new());
}
