//! The rules about where the bytes come from.

use crate::facts::{Call, Derivation, Interpretation, Output, Request, Source};
use crate::reasons::Reasons;
use crate::rules::Acceptance;

/// Adds what is against the source.
pub(crate) fn judge(
    version: Acceptance,
    request: &Request<'_>,
    source: &Source<'_>,
    reasons: &mut Reasons,
) {
    let Some(Call { of_task, status }) = source.call else {
        reasons.when(true, "source_call_not_found");
        return;
    };
    reasons.when(!of_task, "source_call_wrong_task");
    reasons.when(status != Some("succeeded"), "source_call_not_succeeded");
    let of_call = source.attempt_of_call;
    let is_final = source.attempt_is_final;
    reasons.when(!of_call, "source_attempt_not_in_call");
    reasons.when(of_call && !is_final, "source_attempt_not_final");
    let found = source.interpretation;
    let basis = found.is_some_and(|found| is_basis(found, of_call && is_final));
    reasons.when(!basis, "interpretation_not_decision_basis");
    match found {
        None => reasons.when(true, "interpretation_not_found"),
        Some(found) => {
            reasons.when(!found.of_call, "interpretation_wrong_call");
            let complete = found.generation_state == "complete";
            reasons.when(!complete, "generation_not_complete");
        }
    }
    reasons.when(made_it(version, request, source), "self_acceptance");
    match source.output {
        Output::NoText | Output::Unavailable => reasons.when(true, "source_output_not_preserved"),
        Output::Text(text) if text == request.artifact_sha256 => {}
        Output::Text(text) => match version {
            Acceptance::V1 => reasons.when(true, "artifact_not_source_output"),
            Acceptance::V2 => {
                let leads = leads(text, &source.derivations, request.artifact_sha256);
                reasons.when(!leads, "derivation_not_recorded");
            }
        },
    }
}

/// Returns whether the decision about the cited attempt rests on a reading. A
/// status rests on readings of all attempts, so where the attempt is the one that
/// counts, the reading must be of it; where it is not, that is a reason already.
const fn is_basis(found: Interpretation<'_>, attempt_counts: bool) -> bool {
    found.is_decision_basis && (found.of_attempt || !found.of_call || !attempt_counts)
}

/// Returns whether the actor would accept something of their own making.
fn made_it(version: Acceptance, request: &Request<'_>, source: &Source<'_>) -> bool {
    let derived = source.derivations.iter();
    let derived = version == Acceptance::V2
        && derived
            .map(|step| step.actor)
            .any(|actor| actor == request.actor);
    derived || source.producer == request.actor
}

/// Returns whether these steps lead from some bytes to others, without a gap.
fn leads(from: &str, steps: &[Derivation<'_>], to: &str) -> bool {
    let reached = steps.iter().try_fold(from, |reached, step| {
        (step.from_sha256 == reached).then_some(step.to_sha256)
    });
    reached == Some(to)
}
