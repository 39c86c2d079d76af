//! `OpenAI`'s responses: one response object, or events around it. What the last
//! event's response says counts; deltas count where it has no output, or where
//! the stream ends before it.

use crate::json::{Cited, Kind, Reader, Result};
use crate::transcript::{Call, Choice, Transcript};
use crate::usage::Counts;

use super::{error, flat_error};

/// The answer that the response object gives.
const GIVEN: u32 = 0;
/// The answer that the deltas add up to, until the end settles which one counts.
const PIECED: u32 = 1;

pub(super) fn document<'a>(
    name: Option<&str>,
    reader: &mut Reader<'a>,
    transcript: &mut Transcript<'a>,
) -> Result<()> {
    // The response object itself has `object`, and no type.
    let kind = reader.peek_before("type", "object");
    let kind = kind.as_deref().or(name).unwrap_or_default();
    transcript.recognise(kind.starts_with("response."));
    match kind {
        "error" => flat_error(reader, transcript),
        "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
            transcript.terminated = true;
            reader.object(|reader, name| match name {
                "response" => response(reader, transcript, Final::Yes),
                _ => reader.skip().map(drop),
            })
        }
        "response.output_text.delta" => delta(reader, transcript, |choice, text| {
            choice.text.push(text);
        }),
        "response.refusal.delta" => delta(reader, transcript, |choice, text| {
            choice.refusal.push(text);
        }),
        "response.output_item.done" => reader.object(|reader, name| match name {
            "item" => item(reader, transcript.choice(PIECED), Texts::Left),
            _ => reader.skip().map(drop),
        }),
        event if event.starts_with("response.") => reader.object(|reader, name| match name {
            "response" => response(reader, transcript, Final::No),
            "error" => error(reader, transcript),
            _ => reader.skip().map(drop),
        }),
        _ => response(reader, transcript, Final::Yes),
    }
}

/// Settles which answer counts.
pub(super) fn finish(transcript: &mut Transcript<'_>) {
    if transcript
        .choices
        .last()
        .is_none_or(|last| last.index != PIECED)
    {
        return;
    }
    let Some(mut pieced) = transcript.choices.pop() else {
        return;
    };
    pieced.index = GIVEN;
    match transcript.choices.first_mut() {
        None => transcript.choices.push(pieced),
        Some(given) if given.is_blank() => {
            pieced.reasons = core::mem::take(&mut given.reasons);
            *given = pieced;
        }
        Some(_) => {}
    }
}

/// Whether a response object may be the last word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Final {
    Yes,
    No,
}

fn response<'a>(
    reader: &mut Reader<'a>,
    transcript: &mut Transcript<'a>,
    last: Final,
) -> Result<()> {
    let mut status = None;
    let mut reason = None;
    reader.members(|reader, name| match name {
        "id" => transcript.identified(reader),
        "model" => transcript.named(reader),
        "error" => error(reader, transcript),
        "status" => {
            status = reader.filled()?;
            Ok(())
        }
        "incomplete_details" => reader.members(|reader, name| {
            if name != "reason" {
                return reader.skip().map(drop);
            }
            reason = reader.filled()?;
            Ok(())
        }),
        "usage" => transcript.counts.read(reader, Counts::responses),
        "output" if last == Final::Yes => {
            transcript.recognise(true);
            let choice = transcript.choice(GIVEN);
            reader.entries(|reader, _| item(reader, choice, Texts::Taken))
        }
        _ => reader.skip().map(drop),
    })?;
    if last == Final::Yes && (status.is_some() || reason.is_some()) {
        for word in [reason, status].into_iter().flatten() {
            transcript.reason(GIVEN, word);
        }
    }
    Ok(())
}

fn delta<'a>(
    reader: &mut Reader<'a>,
    transcript: &mut Transcript<'a>,
    push: impl Fn(&mut Choice<'a>, Cited<'a>),
) -> Result<()> {
    reader.object(|reader, name| {
        if name != "delta" {
            return reader.skip().map(drop);
        }
        if let Some(text) = reader.filled()? {
            push(transcript.choice(PIECED), text);
        }
        Ok(())
    })
}

/// Whether the texts of an item count, or came as deltas before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Texts {
    Taken,
    Left,
}

/// What an item is to the client.
enum Item {
    Message,
    Call,
    Reasoning,
    Image,
    Hosted,
    Other,
}

fn kind_of(kind: &str) -> Item {
    match kind {
        "message" => Item::Message,
        "function_call"
        | "custom_tool_call"
        | "computer_call"
        | "local_shell_call"
        | "shell_call"
        | "apply_patch_call"
        | "mcp_approval_request" => Item::Call,
        "reasoning" => Item::Reasoning,
        "image_generation_call" => Item::Image,
        kind if kind.ends_with("_call") => Item::Hosted,
        _ => Item::Other,
    }
}

fn item<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>, texts: Texts) -> Result<()> {
    if reader.kind()? != Kind::Object {
        return reader.skip().map(drop);
    }
    let kind = reader.peek("type").unwrap_or_default();
    match kind_of(&kind) {
        Item::Message if texts == Texts::Taken => reader.object(|reader, name| match name {
            "content" => reader.entries(|reader, _| content(reader, choice)),
            _ => reader.skip().map(drop),
        }),
        Item::Call => call(reader, choice),
        Item::Reasoning => {
            choice.reasoning = true;
            reader.skip().map(drop)
        }
        Item::Image => image(reader, choice),
        Item::Hosted => {
            choice.hosted = choice.hosted.saturating_add(1);
            reader.skip().map(drop)
        }
        Item::Message | Item::Other => reader.skip().map(drop),
    }
}

fn content<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>) -> Result<()> {
    let kind = reader.peek("type").unwrap_or_default();
    reader.members(|reader, name| match (&*kind, name) {
        ("output_text", "text") => {
            if let Some(text) = reader.filled()? {
                choice.text.push(text);
            }
            Ok(())
        }
        ("refusal", "refusal") => {
            if let Some(refusal) = reader.filled()? {
                choice.refusal.push(refusal);
            }
            Ok(())
        }
        _ => reader.skip().map(drop),
    })
}

/// The provider runs it, and its result is output for the user.
fn image<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>) -> Result<()> {
    choice.hosted = choice.hosted.saturating_add(1);
    reader.object(|reader, name| {
        let has = name == "result" && reader.kind()? == Kind::Text;
        let span = reader.skip()?;
        if has && choice.media.is_none() && span.end - span.start > "\"\"".len() {
            choice.media = Some(reader.cite(span));
        }
        Ok(())
    })
}

fn call<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>) -> Result<()> {
    let mut call = Call::default();
    let mut item_id = None;
    reader.object(|reader, name| {
        match name {
            "call_id" => call.id = reader.filled()?,
            "id" => item_id = reader.filled()?,
            "name" => call.name = reader.filled()?,
            "type" => {
                let kind = reader.filled()?;
                if call.name.is_none() {
                    call.name = kind;
                }
            }
            "arguments" | "input" | "action" | "operation" => {
                if let Some(arguments) = super::chat::arguments(reader)? {
                    call.arguments.push(arguments);
                }
            }
            _ => drop(reader.skip()?),
        }
        Ok(())
    })?;
    if call.id.is_none() {
        call.id = item_id;
    }
    choice.add(call);
    Ok(())
}
