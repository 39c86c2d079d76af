//! What the story is expected to come to, written down and fixed by its hash before
//! anything of it runs.

use model::Digest;
use serde_json::{Value, json};

use super::provider;

/// The events of one recorded call of one task, in order.
pub(super) const TEN: [&str; 10] = [
    "task.created",
    "call.requested",
    "call.manifest",
    "attempt.started",
    "attempt.observed",
    "attempt.interpreted",
    "attempt.retry_decided",
    "attempt.completed",
    "call.status_decided",
    "call.completed",
];

/// Returns the expected results. Texts are those of the rules that the story names.
pub(super) fn results() -> Value {
    let response = Digest::of(provider::BODY.as_bytes()).to_string();
    let refused = |sentence: &str| {
        json!({
            "exit_code": 4, "sentence": sentence, "events": 10, "receipts": 1,
        })
    };
    json!({
        "program": crate::commands::program(),
        "day_one": {
            "kinds": TEN,
            "response_sha256": response,
            "status": "succeeded",
            "reason": "final attempt accepted",
            "status_basis": "execution:attempt-policy-v1",
            "task_next_operation": "check_and_accept",
            "receipts": 1,
        },
        "day_two": {
            "appended": 2,
            "events": 12,
            "status": "unresolved",
            "reason": "generation truncated, not treated as completed cognition",
            "status_basis": "reinterpretation:attempt-interpretation-v2/attempt-policy-v2",
            "task_next_operation": "start_call",
            "receipts": 1,
        },
        "repeat": {"appended": 0, "events": 12, "same_record": true},
        "day_three": {
            "task_next_operation": "start_call",
            "check": "PASS",
            "exit_code": 5,
            "reasons": ["source_call_not_succeeded", "interpretation_not_decision_basis"],
            "appended": ["check.requested", "check.completed", "task.acceptance_rejected"],
            "events": 15,
            "repeat": {"appended": 0, "events": 15},
            "task_status": "incomplete",
            "receipts": 1,
        },
        "killed": {
            "signal": 9,
            "before": {"events": 5, "stage": "observed", "next_operation": "reinterpret"},
            "after": {"events": 6, "stage": "interpreted", "next_operation": "redecide"},
            "receipts": 1,
        },
        "missing": refused("response body bytes are missing"),
        "corrupt": refused("response body bytes do not match their recorded sha256"),
    })
}
