//! `attempt-interpretation-v1` and `attempt-interpretation-v2`.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use crate::body::{self, Body, Spoken};
use crate::completion::{self, Conclusion};
use crate::errors::{self, ErrorBody};
use crate::json::{Malformed, Reader};
use crate::observation::{Dialect, Observation, Outcome};
use crate::reading::{
    Basis, BasisKind, Choice, Citation, ErrorClass, Fact, GenerationState, ProviderError, Reading,
    ToolCall, Usage,
};

/// A version of the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpreter {
    /// Text means complete.
    V1,
    /// The provider's word decides.
    V2,
}

impl Interpreter {
    /// Returns the label.
    pub const fn label(self) -> &'static str {
        match self {
            Self::V1 => "attempt-interpretation-v1",
            Self::V2 => "attempt-interpretation-v2",
        }
    }

    /// Returns one sentence for people.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::V1 => {
                "Text means complete, and errors are classified by status; reads whole JSON \
                 bodies only, and decode returns the bytes as they are."
            }
            Self::V2 => {
                "The provider's reason decides what became of the output, and errors are \
                 classified by status and two body signatures; reads whole JSON bodies only, and \
                 decode returns the bytes as they are."
            }
        }
    }

    /// Returns which words the readings use.
    pub const fn vocabulary(self) -> u32 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
        }
    }

    /// Returns the labels that this version supersedes.
    pub const fn supersedes(self) -> &'static [&'static str] {
        match self {
            Self::V1 => &[],
            Self::V2 => &["attempt-interpretation-v1"],
        }
    }

    fn conclude(self, dialect: Dialect, spoken: &Spoken<'_>) -> Conclusion {
        match self {
            Self::V1 => completion::legacy(spoken.output.has_text()),
            Self::V2 => completion::mapped(dialect, spoken),
        }
    }
}

/// Reads one observation. Never fails and never panics, whatever the bytes are.
pub fn interpret<'a>(interpreter: Interpreter, observation: &Observation<'a>) -> Reading<'a> {
    let status = match observation.outcome {
        Outcome::ResponseReceived | Outcome::HttpError => observation.status,
        Outcome::NoResponse | Outcome::Interrupted => None,
    };
    match status {
        None => transport_failure(interpreter, observation),
        Some(200..300) => success(interpreter, observation),
        Some(status) => http_failure(interpreter, observation, status),
    }
}

/// No whole response: version 1 looks for a timeout in the adapter's message,
/// which no observation has; version 2 looks at the exception's type.
fn transport_failure<'a>(interpreter: Interpreter, observation: &Observation<'a>) -> Reading<'a> {
    let (class, detail) = match (interpreter, observation.exception_type) {
        (Interpreter::V1, _) => (ErrorClass::ProviderError, "no_timeout_message"),
        (Interpreter::V2, Some(name)) if errors::TIMEOUT_TYPES.contains(&name) => {
            (ErrorClass::Timeout, "timeout_type")
        }
        (Interpreter::V2, _) => (ErrorClass::ProviderError, "other_type"),
    };
    let kind = BasisKind::ExceptionType;
    failure(class, Basis { kind, detail }, ErrorBody::default())
}

fn http_failure<'a>(
    interpreter: Interpreter,
    observation: &Observation<'a>,
    status: u16,
) -> Reading<'a> {
    let bytes = observation.response_body.unwrap_or_default();
    let (class, basis) = match interpreter {
        Interpreter::V1 => errors::classify_v1(status),
        Interpreter::V2 => errors::classify_v2(status, bytes),
    };
    let mut lossy = false;
    let mut reading = failure(class, basis, errors::of_failure(bytes, &mut lossy));
    if interpreter == Interpreter::V2 && basis.kind == BasisKind::BodySignature {
        reading.facts.push(EVIDENCE_IN_BODY);
    }
    if lossy {
        reading.facts.push(LOSSY_TEXT);
    }
    reading
}

fn success<'a>(interpreter: Interpreter, observation: &Observation<'a>) -> Reading<'a> {
    let Some(dialect) = Dialect::of(observation.dialect) else {
        let kind = BasisKind::GenerationState;
        let detail = "dialect_not_read";
        return blank(GenerationState::Unknown, Basis { kind, detail });
    };
    let bytes = observation.response_body.unwrap_or_default();
    match body::read(dialect, bytes) {
        Ok(body) => of_body(interpreter, dialect, body),
        Err(malformed) => {
            let kind = BasisKind::ParserFailure;
            let detail = parser_rule(malformed);
            let basis = Basis { kind, detail };
            let class = ErrorClass::MalformedResponse;
            let mut reading = failure(class, basis, ErrorBody::default());
            if interpreter == Interpreter::V2 {
                reading.facts.push(EVIDENCE_IN_BODY);
            }
            reading
        }
    }
}

/// Which text the evidence is from; version 2 records it. An observation has no
/// other text than its body.
const EVIDENCE_IN_BODY: (&str, Fact) = ("evidence_source", Fact::Word("response_body"));

/// Recorded only when a lone surrogate was replaced.
const LOSSY_TEXT: (&str, Fact) = ("lossy_text", Fact::Flag(true));

const fn parser_rule(malformed: Malformed) -> &'static str {
    match malformed {
        Malformed::Empty => "empty_body",
        Malformed::NotUtf8 => "not_utf8",
        Malformed::NotJson => "not_json",
        Malformed::NotAnObject => "not_an_object",
        Malformed::TrailingBytes => "trailing_bytes",
        Malformed::TooDeep => "too_deep",
    }
}

fn of_body(interpreter: Interpreter, dialect: Dialect, body: Body<'_>) -> Reading<'_> {
    let first = body.choices.first();
    let (state, rule) = match first {
        Some(spoken) => interpreter.conclude(dialect, spoken),
        None => interpreter.conclude(dialect, &Spoken::default()),
    };
    let mut reading = if let Some(error) = body.error {
        let kind = BasisKind::BodySignature;
        let detail = "error_member";
        failure(ErrorClass::ProviderError, Basis { kind, detail }, error)
    } else {
        concluded((state, rule))
    };
    reading.usage = body.usage;
    reading.model = body.model;
    reading.response_id = body.response_id;
    reading.choices = several(interpreter, dialect, &body.choices);
    if let Some(spoken) = body.choices.into_iter().next() {
        say(&mut reading, spoken);
    }
    if body.lossy {
        reading.facts.push(LOSSY_TEXT);
    }
    reading
}

/// Returns the reading of a success; one without output is an error of its own.
pub(crate) fn concluded<'a>((state, rule): Conclusion) -> Reading<'a> {
    let kind = BasisKind::GenerationState;
    let basis = Basis { kind, detail: rule };
    if state != GenerationState::Empty {
        return blank(state, basis);
    }
    Reading {
        generation_state: state,
        ..failure(ErrorClass::EmptyOutput, basis, ErrorBody::default())
    }
}

/// Takes over what the first choice says.
fn say<'a>(reading: &mut Reading<'a>, spoken: Spoken<'a>) {
    if let Some(reason) = spoken.reason {
        let pointer = Cow::Borrowed(reason.source);
        reading.citations.push(Citation {
            field: "provider_reason",
            pointer,
            start: offset(reason.span.start),
            end: offset(reason.span.end),
        });
        reading.provider_reason_source = Some(reason.source);
        reading.provider_reason = Some(reason.word);
    }
    if let Some(place) = spoken.output.place {
        reading.citations.push(Citation {
            field: "output_text",
            pointer: place.pointer.written(),
            start: offset(place.span.start),
            end: offset(place.span.end),
        });
    }
    if !spoken.tool_calls.is_empty() {
        let valid = spoken.tool_calls.iter().all(is_json);
        reading
            .facts
            .push(("tool_arguments_valid", Fact::Flag(valid)));
    }
    reading.output_text = spoken.output.text;
    reading.tool_calls = spoken.tool_calls;
    reading.refusal = spoken.refusal;
}

fn is_json(call: &ToolCall<'_>) -> bool {
    let mut reader = Reader::new(&call.arguments);
    reader.skip().and_then(|_| reader.end()).is_ok()
}

fn offset(position: usize) -> u64 {
    u64::try_from(position).unwrap_or(u64::MAX)
}

/// Returns every choice when there are several. Where the body's indexes are
/// missing, unusable or repeated, the positions count.
fn several<'a>(
    interpreter: Interpreter,
    dialect: Dialect,
    spoken: &[Spoken<'a>],
) -> Vec<Choice<'a>> {
    if spoken.len() < 2 {
        return Vec::new();
    }
    let mut indexes: Vec<u32> = spoken.iter().filter_map(|choice| choice.index).collect();
    indexes.sort_unstable();
    indexes.dedup();
    let usable = indexes.len() == spoken.len();
    let mut choices: Vec<_> = (0..)
        .zip(spoken)
        .map(|(position, choice)| Choice {
            index: choice.index.filter(|_| usable).unwrap_or(position),
            generation_state: interpreter.conclude(dialect, choice).0,
            provider_reason: choice.reason.as_ref().map(|reason| reason.word.clone()),
            output_text: choice.output.text.clone(),
        })
        .collect();
    choices.sort_unstable_by_key(|choice| choice.index);
    choices
}

pub(crate) fn failure(class: ErrorClass, basis: Basis, said: ErrorBody<'_>) -> Reading<'_> {
    Reading {
        error: Some(ProviderError {
            class,
            code: said.code,
            message: said.message,
        }),
        ..blank(GenerationState::Unknown, basis)
    }
}

pub(crate) const fn blank<'a>(generation_state: GenerationState, basis: Basis) -> Reading<'a> {
    Reading {
        generation_state,
        provider_reason: None,
        provider_reason_source: None,
        basis,
        output_text: None,
        tool_calls: Vec::new(),
        refusal: None,
        usage: Usage {
            input: None,
            output: None,
            cached_input: None,
            cache_write: None,
            reasoning: None,
            total: None,
            diagnostics: Vec::new(),
        },
        model: None,
        response_id: None,
        error: None,
        choices: Vec::new(),
        facts: Vec::new(),
        citations: Vec::new(),
    }
}
