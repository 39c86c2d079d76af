//! Bedrock's invoke: the shape of whoever made the model, told from its members.

use crate::json::{Kind, Reader, Result};
use crate::transcript::Transcript;
use crate::usage::Counts;

use super::{chat, cohere, converse, messages};

pub(super) fn document<'a>(reader: &mut Reader<'a>, transcript: &mut Transcript<'a>) -> Result<()> {
    match maker(reader) {
        Maker::Anthropic => messages::document(None, reader, transcript),
        Maker::Chat => chat::document(reader, transcript),
        Maker::Nova => converse::document(None, reader, transcript),
        Maker::Other => other(reader, transcript),
    }
}

/// Whose shape a document has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Maker {
    Anthropic,
    Chat,
    Nova,
    Other,
}

fn maker(reader: &Reader<'_>) -> Maker {
    let mut maker = Maker::Other;
    reader.names(|name| {
        let found = match name {
            "type" | "stop_sequence" | "completion" => Maker::Anthropic,
            "choices" => Maker::Chat,
            "output" | "messageStart" | "contentBlockStart" | "contentBlockDelta"
            | "contentBlockStop" | "messageStop" | "metadata" => Maker::Nova,
            _ => return,
        };
        // The first of these in this order is told by more than one name.
        if maker == Maker::Other || found == Maker::Anthropic {
            maker = found;
        }
    });
    maker
}

/// Titan, Llama, Cohere's command, AI21's and Mistral's text models.
fn other<'a>(reader: &mut Reader<'a>, transcript: &mut Transcript<'a>) -> Result<()> {
    reader.object(|reader, name| match name {
        "outputText" | "generation" | "text" => text(reader, 0, transcript),
        "completionReason" | "stop_reason" | "finish_reason" => reason(reader, 0, transcript),
        "inputTextTokenCount" | "prompt_token_count" => transcript.counts.take_input(reader),
        "totalOutputTextTokenCount" | "generation_token_count" => {
            transcript.counts.take_output(reader)
        }
        "amazon-bedrock-invocationMetrics" => transcript.counts.read(reader, Counts::converse),
        "results" | "outputs" | "completions" => reader.entries(|reader, position| {
            let index = u32::try_from(position).unwrap_or(u32::MAX);
            result(reader, index, transcript)
        }),
        "generations" => reader.entries(|reader, position| {
            let index = u32::try_from(position).unwrap_or(u32::MAX);
            cohere::generation(reader, index, transcript)
        }),
        "id" | "response_id" => transcript.identified(reader),
        "error" => super::error(reader, transcript),
        _ => reader.skip().map(drop),
    })
}

fn result<'a>(reader: &mut Reader<'a>, index: u32, transcript: &mut Transcript<'a>) -> Result<()> {
    if reader.kind()? != Kind::Object {
        return reader.skip().map(drop);
    }
    transcript.choice(index);
    reader.object(|reader, name| match name {
        "outputText" | "text" => text(reader, index, transcript),
        "tokenCount" => transcript.counts.take_output(reader),
        "completionReason" | "stop_reason" => reason(reader, index, transcript),
        // AI21: `data.text` and `finishReason.reason`.
        "data" | "finishReason" => reader.members(|reader, name| match name {
            "text" => text(reader, index, transcript),
            "reason" => reason(reader, index, transcript),
            _ => reader.skip().map(drop),
        }),
        _ => reader.skip().map(drop),
    })
}

fn text<'a>(reader: &mut Reader<'a>, index: u32, transcript: &mut Transcript<'a>) -> Result<()> {
    let text = reader.filled()?;
    let choice = transcript.choice(index);
    if let Some(text) = text {
        choice.text.push(text);
    }
    Ok(())
}

fn reason<'a>(reader: &mut Reader<'a>, index: u32, transcript: &mut Transcript<'a>) -> Result<()> {
    if let Some(word) = reader.filled()? {
        transcript.reason(index, word);
    }
    Ok(())
}
