//! What adopting one side or the other would come to: for the work, and for what
//! rests on a call's status. Nothing is appended; the events that would be are put
//! behind the ones that are there, and looked at by the rules that look at real ones.

use model::event::{Kind, Placed};
use model::projection;
use model::projection::call::CallState;
use model::projection::impact::Resting;
use model::projection::{Operation, TaskState};
use model::{CallId, EventId, TaskId};
use serde::Serialize;

use super::{CallDiff, Comparison, Decided, Pair};
use crate::context::Session;
use crate::error::AppError;
use crate::evidence::Evidence;
use crate::reinterpret::{Plan, Planner};
use crate::state::{call_state, calls_in};

/// What is safe to do next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NextStep {
    /// With the task, or with a call that has none.
    pub operation: Operation,
    /// Why.
    pub reason: String,
}

/// A record that would rest on what was replaced: an acceptance or a completion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MovedRecord {
    /// What it is.
    pub kind: Resting,
    /// The record.
    pub record: EventId,
    /// The output that it is about.
    pub output: Option<String>,
    /// How far its basis would move.
    pub moved: projection::impact::Move,
}

/// What adopting each side would come to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Effect {
    /// What would be next.
    pub next: Pair<NextStep>,
    /// Acceptances and completions that would move.
    pub moved: Pair<Vec<MovedRecord>>,
}

impl Session {
    /// Returns the effect on a call, and on its task; none where the decided status is
    /// the same by both sides.
    pub(super) fn effect(
        &self,
        comparison: &Comparison<'_>,
        (call, events): (CallId, &[Placed]),
        diff: &CallDiff,
        last: u64,
    ) -> Result<Option<Effect>, AppError> {
        // Without a task, only a status can change what is next.
        let same = |pair: &Pair<Decided>| diff.task.is_none() && pair.from == pair.to;
        if diff.status.as_ref().is_none_or(same) {
            return Ok(None);
        }
        let side = |planner: &Planner<'_>| {
            let adopted = planner.adopted(call, events, last)?;
            let next = self.next_step((call, diff.task), &adopted)?;
            Ok::<_, AppError>((next, self.moved(diff.task, &adopted, last)?))
        };
        let (from, to) = (side(&comparison.from)?, side(&comparison.to)?);
        if from == to {
            return Ok(None);
        }
        Ok(Some(Effect {
            next: Pair {
                from: from.0,
                to: to.0,
            },
            moved: Pair {
                from: from.1,
                to: to.1,
            },
        }))
    }

    fn next_step(
        &self,
        (call, task): (CallId, Option<TaskId>),
        adopted: &[Placed],
    ) -> Result<NextStep, AppError> {
        let reader = self.ledger.reader();
        let evidence = Evidence::new(self.artifacts.clone(), reader)?;
        let state = |events: &[Placed]| call_state(reader, &evidence, events);
        let Some(task) = task else {
            let state: Option<CallState> = state(adopted)?;
            return Ok(state.map_or(
                NextStep {
                    operation: Operation::None,
                    reason: String::new(),
                },
                |state| NextStep {
                    operation: state.next_operation,
                    reason: state.reason,
                },
            ));
        };
        let mut events = reader.of_task(task)?;
        let calls = calls_in(&events);
        events.retain(|placed| placed.event.scope.call != Some(call));
        events.extend(adopted.iter().cloned());
        events.sort_by_key(|placed| placed.seq);
        let mut states = Vec::new();
        for one in calls {
            states.extend(if one == call {
                state(adopted)?
            } else {
                state(&reader.of_call(one)?)?
            });
        }
        let state = TaskState::of(task, &events, states);
        Ok(NextStep {
            operation: state.task_next_operation,
            reason: state.task_reason,
        })
    }

    /// Returns what would move: what rests on the status that counts now.
    fn moved(
        &self,
        task: Option<TaskId>,
        adopted: &[Placed],
        last: u64,
    ) -> Result<Vec<MovedRecord>, AppError> {
        let of_task = match task {
            Some(task) => self.ledger.reader().of_task_alone(task)?,
            None => Vec::new(),
        };
        let moved = projection::impact(adopted, &of_task.iter(), last);
        Ok(moved
            .into_iter()
            .filter(|moved| moved.kind != Resting::Decision)
            .map(|moved| MovedRecord {
                kind: moved.kind,
                record: moved.record,
                output: moved.output,
                moved: moved.moved,
            })
            .collect())
    }
}

impl Planner<'_> {
    /// Returns the events of a call as they would be with this side adopted.
    fn adopted(&self, call: CallId, events: &[Placed], last: u64) -> Result<Vec<Placed>, AppError> {
        let mut adopted = events.to_vec();
        let Plan::Append(missing) = self.plan(call, events)? else {
            return Ok(adopted);
        };
        let appended = missing.readings.into_iter().chain([missing.record]);
        for (seq, event) in (last + 1..).zip(appended) {
            debug_assert!(
                event.kind() != Kind::TaskAccepted,
                "statuses and readings only"
            );
            adopted.push(Placed { seq, event });
        }
        Ok(adopted)
    }
}
