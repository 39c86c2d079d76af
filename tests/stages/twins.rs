//! A call that another one answered for or continued has nothing left to do.

use crate::faults::{Scene, killed, not_next};
use crate::support::{Ran, text};

const KEYED: [&str; 2] = ["--idempotency-key", "k-1"];

#[test]
fn a_call_that_waits_is_superseded_by_the_completed_one_of_its_key() {
    for (point, stage) in [
        ("after:call.requested 1", "requested"),
        ("after:call.manifest 1", "manifest_recorded"),
    ] {
        let scene = Scene::answering();
        let old = scene.killed_call(&KEYED, point);
        let ran: Ran = scene.call(&KEYED).output().unwrap().into();
        assert_eq!(ran.code, 0, "{ran:?}");
        let new = text(&ran.document(), "call").to_owned();
        assert_eq!(ran.document()["status"], "succeeded");
        is_superseded(&scene, &old, &new, stage);
        assert_eq!(scene.receipts(), 1);
    }
}

#[test]
fn an_unprepared_call_is_superseded_by_the_completed_one_of_its_key() {
    let scene = Scene::answering();
    let missing = scene.home.path().join("missing.json");
    let call = ["call", "run", "--provider", "kestrel", "--request"];
    let of = [missing.to_str().unwrap(), KEYED[0], KEYED[1]];
    let command = scene.command(&[&call[..], &of].concat());
    killed(command, "after:call.preparation_failed 1");
    let old = scene.calls().remove(0).id;
    assert_eq!(scene.state(&old)["next_operation"], "fix_inputs");
    let ran: Ran = scene.call(&KEYED).output().unwrap().into();
    let new = text(&ran.document(), "call").to_owned();
    is_superseded(&scene, &old, &new, "preparation_failed");
}

fn is_superseded(scene: &Scene, old: &str, new: &str, stage: &str) {
    let state = scene.state(old);
    assert_eq!(state["stage"], stage);
    assert_eq!(state["next_operation"], "none");
    assert_eq!(state["superseded_by"], new);
    let reason = format!("call {new} of the same idempotency key is completed");
    assert_eq!(state["reason"], reason.as_str());
    // The summaries that were cached when the other call was completed know it too.
    let whole = scene.home.must(&["state"]).document();
    assert_eq!(whole["next_operations"]["none"], 2, "{whole}");
    let expected = not_next("resume", old, (stage, "none", &reason));
    assert_eq!(scene.refuses(&["resume", old], 4), expected);
    let count = scene.home.event_count();
    let recovered = scene.home.must(&["recover", old]).document();
    assert_eq!(recovered["appended"], 0);
    assert_eq!(scene.home.event_count(), count);
}

#[test]
fn a_call_that_was_resumed_names_the_call_that_continued_it() {
    for (point, stage) in [
        ("after:call.requested 1", "requested"),
        ("after:call.manifest 1", "manifest_recorded"),
    ] {
        let scene = Scene::answering();
        let old = scene.killed_call(&[], point);
        let resumed = scene.home.must(&["resume", &old]).document();
        let new = text(&resumed, "call");
        assert_eq!(resumed["resumed_from"], old.as_str());
        assert_eq!(resumed["status"], "succeeded");
        let state = scene.state(&old);
        assert_eq!(state["stage"], stage);
        assert_eq!(state["next_operation"], "none");
        assert_eq!(state["resumed_as"], new);
        let reason = format!("resumed as call {new}");
        assert_eq!(state["reason"], reason.as_str());
        let kinds = scene.kinds(&old);
        assert_eq!(kinds.last().unwrap(), "call.resumed");
        let expected = not_next("resume", &old, (stage, "none", &reason));
        assert_eq!(scene.refuses(&["resume", &old], 4), expected);
        assert_eq!(scene.receipts(), 1);
    }
}
