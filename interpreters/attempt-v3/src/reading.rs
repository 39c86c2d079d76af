//! A reading, in the words of the contract.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use wire::class::Class;
use wire::usage::Usage;

/// The label of the interpreter.
pub const LABEL: &str = "attempt-interpretation-v3";

/// One sentence for people.
pub const SUMMARY: &str = "Reads thirteen dialects, streaming and not, with their \
content-codings; the provider's reason decides, what is not known is unknown, and every \
conclusion cites its bytes. Choices of policy: blank text is no output; of several reasons the \
least favourable counts; NaN is read over; of repeated names the last one counts.";

/// Which words the readings use.
pub const VOCABULARY: u32 = 3;

/// What became of the model's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The provider says natural end, and there is output for the user.
    Complete,
    /// The turn ended with a call that the client is to run.
    ToolCall,
    /// A length cut it.
    Truncated,
    /// The model or its classifier declined.
    Refused,
    /// A policy filter stopped prompt or output.
    Filtered,
    /// A normal end without visible output.
    Empty,
    /// The same turn is to be continued.
    Paused,
    /// Nothing final yet.
    Pending,
    /// A failure was reported, or the bytes are damaged.
    Error,
    /// The evidence does not say.
    Unknown,
}

impl State {
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

/// What a conclusion rests on: a kind of evidence and the name of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Basis {
    /// The kind of evidence.
    pub kind: &'static str,
    /// The rule; never text of a model.
    pub detail: &'static str,
}

/// A call that the client is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall<'a> {
    /// The provider's identifier.
    pub id: Option<Cow<'a, str>>,
    /// The tool; empty where the body names none.
    pub name: Cow<'a, str>,
    /// As sent: the string's text, or the JSON text of any other value.
    pub arguments: Cow<'a, str>,
}

/// Whether the text is what the request asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StructuredOutput {
    /// The request asked for no structure, or is not kept.
    NotRequested,
    /// The text is valid.
    Valid,
    /// It is not, and why: a rule and a place, never text of the model.
    Invalid(String),
}

/// Why an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure<'a> {
    /// The class.
    pub class: Class,
    /// The provider's own word.
    pub code: Option<Cow<'a, str>>,
    /// The provider's message.
    pub message: Option<Cow<'a, str>>,
}

/// One of several answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice<'a> {
    /// From 0.
    pub index: u32,
    /// What became of it.
    pub state: State,
    /// The provider's own word.
    pub provider_reason: Option<Cow<'a, str>>,
    /// Its text.
    pub output_text: Option<Cow<'a, str>>,
}

/// The value of a named fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// Yes or no.
    Flag(bool),
    /// A number.
    Count(u64),
    /// A word of at most 128 bytes.
    Word(String),
}

/// The bytes that a conclusion rests on: [start, end) of the decoded body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// The field of the reading.
    pub field: String,
    /// JSON pointer within the JSON document that the bytes are of.
    pub pointer: String,
    /// The first byte.
    pub start: usize,
    /// The byte behind the last one.
    pub end: usize,
}

/// What the interpreter concludes from one observation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading<'a> {
    /// What became of the output.
    pub state: State,
    /// The provider's own word, verbatim.
    pub provider_reason: Option<Cow<'a, str>>,
    /// JSON pointer of that word.
    pub provider_reason_source: Option<String>,
    /// What the conclusion rests on.
    pub basis: Basis,
    /// The text of the first answer; never the empty string.
    pub output_text: Option<Cow<'a, str>>,
    /// The calls of the first answer.
    pub tool_calls: Vec<ToolCall<'a>>,
    /// What the model said when it declined.
    pub refusal: Option<Cow<'a, str>>,
    /// Whether the text is what the request asked for.
    pub structured_output: StructuredOutput,
    /// Token counts in the normal form.
    pub usage: Usage,
    /// The model that the body names.
    pub model: Option<Cow<'a, str>>,
    /// The body's own identifier.
    pub response_id: Option<Cow<'a, str>>,
    /// Set when the state is `error`, or a filter answered with an error.
    pub error: Option<Failure<'a>>,
    /// Every answer when there are several; otherwise empty.
    pub choices: Vec<Choice<'a>>,
    /// Each name once.
    pub facts: Vec<(&'static str, Fact)>,
    /// Every place that something above was read from.
    pub citations: Vec<Citation>,
}

/// Why an observation is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// A word for programs.
    pub code: &'static str,
    /// A sentence for people.
    pub detail: String,
}
