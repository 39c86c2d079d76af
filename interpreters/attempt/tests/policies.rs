//! The tables of both policies.

use attempt::policy::{
    AttemptDecision, CallStatus, Disposition, Facts, Occasion, Policy, decide_attempt, decide_call,
};

use Disposition::{Accept, Retry, Terminal};

const POLICIES: [Policy; 2] = [Policy::V1, Policy::V2];

const fn facts<'a>(
    generation_state: &'a str,
    error_class: Option<&'a str>,
    has_output_text: bool,
) -> Facts<'a> {
    Facts {
        generation_state,
        error_class,
        has_output_text,
    }
}

fn check(policy: Policy, facts: Facts<'_>, disposition: Disposition, reason: &str) {
    let expected = AttemptDecision {
        disposition,
        reason: reason.to_owned(),
    };
    assert_eq!(decide_attempt(policy, &facts), expected, "{facts:?}");
}

const STATES: [&str; 10] = [
    "complete",
    "tool_call",
    "truncated",
    "refused",
    "filtered",
    "empty",
    "paused",
    "pending",
    "error",
    "unknown",
];

const TERMINAL_CLASSES: [&str; 8] = [
    "authentication_error",
    "edge_rejected",
    "invalid_request",
    "malformed_response",
    "missing_credentials",
    "provider_error",
    "quota",
    "anything_else",
];

#[test]
fn version_1_accepts_whatever_has_no_error() {
    for state in STATES {
        for has_text in [true, false] {
            check(
                Policy::V1,
                facts(state, None, has_text),
                Accept,
                "v1: no error recorded",
            );
        }
    }
}

#[test]
fn version_1_retries_four_classes_and_gives_up_on_the_others() {
    for state in STATES {
        for class in [
            "transient_failure",
            "empty_output",
            "timeout",
            "rate_limited",
        ] {
            let reason = format!("v1: error {class}, retried");
            check(Policy::V1, facts(state, Some(class), true), Retry, &reason);
        }
        for class in TERMINAL_CLASSES {
            let reason = format!("v1: error {class}");
            check(
                Policy::V1,
                facts(state, Some(class), true),
                Terminal,
                &reason,
            );
        }
    }
}

#[test]
fn version_2_retries_empty_output_before_it_looks_at_the_error() {
    for class in [
        None,
        Some("empty_output"),
        Some("provider_error"),
        Some("timeout"),
    ] {
        for has_text in [true, false] {
            check(
                Policy::V2,
                facts("empty", class, has_text),
                Retry,
                "v2: generation empty, retried",
            );
        }
    }
}

#[test]
fn version_2_retries_three_classes_in_every_other_state() {
    for state in STATES.into_iter().filter(|state| *state != "empty") {
        for class in ["transient_failure", "timeout", "rate_limited"] {
            let reason = format!("v2: error {class}, retried");
            check(Policy::V2, facts(state, Some(class), true), Retry, &reason);
        }
    }
}

#[test]
fn version_2_accepts_complete_and_unknown_output_with_text_only() {
    for state in ["complete", "unknown"] {
        check(
            Policy::V2,
            facts(state, None, true),
            Accept,
            "v2: output accepted",
        );
        let reason = format!("v2: generation {state}, no output text");
        check(Policy::V2, facts(state, None, false), Terminal, &reason);
    }
}

#[test]
fn version_2_never_takes_cut_or_filtered_output_for_completed() {
    for state in ["truncated", "filtered"] {
        let reason = format!("v2: generation {state}, not treated as completed cognition");
        for class in [None, Some("provider_error"), Some("empty_output")] {
            for has_text in [true, false] {
                check(Policy::V2, facts(state, class, has_text), Terminal, &reason);
            }
        }
    }
}

#[test]
fn version_2_gives_up_on_every_other_error() {
    for class in TERMINAL_CLASSES.into_iter().chain(["empty_output"]) {
        for state in ["complete", "unknown", "tool_call", "error"] {
            let reason = format!("v2: error {class}");
            check(
                Policy::V2,
                facts(state, Some(class), true),
                Terminal,
                &reason,
            );
        }
    }
}

#[test]
fn version_2_gives_up_on_states_of_later_vocabularies() {
    for state in [
        "tool_call",
        "refused",
        "paused",
        "pending",
        "error",
        "no_such_state",
    ] {
        for has_text in [true, false] {
            let reason = format!("v2: generation {state}");
            check(Policy::V2, facts(state, None, has_text), Terminal, &reason);
        }
    }
}

fn decided(state: &str, disposition: Disposition, occasion: Occasion) -> (CallStatus, String) {
    let decision = AttemptDecision {
        disposition,
        reason: "v2: error provider_error".to_owned(),
    };
    let call = decide_call(Some((&facts(state, None, true), &decision)), occasion);
    (call.status, call.reason)
}

#[test]
fn an_accepted_last_attempt_makes_the_call_succeed() {
    for state in STATES {
        for occasion in [Occasion::Execution, Occasion::Reinterpretation] {
            let expected = (CallStatus::Succeeded, "final attempt accepted".to_owned());
            assert_eq!(decided(state, Accept, occasion), expected);
        }
    }
}

#[test]
fn a_last_retry_fails_the_call_for_the_reason_of_its_occasion() {
    for (occasion, reason) in [
        (
            Occasion::Execution,
            "retry decided but attempt budget exhausted",
        ),
        (
            Occasion::Reinterpretation,
            "reinterpretation decides retry; reinterpretation never starts an attempt",
        ),
    ] {
        for state in STATES {
            let expected = (CallStatus::Failed, reason.to_owned());
            assert_eq!(decided(state, Retry, occasion), expected);
        }
    }
}

#[test]
fn a_terminal_attempt_fails_the_call_unless_its_output_was_cut_or_filtered() {
    for occasion in [Occasion::Execution, Occasion::Reinterpretation] {
        for state in STATES {
            let expected = match state {
                "truncated" | "filtered" => (
                    CallStatus::Unresolved,
                    format!("generation {state}, not treated as completed cognition"),
                ),
                _ => (
                    CallStatus::Failed,
                    "terminal: v2: error provider_error".to_owned(),
                ),
            };
            assert_eq!(decided(state, Terminal, occasion), expected, "{state}");
        }
    }
}

#[test]
fn a_call_without_attempts_is_unresolved() {
    for occasion in [Occasion::Execution, Occasion::Reinterpretation] {
        let call = decide_call(None, occasion);
        assert_eq!(
            (call.status, call.reason.as_str()),
            (CallStatus::Unresolved, "no attempts")
        );
    }
}

#[test]
fn no_reason_passes_256_bytes() {
    let long = "é".repeat(400);
    for policy in POLICIES {
        let decision = decide_attempt(policy, &facts("unknown", Some(&long), true));
        assert_eq!(decision.reason.len(), 256);
        let facts = facts("unknown", None, true);
        let call = decide_call(Some((&facts, &decision)), Occasion::Execution);
        assert_eq!(call.reason.len(), 256);
    }
}

#[test]
fn the_second_versions_supersede_the_first() {
    assert_eq!(Policy::V1.supersedes().len(), 0);
    assert_eq!(Policy::V2.supersedes(), &["attempt-policy-v1"]);
    assert_eq!(attempt::policy::VOCABULARIES, [1, 2]);
    let interpreters = [attempt::Interpreter::V1, attempt::Interpreter::V2];
    assert_eq!(interpreters.map(attempt::Interpreter::vocabulary), [1, 2]);
    assert_eq!(interpreters[0].supersedes().len(), 0);
    assert_eq!(interpreters[1].supersedes(), &["attempt-interpretation-v1"]);
}

#[test]
fn summaries_are_within_512_bytes() {
    for policy in POLICIES {
        assert!(policy.summary().len() <= 512);
    }
    for interpreter in [attempt::Interpreter::V1, attempt::Interpreter::V2] {
        assert!(interpreter.summary().len() <= 512);
    }
}
