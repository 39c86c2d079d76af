//! Idempotency keys: what other calls of the same key allow.

use model::CallId;
use model::decision::CallStatus;
use model::event::call::CallRequested;
use model::event::{Body, Kind, Placed};
use model::projection::Stage;
use store::Reader;

use super::{Refusal, differing};
use crate::error::AppError;
use crate::state::recorded_state;

/// What the other calls of a key say.
pub(super) enum Standing {
    /// None of them may have had an effect.
    Free,
    /// A completed one answers for the same request.
    Answered(Box<Answer>),
    /// One forbids it.
    Forbidden(Refusal),
}

/// A completed call of the same request.
pub(super) struct Answer {
    pub(super) call: CallId,
    pub(super) status: CallStatus,
    pub(super) events: Vec<Placed>,
}

/// Looks at the other calls of a request's key.
pub(super) fn standing(
    reader: Reader<'_>,
    request: &CallRequested,
    itself: CallId,
) -> Result<Standing, AppError> {
    let Some(key) = &request.idempotency_key else {
        return Ok(Standing::Free);
    };
    let mut forbidden = None;
    for placed in reader.named(Kind::CallRequested, key)? {
        let (Some(call), Body::CallRequested(other)) =
            (placed.event.scope.call, &placed.event.body)
        else {
            continue;
        };
        if call == itself {
            continue;
        }
        let events = reader.of_call(call)?;
        let Some(state) = recorded_state(reader, &events)? else {
            continue;
        };
        match (state.stage, state.call_status) {
            (Stage::Completed, Some(status)) => {
                let fields = differing_requests(other, request);
                if fields.is_empty() {
                    return Ok(Standing::Answered(Box::new(Answer {
                        call,
                        status,
                        events,
                    })));
                }
                let original = call;
                forbidden = Some(Refusal::Conflict { original, fields });
            }
            (stage, _) if may_have_effect(stage) => {
                forbidden.get_or_insert(Refusal::KeyInUse { other: call, stage });
            }
            _ => {}
        }
    }
    Ok(forbidden.map_or(Standing::Free, Standing::Forbidden))
}

/// Returns whether a request of a call at this stage may have reached a provider.
const fn may_have_effect(stage: Stage) -> bool {
    match stage {
        Stage::EffectUnknown
        | Stage::Observed
        | Stage::Interpreted
        | Stage::RetryDecided
        | Stage::Decided
        | Stage::Completed => true,
        Stage::Replayed | Stage::PreparationFailed | Stage::Requested | Stage::ManifestRecorded => {
            false
        }
    }
}

/// Returns what differs between two requests of one key, by the names of the record.
fn differing_requests(one: &CallRequested, other: &CallRequested) -> Vec<&'static str> {
    let sha256 = |request: &CallRequested| request.request.as_ref().map(|one| one.sha256);
    differing([
        ("request_sha256", sha256(one) != sha256(other)),
        ("provider", one.provider != other.provider),
        ("dialect", one.dialect != other.dialect),
        ("endpoint", one.endpoint != other.endpoint),
        (
            "requested_model",
            one.requested_model != other.requested_model,
        ),
    ])
}
