//! `log`: history, in order.

use model::event::Placed;
use model::{CallId, TaskId};
use serde::Serialize;
use serde_json::Value;

use crate::context::Session;
use crate::error::AppError;

/// How many events are read at a time.
const PAGE: u32 = 1000;

/// Which part of history to show.
#[derive(Debug, Clone, Copy, Default)]
pub struct LogFilter {
    /// Of this task.
    pub task: Option<TaskId>,
    /// Of this call.
    pub call: Option<CallId>,
    /// After this place.
    pub after: u64,
    /// At most so many.
    pub limit: Option<u64>,
}

/// An event at its place, as JSON.
#[derive(Debug, Clone, Serialize)]
pub struct EventView {
    /// Its place.
    pub seq: u64,
    /// The event as it is written down.
    #[serde(flatten)]
    pub event: Value,
}

impl EventView {
    /// Shows an event.
    pub fn of(placed: &Placed) -> Result<Self, AppError> {
        let bytes = placed.event.to_bytes()?;
        let event = serde_json::from_slice(&bytes)
            .map_err(|error| AppError::Damage(format!("event {}: {error}", placed.seq)))?;
        Ok(Self {
            seq: placed.seq,
            event,
        })
    }
}

impl Session {
    /// Reports events in order, one at a time.
    pub fn log(
        &self,
        filter: LogFilter,
        mut report: impl FnMut(&Placed) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        let reader = self.ledger.reader();
        let mut left = filter.limit.unwrap_or(u64::MAX);
        let of_scope = match (filter.call, filter.task) {
            (Some(call), _) => {
                let events = reader.of_call(call)?;
                if events.is_empty() {
                    return Err(AppError::Unknown {
                        what: "call",
                        name: call.to_string(),
                    });
                }
                Some(events)
            }
            (None, Some(task)) => {
                self.require_task(task)?;
                Some(reader.of_task(task)?)
            }
            (None, None) => None,
        };
        if let Some(events) = of_scope {
            let wanted = events.iter().filter(|placed| {
                let of_task = filter
                    .task
                    .is_none_or(|task| placed.event.scope.task == Some(task));
                placed.seq > filter.after && of_task
            });
            return wanted
                .take(usize::try_from(left).unwrap_or(usize::MAX))
                .try_for_each(report);
        }
        let mut seq = filter.after;
        while left > 0 {
            let limit = u32::try_from(left).map_or(PAGE, |left| left.min(PAGE));
            let page = reader.after(seq, limit)?;
            let Some(last) = page.last() else { break };
            seq = last.seq;
            for placed in &page {
                left -= 1;
                report(placed)?;
            }
        }
        Ok(())
    }
}
