//! What is recorded of a call's attempts: what was seen, read and decided.

use model::decision::{AttemptDecision, AttemptFacts, Disposition};
use model::event::attempt::{AttemptInterpreted, AttemptRetryDecided, AttemptStatus};
use model::event::call::CallRequested;
use model::event::{Body, Kind, Placed};
use model::{AttemptId, EventId};

use crate::error::AppError;
use crate::evidence::Observed;
use crate::module::LoadedInterpreter;
use crate::readings::{attempt_facts, recorded_latency, recorded_reading};

/// Returns whether the call was reinterpreted before it was decided.
pub(super) fn reinterpreted(events: &[Placed]) -> bool {
    let has = |kind| events.iter().any(|one| one.event.kind() == kind);
    has(Kind::CallReinterpreted) && !has(Kind::CallStatusDecided)
}

/// Returns the last observation.
pub(super) fn last_observed(events: &[Placed]) -> Result<Observed<'_>, AppError> {
    let last = events.iter().rev().find_map(Observed::of);
    last.ok_or(AppError::NoAttempts)
}

/// Returns what was decided of an attempt.
pub(super) fn decision_of(events: &[Placed], attempt: AttemptId) -> Option<&AttemptRetryDecided> {
    events.iter().find_map(|placed| {
        let Body::AttemptRetryDecided(body) = &placed.event.body else {
            return None;
        };
        (placed.event.scope.attempt == Some(attempt)).then_some(body)
    })
}

/// Returns the reading of an attempt that a decision rests on.
pub(super) fn reading_of<'e>(
    events: &'e [Placed],
    attempt: AttemptId,
    interpreter: &LoadedInterpreter,
) -> Result<(EventId, &'e AttemptInterpreted), AppError> {
    recorded_reading(events, attempt, interpreter).ok_or_else(|| {
        AppError::Damage(format!(
            "attempt {attempt} is decided without a reading of {}",
            interpreter.module
        ))
    })
}

/// What was read and decided of each attempt, and the readings, in order.
pub(super) type Judged = (Vec<(AttemptFacts, AttemptDecision)>, Vec<EventId>);

/// Collects what a policy is told of the whole call.
pub(super) fn judged(
    events: &[Placed],
    interpreter: &LoadedInterpreter,
    request: &CallRequested,
) -> Result<Judged, AppError> {
    let mut judged = Vec::new();
    let mut interpretations = Vec::new();
    for observed in events.iter().filter_map(Observed::of) {
        let attempt = observed.attempt;
        let (id, recorded) = reading_of(events, attempt, interpreter)?;
        let decided = decision_of(events, attempt)
            .ok_or_else(|| AppError::Damage(format!("attempt {attempt} is not decided")))?;
        let elapsed = recorded_latency(events, attempt);
        let facts = attempt_facts(observed, &recorded.reading, request.max_attempts, elapsed);
        let decision = AttemptDecision {
            disposition: decided.decision,
            reason: decided.reason.clone(),
        };
        judged.push((facts, decision));
        interpretations.push(id);
    }
    Ok((judged, interpretations))
}

/// Returns what became of an attempt, by what was decided of it.
pub(super) const fn attempt_status(decision: Disposition) -> AttemptStatus {
    match decision {
        Disposition::Accept => AttemptStatus::Succeeded,
        Disposition::Retry => AttemptStatus::TransientFailure,
        Disposition::Terminal => AttemptStatus::Failed,
    }
}
