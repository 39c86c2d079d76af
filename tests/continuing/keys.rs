//! Idempotency keys: the request of a key is not sent again once it is answered, nor
//! while it may be served.

use std::fs;

use serde_json::{Value, json};

use crate::continuing::{OBSERVED, reconfigure};
use crate::faults::{Scene, killed};
use crate::ledger;
use crate::recording_support::{REQUEST, call, chat_reply};
use crate::support::{Ran, text};

const KEYED: [&str; 2] = ["--idempotency-key", "k-1"];
const OTHER_BYTES: &[u8] = b"{\"model\": \"kestrel-2\", \"messages\": []}";
const OTHER_MODEL: &[u8] = b"{\"model\": \"kestrel-3\", \"messages\": []}";

fn run(scene: &Scene, more: &[&str]) -> Ran {
    let more = [&KEYED[..], more].concat();
    scene.call(&more).output().unwrap().into()
}

/// Makes a scene whose key is that of a completed call, and returns what was printed.
fn answered() -> (Scene, Value) {
    let scene = Scene::answering();
    let ran = run(&scene, &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let document = ran.document();
    assert_eq!(document["status"], "succeeded");
    (scene, document)
}

#[test]
fn a_completed_call_answers_for_its_key() {
    let (scene, first) = answered();
    let ran = run(&scene, &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let second = ran.document();
    assert_eq!(second["stage"], "replayed");
    assert_eq!(second["status"], "succeeded");
    assert_eq!(second["replayed_from"], first["call"]);
    assert_eq!(second["appended"], 2);
    let calls = scene.calls();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[1].kinds(), ["call.requested", "call.replayed"]);
    let body = &calls[1].events[1]["body"];
    assert_eq!(body["original_call"], first["call"]);
    assert_eq!(
        body["original_attempts"][0],
        first["attempts"][0]["attempt"]
    );
    assert_eq!(body["original_attempts"].as_array().unwrap().len(), 1);
    assert_eq!(body["original_status"], "succeeded");
    assert_eq!(calls[1].events[1]["cause"], calls[1].events[0]["id"]);
    assert_eq!(scene.receipts(), 1);
    // Asked once more, the call that was made answers, not the one that was answered.
    assert_eq!(run(&scene, &[]).document()["replayed_from"], first["call"]);
    // No key, no answer.
    let ran: Ran = scene.call(&[]).output().unwrap().into();
    assert_eq!(ran.document()["replayed_from"], Value::Null);
    assert_eq!(scene.receipts(), 2);
}

/// Asserts that another request of the key is refused before anything is recorded.
fn is_conflict(scene: &Scene, first: &Value, ran: &Ran, fields: &str) {
    let (code, message) = ran.refused(4);
    assert_eq!(code, "idempotency_conflict", "{fields}");
    let expected = format!(
        "the idempotency key is that of completed call {}, whose request differs in {fields}",
        text(first, "call")
    );
    assert_eq!(message, expected);
    assert_eq!(scene.receipts(), 1, "{fields}");
}

#[test]
fn another_request_of_a_completed_key_is_a_conflict_that_names_what_differs() {
    let (scene, first) = answered();
    let before = ledger::rows(&scene.home);
    for (bytes, fields) in [
        (OTHER_BYTES, "request_sha256"),
        (OTHER_MODEL, "request_sha256, requested_model"),
    ] {
        for more in [
            &KEYED[..],
            &[KEYED[0], KEYED[1], "--accept-duplicate-effect"],
        ] {
            let ran = call(&scene.home, bytes, more).output().unwrap().into();
            is_conflict(&scene, &first, &ran, fields);
        }
    }
    let config = scene.home.path().join("config.toml");
    let known = fs::read_to_string(&config).unwrap();
    for (from, to, fields) in [
        ("/v1\"", "/v2\"", "endpoint"),
        ("openai.chat", "openai.responses", "dialect, endpoint"),
        (
            "retry_wait_max_ms = 0",
            "path = \"/x\"\nretry_wait_max_ms = 0",
            "endpoint",
        ),
    ] {
        reconfigure(&scene.home, from, to);
        is_conflict(&scene, &first, &run(&scene, &[]), fields);
        fs::write(&config, &known).unwrap();
    }
    let (_, table) = known.split_once("[providers.kestrel]").unwrap();
    fs::write(&config, format!("{known}\n[providers.other]{table}")).unwrap();
    let file = scene.home.write("request.json", REQUEST);
    let other = ["call", "run", "--provider", "other", "--request"];
    let ran = scene
        .home
        .run(&[&other[..], &[file.to_str().unwrap()], &KEYED].concat());
    is_conflict(&scene, &first, &ran, "provider");
    assert_eq!(ledger::rows(&scene.home), before);
}

fn key_in_use(call: &str, stage: &str) -> (String, String) {
    let message = format!(
        "call {call} of the same idempotency key may have reached the provider (stage {stage}): \
         sending again may have its effect twice"
    );
    ("key_in_use".to_owned(), message)
}

#[test]
fn a_key_whose_effect_is_unknown_is_used_again_only_by_asking_for_it() {
    let scene = Scene::answering();
    let old = scene.killed_call(&KEYED, "after:exchange 1");
    let before = (ledger::rows(&scene.home), scene.home.files());
    let refused = run(&scene, &[]).refused(4);
    assert_eq!(refused, key_in_use(&old, "effect_unknown"));
    assert_eq!(ledger::rows(&scene.home), before.0);
    assert_eq!(scene.home.files(), before.1);
    assert_eq!(scene.receipts(), 1);
    let ran = run(&scene, &["--accept-duplicate-effect"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.document()["status"], "succeeded");
    assert_eq!(scene.receipts(), 2);
    // From now on the key is answered.
    let answered = run(&scene, &[]).document();
    assert_eq!(answered["replayed_from"], ran.document()["call"]);
    assert_eq!(scene.receipts(), 2);
}

#[test]
fn a_key_that_was_served_is_not_used_again_before_its_call_is_completed() {
    for (point, (stage, ..)) in OBSERVED {
        if stage == "completed" {
            continue;
        }
        let (more, point, scene) = match point.strip_suffix(" of 2") {
            Some(point) => (
                &["--max-attempts", "2"][..],
                point,
                Scene::overloaded_once(),
            ),
            None => (&[][..], point, Scene::answering()),
        };
        killed(scene.call(&[&KEYED[..], more].concat()), point);
        let old = scene.calls().remove(0).id;
        let before = ledger::rows(&scene.home);
        let refused = run(&scene, more).refused(4);
        assert_eq!(refused, key_in_use(&old, stage));
        assert_eq!(ledger::rows(&scene.home), before);
        let receipts = scene.receipts();
        let recovered = scene.home.must(&["recover", &old]).document();
        assert_eq!(recovered["status"], "succeeded");
        let answered = run(&scene, more).document();
        assert_eq!(answered["replayed_from"], old.as_str());
        assert_eq!(scene.receipts() - receipts, more.len() / 2, "{stage}");
    }
}

#[test]
fn a_completed_call_whose_bytes_are_gone_does_not_answer() {
    let (scene, first) = answered();
    let sha256 = text(&first["attempts"][0]["response"], "sha256");
    fs::remove_file(scene.home.artifact(sha256)).unwrap();
    let before = (ledger::rows(&scene.home), scene.home.files());
    let (code, message) = run(&scene, &[]).refused(4);
    assert_eq!(code, "observation_unavailable");
    let expected = format!(
        "ObservationUnavailable: missing: response body bytes are missing (attempt {}, {sha256}, \
         recorded reading or status {})",
        text(&first["attempts"][0], "attempt"),
        text(&first, "record"),
    );
    assert_eq!(message, expected);
    assert_eq!(ledger::rows(&scene.home), before.0);
    assert_eq!(scene.home.files(), before.1);
    assert_eq!(scene.receipts(), 1);
}

#[test]
fn a_key_that_is_in_use_is_not_resumed_but_by_asking_for_it() {
    let scene = Scene::answering();
    let waiting = scene.killed_call(&KEYED, "after:call.manifest 1");
    let other = scene.killed_call(&KEYED, "after:exchange 1");
    assert_ne!(waiting, other);
    for command in ["resume", "recover"] {
        let refused = scene.refuses(&[command, &waiting], 4);
        assert_eq!(refused, key_in_use(&other, "effect_unknown"), "{command}");
    }
    let accept = ["recover", &waiting, "--accept-duplicate-effect"];
    let recovered = scene.home.must(&accept).document();
    assert_eq!(recovered["status"], "succeeded");
    assert_eq!(recovered["resumed_from"], waiting.as_str());
    assert_eq!(scene.receipts(), 2);
}

#[test]
fn an_answer_needs_neither_the_provider_nor_its_key() {
    let more = "key_env = \"KESTREL_TEST_KEY\"";
    let scene = Scene::with(&json!([chat_reply()]), more);
    let mut first = scene.call(&KEYED);
    let ran: Ran = first
        .env("KESTREL_TEST_KEY", "sk-1")
        .output()
        .unwrap()
        .into();
    let first = text(&ran.document(), "call").to_owned();
    let Scene { provider, home } = scene;
    drop(provider);
    let ran: Ran = call(&home, REQUEST, &KEYED).output().unwrap().into();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.document()["replayed_from"], first.as_str());
    assert_eq!(ran.document()["status"], "succeeded");
}
