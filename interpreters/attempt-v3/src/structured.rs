//! Whether the text is what the request asked for.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;

use wire::Dialect;
use wire::json::{Kind, Reader, Result, Span};

use crate::reading::{Fact, Reading, State, StructuredOutput};
use crate::schema::{self, Report, Verdict};

/// What a request asks the text to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Anything,
    Json,
    /// JSON by the schema that stands here in the request.
    Schema(Span),
}

/// Judges the text of a reading by its request, where that is kept.
pub(crate) fn judge(request: Option<&[u8]>, dialect: Dialect, reading: &mut Reading<'_>) {
    let Some(request) = request else {
        return;
    };
    // A request that cannot be read asks for nothing that could be told.
    let wanted = wanted(request, dialect).unwrap_or(Wanted::Anything);
    if wanted == Wanted::Anything {
        return;
    }
    if reading.state == State::ToolCall && reading.output_text.is_none() {
        // The text comes when the tools have run.
        reading
            .facts
            .push(("structured_output_deferred", Fact::Flag(true)));
        return;
    }
    let Some(text) = reading.output_text.as_deref() else {
        let why = format!("there is no text; the state is {}", reading.state.as_str());
        reading.structured_output = StructuredOutput::Invalid(why);
        return;
    };
    if let Some(why) = no_json(text) {
        reading.structured_output = StructuredOutput::Invalid(why);
        return;
    }
    let Wanted::Schema(schema) = wanted else {
        reading.structured_output = StructuredOutput::Valid;
        return;
    };
    let Report { verdict, partial } = schema::validate(schema.of(request), text);
    if partial {
        reading
            .facts
            .push(("schema_partly_checked", Fact::Flag(true)));
    }
    reading.structured_output = match verdict {
        Verdict::Valid | Verdict::NotChecked => StructuredOutput::Valid,
        Verdict::Invalid(why) => StructuredOutput::Invalid(why),
    };
}

/// Says why a text is no JSON, if it is none.
fn no_json(text: &str) -> Option<String> {
    let mut reader = Reader::of_body(text.as_bytes());
    let read = reader.skip();
    let at = reader.position();
    if read.is_err() {
        return Some(format!("not JSON at byte {at}"));
    }
    if !reader.at_end() {
        let at = reader.position();
        return Some(format!(
            "not JSON: something follows the value at byte {at}"
        ));
    }
    (reader.notes.non_finite > 0).then(|| "not JSON: a number has no value".to_owned())
}

fn wanted(request: &[u8], dialect: Dialect) -> Result<Wanted> {
    let mut wanted = Wanted::Anything;
    let mut reader = Reader::of_body(request);
    reader.members(|reader, name| {
        match (dialect, name) {
            (
                Dialect::OpenaiChat
                | Dialect::OpenaiCompletions
                | Dialect::MistralChat
                | Dialect::CohereV1Chat
                | Dialect::CohereV2Chat,
                "response_format",
            )
            | (Dialect::AnthropicMessages | Dialect::BedrockInvoke, "output_format") => {
                wanted = format(reader)?;
            }
            (Dialect::OpenaiResponses, "text")
            | (Dialect::AnthropicMessages | Dialect::BedrockInvoke, "output_config") => reader
                .members(|reader, name| {
                    if name != "format" {
                        return reader.skip().map(drop);
                    }
                    wanted = format(reader)?;
                    Ok(())
                })?,
            (Dialect::GeminiGenerateContent, "generationConfig" | "generation_config") => {
                wanted = generation_config(reader)?;
            }
            (Dialect::OllamaChat | Dialect::OllamaGenerate, "format") => {
                wanted = match reader.kind()? {
                    Kind::Object => Wanted::Schema(reader.skip()?),
                    Kind::Text if reader.cited()?.is_some_and(|word| word.text == "json") => {
                        Wanted::Json
                    }
                    Kind::Text => Wanted::Anything,
                    Kind::Array | Kind::Number | Kind::True | Kind::False | Kind::Null => {
                        reader.skip()?;
                        Wanted::Anything
                    }
                };
            }
            _ => drop(reader.skip()?),
        }
        Ok(())
    })?;
    Ok(wanted)
}

/// Reads a format: `json_object`, or `json_schema` with its schema, which stands in
/// one of three places.
fn format(reader: &mut Reader<'_>) -> Result<Wanted> {
    let kind = reader.peek("type");
    let kind = kind.as_deref().unwrap_or_default();
    if !matches!(kind, "json_object" | "json_schema") {
        reader.skip()?;
        return Ok(Wanted::Anything);
    }
    let mut schema = None;
    reader.members(|reader, name| {
        match name {
            "json_schema" if reader.has("schema") => reader.members(|reader, name| {
                let span = reader.skip()?;
                if name == "schema" {
                    schema = Some(span);
                }
                Ok(())
            })?,
            "schema" | "json_schema" => {
                let is_object = reader.kind()? == Kind::Object;
                schema = Some(reader.skip()?).filter(|_| is_object);
            }
            _ => drop(reader.skip()?),
        }
        Ok(())
    })?;
    Ok(schema.map_or(Wanted::Json, Wanted::Schema))
}

fn generation_config(reader: &mut Reader<'_>) -> Result<Wanted> {
    let mut json = false;
    let mut schema = None;
    reader.members(|reader, name| {
        match name {
            "responseMimeType" | "response_mime_type" => {
                json = reader
                    .cited()?
                    .is_some_and(|kind| kind.text == "application/json");
            }
            "responseSchema"
            | "response_schema"
            | "responseJsonSchema"
            | "response_json_schema" => {
                let is_object = reader.kind()? == Kind::Object;
                let span = reader.skip()?;
                schema = is_object.then_some(span).or(schema);
            }
            _ => drop(reader.skip()?),
        }
        Ok(())
    })?;
    Ok(match schema {
        Some(schema) if json => Wanted::Schema(schema),
        Some(_) | None if json => Wanted::Json,
        Some(_) | None => Wanted::Anything,
    })
}
