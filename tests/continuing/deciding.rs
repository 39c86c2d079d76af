//! `redecide` and `finalize`: what is recorded is read and decided, without anybody
//! being asked.

use std::fs;

use serde_json::{Value, json};

use crate::continuing::{OBSERVED, RETRYING, WHOLE, standing};
use crate::faults::{Scene, killed, logged, not_next};
use crate::recording_support::chat_reply;
use crate::support::{TestHome, V1, chat, text};

const KEY: &str = "KESTREL_TEST_KEY";

/// Makes a home in which a call with a key was killed at a point; its provider is
/// gone, and no process has the key.
fn abandoned(point: &str) -> (TestHome, String) {
    let scene = Scene::with(&json!([chat_reply()]), &format!("key_env = \"{KEY}\""));
    let mut command = scene.call(&[]);
    command.env(KEY, "sk-1");
    killed(command, point);
    let call = scene.calls().remove(0).id;
    assert_eq!(scene.receipts(), 1);
    let Scene { provider, home } = scene;
    drop(provider);
    (home, call)
}

fn appended(home: &TestHome, command: &str, call: &str) -> Value {
    home.must(&[command, call]).document()
}

#[test]
fn an_observed_call_is_decided_and_completed_without_its_provider() {
    let (home, call) = abandoned("after:attempt.observed 1");
    let redecided = appended(&home, "redecide", &call);
    assert_eq!(redecided["appended"], 3);
    assert_eq!(redecided["stage"], "decided");
    assert_eq!(redecided["next_operation"], "finalize_call");
    assert_eq!(redecided["status"], Value::Null);
    assert_eq!(appended(&home, "redecide", &call)["appended"], 0);

    let finalized = appended(&home, "finalize", &call);
    assert_eq!(finalized["appended"], 2);
    assert_eq!(finalized["stage"], "completed");
    assert_eq!(finalized["status"], "succeeded");
    let events = home.event_count();
    for command in ["finalize", "redecide", "recover"] {
        let repeated = appended(&home, command, &call);
        assert_eq!(repeated["appended"], 0, "{command}");
        assert_eq!(repeated["status"], "succeeded", "{command}");
        assert_eq!(repeated["record"], finalized["record"], "{command}");
    }
    assert_eq!(home.event_count(), events);
    let calls = logged(&home);
    assert_eq!(calls[0].kinds(), WHOLE);
    // How long it took is known only to the process that is gone.
    assert_eq!(calls[0].events[6]["body"]["latency_ms"], Value::Null);
    home.must(&["verify", "--replay"]);
}

#[test]
fn a_recovery_of_what_was_observed_asks_no_provider() {
    for (point, missing) in [
        ("after:attempt.observed 1", 5),
        ("after:attempt.interpreted 1", 4),
        ("after:attempt.retry_decided 1", 2),
        ("after:call.status_decided 1", 0),
    ] {
        let (home, call) = abandoned(point);
        let recovered = appended(&home, "recover", &call);
        assert_eq!(recovered["appended"], missing, "{point}");
        assert_eq!(recovered["status"], "succeeded", "{point}");
        assert_eq!(logged(&home)[0].kinds(), WHOLE, "{point}");
        assert_eq!(appended(&home, "recover", &call)["appended"], 0, "{point}");
    }
}

#[test]
fn an_import_is_neither_resumed_nor_decided_here() {
    let (home, imported) = TestHome::importing(&[chat("one", "An answer.", "stop")]);
    let call = text(&imported[0], "call");
    for command in ["resume", "redecide", "finalize", "recover"] {
        let (code, message) = home.refuses(&[command, call], 4);
        assert_eq!(code, "imported");
        let expected = format!(
            "{command} is refused: call {call} is an import; `reread reinterpret call` decides it"
        );
        assert_eq!(message, expected);
    }
}

/// Makes an observed call of the default pair that only another interpreter has read.
/// Returns the call and its attempt.
fn read_by_another() -> (Scene, String, String) {
    let scene = Scene::answering();
    let call = scene.killed_call(&[], "after:attempt.observed 1");
    let attempt = text(&scene.calls()[0].events[2], "attempt").to_owned();
    let read = ["reinterpret", "attempt", &attempt, V1[0], V1[1]];
    assert_eq!(scene.home.must(&read).document()["appended"], 1);
    let state = scene.state(&call);
    assert_eq!(state["stage"], "interpreted");
    assert_eq!(state["next_operation"], "redecide");
    (scene, call, attempt)
}

#[test]
fn the_reading_of_the_calls_own_interpreter_is_made_before_it_is_decided() {
    for (command, stage) in [("redecide", "decided"), ("recover", "completed")] {
        let (scene, call, _) = read_by_another();
        let decided = appended(&scene.home, command, &call);
        assert_eq!(decided["stage"], stage);
        let calls = scene.calls();
        let of_kind = |kind: &str| {
            let events = calls[0].events.iter();
            let found: Vec<_> = events.filter(|event| event["kind"] == kind).collect();
            found
        };
        let readings = of_kind("attempt.interpreted");
        assert_eq!(readings.len(), 2, "{command}");
        assert_eq!(readings[0]["body"]["recorded_by"], "reinterpretation");
        assert_eq!(readings[1]["body"]["recorded_by"], "execution");
        let named = &of_kind("call.requested")[0]["body"]["interpreter"];
        assert_eq!(readings[1]["body"]["module"], *named, "{command}");
        let decided = of_kind("attempt.retry_decided");
        assert_eq!(decided.len(), 1, "{command}");
        assert_eq!(decided[0]["cause"], readings[1]["id"], "{command}");
        assert_eq!(appended(&scene.home, command, &call)["appended"], 0);
    }
}

#[test]
fn the_reading_of_another_interpreter_does_not_stand_in_for_lost_bytes() {
    let (scene, call, attempt) = read_by_another();
    let observed = &scene.calls()[0].events[3]["body"];
    let sha256 = text(&observed["response_body_artifact"], "sha256").to_owned();
    fs::remove_file(scene.home.artifact(&sha256)).unwrap();
    let plain = format!(
        "ObservationUnavailable: missing: response body bytes are missing (attempt {attempt}, \
         {sha256})"
    );
    for command in ["redecide", "recover"] {
        let refused = scene.refuses(&[command, &call], 4);
        assert_eq!(
            refused,
            ("observation_unavailable".to_owned(), plain.clone())
        );
    }
}

#[test]
fn what_is_not_observed_is_not_decided() {
    for (point, at) in [
        (
            "after:call.requested 1",
            ("requested", "start_call", "only the intent is recorded"),
        ),
        (
            "after:call.manifest 1",
            ("manifest_recorded", "start_call", "no attempt was started"),
        ),
        (
            "after:attempt.started 1",
            (
                "effect_unknown",
                "reconcile_effect",
                "an attempt was started and nothing was observed",
            ),
        ),
    ] {
        let (scene, call) = standing(point);
        for command in ["redecide", "finalize"] {
            let expected = not_next(command, &call, at);
            assert_eq!(scene.refuses(&[command, &call], 4), expected);
        }
    }
}

#[test]
fn a_call_that_another_one_answered_is_not_continued() {
    let scene = Scene::answering();
    let key = ["--idempotency-key", "k-1"];
    let output = scene.call(&key).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let call = scene.killed_call(&key, "after:call.replayed 1");
    let at = ("replayed", "none", "another call answered for it");
    for command in ["resume", "redecide", "finalize"] {
        let expected = not_next(command, &call, at);
        assert_eq!(scene.refuses(&[command, &call], 4), expected);
    }
    let recovered = appended(&scene.home, "recover", &call);
    assert_eq!(recovered["appended"], 0);
    assert_eq!(recovered["status"], "succeeded");
    assert_eq!(scene.receipts(), 1);
}

#[test]
fn a_call_is_not_completed_before_its_last_attempt_is_decided() {
    for (point, at) in OBSERVED {
        let (scene, call) = standing(point);
        let undecided = ["observed", "interpreted", "retry_decided"].contains(&at.0);
        if undecided {
            let expected = not_next("finalize", &call, at);
            assert_eq!(scene.refuses(&["finalize", &call], 4), expected);
        } else {
            assert_eq!(
                appended(&scene.home, "finalize", &call)["stage"],
                "completed"
            );
        }
        if at == RETRYING {
            // It is decided: deciding it again changes nothing, and sends nothing.
            let repeated = appended(&scene.home, "redecide", &call);
            assert_eq!(repeated["appended"], 0);
            assert_eq!(repeated["stage"], "retry_decided");
        }
        assert_eq!(scene.receipts(), 1);
    }
}
