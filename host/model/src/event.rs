//! Events: the closed list of what can be written down, and their exact bytes.
//!
//! The bytes of an event are canonical JSON (see [`crate::canonical`]). Invariant:
//! reading bytes and writing them again gives the same bytes, or they are refused.

pub mod artifact;
pub mod attempt;
pub mod call;
mod cause;
pub mod home;
pub mod module;
mod named;
pub mod task;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use artifact::{ArtifactRef, Preservation};

use crate::bounds::{ATTEMPTS_MAX, CHECKS_MAX, EVENT_BYTES_MAX, REASONS_MAX};
use crate::canonical::{self, CanonicalError};
use crate::id::{AttemptId, CallId, EventId, LedgerId, TaskId};
use crate::name::Actor;
use crate::time::Timestamp;

/// The only version of the envelope.
pub const VERSION: u64 = 1;

macro_rules! kinds {
    ($($variant:ident($body:ty) = $name:literal),+ $(,)?) => {
        /// What an event records. The list is closed: a name outside of it was
        /// written by a newer program.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $(#[doc = concat!("`", $name, "`")] $variant,)+
        }

        impl Kind {
            /// Every kind, in the order of the format.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns the name used in JSON.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }

        /// The body of an event, by kind.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Body {
            $(#[doc = concat!("`", $name, "`")] $variant($body),)+
        }

        impl Body {
            /// Returns the kind.
            pub const fn kind(&self) -> Kind {
                match self { $(Self::$variant(_) => Kind::$variant,)+ }
            }

            fn to_value(&self) -> serde_json::Result<serde_json::Value> {
                match self { $(Self::$variant(body) => serde_json::to_value(body),)+ }
            }

            fn parse(kind: Kind, json: &str) -> serde_json::Result<Self> {
                match kind {
                    $(Kind::$variant => serde_json::from_str(json).map(Self::$variant),)+
                }
            }
        }

        $(impl From<$body> for Body {
            fn from(body: $body) -> Self {
                Self::$variant(body)
            }
        })+
    };
}

kinds! {
    HomeCreated(home::HomeCreated) = "home.created",
    HomePreregistered(home::HomePreregistered) = "home.preregistered",
    HomeErased(home::HomeErased) = "home.erased",
    ModuleRegistered(module::ModuleRegistered) = "module.registered",
    ModuleRetired(module::ModuleRetired) = "module.retired",
    TaskCreated(task::TaskCreated) = "task.created",
    CallRequested(call::CallRequested) = "call.requested",
    CallManifest(call::CallManifest) = "call.manifest",
    CallPreparationFailed(call::CallPreparationFailed) = "call.preparation_failed",
    CallImported(call::CallImported) = "call.imported",
    AttemptStarted(attempt::AttemptStarted) = "attempt.started",
    AttemptObserved(Box<attempt::AttemptObserved>) = "attempt.observed",
    AttemptInterpreted(Box<attempt::AttemptInterpreted>) = "attempt.interpreted",
    AttemptRetryDecided(attempt::AttemptRetryDecided) = "attempt.retry_decided",
    AttemptCompleted(attempt::AttemptCompleted) = "attempt.completed",
    CallStatusDecided(call::CallStatusDecided) = "call.status_decided",
    CallCompleted(call::CallCompleted) = "call.completed",
    CallReinterpreted(Box<call::CallReinterpreted>) = "call.reinterpreted",
    CallResumed(call::CallResumed) = "call.resumed",
    CallReplayed(call::CallReplayed) = "call.replayed",
    CostComputed(call::CostComputed) = "cost.computed",
    CheckRequested(task::CheckRequested) = "check.requested",
    CheckCompleted(Box<task::CheckCompleted>) = "check.completed",
    ArtifactDerived(artifact::ArtifactDerived) = "artifact.derived",
    TaskAccepted(Box<task::TaskAccepted>) = "task.accepted",
    TaskCompleted(task::TaskCompleted) = "task.completed",
    TaskAcceptanceRejected(Box<task::TaskAcceptanceRejected>) = "task.acceptance_rejected",
}

impl Body {
    /// Refuses a body that passes a bound of the format.
    fn within_bounds(&self) -> Result<(), EventError> {
        let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let attempts = count(ATTEMPTS_MAX);
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the other kinds count nothing"
        )]
        let (what, found, limit) = match self {
            Self::CallRequested(body) => ("attempts", count(body.max_attempts), attempts),
            Self::AttemptStarted(body) => ("attempts", count(body.index), attempts),
            Self::TaskAccepted(body) => ("checks", body.checks.len(), CHECKS_MAX),
            Self::TaskAcceptanceRejected(body) => ("reasons", body.reasons.len(), REASONS_MAX),
            _ => return Ok(()),
        };
        if found > limit {
            return Err(EventError::Bound {
                kind: self.kind().as_str(),
                what,
                limit,
                found,
            });
        }
        Ok(())
    }
}

impl Kind {
    /// Returns the kind of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == name)
    }
}

/// A signature over an event without its `sig`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// `ed25519:<hex>`.
    pub key: String,
    /// Base64.
    pub value: String,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The ledger it was made for.
    pub ledger: LedgerId,
    /// Its name.
    pub id: EventId,
    /// When it was made.
    pub at: Timestamp,
    /// Who made it: a name, not a proof of identity.
    pub actor: Actor,
    /// The event that led to it.
    pub cause: Option<EventId>,
    /// What it is about. Ids stand here and never again in the body.
    pub scope: Scope,
    /// What it says.
    pub body: Body,
    /// By the actor's key.
    pub sig: Option<Signature>,
}

/// The task, call and attempt that an event is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scope {
    /// The task.
    pub task: Option<TaskId>,
    /// The call.
    pub call: Option<CallId>,
    /// The attempt.
    pub attempt: Option<AttemptId>,
}

/// An event at its place in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// From 1, without gaps.
    pub seq: u64,
    /// The event.
    pub event: Event,
}

/// Why bytes are not an event, or an event has no bytes.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// The bytes are not the JSON of an event.
    #[error("the bytes are not an event: {0}")]
    Json(String),
    /// The envelope's version is not ours.
    #[error("expected an event of version {VERSION}, found version {0}: a newer program wrote it")]
    Version(u64),
    /// The kind is not in the list.
    #[error("the kind {0:?} is unknown: a newer program wrote it")]
    Kind(String),
    /// The body does not fit its kind.
    #[error("the body does not fit {kind}: {detail}")]
    Body {
        /// The kind.
        kind: &'static str,
        /// What does not fit.
        detail: String,
    },
    /// The bytes are JSON of an event, but not the canonical ones.
    #[error("the bytes are not the canonical JSON of the event they hold")]
    NotCanonical,
    /// A value has no canonical form.
    #[error(transparent)]
    Canonical(#[from] CanonicalError),
    /// A list or a number of the body is larger than the format allows.
    #[error("the event {kind} has {found} {what}, but at most {limit} are allowed")]
    Bound {
        /// The kind.
        kind: &'static str,
        /// What is counted.
        what: &'static str,
        /// How many are allowed.
        limit: usize,
        /// How many there are.
        found: usize,
    },
    /// The event is larger than the format allows.
    #[error("the event {kind} has {found} bytes, but at most {EVENT_BYTES_MAX} are allowed")]
    TooLarge {
        /// The kind.
        kind: &'static str,
        /// Its size.
        found: usize,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ParsedEnvelope<'a> {
    v: u64,
    ledger: LedgerId,
    id: EventId,
    #[serde(borrow)]
    kind: std::borrow::Cow<'a, str>,
    at: Timestamp,
    actor: Actor,
    cause: Option<EventId>,
    #[serde(default)]
    task: Option<TaskId>,
    #[serde(default)]
    call: Option<CallId>,
    #[serde(default)]
    attempt: Option<AttemptId>,
    #[serde(borrow)]
    body: &'a RawValue,
    #[serde(default)]
    sig: Option<Signature>,
}

#[derive(Serialize)]
struct WrittenEnvelope<'a> {
    v: u64,
    ledger: LedgerId,
    id: EventId,
    kind: &'static str,
    at: Timestamp,
    actor: &'a Actor,
    cause: Option<EventId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<CallId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<AttemptId>,
    body: serde_json::Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    sig: Option<&'a Signature>,
}

impl Event {
    /// Returns the kind.
    pub const fn kind(&self) -> Kind {
        self.body.kind()
    }

    /// Returns the exact bytes that are written down.
    pub fn to_bytes(&self) -> Result<Vec<u8>, EventError> {
        self.bytes_with(self.sig.as_ref())
    }

    /// Returns the bytes that a signature covers: a context line, then the
    /// canonical JSON of the event without `sig`.
    pub fn signed_bytes(&self) -> Result<Vec<u8>, EventError> {
        let mut bytes = b"reread-event-v1\n".to_vec();
        bytes.extend(self.bytes_with(None)?);
        Ok(bytes)
    }

    fn bytes_with(&self, sig: Option<&Signature>) -> Result<Vec<u8>, EventError> {
        let kind = self.kind().as_str();
        self.body.within_bounds()?;
        let body = self
            .body
            .to_value()
            .map_err(|error| CanonicalError::Shape(error.to_string()))?;
        let bytes = canonical::to_bytes(&WrittenEnvelope {
            v: VERSION,
            ledger: self.ledger,
            id: self.id,
            kind,
            at: self.at,
            actor: &self.actor,
            cause: self.cause,
            task: self.scope.task,
            call: self.scope.call,
            attempt: self.scope.attempt,
            body,
            sig,
        })?;
        if bytes.len() > EVENT_BYTES_MAX {
            return Err(EventError::TooLarge {
                kind,
                found: bytes.len(),
            });
        }
        Ok(bytes)
    }

    /// Reads an event. Whether the bytes are the canonical ones is asked by
    /// [`Event::parse_exact`].
    pub fn parse(bytes: &[u8]) -> Result<Self, EventError> {
        let envelope: ParsedEnvelope<'_> =
            serde_json::from_slice(bytes).map_err(|error| EventError::Json(error.to_string()))?;
        if envelope.v != VERSION {
            return Err(EventError::Version(envelope.v));
        }
        let kind = Kind::parse(&envelope.kind)
            .ok_or_else(|| EventError::Kind(envelope.kind.chars().take(80).collect()))?;
        let body = Body::parse(kind, envelope.body.get()).map_err(|error| EventError::Body {
            kind: kind.as_str(),
            detail: error.to_string(),
        })?;
        Ok(Self {
            ledger: envelope.ledger,
            id: envelope.id,
            at: envelope.at,
            actor: envelope.actor,
            cause: envelope.cause,
            scope: Scope {
                task: envelope.task,
                call: envelope.call,
                attempt: envelope.attempt,
            },
            body,
            sig: envelope.sig,
        })
    }

    /// Reads an event and refuses bytes that are not its canonical ones.
    pub fn parse_exact(bytes: &[u8]) -> Result<Self, EventError> {
        let event = Self::parse(bytes)?;
        if event.to_bytes()? == bytes {
            Ok(event)
        } else {
            Err(EventError::NotCanonical)
        }
    }
}

#[cfg(test)]
#[path = "event/tests.rs"]
mod tests;
