//! Appending what was decided: the rule that nothing is decided on old evidence.
//!
//! A deciding append names the last event of its call that it read. When the call
//! moved meanwhile, everything is computed again; from the third time on the write
//! lock is held while that happens. An observation names nothing: it is a fact.

use model::event::{Body, Event, Placed};
use model::{CallId, EventId};
use store::ledger::ScopeKey;
use store::{Ledger, LedgerError, Reader, Writer};

use crate::context::Stamp;
use crate::error::AppError;
use crate::fault::{self, Edge, Faults, Step};
use crate::projecting;

/// The round from which the write lock is held while everything is computed.
pub(crate) const LOCKED_ROUND: u32 = 3;

/// How often the lock is asked for to record an observation, which cannot be had
/// again; each time waits as long as any other append.
const OBSERVATION_TRIES: u32 = 12;

/// What a decision comes to.
pub(crate) enum Proposal<T> {
    /// These events are missing; the first names the step.
    Append(Step, Vec<Event>, T),
    /// Nothing is.
    Answer(T),
}

/// When the write lock is held while a decision is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lock {
    /// Once the call has moved again and again.
    WhenMoved,
    /// From the start: the decision rests on other calls too.
    Always,
}

/// Appends to the ledger of an open home.
pub(crate) struct Appender<'a> {
    pub(crate) ledger: &'a mut Ledger,
    pub(crate) stamp: Stamp<'a>,
    pub(crate) faults: &'a (dyn Faults + Send + Sync),
}

impl Appender<'_> {
    /// Appends what `propose` finds missing from the events of a call or a task, and
    /// returns its answer with the number of events appended.
    pub(crate) fn decide<T>(
        &mut self,
        scope: impl Into<ScopeKey>,
        lock: Lock,
        mut propose: impl FnMut(&Stamp<'_>, Reader<'_>, &[Placed]) -> Result<Proposal<T>, AppError>,
    ) -> Result<(T, u64), AppError> {
        let scope = scope.into();
        let mut round = 1;
        while lock == Lock::WhenMoved && round < LOCKED_ROUND {
            let reader = self.ledger.reader();
            let events = reader.of_scope(scope)?;
            match propose(&self.stamp, reader, &events)? {
                Proposal::Answer(answer) => return Ok((answer, 0)),
                Proposal::Append(step, missing, answer) => {
                    fault::reach(self.faults, Edge::Before, step)?;
                    let writer = self.ledger.writer()?;
                    let head = events.last().map_or(0, |placed| placed.seq);
                    if writer.reader().head(scope)? == head {
                        let appended = append(writer, &missing)?;
                        fault::reach(self.faults, Edge::After, step)?;
                        return Ok((answer, appended));
                    }
                }
            }
            round += 1;
        }
        let writer = self.ledger.writer()?;
        let events = writer.reader().of_scope(scope)?;
        match propose(&self.stamp, writer.reader(), &events)? {
            Proposal::Answer(answer) => Ok((answer, 0)),
            Proposal::Append(step, missing, answer) => {
                fault::reach(self.faults, Edge::Before, step)?;
                let appended = append(writer, &missing)?;
                fault::reach(self.faults, Edge::After, step)?;
                Ok((answer, appended))
            }
        }
    }

    /// Appends a fact unless it stands already, which is looked for while the write lock
    /// is held; returns the event that stands and how many were appended.
    pub(crate) fn record_once(
        &mut self,
        step: Step,
        event: &Event,
        standing: impl FnOnce(Reader<'_>) -> Result<Option<EventId>, AppError>,
    ) -> Result<(EventId, u64), AppError> {
        fault::reach(self.faults, Edge::Before, step)?;
        let writer = self.ledger.writer()?;
        if let Some(standing) = standing(writer.reader())? {
            return Ok((standing, 0));
        }
        let appended = append(writer, std::slice::from_ref(event))?;
        fault::reach(self.faults, Edge::After, step)?;
        Ok((event.id, appended))
    }

    /// Appends an observation, whatever happened to its call meanwhile.
    pub(crate) fn observe(&mut self, event: &Event) -> Result<EventId, AppError> {
        fault::reach(self.faults, Edge::Before, Step::Observed)?;
        let mut tries = 1;
        loop {
            match self.ledger.writer() {
                Ok(writer) => {
                    append(writer, std::slice::from_ref(event))?;
                    fault::reach(self.faults, Edge::After, Step::Observed)?;
                    return Ok(event.id);
                }
                Err(LedgerError::Busy { .. }) if tries < OBSERVATION_TRIES => tries += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Appends events in one transaction and renews the summaries they change.
fn append(mut writer: Writer<'_>, events: &[Event]) -> Result<u64, AppError> {
    let mut calls: Vec<CallId> = Vec::new();
    for event in events {
        writer.append(event)?;
        calls.extend(event.scope.call);
        if matches!(event.body, Body::CallCompleted(_)) {
            // Calls of the same key that wait have nothing left to do.
            calls.extend(twins_of(event, writer.reader())?);
        }
    }
    calls.sort_unstable();
    calls.dedup();
    for call in calls {
        projecting::cache(&writer, &writer.reader().of_call(call)?)?;
    }
    projecting::commit(writer)?;
    Ok(u64::try_from(events.len()).unwrap_or(u64::MAX))
}

fn twins_of(event: &Event, reader: Reader<'_>) -> Result<Vec<CallId>, AppError> {
    let Some(call) = event.scope.call else {
        return Ok(Vec::new());
    };
    let key = reader.of_call(call)?.into_iter().find_map(|placed| {
        let Body::CallRequested(body) = placed.event.body else {
            return None;
        };
        body.idempotency_key
    });
    let Some(key) = key else {
        return Ok(Vec::new());
    };
    let named = reader.named(model::Kind::CallRequested, &key)?;
    Ok(named
        .iter()
        .filter_map(|placed| placed.event.scope.call)
        .collect())
}
