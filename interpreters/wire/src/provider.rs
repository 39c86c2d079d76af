//! Where each dialect keeps what a transcript needs. A whole body and the
//! documents of a stream go through the same functions: most wires use the same
//! members for both.

use crate::Dialect;
use crate::json::{Kind, Reader, Result};
use crate::transcript::Transcript;
use crate::{complaint, json};

mod chat;
mod cohere;
mod converse;
mod gemini;
mod invoke;
mod messages;
mod ollama;
mod responses;

/// Reads one document. `name` is the name of its event, where the framing has one.
pub(crate) fn document<'a>(
    dialect: Dialect,
    name: Option<&str>,
    reader: &mut Reader<'a>,
    transcript: &mut Transcript<'a>,
) -> Result<()> {
    match reader.kind()? {
        Kind::Object => {}
        // An array around an error, or around what should be one document.
        Kind::Array => {
            return reader.array(|reader, _| match reader.kind()? {
                Kind::Object => document(dialect, name, reader, transcript),
                Kind::Array | Kind::Text | Kind::Number | Kind::True | Kind::False | Kind::Null => {
                    reader.skip().map(drop)
                }
            });
        }
        // A value that is no object says nothing in any dialect.
        Kind::Text | Kind::Number | Kind::True | Kind::False | Kind::Null => {
            reader.skip()?;
            return Err(json::Fault::Syntax);
        }
    }
    match dialect {
        Dialect::OpenaiChat | Dialect::OpenaiCompletions | Dialect::MistralChat => {
            chat::document(reader, transcript)
        }
        Dialect::OpenaiResponses => responses::document(name, reader, transcript),
        Dialect::AnthropicMessages | Dialect::AnthropicComplete => {
            messages::document(name, reader, transcript)
        }
        Dialect::GeminiGenerateContent => gemini::document(reader, transcript),
        Dialect::BedrockConverse => converse::document(name, reader, transcript),
        Dialect::BedrockInvoke => invoke::document(reader, transcript),
        Dialect::CohereV1Chat => cohere::first_version(reader, transcript),
        Dialect::CohereV2Chat => cohere::second_version(name, reader, transcript),
        Dialect::OllamaChat | Dialect::OllamaGenerate => ollama::document(reader, transcript),
    }
}

/// Settles what only the end of a body can settle.
pub(crate) fn finish(dialect: Dialect, transcript: &mut Transcript<'_>) {
    if dialect == Dialect::OpenaiResponses {
        responses::finish(transcript);
    }
}

/// Returns whether text is the mark that ends a stream.
pub(crate) fn is_mark(text: &[u8]) -> bool {
    text.trim_ascii().starts_with(b"[DONE]")
}

/// Returns whether text is a comment that was wrapped as data.
pub(crate) fn is_silence(text: &[u8]) -> bool {
    text.trim_ascii_start().starts_with(b":")
}

/// Reads an `error` member into a transcript.
fn error<'a>(reader: &mut Reader<'a>, transcript: &mut Transcript<'a>) -> Result<()> {
    let document = transcript.documents;
    let complaint = complaint::of_member(reader, document)?;
    transcript.recognise(complaint.is_some());
    transcript.complain(complaint);
    Ok(())
}

/// Reads the members of an error that stand at the top of a document.
fn flat_error<'a>(reader: &mut Reader<'a>, transcript: &mut Transcript<'a>) -> Result<()> {
    let document = transcript.documents;
    let complaint = complaint::of_failure(reader)?;
    let mut complaint = complaint.unwrap_or_default();
    complaint.document = document;
    transcript.recognise(true);
    transcript.complain(Some(complaint));
    Ok(())
}

/// Returns whether a word of a stream stands for no reason yet.
fn is_unfinished(word: &str) -> bool {
    word.is_empty() || word == "null"
}
