//! Observations and the parts of readings that tests compare.

use attempt::reading::Fact;
use attempt::{Interpreter, Observation, Outcome, Reading, interpret};

/// Both versions.
pub(crate) const BOTH: [Interpreter; 2] = [Interpreter::V1, Interpreter::V2];

/// Returns the observation of a success with this body.
pub(crate) const fn success<'a>(dialect: &'a str, body: &'a [u8]) -> Observation<'a> {
    Observation {
        dialect,
        outcome: Outcome::ResponseReceived,
        status: Some(200),
        exception_type: None,
        response_body: Some(body),
    }
}

/// Reads a success by version 2.
pub(crate) fn read<'a>(dialect: &'a str, body: &'a str) -> Reading<'a> {
    interpret(Interpreter::V2, &success(dialect, body.as_bytes()))
}

/// Reads a chat body by version 2.
pub(crate) fn chat(body: &str) -> Reading<'_> {
    read("openai.chat", body)
}

/// Returns a chat body of one choice with this JSON value as its content.
pub(crate) fn chat_body(content: &str) -> String {
    format!(r#"{{"choices":[{{"message":{{"content":{content}}},"finish_reason":"stop"}}]}}"#)
}

/// Returns state, error class, kind and detail of the basis.
pub(crate) fn conclusion(
    reading: &Reading<'_>,
) -> (
    &'static str,
    Option<&'static str>,
    &'static str,
    &'static str,
) {
    (
        reading.generation_state.as_str(),
        reading.error.as_ref().map(|error| error.class.as_str()),
        reading.basis.kind.as_str(),
        reading.basis.detail,
    )
}

/// Returns the value of a fact.
pub(crate) fn fact(reading: &Reading<'_>, wanted: &str) -> Option<Fact> {
    let mut facts = reading.facts.iter();
    facts
        .find(|(name, _)| *name == wanted)
        .map(|(_, fact)| *fact)
}

/// Returns the cited bytes of a field with their pointer.
pub(crate) fn cited<'a>(
    reading: &Reading<'_>,
    field: &str,
    body: &'a str,
) -> Option<(String, &'a str)> {
    let citation = reading.citations.iter().find(|it| it.field == field)?;
    let start = usize::try_from(citation.start).unwrap();
    let end = usize::try_from(citation.end).unwrap();
    Some((citation.pointer.to_string(), &body[start..end]))
}
