//! `attempt-policy-v3`: what to do about readings of vocabulary 3.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;

/// The label of the policy.
pub const LABEL: &str = "attempt-policy-v3";

/// One sentence for people.
pub const SUMMARY: &str = "Accepts complete (unless its structure is invalid) and tool_call (run \
the tools); retries empty, invalid structure, rate_limit, overloaded, server_error, timeout, \
transport_cut, malformed_output; all else is terminal, and truncated, refused, filtered, paused \
(continue it), pending (ask again), unknown leave the call unresolved.";

/// The vocabularies of readings that it accepts: the words of others mean
/// something else.
pub const VOCABULARIES: [u32; 1] = [3];

/// Bytes of a reason.
const REASON_BYTES_MAX: usize = 256;

/// Bytes of a `retry-after` header that a reason quotes.
const RETRY_AFTER_BYTES_MAX: usize = 64;

/// The part of a reading that a decision rests on, in the names of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts<'a> {
    /// What became of the output.
    pub generation_state: &'a str,
    /// Set when the attempt failed.
    pub error_class: Option<&'a str>,
    /// `not_requested`, `valid` or `invalid`.
    pub structured_output: &'a str,
    /// The response's header, verbatim.
    pub retry_after: Option<&'a str>,
}

/// What to do about one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// Take it.
    Accept,
    /// Try again.
    Retry,
    /// Give up.
    Terminal,
}

/// The decision about one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptDecision {
    /// What to do.
    pub disposition: Disposition,
    /// Why; at most 256 bytes.
    pub reason: String,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallStatus {
    /// Its last attempt was accepted.
    Succeeded,
    /// It failed.
    Failed,
    /// The evidence does not settle it, or it is not over.
    Unresolved,
}

/// The decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallDecision {
    /// What became of it.
    pub status: CallStatus,
    /// Why; at most 256 bytes.
    pub reason: String,
}

/// Why a decision is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// The call is running.
    Execution,
    /// Old evidence is read again; no attempt is ever started.
    Reinterpretation,
}

/// Decides about one attempt.
pub fn decide_attempt(facts: &Facts<'_>) -> AttemptDecision {
    let (disposition, reason) = match (facts.generation_state, facts.error_class) {
        ("error", Some(class)) => of_error(class, facts.retry_after),
        ("complete", _) if facts.structured_output == "invalid" => (
            Disposition::Retry,
            "v3: complete, but not the structure that was asked for, retried".to_owned(),
        ),
        ("complete", _) => (Disposition::Accept, "v3: output accepted".to_owned()),
        ("tool_call", _) => (
            Disposition::Accept,
            "v3: tool_call accepted: run the tools and go on".to_owned(),
        ),
        ("empty", _) => (
            Disposition::Retry,
            "v3: generation empty, retried".to_owned(),
        ),
        (state, _) => (Disposition::Terminal, format!("v3: {}", unsettled(state))),
    };
    AttemptDecision {
        disposition,
        reason: shortened(reason),
    }
}

fn of_error(class: &str, retry_after: Option<&str>) -> (Disposition, String) {
    match class {
        "rate_limit" | "overloaded" | "server_error" | "timeout" | "transport_cut"
        | "malformed_output" => {
            let wait = retry_after
                .filter(|after| after.len() <= RETRY_AFTER_BYTES_MAX)
                .map_or_else(String::new, |after| format!(" after {after}"));
            let reason = format!("v3: error {class}, retried{wait}");
            (Disposition::Retry, reason)
        }
        class => (Disposition::Terminal, format!("v3: error {class}")),
    }
}

/// What a state says that is neither success nor failure, and what is to be done.
fn unsettled(state: &str) -> String {
    let advice = match state {
        "truncated" => "not treated as finished: ask for more, or with a higher limit",
        "refused" => "the model declined: another request is needed",
        "filtered" => "a policy stopped it: another request is needed",
        "paused" => "continue the same turn",
        "pending" => "not final yet: ask for the same response again",
        "unknown" => "the evidence does not say how it ended",
        _ => "not a state of vocabulary 3",
    };
    format!("generation {state}, {advice}")
}

/// Returns whether a state leaves a call open: nothing failed, and nothing is done.
fn is_unsettled(state: &str) -> bool {
    matches!(
        state,
        "truncated" | "refused" | "filtered" | "paused" | "pending" | "unknown"
    )
}

/// Decides about a call from its last attempt.
pub fn decide_call(
    last: Option<(&Facts<'_>, &AttemptDecision)>,
    occasion: Occasion,
) -> CallDecision {
    let Some((facts, decision)) = last else {
        return CallDecision {
            status: CallStatus::Unresolved,
            reason: "no attempts".to_owned(),
        };
    };
    let state = facts.generation_state;
    let (status, reason) = match (decision.disposition, occasion) {
        (Disposition::Accept, _) => (CallStatus::Succeeded, "final attempt accepted".to_owned()),
        (Disposition::Retry, Occasion::Execution) => (
            CallStatus::Failed,
            "retry decided but attempt budget exhausted".to_owned(),
        ),
        (Disposition::Retry, Occasion::Reinterpretation) => (
            CallStatus::Failed,
            "reinterpretation decides retry; reinterpretation never starts an attempt".to_owned(),
        ),
        (Disposition::Terminal, _) if is_unsettled(state) => {
            (CallStatus::Unresolved, unsettled(state))
        }
        (Disposition::Terminal, _) => {
            (CallStatus::Failed, format!("terminal: {}", decision.reason))
        }
    };
    CallDecision {
        status,
        reason: shortened(reason),
    }
}

/// Cuts a reason at its bound, between characters.
fn shortened(mut reason: String) -> String {
    reason.truncate(reason.floor_char_boundary(REASON_BYTES_MAX));
    reason
}
