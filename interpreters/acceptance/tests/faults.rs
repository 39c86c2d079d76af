//! Any faults together give the reasons of each, in one order.
//!
//! A slot is a fact with the ways in which it can be wrong. The slots stand in the
//! order of their reasons and none silences another; what silences others is in
//! the tests of the versions.

use acceptance::Acceptance;
use acceptance::facts::{Artifact, Output};
use proptest::prelude::*;

use crate::common::{BOTH, Case, OTHER, REVIEWER, good};

use Acceptance::{V1, V2};

/// One way to be wrong, and what each version says of it.
struct Fault {
    spoil: fn(&mut Case),
    first: &'static [&'static str],
    second: &'static [&'static str],
}

const fn fault(spoil: fn(&mut Case), reasons: &'static [&'static str]) -> Fault {
    Fault {
        spoil,
        first: reasons,
        second: reasons,
    }
}

const fn second_only(spoil: fn(&mut Case), reasons: &'static [&'static str]) -> Fault {
    Fault {
        spoil,
        first: &[],
        second: reasons,
    }
}

fn source() -> Vec<Vec<Fault>> {
    let mismatch = &["criteria_mismatch"];
    let status = &["source_call_not_succeeded"];
    let gone = &["source_output_not_preserved"];
    vec![
        vec![fault(
            |case| case.facts.task.definitions = 2,
            &["ambiguous_task_definition"],
        )],
        vec![
            fault(|case| case.facts.task.criteria_sha256 = None, mismatch),
            fault(
                |case| case.facts.task.criteria_sha256 = Some(OTHER),
                mismatch,
            ),
        ],
        vec![fault(
            |case| case.call().of_task = false,
            &["source_call_wrong_task"],
        )],
        vec![
            fault(|case| case.call().status = None, status),
            fault(|case| case.call().status = Some("failed"), status),
        ],
        vec![
            fault(
                |case| case.facts.source.attempt_of_call = false,
                &["source_attempt_not_in_call"],
            ),
            fault(
                |case| case.facts.source.attempt_is_final = false,
                &["source_attempt_not_final"],
            ),
        ],
        vec![fault(
            |case| case.reading().is_decision_basis = false,
            &["interpretation_not_decision_basis"],
        )],
        vec![fault(
            |case| case.reading().of_call = false,
            &["interpretation_wrong_call"],
        )],
        vec![fault(
            |case| case.reading().generation_state = "truncated",
            &["generation_not_complete"],
        )],
        vec![fault(
            |case| case.facts.source.producer = REVIEWER,
            &["self_acceptance"],
        )],
        vec![
            fault(|case| case.facts.source.output = Output::NoText, gone),
            fault(|case| case.facts.source.output = Output::Unavailable, gone),
            Fault {
                spoil: |case| case.facts.source.output = Output::Text(OTHER),
                first: &["artifact_not_source_output"],
                second: &["derivation_not_recorded"],
            },
        ],
        vec![
            fault(
                |case| case.facts.source.artifact = Artifact::Gone,
                &["artifact_not_preserved"],
            ),
            fault(
                |case| case.facts.source.artifact = Artifact::Corrupt,
                &["artifact_corrupted"],
            ),
        ],
    ]
}

fn checks() -> Vec<Vec<Fault>> {
    vec![
        vec![fault(
            |case| case.check(0).completions = 2,
            &["check_ambiguous:one"],
        )],
        vec![fault(
            |case| case.check(0).linked = false,
            &["check_unlinked:one"],
        )],
        vec![fault(
            |case| case.check(0).of_task = false,
            &["check_wrong_task:one"],
        )],
        vec![second_only(
            |case| case.check(0).of_output = false,
            &["check_wrong_output:one"],
        )],
        vec![second_only(
            |case| case.check(0).criteria_sha256 = Some(OTHER),
            &["check_wrong_criteria:one"],
        )],
        vec![
            fault(
                |case| case.check(1).of_task = false,
                &["check_wrong_task:two"],
            ),
            fault(
                |case| case.check(1).completions = 2,
                &["check_ambiguous:two"],
            ),
        ],
        vec![fault(
            |case| case.check(1).artifact_sha256 = Some(OTHER),
            &["check_wrong_artifact:two"],
        )],
        vec![
            fault(
                |case| case.check(1).verdict = "FAIL",
                &["check_not_passed:two:FAIL"],
            ),
            fault(
                |case| case.check(1).verdict = "ERROR",
                &["check_not_passed:two:ERROR"],
            ),
        ],
        // The first check covers both, so that the second alone does not matter.
        vec![second_only(
            |case| case.check(0).covers = &[1],
            &["criterion_not_covered:0"],
        )],
    ]
}

fn slots() -> Vec<Vec<Fault>> {
    source().into_iter().chain(checks()).collect()
}

/// The faults that are chosen, by slot: 0 is none.
fn chosen<'a>(slots: &'a [Vec<Fault>], choice: &[usize]) -> Vec<&'a Fault> {
    let chosen = slots.iter().zip(choice);
    chosen
        .filter_map(|(slot, choice)| slot.get(choice.checked_sub(1)?))
        .collect()
}

fn spoilt(faults: &[&Fault]) -> Case {
    let mut case = good();
    case.check(0).covers = &[0, 1];
    for fault in faults {
        (fault.spoil)(&mut case);
    }
    case
}

fn expected(version: Acceptance, faults: &[&Fault]) -> Vec<&'static str> {
    let said = |fault: &&Fault| match version {
        V1 => fault.first,
        V2 => fault.second,
    };
    faults.iter().flat_map(said).copied().collect()
}

fn choices() -> impl Strategy<Value = Vec<usize>> {
    let choices: Vec<_> = slots()
        .iter()
        .map(|slot| prop_oneof![2 => Just(0), 1 => 1..=slot.len()])
        .collect();
    choices
}

proptest! {
    #[test]
    fn faults_give_their_reasons_in_the_order_of_the_rules(choice in choices()) {
        let slots = slots();
        let faults = chosen(&slots, &choice);
        for version in BOTH {
            let reasons = spoilt(&faults).reasons(version);
            prop_assert_eq!(&reasons, &expected(version, &faults));
        }
    }

    #[test]
    fn to_mend_one_fault_takes_exactly_its_reasons(choice in choices(), which: prop::sample::Index) {
        let slots = slots();
        let mut faults = chosen(&slots, &choice);
        prop_assume!(!faults.is_empty());
        let before = spoilt(&faults);
        let mended = faults.remove(which.index(faults.len()));
        let after = spoilt(&faults);
        for version in BOTH {
            let gone = expected(version, &[mended]);
            let mut left = before.reasons(version);
            left.retain(|reason| !gone.contains(&reason.as_str()));
            prop_assert_eq!(after.reasons(version), left);
        }
    }

    #[test]
    fn nothing_is_against_it_only_if_nothing_is_wrong(choice in choices()) {
        let slots = slots();
        let faults = chosen(&slots, &choice);
        prop_assert_eq!(spoilt(&faults).reasons(V2).is_empty(), faults.is_empty());
    }
}
