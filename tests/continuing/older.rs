//! A call that was reinterpreted before it was decided goes back to its own pair only
//! when that is asked for; and what is incomplete is not reinterpreted.

use std::fs;

use serde_json::Value;

use crate::faults;
use crate::faults::{Scene, not_next};
use crate::support::{Ran, V1, V2, text};

/// Makes a call of the first pair, killed at a point, that was then reinterpreted by
/// the second. Returns the call and the record.
fn reinterpreted(point: &str) -> (Scene, String, String) {
    let scene = Scene::answering();
    let call = scene.killed_call(&V1, point);
    let reread = [&["reinterpret", "call", &call][..], &V2].concat();
    let record = text(&scene.home.must(&reread).document(), "record").to_owned();
    let state = scene.state(&call);
    assert_eq!(state["next_operation"], "none");
    assert_eq!(
        state["reason"],
        "the call was reinterpreted; its status is adopted from that"
    );
    assert_eq!(
        state["status_basis"],
        "reinterpretation:attempt-interpretation-v2/attempt-policy-v2"
    );
    (scene, call, record)
}

fn step_back(record: &str) -> (String, String) {
    let message = format!(
        "attempt-interpretation-v2 is adopted and supersedes attempt-interpretation-v1: stepping \
         back needs --allow-older (adopted record {record})"
    );
    ("step_back".to_owned(), message)
}

/// Asserts that the status now rests on the pair of the call.
fn is_older(scene: &Scene, done: &Value, call: &str) {
    assert_eq!(done["stage"], "completed", "{done}");
    assert_eq!(done["status"], "succeeded", "{done}");
    assert_eq!(
        done["status_basis"], "execution:attempt-policy-v1",
        "{done}"
    );
    let state = scene.state(call);
    assert_eq!(state["status_basis"], "execution:attempt-policy-v1");
    assert_eq!(state["stage"], "completed");
    assert_eq!(scene.receipts(), 1);
    scene.home.must(&["verify", "--replay"]);
}

#[test]
fn a_step_back_to_the_pair_of_the_call_is_refused_unless_it_is_asked_for() {
    for (point, made) in [
        ("after:attempt.observed 1", 3),
        ("after:attempt.interpreted 1", 2),
    ] {
        let (scene, call, record) = reinterpreted(point);
        let refused = scene.refuses(&["redecide", &call], 4);
        assert_eq!(refused, step_back(&record), "{point}");
        let redecided = scene.home.must(&["redecide", &call, "--allow-older=why"]);
        assert_eq!(redecided.document()["appended"], made, "{point}");
        assert_eq!(redecided.document()["stage"], "decided", "{point}");
        let refused = scene.refuses(&["finalize", &call], 4);
        assert_eq!(refused, step_back(&record), "{point}");
        let finalized = scene.home.must(&["finalize", &call, "--allow-older"]);
        assert_eq!(finalized.document()["appended"], 2, "{point}");
        is_older(&scene, &finalized.document(), &call);
    }
}

#[test]
fn a_recovery_steps_back_only_when_it_is_asked_to() {
    for point in [
        "after:attempt.observed 1",
        "after:attempt.interpreted 1",
        "after:attempt.retry_decided 1",
    ] {
        let (scene, call, record) = reinterpreted(point);
        let events = scene.home.event_count();
        let recovered = scene.home.must(&["recover", &call]).document();
        assert_eq!(recovered["appended"], 0, "{point}");
        assert_eq!(recovered["record"], record.as_str(), "{point}");
        assert_eq!(scene.home.event_count(), events, "{point}");
        let recovered = scene.home.must(&["recover", &call, "--allow-older"]);
        is_older(&scene, &recovered.document(), &call);
    }
}

#[test]
fn a_call_reinterpreted_by_its_own_pair_has_its_status_from_there() {
    let scene = Scene::answering();
    let call = scene.killed_call(&V2, "after:attempt.observed 1");
    let reread = [&["reinterpret", "call", &call][..], &V2].concat();
    scene.home.must(&reread);
    let reason = "the call was reinterpreted; its status is adopted from that";
    let expected = not_next("redecide", &call, ("interpreted", "none", reason));
    assert_eq!(scene.refuses(&["redecide", &call], 4), expected);
}

/// Makes a call of two attempts and takes the bytes of one away. Returns the call and
/// what is said of its reading.
fn losing(attempt: usize) -> (Scene, String, String) {
    let scene = Scene::overloaded_once();
    let more = [&["--max-attempts", "2"][..], &V1].concat();
    let ran: Ran = scene.call(&more).output().unwrap().into();
    assert_eq!(ran.code, 0, "{ran:?}");
    let document = ran.document();
    assert_eq!(document["status"], "succeeded");
    let lost = &document["attempts"][attempt];
    let sha256 = text(&lost["response"], "sha256");
    fs::remove_file(scene.home.artifact(sha256)).unwrap();
    let message = format!(
        "ObservationUnavailable: missing: response body bytes are missing (attempt {}, {sha256})",
        text(lost, "attempt")
    );
    (scene, text(&document, "call").to_owned(), message)
}

#[test]
fn a_call_of_which_one_attempt_is_lost_is_not_reinterpreted_in_part() {
    for attempt in [0, 1] {
        let (scene, call, message) = losing(attempt);
        let reread = [&["reinterpret", "call", &call][..], &V2].concat();
        let refused = scene.refuses(&reread, 4);
        assert_eq!(refused, ("observation_unavailable".to_owned(), message));
        let kinds = scene.kinds(&call);
        assert!(!kinds.contains(&"call.reinterpreted".to_owned()));
        let readings = kinds.iter().filter(|kind| *kind == "attempt.interpreted");
        assert_eq!(readings.count(), 2, "the two of the call itself");
    }
}

#[test]
fn a_reinterpretation_that_comes_between_is_not_stepped_back_from() {
    for (held, next) in [
        ("before:attempt.retry_decided 1", "interpreted"),
        ("before:call.status_decided 1", "decided"),
    ] {
        let scene = Scene::answering();
        let mut made = faults::start(scene.call(&V1), &[&format!("hold {held}")]);
        assert_eq!(made.reached(), held);
        let call = scene.calls().remove(0).id;
        let reread = [&["reinterpret", "call", &call][..], &V2].concat();
        scene.home.must(&reread);
        made.go();
        let done = made.ran().document();
        assert_eq!(
            (&done["stage"], &done["next_operation"]),
            (&next.into(), &"none".into())
        );
        let basis = "reinterpretation:attempt-interpretation-v2/attempt-policy-v2";
        assert_eq!(scene.state(&call)["status_basis"], basis, "{held}");
    }
}
