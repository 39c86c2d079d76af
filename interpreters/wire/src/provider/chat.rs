//! `OpenAI`'s chat and completions, Mistral's chat, and every server after them:
//! `choices[]` with `message`, `delta` or `text`.

use crate::complaint::{self, Complaint};
use crate::json::{Cited, Kind, Reader, Result, Span};
use crate::transcript::{Call, Choice, Transcript};
use crate::usage::Counts;

use super::{error, is_unfinished};

pub(super) fn document<'a>(reader: &mut Reader<'a>, transcript: &mut Transcript<'a>) -> Result<()> {
    let mut flat = Complaint {
        document: transcript.documents,
        ..Complaint::default()
    };
    let mut is_flat = false;
    let mut has_choices = false;
    reader.object(|reader, name| match name {
        // Some servers put the members of an error at the top.
        "object" => {
            is_flat |= reader.peek_text().as_deref() == Some("error");
            reader.skip().map(drop)
        }
        "detail" => {
            is_flat = true;
            flat.describe(reader)
        }
        "message" | "type" | "code" => flat.member(reader, name),
        "error" => error(reader, transcript),
        "id" => transcript.identified(reader),
        "model" => transcript.named(reader),
        "usage" => transcript.counts.read(reader, Counts::chat),
        "x_groq" => reader.members(|reader, name| match name {
            "usage" => transcript.counts.read(reader, Counts::chat),
            "error" => error(reader, transcript),
            _ => reader.skip().map(drop),
        }),
        "choices" => {
            has_choices = reader.kind()? == Kind::Array;
            transcript.recognise(has_choices);
            reader.entries(|reader, position| choice(reader, position, transcript))
        }
        _ => reader.skip().map(drop),
    })?;
    if is_flat && !has_choices {
        transcript.recognise(true);
        transcript.complain(Some(flat));
    }
    Ok(())
}

/// Reads one choice. Its index may stand behind what it says, so that is looked
/// for first.
fn choice<'a>(
    reader: &mut Reader<'a>,
    position: usize,
    transcript: &mut Transcript<'a>,
) -> Result<()> {
    // What is left out anyway is only passed over.
    if reader.kind()? != Kind::Object || transcript.has_surplus() {
        return reader.skip().map(drop);
    }
    let position = u32::try_from(position).unwrap_or(u32::MAX);
    let index = reader.peek_index("index").unwrap_or(position);
    transcript.choice(index);
    let mut text = None;
    let mut has_message = false;
    reader.object(|reader, name| match name {
        "message" | "delta" => {
            has_message |= reader.kind()? == Kind::Object;
            let whole = if name == "message" {
                Whole::Yes
            } else {
                Whole::No
            };
            message(reader, transcript.choice(index), whole)
        }
        "text" => {
            text = reader.filled()?;
            Ok(())
        }
        "finish_reason" => {
            if let Some(word) = reader.cited()?.filter(|word| !is_unfinished(&word.text)) {
                transcript.reason(index, word);
            }
            Ok(())
        }
        // OpenRouter reports what its upstream says about one choice.
        "error" => {
            let complaint = complaint::of_member(reader, transcript.documents)?;
            transcript.complain(complaint);
            Ok(())
        }
        _ => reader.skip().map(drop),
    })?;
    // Together sends the same text in both places of a chat.
    if let Some(text) = text.filter(|_| !has_message) {
        transcript.choice(index).text.push(text);
    }
    Ok(())
}

/// Whether each entry of a list is a call of its own, or a piece of one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whole {
    Yes,
    No,
}

fn message<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>, whole: Whole) -> Result<()> {
    reader.members(|reader, name| match name {
        "content" => content(reader, choice),
        "refusal" => {
            if let Some(refusal) = reader.filled()? {
                choice.refusal.push(refusal);
            }
            Ok(())
        }
        "reasoning" | "reasoning_content" | "thinking" => {
            choice.reasoning |= has_content(reader)?;
            Ok(())
        }
        "tool_calls" => {
            reader.entries(|reader, position| tool_call(reader, position, choice, whole))
        }
        // What came before `tool_calls`: one call without an identifier.
        "function_call" => {
            if reader.kind()? != Kind::Object {
                return reader.skip().map(drop);
            }
            let mut piece = Piece::default();
            piece.function(reader)?;
            // Servers exist that send every member, this one without a name.
            if piece.name.is_some() || choice.held(FUNCTION_SLOT).is_some() {
                piece.join(choice, FUNCTION_SLOT);
            }
            Ok(())
        }
        "audio" => reader.members(|reader, name| match name {
            "data" | "transcript" => media(reader, choice),
            _ => reader.skip().map(drop),
        }),
        "images" => media(reader, choice),
        _ => reader.skip().map(drop),
    })
}

/// The slot of the one call that has none.
const FUNCTION_SLOT: u32 = u32::MAX;

fn media<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>) -> Result<()> {
    let has = has_content(&mut reader.clone())?;
    let span = reader.skip()?;
    if has && choice.media.is_none() {
        choice.media = Some(reader.cite(span));
    }
    Ok(())
}

/// Returns whether a value is there and not empty, and passes over it.
fn has_content(reader: &mut Reader<'_>) -> Result<bool> {
    let kind = reader.kind()?;
    let Span { start, end } = reader.skip()?;
    Ok(match kind {
        Kind::Text | Kind::Array | Kind::Object => end - start > "\"\"".len(),
        Kind::Null | Kind::False | Kind::True | Kind::Number => false,
    })
}

/// Content is text, or a list of parts.
fn content<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>) -> Result<()> {
    match reader.kind()? {
        Kind::Text => {
            if let Some(text) = reader.filled()? {
                choice.text.push(text);
            }
            Ok(())
        }
        Kind::Array => reader.array(|reader, _| {
            if reader.kind()? == Kind::Text {
                if let Some(text) = reader.filled()? {
                    choice.text.push(text);
                }
                return Ok(());
            }
            part(reader, choice)
        }),
        // Mistral sends one part without its list in some streams.
        Kind::Object => part(reader, choice),
        Kind::Number | Kind::True | Kind::False | Kind::Null => reader.skip().map(drop),
    }
}

fn part<'a>(reader: &mut Reader<'a>, choice: &mut Choice<'a>) -> Result<()> {
    let mut text = None;
    let mut reasoned = false;
    reader.members(|reader, name| match name {
        "text" => {
            text = reader.filled()?;
            Ok(())
        }
        "refusal" => {
            if let Some(refusal) = reader.filled()? {
                choice.refusal.push(refusal);
            }
            Ok(())
        }
        "thinking" => {
            reasoned |= has_content(reader)?;
            Ok(())
        }
        "image_url" | "audio_url" | "input_audio" => {
            let span = reader.skip()?;
            if choice.media.is_none() {
                choice.media = Some(reader.cite(span));
            }
            Ok(())
        }
        _ => reader.skip().map(drop),
    })?;
    choice.reasoning |= reasoned;
    if let Some(text) = text {
        choice.text.push(text);
    }
    Ok(())
}

/// One entry of `tool_calls`.
#[derive(Default)]
struct Piece<'a> {
    slot: Option<u32>,
    id: Option<Cited<'a>>,
    name: Option<Cited<'a>>,
    arguments: Option<Cited<'a>>,
}

impl<'a> Piece<'a> {
    fn function(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        reader.members(|reader, name| match name {
            "name" => {
                self.name = reader.filled()?.or_else(|| self.name.take());
                Ok(())
            }
            "arguments" | "input" => {
                self.arguments = arguments(reader)?.or_else(|| self.arguments.take());
                Ok(())
            }
            _ => reader.skip().map(drop),
        })
    }

    fn join(self, choice: &mut Choice<'a>, slot: u32) {
        if let Some(call) = choice.call(slot, self.id) {
            add(call, self.name, self.arguments);
        }
    }
}

fn add<'a>(call: &mut Call<'a>, name: Option<Cited<'a>>, arguments: Option<Cited<'a>>) {
    if call.name.is_none() {
        call.name = name;
    }
    if let Some(arguments) = arguments {
        call.arguments.push(arguments);
    }
}

/// Arguments are text that should be JSON; some servers send the JSON itself.
pub(super) fn arguments<'a>(reader: &mut Reader<'a>) -> Result<Option<Cited<'a>>> {
    match reader.kind()? {
        Kind::Text => reader.filled(),
        Kind::Null => reader.skip().map(|_| None),
        Kind::Object | Kind::Array | Kind::Number | Kind::True | Kind::False => {
            reader.source_text().map(Some)
        }
    }
}

fn tool_call<'a>(
    reader: &mut Reader<'a>,
    position: usize,
    choice: &mut Choice<'a>,
    whole: Whole,
) -> Result<()> {
    if reader.kind()? != Kind::Object || choice.is_full(whole == Whole::Yes) {
        return reader.skip().map(drop);
    }
    let mut piece = Piece::default();
    reader.object(|reader, name| match name {
        "index" => {
            piece.slot = reader.index()?;
            Ok(())
        }
        "id" => {
            piece.id = reader.filled()?;
            Ok(())
        }
        "function" | "custom" => piece.function(reader),
        _ => reader.skip().map(drop),
    })?;
    if whole == Whole::Yes {
        let mut call = Call {
            id: piece.id,
            ..Call::default()
        };
        add(&mut call, piece.name, piece.arguments);
        choice.add(call);
        return Ok(());
    }
    let position = u32::try_from(position).unwrap_or(u32::MAX);
    let slot = piece.slot.unwrap_or(position);
    piece.join(choice, slot);
    Ok(())
}
