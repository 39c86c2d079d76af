//! Cohere's two versions of chat, and its text generation.

use crate::json::{Kind, Reader, Result};
use crate::transcript::{Call, Choice, Transcript};
use crate::usage::Counts;

use super::{chat, error, flat_error};

/// Reads `/v2/chat`. Every event has its type in the data.
pub(super) fn second_version<'a>(
    name: Option<&str>,
    reader: &mut Reader<'a>,
    transcript: &mut Transcript<'a>,
) -> Result<()> {
    let kind = reader.peek("type");
    let kind = kind.as_deref().or(name);
    transcript.recognise(kind.is_some_and(|kind| {
        ["message-", "content-", "tool-", "citation-"]
            .iter()
            .any(|start| kind.starts_with(start))
    }));
    match kind {
        None if reader.peek("message").is_some() => flat_error(reader, transcript),
        None => reader.members(|reader, name| answer(reader, name, 0, transcript)),
        Some("message-end") => {
            transcript.terminated = true;
            event(reader, transcript)
        }
        Some("error") => flat_error(reader, transcript),
        Some(_) => event(reader, transcript),
    }
}

/// Reads an event, whose `delta` has the members of an answer.
fn event<'a>(reader: &mut Reader<'a>, transcript: &mut Transcript<'a>) -> Result<()> {
    let slot = reader.peek_index("index").unwrap_or_default();
    reader.members(|reader, name| match name {
        "delta" => reader.members(|reader, name| answer(reader, name, slot, transcript)),
        _ => answer(reader, name, slot, transcript),
    })
}

fn answer<'a>(
    reader: &mut Reader<'a>,
    name: &str,
    slot: u32,
    transcript: &mut Transcript<'a>,
) -> Result<()> {
    match name {
        "id" => transcript.identified(reader),
        "message" => message(reader, transcript.choice(0), slot),
        "finish_reason" => {
            if let Some(word) = reader.filled()? {
                transcript.reason(0, word);
            }
            Ok(())
        }
        "usage" | "meta" => transcript.counts.read(reader, Counts::cohere),
        "error" => error(reader, transcript),
        _ => reader.skip().map(drop),
    }
}

fn message<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>, slot: u32) -> Result<()> {
    reader.members(|reader, name| match name {
        "content" if reader.kind()? == Kind::Array => {
            reader.array(|reader, _| content(reader, choice))
        }
        "content" => content(reader, choice),
        "tool_plan" => {
            choice.reasoning |= reader.filled()?.is_some();
            Ok(())
        }
        "tool_calls" if reader.kind()? == Kind::Array => reader.array(|reader, position| {
            let slot = u32::try_from(position).unwrap_or(u32::MAX);
            call(reader, choice, slot)
        }),
        "tool_calls" => call(reader, choice, slot),
        _ => reader.skip().map(drop),
    })
}

fn content<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>) -> Result<()> {
    reader.members(|reader, name| match name {
        "text" => {
            if let Some(text) = reader.filled()? {
                choice.text.push(text);
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

fn call<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>, slot: u32) -> Result<()> {
    if reader.kind()? != Kind::Object {
        return reader.skip().map(drop);
    }
    let mut id = None;
    let mut called = None;
    let mut given = None;
    reader.object(|reader, name| match name {
        "id" => {
            id = reader.filled()?;
            Ok(())
        }
        "function" => reader.members(|reader, name| {
            match name {
                "name" => called = reader.filled()?,
                "arguments" => given = chat::arguments(reader)?,
                _ => drop(reader.skip()?),
            }
            Ok(())
        }),
        _ => reader.skip().map(drop),
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

/// Reads `/v1/chat` and `/v1/generate`, whole or a line of a stream.
pub(super) fn first_version<'a>(
    reader: &mut Reader<'a>,
    transcript: &mut Transcript<'a>,
) -> Result<()> {
    let kind = reader.peek("event_type");
    transcript.recognise(kind.is_some());
    match kind.as_deref() {
        Some("stream-end") => {
            transcript.terminated = true;
            let pieced = transcript
                .choices
                .first()
                .is_some_and(|choice| !choice.is_blank());
            reader.object(|reader, name| match name {
                "finish_reason" => reason(reader, transcript),
                // The whole answer once more: its texts were here before.
                "response" if pieced => reader.members(|reader, name| match name {
                    "response_id" => transcript.identified(reader),
                    "meta" => transcript.counts.read(reader, Counts::cohere),
                    _ => reader.skip().map(drop),
                }),
                "response" => whole(reader, transcript),
                "error" => error(reader, transcript),
                _ => reader.skip().map(drop),
            })
        }
        None if !reader.has("text") && !reader.has("generations") && reader.has("message") => {
            flat_error(reader, transcript)
        }
        Some(_) | None => whole(reader, transcript),
    }
}

fn reason<'a>(reader: &mut Reader<'a>, transcript: &mut Transcript<'a>) -> Result<()> {
    if let Some(word) = reader.filled()? {
        transcript.reason(0, word);
    }
    Ok(())
}

fn whole<'a>(reader: &mut Reader<'a>, transcript: &mut Transcript<'a>) -> Result<()> {
    reader.members(|reader, name| match name {
        "response_id" | "id" => transcript.identified(reader),
        "text" => {
            let text = reader.filled()?;
            let choice = transcript.choice(0);
            if let Some(text) = text {
                choice.text.push(text);
            }
            Ok(())
        }
        "generations" => reader.entries(|reader, position| {
            let index = u32::try_from(position).unwrap_or(u32::MAX);
            generation(reader, index, transcript)
        }),
        "finish_reason" => reason(reader, transcript),
        "tool_calls" => {
            let choice = transcript.choice(0);
            reader.entries(|reader, _| old_call(reader, choice))
        }
        "meta" => transcript.counts.read(reader, Counts::cohere),
        "error" => error(reader, transcript),
        _ => reader.skip().map(drop),
    })
}

pub(super) fn generation<'a>(
    reader: &mut Reader<'a>,
    index: u32,
    transcript: &mut Transcript<'a>,
) -> Result<()> {
    if reader.kind()? != Kind::Object {
        return reader.skip().map(drop);
    }
    transcript.choice(index);
    reader.object(|reader, name| match name {
        "text" => {
            if let Some(text) = reader.filled()? {
                transcript.choice(index).text.push(text);
            }
            Ok(())
        }
        "finish_reason" => {
            if let Some(word) = reader.filled()? {
                transcript.reason(index, word);
            }
            Ok(())
        }
        _ => reader.skip().map(drop),
    })
}

/// The first version names the arguments `parameters` and gives no identifier.
fn old_call<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>) -> Result<()> {
    if reader.kind()? != Kind::Object {
        return reader.skip().map(drop);
    }
    let mut call = Call::default();
    reader.object(|reader, name| {
        match name {
            "name" => call.name = reader.filled()?,
            "parameters" => {
                if let Some(arguments) = chat::arguments(reader)? {
                    call.arguments.push(arguments);
                }
            }
            _ => drop(reader.skip()?),
        }
        Ok(())
    })?;
    choice.add(call);
    Ok(())
}
