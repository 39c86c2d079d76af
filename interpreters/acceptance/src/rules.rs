//! `task-acceptance-v1` and `task-acceptance-v2`: the order of the rules, and the
//! ones about authority, an earlier acceptance, the task and the artifact.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::facts::{Artifact, Facts, Prior, Request};
use crate::reasons::{REASONS_MAX, Reasons};
use crate::{checks, source};

/// A version of the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acceptance {
    /// Only the text of the source itself can be accepted.
    V1,
    /// So can what was derived from it, and every criterion must be covered.
    V2,
}

/// What the actor must have been granted.
const ACCEPT: &str = "accept";

/// Why nothing is decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// A word for programs.
    pub code: &'static str,
    /// For people.
    pub detail: String,
}

impl Acceptance {
    /// Returns the label.
    pub const fn label(self) -> &'static str {
        match self {
            Self::V1 => "task-acceptance-v1",
            Self::V2 => "task-acceptance-v2",
        }
    }

    /// Returns one sentence for people.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::V1 => {
                "Accepts the preserved text of a succeeded call, if its reading counts and is \
                 complete and every cited check of these bytes passed."
            }
            Self::V2 => {
                "Accepts what version 1 accepts and what was derived from it on record, if \
                 passing checks of these bytes cover every criterion."
            }
        }
    }

    /// Returns the labels that this version supersedes.
    pub const fn supersedes(self) -> &'static [&'static str] {
        match self {
            Self::V1 => &[],
            Self::V2 => &["task-acceptance-v1"],
        }
    }
}

/// Returns every reason against, in a stable order and each once; none accepts.
pub fn decide(
    version: Acceptance,
    request: &Request<'_>,
    facts: &Facts<'_>,
) -> Result<Vec<String>, Refusal> {
    checks::well_formed(request, &facts.checks)?;
    let mut reasons = Reasons::default();
    let nobody = request.actor.is_empty();
    reasons.when(nobody, "missing_actor");
    if nobody || !facts.task.capabilities.contains(&ACCEPT) {
        reasons.when(true, "unauthorized");
        return Ok(reasons.into_vec());
    }
    match facts.prior {
        Prior::None => {}
        Prior::Identical => return Ok(Vec::new()),
        Prior::Different => {
            reasons.when(true, "conflicting_acceptance");
            return Ok(reasons.into_vec());
        }
    }
    let task = &facts.task;
    reasons.when(task.definitions > 1, "ambiguous_task_definition");
    let declared = task.criteria_sha256 == Some(request.criteria_sha256);
    reasons.when(!declared, "criteria_mismatch");
    source::judge(version, request, &facts.source, &mut reasons);
    match facts.source.artifact {
        Artifact::Kept => {}
        Artifact::Gone => reasons.when(true, "artifact_not_preserved"),
        Artifact::Corrupt => reasons.when(true, "artifact_corrupted"),
    }
    checks::judge(version, request, facts, &mut reasons);
    if reasons.overflow() {
        return Err(Refusal {
            code: "too_many_reasons",
            detail: format!("expected at most {REASONS_MAX} reasons against, found more"),
        });
    }
    Ok(reasons.into_vec())
}
