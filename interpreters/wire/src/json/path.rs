//! Where a value stands in its document.

use alloc::string::String;
use core::fmt::Write as _;

use super::{Span, text};

/// A JSON pointer and the bytes that it points at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cite {
    /// RFC 6901, within the JSON document that the bytes are of: one event or
    /// line of a stream is a document of its own.
    pub pointer: String,
    /// Within the decoded body.
    pub span: Span,
}

/// Steps that are remembered. Nothing that is cited stands deeper.
const STEPS_MAX: usize = 16;

/// Room for nearly every pointer, in bytes.
const POINTER_BYTES: usize = 48;

#[derive(Debug, Clone, Copy)]
enum Step {
    /// A name as it stands in the text, with its quotation marks.
    Name(Span),
    Index(usize),
}

/// The steps from the root of a document to a value.
#[derive(Debug, Clone)]
pub(super) struct Path {
    steps: [Step; STEPS_MAX],
    depth: usize,
}

impl Default for Path {
    fn default() -> Self {
        Self {
            steps: [Step::Index(0); STEPS_MAX],
            depth: 0,
        }
    }
}

impl Path {
    pub(super) fn push_name(&mut self, name: Span) {
        self.push(Step::Name(name));
    }

    pub(super) fn push_index(&mut self, index: usize) {
        self.push(Step::Index(index));
    }

    fn push(&mut self, step: Step) {
        if let Some(place) = self.steps.get_mut(self.depth) {
            *place = step;
        }
        self.depth += 1;
    }

    pub(super) const fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Writes the pointer of the current place.
    pub(super) fn pointer(&self, bytes: &[u8]) -> String {
        let mut pointer = String::with_capacity(POINTER_BYTES);
        for step in self.steps.iter().take(self.depth) {
            pointer.push('/');
            match step {
                Step::Index(index) => write_index(&mut pointer, *index),
                Step::Name(span) => write_name(&mut pointer, span.of(bytes)),
            }
        }
        pointer
    }
}

fn write_index(pointer: &mut String, index: usize) {
    // Nearly all are one digit, and formatting costs more than all the rest.
    match u8::try_from(index) {
        Ok(digit @ 0..10) => pointer.push(char::from(b'0' + digit)),
        Ok(_) | Err(_) => {
            // Writing to a string does not fail.
            let _ignored = write!(pointer, "{index}");
        }
    }
}

fn write_name(pointer: &mut String, quoted: &[u8]) {
    let within = quoted.get(1..quoted.len().saturating_sub(1));
    let is_plain = |byte: &u8| byte.is_ascii() && !matches!(byte, b'\\' | b'~' | b'/');
    let plain = within.filter(|name| name.iter().all(is_plain));
    if let Some(Ok(plain)) = plain.map(core::str::from_utf8) {
        pointer.push_str(plain);
        return;
    }
    for character in text::decoded(quoted).chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}
