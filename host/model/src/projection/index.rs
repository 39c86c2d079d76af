//! The columns by which the ledger finds an event; each is derived from its bytes.

use crate::digest::Digest;
use crate::event::{ArtifactRef, Body, Event, Scope};
use crate::id::{AttemptId, CallId, EventId, TaskId};

/// What the ledger indexes of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexColumns {
    /// The event's name.
    pub id: EventId,
    /// Its kind.
    pub kind: &'static str,
    /// The event that led to it.
    pub cause: Option<EventId>,
    /// What it is about.
    pub scope: Scope,
    /// The hash of the key that must be unique in a ledger, if it has one.
    pub unique_key: Option<Digest>,
    /// A name to find it by: external id, idempotency key, label or run.
    pub name: Option<String>,
    /// The module that read or decided.
    pub module: Option<Digest>,
    /// The response's bytes, for an observation; what was made, for a derivation.
    pub response: Option<Digest>,
    /// The request's bytes, for an observation; what it was made from, for a
    /// derivation.
    pub request: Option<Digest>,
}

impl IndexColumns {
    /// Derives the columns of an event.
    pub fn of(event: &Event) -> Self {
        let mut columns = Self {
            id: event.id,
            kind: event.kind().as_str(),
            cause: event.cause,
            scope: event.scope,
            unique_key: UniqueKey::of(event).map(|key| key.digest()),
            name: None,
            module: None,
            response: None,
            request: None,
        };
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the other kinds are found by scope"
        )]
        match &event.body {
            Body::ModuleRegistered(body) => {
                columns.name = Some(body.module.label.to_string());
                columns.module = Some(body.module.sha256);
            }
            Body::TaskCreated(body) => columns.name.clone_from(&body.run),
            Body::CallRequested(body) => columns.name.clone_from(&body.idempotency_key),
            Body::CallImported(body) => columns.name.clone_from(&body.external_id),
            Body::AttemptObserved(body) => {
                let sha256 = |artifact: &ArtifactRef| artifact.sha256;
                columns.response = body.response_body_artifact.as_ref().map(sha256);
                columns.request = body.request_body_artifact.as_ref().map(sha256);
            }
            Body::ArtifactDerived(body) => {
                columns.response = Some(body.to_sha256);
                columns.request = Some(body.from_sha256);
            }
            Body::AttemptInterpreted(body) => columns.module = Some(body.module.sha256),
            Body::AttemptRetryDecided(body) => columns.module = Some(body.policy.sha256),
            Body::CallStatusDecided(body) => columns.module = Some(body.policy.sha256),
            Body::CallReinterpreted(body) => columns.module = Some(body.policy.sha256),
            Body::CostComputed(body) => columns.module = Some(body.module.sha256),
            _ => {}
        }
        columns
    }
}

/// What may stand in a ledger only once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UniqueKey<'a> {
    /// A label is bound to one hash.
    Label(&'a str),
    /// One module reads one attempt with one configuration once.
    Reading(AttemptId, Digest, Option<Digest>),
    /// One pair reinterprets a call once after each status record.
    Reinterpretation {
        /// The call.
        call: CallId,
        /// The interpreter and its configuration.
        interpreter: (Digest, Option<Digest>),
        /// The policy and its configuration.
        policy: (Digest, Option<Digest>),
        /// The status record before.
        prior: Option<EventId>,
    },
    /// One line is imported once.
    Import(Option<&'a str>, Digest),
    /// An output of a task is accepted once.
    Acceptance(TaskId, &'a str),
    /// One module prices one reading by one table once.
    Cost(EventId, Digest, Digest),
}

impl<'a> UniqueKey<'a> {
    /// Returns the key of an event, if its kind has one.
    pub fn of(event: &'a Event) -> Option<Self> {
        #[expect(clippy::wildcard_enum_match_arm, reason = "the other kinds may repeat")]
        match &event.body {
            Body::ModuleRegistered(body) => Some(Self::Label(body.module.label.as_str())),
            Body::AttemptInterpreted(body) => {
                let attempt = event.scope.attempt?;
                Some(Self::Reading(
                    attempt,
                    body.module.sha256,
                    body.config_sha256,
                ))
            }
            Body::CallReinterpreted(body) => Some(Self::Reinterpretation {
                call: event.scope.call?,
                interpreter: (body.interpreter.sha256, body.interpreter_config_sha256),
                policy: (body.policy.sha256, body.policy_config_sha256),
                prior: body.prior_record,
            }),
            Body::CallImported(body) => {
                Some(Self::Import(body.external_id.as_deref(), body.line_sha256))
            }
            Body::TaskAccepted(body) => Some(Self::Acceptance(event.scope.task?, &body.output)),
            Body::CostComputed(body) => Some(Self::Cost(
                event.cause?,
                body.module.sha256,
                body.config_sha256,
            )),
            _ => None,
        }
    }

    /// Returns the hash that the ledger keeps unique: of the key's parts, each
    /// with its length, so that no two keys share a text.
    pub fn digest(&self) -> Digest {
        let mut bytes = Vec::with_capacity(160);
        let mut part = |tag: u8, value: &[u8]| {
            bytes.push(tag);
            let length = u32::try_from(value.len()).unwrap_or(u32::MAX);
            bytes.extend_from_slice(&length.to_be_bytes());
            bytes.extend_from_slice(value);
        };
        let config = |config: &Option<Digest>| config.map(|digest| digest.as_bytes().to_vec());
        match self {
            Self::Label(label) => part(b'L', label.as_bytes()),
            Self::Reading(attempt, module, configuration) => {
                part(b'R', attempt.as_bytes());
                part(b'm', module.as_bytes());
                part(b'c', &config(configuration).unwrap_or_default());
            }
            Self::Reinterpretation {
                call,
                interpreter,
                policy,
                prior,
            } => {
                part(b'C', call.as_bytes());
                for (module, configuration) in [interpreter, policy] {
                    part(b'm', module.as_bytes());
                    part(b'c', &config(configuration).unwrap_or_default());
                }
                part(
                    b'p',
                    prior
                        .as_ref()
                        .map(EventId::as_bytes)
                        .map_or(&[], |id| id.as_slice()),
                );
            }
            Self::Import(external_id, line) => {
                part(
                    if external_id.is_some() { b'I' } else { b'i' },
                    line.as_bytes(),
                );
                part(b'e', external_id.unwrap_or_default().as_bytes());
            }
            Self::Acceptance(task, output) => {
                part(b'A', task.as_bytes());
                part(b'o', output.as_bytes());
            }
            Self::Cost(reading, module, table) => {
                part(b'P', reading.as_bytes());
                part(b'm', module.as_bytes());
                part(b'c', table.as_bytes());
            }
        }
        Digest::of(&bytes)
    }
}
