//! Where a call stands is derived from what is recorded: the same in every process,
//! in every copy, and without a trace of having been looked at.

mod lost;
mod twins;

use serde_json::{Value, json};

use crate::faults::{Scene, effect_unknown, killed, not_next};
use crate::ledger;
use crate::support::{TestHome, text};

/// A stage, what leads there, and what is to be said of it.
struct Case {
    stage: &'static str,
    next: &'static str,
    effect: &'static str,
    reason: &'static str,
    attempts: u32,
    reach: fn() -> Scene,
}

/// Makes a call that is killed at a point.
fn killed_at(point: &str) -> Scene {
    let scene = Scene::answering();
    scene.killed_call(&[], point);
    scene
}

/// Makes a call that would retry, killed when that is decided.
fn killed_before_its_retry() -> Scene {
    let scene = Scene::overloaded_once();
    scene.killed_call(&["--max-attempts", "2"], "after:attempt.retry_decided 1");
    scene
}

/// Makes a call whose request is not there.
fn killed_unprepared() -> Scene {
    let scene = Scene::answering();
    let missing = scene.home.path().join("missing.json");
    let call = ["call", "run", "--provider", "kestrel", "--request"];
    let command = scene.command(&[&call[..], &[missing.to_str().unwrap()]].concat());
    killed(command, "after:call.preparation_failed 1");
    scene
}

/// Makes a call that another one of its key answers.
fn killed_replayed() -> Scene {
    let scene = Scene::answering();
    let key = ["--idempotency-key", "k-1"];
    let output = scene.call(&key).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    killed(scene.call(&key), "after:call.replayed 1");
    scene
}

const CASES: [Case; 10] = [
    Case {
        stage: "requested",
        next: "start_call",
        effect: "none",
        reason: "only the intent is recorded",
        attempts: 0,
        reach: || killed_at("after:call.requested 1"),
    },
    Case {
        stage: "manifest_recorded",
        next: "start_call",
        effect: "none",
        reason: "no attempt was started",
        attempts: 0,
        reach: || killed_at("after:call.manifest 1"),
    },
    Case {
        stage: "effect_unknown",
        next: "reconcile_effect",
        effect: "unknown",
        reason: "an attempt was started and nothing was observed",
        attempts: 1,
        reach: || killed_at("after:attempt.started 1"),
    },
    Case {
        stage: "observed",
        next: "reinterpret",
        effect: "observed",
        reason: "the observation is not read",
        attempts: 1,
        reach: || killed_at("after:attempt.observed 1"),
    },
    Case {
        stage: "interpreted",
        next: "redecide",
        effect: "observed",
        reason: "the reading is not decided",
        attempts: 1,
        reach: || killed_at("after:attempt.interpreted 1"),
    },
    Case {
        stage: "retry_decided",
        next: "start_next_attempt",
        effect: "observed",
        reason: "another attempt is decided and not started",
        attempts: 1,
        reach: killed_before_its_retry,
    },
    Case {
        stage: "decided",
        next: "finalize_call",
        effect: "observed",
        reason: "the call's status is not decided",
        attempts: 1,
        reach: || killed_at("after:attempt.retry_decided 1"),
    },
    Case {
        stage: "completed",
        next: "none",
        effect: "observed",
        reason: "call.completed is recorded",
        attempts: 1,
        reach: || killed_at("after:call.status_decided 1"),
    },
    Case {
        stage: "preparation_failed",
        next: "fix_inputs",
        effect: "none",
        reason: "nothing was sent",
        attempts: 0,
        reach: killed_unprepared,
    },
    Case {
        stage: "replayed",
        next: "none",
        effect: "none",
        reason: "another call answered for it",
        attempts: 0,
        reach: killed_replayed,
    },
];

#[test]
fn each_stage_is_told_with_its_next_operation() {
    for case in CASES {
        let scene = (case.reach)();
        let call = scene.calls().pop().unwrap().id;
        let state = scene.state(&call);
        let found = json!({
            "stage": state["stage"],
            "next": state["next_operation"],
            "effect": state["provider_effect"],
            "risk": state["duplicate_effect_risk"],
            "reason": state["reason"],
            "attempts": state["attempt_count"],
            "status": state["call_status"],
            "superseded_by": state["superseded_by"],
            "resumed_as": state["resumed_as"],
        });
        let completed = case.stage == "completed";
        let expected = json!({
            "stage": case.stage,
            "next": case.next,
            "effect": case.effect,
            "risk": case.stage == "effect_unknown",
            "reason": case.reason,
            "attempts": case.attempts,
            "status": completed.then_some("succeeded"),
            "superseded_by": null,
            "resumed_as": null,
        });
        assert_eq!(found, expected);
    }
}

#[test]
fn a_stage_is_the_same_in_every_process_and_copy_and_looking_appends_nothing() {
    for case in CASES {
        let scene = (case.reach)();
        let call = scene.calls().pop().unwrap().id;
        let before = (ledger::rows(&scene.home), scene.home.files());
        let looks = looks(&scene.home, &call);
        assert_eq!(looks, self::looks(&scene.home, &call), "{}", case.stage);
        let copy = scene.home.copy();
        assert_eq!(looks, self::looks(&copy, &call), "{}", case.stage);
        // The cached summaries say the same after they are made again.
        scene.home.must(&["rebuild"]);
        assert_eq!(looks, self::looks(&scene.home, &call), "{}", case.stage);
        assert_eq!(ledger::rows(&scene.home), before.0, "{}", case.stage);
        assert_eq!(scene.home.files(), before.1, "{}", case.stage);
        assert_eq!(ledger::rows(&copy), before.0, "{}", case.stage);
    }
}

/// Returns what is printed of a call and of its home.
fn looks(home: &TestHome, call: &str) -> [String; 2] {
    let state = home.must(&["state", "call", call]).stdout;
    let whole = home.must(&["state"]);
    let stage = serde_json::from_str::<Value>(&state).unwrap();
    let count = &whole.document()["stages"][text(&stage, "stage")];
    assert_eq!(*count, 1, "{whole:?}");
    [state, whole.stdout]
}

#[test]
fn each_next_operation_but_none_is_what_recover_does_or_refuses() {
    for case in CASES {
        let scene = (case.reach)();
        let call = scene.calls().pop().unwrap().id;
        let arguments = ["recover", &call];
        match case.next {
            "reconcile_effect" => {
                assert_eq!(scene.refuses(&arguments, 4), effect_unknown(&call));
            }
            "fix_inputs" => {
                let at = ("preparation_failed", "fix_inputs", "nothing was sent");
                let expected = not_next("recover", &call, at);
                assert_eq!(scene.refuses(&arguments, 4), expected);
            }
            next => {
                let recovered = scene.home.must(&arguments).document();
                assert_eq!(recovered["next_operation"], "none", "{recovered}");
                assert_eq!(recovered["status"], "succeeded", "{recovered}");
                let nothing = recovered["appended"] == 0;
                assert_eq!(nothing, next == "none", "{recovered}");
            }
        }
    }
}

#[test]
fn a_task_waits_for_the_next_operation_of_its_call() {
    let scene = Scene::answering();
    let criteria = scene.home.write("criteria.md", b"- It answers.\n");
    let criteria = criteria.to_str().unwrap();
    let create = [
        "task",
        "create",
        "Herons",
        "--output",
        "answer",
        "--criteria",
        criteria,
    ];
    let task = text(&scene.home.must(&create).document(), "task").to_owned();
    let call = scene.killed_call(&["--task", &task], "after:attempt.observed 1");
    let next = || {
        let state = scene.home.must(&["state", "task", &task]).document();
        text(&state, "task_next_operation").to_owned()
    };
    assert_eq!(next(), "reinterpret");
    scene.home.must(&["redecide", &call]);
    assert_eq!(next(), "finalize_call");
    scene.home.must(&["recover", &call]);
    assert_eq!(next(), "check_and_accept");
    let calls = scene.calls();
    assert!(
        calls[0]
            .events
            .iter()
            .all(|event| event["task"] == task.as_str())
    );
    assert_eq!(scene.receipts(), 1);
}
