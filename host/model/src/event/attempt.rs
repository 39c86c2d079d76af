//! Events about attempts.

use serde::{Deserialize, Serialize};

use super::artifact::ArtifactRef;
use crate::decision::Disposition;
use crate::digest::Digest;
use crate::exchange::{ExceptionType, TransportOutcome};
use crate::id::EventId;
use crate::name::Mod;
use crate::reading::RecordedReading;

/// A request is about to leave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttemptStarted {
    /// From 1.
    pub index: u32,
    /// What is sent.
    pub request: ArtifactRef,
}

/// What the transport saw of one attempt, and nothing more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttemptObserved {
    /// From 1.
    pub index: u32,
    /// The provider.
    pub provider: Option<String>,
    /// The wire dialect.
    pub dialect: String,
    /// The path of the request, without its query.
    pub endpoint: String,
    /// How the exchange ended.
    pub transport_outcome: TransportOutcome,
    /// The HTTP status.
    pub http_status: Option<u16>,
    /// The kept headers, in order, duplicates kept.
    pub headers: Vec<(String, String)>,
    /// Kept headers that passed a bound.
    pub headers_dropped: Vec<String>,
    /// Why no whole response arrived.
    pub exception_type: Option<ExceptionType>,
    /// The request's bytes.
    pub request_body_artifact: Option<ArtifactRef>,
    /// The response's bytes.
    pub response_body_artifact: Option<ArtifactRef>,
}

/// Who made a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedBy {
    /// While the call was made or recovered.
    Execution,
    /// Later, from the preserved bytes.
    Reinterpretation,
}

/// What a module was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inputs {
    /// The `attempt.observed` event.
    pub observation: EventId,
    /// The request's bytes; null where there were none.
    pub request_sha256: Option<Digest>,
    /// The response's bytes; null where there were none.
    pub response_sha256: Option<Digest>,
}

/// What one module says of one observation. Its id is the event's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttemptInterpreted {
    /// Who read.
    pub module: Mod,
    /// With which configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_sha256: Option<Digest>,
    /// What was read.
    pub inputs: Inputs,
    /// What it says.
    pub reading: RecordedReading,
    /// The hash of the full result.
    pub result_sha256: Digest,
    /// The engine and its limits, such as `wasmtime-48.0.8/p1`.
    pub engine_profile: String,
    /// The fuel that the run used.
    pub fuel: u64,
    /// On which occasion.
    pub recorded_by: RecordedBy,
}

/// What a policy says of one attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttemptRetryDecided {
    /// Who decided.
    pub policy: Mod,
    /// With which configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_config_sha256: Option<Digest>,
    /// What to do.
    pub decision: Disposition,
    /// Why.
    pub reason: String,
    /// Whether another attempt follows.
    pub executed: bool,
}

/// What became of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptStatus {
    /// Accepted.
    Succeeded,
    /// Given up.
    Failed,
    /// To be tried again.
    TransientFailure,
}

/// An attempt is finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttemptCompleted {
    /// From 1.
    pub index: u32,
    /// What became of it.
    pub status: AttemptStatus,
    /// The class of the failure.
    pub error_class: Option<String>,
    /// From the request's start to the response's end; null when it was not measured.
    pub latency_ms: Option<u64>,
}
