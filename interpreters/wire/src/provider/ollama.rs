//! Ollama's own chat and generate: a line each, the last one with `done`.

use crate::json::{Kind, Reader, Result};
use crate::transcript::{Call, Choice, Transcript};

use super::{chat, error, is_unfinished};

pub(super) fn document<'a>(reader: &mut Reader<'a>, transcript: &mut Transcript<'a>) -> Result<()> {
    reader.object(|reader, name| match name {
        "error" => error(reader, transcript),
        "model" => transcript.named(reader),
        "message" => {
            let choice = transcript.choice(0);
            reader.members(|reader, name| match name {
                "tool_calls" => reader.entries(|reader, _| call(reader, choice)),
                "content" => text(reader, choice),
                "thinking" => thinking(reader, choice),
                _ => reader.skip().map(drop),
            })
        }
        "response" => text(reader, transcript.choice(0)),
        "thinking" => thinking(reader, transcript.choice(0)),
        "done" => {
            transcript.recognise(true);
            transcript.terminated |= reader.flag()? == Some(true);
            Ok(())
        }
        "done_reason" => {
            if let Some(word) = reader.cited()?.filter(|word| !is_unfinished(&word.text)) {
                transcript.reason(0, word);
            }
            Ok(())
        }
        "prompt_eval_count" => transcript.counts.take_input(reader),
        "eval_count" => transcript.counts.take_output(reader),
        _ => reader.skip().map(drop),
    })
}

fn text<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>) -> Result<()> {
    if let Some(text) = reader.filled()? {
        choice.text.push(text);
    }
    Ok(())
}

fn thinking<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>) -> Result<()> {
    choice.reasoning |= reader.filled()?.is_some();
    Ok(())
}

/// Every call comes whole.
fn call<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>) -> Result<()> {
    if reader.kind()? != Kind::Object {
        return reader.skip().map(drop);
    }
    let mut call = Call::default();
    reader.object(|reader, name| match name {
        "id" => {
            call.id = reader.filled()?;
            Ok(())
        }
        "function" => reader.members(|reader, name| {
            match name {
                "name" => call.name = reader.filled()?,
                "arguments" => {
                    if let Some(arguments) = chat::arguments(reader)? {
                        call.arguments.push(arguments);
                    }
                }
                _ => drop(reader.skip()?),
            }
            Ok(())
        }),
        _ => reader.skip().map(drop),
    })?;
    choice.add(call);
    Ok(())
}
