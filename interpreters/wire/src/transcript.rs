//! What a response says, gathered from all its documents, without a conclusion.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use crate::complaint::Complaint;
use crate::framing::{Damage, Form, Frame, Framed, Role};
use crate::json::{Cite, Cited, Fault, Notes, Reader, Result};
use crate::sse::Shape;
use crate::usage::Counts;
use crate::{Dialect, complaint, provider};

/// Places of one text that are kept. A longer stream keeps its text and no
/// further places.
pub const PIECES_MAX: usize = 4096;

/// Answers of one response that are kept.
pub const CHOICES_MAX: usize = 1024;

/// Calls of one answer that are kept.
pub const CALLS_MAX: usize = 4096;

/// Different reasons of one answer that are kept.
const REASONS_MAX: usize = 64;

/// Text that may have come in pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text<'a> {
    /// All of it; borrowed where it is one piece without escapes.
    pub text: Cow<'a, str>,
    /// Where the pieces that are not empty stand, in order.
    pub pieces: Vec<Cite>,
    /// Whether there were more than [`PIECES_MAX`].
    pub pieces_cut: bool,
}

impl<'a> Text<'a> {
    /// Appends a piece.
    pub fn push(&mut self, piece: Cited<'a>) {
        if piece.text.is_empty() {
            return;
        }
        if self.text.is_empty() {
            self.text = piece.text;
        } else {
            self.text.to_mut().push_str(&piece.text);
        }
        if self.pieces.len() < PIECES_MAX {
            self.pieces.push(piece.cite);
        } else {
            self.pieces_cut = true;
        }
    }

    /// Appends what another text has.
    fn append(&mut self, other: Self) {
        if self.text.is_empty() {
            *self = other;
            return;
        }
        self.text.to_mut().push_str(&other.text);
        let room = PIECES_MAX.saturating_sub(self.pieces.len());
        self.pieces_cut |= other.pieces_cut || other.pieces.len() > room;
        self.pieces.extend(other.pieces.into_iter().take(room));
    }

    /// Returns whether a reader would see anything.
    pub fn is_visible(&self) -> bool {
        !self.text.trim().is_empty()
    }
}

/// A call that the client is to run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Call<'a> {
    /// The provider's identifier.
    pub id: Option<Cited<'a>>,
    /// The tool.
    pub name: Option<Cited<'a>>,
    /// The text of a string, or the JSON text of any other value.
    pub arguments: Text<'a>,
}

/// Why generation ended, in the provider's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason<'a> {
    /// The word.
    pub word: Cited<'a>,
    /// The number of the document that it stands in, from 0.
    pub document: u32,
}

/// What one of the answers says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice<'a> {
    /// The provider's index, or the position.
    pub index: u32,
    /// Every reason that was given, in order.
    pub reasons: Vec<Reason<'a>>,
    /// The text for the user.
    pub text: Text<'a>,
    /// Where the first output stands that is no text: audio or an image.
    pub media: Option<Cite>,
    /// What the model says when it declines.
    pub refusal: Text<'a>,
    /// The calls, in order.
    pub calls: Vec<Call<'a>>,
    /// Tools that the provider ran itself.
    pub hosted: u32,
    /// Whether reasoning was sent.
    pub reasoning: bool,
    /// Calls that are left out because there are more than [`CALLS_MAX`].
    pub calls_left_out: u32,
    /// Which call the pieces of a slot belong to, by slot.
    slots: Vec<(u32, usize)>,
}

impl<'a> Choice<'a> {
    /// Returns the call that a piece belongs to. A new identifier that is not the
    /// one held in that slot starts another call: servers exist that put every
    /// call in the same slot.
    pub(crate) fn call(&mut self, slot: u32, id: Option<Cited<'a>>) -> Option<&mut Call<'a>> {
        let place = self.slots.binary_search_by_key(&slot, |(slot, _)| *slot);
        let held = match place {
            Ok(place) => self.slots.get(place).map(|(_, call)| *call),
            Err(_) => None,
        };
        let same = held
            .and_then(|held| self.calls.get(held))
            .is_some_and(|call| {
                let held = call.id.as_ref().map(|id| &id.text);
                id.as_ref()
                    .is_none_or(|id| held.is_none_or(|held| *held == id.text))
            });
        let call = match held {
            Some(held) if same => held,
            Some(_) | None => {
                if !self.add(Call::default()) {
                    return None;
                }
                self.calls.len() - 1
            }
        };
        match place {
            Ok(place) => {
                if let Some(entry) = self.slots.get_mut(place) {
                    entry.1 = call;
                }
            }
            Err(place) => self.slots.insert(place, (slot, call)),
        }
        let call = self.calls.get_mut(call)?;
        if call.id.is_none() {
            call.id = id;
        }
        Some(call)
    }

    /// Returns whether a call of its own would be left out, and counts it then.
    pub(crate) fn is_full(&mut self, own: bool) -> bool {
        let full = own && self.calls.len() >= CALLS_MAX;
        self.calls_left_out = self.calls_left_out.saturating_add(u32::from(full));
        full
    }

    /// Adds a call of its own. Returns whether there is room for it.
    pub(crate) fn add(&mut self, call: Call<'a>) -> bool {
        let room = self.calls.len() < CALLS_MAX;
        if room {
            self.calls.push(call);
        } else {
            self.calls_left_out = self.calls_left_out.saturating_add(1);
        }
        room
    }

    /// Adds a reason. The same word again says nothing new.
    fn end(&mut self, reason: Reason<'a>) {
        let known = |one: &Reason<'a>| one.word.text == reason.word.text;
        if self.reasons.len() < REASONS_MAX && !self.reasons.iter().any(known) {
            self.reasons.push(reason);
        }
    }

    /// Takes over what a piece of the same answer says.
    pub(crate) fn absorb(&mut self, piece: Self) {
        self.text.append(piece.text);
        self.refusal.append(piece.refusal);
        for call in piece.calls {
            self.add(call);
        }
        self.calls_left_out = self.calls_left_out.saturating_add(piece.calls_left_out);
        self.hosted = self.hosted.saturating_add(piece.hosted);
        self.reasoning |= piece.reasoning;
        if self.media.is_none() {
            self.media = piece.media;
        }
    }

    /// Returns the call of a slot that was started before.
    pub(crate) fn held(&mut self, slot: u32) -> Option<&mut Call<'a>> {
        let place = self.slots.binary_search_by_key(&slot, |(slot, _)| *slot);
        let (_, call) = self.slots.get(place.ok()?)?;
        self.calls.get_mut(*call)
    }

    /// Returns whether there is nothing that a response can consist of.
    pub fn is_blank(&self) -> bool {
        self.text.text.is_empty()
            && self.refusal.text.is_empty()
            && self.calls.is_empty()
            && self.media.is_none()
            && self.hosted == 0
            && !self.reasoning
    }
}

/// Whether the last event of a stream has an end of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Last {
    /// It has, or the framing has no such end.
    Terminated,
    /// The end of the body cuts it short, or it was left out.
    Unterminated,
}

/// What a response says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript<'a> {
    /// How the body is framed.
    pub form: Form,
    /// By index.
    pub choices: Vec<Choice<'a>>,
    /// The model, the first time that it is named.
    pub model: Option<Cited<'a>>,
    /// The response's identifier, the first time that it is given.
    pub response_id: Option<Cited<'a>>,
    /// The first error that it reports.
    pub complaint: Option<Complaint<'a>>,
    /// Why the prompt was blocked; the text is empty where no word is given.
    pub block: Option<Cited<'a>>,
    /// The counts as sent.
    pub counts: Counts<'a>,
    /// Whether the mark stands that ends a stream of this dialect.
    pub terminated: bool,
    /// Documents that were read.
    pub documents: u32,
    /// Documents, and pieces that should be some, that could not be read.
    pub malformed: u32,
    /// The number of documents before the first one of those.
    pub malformed_before: Option<u32>,
    /// What the end of the body, or the framing, shows.
    pub damage: Option<Damage>,
    /// Whether the last event has an end of its own.
    pub last: Last,
    /// Messages whose checksum does not fit.
    pub checksum_errors: u32,
    /// Members that have the shape of this dialect.
    pub recognised: u32,
    /// What had to be forgiven.
    pub notes: Notes,
    /// What answers beyond [`CHOICES_MAX`] say, all in one; it is not read.
    surplus: Option<Choice<'a>>,
}

impl<'a> Transcript<'a> {
    const fn new(form: Form) -> Self {
        Self {
            form,
            choices: Vec::new(),
            model: None,
            response_id: None,
            complaint: None,
            block: None,
            counts: Counts::NONE,
            terminated: false,
            documents: 0,
            malformed: 0,
            malformed_before: None,
            damage: None,
            last: Last::Terminated,
            checksum_errors: 0,
            recognised: 0,
            notes: Notes {
                lossy: 0,
                non_finite: 0,
            },
            surplus: None,
        }
    }

    /// Returns the answer of an index.
    pub(crate) fn choice(&mut self, index: u32) -> &mut Choice<'a> {
        self.recognise(true);
        let place = match self
            .choices
            .binary_search_by_key(&index, |choice| choice.index)
        {
            Ok(place) => place,
            Err(_) if self.choices.len() >= CHOICES_MAX => {
                return self.surplus.get_or_insert_default();
            }
            Err(place) => {
                let choice = Choice {
                    index,
                    ..Choice::default()
                };
                self.choices.insert(place, choice);
                place
            }
        };
        // The place was found or made.
        #[expect(clippy::indexing_slicing, reason = "the place exists")]
        &mut self.choices[place]
    }

    /// Counts a member of the dialect's shape, if it is one.
    pub(crate) fn recognise(&mut self, is: bool) {
        self.recognised = self.recognised.saturating_add(u32::from(is));
    }

    pub(crate) fn reason(&mut self, index: u32, word: Cited<'a>) {
        let document = self.documents;
        self.choice(index).end(Reason { word, document });
    }

    /// Returns whether there are more answers than are kept.
    pub const fn has_surplus(&self) -> bool {
        self.surplus.is_some()
    }

    pub(crate) fn named(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        if self.model.is_some() {
            return reader.skip().map(drop);
        }
        self.model = reader.filled()?;
        Ok(())
    }

    pub(crate) fn identified(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        if self.response_id.is_some() {
            return reader.skip().map(drop);
        }
        self.response_id = reader.filled()?;
        Ok(())
    }

    /// Keeps the first complaint.
    pub(crate) fn complain(&mut self, complaint: Option<Complaint<'a>>) {
        if self.complaint.is_none() {
            self.complaint = complaint;
        }
    }

    fn spoiled(&mut self) {
        self.malformed = self.malformed.saturating_add(1);
        self.malformed_before.get_or_insert(self.documents);
    }
}

/// Reads the documents of a body.
pub fn read<'a>(dialect: Dialect, body: &'a [u8], framed: &'a Framed) -> Transcript<'a> {
    let mut transcript = Transcript::new(framed.form);
    transcript.damage = framed.damage;
    transcript.checksum_errors = framed.checksum_errors;
    transcript.malformed = framed.stray;
    for frame in &framed.frames {
        let name = frame.name.and_then(|name| {
            let name = name.of(body);
            core::str::from_utf8(name).ok()
        });
        let mut reader = framed.reader(body, frame);
        if frame.role == Role::Exception {
            let complaint = complaint::exception(&mut reader, body, frame, transcript.documents);
            transcript.complain(Some(complaint));
        } else {
            documents(dialect, (name, frame), &mut reader, &mut transcript);
        }
        let notes = &mut transcript.notes;
        notes.lossy = notes.lossy.saturating_add(reader.notes.lossy);
        notes.non_finite = notes.non_finite.saturating_add(reader.notes.non_finite);
        transcript.last = if frame.terminated {
            Last::Terminated
        } else {
            Last::Unterminated
        };
    }
    provider::finish(dialect, &mut transcript);
    transcript
}

/// Reads all documents of a frame: servers glue several together.
fn documents<'a>(
    dialect: Dialect,
    (name, frame): (Option<&'a str>, &Frame),
    reader: &mut Reader<'a>,
    transcript: &mut Transcript<'a>,
) {
    while !reader.at_end() {
        if provider::is_mark(reader.rest()) {
            transcript.terminated = true;
            return;
        }
        if frame.shape != Shape::Bare && provider::is_silence(reader.rest()) {
            return;
        }
        let read = provider::document(dialect, name, reader, transcript);
        match read {
            Ok(()) => {
                transcript.documents = transcript.documents.saturating_add(1);
                // A second document shows that the body is a stream of lines.
                if transcript.form == Form::Json && transcript.documents > 1 {
                    transcript.form = Form::JsonLines;
                }
            }
            Err(fault) if lines(transcript.form) => {
                transcript.spoiled();
                if fault == Fault::Ended {
                    transcript.damage.get_or_insert(Damage::Cut);
                    return;
                }
                if !reader.skip_line() {
                    break;
                }
            }
            Err(fault) => {
                transcript.spoiled();
                if fault == Fault::Ended && !frame.terminated {
                    transcript.damage.get_or_insert(Damage::Cut);
                }
                return;
            }
        }
    }
    // One document, and something that is none.
    if transcript.form == Form::Json && transcript.malformed > 0 {
        transcript.damage.get_or_insert(Damage::Malformed);
    }
}

const fn lines(form: Form) -> bool {
    match form {
        Form::Json | Form::JsonLines => true,
        Form::Sse | Form::JsonArray | Form::EventStream | Form::Empty | Form::Other => false,
    }
}
