//! Bedrock's Converse, whole and as events. The events have their type in a
//! header, or, where Nova's own shape wraps them, as the only member.

use crate::json::{Kind, Reader, Result};
use crate::transcript::{Choice, Transcript};
use crate::usage::Counts;

use super::{chat, error};

pub(super) fn document<'a>(
    name: Option<&str>,
    reader: &mut Reader<'a>,
    transcript: &mut Transcript<'a>,
) -> Result<()> {
    if let Some(name) = name {
        return event(name, reader, transcript);
    }
    reader.object(|reader, name| match name {
        "output" => reader.members(|reader, name| match name {
            "message" => message(reader, transcript),
            _ => reader.skip().map(drop),
        }),
        "stopReason" => stop_reason(reader, transcript),
        "usage" => transcript.counts.read(reader, Counts::converse),
        "error" => error(reader, transcript),
        other => event(other, reader, transcript),
    })
}

fn event<'a>(name: &str, reader: &mut Reader<'a>, transcript: &mut Transcript<'a>) -> Result<()> {
    transcript.recognise(matches!(name, "contentBlockStop" | "metadata"));
    match name {
        "messageStart" => {
            transcript.choice(0);
            reader.skip().map(drop)
        }
        "contentBlockStart" | "contentBlockDelta" => block_event(reader, transcript),
        "messageStop" => {
            transcript.terminated = true;
            reader.members(|reader, name| match name {
                "stopReason" => stop_reason(reader, transcript),
                _ => reader.skip().map(drop),
            })
        }
        "metadata" => reader.members(|reader, name| match name {
            "usage" => transcript.counts.read(reader, Counts::converse),
            _ => reader.skip().map(drop),
        }),
        _ => reader.skip().map(drop),
    }
}

fn stop_reason<'a>(reader: &mut Reader<'a>, transcript: &mut Transcript<'a>) -> Result<()> {
    if let Some(word) = reader.filled()? {
        transcript.reason(0, word);
    }
    Ok(())
}

fn message<'a>(reader: &mut Reader<'a>, transcript: &mut Transcript<'a>) -> Result<()> {
    let choice = transcript.choice(0);
    reader.members(|reader, name| match name {
        "content" => reader.entries(|reader, position| {
            let slot = u32::try_from(position).unwrap_or(u32::MAX);
            block(reader, choice, slot)
        }),
        _ => reader.skip().map(drop),
    })
}

fn block_event<'a>(reader: &mut Reader<'a>, transcript: &mut Transcript<'a>) -> Result<()> {
    if reader.kind()? != Kind::Object {
        return reader.skip().map(drop);
    }
    // The index stands behind the block.
    let slot = reader.peek_index("contentBlockIndex").unwrap_or_default();
    let choice = transcript.choice(0);
    reader.object(|reader, name| match name {
        "start" | "delta" => block(reader, choice, slot),
        _ => reader.skip().map(drop),
    })
}

/// Reads a block, its start or a piece of it: one member says what it is.
fn block<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>, slot: u32) -> Result<()> {
    reader.members(|reader, name| match name {
        "text" => {
            if let Some(text) = reader.filled()? {
                choice.text.push(text);
            }
            Ok(())
        }
        "toolUse" => call(reader, choice, slot),
        "reasoningContent" => {
            choice.reasoning = true;
            reader.skip().map(drop)
        }
        // Text that stands on citations is text for the user.
        "citationsContent" => reader.members(|reader, name| match name {
            "content" => reader.entries(|reader, _| cited_text(reader, choice)),
            _ => reader.skip().map(drop),
        }),
        "image" | "video" | "audio" | "document" => {
            let span = reader.skip()?;
            if choice.media.is_none() {
                choice.media = Some(reader.cite(span));
            }
            Ok(())
        }
        _ => reader.skip().map(drop),
    })
}

fn cited_text<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>) -> Result<()> {
    reader.members(|reader, name| {
        if name != "text" {
            return reader.skip().map(drop);
        }
        if let Some(text) = reader.filled()? {
            choice.text.push(text);
        }
        Ok(())
    })
}

fn call<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>, slot: u32) -> Result<()> {
    let mut id = None;
    let mut called = None;
    let mut given = None;
    reader.members(|reader, name| {
        match name {
            "toolUseId" => id = reader.filled()?,
            "name" => called = reader.filled()?,
            "input" => given = chat::arguments(reader)?,
            _ => drop(reader.skip()?),
        }
        Ok(())
    })?;
    let Some(call) = choice.call(slot, id) else {
        return Ok(());
    };
    if call.name.is_none() {
        call.name = called;
    }
    if let Some(given) = given {
        call.arguments.push(given);
    }
    Ok(())
}
