//! `anthropic.messages`: `content[]` and `stop_reason`.

use alloc::borrow::Cow;

use crate::body::{Body, Output, Pointer, Spoken, entries, members, placed_text, reason, text};
use crate::errors;
use crate::json::{Malformed, Reader, Span};
use crate::reading::ToolCall;
use crate::usage::{self, Names};

const USAGE: Names = Names {
    input: "input_tokens",
    output: "output_tokens",
    input_details: "",
    output_details: "output_tokens_details",
    reasoning: "thinking_tokens",
    input_excludes_cache: true,
};

const REASON_SOURCE: &str = "/stop_reason";

pub(crate) fn read<'a>(reader: &mut Reader<'a>) -> Result<Body<'a>, Malformed> {
    let mut body = Body::default();
    let mut ended = None;
    let mut spoken = Spoken::default();
    reader.object(|reader, name| {
        match name {
            "error" => body.error = errors::read(reader, &mut body.lossy)?,
            "model" => body.model = text(reader, &mut body.lossy)?,
            "id" => body.response_id = text(reader, &mut body.lossy)?,
            "usage" => body.usage = usage::read(reader, &USAGE)?,
            "stop_reason" => ended = reason(reader, REASON_SOURCE, &mut body.lossy)?,
            "content" => spoken = content(reader, &mut body.lossy)?,
            _ => drop(reader.skip()?),
        }
        Ok(())
    })?;
    spoken.reason = ended;
    body.choices.push(spoken);
    Ok(body)
}

fn content<'a>(reader: &mut Reader<'a>, lossy: &mut bool) -> Result<Spoken<'a>, Malformed> {
    let mut spoken = Spoken::default();
    entries(reader, |reader, position| {
        let block = block(reader, lossy)?;
        match (block.kind.as_deref(), block.text) {
            (Some("text"), Some((piece, span))) => {
                spoken.output.push(piece, span, Pointer::Block(position));
            }
            (Some("tool_use"), _) => spoken.tool_calls.push(ToolCall {
                id: block.id,
                name: block.name,
                arguments: Cow::Borrowed(block.input),
            }),
            _ => {}
        }
        Ok(())
    })?;
    // The historical rule of this dialect: blank text is none.
    if spoken.output.is_blank() {
        spoken.output = Output::default();
    }
    Ok(spoken)
}

/// One block of the content. Its type may follow its text.
#[derive(Default)]
struct Block<'a> {
    kind: Option<Cow<'a, str>>,
    text: Option<(Cow<'a, str>, Span)>,
    id: Option<Cow<'a, str>>,
    name: Cow<'a, str>,
    input: &'a str,
}

fn block<'a>(reader: &mut Reader<'a>, lossy: &mut bool) -> Result<Block<'a>, Malformed> {
    let mut block = Block::default();
    members(reader, |reader, name| {
        match name {
            "type" => block.kind = text(reader, lossy)?,
            "text" => block.text = placed_text(reader, lossy)?,
            "id" => block.id = text(reader, lossy)?,
            "name" => block.name = text(reader, lossy)?.unwrap_or_default(),
            "input" => block.input = reader.raw()?,
            _ => drop(reader.skip()?),
        }
        Ok(())
    })?;
    Ok(block)
}
