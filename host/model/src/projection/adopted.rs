//! The adopted status of a call: the latest of `call.status_decided` and
//! `call.reinterpreted`.

use crate::decision::CallStatus;
use crate::digest::Digest;
use crate::event::{Body, Placed};
use crate::id::EventId;
use crate::name::Mod;

/// The status that counts now, and the record that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adopted {
    /// The record.
    pub record: EventId,
    /// The kind of the record.
    pub record_kind: &'static str,
    /// What became of the call.
    pub status: CallStatus,
    /// Why.
    pub reason: String,
    /// Who read and decided.
    pub pair: Pair,
    /// The readings it rests on, one per attempt.
    pub interpretations: Vec<EventId>,
    /// Whether it was decided while the call was made.
    origin: Origin,
}

/// An interpreter and a policy with their configurations.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// Who reads.
    pub interpreter: Mod,
    /// Who decides.
    pub policy: Mod,
    /// The interpreter's configuration.
    pub interpreter_config: Option<Digest>,
    /// The policy's configuration.
    pub policy_config: Option<Digest>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Execution,
    Reinterpretation,
}

impl Adopted {
    /// Returns which rules the status rests on: `execution:<policy>` or
    /// `reinterpretation:<interpreter>/<policy>`.
    pub fn status_basis(&self) -> String {
        let Pair {
            interpreter,
            policy,
            ..
        } = &self.pair;
        match self.origin {
            Origin::Execution => format!("execution:{}", policy.label),
            Origin::Reinterpretation => {
                format!("reinterpretation:{}/{}", interpreter.label, policy.label)
            }
        }
    }

    /// Returns the reading of the last attempt, which the decision rests on.
    pub fn decision_basis(&self) -> Option<EventId> {
        self.interpretations.last().copied()
    }
}

/// Returns the adopted status of the call whose events are given in order.
pub fn adopted<'a>(events: impl DoubleEndedIterator<Item = &'a Placed>) -> Option<Adopted> {
    events
        .rev()
        .find_map(|placed| of_event(&placed.event.body, placed.event.id))
}

fn of_event(body: &Body, record: EventId) -> Option<Adopted> {
    let record_kind = body.kind().as_str();
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only two kinds ever hold a status"
    )]
    match body {
        Body::CallStatusDecided(decided) => Some(Adopted {
            record,
            record_kind,
            status: decided.status,
            reason: decided.reason.clone(),
            pair: Pair {
                interpreter: decided.interpreter.clone(),
                policy: decided.policy.clone(),
                interpreter_config: decided.interpreter_config_sha256,
                policy_config: decided.policy_config_sha256,
            },
            interpretations: decided.interpretations.clone(),
            origin: Origin::Execution,
        }),
        Body::CallReinterpreted(again) => Some(Adopted {
            record,
            record_kind,
            status: again.status,
            reason: again.reason.clone(),
            pair: Pair {
                interpreter: again.interpreter.clone(),
                policy: again.policy.clone(),
                interpreter_config: again.interpreter_config_sha256,
                policy_config: again.policy_config_sha256,
            },
            interpretations: again.interpretations.clone(),
            origin: Origin::Reinterpretation,
        }),
        _ => None,
    }
}
