//! Impact: what rests on a status that another one has replaced. Nothing is undone
//! by it; a record stays, and whoever relies on it is told what moved beneath.

use serde::Serialize;

use super::adopted::{Adopted, Pair, adopted};
use crate::decision::{CallStatus, Disposition};
use crate::digest::Digest;
use crate::event::{Body, Kind, Placed};
use crate::id::{AttemptId, CallId, EventId, TaskId};
use crate::name::Mod;
use crate::reading::GenerationState;

/// What a record rests on: the adopted status of a call at one moment, and the
/// reading of the last attempt that the status rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Basis {
    /// The record that holds the status.
    pub record: EventId,
    /// What became of the call.
    pub status: CallStatus,
    /// Why.
    pub reason: String,
    /// The reading.
    pub interpretation: Option<EventId>,
    /// What it says became of the output.
    pub generation_state: Option<GenerationState>,
    /// The hash of the text that it yields.
    pub output_text: Option<Digest>,
    /// Who read.
    pub interpreter: Mod,
    /// With which configuration.
    pub interpreter_config_sha256: Option<Digest>,
    /// Who decided.
    pub policy: Mod,
    /// With which configuration.
    pub policy_config_sha256: Option<Digest>,
}

/// What rests on a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Resting {
    /// The status of a call, as it was decided.
    Decision,
    /// The answer to a call by another call of its idempotency key.
    Replay,
    /// An acceptance of exact bytes.
    Acceptance,
    /// The completion of an output.
    Completion,
}

impl Resting {
    /// Returns the name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Replay => "replay",
            Self::Acceptance => "acceptance",
            Self::Completion => "completion",
        }
    }

    /// Returns what a record of this sort is now that its basis moved.
    pub const fn standing(self) -> &'static str {
        match self {
            Self::Decision => "replaced",
            Self::Replay => "answered, basis moved",
            Self::Acceptance => "accepted, basis moved",
            Self::Completion => "completed, basis moved",
        }
    }
}

/// How far a basis moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Move {
    /// The call has another status.
    Status,
    /// The status is the same; the output's state or text is another.
    Output,
    /// Status and output are the same by other rules.
    Rules,
}

impl Move {
    /// Returns the name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Output => "output",
            Self::Rules => "rules",
        }
    }
}

/// A decision about one attempt that another one replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AttemptMoved {
    /// The attempt.
    pub attempt: AttemptId,
    /// What was decided; none when nothing was.
    pub old: Option<Disposition>,
    /// What is decided now; none when nothing is.
    pub new: Option<Disposition>,
}

/// A record whose basis moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// What it is.
    pub kind: Resting,
    /// The record.
    pub record: EventId,
    /// The kind of the event.
    pub record_kind: &'static str,
    /// The call whose status it rests on.
    pub call: CallId,
    /// The task that it belongs to.
    pub task: Option<TaskId>,
    /// The output of the task, for an acceptance or a completion.
    pub output: Option<String>,
    /// The bytes, for an acceptance or a completion.
    pub artifact_sha256: Option<Digest>,
    /// What it is now.
    pub standing: &'static str,
    /// How far its basis moved.
    pub moved: Move,
    /// The names of the fields of the basis that differ.
    pub changed: Vec<&'static str>,
    /// The basis as it was when the record was made, or at the place from which on
    /// moves are looked for, whichever is later.
    pub old: Basis,
    /// The basis that counts now.
    pub new: Basis,
    /// The decisions about attempts that differ, for a decision.
    pub attempts: Vec<AttemptMoved>,
}

impl Basis {
    /// Returns the basis at a place from the events of the call in order; none where
    /// no status was adopted by then.
    pub fn at(call_events: &[Placed], seq: u64) -> Option<Self> {
        let known = call_events.iter().filter(|placed| placed.seq <= seq);
        adopted(known).map(|adopted| Self::of(&adopted, call_events))
    }

    fn of(adopted: &Adopted, call_events: &[Placed]) -> Self {
        let interpretation = adopted.decision_basis();
        let reading = call_events.iter().find_map(|placed| {
            let Body::AttemptInterpreted(body) = &placed.event.body else {
                return None;
            };
            (Some(placed.event.id) == interpretation).then_some(&body.reading)
        });
        let Pair {
            interpreter,
            policy,
            interpreter_config,
            policy_config,
        } = adopted.pair.clone();
        Self {
            record: adopted.record,
            status: adopted.status,
            reason: adopted.reason.clone(),
            interpretation,
            generation_state: reading.map(|reading| reading.generation_state),
            output_text: reading.and_then(|reading| Some(reading.output_text.as_ref()?.sha256)),
            interpreter,
            interpreter_config_sha256: interpreter_config,
            policy,
            policy_config_sha256: policy_config,
        }
    }

    /// Returns the names of the fields that differ. The record and the reason do not
    /// count: another record that says the same of the same moves nothing.
    pub fn changed(&self, new: &Self) -> Vec<&'static str> {
        [
            ("status", self.status != new.status),
            ("interpretation", self.interpretation != new.interpretation),
            (
                "generation_state",
                self.generation_state != new.generation_state,
            ),
            ("output_text", self.output_text != new.output_text),
            ("interpreter", self.interpreter != new.interpreter),
            (
                "interpreter_config_sha256",
                self.interpreter_config_sha256 != new.interpreter_config_sha256,
            ),
            ("policy", self.policy != new.policy),
            (
                "policy_config_sha256",
                self.policy_config_sha256 != new.policy_config_sha256,
            ),
        ]
        .into_iter()
        .filter_map(|(name, differs)| differs.then_some(name))
        .collect()
    }

    fn moved(&self, new: &Self) -> Move {
        if self.status != new.status {
            Move::Status
        } else if (self.generation_state, self.output_text)
            != (new.generation_state, new.output_text)
        {
            Move::Output
        } else {
            Move::Rules
        }
    }
}

/// Returns what rests on a call's status as it was and is not any more, in the order
/// in which it was recorded.
///
/// `call_events` are all events of the call, `resting` those of other scopes that may
/// rest on it: those of its task, and the replays that it answered. Moves up to the
/// place `since` are left out.
pub fn impact<'a>(
    call_events: &[Placed],
    resting: &(impl Iterator<Item = &'a Placed> + Clone),
    since: u64,
) -> Vec<Moved> {
    let Some(now) = Basis::at(call_events, u64::MAX) else {
        return Vec::new();
    };
    let acceptance = |id: EventId| resting.clone().find(|one| one.event.id == id);
    let rested = resting.clone().filter_map(|placed| {
        let mut accepted = None;
        if let Body::TaskCompleted(body) = &placed.event.body {
            accepted = acceptance(body.acceptance);
        }
        rested((placed, accepted), call_events, &now, since)
    });
    decision(call_events, &now, since)
        .into_iter()
        .chain(rested)
        .collect()
}

/// Returns the status record by which the basis of an acceptance moved, from all
/// events of its task and of the task's calls.
pub(super) fn acceptance_moved_by(acceptance: &Placed, events: &[Placed]) -> Option<EventId> {
    let Body::TaskAccepted(body) = &acceptance.event.body else {
        return None;
    };
    let read = events
        .iter()
        .find(|placed| placed.event.id == body.interpretation)?;
    let call = read.event.scope.call?;
    let of_call: Vec<Placed> = events
        .iter()
        .filter(|placed| placed.event.scope.call == Some(call))
        .cloned()
        .collect();
    let old = Basis::at(&of_call, acceptance.seq)?;
    let new = Basis::at(&of_call, u64::MAX)?;
    (!old.changed(&new).is_empty()).then_some(new.record)
}

/// The status that counted first, or at the place since which moves are looked for.
fn decision(call_events: &[Placed], now: &Basis, since: u64) -> Option<Moved> {
    let statuses = [Kind::CallStatusDecided, Kind::CallReinterpreted];
    let first = call_events
        .iter()
        .find(|placed| statuses.contains(&placed.event.kind()))?;
    let old = Basis::at(call_events, since.max(first.seq))?;
    let record = call_events
        .iter()
        .find(|placed| placed.event.id == old.record)?;
    let attempts = attempts_moved(call_events, &old, now);
    let mut moved = compared((Resting::Decision, record), call_events, old, now)?;
    moved.attempts = attempts;
    Some(moved)
}

/// What one event outside of the call rests on; with a completion comes its
/// acceptance.
fn rested(
    (placed, accepted): (&Placed, Option<&Placed>),
    call_events: &[Placed],
    now: &Basis,
    since: u64,
) -> Option<Moved> {
    let old = || Basis::at(call_events, since.max(placed.seq));
    let reads = |interpretation: EventId| {
        call_events
            .iter()
            .any(|placed| placed.event.id == interpretation)
    };
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only three kinds rest on a status outside of its call"
    )]
    let mut moved = match &placed.event.body {
        Body::TaskAccepted(body) if reads(body.interpretation) => {
            let mut moved = compared((Resting::Acceptance, placed), call_events, old()?, now)?;
            moved.output = Some(body.output.clone());
            moved.artifact_sha256 = Some(body.artifact_sha256);
            moved
        }
        Body::TaskCompleted(body) => {
            let accepted = accepted?;
            let Body::TaskAccepted(acceptance) = &accepted.event.body else {
                return None;
            };
            if !reads(acceptance.interpretation) || placed.event.cause != Some(accepted.event.id) {
                return None;
            }
            // A completion rests on what its acceptance rested on.
            let old = Basis::at(call_events, since.max(accepted.seq))?;
            let mut moved = compared((Resting::Completion, placed), call_events, old, now)?;
            moved.output = Some(body.output.clone());
            moved.artifact_sha256 = Some(body.artifact_sha256);
            moved
        }
        Body::CallReplayed(body) if call_events_are_of(call_events, body.original_call) => {
            compared((Resting::Replay, placed), call_events, old()?, now)?
        }
        _ => return None,
    };
    moved.task = placed.event.scope.task;
    Some(moved)
}

fn call_events_are_of(call_events: &[Placed], call: CallId) -> bool {
    let first = call_events.first();
    first.is_some_and(|placed| placed.event.scope.call == Some(call))
}

fn compared(
    (kind, record): (Resting, &Placed),
    call_events: &[Placed],
    old: Basis,
    now: &Basis,
) -> Option<Moved> {
    let changed = old.changed(now);
    if changed.is_empty() {
        return None;
    }
    Some(Moved {
        kind,
        record: record.event.id,
        record_kind: record.event.kind().as_str(),
        call: call_events.first()?.event.scope.call?,
        task: record.event.scope.task,
        output: None,
        artifact_sha256: None,
        standing: kind.standing(),
        moved: old.moved(now),
        changed,
        old,
        new: now.clone(),
        attempts: Vec::new(),
    })
}

fn attempts_moved(call_events: &[Placed], old: &Basis, now: &Basis) -> Vec<AttemptMoved> {
    let (before, after) = (
        dispositions(call_events, old.record),
        dispositions(call_events, now.record),
    );
    let of = |all: &[(AttemptId, Disposition)], attempt: AttemptId| {
        let found = all.iter().find(|(one, _)| *one == attempt);
        found.map(|(_, disposition)| *disposition)
    };
    let mut attempts: Vec<AttemptId> = before.iter().chain(&after).map(|(one, _)| *one).collect();
    let mut seen = Vec::new();
    attempts.retain(|attempt| {
        let new = !seen.contains(attempt);
        seen.push(*attempt);
        new
    });
    attempts
        .into_iter()
        .map(|attempt| AttemptMoved {
            attempt,
            old: of(&before, attempt),
            new: of(&after, attempt),
        })
        .filter(|one| one.old != one.new)
        .collect()
}

/// Returns what was decided of each attempt under a status record: by the record
/// itself, or by the decisions that led to it.
fn dispositions(call_events: &[Placed], record: EventId) -> Vec<(AttemptId, Disposition)> {
    let mut decided = Vec::new();
    for placed in call_events {
        if let (Body::AttemptRetryDecided(body), Some(attempt)) =
            (&placed.event.body, placed.event.scope.attempt)
        {
            decided.push((attempt, body.decision));
        }
        if placed.event.id != record {
            continue;
        }
        if let Body::CallReinterpreted(body) = &placed.event.body {
            let verdicts = body.decisions.iter();
            return verdicts.map(|one| (one.attempt, one.decision)).collect();
        }
        return decided;
    }
    Vec::new()
}

#[cfg(test)]
#[path = "impact/tests.rs"]
mod tests;
