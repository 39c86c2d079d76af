//! Server-sent events as providers send them.
//!
//! The grammar is the one of the WHATWG's HTML standard, "server-sent events",
//! with what real streams need besides: an event that the end of the body cuts
//! short is given out and marked, because providers' last events do arrive
//! without their blank line; and JSON that stands outside of any field, which
//! gateways put into a stream when they fail, is an event of its own.

use crate::json::{Fault, Reader, Source, Span};

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// What the `event` field says.
    pub name: Option<Span>,
    /// From the first byte of the first `data` value to the last byte of the last.
    pub data: Span,
    /// How the data stands in the stream.
    pub shape: Shape,
    /// Whether its blank line is there.
    pub terminated: bool,
}

/// How the data of an event stands in the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Behind one `data` field.
    Plain,
    /// Behind several: then the names of fields stand between the lines, which
    /// [`Reader::folded`] passes over.
    Folded,
    /// Outside of any field.
    Bare,
}

/// Lines outside of any field that are looked at as JSON.
const STRAY_LINES_MAX: u32 = 10_000;

/// The events of a body. Events without data are left out.
#[derive(Debug, Clone)]
pub struct Events<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Lines outside of any field that are no JSON either.
    pub stray_lines: u32,
}

/// One line and where the next one starts.
#[derive(Debug, Clone, Copy)]
struct Line {
    span: Span,
    next: usize,
    terminated: bool,
}

/// Returns whether bytes start like an event stream does.
pub fn starts(bytes: &[u8]) -> bool {
    [&b"data:"[..], b"event:", b"id:", b"retry:", b":"]
        .iter()
        .any(|field| bytes.starts_with(field))
}

impl<'a> Events<'a> {
    /// Starts at a position of a body.
    pub const fn new(bytes: &'a [u8], at: usize) -> Self {
        Self {
            bytes,
            at,
            stray_lines: 0,
        }
    }

    fn line(&self) -> Option<Line> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let Some(length) = memchr::memchr2(b'\n', b'\r', rest) else {
            return Some(Line {
                span: self.span(rest.len()),
                next: self.bytes.len(),
                terminated: false,
            });
        };
        let ends = rest.get(length..length + 2) == Some(b"\r\n");
        Some(Line {
            span: self.span(length),
            next: self.at + length + if ends { 2 } else { 1 },
            terminated: true,
        })
    }

    const fn span(&self, length: usize) -> Span {
        Span {
            start: self.at,
            end: self.at + length,
        }
    }

    /// Takes JSON outside of any field, or passes over a line that is none.
    fn bare(&mut self, line: Line) -> Option<Event> {
        let start = line.span.start;
        let text = line.span.of(self.bytes).trim_ascii_start();
        // Where nothing fits for so long, looking further would only cost.
        let looks = self.stray_lines < STRAY_LINES_MAX;
        let json = looks && matches!(text.first(), Some(b'{' | b'['));
        let end = self.bytes.len();
        let mut reader = Reader::new(self.bytes, Span { start, end }, Source::Body);
        let read = if json {
            reader.skip()
        } else {
            Err(Fault::Syntax)
        };
        let end = match read {
            Ok(span) => span.end,
            Err(Fault::Ended) => end,
            Err(Fault::Syntax | Fault::TooDeep) => {
                self.stray_lines = self.stray_lines.saturating_add(1);
                self.at = line.next;
                return None;
            }
        };
        self.at = end;
        // Whatever else the last line of it has is no event.
        if let Some(rest) = self.line() {
            self.at = rest.next;
        }
        Some(Event {
            name: None,
            data: Span { start, end },
            shape: Shape::Bare,
            terminated: true,
        })
    }
}

/// Returns the value of a field: one leading space does not count.
fn value(bytes: &[u8], line: Span, name: &[u8]) -> Option<Span> {
    let value = line.of(bytes).strip_prefix(name)?.strip_prefix(b":")?;
    let value = value.strip_prefix(b" ").unwrap_or(value);
    Some(Span {
        start: line.end - value.len(),
        end: line.end,
    })
}

/// Returns whether a line is one that the standard knows or ignores by design: a
/// comment, or a field without effect here.
fn is_silent(text: &[u8]) -> bool {
    text.starts_with(b":")
        || [&b"id"[..], b"retry", b"data", b"event"]
            .iter()
            .any(|name| text.strip_prefix(*name).is_some_and(is_field_rest))
}

fn is_field_rest(rest: &[u8]) -> bool {
    rest.is_empty() || rest.starts_with(b":")
}

impl Iterator for Events<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let mut name = None;
        let mut data: Option<Span> = None;
        let mut shape = Shape::Plain;
        let event = |name, data, shape, terminated| Event {
            name,
            data,
            shape,
            terminated,
        };
        while let Some(line) = self.line() {
            let text = line.span.of(self.bytes);
            if text.is_empty() {
                self.at = line.next;
                if let Some(data) = data.take() {
                    return Some(event(name, data, shape, true));
                }
                name = None;
                continue;
            }
            if let Some(value) = value(self.bytes, line.span, b"data") {
                if data.is_some() {
                    shape = Shape::Folded;
                }
                let start = data.map_or(value.start, |data| data.start);
                let end = value.end;
                data = Some(Span { start, end });
            } else if let Some(value) = value(self.bytes, line.span, b"event") {
                name = Some(value);
            } else if !is_silent(text) {
                if let Some(data) = data {
                    // What was collected ends here; the line is looked at next.
                    return Some(event(name, data, shape, true));
                }
                match self.bare(line) {
                    Some(bare) => return Some(bare),
                    None => continue,
                }
            }
            self.at = line.next;
            if !line.terminated {
                break;
            }
        }
        data.map(|data| event(name, data, shape, false))
    }
}
