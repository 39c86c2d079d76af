//! From a body to the JSON documents in it: whether it is one document or a
//! stream is read from the bytes, never from a header.

use alloc::vec::Vec;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::Dialect;
use crate::eventstream::{self, Broken, Messages};
use crate::json::{Fault, Kind, Reader, Source, Span};
use crate::sse::{self, Events, Shape};

/// How a body is framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One JSON document.
    Json,
    /// Server-sent events.
    Sse,
    /// JSON documents one after the other, usually a line each.
    JsonLines,
    /// One JSON array whose entries are the documents.
    JsonArray,
    /// The event stream encoding of AWS.
    EventStream,
    /// Nothing but white space.
    Empty,
    /// Anything else, such as a page for people.
    Other,
}

impl Form {
    /// Returns the name of a fact's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Sse => "sse",
            Self::JsonLines => "json_lines",
            Self::JsonArray => "json_array",
            Self::EventStream => "event_stream",
            Self::Empty => "empty",
            Self::Other => "other",
        }
    }

    /// Returns whether it is a stream.
    pub const fn is_stream(self) -> bool {
        match self {
            Self::Sse | Self::JsonLines | Self::JsonArray | Self::EventStream => true,
            Self::Json | Self::Empty | Self::Other => false,
        }
    }
}

/// What a frame is besides its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// What the provider meant to send.
    Event,
    /// An exception of an event stream; the frame's name is its type.
    Exception,
}

/// One document, or several that one event has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// The event's name, within the body.
    pub name: Option<Span>,
    /// The message of an exception that has no document.
    pub detail: Option<Span>,
    /// Where the text stands: in the body, or in [`Framed::inner`].
    pub text: Span,
    /// What citations of it point at.
    pub source: Source,
    /// How the text stands in the body.
    pub shape: Shape,
    /// What it is.
    pub role: Role,
    /// Whether the frame is whole, as far as the framing can tell.
    pub terminated: bool,
}

impl Frame {
    const fn document(text: Span) -> Self {
        Self {
            name: None,
            detail: None,
            text,
            source: Source::Body,
            shape: Shape::Plain,
            role: Role::Event,
            terminated: true,
        }
    }
}

/// What the framing itself shows about damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// The bytes end inside of something.
    Cut,
    /// Something that is there cannot be right.
    Malformed,
}

/// The frames of one body that are kept. An honest event is never so short that a
/// body of 64 MiB has more.
pub const FRAMES_MAX: usize = 750_000;

/// A body has more than [`FRAMES_MAX`] frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyFrames;

/// A body in frames.
#[derive(Debug, Clone)]
pub struct Framed {
    /// How the body is framed.
    pub form: Form,
    /// In the order of the bytes.
    pub frames: Vec<Frame>,
    /// What was decoded from base64 inside of frames.
    pub inner: Vec<u8>,
    /// What the framing shows, before or behind the last frame.
    pub damage: Option<Damage>,
    /// Frames that no document could be found in.
    pub stray: u32,
    /// Messages whose checksum does not fit.
    pub checksum_errors: u32,
}

impl Framed {
    const fn new(form: Form) -> Self {
        Self {
            form,
            frames: Vec::new(),
            inner: Vec::new(),
            damage: None,
            stray: 0,
            checksum_errors: 0,
        }
    }

    fn push(&mut self, frame: Frame) -> Result<(), TooManyFrames> {
        if self.frames.len() >= FRAMES_MAX {
            return Err(TooManyFrames);
        }
        self.frames.push(frame);
        Ok(())
    }

    /// Returns a reader of a frame's text.
    pub fn reader<'a>(&'a self, body: &'a [u8], frame: &Frame) -> Reader<'a> {
        let bytes = match frame.source {
            Source::Body => body,
            Source::Within(_) => &self.inner,
        };
        let reader = Reader::new(bytes, frame.text, frame.source);
        if frame.shape == Shape::Folded {
            return reader.folded();
        }
        reader
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Finds the frames of a decoded body.
pub fn split(dialect: Dialect, body: &[u8]) -> Result<Framed, TooManyFrames> {
    if eventstream::starts(body) {
        return event_stream(dialect, body);
    }
    let start = if body.starts_with(BYTE_ORDER_MARK) {
        BYTE_ORDER_MARK.len()
    } else {
        0
    };
    let rest = body.get(start..).unwrap_or_default();
    let text = rest.trim_ascii_start();
    let start = body.len() - text.len();
    match text.first() {
        None => Ok(Framed::new(Form::Empty)),
        Some(b'{') => Ok(documents(body, start)),
        Some(b'[') => array(body, start),
        Some(_) if sse::starts(text) => events(body, start),
        Some(_) => {
            let mut framed = Framed::new(Form::Other);
            framed.damage = Some(Damage::Malformed);
            Ok(framed)
        }
    }
}

/// One document, or one after the other: which it is shows when they are read, so
/// that a body is passed over once.
fn documents(body: &[u8], start: usize) -> Framed {
    let mut framed = Framed::new(Form::Json);
    let end = body.len();
    framed.frames.push(Frame::document(Span { start, end }));
    framed
}

const fn damage(fault: Fault) -> Damage {
    match fault {
        Fault::Ended => Damage::Cut,
        Fault::Syntax | Fault::TooDeep => Damage::Malformed,
    }
}

/// The entries of an array; an entry that the bytes cut short counts as cut.
fn array(body: &[u8], start: usize) -> Result<Framed, TooManyFrames> {
    let mut framed = Framed::new(Form::JsonArray);
    let end = body.len();
    let mut reader = Reader::new(body, Span { start, end }, Source::Body);
    let mut full = Ok(());
    let read = reader.array(|reader, _| {
        reader.kind()?;
        let start = reader.position();
        let entry = reader.skip();
        let text = Span {
            start,
            end: entry.map_or(end, |span| span.end),
        };
        full = framed.push(Frame {
            terminated: entry.is_ok(),
            ..Frame::document(text)
        });
        if full.is_err() {
            return Err(Fault::Syntax);
        }
        entry.map(drop)
    });
    full?;
    match read {
        Ok(()) => {
            if !reader.at_end() {
                framed.stray += 1;
            }
        }
        Err(fault) => framed.damage = Some(damage(fault)),
    }
    Ok(framed)
}

fn events(body: &[u8], start: usize) -> Result<Framed, TooManyFrames> {
    let mut framed = Framed::new(Form::Sse);
    let mut events = Events::new(body, start);
    for event in events.by_ref() {
        framed.push(Frame {
            name: event.name,
            shape: event.shape,
            terminated: event.terminated,
            ..Frame::document(event.data)
        })?;
    }
    framed.stray = events.stray_lines;
    Ok(framed)
}

fn event_stream(dialect: Dialect, body: &[u8]) -> Result<Framed, TooManyFrames> {
    let mut framed = Framed::new(Form::EventStream);
    for message in Messages::new(body) {
        let message = match message {
            Ok(message) => message,
            Err(broken) => {
                framed.damage = Some(match broken {
                    Broken::Ended => Damage::Cut,
                    Broken::Prelude => Damage::Malformed,
                });
                break;
            }
        };
        if !message.sound {
            framed.checksum_errors += 1;
            framed.damage = Some(Damage::Malformed);
            continue;
        }
        let exception = message.kind.is_some_and(|kind| kind.of(body) != b"event");
        let frame = Frame {
            name: message.name,
            detail: message.detail,
            role: if exception {
                Role::Exception
            } else {
                Role::Event
            },
            ..Frame::document(message.payload)
        };
        let frame = if dialect == Dialect::BedrockInvoke && !exception {
            unwrapped(body, frame, &mut framed.inner)
        } else {
            frame
        };
        framed.push(frame)?;
    }
    Ok(framed)
}

/// Takes the document out of `{"bytes":"<base64>"}`, if that is what it is in.
fn unwrapped(body: &[u8], frame: Frame, inner: &mut Vec<u8>) -> Frame {
    let mut reader = Reader::new(body, frame.text, Source::Body);
    let mut found = None;
    // Whatever stands behind it does not matter.
    let _ignored = reader.members(|reader, name| {
        if name == "bytes" && reader.kind()? == Kind::Text {
            found = reader.cited()?;
            return Ok(());
        }
        reader.skip().map(drop)
    });
    let Some(found) = found else {
        return frame;
    };
    let start = inner.len();
    match STANDARD.decode(found.text.as_bytes()) {
        Ok(document) => inner.extend_from_slice(&document),
        Err(_no_base64) => return frame,
    }
    Frame {
        name: None,
        text: Span {
            start,
            end: inner.len(),
        },
        source: Source::Within(found.cite.span),
        ..frame
    }
}
