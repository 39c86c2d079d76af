//! `call run` and what follows when it did not come to its end: the one place that
//! can reach a provider.
//!
//! Each step is durable before the next begins: intent, what will be sent, that an
//! attempt starts, then the exchange, its bytes, what was seen of it, what was read,
//! what was decided. Whoever continues a call asks the ledger how far it came, and
//! takes up the same loop there.

mod attempts;
mod keys;
mod prepare;
mod received;
mod recover;
mod request;
mod route;
mod steps;

use std::path::Path;

use model::decision::{CallStatus, Disposition};
use model::event::{ArtifactRef, Body, Placed};
use model::exchange::{ExceptionType, TransportOutcome};
use model::projection::{CallState, Operation, Stage};
use model::reading::GenerationState;
use model::{AttemptId, CallId, Digest, EventId, TaskId};
use serde::Serialize;

use self::route::Route;
use crate::config::Provider;
use crate::context::{Context, Session};
use crate::error::AppError;
use crate::evidence::Evidence;
use crate::module::RuleNames;
use crate::state::call_state;

pub use recover::ContinueOptions;

/// Whether a request may be sent although it may have been served before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SecondEffect {
    /// It is refused.
    #[default]
    Refused,
    /// The caller accepts that it may have its effect twice.
    Accepted,
}

/// What to ask, and by which rules to read the answer.
#[derive(Debug, Clone, Copy)]
pub struct CallOptions<'a> {
    /// The task that the call belongs to.
    pub task: Option<TaskId>,
    /// The provider's name in `config.toml`.
    pub provider: &'a str,
    /// The file that holds the request's body, sent exactly as it is.
    pub request: &'a Path,
    /// Who reads and decides.
    pub names: RuleNames<'a>,
    /// How many attempts may be made, at least 1.
    pub max_attempts: u32,
    /// The key under which the request is never repeated once it is answered.
    pub idempotency_key: Option<&'a str>,
    /// Whether to go on although another call of the key may have had its effect.
    pub second_effect: SecondEffect,
}

/// Why a call is not made or not continued.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// What would be sent is not what was recorded.
    #[error("call {call}: recorded intent does not reproduce: {}", fields.join(", "))]
    Drift {
        /// The call.
        call: CallId,
        /// What differs, by the names of the record.
        fields: Vec<&'static str>,
    },
    /// The key belongs to another request.
    #[error(
        "the idempotency key is that of completed call {original}, whose request differs in {}",
        fields.join(", ")
    )]
    Conflict {
        /// The completed call.
        original: CallId,
        /// What differs, by the names of the record.
        fields: Vec<&'static str>,
    },
    /// Another call of the key may have had its effect.
    #[error(
        "call {other} of the same idempotency key may have reached the provider (stage {}): \
         sending again may have its effect twice", stage.as_str()
    )]
    KeyInUse {
        /// The other call.
        other: CallId,
        /// How far it came.
        stage: Stage,
    },
    /// An attempt was started and nothing was observed.
    #[error(
        "call {call}: an attempt was started and nothing was observed: its process waits still or \
         is gone, the provider may have served it, and sending again may have its effect twice"
    )]
    EffectUnknown {
        /// The call.
        call: CallId,
    },
    /// The call is not where the operation could take it up.
    #[error(
        "{operation} is refused: call {call} is at stage {}, next {} ({reason})",
        stage.as_str(), next.as_str()
    )]
    NotNext {
        /// What was asked for.
        operation: &'static str,
        /// The call.
        call: CallId,
        /// How far it came.
        stage: Stage,
        /// What is safe to do next.
        next: Operation,
        /// Why.
        reason: String,
    },
    /// The recorded request cannot be read.
    #[error("call {call}: the bytes of its request {sha256} cannot be read: {detail}")]
    RequestUnavailable {
        /// The call.
        call: CallId,
        /// The request.
        sha256: Digest,
        /// Why.
        detail: String,
    },
    /// An import was never made here, so it cannot be continued here.
    #[error(
        "{operation} is refused: call {call} is an import; `reread reinterpret call` decides it"
    )]
    Imported {
        /// What was asked for.
        operation: &'static str,
        /// The call.
        call: CallId,
    },
}

impl Refusal {
    /// Returns whether the message names the call that is refused; the others name
    /// the call that stands in its way.
    const fn names_its_call(&self) -> bool {
        !matches!(self, Self::Conflict { .. } | Self::KeyInUse { .. })
    }

    /// Returns a short stable name, for machines.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Drift { .. } => "drift",
            Self::Conflict { .. } => "idempotency_conflict",
            Self::KeyInUse { .. } => "key_in_use",
            Self::EffectUnknown { .. } => "effect_unknown",
            Self::NotNext { .. } => "not_next",
            Self::RequestUnavailable { .. } => "request_unavailable",
            Self::Imported { .. } => "imported",
        }
    }
}

impl From<Refusal> for AppError {
    fn from(refusal: Refusal) -> Self {
        Self::Call(Box::new(refusal))
    }
}

/// How far a call came, after a command that made or continued it.
#[derive(Debug, Clone, Serialize)]
pub struct CallAdvanced {
    /// The call.
    pub call: CallId,
    /// The task it belongs to.
    pub task: Option<TaskId>,
    /// How far it came.
    pub stage: Stage,
    /// What is safe to do next.
    pub next_operation: Operation,
    /// Why.
    pub stage_reason: String,
    /// What became of it.
    pub status: Option<CallStatus>,
    /// Why.
    pub reason: Option<String>,
    /// Which rules the status rests on.
    pub status_basis: Option<String>,
    /// The record that holds it.
    pub record: Option<EventId>,
    /// Its attempts, in order; of a call that was answered, those of the call that
    /// answered for it.
    pub attempts: Vec<AttemptAdvanced>,
    /// How many events were appended.
    pub appended: u64,
    /// The completed call that answered for it.
    pub replayed_from: Option<CallId>,
    /// The call that it continues.
    pub resumed_from: Option<CallId>,
}

/// One attempt of such a call. What is null was not recorded.
#[derive(Debug, Clone, Default, Serialize)]
pub struct AttemptAdvanced {
    /// The attempt.
    pub attempt: Option<AttemptId>,
    /// From 1.
    pub index: u32,
    /// How the exchange ended.
    pub transport_outcome: Option<TransportOutcome>,
    /// The HTTP status.
    pub http_status: Option<u16>,
    /// Why no whole response arrived.
    pub exception_type: Option<ExceptionType>,
    /// The response's bytes.
    pub response: Option<ArtifactRef>,
    /// What became of the output, as the interpreter of the call says.
    pub generation_state: Option<GenerationState>,
    /// What the policy of the call says to do.
    pub decision: Option<Disposition>,
    /// Why.
    pub decision_reason: Option<String>,
    /// From just before connecting to the end of the response.
    pub latency_ms: Option<u64>,
}

/// Why a provider of the configuration cannot be asked now.
#[derive(Debug)]
pub(crate) enum Unfit {
    /// Its key is not in the environment.
    Key(String),
    /// Its table is wrong.
    Configuration(String),
}

/// Prepares an empty request to a provider, sends nothing, and returns where it would
/// go.
pub(crate) fn fitness(context: &Context, name: &str, provider: &Provider) -> Result<String, Unfit> {
    let dialect = provider
        .dialect(name)
        .map_err(|error| Unfit::Configuration(error.to_string()))?;
    match Route::prepare(context, provider, dialect, Vec::new()) {
        Ok(route) => Ok(route.manifest().url),
        Err(unprepared) if unprepared.stage == "key" => Err(Unfit::Key(unprepared.detail)),
        Err(unprepared) => Err(Unfit::Configuration(unprepared.detail)),
    }
}

impl Session {
    /// Tells how far a call came.
    fn advanced(
        &self,
        call: CallId,
        appended: u64,
        resumed_from: Option<CallId>,
    ) -> Result<CallAdvanced, AppError> {
        let reader = self.ledger.reader();
        let events = reader.of_call(call)?;
        let evidence = Evidence::new(self.artifacts.clone(), reader)?;
        let state = call_state(reader, &evidence, &events)?.ok_or_else(|| AppError::Unknown {
            what: "call",
            name: call.to_string(),
        })?;
        let replayed = events.iter().find_map(|placed| {
            let Body::CallReplayed(body) = &placed.event.body else {
                return None;
            };
            Some((body.original_call, body.original_status))
        });
        Ok(CallAdvanced {
            call,
            task: state.task,
            stage: state.stage,
            next_operation: state.next_operation,
            stage_reason: state.reason,
            // A replayed call has the status of the one that answered for it.
            status: state.call_status.or(replayed.map(|(_, status)| status)),
            reason: state.status_reason,
            status_basis: state.status_basis,
            record: state.status_record,
            attempts: match replayed {
                Some((original, _)) => attempts_of(&reader.of_call(original)?),
                None => attempts_of(&events),
            },
            appended,
            replayed_from: replayed.map(|(original, _)| original),
            resumed_from,
        })
    }
}

/// Returns the names of what differs.
fn differing<const N: usize>(differ: [(&'static str, bool); N]) -> Vec<&'static str> {
    differ
        .into_iter()
        .filter_map(|(name, differs)| differs.then_some(name))
        .collect()
}

/// Says that a call is not where an operation could take it up.
fn not_next(operation: &'static str, state: &CallState) -> AppError {
    Refusal::NotNext {
        operation,
        call: state.call,
        stage: state.stage,
        next: state.next_operation,
        reason: state.reason.clone(),
    }
    .into()
}

fn attempts_of(events: &[Placed]) -> Vec<AttemptAdvanced> {
    let mut attempts: Vec<AttemptAdvanced> = Vec::new();
    let interpreter = events.iter().find_map(|placed| {
        let Body::CallRequested(body) = &placed.event.body else {
            return None;
        };
        Some((body.interpreter.sha256, body.interpreter_config_sha256))
    });
    for placed in events {
        let id = placed.event.scope.attempt;
        if let Body::AttemptStarted(body) = &placed.event.body {
            attempts.push(AttemptAdvanced {
                attempt: id,
                index: body.index,
                ..AttemptAdvanced::default()
            });
        }
        let Some(attempt) = attempts.iter_mut().find(|one| one.attempt == id) else {
            continue;
        };
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the other kinds say nothing of one attempt"
        )]
        match &placed.event.body {
            Body::AttemptObserved(body) => {
                attempt.transport_outcome = Some(body.transport_outcome);
                attempt.http_status = body.http_status;
                attempt.exception_type = body.exception_type;
                attempt.response.clone_from(&body.response_body_artifact);
            }
            Body::AttemptInterpreted(body)
                if interpreter == Some((body.module.sha256, body.config_sha256)) =>
            {
                attempt.generation_state = Some(body.reading.generation_state);
            }
            Body::AttemptRetryDecided(body) => {
                attempt.decision = Some(body.decision);
                attempt.decision_reason = Some(body.reason.clone());
            }
            Body::AttemptCompleted(body) => attempt.latency_ms = body.latency_ms,
            _ => {}
        }
    }
    attempts
}
