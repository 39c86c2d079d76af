//! `openai.chat`: `choices[].message` and `choices[].finish_reason`.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use crate::body::{
    Body, Output, Pointer, Reason, Spoken, arguments, entries, members, placed_text, reason, text,
};
use crate::errors;
use crate::json::{Kind, Malformed, Reader};
use crate::reading::ToolCall;
use crate::usage::{self, Names};

const USAGE: Names = Names {
    input: "prompt_tokens",
    output: "completion_tokens",
    input_details: "prompt_tokens_details",
    output_details: "completion_tokens_details",
    reasoning: "reasoning_tokens",
    input_excludes_cache: false,
};

const REASON_SOURCE: &str = "/choices/0/finish_reason";

/// What a choice's message says.
#[derive(Default)]
struct Message<'a> {
    output: Output<'a>,
    tool_calls: Vec<ToolCall<'a>>,
    refusal: Option<Cow<'a, str>>,
}

pub(crate) fn read<'a>(reader: &mut Reader<'a>) -> Result<Body<'a>, Malformed> {
    let mut body = Body::default();
    reader.object(|reader, name| {
        match name {
            "error" => body.error = errors::read(reader, &mut body.lossy)?,
            "model" => body.model = text(reader, &mut body.lossy)?,
            "id" => body.response_id = text(reader, &mut body.lossy)?,
            "usage" => body.usage = usage::read(reader, &USAGE)?,
            "choices" => {
                let mut choices = Vec::new();
                entries(reader, |reader, _| {
                    choices.push(choice(reader, &mut body.lossy)?);
                    Ok(())
                })?;
                body.choices = choices;
            }
            _ => drop(reader.skip()?),
        }
        Ok(())
    })?;
    Ok(body)
}

fn choice<'a>(reader: &mut Reader<'a>, lossy: &mut bool) -> Result<Spoken<'a>, Malformed> {
    let mut index = None;
    let mut ended: Option<Reason<'a>> = None;
    let mut said = Message::default();
    members(reader, |reader, name| {
        match name {
            "index" => index = reader.raw()?.parse().ok(),
            "finish_reason" => ended = reason(reader, REASON_SOURCE, lossy)?,
            "message" => said = message(reader, lossy)?,
            _ => drop(reader.skip()?),
        }
        Ok(())
    })?;
    Ok(Spoken {
        index,
        reason: ended,
        output: said.output,
        tool_calls: said.tool_calls,
        refusal: said.refusal,
    })
}

fn message<'a>(reader: &mut Reader<'a>, lossy: &mut bool) -> Result<Message<'a>, Malformed> {
    let mut message = Message::default();
    members(reader, |reader, name| {
        match name {
            "content" => message.output = content(reader, lossy)?,
            "refusal" => {
                message.refusal = text(reader, lossy)?.filter(|refusal| !refusal.is_empty());
            }
            "tool_calls" => {
                let mut calls = Vec::new();
                entries(reader, |reader, _| {
                    calls.extend(tool_call(reader, lossy)?);
                    Ok(())
                })?;
                message.tool_calls = calls;
            }
            _ => drop(reader.skip()?),
        }
        Ok(())
    })?;
    Ok(message)
}

/// Content is a string or a list of parts with text.
fn content<'a>(reader: &mut Reader<'a>, lossy: &mut bool) -> Result<Output<'a>, Malformed> {
    let mut output = Output::default();
    if reader.kind()? == Kind::Text {
        if let Some((piece, span)) = placed_text(reader, lossy)? {
            output.push(piece, span, Pointer::Content);
        }
        return Ok(output);
    }
    entries(reader, |reader, part| {
        let mut piece = None;
        members(reader, |reader, name| {
            if name == "text" {
                piece = placed_text(reader, lossy)?;
                return Ok(());
            }
            reader.skip().map(drop)
        })?;
        if let Some((piece, span)) = piece {
            output.push(piece, span, Pointer::ContentPart(part));
        }
        Ok(())
    })?;
    Ok(output)
}

/// Reads one call; an entry that is no object is none.
fn tool_call<'a>(
    reader: &mut Reader<'a>,
    lossy: &mut bool,
) -> Result<Option<ToolCall<'a>>, Malformed> {
    if reader.kind()? != Kind::Object {
        reader.skip()?;
        return Ok(None);
    }
    let mut id = None;
    let mut called = (Cow::default(), Cow::default());
    reader.object(|reader, name| {
        match name {
            "id" => id = text(reader, lossy)?,
            "function" => called = function(reader, lossy)?,
            _ => drop(reader.skip()?),
        }
        Ok(())
    })?;
    let (name, arguments) = called;
    Ok(Some(ToolCall {
        id,
        name,
        arguments,
    }))
}

fn function<'a>(
    reader: &mut Reader<'a>,
    lossy: &mut bool,
) -> Result<(Cow<'a, str>, Cow<'a, str>), Malformed> {
    let mut called = Cow::default();
    let mut given = Cow::default();
    members(reader, |reader, name| {
        match name {
            "name" => called = text(reader, lossy)?.unwrap_or_default(),
            "arguments" => given = arguments(reader, lossy)?,
            _ => drop(reader.skip()?),
        }
        Ok(())
    })?;
    Ok((called, given))
}
