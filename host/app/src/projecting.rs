//! Cached projections: a summary of each call, so that a home of a million events
//! can be looked at in one question. They are caches: `rebuild` makes them again,
//! and they come out equal.

use model::event::Placed;
use model::projection::CallState;
use serde::{Deserialize, Serialize};
use store::ledger::ScopeKey;
use store::{Reader, Writer};

use crate::error::AppError;
use crate::state::recorded_state;

/// What is cached of one call. The bytes' availability is not: it changes without
/// an event.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct CallSummary {
    pub(crate) next_operation: String,
    pub(crate) stage: String,
    pub(crate) status: Option<String>,
    pub(crate) status_basis: Option<String>,
}

impl CallSummary {
    pub(crate) fn of(state: &CallState) -> Self {
        Self {
            next_operation: state.next_operation.as_str().to_owned(),
            stage: state.stage.as_str().to_owned(),
            status: state.call_status.map(|status| status.as_str().to_owned()),
            status_basis: state.status_basis.clone(),
        }
    }
}

/// Returns the summary of a call's events as it is cached: the text, and the place
/// up to which it holds.
pub(crate) fn summary(
    reader: Reader<'_>,
    events: &[Placed],
) -> Result<Option<(ScopeKey, u64, String)>, AppError> {
    let Some(state) = recorded_state(reader, events)? else {
        return Ok(None);
    };
    let seq = events.last().map_or(0, |placed| placed.seq);
    let text = serde_json::to_string(&CallSummary::of(&state))
        .map_err(|error| AppError::Damage(format!("summary of call {}: {error}", state.call)))?;
    Ok(Some((ScopeKey::Call(state.call), seq, text)))
}

/// Caches the summary of a call whose events, old and new, are given.
pub(crate) fn cache(writer: &Writer<'_>, events: &[Placed]) -> Result<(), AppError> {
    if let Some((scope, seq, text)) = summary(writer.reader(), events)? {
        writer.cache_projection(scope, seq, &text)?;
    }
    Ok(())
}

/// Makes everything appended durable, and says that the summaries cover it.
pub(crate) fn commit(writer: Writer<'_>) -> Result<(), AppError> {
    Ok(writer.commit_projected()?)
}
