//! `openai.responses`: `output[]`, `status` and `incomplete_details.reason`.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use crate::body::{
    Body, Pointer, Reason, Spoken, arguments, entries, members, placed_text, reason, text,
};
use crate::errors;
use crate::json::{Malformed, Reader, Span};
use crate::reading::ToolCall;
use crate::usage::{self, Names};

const USAGE: Names = Names {
    input: "input_tokens",
    output: "output_tokens",
    input_details: "input_tokens_details",
    output_details: "output_tokens_details",
    reasoning: "reasoning_tokens",
    input_excludes_cache: false,
};

/// The pointer of the word that wins where it is present.
pub(crate) const INCOMPLETE_SOURCE: &str = "/incomplete_details/reason";

/// The pointer of the word that counts otherwise.
pub(crate) const STATUS_SOURCE: &str = "/status";

pub(crate) fn read<'a>(reader: &mut Reader<'a>) -> Result<Body<'a>, Malformed> {
    let mut body = Body::default();
    let mut status = None;
    let mut incomplete = None;
    let mut spoken = Spoken::default();
    reader.object(|reader, name| {
        match name {
            "error" => body.error = errors::read(reader, &mut body.lossy)?,
            "model" => body.model = text(reader, &mut body.lossy)?,
            "id" => body.response_id = text(reader, &mut body.lossy)?,
            "usage" => body.usage = usage::read(reader, &USAGE)?,
            "status" => status = reason(reader, STATUS_SOURCE, &mut body.lossy)?,
            "incomplete_details" => incomplete = incomplete_reason(reader, &mut body.lossy)?,
            "output" => spoken = output(reader, &mut body.lossy)?,
            _ => drop(reader.skip()?),
        }
        Ok(())
    })?;
    spoken.reason = incomplete.or(status);
    body.choices.push(spoken);
    Ok(body)
}

fn incomplete_reason<'a>(
    reader: &mut Reader<'a>,
    lossy: &mut bool,
) -> Result<Option<Reason<'a>>, Malformed> {
    let mut found = None;
    members(reader, |reader, name| {
        if name == "reason" {
            found = reason(reader, INCOMPLETE_SOURCE, lossy)?;
            return Ok(());
        }
        reader.skip().map(drop)
    })?;
    Ok(found)
}

fn output<'a>(reader: &mut Reader<'a>, lossy: &mut bool) -> Result<Spoken<'a>, Malformed> {
    let mut spoken = Spoken::default();
    entries(reader, |reader, position| {
        let item = item(reader, lossy)?;
        match item.kind.as_deref() {
            Some("reasoning") => {}
            Some("function_call") => spoken.tool_calls.push(ToolCall {
                id: item.call_id.or(item.id),
                name: item.name,
                arguments: item.arguments,
            }),
            _ => say(&mut spoken, item.blocks, position),
        }
        Ok(())
    })?;
    Ok(spoken)
}

/// Adds the text and the refusals of one item.
fn say<'a>(spoken: &mut Spoken<'a>, blocks: Vec<Block<'a>>, position: usize) {
    for block in blocks {
        match block.kind.as_deref() {
            Some("output_text" | "text") => {
                if let Some((piece, span)) = block.text {
                    let pointer = Pointer::OutputBlock(position, block.position);
                    spoken.output.push(piece, span, pointer);
                }
            }
            Some("refusal") => match (&mut spoken.refusal, block.refusal) {
                (Some(said), Some(more)) => said.to_mut().push_str(&more),
                (said, more) => *said = said.take().or(more),
            },
            _ => {}
        }
    }
}

/// One item of the output. Its type may follow its content.
#[derive(Default)]
struct Item<'a> {
    kind: Option<Cow<'a, str>>,
    id: Option<Cow<'a, str>>,
    call_id: Option<Cow<'a, str>>,
    name: Cow<'a, str>,
    arguments: Cow<'a, str>,
    blocks: Vec<Block<'a>>,
}

/// One block of an item's content.
#[derive(Default)]
struct Block<'a> {
    position: usize,
    kind: Option<Cow<'a, str>>,
    text: Option<(Cow<'a, str>, Span)>,
    refusal: Option<Cow<'a, str>>,
}

fn item<'a>(reader: &mut Reader<'a>, lossy: &mut bool) -> Result<Item<'a>, Malformed> {
    let mut item = Item::default();
    members(reader, |reader, name| {
        match name {
            "type" => item.kind = text(reader, lossy)?,
            "id" => item.id = text(reader, lossy)?,
            "call_id" => item.call_id = text(reader, lossy)?,
            "name" => item.name = text(reader, lossy)?.unwrap_or_default(),
            "arguments" => item.arguments = arguments(reader, lossy)?,
            "content" => {
                let mut blocks = Vec::new();
                entries(reader, |reader, position| {
                    blocks.push(block(reader, position, lossy)?);
                    Ok(())
                })?;
                item.blocks = blocks;
            }
            _ => drop(reader.skip()?),
        }
        Ok(())
    })?;
    Ok(item)
}

fn block<'a>(
    reader: &mut Reader<'a>,
    position: usize,
    lossy: &mut bool,
) -> Result<Block<'a>, Malformed> {
    let mut block = Block {
        position,
        ..Block::default()
    };
    members(reader, |reader, name| {
        match name {
            "type" => block.kind = text(reader, lossy)?,
            "text" => block.text = placed_text(reader, lossy)?,
            "refusal" => {
                block.refusal = text(reader, lossy)?.filter(|refusal| !refusal.is_empty());
            }
            _ => drop(reader.skip()?),
        }
        Ok(())
    })?;
    Ok(block)
}
