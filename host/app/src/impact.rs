//! `impact`: which decisions, acceptances and completions rest on evidence that moved.
//! It appends nothing and undoes nothing.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use model::event::{Kind, Placed};
use model::projection;
use model::projection::Operation;
use model::projection::impact::{Move, Moved, Resting};
use model::{CallId, EventId, TaskId};
use serde::Serialize;
use store::Reader;
use store::ledger::Statuses;

use crate::context::Session;
use crate::error::AppError;
use crate::evidence::Evidence;
use crate::state::{call_state, key_of};

/// How many records of a status are looked for between two questions to the ledger.
const PAGE: u32 = 1000;

/// A record whose basis moved, with what is safe to do now.
#[derive(Debug, Clone, Serialize)]
pub struct Impacted {
    /// What moved.
    #[serde(flatten)]
    pub moved: Moved,
    /// What is safe to do next with the task, or with a call that has none.
    pub next_operation: Operation,
    /// Why.
    pub next_reason: String,
}

/// How many records moved.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ImpactCounts {
    /// Calls that have a status by another record.
    pub calls: u64,
    /// By what rests: decision, replay, acceptance, completion.
    pub kinds: BTreeMap<&'static str, u64>,
    /// By how far it moved: status, output, rules.
    pub moves: BTreeMap<&'static str, u64>,
}

/// What is safe to do next, and why.
type Next = (Operation, String);

/// What is known of a task while its calls are looked at.
struct TaskView {
    /// Its events that are of none of its calls.
    events: Vec<Placed>,
    next: Next,
}

/// What calls are looked at with.
struct Looking<'s> {
    session: &'s Session,
    evidence: Evidence,
    tasks: BTreeMap<TaskId, TaskView>,
}

impl Session {
    /// Reports each record whose basis moved after an event, or ever, call by call in
    /// the order in which they were reinterpreted.
    pub fn impact(
        &self,
        since: Option<&str>,
        mut report: impl FnMut(Impacted) -> Result<(), AppError>,
    ) -> Result<ImpactCounts, AppError> {
        let since = self.place_of(since)?;
        let reader = self.ledger.reader();
        let which = if since == 0 {
            Statuses::Reinterpreted
        } else {
            Statuses::Decided
        };
        let mut counts = ImpactCounts::default();
        let mut looking = Looking {
            session: self,
            evidence: Evidence::new(self.artifacts.clone(), reader)?,
            tasks: BTreeMap::new(),
        };
        let mut seen = BTreeSet::new();
        let mut seq = since;
        loop {
            let page = reader.statuses_after(seq, PAGE, which)?;
            let Some((last, _)) = page.last() else {
                return Ok(counts);
            };
            seq = *last;
            for (_, call) in page {
                if !seen.insert(call) {
                    continue;
                }
                let moved = looking.impact_of(call, since)?;
                counts.calls += u64::from(!moved.is_empty());
                for one in moved {
                    counts.count(one.moved.kind, one.moved.moved);
                    report(one)?;
                }
            }
        }
    }

    /// Returns the place of an event that is named by its id or by its place.
    fn place_of(&self, event: Option<&str>) -> Result<u64, AppError> {
        let Some(name) = event else { return Ok(0) };
        let reader = self.ledger.reader();
        let unknown = || AppError::Unknown {
            what: "event",
            name: name.to_owned(),
        };
        if let Ok(seq) = name.parse::<u64>() {
            return if seq <= reader.last_seq()? {
                Ok(seq)
            } else {
                Err(unknown())
            };
        }
        let id: EventId = name.parse().map_err(|_error| unknown())?;
        Ok(reader.by_id(id)?.ok_or_else(unknown)?.seq)
    }
}

impl Looking<'_> {
    /// Returns what rested on the status of one call.
    fn impact_of(&mut self, call: CallId, since: u64) -> Result<Vec<Impacted>, AppError> {
        let reader = self.session.ledger.reader();
        let events = reader.of_call(call)?;
        let task = events.iter().find_map(|placed| placed.event.scope.task);
        let of_task = match task {
            Some(task) => self.task(task)?.events.as_slice(),
            None => &[],
        };
        let replays = replays_of(reader, &events)?;
        let moved = projection::impact(&events, &of_task.iter().chain(&replays), since);
        let mut impacted = Vec::new();
        for moved in moved {
            let (next_operation, next_reason) = if let Some(task) = moved.task {
                self.task(task)?.next.clone()
            } else {
                let state = call_state(reader, &self.evidence, &events)?;
                state.map_or((Operation::None, String::new()), |state| {
                    (state.next_operation, state.reason)
                })
            };
            impacted.push(Impacted {
                moved,
                next_operation,
                next_reason,
            });
        }
        Ok(impacted)
    }

    fn task(&mut self, task: TaskId) -> Result<&TaskView, AppError> {
        match self.tasks.entry(task) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(vacant) => {
                let state = self.session.task_state(task)?;
                Ok(vacant.insert(TaskView {
                    events: self.session.ledger.reader().of_task_alone(task)?,
                    next: (state.task_next_operation, state.task_reason),
                }))
            }
        }
    }
}

impl ImpactCounts {
    fn count(&mut self, kind: Resting, moved: Move) {
        *self.kinds.entry(kind.as_str()).or_default() += 1;
        *self.moves.entry(moved.as_str()).or_default() += 1;
    }
}

/// Returns the replays that a call answered: those of its idempotency key.
fn replays_of(reader: Reader<'_>, events: &[Placed]) -> Result<Vec<Placed>, AppError> {
    let Some((call, key)) = key_of(events) else {
        return Ok(Vec::new());
    };
    let mut replays = Vec::new();
    for placed in reader.named(Kind::CallRequested, &key)? {
        let Some(other) = placed.event.scope.call.filter(|other| *other != call) else {
            continue;
        };
        let of_other = reader.of_call(other)?.into_iter();
        replays.extend(of_other.filter(|placed| placed.event.kind() == Kind::CallReplayed));
    }
    Ok(replays)
}
