//! What is observed but cannot be read is not read.

use std::fs;

use crate::faults::{Scene, not_next};
use crate::support::text;

/// The word of a damage, its sentence, and how it is done.
type Damage = (&'static str, &'static str, fn(&std::path::Path));

const DAMAGES: [Damage; 2] = [
    ("missing", "response body bytes are missing", |path| {
        fs::remove_file(path).unwrap();
    }),
    (
        "corrupt",
        "response body bytes do not match their recorded sha256",
        |path| {
            let mut bytes = fs::read(path).unwrap();
            bytes[0] ^= 1;
            fs::remove_file(path).unwrap();
            fs::write(path, bytes).unwrap();
        },
    ),
];

/// A call whose last observation's bytes are damaged.
fn damaged(point: &str, damage: fn(&std::path::Path)) -> (Scene, String, [String; 2]) {
    let scene = Scene::answering();
    let call = scene.killed_call(&[], point);
    let calls = scene.calls();
    let observed = calls[0]
        .events
        .iter()
        .find(|event| event["kind"] == "attempt.observed")
        .unwrap();
    let attempt = text(observed, "attempt").to_owned();
    let sha256 = text(&observed["body"]["response_body_artifact"], "sha256").to_owned();
    damage(&scene.home.artifact(&sha256));
    (scene, call, [attempt, sha256])
}

#[test]
fn an_observation_whose_bytes_are_gone_has_nothing_next_and_says_why() {
    for (word, sentence, damage) in DAMAGES {
        let (scene, call, [attempt, sha256]) = damaged("after:attempt.observed 1", damage);
        let state = scene.state(&call);
        assert_eq!(state["stage"], "observed");
        assert_eq!(state["next_operation"], "none");
        assert_eq!(state["reason"], word);
        assert_eq!(state["provider_effect"], "observed");
        let expected =
            format!("ObservationUnavailable: {word}: {sentence} (attempt {attempt}, {sha256})");
        let expected = ("observation_unavailable".to_owned(), expected);
        for command in ["recover", "redecide"] {
            assert_eq!(scene.refuses(&[command, &call], 4), expected, "{command}");
        }
        let refused = not_next("resume", &call, ("observed", "none", word));
        assert_eq!(scene.refuses(&["resume", &call], 4), refused);
        assert_eq!(scene.receipts(), 1);
    }
}

#[test]
fn a_recorded_reading_is_decided_although_its_bytes_are_gone() {
    for (_, _, damage) in DAMAGES {
        let (scene, call, _) = damaged("after:attempt.interpreted 1", damage);
        let state = scene.state(&call);
        assert_eq!(state["stage"], "interpreted");
        assert_eq!(state["next_operation"], "redecide");
        let redecided = scene.home.must(&["redecide", &call]).document();
        assert_eq!(redecided["stage"], "decided");
        assert_eq!(redecided["appended"], 2);
        let finalized = scene.home.must(&["finalize", &call]).document();
        assert_eq!(finalized["stage"], "completed");
        assert_eq!(finalized["status"], "succeeded");
        assert_eq!(scene.receipts(), 1);
    }
}
