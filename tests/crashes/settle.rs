//! What a stopped process left, and how it is brought to its end.

use std::process::Command;

use serde_json::Value;

use crate::faults::{Logged, Scene, effect_unknown};
use crate::support::{INIT_EVENTS, Ran, text};

/// What was left, and what became of it.
#[derive(Debug)]
pub(super) struct Settled {
    /// How many requests had reached the provider when the process stopped.
    pub(super) left: usize,
    /// How many attempts had been started.
    started: usize,
    /// How many attempts followed once a second effect was accepted, where the effect
    /// was unknown.
    pub(super) unknown: Option<usize>,
    /// How many requests reached the provider in all.
    pub(super) receipts: usize,
}

impl Settled {
    /// Looks at what was left, and brings its open call to the end.
    pub(super) fn of(scene: &Scene, point: &str) -> Self {
        Self::of_call(scene, point, || panic!("{point}: nothing is recorded"))
    }

    /// The same; where no call was recorded, `again` makes it.
    pub(super) fn of_call(scene: &Scene, point: &str, again: impl Fn() -> Command) -> Self {
        scene.home.must(&["verify"]);
        let left = scene.receipts();
        let calls = scene.calls();
        let mut settled = Self {
            left,
            started: calls.iter().map(|call| call.count("attempt.started")).sum(),
            unknown: None,
            receipts: 0,
        };
        let open = open_call(scene, &calls, point);
        if calls.is_empty() {
            nothing_is_recorded(scene, point);
            must(again());
        } else if let Some(open) = open {
            settled.recover(scene, &open, point);
        } else {
            let last = calls.last().unwrap();
            let recovered = scene.home.must(&["recover", &last.id]).document();
            assert_eq!(recovered["appended"], 0, "{point}: {recovered}");
        }
        is_whole(scene, point);
        settled.receipts = scene.receipts();
        settled
    }

    fn recover(&mut self, scene: &Scene, open: &Value, point: &str) {
        let call = text(open, "call");
        if open["next_operation"] == "reconcile_effect" {
            let (code, message) = scene.refuses(&["recover", call], 4);
            assert_eq!((code, message), effect_unknown(call), "{point}");
            let accept = ["recover", call, "--accept-duplicate-effect"];
            let recovered = scene.home.must(&accept).document();
            is_new_call(scene, &recovered, call, "a second effect was accepted");
            self.unknown = recovered["attempts"].as_array().map(Vec::len);
            return;
        }
        let recovered = scene.home.must(&["recover", call]).document();
        assert_eq!(recovered["stage"], "completed", "{point}: {recovered}");
        assert_eq!(recovered["status"], "succeeded", "{point}: {recovered}");
        if open["next_operation"] == "start_call" {
            is_new_call(scene, &recovered, call, "no attempt was started");
        } else {
            assert_eq!(recovered["call"], call, "{point}: {recovered}");
        }
    }

    /// Asserts that nothing was lost and nothing repeated, where `wanted` requests
    /// reach the provider when nothing is stopped.
    pub(super) fn holds(&self, point: &str, wanted: usize) {
        let unsent =
            point.starts_with("after:attempt.started") || point.starts_with("before:exchange");
        assert_eq!(
            self.left,
            self.started - usize::from(unsent),
            "{point}: {self:?}"
        );
        let expected = match self.unknown {
            None => wanted,
            Some(attempts) => {
                assert_eq!(self.receipts, self.left + attempts, "{point}: {self:?}");
                wanted.max(self.left + 1)
            }
        };
        assert_eq!(self.receipts, expected, "{point}: {self:?}");
    }
}

impl Settled {
    /// The same where the process stopped inside of a step: what was started may have
    /// been sent or not.
    pub(super) fn holds_between(&self, point: &str, wanted: usize) {
        let unsent = self.started - self.left;
        assert!(unsent <= 1, "{point}: {self:?}");
        let expected = match self.unknown {
            None => wanted,
            Some(attempts) => self.left + attempts,
        };
        assert_eq!(self.receipts, expected, "{point}: {self:?}");
    }
}

fn must(command: Command) -> Value {
    let mut command = command;
    let ran = Ran::from(command.output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.document()
}

/// Where a call stands whose last event is of this kind, what is next, and what is
/// known of its effect.
fn rung(call: &Logged) -> [&'static str; 3] {
    let mut rungs = call.events.iter().rev().filter_map(|event| {
        Some(match text(event, "kind") {
            "call.requested" => ["requested", "start_call", "none"],
            "call.manifest" => ["manifest_recorded", "start_call", "none"],
            "attempt.started" => ["effect_unknown", "reconcile_effect", "unknown"],
            "attempt.observed" => ["observed", "reinterpret", "observed"],
            "attempt.interpreted" => ["interpreted", "redecide", "observed"],
            "attempt.retry_decided" if event["body"]["executed"] == true => {
                ["retry_decided", "start_next_attempt", "observed"]
            }
            "attempt.retry_decided" => ["decided", "finalize_call", "observed"],
            "call.completed" => ["completed", "none", "observed"],
            "attempt.completed" | "call.status_decided" | "call.resumed" => return None,
            other => panic!("unexpected {other}"),
        })
    });
    let mut rung = rungs.next().unwrap();
    if call.count("call.resumed") == 1 {
        rung[1] = "none";
    }
    rung
}

/// Asserts that every call stands where its events say, and returns the state of the
/// one that has something left to do.
fn open_call(scene: &Scene, calls: &[Logged], point: &str) -> Option<Value> {
    let mut open = Vec::new();
    for call in calls {
        let [stage, next, effect] = rung(call);
        let state = scene.state(&call.id);
        assert_eq!(state["stage"], stage, "{point}: {state}");
        assert_eq!(state["next_operation"], next, "{point}: {state}");
        assert_eq!(state["provider_effect"], effect, "{point}: {state}");
        let risk = stage == "effect_unknown";
        assert_eq!(state["duplicate_effect_risk"], risk, "{point}: {state}");
        open.extend((next != "none").then_some(state));
    }
    assert!(open.len() <= 1, "{point}: {open:?}");
    open.pop()
}

fn is_new_call(scene: &Scene, recovered: &Value, old: &str, basis: &str) {
    assert_eq!(recovered["stage"], "completed", "{recovered}");
    assert_eq!(recovered["status"], "succeeded", "{recovered}");
    assert_eq!(recovered["resumed_from"], old, "{recovered}");
    assert_ne!(recovered["call"], old, "{recovered}");
    let calls = scene.calls();
    let old = calls.iter().find(|call| call.id == old).unwrap();
    let resumed = &old.events.last().unwrap()["body"];
    assert_eq!(resumed["to_call"], recovered["call"], "{resumed}");
    assert_eq!(resumed["basis"], basis, "{resumed}");
}

/// Before the intent is committed there is no call: an artifact at most.
fn nothing_is_recorded(scene: &Scene, point: &str) {
    assert_eq!(scene.receipts(), 0, "{point}");
    assert_eq!(scene.home.event_count(), INIT_EVENTS, "{point}");
    let kept = u64::from(point != "before:request_artifact 1");
    // Inside of the step, the artifact is there or is not.
    let inside = point.starts_with("syscall") && orphans(scene) == orphans_told(0);
    assert!(inside || orphans(scene) == orphans_told(kept), "{point}");
}

/// Returns what `doctor` says of orphans.
pub(super) fn orphans(scene: &Scene) -> [String; 2] {
    let checks = scene.home.must(&["doctor"]).lines();
    let checks = match checks.as_slice() {
        [Value::Array(checks)] => checks.clone(),
        _ => checks,
    };
    let found = checks.iter().find(|check| check["check"] == "orphans");
    let found = found.unwrap_or_else(|| panic!("{checks:?}"));
    ["health", "detail"].map(|name| text(found, name).to_owned())
}

/// What `doctor` is to say of so many orphans.
pub(super) fn orphans_told(count: u64) -> [String; 2] {
    if count == 0 {
        return ["ok", "every artifact is named by an event"].map(str::to_owned);
    }
    let detail = format!(
        "{count} artifacts that no event names: stored outputs, or what a crash left before its \
         event; they do no harm"
    );
    ["note".to_owned(), detail]
}

/// Asserts that the ledger verifies, that every attempt was read and decided once,
/// and that exactly one call came to its end.
fn is_whole(scene: &Scene, point: &str) {
    scene.home.must(&["verify"]);
    let calls = scene.calls();
    assert!(open_call(scene, &calls, point).is_none(), "{point}");
    let mut completed = 0;
    for call in &calls {
        completed += call.count("call.completed");
        assert_eq!(call.count("call.requested"), 1, "{point}");
        assert_eq!(
            call.count("call.status_decided"),
            call.count("call.completed"),
            "{point}"
        );
        let started = call.count("attempt.started");
        // Of an attempt whose effect is unknown nothing follows.
        let mut bodies = call.events.iter().map(|event| &event["body"]);
        let lost = usize::from(bodies.any(|body| body["prior_stage"] == "effect_unknown"));
        for kind in [
            "attempt.observed",
            "attempt.interpreted",
            "attempt.retry_decided",
            "attempt.completed",
        ] {
            assert_eq!(call.count(kind), started - lost, "{point}: {kind}");
            let mut attempts = call.attempts(kind);
            attempts.dedup();
            assert_eq!(attempts.len(), started - lost, "{point}: {kind} repeated");
        }
    }
    assert_eq!(completed, 1, "{point}");
}

impl Logged {
    fn count(&self, kind: &str) -> usize {
        self.attempts(kind).len()
    }

    /// Returns the attempts that have an event of this kind, in order.
    fn attempts(&self, kind: &str) -> Vec<&Value> {
        let of_kind = self.events.iter().filter(|event| event["kind"] == kind);
        of_kind.map(|event| &event["attempt"]).collect()
    }
}
