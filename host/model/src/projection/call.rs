//! The work state of a call: how far it came, and what is safe to do next.

use std::fmt;

use serde::Serialize;

use super::adopted::{Adopted, adopted};
use crate::decision::CallStatus;
use crate::event::{Body, Kind, Placed};
use crate::id::{AttemptId, CallId, EventId, TaskId};

/// How far a call came. The first that fits, in this order of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Another call answered for it.
    Replayed,
    /// It is finished.
    Completed,
    /// It could not be prepared.
    PreparationFailed,
    /// Only the intent is recorded.
    Requested,
    /// What will be sent is recorded.
    ManifestRecorded,
    /// A request may have been served.
    EffectUnknown,
    /// The response is preserved, unread.
    Observed,
    /// The response is read, undecided.
    Interpreted,
    /// Another attempt is decided and not started.
    RetryDecided,
    /// The attempt is decided, the call is not.
    Decided,
}

/// What is safe to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Nothing.
    None,
    /// Make the call.
    StartCall,
    /// Find out whether the request was served.
    ReconcileEffect,
    /// Read the preserved bytes.
    Reinterpret,
    /// Decide from the readings.
    Redecide,
    /// Make the decided attempt.
    StartNextAttempt,
    /// Decide the call's status.
    FinalizeCall,
    /// Mend what kept the call from being prepared.
    FixInputs,
    /// Check an output and accept it.
    CheckAndAccept,
    /// Repeat an acceptance whose completion is missing.
    RepeatAcceptance,
}

/// What is known of the effect on the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderEffect {
    /// No request left.
    None,
    /// A response, or its absence, was observed.
    Observed,
    /// A request may have been served.
    Unknown,
}

impl Operation {
    /// Returns the name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::StartCall => "start_call",
            Self::ReconcileEffect => "reconcile_effect",
            Self::Reinterpret => "reinterpret",
            Self::Redecide => "redecide",
            Self::StartNextAttempt => "start_next_attempt",
            Self::FinalizeCall => "finalize_call",
            Self::FixInputs => "fix_inputs",
            Self::CheckAndAccept => "check_and_accept",
            Self::RepeatAcceptance => "repeat_acceptance",
        }
    }
}

impl Stage {
    /// Returns what is known of the effect on the provider at this stage.
    pub const fn provider_effect(self) -> ProviderEffect {
        match self {
            Self::Replayed | Self::PreparationFailed | Self::Requested | Self::ManifestRecorded => {
                ProviderEffect::None
            }
            Self::EffectUnknown => ProviderEffect::Unknown,
            Self::Completed
            | Self::Observed
            | Self::Interpreted
            | Self::RetryDecided
            | Self::Decided => ProviderEffect::Observed,
        }
    }

    /// Returns the name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Replayed => "replayed",
            Self::Completed => "completed",
            Self::PreparationFailed => "preparation_failed",
            Self::Requested => "requested",
            Self::ManifestRecorded => "manifest_recorded",
            Self::EffectUnknown => "effect_unknown",
            Self::Observed => "observed",
            Self::Interpreted => "interpreted",
            Self::RetryDecided => "retry_decided",
            Self::Decided => "decided",
        }
    }
}

/// Why preserved bytes cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unavailable {
    /// The bytes are not there.
    Missing,
    /// The bytes do not hash to their name.
    Corrupt,
    /// The bytes were never kept.
    Withheld,
    /// The bytes were removed on purpose.
    Erased,
}

impl Unavailable {
    /// Returns the word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Corrupt => "corrupt",
            Self::Withheld => "withheld",
            Self::Erased => "erased",
        }
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a projection needs to know beside the call's own events.
#[derive(Debug, Clone, Copy, Default)]
pub struct Surroundings {
    /// Why the bytes of the last observed attempt cannot be read.
    pub unavailable: Option<Unavailable>,
    /// Another call with the same idempotency key that is completed.
    pub completed_twin: Option<CallId>,
}

/// The work state of one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallState {
    /// The call.
    pub call: CallId,
    /// The task it belongs to.
    pub task: Option<TaskId>,
    /// The name that the source of an import gives.
    pub external_id: Option<String>,
    /// The key under which it is never repeated once completed.
    pub idempotency_key: Option<String>,
    /// The provider.
    pub provider: Option<String>,
    /// The wire dialect.
    pub dialect: String,
    /// How far it came.
    pub stage: Stage,
    /// What is known of the effect on the provider.
    pub provider_effect: ProviderEffect,
    /// What is safe to do next.
    pub next_operation: Operation,
    /// Whether doing it again may have an effect twice.
    pub duplicate_effect_risk: bool,
    /// Why.
    pub reason: String,
    /// How many attempts were started or imported.
    pub attempt_count: u32,
    /// The adopted status.
    pub call_status: Option<CallStatus>,
    /// The adopted status' reason.
    pub status_reason: Option<String>,
    /// Which rules the adopted status rests on.
    pub status_basis: Option<String>,
    /// The record that holds the adopted status.
    pub status_record: Option<EventId>,
    /// The reading that the adopted status rests on.
    pub decision_basis: Option<EventId>,
    /// The completed call of the same key.
    pub superseded_by: Option<CallId>,
    /// The call that continued this one.
    pub resumed_as: Option<CallId>,
}

/// What the events of a call say, before any rule is applied.
struct Evidence<'a> {
    events: &'a [Placed],
    last_attempt: Option<AttemptId>,
}

impl<'a> Evidence<'a> {
    fn of(events: &'a [Placed]) -> Self {
        let starts = [Kind::AttemptStarted, Kind::CallImported];
        let last_attempt = events
            .iter()
            .rev()
            .find(|placed| {
                starts.contains(&placed.event.kind())
                    || placed.event.kind() == Kind::AttemptObserved
            })
            .and_then(|placed| placed.event.scope.attempt);
        Self {
            events,
            last_attempt,
        }
    }

    fn has(&self, kind: Kind) -> bool {
        self.events.iter().any(|placed| placed.event.kind() == kind)
    }

    fn last_attempt_has(&self, kind: Kind) -> bool {
        self.events.iter().any(|placed| {
            placed.event.kind() == kind && placed.event.scope.attempt == self.last_attempt
        })
    }

    fn retry_follows(&self) -> bool {
        self.events.iter().rev().any(|placed| {
            placed.event.scope.attempt == self.last_attempt
                && matches!(&placed.event.body, Body::AttemptRetryDecided(body) if body.executed)
        })
    }

    fn attempt_count(&self) -> u32 {
        let observed_only = self.has(Kind::CallImported);
        let counted = if observed_only {
            Kind::AttemptObserved
        } else {
            Kind::AttemptStarted
        };
        let count = self
            .events
            .iter()
            .filter(|placed| placed.event.kind() == counted)
            .count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }
}

impl CallState {
    /// Derives the work state from the events of one call, in order. Returns
    /// none when they do not begin a call.
    pub fn of(events: &[Placed], surroundings: Surroundings) -> Option<Self> {
        let opening = events.iter().find_map(Opening::of)?;
        let evidence = Evidence::of(events);
        let adopted = adopted(events.iter());
        let mut state = opening.state(&evidence, adopted.as_ref());
        state.resumed_as = events.iter().find_map(|placed| {
            let Body::CallResumed(body) = &placed.event.body else {
                return None;
            };
            Some(body.to_call)
        });
        let imported = evidence.has(Kind::CallImported);
        state.climb(&evidence, imported);
        state.restrict(&evidence, imported, surroundings);
        Some(state)
    }

    /// Sets the first stage of the ladder that the evidence reaches.
    fn climb(&mut self, evidence: &Evidence<'_>, imported: bool) {
        let (stage, next, reason) = closed(evidence, imported)
            .or_else(|| before_effect(evidence))
            .unwrap_or_else(|| after_effect(evidence, imported));
        self.stage = stage;
        self.provider_effect = stage.provider_effect();
        self.next_operation = next;
        self.duplicate_effect_risk = stage == Stage::EffectUnknown;
        reason.clone_into(&mut self.reason);
    }

    /// Takes away a next operation that something else forbids.
    fn restrict(&mut self, evidence: &Evidence<'_>, imported: bool, around: Surroundings) {
        let waits = [
            Stage::Requested,
            Stage::ManifestRecorded,
            Stage::PreparationFailed,
        ]
        .contains(&self.stage);
        if let (true, Some(twin)) = (waits, around.completed_twin) {
            self.superseded_by = Some(twin);
            self.next_operation = Operation::None;
            self.reason = format!("call {twin} of the same idempotency key is completed");
        } else if let Some(to_call) = self.resumed_as
            && (waits || self.stage == Stage::EffectUnknown)
        {
            self.next_operation = Operation::None;
            self.reason = format!("resumed as call {to_call}");
        }
        // Only what reads the bytes is taken away: a recorded reading can be decided
        // although its bytes are gone.
        let reads = self.next_operation == Operation::Reinterpret;
        if let (true, Some(word)) = (reads, around.unavailable) {
            self.next_operation = Operation::None;
            word.as_str().clone_into(&mut self.reason);
        }
        let undecided = !evidence.has(Kind::CallStatusDecided);
        if !imported && undecided && evidence.has(Kind::CallReinterpreted) {
            self.next_operation = Operation::None;
            "the call was reinterpreted; its status is adopted from that"
                .clone_into(&mut self.reason);
        }
    }
}

type Rung = (Stage, Operation, &'static str);

/// The rungs that end a call.
fn closed(evidence: &Evidence<'_>, imported: bool) -> Option<Rung> {
    let rung = if evidence.has(Kind::CallReplayed) {
        (
            Stage::Replayed,
            Operation::None,
            "another call answered for it",
        )
    } else if evidence.has(Kind::CallCompleted) {
        (
            Stage::Completed,
            Operation::None,
            "call.completed is recorded",
        )
    } else if imported && evidence.has(Kind::CallReinterpreted) {
        (
            Stage::Completed,
            Operation::None,
            "the import was reinterpreted",
        )
    } else if evidence.has(Kind::CallPreparationFailed) {
        (
            Stage::PreparationFailed,
            Operation::FixInputs,
            "nothing was sent",
        )
    } else {
        return None;
    };
    Some(rung)
}

/// The rungs on which no attempt was started.
fn before_effect(evidence: &Evidence<'_>) -> Option<Rung> {
    if evidence.last_attempt.is_some() {
        return None;
    }
    Some(if evidence.has(Kind::CallImported) {
        (
            Stage::Requested,
            Operation::None,
            "the import has no observation",
        )
    } else if evidence.has(Kind::CallManifest) {
        (
            Stage::ManifestRecorded,
            Operation::StartCall,
            "no attempt was started",
        )
    } else {
        (
            Stage::Requested,
            Operation::StartCall,
            "only the intent is recorded",
        )
    })
}

/// The rungs of the last attempt.
fn after_effect(evidence: &Evidence<'_>, imported: bool) -> Rung {
    if !evidence.last_attempt_has(Kind::AttemptObserved) {
        let reason = "an attempt was started and nothing was observed";
        (Stage::EffectUnknown, Operation::ReconcileEffect, reason)
    } else if !evidence.last_attempt_has(Kind::AttemptInterpreted) {
        (
            Stage::Observed,
            Operation::Reinterpret,
            "the observation is not read",
        )
    } else if imported {
        (
            Stage::Interpreted,
            Operation::Reinterpret,
            "the import is not decided",
        )
    } else if !evidence.last_attempt_has(Kind::AttemptRetryDecided) {
        (
            Stage::Interpreted,
            Operation::Redecide,
            "the reading is not decided",
        )
    } else if evidence.retry_follows() {
        let reason = "another attempt is decided and not started";
        (Stage::RetryDecided, Operation::StartNextAttempt, reason)
    } else {
        (
            Stage::Decided,
            Operation::FinalizeCall,
            "the call's status is not decided",
        )
    }
}

/// The event that begins a call.
struct Opening {
    call: CallId,
    task: Option<TaskId>,
    external_id: Option<String>,
    idempotency_key: Option<String>,
    provider: Option<String>,
    dialect: String,
}

impl Opening {
    fn of(placed: &Placed) -> Option<Self> {
        let call = placed.event.scope.call?;
        let task = placed.event.scope.task;
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "only two kinds begin a call"
        )]
        match &placed.event.body {
            Body::CallRequested(body) => Some(Self {
                call,
                task,
                external_id: None,
                idempotency_key: body.idempotency_key.clone(),
                provider: Some(body.provider.clone()),
                dialect: body.dialect.clone(),
            }),
            Body::CallImported(body) => Some(Self {
                call,
                task,
                external_id: body.external_id.clone(),
                idempotency_key: None,
                provider: body.provider.clone(),
                dialect: body.dialect.clone(),
            }),
            _ => None,
        }
    }

    fn state(self, evidence: &Evidence<'_>, adopted: Option<&Adopted>) -> CallState {
        CallState {
            call: self.call,
            task: self.task,
            external_id: self.external_id,
            idempotency_key: self.idempotency_key,
            provider: self.provider,
            dialect: self.dialect,
            stage: Stage::Requested,
            provider_effect: ProviderEffect::None,
            next_operation: Operation::None,
            duplicate_effect_risk: false,
            reason: String::new(),
            attempt_count: evidence.attempt_count(),
            call_status: adopted.map(|adopted| adopted.status),
            status_reason: adopted.map(|adopted| adopted.reason.clone()),
            status_basis: adopted.map(Adopted::status_basis),
            status_record: adopted.map(|adopted| adopted.record),
            decision_basis: adopted.and_then(Adopted::decision_basis),
            superseded_by: None,
            resumed_as: None,
        }
    }
}

#[cfg(test)]
#[path = "call/tests.rs"]
mod tests;
