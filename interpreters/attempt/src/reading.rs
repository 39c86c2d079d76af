//! A reading, in the words of the contract.

use alloc::borrow::Cow;
use alloc::vec::Vec;

/// What an interpreter concludes from one observation. Text is borrowed from the
/// body wherever the body has it unescaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading<'a> {
    /// What became of the model's output.
    pub generation_state: GenerationState,
    /// The provider's own word, verbatim.
    pub provider_reason: Option<Cow<'a, str>>,
    /// JSON pointer of that word.
    pub provider_reason_source: Option<&'static str>,
    /// What the conclusion rests on.
    pub basis: Basis,
    /// The text of the first choice; never the empty string.
    pub output_text: Option<Cow<'a, str>>,
    /// The tool calls of the first choice. They do not change the state.
    pub tool_calls: Vec<ToolCall<'a>>,
    /// The refusal of the first choice. It does not change the state.
    pub refusal: Option<Cow<'a, str>>,
    /// Token counts.
    pub usage: Usage,
    /// The model that the body names.
    pub model: Option<Cow<'a, str>>,
    /// The body's own identifier.
    pub response_id: Option<Cow<'a, str>>,
    /// Set when the attempt failed.
    pub error: Option<ProviderError<'a>>,
    /// Every choice, by index, when there are several; otherwise empty.
    pub choices: Vec<Choice<'a>>,
    /// Named facts, each once.
    pub facts: Vec<(&'static str, Fact)>,
    /// The bytes that conclusions rest on.
    pub citations: Vec<Citation>,
}

/// What became of the model's output: the words of versions 1 and 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GenerationState {
    /// The output is whole.
    Complete,
    /// A limit cut the output.
    Truncated,
    /// A filter withheld output.
    Filtered,
    /// There is no output.
    Empty,
    /// The evidence does not say.
    Unknown,
}

impl GenerationState {
    /// Returns the name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Truncated => "truncated",
            Self::Filtered => "filtered",
            Self::Empty => "empty",
            Self::Unknown => "unknown",
        }
    }
}

/// What a conclusion rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Basis {
    /// The kind of evidence.
    pub kind: BasisKind,
    /// The name of a rule; never text of a model.
    pub detail: &'static str,
}

/// A kind of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BasisKind {
    /// The HTTP status and nothing else.
    StatusOnly,
    /// Something that the body says.
    BodySignature,
    /// The type of the exception.
    ExceptionType,
    /// The body could not be parsed.
    ParserFailure,
    /// The text and the provider's reason.
    GenerationState,
    /// The configuration of the adapter; never of an observation.
    Configuration,
    /// What the adapter says; never of an observation.
    AdapterReported,
}

impl BasisKind {
    /// Returns the name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StatusOnly => "status_only",
            Self::BodySignature => "body_signature",
            Self::ExceptionType => "exception_type",
            Self::ParserFailure => "parser_failure",
            Self::GenerationState => "generation_state",
            Self::Configuration => "configuration",
            Self::AdapterReported => "adapter_reported",
        }
    }
}

/// A call that the model makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall<'a> {
    /// The provider's identifier.
    pub id: Option<Cow<'a, str>>,
    /// The name of the tool; empty where the body gives none.
    pub name: Cow<'a, str>,
    /// As sent: the string's text, or the JSON text of any other value.
    pub arguments: Cow<'a, str>,
}

/// Token counts in the normal form. Absent is never zero.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    /// Prompt tokens, cache reads and writes included.
    pub input: Option<u64>,
    /// Generated tokens, reasoning included.
    pub output: Option<u64>,
    /// Cache reads, a part of the input.
    pub cached_input: Option<u64>,
    /// Cache writes, a part of the input.
    pub cache_write: Option<u64>,
    /// Reasoning, a part of the output.
    pub reasoning: Option<u64>,
    /// The provider's own total.
    pub total: Option<u64>,
    /// What could not be taken as sent: component and why.
    pub diagnostics: Vec<(&'static str, &'static str)>,
}

/// Why an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderError<'a> {
    /// The class.
    pub class: ErrorClass,
    /// The provider's own code, or its type where there is no code.
    pub code: Option<Cow<'a, str>>,
    /// The provider's message.
    pub message: Option<Cow<'a, str>>,
}

/// A class of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    /// The credentials were not accepted.
    AuthenticationError,
    /// The provider's edge refused the client.
    EdgeRejected,
    /// There is no output although the request succeeded.
    EmptyOutput,
    /// The provider refused the request as malformed.
    InvalidRequest,
    /// The body of a success is not a JSON object.
    MalformedResponse,
    /// There were no credentials to send; never of an observation.
    MissingCredentials,
    /// Any other failure.
    ProviderError,
    /// Too many requests.
    RateLimited,
    /// It took too long.
    Timeout,
}

impl ErrorClass {
    /// Returns the name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AuthenticationError => "authentication_error",
            Self::EdgeRejected => "edge_rejected",
            Self::EmptyOutput => "empty_output",
            Self::InvalidRequest => "invalid_request",
            Self::MalformedResponse => "malformed_response",
            Self::MissingCredentials => "missing_credentials",
            Self::ProviderError => "provider_error",
            Self::RateLimited => "rate_limited",
            Self::Timeout => "timeout",
        }
    }
}

/// One of several choices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice<'a> {
    /// The body's index, or the position where the indexes are unusable.
    pub index: u32,
    /// By the same rule as for the whole body.
    pub generation_state: GenerationState,
    /// The provider's own word, verbatim.
    pub provider_reason: Option<Cow<'a, str>>,
    /// The text; never the empty string.
    pub output_text: Option<Cow<'a, str>>,
}

/// The value of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// Yes or no.
    Flag(bool),
    /// One of a rule's words.
    Word(&'static str),
}

/// Where in the body a conclusion rests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// The field of the reading.
    pub field: &'static str,
    /// JSON pointer of the value.
    pub pointer: Cow<'static, str>,
    /// The first byte of the JSON value.
    pub start: u64,
    /// The byte after it.
    pub end: u64,
}
