//! Readings as they stand in events, and what a policy is told of them.

use model::decision::{AttemptFacts, ReadingFacts, Transport};
use model::event::attempt::{AttemptInterpreted, Inputs, RecordedBy};
use model::event::{Body, Event, Placed, Scope};
use model::projection::index::UniqueKey;
use model::reading::RecordedReading;
use model::{AttemptId, EventId};
use runtime::profile;

use crate::context::Stamp;
use crate::error::AppError;
use crate::evidence::Observed;
use crate::interpret::FreshReading;
use crate::module::LoadedInterpreter;

/// Returns the recorded reading of an attempt by this module and configuration.
pub(crate) fn recorded_reading<'e>(
    events: &'e [Placed],
    attempt: AttemptId,
    interpreter: &LoadedInterpreter,
) -> Option<(EventId, &'e AttemptInterpreted)> {
    let wanted = UniqueKey::Reading(
        attempt,
        interpreter.module.sha256,
        interpreter.config_sha256(),
    );
    events.iter().find_map(|placed| {
        let Body::AttemptInterpreted(body) = &placed.event.body else {
            return None;
        };
        (UniqueKey::of(&placed.event).as_ref() == Some(&wanted))
            .then_some((placed.event.id, body.as_ref()))
    })
}

/// A module is a function: another result of the same inputs is damage.
pub(crate) fn same_result(
    interpretation: EventId,
    recorded: &AttemptInterpreted,
    fresh: &FreshReading,
    interpreter: &LoadedInterpreter,
) -> Result<(), AppError> {
    if recorded.result_sha256 == fresh.result_sha256 {
        return Ok(());
    }
    Err(AppError::NotReproduced {
        interpretation,
        module: interpreter.module.clone(),
        recorded: recorded.result_sha256,
        found: fresh.result_sha256,
    })
}

/// Makes the event of a reading; its cause is the observation.
pub(crate) fn reading_event(
    interpreter: &LoadedInterpreter,
    fresh: &FreshReading,
    (scope, recorded_by): (Scope, RecordedBy),
    stamp: &Stamp<'_>,
) -> Result<Event, AppError> {
    let body = AttemptInterpreted {
        module: interpreter.module.clone(),
        config_sha256: interpreter.config_sha256(),
        inputs: Inputs {
            observation: fresh.observation,
            request_sha256: fresh.request_sha256,
            response_sha256: fresh.response_sha256,
        },
        reading: fresh.reading.recorded(),
        result_sha256: fresh.result_sha256,
        engine_profile: profile::NAME.to_owned(),
        fuel: fresh.fuel,
        recorded_by,
    };
    stamp.event(Some(fresh.observation), scope, Box::new(body))
}

pub(crate) fn task_of(events: &[Placed]) -> Option<model::TaskId> {
    events.iter().find_map(|placed| placed.event.scope.task)
}

/// Returns how many attempts a call may make. An import may make no more than it has.
pub(crate) fn max_attempts(events: &[Placed], observed: usize) -> u32 {
    let requested = events.iter().find_map(|placed| {
        let Body::CallRequested(body) = &placed.event.body else {
            return None;
        };
        Some(body.max_attempts)
    });
    requested.unwrap_or_else(|| u32::try_from(observed).unwrap_or(u32::MAX))
}

/// Returns how long an attempt took, where that was measured and recorded.
pub(crate) fn recorded_latency(events: &[Placed], attempt: AttemptId) -> Option<u64> {
    events.iter().find_map(|placed| {
        let Body::AttemptCompleted(body) = &placed.event.body else {
            return None;
        };
        (placed.event.scope.attempt == Some(attempt)).then_some(body.latency_ms)?
    })
}

/// Returns what a policy is told of one attempt.
pub(crate) fn attempt_facts(
    observed: Observed<'_>,
    reading: &RecordedReading,
    max_attempts: u32,
    elapsed_ms: Option<u64>,
) -> AttemptFacts {
    let body = observed.body;
    let transport = Transport {
        outcome: body.transport_outcome,
        status: body.http_status,
        exception_type: body
            .exception_type
            .map(model::exchange::ExceptionType::as_str),
        retry_after: observed.retry_after(),
    };
    AttemptFacts {
        index: body.index,
        max_attempts,
        elapsed_ms,
        reading: ReadingFacts::of(reading, transport),
    }
}
