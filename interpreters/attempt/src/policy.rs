//! `attempt-policy-v1` and `attempt-policy-v2`: what to do about readings.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;

/// A version of the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// No error is success.
    V1,
    /// Output that was cut or filtered is not success.
    V2,
}

/// The part of a reading that a decision rests on, in the names of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts<'a> {
    /// What became of the output.
    pub generation_state: &'a str,
    /// Set when the attempt failed.
    pub error_class: Option<&'a str>,
    /// Whether there is text of at least one byte.
    pub has_output_text: bool,
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
    /// The evidence does not settle it.
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

/// The vocabularies of readings that both versions accept.
pub const VOCABULARIES: [u32; 2] = [1, 2];

/// Bytes of a reason.
const REASON_BYTES_MAX: usize = 256;

impl Policy {
    /// Returns the label.
    pub const fn label(self) -> &'static str {
        match self {
            Self::V1 => "attempt-policy-v1",
            Self::V2 => "attempt-policy-v2",
        }
    }

    /// Returns one sentence for people.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::V1 => {
                "Accepts every attempt without an error, and retries transient failures, empty \
                 output, timeouts and rate limits."
            }
            Self::V2 => {
                "Accepts complete and unknown output with text, retries empty output and \
                 transient failures, and never accepts truncated or filtered output."
            }
        }
    }

    /// Returns the labels that this version supersedes.
    pub const fn supersedes(self) -> &'static [&'static str] {
        match self {
            Self::V1 => &[],
            Self::V2 => &["attempt-policy-v1"],
        }
    }
}

/// Decides about one attempt.
pub fn decide_attempt(policy: Policy, facts: &Facts<'_>) -> AttemptDecision {
    let (disposition, reason) = match policy {
        Policy::V1 => first_version(facts),
        Policy::V2 => second_version(facts),
    };
    AttemptDecision {
        disposition,
        reason: shortened(reason),
    }
}

fn first_version(facts: &Facts<'_>) -> (Disposition, String) {
    match facts.error_class {
        None => (Disposition::Accept, "v1: no error recorded".to_owned()),
        Some(class @ ("transient_failure" | "empty_output" | "timeout" | "rate_limited")) => {
            (Disposition::Retry, format!("v1: error {class}, retried"))
        }
        Some(class) => (Disposition::Terminal, format!("v1: error {class}")),
    }
}

fn second_version(facts: &Facts<'_>) -> (Disposition, String) {
    let state = facts.generation_state;
    match (state, facts.error_class) {
        ("empty", _) => (
            Disposition::Retry,
            "v2: generation empty, retried".to_owned(),
        ),
        (_, Some(class @ ("transient_failure" | "timeout" | "rate_limited"))) => {
            (Disposition::Retry, format!("v2: error {class}, retried"))
        }
        ("complete" | "unknown", None) if facts.has_output_text => {
            (Disposition::Accept, "v2: output accepted".to_owned())
        }
        ("complete" | "unknown", None) => (
            Disposition::Terminal,
            format!("v2: generation {state}, no output text"),
        ),
        ("truncated" | "filtered", _) => (
            Disposition::Terminal,
            format!("v2: {}", not_completed(state)),
        ),
        (_, Some(class)) => (Disposition::Terminal, format!("v2: error {class}")),
        (_, None) => (Disposition::Terminal, format!("v2: generation {state}")),
    }
}

/// Decides about a call from its last attempt. Both versions have this rule.
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
        (Disposition::Terminal, _) => match facts.generation_state {
            state @ ("truncated" | "filtered") => (CallStatus::Unresolved, not_completed(state)),
            _ => (CallStatus::Failed, format!("terminal: {}", decision.reason)),
        },
    };
    CallDecision {
        status,
        reason: shortened(reason),
    }
}

fn not_completed(state: &str) -> String {
    format!("generation {state}, not treated as completed cognition")
}

/// Cuts a reason at its bound, between characters.
fn shortened(mut reason: String) -> String {
    reason.truncate(reason.floor_char_boundary(REASON_BYTES_MAX));
    reason
}
