//! What is decided about every state and every class.

use attempt_v3::policy::{CallStatus, Disposition, Facts, Occasion, decide_attempt, decide_call};

const fn facts<'a>(state: &'a str, class: Option<&'a str>) -> Facts<'a> {
    Facts {
        generation_state: state,
        error_class: class,
        structured_output: "not_requested",
        retry_after: None,
    }
}

fn decided(facts: &Facts<'_>) -> (Disposition, String, CallStatus) {
    let attempt = decide_attempt(facts);
    let call = decide_call(Some((facts, &attempt)), Occasion::Execution);
    (attempt.disposition, attempt.reason, call.status)
}

/// States that are neither success nor failure, and what is to be done.
const UNSETTLED: [(&str, &str); 6] = [
    (
        "truncated",
        "not treated as finished: ask for more, or with a higher limit",
    ),
    ("refused", "the model declined: another request is needed"),
    ("filtered", "a policy stopped it: another request is needed"),
    ("paused", "continue the same turn"),
    ("pending", "not final yet: ask for the same response again"),
    ("unknown", "the evidence does not say how it ended"),
];

#[test]
fn every_state_has_its_decision() {
    use CallStatus::{Failed, Succeeded, Unresolved};
    use Disposition::{Accept, Retry, Terminal};
    let run = "v3: tool_call accepted: run the tools and go on";
    for (state, disposition, reason, status) in [
        ("complete", Accept, "v3: output accepted", Succeeded),
        ("tool_call", Accept, run, Succeeded),
        ("empty", Retry, "v3: generation empty, retried", Failed),
        (
            "zzz",
            Terminal,
            "v3: generation zzz, not a state of vocabulary 3",
            Failed,
        ),
    ] {
        let wanted = (disposition, reason.to_owned(), status);
        assert_eq!(decided(&facts(state, None)), wanted, "{state}");
    }
    for (state, advice) in UNSETTLED {
        let reason = format!("v3: generation {state}, {advice}");
        let wanted = (Terminal, reason, Unresolved);
        assert_eq!(decided(&facts(state, None)), wanted, "{state}");
        // A filter may answer with an error, which changes nothing.
        let failed = facts(state, Some("content_filter"));
        assert_eq!(decided(&failed), wanted, "{state}");
    }
}

#[test]
fn every_class_has_its_decision() {
    for class in [
        "rate_limit",
        "overloaded",
        "server_error",
        "timeout",
        "transport_cut",
        "malformed_output",
    ] {
        let wanted = (
            Disposition::Retry,
            format!("v3: error {class}, retried"),
            CallStatus::Failed,
        );
        assert_eq!(decided(&facts("error", Some(class))), wanted);
    }
    for class in [
        "quota",
        "auth",
        "permission",
        "not_found",
        "invalid_request",
        "request_too_large",
        "context_length",
        "malformed_body",
        "cancelled",
        "unknown",
    ] {
        let wanted = (
            Disposition::Terminal,
            format!("v3: error {class}"),
            CallStatus::Failed,
        );
        assert_eq!(decided(&facts("error", Some(class))), wanted);
    }
}

#[test]
fn a_header_says_when_to_try_again_and_a_long_one_is_left_out() {
    let mut limited = facts("error", Some("rate_limit"));
    limited.retry_after = Some("20");
    let attempt = decide_attempt(&limited);
    assert_eq!(attempt.reason, "v3: error rate_limit, retried after 20");
    let long = "9".repeat(65);
    limited.retry_after = Some(&long);
    let attempt = decide_attempt(&limited);
    assert_eq!(attempt.reason, "v3: error rate_limit, retried");
}

#[test]
fn a_structure_that_was_not_kept_is_asked_for_again() {
    let mut wrong = facts("complete", None);
    wrong.structured_output = "invalid";
    let attempt = decide_attempt(&wrong);
    assert_eq!(attempt.disposition, Disposition::Retry);
    assert_eq!(
        attempt.reason,
        "v3: complete, but not the structure that was asked for, retried"
    );
    wrong.structured_output = "valid";
    assert_eq!(decide_attempt(&wrong).disposition, Disposition::Accept);
}

#[test]
fn a_call_without_attempts_is_open_and_reinterpretation_starts_none() {
    let none = decide_call(None, Occasion::Execution);
    assert_eq!(
        (none.status, none.reason.as_str()),
        (CallStatus::Unresolved, "no attempts")
    );
    let limited = facts("error", Some("rate_limit"));
    let attempt = decide_attempt(&limited);
    let call = decide_call(Some((&limited, &attempt)), Occasion::Reinterpretation);
    assert_eq!(
        call.reason,
        "reinterpretation decides retry; reinterpretation never starts an attempt"
    );
}
