//! Anthropic's messages, and the text completions before them.

use crate::json::{Cited, Kind, Reader, Result};
use crate::transcript::{Choice, Transcript};
use crate::usage::Counts;

use super::{chat, error};

pub(super) fn document<'a>(
    name: Option<&str>,
    reader: &mut Reader<'a>,
    transcript: &mut Transcript<'a>,
) -> Result<()> {
    let kind = reader.peek("type");
    let kind = kind.as_deref().or(name).unwrap_or_default();
    let known = ["message", "content_block_", "completion", "ping"];
    transcript.recognise(known.iter().any(|start| kind.starts_with(start)));
    match kind {
        "message_start" => reader.object(|reader, name| match name {
            "message" => message(reader, transcript),
            _ => reader.skip().map(drop),
        }),
        "content_block_start" | "content_block_delta" => block_event(reader, transcript),
        "message_delta" => reader.object(|reader, name| match name {
            "delta" => message(reader, transcript),
            "usage" => transcript.counts.read(reader, Counts::messages),
            _ => reader.skip().map(drop),
        }),
        "message_stop" => {
            transcript.terminated = true;
            reader.skip().map(drop)
        }
        // Whatever else is sent in between is to be ignored.
        "ping" | "content_block_stop" => reader.skip().map(drop),
        _ => message(reader, transcript),
    }
}

/// Reads a message, the part of one that its last event changes, or a completion.
fn message<'a>(reader: &mut Reader<'a>, transcript: &mut Transcript<'a>) -> Result<()> {
    reader.members(|reader, name| match name {
        "id" => transcript.identified(reader),
        "model" => transcript.named(reader),
        "error" => error(reader, transcript),
        "usage" => transcript.counts.read(reader, Counts::messages),
        // Bedrock's own counts beside the model's.
        "amazon-bedrock-invocationMetrics" => transcript.counts.read(reader, Counts::converse),
        "stop_reason" => {
            if let Some(word) = reader.filled()? {
                transcript.reason(0, word);
            }
            Ok(())
        }
        "stop_details" => {
            let choice = transcript.choice(0);
            reader.members(|reader, name| {
                if name != "explanation" {
                    return reader.skip().map(drop);
                }
                if let Some(text) = reader.filled()? {
                    choice.refusal.push(text);
                }
                Ok(())
            })
        }
        "content" => {
            let choice = transcript.choice(0);
            reader.entries(|reader, _| block(reader, choice, None))
        }
        "completion" => {
            let text = reader.filled()?;
            let choice = transcript.choice(0);
            if let Some(text) = text {
                choice.text.push(text);
            }
            Ok(())
        }
        _ => reader.skip().map(drop),
    })
}

/// Reads the start of a block or a piece of one. Its index may stand behind it.
fn block_event<'a>(reader: &mut Reader<'a>, transcript: &mut Transcript<'a>) -> Result<()> {
    let slot = reader.peek_index("index").unwrap_or_default();
    let choice = transcript.choice(0);
    reader.object(|reader, name| match name {
        "content_block" => block(reader, choice, Some(slot)),
        "delta" => delta(reader, choice, slot),
        _ => reader.skip().map(drop),
    })
}

/// Reads a block. One that a stream starts has a slot, and its call has no
/// arguments yet.
fn block<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>, slot: Option<u32>) -> Result<()> {
    if reader.kind()? != Kind::Object {
        return reader.skip().map(drop);
    }
    let kind = reader.peek("type").unwrap_or_default();
    match &*kind {
        "text" => reader.object(|reader, name| {
            if name != "text" {
                return reader.skip().map(drop);
            }
            if let Some(text) = reader.filled()? {
                choice.text.push(text);
            }
            Ok(())
        }),
        "tool_use" => call(reader, choice, slot),
        "thinking" | "redacted_thinking" => {
            choice.reasoning = true;
            reader.skip().map(drop)
        }
        "server_tool_use" | "mcp_tool_use" => {
            choice.hosted = choice.hosted.saturating_add(1);
            reader.skip().map(drop)
        }
        _ => reader.skip().map(drop),
    }
}

fn call<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>, slot: Option<u32>) -> Result<()> {
    let mut id: Option<Cited<'a>> = None;
    let mut called = None;
    let mut given = None;
    reader.object(|reader, name| {
        match name {
            "id" => id = reader.filled()?,
            "name" => called = reader.filled()?,
            "input" if slot.is_none() => given = chat::arguments(reader)?,
            "input" => given = chat::arguments(reader)?.filter(|input| input.text != "{}"),
            _ => drop(reader.skip()?),
        }
        Ok(())
    })?;
    // A whole message has no slots: each block is a call of its own.
    let own = u32::try_from(choice.calls.len()).unwrap_or(u32::MAX);
    let Some(call) = choice.call(slot.unwrap_or(own), id) else {
        return Ok(());
    };
    call.name = called;
    if let Some(given) = given {
        call.arguments.push(given);
    }
    Ok(())
}

fn delta<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>, slot: u32) -> Result<()> {
    reader.members(|reader, name| match name {
        "text" => {
            if let Some(text) = reader.filled()? {
                choice.text.push(text);
            }
            Ok(())
        }
        "partial_json" => {
            if let Some(piece) = reader.filled()?
                && let Some(call) = choice.held(slot)
            {
                call.arguments.push(piece);
            }
            Ok(())
        }
        "thinking" => {
            choice.reasoning |= reader.filled()?.is_some();
            Ok(())
        }
        _ => reader.skip().map(drop),
    })
}
