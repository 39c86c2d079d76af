//! `state`: what counts now and why. It appends nothing.

use std::collections::BTreeMap;

use model::event::{Body, Kind, Placed};
use model::id::LedgerId;
use model::projection::call::Surroundings;
use model::projection::{CallState, Operation, TaskState, TaskStatus};
use model::{CallId, EventId, TaskId};
use serde::Serialize;
use store::Reader;
use store::ledger::ScopeKey;

use crate::context::Session;
use crate::error::AppError;
use crate::evidence::{Evidence, Observed};
use crate::projecting::CallSummary;

/// How many calls are looked at between two questions to the ledger.
const PAGE: u32 = 1000;

/// The version of the rules by which work states are derived.
pub const VERSION: &str = "work-state-v1";

/// A home in one view.
#[derive(Debug, Clone, Serialize)]
pub struct HomeState {
    /// The ledger.
    pub ledger: LedgerId,
    /// The version of the rules.
    pub version: &'static str,
    /// How many events.
    pub ledger_event_count: u64,
    /// How many calls.
    pub calls: u64,
    /// How many tasks.
    pub tasks: u64,
    /// How many completed tasks.
    pub tasks_completed: u64,
    /// How many tasks have an acceptance whose basis moved.
    pub tasks_basis_moved: u64,
    /// Calls by stage.
    pub stages: BTreeMap<String, u64>,
    /// Calls by adopted status; `none` where none was adopted.
    pub statuses: BTreeMap<String, u64>,
    /// Calls by next operation.
    pub next_operations: BTreeMap<String, u64>,
    /// Calls by the rules that their status rests on.
    pub status_bases: BTreeMap<String, u64>,
}

impl Session {
    /// Derives the work state of one call, with the bytes as they are now.
    pub fn call_state(&self, call: CallId) -> Result<CallState, AppError> {
        let reader = self.ledger.reader();
        let evidence = Evidence::new(self.artifacts.clone(), reader)?;
        let events = reader.of_call(call)?;
        call_state(reader, &evidence, &events)?.ok_or_else(|| AppError::Unknown {
            what: "call",
            name: call.to_string(),
        })
    }

    /// Derives the work state of one task and its calls.
    pub fn task_state(&self, task: TaskId) -> Result<TaskState, AppError> {
        self.require_task(task)?;
        let reader = self.ledger.reader();
        let evidence = Evidence::new(self.artifacts.clone(), reader)?;
        let events = reader.of_task(task)?;
        let mut calls = Vec::new();
        for call in calls_in(&events) {
            calls.extend(call_state(reader, &evidence, &reader.of_call(call)?)?);
        }
        Ok(TaskState::of(task, &events, calls))
    }

    /// Counts the calls and tasks of the home by what counts now, from the cached
    /// summaries where they cover the ledger, else from the events. The bytes are
    /// not looked at.
    pub fn home_state(&self) -> Result<HomeState, AppError> {
        let reader = self.ledger.reader();
        let mut state = HomeState {
            ledger: self.ledger_id,
            version: VERSION,
            ledger_event_count: reader.last_seq()?,
            calls: 0,
            tasks: 0,
            tasks_completed: 0,
            tasks_basis_moved: 0,
            stages: BTreeMap::new(),
            statuses: BTreeMap::new(),
            next_operations: BTreeMap::new(),
            status_bases: BTreeMap::new(),
        };
        match reader.projection_counts()? {
            Some(counts) => {
                for (text, count) in counts {
                    let summary: CallSummary = serde_json::from_str(&text).map_err(|error| {
                        AppError::Damage(format!("a cached summary: {error}; run rebuild"))
                    })?;
                    state.count(summary, count);
                }
            }
            None => state.count_events(reader)?,
        }
        for placed in reader.of_kind(Kind::TaskCreated)? {
            if let Some(task) = placed.event.scope.task {
                state.tasks += 1;
                let events = reader.of_task(task)?;
                let derived = TaskState::of(task, &events, Vec::new());
                state.tasks_completed += u64::from(derived.task_status == TaskStatus::Completed);
                let mut outputs = derived.outputs.iter();
                let moved = outputs.any(|output| output.basis_moved_by.is_some());
                state.tasks_basis_moved += u64::from(moved);
            }
        }
        Ok(state)
    }

    /// Reports the calls that have something left to do, in order, with the bytes as
    /// they are now.
    pub fn open_calls(
        &self,
        mut report: impl FnMut(CallState) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        let reader = self.ledger.reader();
        let evidence = Evidence::new(self.artifacts.clone(), reader)?;
        let mut seq = 0;
        loop {
            let page = reader.calls_after(seq, PAGE)?;
            let Some((last, _)) = page.last() else {
                return Ok(());
            };
            seq = *last;
            for (_, call) in page {
                if self.is_settled(call)? {
                    continue;
                }
                let state = call_state(reader, &evidence, &reader.of_call(call)?)?;
                let left = |state: &CallState| state.next_operation != Operation::None;
                if let Some(state) = state.filter(left) {
                    report(state)?;
                }
            }
        }
    }

    /// Returns whether the cached summary of a call covers it and leaves nothing to do.
    fn is_settled(&self, call: CallId) -> Result<bool, AppError> {
        let reader = self.ledger.reader();
        let Some(row) = reader.projection(ScopeKey::Call(call))? else {
            return Ok(false);
        };
        if row.seq != reader.head(ScopeKey::Call(call))? {
            return Ok(false);
        }
        let summary: Option<CallSummary> = serde_json::from_str(&row.value).ok();
        Ok(summary.is_some_and(|one| one.next_operation == Operation::None.as_str()))
    }

    /// Returns a task with the event that declared it.
    pub(crate) fn declared(&self, task: TaskId) -> Result<DeclaredTask, AppError> {
        let unknown = || AppError::Unknown {
            what: "task",
            name: task.to_string(),
        };
        let events = self.ledger.reader().of_task(task)?;
        let declaration = events
            .iter()
            .find(|placed| placed.event.kind() == Kind::TaskCreated);
        let declaration = declaration.ok_or_else(unknown)?.event.id;
        Ok(DeclaredTask { task, declaration })
    }

    pub(crate) fn require_task(&self, task: TaskId) -> Result<(), AppError> {
        if self.ledger.reader().head(ScopeKey::Task(task))? == 0 {
            return Err(AppError::Unknown {
                what: "task",
                name: task.to_string(),
            });
        }
        Ok(())
    }
}

impl HomeState {
    fn count(&mut self, summary: CallSummary, calls: u64) {
        let none = || "none".to_owned();
        self.calls += calls;
        *self.stages.entry(summary.stage).or_default() += calls;
        *self
            .statuses
            .entry(summary.status.unwrap_or_else(none))
            .or_default() += calls;
        *self
            .next_operations
            .entry(summary.next_operation)
            .or_default() += calls;
        *self
            .status_bases
            .entry(summary.status_basis.unwrap_or_else(none))
            .or_default() += calls;
    }

    fn count_events(&mut self, reader: Reader<'_>) -> Result<(), AppError> {
        let mut seq = 0;
        loop {
            let page = reader.calls_after(seq, PAGE)?;
            let Some((last, _)) = page.last() else {
                return Ok(());
            };
            seq = *last;
            for (_, call) in page {
                if let Some(call) = recorded_state(reader, &reader.of_call(call)?)? {
                    self.count(CallSummary::of(&call), 1);
                }
            }
        }
    }
}

/// A task, and the event that declared it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeclaredTask {
    pub(crate) task: TaskId,
    pub(crate) declaration: EventId,
}

/// Returns the calls that a task's events name, in order.
pub(crate) fn calls_in(events: &[Placed]) -> Vec<CallId> {
    let mut calls = Vec::new();
    for placed in events {
        if let Some(call) = placed.event.scope.call
            && !calls.contains(&call)
        {
            calls.push(call);
        }
    }
    calls
}

/// Derives a call's state from its events and from the bytes as they are now.
pub(crate) fn call_state(
    reader: Reader<'_>,
    evidence: &Evidence,
    events: &[Placed],
) -> Result<Option<CallState>, AppError> {
    let Some(state) = recorded_state(reader, events)? else {
        return Ok(None);
    };
    if state.next_operation != Operation::Reinterpret {
        return Ok(Some(state));
    }
    let unavailable = match events.iter().rev().find_map(Observed::of) {
        Some(observed) => evidence.unavailable(observed.body)?,
        None => None,
    };
    let around = Surroundings {
        unavailable,
        completed_twin: state.superseded_by,
    };
    Ok(CallState::of(events, around))
}

/// Derives a call's state from what is recorded alone.
pub(crate) fn recorded_state(
    reader: Reader<'_>,
    events: &[Placed],
) -> Result<Option<CallState>, AppError> {
    let completed_twin = completed_twin(reader, events)?;
    Ok(CallState::of(
        events,
        Surroundings {
            unavailable: None,
            completed_twin,
        },
    ))
}

/// Returns a call and the idempotency key that it was asked for with, if it has one.
pub(crate) fn key_of(events: &[Placed]) -> Option<(CallId, String)> {
    events.iter().find_map(|placed| {
        let Body::CallRequested(body) = &placed.event.body else {
            return None;
        };
        Some((placed.event.scope.call?, body.idempotency_key.clone()?))
    })
}

/// Returns another completed call of the same idempotency key.
fn completed_twin(reader: Reader<'_>, events: &[Placed]) -> Result<Option<CallId>, AppError> {
    let Some((call, key)) = key_of(events) else {
        return Ok(None);
    };
    for placed in reader.named(Kind::CallRequested, &key)? {
        let Some(other) = placed.event.scope.call else {
            continue;
        };
        let completed = |placed: &Placed| placed.event.kind() == Kind::CallCompleted;
        if other != call && reader.of_call(other)?.iter().any(completed) {
            return Ok(Some(other));
        }
    }
    Ok(None)
}
