//! Gemini's generateContent: `candidates[]`, the same in a whole body and in each
//! piece of a stream.

use alloc::borrow::Cow;

use crate::json::{Cited, Kind, Reader, Result};
use crate::transcript::{Call, Choice, Transcript};
use crate::usage::Counts;

use super::{chat, error};

pub(super) fn document<'a>(reader: &mut Reader<'a>, transcript: &mut Transcript<'a>) -> Result<()> {
    reader.object(|reader, name| match name {
        "error" => error(reader, transcript),
        "responseId" => transcript.identified(reader),
        "modelVersion" => transcript.named(reader),
        "usageMetadata" => transcript.counts.read(reader, Counts::gemini),
        "promptFeedback" => feedback(reader, transcript),
        "candidates" => {
            transcript.recognise(reader.kind()? == Kind::Array);
            reader.entries(|reader, position| candidate(reader, position, transcript))
        }
        _ => reader.skip().map(drop),
    })
}

/// It is sent only where a violation left no candidates, so it counts even where
/// it gives no reason.
fn feedback<'a>(reader: &mut Reader<'a>, transcript: &mut Transcript<'a>) -> Result<()> {
    if reader.kind()? != Kind::Object {
        return reader.skip().map(drop);
    }
    let mut reason = None;
    let mut says = false;
    let ahead = reader.clone().skip()?;
    let place = reader.cite(ahead);
    reader.object(|reader, name| {
        says = true;
        if name != "blockReason" {
            return reader.skip().map(drop);
        }
        reason = reader.filled()?;
        Ok(())
    })?;
    if says && transcript.block.is_none() {
        transcript.recognise(true);
        transcript.block = Some(reason.unwrap_or(Cited {
            text: Cow::Borrowed(""),
            cite: place,
        }));
    }
    Ok(())
}

fn candidate<'a>(
    reader: &mut Reader<'a>,
    position: usize,
    transcript: &mut Transcript<'a>,
) -> Result<()> {
    // What is left out anyway is only passed over.
    if reader.kind()? != Kind::Object || transcript.has_surplus() {
        return reader.skip().map(drop);
    }
    let mut index = u32::try_from(position).unwrap_or(u32::MAX);
    // The index stands behind the content, so the piece is put in its place last.
    let mut piece = Choice::default();
    let mut word = None;
    let read = reader.object(|reader, name| match name {
        "index" => {
            index = reader.index()?.unwrap_or(index);
            Ok(())
        }
        "content" => reader.members(|reader, name| match name {
            "parts" => reader.entries(|reader, _| part(reader, &mut piece)),
            _ => reader.skip().map(drop),
        }),
        "finishReason" => {
            word = reader.filled()?;
            Ok(())
        }
        _ => reader.skip().map(drop),
    });
    transcript.choice(index).absorb(piece);
    if let Some(word) = word {
        transcript.reason(index, word);
    }
    read
}

fn part<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>) -> Result<()> {
    let mut text = None;
    let mut thought = false;
    reader.members(|reader, name| match name {
        "text" => {
            text = reader.filled()?;
            Ok(())
        }
        "thought" => {
            thought = reader.flag()? == Some(true);
            Ok(())
        }
        "functionCall" => {
            if reader.kind()? != Kind::Object {
                return reader.skip().map(drop);
            }
            call(reader, choice)
        }
        "inlineData" | "fileData" => {
            let span = reader.skip()?;
            if choice.media.is_none() {
                choice.media = Some(reader.cite(span));
            }
            Ok(())
        }
        "executableCode" | "toolCall" => {
            choice.hosted = choice.hosted.saturating_add(1);
            reader.skip().map(drop)
        }
        _ => reader.skip().map(drop),
    })?;
    if thought {
        choice.reasoning = true;
    } else if let Some(text) = text {
        choice.text.push(text);
    }
    Ok(())
}

fn call<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>) -> Result<()> {
    let mut call = Call::default();
    reader.object(|reader, name| {
        match name {
            "id" => call.id = reader.filled()?,
            "name" => call.name = reader.filled()?,
            "args" => {
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
