//! Events about calls.

use serde::{Deserialize, Serialize};

use super::artifact::{ArtifactRef, Preservation};
use crate::decision::{CallStatus, Disposition};
use crate::digest::Digest;
use crate::id::{AttemptId, CallId, EventId};
use crate::name::Mod;
use crate::pricing::{Decimal, is_currency};

/// A question is intended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallRequested {
    /// The provider's name in `config.toml`.
    pub provider: String,
    /// The wire dialect.
    pub dialect: String,
    /// The path of the request.
    pub endpoint: String,
    /// The request; null when its file could not be read.
    pub request: Option<ArtifactRef>,
    /// The model that the request names.
    pub requested_model: Option<String>,
    /// The same key is never sent twice once a call of it is completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Who reads the response.
    pub interpreter: Mod,
    /// Who decides.
    pub policy: Mod,
    /// The interpreter's configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpreter_config_sha256: Option<Digest>,
    /// The policy's configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_config_sha256: Option<Digest>,
    /// What happens to the response's bytes.
    pub preservation: Preservation,
    /// How many attempts may be made.
    pub max_attempts: u32,
}

/// What exactly will be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallManifest {
    /// The request's bytes.
    pub request: ArtifactRef,
    /// The HTTP method.
    pub method: String,
    /// The URL with secrets redacted.
    pub url: String,
    /// The names of the headers.
    pub header_names: Vec<String>,
    /// The model that the request names.
    pub requested_model: Option<String>,
}

/// The call could not be prepared; nothing was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallPreparationFailed {
    /// `config`, `key` or `request_file`.
    pub stage: String,
    /// What was wrong.
    pub detail: String,
}

/// A recorded exchange was brought in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallImported {
    /// The importer.
    pub importer: String,
    /// The hash of the whole source.
    pub source_sha256: Digest,
    /// The line in the source, from 1.
    pub line: u64,
    /// The hash of the line's bytes.
    pub line_sha256: Digest,
    /// The name that the source gives.
    pub external_id: Option<String>,
    /// The provider that the source gives.
    pub provider: Option<String>,
    /// The wire dialect.
    pub dialect: String,
    /// What is known of the bytes' exactness.
    pub exactness: String,
}

/// A status was decided while the call was made or recovered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallStatusDecided {
    /// Who read.
    pub interpreter: Mod,
    /// Who decided.
    pub policy: Mod,
    /// The interpreter's configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpreter_config_sha256: Option<Digest>,
    /// The policy's configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_config_sha256: Option<Digest>,
    /// What became of the call.
    pub status: CallStatus,
    /// Why.
    pub reason: String,
    /// The readings it rests on, one per attempt.
    pub interpretations: Vec<EventId>,
}

/// The call is finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallCompleted {
    /// What became of the call.
    pub status: CallStatus,
    /// How many attempts were made.
    pub attempts: u32,
    /// The reading that the decision rests on.
    pub decision_basis: Option<EventId>,
}

/// Recorded exchanges of a call were read and decided again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallReinterpreted {
    /// Who read.
    pub interpreter: Mod,
    /// Who decided.
    pub policy: Mod,
    /// The interpreter's configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpreter_config_sha256: Option<Digest>,
    /// The policy's configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_config_sha256: Option<Digest>,
    /// What became of the call.
    pub status: CallStatus,
    /// Why.
    pub reason: String,
    /// The readings it rests on, one per attempt.
    pub interpretations: Vec<EventId>,
    /// What was decided of each attempt.
    pub decisions: Vec<AttemptVerdict>,
    /// The bytes that were read.
    pub observations: Vec<ObservedBytes>,
    /// The status before.
    pub prior_status: Option<CallStatus>,
    /// The kind of the record that held it.
    pub prior_record_kind: Option<String>,
    /// The record that held it.
    pub prior_record: Option<EventId>,
    /// Why an older pair was adopted again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_older: Option<AllowOlder>,
    /// Always false: no provider was asked.
    pub provider_effect: bool,
}

/// What was decided of one attempt under reinterpretation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttemptVerdict {
    /// The attempt.
    pub attempt: AttemptId,
    /// The reading.
    pub interpretation: EventId,
    /// What to do.
    pub decision: Disposition,
    /// Why.
    pub reason: String,
}

/// The bytes that one attempt's observation names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObservedBytes {
    /// The attempt.
    pub attempt: AttemptId,
    /// The response body; null where there was none.
    pub sha256: Option<Digest>,
}

/// Why an older pair was adopted again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllowOlder {
    /// In words.
    pub reason: String,
}

/// A call was continued as another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallResumed {
    /// The new call.
    pub to_call: CallId,
    /// The stage of the old one.
    pub prior_stage: String,
    /// Why it was safe.
    pub basis: String,
}

/// A completed call answered for another one; nothing was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallReplayed {
    /// The call that answered.
    pub original_call: CallId,
    /// Its attempts.
    pub original_attempts: Vec<AttemptId>,
    /// Its status.
    pub original_status: CallStatus,
    /// Why.
    pub reason: String,
}

/// A cost was computed from a reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostComputed {
    /// The pricing module.
    pub module: Mod,
    /// The price table.
    pub config_sha256: Digest,
    /// A decimal number; null when it is not known.
    pub amount: Option<String>,
    /// The currency.
    pub currency: String,
    /// A decimal number that the cost is at least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower_bound: Option<String>,
    /// Why the amount is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl CostComputed {
    /// Returns what contradicts itself, in words: an amount is known, or there is a
    /// reason; numbers are plain decimals.
    pub fn contradiction(&self) -> Option<String> {
        let numbers = [&self.amount, &self.lower_bound].into_iter().flatten();
        for number in numbers {
            if let Err(error) = number.parse::<Decimal>() {
                return Some(format!("{error}, found {number:?}"));
            }
        }
        if !is_currency(&self.currency) {
            let found = &self.currency;
            return Some(format!(
                "expected a currency of three letters, found {found:?}"
            ));
        }
        let both = self.amount.is_some() && (self.why.is_some() || self.lower_bound.is_some());
        let neither = self.amount.is_none() && self.why.is_none();
        (both || neither).then(|| "expected an amount, or why it is not known".to_owned())
    }
}
