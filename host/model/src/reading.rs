//! A reading: what one module says of one observation, in the names that every
//! JSON output uses, and the shorter form of it that stands in an event.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bounds::{INTEGER_MAX, PROVIDER_WORD_BYTES_MAX};
use crate::canonical::{self, CanonicalError};
use crate::digest::Digest;

/// What became of the model's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GenerationState {
    /// The provider says natural end, and there is output for the user.
    Complete,
    /// The turn ended with a call that the client is to run.
    ToolCall,
    /// A limit cut the generation.
    Truncated,
    /// The model or its classifier declined.
    Refused,
    /// A policy filter stopped prompt or output.
    Filtered,
    /// Normal end without visible output.
    Empty,
    /// The provider expects the same turn to be continued.
    Paused,
    /// Nothing final yet.
    Pending,
    /// A failure was reported, or the bytes are damaged.
    Error,
    /// The evidence does not say.
    Unknown,
}

impl GenerationState {
    /// Returns the name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::ToolCall => "tool_call",
            Self::Truncated => "truncated",
            Self::Refused => "refused",
            Self::Filtered => "filtered",
            Self::Empty => "empty",
            Self::Paused => "paused",
            Self::Pending => "pending",
            Self::Error => "error",
            Self::Unknown => "unknown",
        }
    }
}

/// What a conclusion rests on: a kind of evidence and a rule's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Basis {
    /// Such as `status_only` or `body_signature`.
    pub kind: String,
    /// The rule or signature; never text of the model.
    pub detail: String,
}

/// A call that the client is to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id of it.
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// As sent: usually JSON text, possibly not valid JSON.
    pub arguments: String,
}

/// Whether the text is what the request's schema asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StructuredOutput {
    /// The request asked for no structure.
    NotRequested,
    /// The text is valid.
    Valid,
    /// The text is not valid, and why.
    Invalid(String),
}

impl StructuredOutput {
    /// Returns the state alone, without the reason, which may quote the model.
    pub const fn word(&self) -> StructuredWord {
        match self {
            Self::NotRequested => StructuredWord::NotRequested,
            Self::Valid => StructuredWord::Valid,
            Self::Invalid(_) => StructuredWord::Invalid,
        }
    }
}

/// [`StructuredOutput`] as it stands in an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StructuredWord {
    /// The request asked for no structure.
    NotRequested,
    /// The text is valid.
    Valid,
    /// The text is not valid.
    Invalid,
}

impl StructuredWord {
    /// Returns the name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotRequested => "not_requested",
            Self::Valid => "valid",
            Self::Invalid => "invalid",
        }
    }
}

/// Token counts in one normal form: input includes cache reads and writes,
/// output includes reasoning. Absent is null, never zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenCounts {
    /// All prompt-side tokens.
    pub input: Option<u64>,
    /// All generated tokens.
    pub output: Option<u64>,
    /// Cache reads, a subset of input.
    pub cached_input: Option<u64>,
    /// Cache writes, a subset of input.
    pub cache_write: Option<u64>,
    /// A subset of output.
    pub reasoning: Option<u64>,
    /// The provider's own total.
    pub total: Option<u64>,
}

impl TokenCounts {
    /// Returns every count with its name.
    pub const fn named(&self) -> [(&'static str, Option<u64>); 6] {
        [
            ("input", self.input),
            ("output", self.output),
            ("cached_input", self.cached_input),
            ("cache_write", self.cache_write),
            ("reasoning", self.reasoning),
            ("total", self.total),
        ]
    }
}

/// Token counts and what could not be taken as sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The counts.
    #[serde(flatten)]
    pub counts: TokenCounts,
    /// (component, why).
    pub diagnostics: Vec<(String, String)>,
}

/// A failure that the provider, a gateway or the transport reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderError {
    /// Our class of it.
    pub class: String,
    /// The provider's own code.
    pub code: Option<String>,
    /// The provider's own words.
    pub message: Option<String>,
}

/// One of several choices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The provider's index.
    pub index: u32,
    /// What became of it.
    pub generation_state: GenerationState,
    /// Verbatim.
    pub provider_reason: Option<String>,
    /// Its text.
    pub output_text: Option<String>,
}

/// The value of a named fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Fact {
    /// Yes or no.
    Flag(bool),
    /// A number.
    Count(u64),
    /// A short word.
    Word(String),
    /// Names; only the host writes these (`oversized`).
    Names(Vec<String>),
}

/// The decoded bytes that a conclusion rests on: `[start, end)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// The field of the reading.
    pub field: String,
    /// JSON pointer of the value, or the empty string.
    pub pointer: String,
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

/// The full result of an interpreter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// Which words the module uses.
    pub vocabulary: u32,
    /// What became of the output.
    pub generation_state: GenerationState,
    /// The provider's reason, verbatim.
    pub provider_reason: Option<String>,
    /// Where it was read.
    pub provider_reason_source: Option<String>,
    /// What the conclusion rests on.
    pub basis: Basis,
    /// The text.
    pub output_text: Option<String>,
    /// Calls that the client is to run.
    pub tool_calls: Vec<ToolCall>,
    /// The model's refusal.
    pub refusal: Option<String>,
    /// Whether the text is what the request's schema asked for.
    pub structured_output: StructuredOutput,
    /// Token counts.
    pub usage: Usage,
    /// The model, as the body names it.
    pub model: Option<String>,
    /// The response's id, as the body names it.
    pub response_id: Option<String>,
    /// The failure, if there is one.
    pub error: Option<ProviderError>,
    /// Every choice when there are several; otherwise empty.
    pub choices: Vec<Choice>,
    /// Named facts.
    pub facts: BTreeMap<String, Fact>,
    /// What the conclusions rest on.
    pub citations: Vec<Citation>,
}

impl Reading {
    /// Returns the hash that stands for this result: SHA-256 of its canonical JSON.
    pub fn result_sha256(&self) -> Result<Digest, CanonicalError> {
        Ok(Digest::of(&canonical::to_bytes(self)?))
    }

    /// Returns the form that stands in an event: no text of a model or a
    /// provider, except words of at most 256 bytes.
    pub fn recorded(&self) -> RecordedReading {
        let mut oversized = Vec::new();
        let mut word = |name: &str, value: &Option<String>| match value {
            Some(text) if text.len() > PROVIDER_WORD_BYTES_MAX => {
                oversized.push(name.to_owned());
                None
            }
            other => other.clone(),
        };
        let provider_reason = word("provider_reason", &self.provider_reason);
        let model = word("model", &self.model);
        let response_id = word("response_id", &self.response_id);
        let mut facts = self.facts.clone();
        if !oversized.is_empty() {
            facts.insert("oversized".to_owned(), Fact::Names(oversized));
        }
        RecordedReading {
            vocabulary: self.vocabulary,
            generation_state: self.generation_state,
            provider_reason,
            provider_reason_source: self.provider_reason_source.clone(),
            error_class: self.error.as_ref().map(|error| error.class.clone()),
            basis: self.basis.clone(),
            output_text: self.output_text.as_deref().map(TextRef::of),
            refusal: self.refusal.as_deref().map(TextRef::of),
            error_message: self
                .error
                .as_ref()
                .and_then(|error| error.message.as_deref())
                .map(TextRef::of),
            tool_calls: count(self.tool_calls.len()),
            structured_output: self.structured_output.word(),
            usage: self.usage.counts,
            model,
            response_id,
            choices: count(self.choices.len()),
            facts,
        }
    }
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(INTEGER_MAX)
}

/// Text that is not written down: its hash and its length in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextRef {
    /// Of the UTF-8 bytes.
    pub sha256: Digest,
    /// In bytes.
    pub length: u64,
}

impl TextRef {
    /// Returns the reference of a text.
    pub fn of(text: &str) -> Self {
        Self {
            sha256: Digest::of(text.as_bytes()),
            length: count(text.len()),
        }
    }
}

/// A reading as it stands in `attempt.interpreted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedReading {
    /// Which words the module uses.
    pub vocabulary: u32,
    /// What became of the output.
    pub generation_state: GenerationState,
    /// The provider's reason, up to 256 bytes.
    pub provider_reason: Option<String>,
    /// Where it was read.
    pub provider_reason_source: Option<String>,
    /// The class of the failure.
    pub error_class: Option<String>,
    /// What the conclusion rests on.
    pub basis: Basis,
    /// The text, re-derived from the preserved bytes on demand.
    pub output_text: Option<TextRef>,
    /// The model's refusal.
    pub refusal: Option<TextRef>,
    /// The provider's error message.
    pub error_message: Option<TextRef>,
    /// How many calls the client is to run.
    pub tool_calls: u64,
    /// Whether the text is what the request's schema asked for.
    pub structured_output: StructuredWord,
    /// Token counts.
    pub usage: TokenCounts,
    /// The model, up to 256 bytes.
    pub model: Option<String>,
    /// The response's id, up to 256 bytes.
    pub response_id: Option<String>,
    /// How many choices, when there are several; otherwise 0.
    pub choices: u64,
    /// Named facts; `oversized` names the words that were too long to stand here.
    pub facts: BTreeMap<String, Fact>,
}
