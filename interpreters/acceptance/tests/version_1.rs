//! What both versions say, each reason alone and where it silences others.

use acceptance::facts::{Artifact, Output, Prior};
use acceptance::{Acceptance, decide};

use crate::common::{ARTIFACT, BOTH, OTHER, PRODUCER, REVIEWER, both_say, good, passed, says};

use Acceptance::V1;

#[test]
fn nothing_is_against_a_good_case() {
    both_say(|_| {}, &[]);
}

#[test]
fn the_versions_name_themselves() {
    assert_eq!(V1.label(), "task-acceptance-v1");
    assert!(V1.supersedes().is_empty());
    assert_eq!(Acceptance::V2.supersedes(), ["task-acceptance-v1"]);
    for version in BOTH {
        assert!(version.summary().len() <= 512);
    }
}

#[test]
fn without_the_capability_nothing_else_is_said() {
    both_say(
        |case| {
            case.facts.task.capabilities = vec!["read", "write", "execute", "accept_all"];
            case.facts.task.definitions = 2;
            case.facts.prior = Prior::Different;
            case.facts.source.call = None;
        },
        &["unauthorized"],
    );
}

#[test]
fn nobody_is_missing_and_has_no_capability_whatever_is_granted() {
    both_say(
        |case| case.request.actor = "",
        &["missing_actor", "unauthorized"],
    );
    both_say(
        |case| {
            case.request.actor = "";
            case.facts.task.capabilities.clear();
        },
        &["missing_actor", "unauthorized"],
    );
}

#[test]
fn an_acceptance_that_stands_is_repeated_or_in_conflict_whatever_else_holds() {
    let spoilt = |prior| {
        move |case: &mut crate::common::Case| {
            case.facts.prior = prior;
            case.facts.source.call = None;
            case.facts.source.artifact = Artifact::Gone;
        }
    };
    both_say(spoilt(Prior::Identical), &[]);
    both_say(spoilt(Prior::Different), &["conflicting_acceptance"]);
}

#[test]
fn the_task_is_declared_once_with_the_criteria_that_are_meant() {
    both_say(
        |case| case.facts.task.definitions = 2,
        &["ambiguous_task_definition"],
    );
    for declared in [None, Some(OTHER)] {
        both_say(
            |case| case.facts.task.criteria_sha256 = declared,
            &["criteria_mismatch"],
        );
    }
}

#[test]
fn without_a_call_nothing_else_is_said_of_the_source() {
    both_say(
        |case| {
            let source = &mut case.facts.source;
            source.call = None;
            source.attempt_of_call = false;
            source.interpretation = None;
            source.producer = REVIEWER;
            source.output = Output::NoText;
            source.artifact = Artifact::Gone;
        },
        &["source_call_not_found", "artifact_not_preserved"],
    );
}

#[test]
fn the_call_is_of_the_task_and_succeeded() {
    both_say(
        |case| case.call().of_task = false,
        &["source_call_wrong_task"],
    );
    for status in [None, Some("failed"), Some("unresolved")] {
        both_say(
            |case| case.call().status = status,
            &["source_call_not_succeeded"],
        );
    }
}

#[test]
fn the_attempt_is_the_last_one_of_the_call() {
    both_say(
        |case| case.facts.source.attempt_is_final = false,
        &["source_attempt_not_final"],
    );
    for is_final in [true, false] {
        both_say(
            |case| {
                case.facts.source.attempt_of_call = false;
                case.facts.source.attempt_is_final = is_final;
            },
            &["source_attempt_not_in_call"],
        );
    }
}

#[test]
fn the_reading_is_recorded_of_the_call_and_complete_and_the_status_rests_on_it() {
    let basis = "interpretation_not_decision_basis";
    both_say(|case| case.reading().is_decision_basis = false, &[basis]);
    both_say(
        |case| case.facts.source.interpretation = None,
        &[basis, "interpretation_not_found"],
    );
    both_say(
        |case| case.reading().of_call = false,
        &["interpretation_wrong_call"],
    );
    for state in ["truncated", "tool_call", "unknown", ""] {
        both_say(
            |case| case.reading().generation_state = state,
            &["generation_not_complete"],
        );
    }
}

#[test]
fn a_reading_of_an_earlier_attempt_is_not_the_basis_of_the_last() {
    both_say(
        |case| case.reading().of_attempt = false,
        &["interpretation_not_decision_basis"],
    );
    // Where the attempt itself is the wrong one, that alone is the reason.
    both_say(
        |case| {
            case.reading().of_attempt = false;
            case.facts.source.attempt_is_final = false;
        },
        &["source_attempt_not_final"],
    );
    both_say(
        |case| {
            case.reading().of_attempt = false;
            case.facts.source.attempt_of_call = false;
        },
        &["source_attempt_not_in_call"],
    );
    both_say(
        |case| {
            case.reading().of_attempt = false;
            case.reading().of_call = false;
        },
        &["interpretation_wrong_call"],
    );
}

#[test]
fn a_reading_that_was_made_better_since_is_no_basis() {
    // Day one's reading says complete; the adopted status says unresolved since.
    both_say(
        |case| {
            case.call().status = Some("unresolved");
            case.reading().is_decision_basis = false;
        },
        &[
            "source_call_not_succeeded",
            "interpretation_not_decision_basis",
        ],
    );
}

#[test]
fn who_made_it_does_not_accept_it() {
    both_say(
        |case| case.facts.source.producer = REVIEWER,
        &["self_acceptance"],
    );
    both_say(|case| case.facts.source.producer = "", &[]);
    both_say(|case| case.request.actor = PRODUCER, &["self_acceptance"]);
}

#[test]
fn the_artifact_is_the_text_of_the_source_and_is_kept() {
    for output in [Output::NoText, Output::Unavailable] {
        both_say(
            |case| case.facts.source.output = output,
            &["source_output_not_preserved"],
        );
    }
    says(
        V1,
        |case| case.facts.source.output = Output::Text(OTHER),
        &["artifact_not_source_output"],
    );
    both_say(
        |case| case.facts.source.artifact = Artifact::Gone,
        &["artifact_not_preserved"],
    );
    both_say(
        |case| case.facts.source.artifact = Artifact::Corrupt,
        &["artifact_corrupted"],
    );
}

#[test]
fn a_check_is_cited() {
    let none = |case: &mut crate::common::Case| {
        case.facts.checks.clear();
        case.request.check_count = 0;
    };
    says(V1, none, &["missing_check"]);
    let uncovered = [
        "missing_check",
        "criterion_not_covered:0",
        "criterion_not_covered:1",
    ];
    says(Acceptance::V2, none, &uncovered);
}

#[test]
fn every_check_is_recorded_once_linked_of_the_task_of_the_bytes_and_passed() {
    says(
        V1,
        |case| case.facts.checks[0].found = None,
        &["check_not_found:one"],
    );
    let says = |spoil: fn(&mut crate::common::Case), reason: &str| says(V1, spoil, &[reason]);
    says(|case| case.check(1).completions = 2, "check_ambiguous:two");
    says(|case| case.check(0).linked = false, "check_unlinked:one");
    says(|case| case.check(1).of_task = false, "check_wrong_task:two");
    says(
        |case| case.check(0).artifact_sha256 = None,
        "check_wrong_artifact:one",
    );
    says(
        |case| case.check(0).artifact_sha256 = Some(OTHER),
        "check_wrong_artifact:one",
    );
    says(
        |case| case.check(0).verdict = "FAIL",
        "check_not_passed:one:FAIL",
    );
    says(
        |case| case.check(1).verdict = "INCONCLUSIVE",
        "check_not_passed:two:INCONCLUSIVE",
    );
    says(
        |case| case.check(1).verdict = "ERROR",
        "check_not_passed:two:ERROR",
    );
}

#[test]
fn the_reasons_of_a_check_stay_together_in_the_order_of_the_citation() {
    says(
        V1,
        |case| {
            case.facts.checks.swap(0, 1);
            case.check(0).linked = false;
            case.check(0).completions = 3;
            case.check(0).verdict = "ERROR";
            case.check(1).of_task = false;
            // Version 1 asks neither for the output nor for the criteria of a check.
            case.check(1).of_output = false;
            case.check(1).criteria_sha256 = None;
        },
        &[
            "check_ambiguous:two",
            "check_unlinked:two",
            "check_not_passed:two:ERROR",
            "check_wrong_task:one",
        ],
    );
}

#[test]
fn a_check_that_is_cited_twice_gives_its_reasons_once() {
    says(
        V1,
        |case| {
            let mut failed = passed("one", &[0]);
            failed.found.as_mut().unwrap().verdict = "FAIL";
            case.facts.checks = vec![failed.clone(), failed];
        },
        &["check_not_passed:one:FAIL"],
    );
}

#[test]
fn facts_that_the_contract_does_not_allow_are_refused() {
    let refused = |spoil: fn(&mut crate::common::Case), detail: &str| {
        for version in BOTH {
            let case = good().with(spoil);
            let refusal = decide(version, &case.request, &case.facts).unwrap_err();
            assert_eq!(refusal.code, "malformed_facts");
            assert_eq!(refusal.detail, detail);
        }
    };
    refused(
        |case| case.request.check_count = 3,
        "expected an entry for each of 3 checks, found 2",
    );
    let id = "expected the id of check 1 to be 1 to 64 bytes of visible ASCII";
    refused(|case| case.facts.checks[1].id = "", id);
    refused(|case| case.facts.checks[1].id = "é", id);
    refused(|case| case.facts.checks[1].id = "a\nb", id);
    refused(
        |case| case.check(0).verdict = "pass",
        "expected the verdict of check 0 to be PASS, FAIL, INCONCLUSIVE or ERROR",
    );
}

#[test]
fn more_reasons_than_the_contract_has_room_for_are_refused() {
    let case = good().with(|case| {
        case.facts.task.criteria_count = u32::MAX;
        case.facts.source.output = Output::Text(ARTIFACT);
    });
    assert_eq!(case.reasons(V1), [""; 0]);
    let refusal = decide(Acceptance::V2, &case.request, &case.facts).unwrap_err();
    assert_eq!(refusal.code, "too_many_reasons");
    let full = good().with(|case| case.facts.task.criteria_count = 258);
    assert_eq!(full.reasons(Acceptance::V2).len(), 256);
    let over = good().with(|case| case.facts.task.criteria_count = 259);
    assert!(decide(Acceptance::V2, &over.request, &over.facts).is_err());
}
