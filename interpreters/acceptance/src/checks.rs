//! The rules about the checks that are cited.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;

use crate::facts::{Check, Facts, Found, Request};
use crate::reasons::Reasons;
use crate::rules::{Acceptance, Refusal};

/// The id of a check, in bytes.
const ID_BYTES_MAX: usize = 64;

/// What a check can have found.
const VERDICTS: [&str; 4] = [PASS, "FAIL", "INCONCLUSIVE", "ERROR"];

const PASS: &str = "PASS";

/// Refuses what the contract does not allow: reasons repeat ids and verdicts.
pub(crate) fn well_formed(request: &Request<'_>, checks: &[Check<'_>]) -> Result<(), Refusal> {
    let refused = |detail: String| Refusal {
        code: "malformed_facts",
        detail,
    };
    let (cited, given) = (request.check_count, checks.len());
    if usize::try_from(cited) != Ok(given) {
        let detail = format!("expected an entry for each of {cited} checks, found {given}");
        return Err(refused(detail));
    }
    for (position, check) in checks.iter().enumerate() {
        let plain = check.id.bytes().all(|byte| byte.is_ascii_graphic());
        if !(1..=ID_BYTES_MAX).contains(&check.id.len()) || !plain {
            return Err(refused(format!(
                "expected the id of check {position} to be 1 to {ID_BYTES_MAX} bytes of visible \
                 ASCII"
            )));
        }
        let verdict = check.found.as_ref().map(|found| found.verdict);
        if verdict.is_some_and(|verdict| !VERDICTS.contains(&verdict)) {
            return Err(refused(format!(
                "expected the verdict of check {position} to be PASS, FAIL, INCONCLUSIVE or ERROR"
            )));
        }
    }
    Ok(())
}

/// Adds what is against the checks.
pub(crate) fn judge(
    version: Acceptance,
    request: &Request<'_>,
    facts: &Facts<'_>,
    reasons: &mut Reasons,
) {
    reasons.when(request.check_count == 0, "missing_check");
    for check in &facts.checks {
        one(version, request, check, reasons);
    }
    if version == Acceptance::V2 {
        coverage(request, facts, reasons);
    }
}

fn one(version: Acceptance, request: &Request<'_>, check: &Check<'_>, reasons: &mut Reasons) {
    let id = check.id;
    let Some(found) = &check.found else {
        reasons.add(format!("check_not_found:{id}"));
        return;
    };
    let second = version == Acceptance::V2;
    let other_criteria = found.criteria_sha256 != Some(request.criteria_sha256);
    for (against, reason) in [
        (found.completions > 1, "check_ambiguous"),
        (!found.linked, "check_unlinked"),
        (!found.of_task, "check_wrong_task"),
        (second && !found.of_output, "check_wrong_output"),
        (!is_of_artifact(request, found), "check_wrong_artifact"),
        (second && other_criteria, "check_wrong_criteria"),
    ] {
        if against {
            reasons.add(format!("{reason}:{id}"));
        }
    }
    if found.verdict != PASS {
        reasons.add(format!("check_not_passed:{id}:{}", found.verdict));
    }
}

fn is_of_artifact(request: &Request<'_>, found: &Found<'_>) -> bool {
    found.artifact_sha256 == Some(request.artifact_sha256)
}

/// Adds every criterion that no passing check of these bytes covers.
fn coverage(request: &Request<'_>, facts: &Facts<'_>, reasons: &mut Reasons) {
    let found = facts.checks.iter().filter_map(|check| check.found.as_ref());
    let covered: BTreeSet<u32> = found
        .filter(|found| found.verdict == PASS && is_of_artifact(request, found))
        .flat_map(|found| found.covers.iter().copied())
        .collect();
    for criterion in 0..facts.task.criteria_count {
        // More reasons than there is room for end in a refusal, however many.
        if reasons.overflow() {
            return;
        }
        if !covered.contains(&criterion) {
            reasons.add(format!("criterion_not_covered:{criterion}"));
        }
    }
}
