//! A process that dies while the provider has its request.

use std::process::Stdio;

use serde_json::json;

use crate::crashes::settle::{orphans, orphans_told};
use crate::faults::{Scene, effect_unknown, not_next, start};
use crate::recording_support::{REQUEST, call, chat_reply};
use crate::support::{Ran, text};

fn holding() -> Scene {
    let mut held = chat_reply();
    held["hold_before"] = json!(true);
    Scene::with(&json!([held, chat_reply()]), "")
}

#[test]
fn bytes_kept_before_their_observation_are_an_orphan_and_the_effect_is_unknown() {
    let scene = Scene::answering();
    let call = scene.killed_call(&[], "after:response_artifact 1");
    assert_eq!(orphans(&scene), orphans_told(1));
    let state = scene.state(&call);
    assert_eq!(state["stage"], "effect_unknown");
    assert_eq!(state["next_operation"], "reconcile_effect");
    assert_eq!(state["duplicate_effect_risk"], true);
    assert_eq!(scene.receipts(), 1);
}

#[test]
fn that_an_attempt_starts_is_recorded_before_its_request_leaves() {
    let mut scene = holding();
    let running = start(scene.call(&[]), &["trace"]);
    scene.provider.wait_request(1);
    let call = scene.calls().remove(0);
    let kinds = call.kinds();
    assert_eq!(
        kinds,
        ["call.requested", "call.manifest", "attempt.started"]
    );
    let state = scene.state(&call.id);
    assert_eq!(state["stage"], "effect_unknown");
    assert_eq!(state["duplicate_effect_risk"], true);
    scene.provider.go();
    let ran = running.ran();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.document()["status"], "succeeded");
    assert_eq!(scene.receipts(), 1);
}

#[test]
fn a_naive_restart_sends_twice_and_a_recovery_does_not() {
    let mut scene = holding();
    let running = start(scene.call(&[]), &["trace"]);
    scene.provider.wait_request(1);
    running.kill();
    let old = scene.calls().remove(0).id;
    assert_eq!(scene.receipts(), 1);

    // Ours: refused, and still one.
    for command in [["recover", &old], ["resume", &old]] {
        let refused = scene.refuses(&command, 4);
        assert_eq!(refused, effect_unknown(&old));
    }
    assert_eq!(scene.receipts(), 1);

    // The control: the same request again in a copy, as if nothing had been recorded.
    let copy = scene.home.copy();
    let ran: Ran = call(&copy, REQUEST, &[])
        .stdin(Stdio::null())
        .output()
        .unwrap()
        .into();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.document()["status"], "succeeded");
    assert_eq!(scene.receipts(), 2);
}

#[test]
fn a_second_effect_is_had_only_by_asking_for_it() {
    let mut scene = holding();
    let running = start(scene.call(&[]), &["trace"]);
    scene.provider.wait_request(1);
    running.kill();
    let old = scene.calls().remove(0).id;
    let resumed = scene
        .home
        .must(&["resume", &old, "--accept-duplicate-effect"])
        .document();
    assert_eq!(resumed["stage"], "completed");
    assert_eq!(resumed["status"], "succeeded");
    assert_eq!(resumed["resumed_from"], old.as_str());
    assert_eq!(scene.receipts(), 2);
    let state = scene.state(&old);
    assert_eq!(state["stage"], "effect_unknown");
    assert_eq!(state["next_operation"], "none");
    assert_eq!(state["resumed_as"], resumed["call"]);
    let reason = format!("resumed as call {}", text(&resumed, "call"));
    assert_eq!(state["reason"], reason);
    // The risk was taken once: asking again does nothing more.
    let expected = not_next("resume", &old, ("effect_unknown", "none", &reason));
    let again = ["resume", &old, "--accept-duplicate-effect"];
    assert_eq!(scene.refuses(&again, 4), expected);
    assert_eq!(scene.receipts(), 2);
    scene.home.must(&["verify"]);
}

#[test]
fn an_answer_that_comes_after_a_second_effect_was_accepted_is_recorded_too() {
    let mut scene = holding();
    let running = start(scene.call(&[]), &["trace"]);
    scene.provider.wait_request(1);
    let old = scene.calls().remove(0).id;
    let accept = ["recover", &old, "--accept-duplicate-effect"];
    let new = scene.home.must(&accept).document();
    assert_eq!(new["status"], "succeeded");
    scene.provider.go();
    let ran = running.ran();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.document()["status"], "succeeded");
    let state = scene.state(&old);
    assert_eq!(state["stage"], "completed");
    assert_eq!(state["resumed_as"], new["call"]);
    assert_eq!(scene.receipts(), 2);
    scene.home.must(&["verify", "--replay"]);
}

#[test]
fn a_call_that_another_process_leads_on_records_everything_once() {
    for point in [
        "after:attempt.observed 1",
        "before:attempt.interpreted 1",
        "before:attempt.retry_decided 1",
        "before:call.status_decided 1",
    ] {
        let scene = Scene::answering();
        let mut running = start(scene.call(&[]), &[&format!("hold {point}")]);
        assert_eq!(running.reached(), point);
        let call = scene.calls().remove(0).id;
        let recovered = scene.home.must(&["recover", &call]).document();
        assert_eq!(recovered["status"], "succeeded", "{point}");
        let kinds = scene.kinds(&call);
        running.go();
        let ran = running.ran();
        assert_eq!(ran.code, 0, "{point}: {ran:?}");
        assert_eq!(ran.document()["record"], recovered["record"], "{point}");
        assert_eq!(scene.kinds(&call), kinds, "{point}");
        assert_eq!(kinds.len(), 9, "{point}: {kinds:?}");
        assert_eq!(scene.receipts(), 1, "{point}");
    }
}

#[test]
fn a_process_that_dies_with_the_lock_gives_it_back() {
    let scene = Scene::answering();
    let key = ["--idempotency-key", "k-1"];
    let point = "before:attempt.started 1";
    let mut holder = start(scene.call(&key), &[&format!("hold {point}")]);
    assert_eq!(holder.reached(), point);
    let held = scene.calls().remove(0).id;
    let waiting = start(scene.call(&key), &["trace"]);
    holder.kill();
    let ran = waiting.ran();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.document()["status"], "succeeded");
    let state = scene.state(&held);
    assert_eq!(state["stage"], "manifest_recorded");
    assert_eq!(state["superseded_by"], ran.document()["call"]);
    assert_eq!(scene.receipts(), 1);
    scene.home.must(&["verify"]);
}
