//! What became of an answer. The order of the rules is the order of precedence:
//! the first one that fits decides.

use wire::Dialect;
use wire::class::Class;
use wire::ending::{self, Ending};
use wire::framing::{Damage, Form};
use wire::json::Cite;
use wire::transcript::{Choice, Reason, Transcript};

use crate::reading::{Basis, State};

/// What was concluded of one answer, and where the evidence is.
#[derive(Debug, Clone)]
pub(crate) struct Conclusion<'c> {
    pub(crate) state: State,
    pub(crate) basis: Basis,
    /// Set when the state is `error`.
    pub(crate) class: Option<Class>,
    /// The bytes that decide, if bytes do.
    pub(crate) place: Option<&'c Cite>,
}

impl<'c> Conclusion<'c> {
    const fn new(state: State, kind: &'static str, detail: &'static str) -> Self {
        Self {
            state,
            basis: Basis { kind, detail },
            class: None,
            place: None,
        }
    }

    const fn failed(class: Class, kind: &'static str, detail: &'static str) -> Self {
        Self {
            class: Some(class),
            ..Self::new(State::Error, kind, detail)
        }
    }

    fn at(self, place: Option<&'c Cite>) -> Self {
        Self { place, ..self }
    }
}

/// Returns the reason that counts: of several, the one that comes first in the
/// order of precedence.
pub(crate) fn deciding<'c, 'a>(
    dialect: Dialect,
    choice: &'c Choice<'a>,
) -> Option<(&'c Reason<'a>, Ending)> {
    choice
        .reasons
        .iter()
        .map(|reason| (reason, ending::of(dialect, &reason.word.text)))
        .min_by_key(|(_, ending)| ending.precedence())
}

/// Concludes about one answer of a response of success without a reported error.
pub(crate) fn of_choice<'c>(
    dialect: Dialect,
    transcript: &'c Transcript<'_>,
    choice: &'c Choice<'_>,
) -> Conclusion<'c> {
    if let Some(damaged) = unreadable(transcript) {
        return damaged;
    }
    let Some((reason, ending)) = deciding(dialect, choice) else {
        return without_reason(dialect, transcript);
    };
    if missing_before(transcript, reason) {
        return Conclusion::failed(
            Class::MalformedBody,
            "damage",
            "malformed_before_end_reason",
        );
    }
    of_ending(choice, ending).at(Some(&reason.word.cite))
}

/// A body that is not what a success of this dialect consists of.
fn unreadable<'c>(transcript: &Transcript<'_>) -> Option<Conclusion<'c>> {
    let malformed = |detail| Conclusion::failed(Class::MalformedBody, "damage", detail);
    match (transcript.form, transcript.damage) {
        (Form::Empty, _) => return Some(malformed("empty_body")),
        (Form::Other, _) => return Some(malformed("not_of_dialect")),
        // A document that has no end says nothing for sure: what stands at its
        // front may be contradicted by what is missing.
        (Form::Json, Some(Damage::Cut)) => {
            return Some(Conclusion::failed(Class::TransportCut, "damage", "cut"));
        }
        (Form::Json, Some(Damage::Malformed)) => return Some(malformed("malformed")),
        (
            Form::Json | Form::Sse | Form::JsonLines | Form::JsonArray | Form::EventStream,
            None | Some(_),
        ) => {}
    }
    if transcript.checksum_errors > 0 {
        return Some(malformed("checksum"));
    }
    let says_something = transcript.documents > 0 || transcript.form == Form::JsonArray;
    let foreign = says_something && transcript.recognised == 0;
    foreign.then(|| malformed("not_of_dialect"))
}

/// Returns whether a piece in front of the reason could not be read: what it said
/// may be missing from the text.
fn missing_before(transcript: &Transcript<'_>, reason: &Reason<'_>) -> bool {
    transcript
        .malformed_before
        .is_some_and(|malformed| malformed <= reason.document)
}

fn without_reason<'c>(dialect: Dialect, transcript: &'c Transcript<'_>) -> Conclusion<'c> {
    if let Some(block) = &transcript.block {
        let conclusion = Conclusion::new(State::Filtered, "prompt_feedback", "prompt_blocked");
        return conclusion.at(Some(&block.cite));
    }
    let cut = || Conclusion::failed(Class::TransportCut, "damage", "no_end_reason");
    if transcript.damage == Some(Damage::Cut) {
        return cut();
    }
    if transcript.malformed > 0 || transcript.damage.is_some() {
        return Conclusion::failed(Class::MalformedBody, "damage", "malformed");
    }
    let whole = match dialect {
        Dialect::OllamaChat | Dialect::OllamaGenerate => transcript.terminated,
        Dialect::OpenaiChat
        | Dialect::OpenaiResponses
        | Dialect::OpenaiCompletions
        | Dialect::AnthropicMessages
        | Dialect::AnthropicComplete
        | Dialect::GeminiGenerateContent
        | Dialect::BedrockConverse
        | Dialect::BedrockInvoke
        | Dialect::MistralChat
        | Dialect::CohereV1Chat
        | Dialect::CohereV2Chat => {
            // An array that is closed is as whole as a document.
            transcript.terminated || matches!(transcript.form, Form::Json | Form::JsonArray)
        }
    };
    if !whole {
        return cut();
    }
    Conclusion::new(State::Unknown, "end_reason", "no_end_reason")
}

fn of_ending<'c>(choice: &Choice<'_>, ending: Ending) -> Conclusion<'c> {
    const KIND: &str = "end_reason";
    let declined = !choice.refusal.text.is_empty();
    let (state, detail) = match ending {
        Ending::Failed(class) => return Conclusion::failed(class, KIND, "failed"),
        Ending::Pending => (State::Pending, "pending"),
        Ending::Length => (State::Truncated, "length"),
        Ending::Filter => (State::Filtered, "filter"),
        Ending::Refusal => (State::Refused, "refusal"),
        Ending::Pause | Ending::Unknown | Ending::Tool | Ending::Normal | Ending::Nothing
            if declined =>
        {
            (State::Refused, "refusal_given")
        }
        Ending::Pause => (State::Paused, "pause"),
        Ending::Unknown => (State::Unknown, "reason_not_known"),
        Ending::Tool if choice.calls.is_empty() => (State::Unknown, "tool_without_call"),
        Ending::Tool => (State::ToolCall, "tool"),
        Ending::Normal if !choice.calls.is_empty() => (State::ToolCall, "normal_with_call"),
        Ending::Normal if choice.text.is_visible() => (State::Complete, "normal_with_text"),
        Ending::Normal if choice.media.is_some() => (State::Complete, "normal_with_media"),
        Ending::Normal => (State::Empty, "normal_without_output"),
        Ending::Nothing => (State::Empty, "nothing_generated"),
    };
    Conclusion::new(state, KIND, detail)
}
