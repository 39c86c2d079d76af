//! What version 2 says differently.

use acceptance::Acceptance::V2;
use acceptance::facts::{Derivation, Output};

use crate::common::{ARTIFACT, Case, OTHER, REVIEWER, says};

const TEXT: &str = "sha256:t";

const fn step(from: &'static str, to: &'static str, actor: &'static str) -> Derivation<'static> {
    Derivation {
        from_sha256: from,
        to_sha256: to,
        actor,
    }
}

/// Makes the artifact something else than the text, with these steps recorded.
fn derived(steps: &[Derivation<'static>]) -> impl Fn(&mut Case) {
    move |case| {
        case.facts.source.output = Output::Text(TEXT);
        case.facts.source.derivations = steps.to_vec();
    }
}

#[test]
fn what_was_derived_on_record_is_accepted() {
    says(V2, derived(&[step(TEXT, ARTIFACT, "editor")]), &[]);
    let two = [step(TEXT, OTHER, "editor"), step(OTHER, ARTIFACT, "writer")];
    says(V2, derived(&two), &[]);
}

#[test]
fn a_way_with_a_gap_or_another_end_is_not_recorded() {
    for steps in [
        vec![],
        vec![step(TEXT, OTHER, "editor")],
        vec![step(OTHER, ARTIFACT, "editor")],
        vec![
            step(TEXT, OTHER, "editor"),
            step("sha256:1", ARTIFACT, "editor"),
        ],
        vec![step(OTHER, ARTIFACT, "editor"), step(TEXT, OTHER, "editor")],
        vec![
            step(TEXT, ARTIFACT, "editor"),
            step(ARTIFACT, OTHER, "editor"),
        ],
    ] {
        says(V2, derived(&steps), &["derivation_not_recorded"]);
    }
}

#[test]
fn who_made_a_step_does_not_accept_where_it_leads() {
    let two = [step(TEXT, OTHER, REVIEWER), step(OTHER, ARTIFACT, "writer")];
    says(V2, derived(&two), &["self_acceptance"]);
    let broken = [step(OTHER, ARTIFACT, REVIEWER)];
    let reasons = ["self_acceptance", "derivation_not_recorded"];
    says(V2, derived(&broken), &reasons);
}

#[test]
fn a_check_is_about_the_output_and_the_criteria() {
    says(
        V2,
        |case| case.check(0).of_output = false,
        &["check_wrong_output:one"],
    );
    for criteria in [None, Some(OTHER)] {
        says(
            V2,
            |case| case.check(1).criteria_sha256 = criteria,
            &["check_wrong_criteria:two"],
        );
    }
}

#[test]
fn every_criterion_is_covered_by_a_passing_check_of_these_bytes() {
    says(
        V2,
        |case| case.check(0).covers = &[],
        &["criterion_not_covered:0"],
    );
    says(V2, |case| case.check(0).covers = &[1, 0, 0, 9], &[]);
    says(
        V2,
        |case| case.check(1).verdict = "FAIL",
        &["check_not_passed:two:FAIL", "criterion_not_covered:1"],
    );
    says(
        V2,
        |case| case.check(1).artifact_sha256 = Some(OTHER),
        &["check_wrong_artifact:two", "criterion_not_covered:1"],
    );
    says(
        V2,
        |case| case.facts.checks[1].found = None,
        &["check_not_found:two", "criterion_not_covered:1"],
    );
    says(V2, |case| case.facts.task.criteria_count = 0, &[]);
}
