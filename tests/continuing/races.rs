//! Processes that want the same thing at the same time: one has its way, and the
//! provider is asked once.

use serde_json::{Value, json};

use crate::continuing::WHOLE;
use crate::faults::{Armed, Scene, not_next, start};
use crate::recording_support::chat_reply;
use crate::support::text;

const KEYED: [&str; 2] = ["--idempotency-key", "k-1"];
const PROCESSES: usize = 6;

fn hold(scene: &Scene, arguments: &[&str], point: &str) -> Armed {
    let mut held = start(scene.command(arguments), &[&format!("hold {point}")]);
    assert_eq!(held.reached(), point);
    held
}

fn hold_call(scene: &Scene, point: &str) -> Armed {
    let mut held = start(scene.call(&KEYED), &[&format!("hold {point}")]);
    assert_eq!(held.reached(), point);
    held
}

fn finished(mut held: Armed) -> Value {
    held.go();
    let ran = held.ran();
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.document()
}

fn refused(mut held: Armed) -> (String, String) {
    held.go();
    held.ran().refused(4)
}

#[test]
fn of_two_resumes_at_once_one_makes_the_call() {
    let scene = Scene::answering();
    let call = scene.killed_call(&[], "after:call.manifest 1");
    let resume = ["resume", call.as_str()];
    // Both have seen that the call may be resumed; none has recorded it.
    let first = hold(&scene, &resume, "before:request_artifact 1");
    let second = hold(&scene, &resume, "before:request_artifact 1");
    let made = finished(first);
    assert_eq!(made["status"], "succeeded");
    assert_eq!(made["resumed_from"], call.as_str());
    let reason = format!("resumed as call {}", text(&made, "call"));
    let expected = not_next("resume", &call, ("manifest_recorded", "none", &reason));
    assert_eq!(refused(second), expected);
    assert_eq!(scene.receipts(), 1);
    assert_eq!(scene.calls().len(), 2);
    scene.home.must(&["verify"]);
}

#[test]
fn a_resume_waits_for_one_that_is_about_to_be_recorded() {
    let scene = Scene::answering();
    let call = scene.killed_call(&[], "after:call.manifest 1");
    let resume = ["resume", call.as_str()];
    let mut second = hold(&scene, &resume, "before:request_artifact 1");
    // The first one holds the lock that the second one needs.
    let first = hold(&scene, &resume, "before:call.resumed 1");
    second.go();
    let made = finished(first);
    let reason = format!("resumed as call {}", text(&made, "call"));
    let expected = not_next("resume", &call, ("manifest_recorded", "none", &reason));
    assert_eq!(second.ran().refused(4), expected);
    assert_eq!(made["status"], "succeeded");
    assert_eq!(scene.receipts(), 1);
    assert_eq!(scene.calls().len(), 2);
}

#[test]
fn of_two_recoveries_of_a_decided_attempt_one_makes_it() {
    let scene = Scene::overloaded_once();
    let more = ["--max-attempts", "2"];
    let call = scene.killed_call(&more, "after:attempt.retry_decided 1");
    let recover = ["recover", call.as_str()];
    let first = hold(&scene, &recover, "before:attempt.started 1");
    let second = start(scene.command(&recover), &["trace"]);
    let made = finished(first);
    assert_eq!(made["status"], "succeeded");
    // The second one may help to read and to decide; it never sends.
    let ran = second.ran();
    if ran.code != 0 {
        let (code, _) = ran.refused(4);
        assert!(
            ["not_next", "effect_unknown"].contains(&code.as_str()),
            "{code}"
        );
    }
    assert_eq!(scene.receipts(), 2);
    let attempts = &WHOLE[2..7];
    let expected = [&WHOLE[..2], attempts, attempts, &WHOLE[7..]].concat();
    assert_eq!(scene.kinds(&call), expected);
}

#[test]
fn two_finalizations_at_once_record_one_status() {
    let scene = Scene::answering();
    let call = scene.killed_call(&[], "after:attempt.retry_decided 1");
    let finalize = ["finalize", call.as_str()];
    let first = hold(&scene, &finalize, "before:call.status_decided 1");
    let second = hold(&scene, &finalize, "before:call.status_decided 1");
    let [first, second] = [finished(first), finished(second)];
    assert_eq!(first["appended"], 2);
    assert_eq!(second["appended"], 0);
    assert_eq!(first["record"], second["record"]);
}

#[test]
fn two_redecisions_at_once_record_one_reading_and_one_decision() {
    let scene = Scene::answering();
    let call = scene.killed_call(&[], "after:attempt.observed 1");
    let redecide = ["redecide", call.as_str()];
    let first = hold(&scene, &redecide, "before:attempt.interpreted 1");
    let second = hold(&scene, &redecide, "before:attempt.interpreted 1");
    assert_eq!(finished(first)["appended"], 3);
    let second = finished(second);
    assert_eq!(second["appended"], 0);
    assert_eq!(second["stage"], "decided");
}

#[test]
fn a_key_is_in_use_while_its_request_is_with_the_provider() {
    let mut held = chat_reply();
    held["hold_before"] = json!(true);
    let mut scene = Scene::with(&json!([held, chat_reply()]), "");
    let running = start(scene.call(&KEYED), &["trace"]);
    scene.provider.wait_request(1);
    let first = scene.calls().remove(0).id;
    let others: Vec<_> = (1..PROCESSES)
        .map(|_| start(scene.call(&KEYED), &["trace"]))
        .collect();
    for other in others {
        let (code, message) = other.ran().refused(4);
        assert_eq!(code, "key_in_use");
        let expected = format!(
            "call {first} of the same idempotency key may have reached the provider (stage \
             effect_unknown): sending again may have its effect twice"
        );
        assert_eq!(message, expected);
    }
    assert_eq!(scene.receipts(), 1);
    assert_eq!(scene.calls().len(), 1, "nothing is recorded of the others");
    scene.provider.go();
    assert_eq!(running.ran().document()["status"], "succeeded");
    let again = start(scene.call(&KEYED), &["trace"]).ran().document();
    assert_eq!(again["replayed_from"], first.as_str());
    assert_eq!(scene.receipts(), 1);
}

#[test]
fn intents_of_one_key_that_were_recorded_together_send_once() {
    let scene = Scene::answering();
    let held: Vec<_> = (0..PROCESSES)
        .map(|_| hold_call(&scene, "after:call.manifest 1"))
        .collect();
    let ids: Vec<_> = scene.calls().into_iter().map(|call| call.id).collect();
    assert_eq!(ids.len(), PROCESSES);
    let mut held = held.into_iter();
    let made = finished(held.next().unwrap());
    let first = text(&made, "call");
    assert_eq!(made["status"], "succeeded");
    for (other, id) in held.zip(&ids[1..]) {
        // The first answers for it, although it was not completed when this began.
        let answered = finished(other);
        assert_eq!(answered["call"], id.as_str());
        assert_eq!(answered["stage"], "replayed");
        assert_eq!(answered["status"], "succeeded");
        assert_eq!(answered["replayed_from"], first);
    }
    assert_eq!(scene.receipts(), 1);
}

#[test]
fn an_intent_of_a_key_does_not_send_while_another_ones_request_is_with_the_provider() {
    let mut held = chat_reply();
    held["hold_before"] = json!(true);
    let mut scene = Scene::with(&json!([held, chat_reply()]), "");
    let mut first = hold_call(&scene, "after:call.manifest 1");
    let second = hold_call(&scene, "after:call.manifest 1");
    let [first_id, second_id] = [0, 1].map(|place| scene.calls().remove(place).id);
    first.go();
    scene.provider.wait_request(1);
    let expected = format!(
        "call {second_id}: call {first_id} of the same idempotency key may have reached the \
         provider (stage effect_unknown): sending again may have its effect twice"
    );
    assert_eq!(refused(second), ("key_in_use".to_owned(), expected));
    assert_eq!(scene.receipts(), 1);
    scene.provider.go();
    assert_eq!(first.ran().document()["status"], "succeeded");
    assert_eq!(scene.state(&second_id)["superseded_by"], first_id.as_str());
    assert_eq!(scene.receipts(), 1);
}

#[test]
fn calls_of_one_key_at_once_send_once() {
    let scene = Scene::answering();
    // One has the lock, before its attempt is recorded as started; the others come.
    let mut first = hold_call(&scene, "before:attempt.started 1");
    let mut others = Vec::new();
    for _ in 1..PROCESSES {
        let mut other = start(scene.call(&KEYED), &["trace"]);
        assert_eq!(other.reached(), "before:request_artifact 1");
        others.push(other);
    }
    first.go();
    let made = first.ran();
    assert_eq!(made.code, 0, "{made:?}");
    let mut answered = 0;
    for other in others {
        let ran = other.ran();
        if ran.code == 0 {
            assert_eq!(ran.document()["replayed_from"], made.document()["call"]);
            answered += 1;
        } else {
            assert_eq!(ran.refused(4).0, "key_in_use");
        }
    }
    println!(
        "{answered} of {} were answered, the others refused",
        PROCESSES - 1
    );
    assert_eq!(scene.receipts(), 1);
    scene.home.must(&["verify"]);
}
