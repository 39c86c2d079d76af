//! What the story of the paragraph is expected to come to, written down and fixed by its
//! hash before anything of it runs. `CHECK` stands for the id of the cited check.

use serde_json::{Value, json};

/// Each case in which work is not finished: its name, the events of the task, the
/// exit code of the acceptance and its reasons. No acceptance is asked for where there
/// is no exit code.
pub(super) const REFUSED: [(&str, usize, Option<i32>, &[&str]); 10] = [
    ("no-acceptance", 12, None, &[]),
    ("missing-check", 11, Some(5), &["missing_check"]),
    (
        "failed-check",
        13,
        Some(5),
        &["check_not_passed:CHECK:FAIL"],
    ),
    (
        "error-check",
        13,
        Some(5),
        &["check_not_passed:CHECK:ERROR"],
    ),
    (
        "check-for-other-task",
        11,
        Some(5),
        &["check_wrong_task:CHECK"],
    ),
    (
        "call-from-other-task",
        4,
        Some(5),
        &["source_call_wrong_task"],
    ),
    (
        "changed-artifact",
        13,
        Some(5),
        &["artifact_not_source_output"],
    ),
    ("unauthorized", 13, Some(5), &["unauthorized"]),
    ("self-acceptance", 13, Some(5), &["self_acceptance"]),
    (
        "truncated-generation",
        13,
        Some(5),
        &["source_call_not_succeeded", "generation_not_complete"],
    ),
];

/// Returns the expected results.
pub(super) fn results() -> Value {
    let refused: serde_json::Map<_, _> = REFUSED
        .iter()
        .map(|(name, events, exit_code, reasons)| {
            let found = json!({
                "events": events,
                "exit_code": exit_code,
                "reasons": reasons,
                "rejections": usize::from(exit_code.is_some()),
                "task_status": "incomplete",
            });
            ((*name).to_owned(), found)
        })
        .collect();
    json!({
        "program": crate::commands::program(),
        "produced": {
            "signal": 9, "events": 10, "task_status": "incomplete", "next": "check_and_accept",
        },
        "checked": {"verdict": "PASS", "events": 12, "task_status": "incomplete"},
        "accepted": {
            "exit_code": 0, "appended": ["task.accepted", "task.completed"], "events": 14,
            "task_status": "completed",
        },
        "repeated": {"exit_code": 0, "appended": 0, "events": 14},
        "conflict": {
            "events_before": 16, "exit_code": 5, "reasons": ["conflicting_acceptance"],
            "events": 17,
        },
        "reopened": {
            "task_status": "completed", "accepted": 1, "completed": 1, "receipts": 1,
        },
        "refused": refused,
        "completion-without-acceptance": {
            "events": 13, "task_status": "incomplete",
            "basis": "task.completed present without a causing task.accepted",
            "verify": 3,
        },
        "interrupted-between-appends": {
            "signal": 9, "pending": true, "next": "repeat_acceptance", "events": 13,
            "repaired": {"appended": 1, "events": 14, "task_status": "completed"},
            "accepted": 1, "completed": 1,
        },
    })
}
