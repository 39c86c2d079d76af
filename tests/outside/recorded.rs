//! Calls that were made, killed at every point and recovered, read from outside.

use std::collections::BTreeSet;

use serde_json::json;

use crate::faults::{Scene, killed, overloaded, traced};
use crate::support::{V1, V2, text};

/// A scene whose provider is always overloaded, so that every call makes two attempts.
fn scene() -> Scene {
    Scene::with(&json!([overloaded()]), "key_env = \"KESTREL_KEY\"")
}

fn call(scene: &Scene, more: &[&str]) -> std::process::Command {
    let retried = [&["--max-attempts", "2"][..], &V1, more].concat();
    let mut command = scene.call(&retried);
    command.env("KESTREL_KEY", "k");
    command
}

#[test]
fn a_home_of_killed_and_recovered_calls_reads_the_same() {
    if !super::python_is_here() {
        return;
    }
    let scene = scene();
    let (ran, points) = traced(call(&scene, &["--idempotency-key", "once"]));
    assert_eq!(ran.code, 0, "{ran:?}");
    for point in &points {
        killed(call(&scene, &[]), point);
    }
    // Answered by the first, and not to be prepared without its key.
    for (key, code) in [("once", 0), ("again", 2)] {
        let mut command = call(&scene, &["--idempotency-key", key]);
        if key == "again" {
            command.env_remove("KESTREL_KEY");
        }
        assert_eq!(command.output().unwrap().status.code(), Some(code), "{key}");
    }
    let said = super::agree(&scene.home);
    let stages: BTreeSet<_> = said["calls"]
        .as_object()
        .unwrap()
        .values()
        .map(|call| text(call, "stage").to_owned())
        .collect();
    let stages: Vec<_> = stages.iter().map(String::as_str).collect();
    let all = [
        "completed",
        "decided",
        "effect_unknown",
        "interpreted",
        "manifest_recorded",
        "observed",
        "preparation_failed",
        "replayed",
        "requested",
        "retry_decided",
    ];
    assert_eq!(stages, all);

    let mut recovered = 0;
    for logged in scene.calls() {
        let mut command = scene.command(&["recover", &logged.id, "--accept-duplicate-effect"]);
        let code = command
            .env("KESTREL_KEY", "k")
            .output()
            .unwrap()
            .status
            .code();
        let unprepared = logged
            .kinds()
            .contains(&"call.preparation_failed".to_owned());
        assert_eq!(code, Some(if unprepared { 4 } else { 0 }), "{}", logged.id);
        recovered += 1;
    }
    super::agree(&scene.home);
    scene
        .home
        .must(&[&["reinterpret", "all"][..], &V2].concat());
    let said = super::agree(&scene.home);
    let reread = said["calls"].as_object().unwrap().values();
    let basis = json!("reinterpretation:attempt-interpretation-v2/attempt-policy-v2");
    let reread = reread.filter(|call| call["status_basis"] == basis).count();
    println!(
        "{} points killed, {recovered} calls recovered, {reread} reread: both readers agree",
        points.len()
    );
    assert!(reread > points.len() / 2, "only {reread} were reread");
}
