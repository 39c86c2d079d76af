//! A process that dies while it records that nothing is to be sent.

use std::process::Command;

use serde_json::Value;

use crate::faults::{Scene, killed, traced};
use crate::support::{Ran, text};

const KEYED: [&str; 2] = ["--idempotency-key", "k-1"];

/// Makes a scene whose key `k-1` is that of a completed call, and returns the call.
fn answered() -> (Scene, String) {
    let scene = Scene::answering();
    let ran: Ran = scene.call(&KEYED).output().unwrap().into();
    assert_eq!(ran.code, 0, "{ran:?}");
    let call = text(&ran.document(), "call").to_owned();
    (scene, call)
}

#[test]
fn a_replay_killed_at_any_point_is_recorded_whole_or_not_at_all() {
    let (scene, original) = answered();
    let (ran, points) = traced(scene.call(&KEYED));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.document()["replayed_from"], original.as_str());
    assert!(points.contains(&"after:call.replayed 1".to_owned()));
    for point in &points {
        let (scene, original) = answered();
        let before = scene.home.event_count();
        killed(scene.call(&KEYED), point);
        let added = scene.calls().split_off(1);
        if point == "after:call.replayed 1" {
            assert_eq!(added[0].kinds(), ["call.requested", "call.replayed"]);
            assert_eq!(added.len(), 1);
        } else {
            assert_eq!(scene.home.event_count(), before, "{point}");
        }
        let ran: Ran = scene.call(&KEYED).output().unwrap().into();
        assert_eq!(
            ran.document()["replayed_from"],
            original.as_str(),
            "{point}"
        );
        assert_eq!(scene.receipts(), 1, "{point}");
        scene.home.must(&["verify"]);
    }
    println!(
        "replay: {0} points killed, 0 of {0} sent anything",
        points.len()
    );
}

/// Makes a call whose request is not there.
fn unprepared(scene: &Scene) -> Command {
    let missing = scene.home.path().join("missing.json");
    let call = ["call", "run", "--provider", "kestrel", "--request"];
    scene.command(&[&call[..], &[missing.to_str().unwrap()]].concat())
}

#[test]
fn a_failed_preparation_killed_at_any_point_is_recorded_whole_or_not_at_all() {
    let scene = Scene::answering();
    let (ran, points) = traced(unprepared(&scene));
    assert_eq!(ran.refused(2).0, "preparation_failed");
    assert!(points.contains(&"after:call.preparation_failed 1".to_owned()));
    for point in &points {
        let scene = Scene::answering();
        let before = scene.home.event_count();
        killed(unprepared(&scene), point);
        let calls = scene.calls();
        if point == "after:call.preparation_failed 1" {
            assert_eq!(
                calls[0].kinds(),
                ["call.requested", "call.preparation_failed"]
            );
            let body: &Value = &calls[0].events[1]["body"];
            assert_eq!(body["stage"], "request_file");
            assert_eq!(calls.len(), 1);
        } else {
            assert_eq!(scene.home.event_count(), before, "{point}");
        }
        assert_eq!(scene.receipts(), 0, "{point}");
        scene.home.must(&["verify"]);
    }
    println!(
        "preparation: {0} points killed, 0 of {0} sent anything",
        points.len()
    );
}
