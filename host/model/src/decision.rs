//! What a policy is given and what it says.

use serde::{Deserialize, Serialize};

use crate::exchange::TransportOutcome;
use crate::reading::{GenerationState, RecordedReading, StructuredWord};

/// What to do after one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disposition {
    /// Use it.
    Accept,
    /// Try again.
    Retry,
    /// Stop.
    Terminal,
}

impl Disposition {
    /// Returns the name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Retry => "retry",
            Self::Terminal => "terminal",
        }
    }
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// The final attempt was accepted.
    Succeeded,
    /// The call failed.
    Failed,
    /// It can be called neither.
    Unresolved,
}

impl CallStatus {
    /// Returns the name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Unresolved => "unresolved",
        }
    }
}

/// Why a decision is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Occasion {
    /// The call is being made.
    Execution,
    /// The call was made earlier; no attempt is ever started.
    Reinterpretation,
}

/// The part of an observation and its reading that a decision may rest on.
#[expect(
    clippy::struct_excessive_bools,
    reason = "the contract names these two facts"
)]
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReadingFacts {
    /// Which words the reading uses.
    pub vocabulary: u32,
    /// What became of the output.
    pub generation_state: GenerationState,
    /// Verbatim, up to 256 bytes.
    pub provider_reason: Option<String>,
    /// The class of the failure.
    pub error_class: Option<String>,
    /// Text of at least one byte; whether blank text counts is the interpreter's say.
    pub has_output_text: bool,
    /// The model declined in words.
    pub has_refusal: bool,
    /// Calls that the client is to run.
    pub tool_calls: u32,
    /// Whether the text is what the request's schema asked for.
    pub structured_output: StructuredWord,
    /// How the exchange ended.
    pub transport_outcome: TransportOutcome,
    /// The HTTP status.
    pub status: Option<u16>,
    /// Why no whole response arrived.
    pub exception_type: Option<String>,
    /// The `retry-after` header.
    pub retry_after: Option<String>,
}

/// One attempt as a policy is given it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttemptFacts {
    /// From 1.
    pub index: u32,
    /// How many attempts the call may make.
    pub max_attempts: u32,
    /// From the request's start to the response's end.
    pub elapsed_ms: Option<u64>,
    /// What was read.
    pub reading: ReadingFacts,
}

/// What a policy says of one attempt.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttemptDecision {
    /// What to do.
    pub disposition: Disposition,
    /// Why.
    pub reason: String,
}

/// What a policy says of the call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallDecision {
    /// What became of it.
    pub status: CallStatus,
    /// Why.
    pub reason: String,
}

impl ReadingFacts {
    /// Takes the facts from a reading as it is recorded, so that a decision never
    /// rests on more than the ledger can show.
    pub fn of(reading: &RecordedReading, transport: Transport<'_>) -> Self {
        Self {
            vocabulary: reading.vocabulary,
            generation_state: reading.generation_state,
            provider_reason: reading.provider_reason.clone(),
            error_class: reading.error_class.clone(),
            has_output_text: reading
                .output_text
                .as_ref()
                .is_some_and(|text| text.length > 0),
            has_refusal: reading.refusal.is_some(),
            tool_calls: u32::try_from(reading.tool_calls).unwrap_or(u32::MAX),
            structured_output: reading.structured_output,
            transport_outcome: transport.outcome,
            status: transport.status,
            exception_type: transport.exception_type.map(ToOwned::to_owned),
            retry_after: transport.retry_after.map(ToOwned::to_owned),
        }
    }
}

/// The transport facts that a decision may rest on.
#[derive(Debug, Clone, Copy)]
pub struct Transport<'a> {
    /// How the exchange ended.
    pub outcome: TransportOutcome,
    /// The HTTP status.
    pub status: Option<u16>,
    /// Why no whole response arrived.
    pub exception_type: Option<&'a str>,
    /// The `retry-after` header.
    pub retry_after: Option<&'a str>,
}
