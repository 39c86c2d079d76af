//! The event stream encoding of AWS (`application/vnd.amazon.eventstream`).
//!
//! A message is a prelude of two lengths and a CRC-32, headers, a payload, and a
//! CRC-32 of it all. Source: the Smithy specification, "Amazon Event Stream".

use crate::json::Span;

/// Lengths and their checksum.
const PRELUDE_BYTES: usize = 12;
/// The checksum of a message.
const CHECKSUM_BYTES: usize = 4;

/// One message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Message {
    /// `:message-type`: `event`, `exception` or `error`.
    pub kind: Option<Span>,
    /// `:event-type`, `:exception-type` or `:error-code`.
    pub name: Option<Span>,
    /// `:error-message`.
    pub detail: Option<Span>,
    /// Usually JSON.
    pub payload: Span,
    /// Whether the checksum of the message fits.
    pub sound: bool,
}

/// Why no further message can be told from the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// The bytes end inside of a message.
    Ended,
    /// The lengths do not fit their checksum, or each other.
    Prelude,
}

/// The messages of a body.
#[derive(Debug, Clone)]
pub struct Messages<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Returns whether bytes start with the prelude of a message.
pub fn starts(bytes: &[u8]) -> bool {
    prelude(bytes).is_ok()
}

/// The lengths of a message and of its headers.
fn prelude(bytes: &[u8]) -> Result<(usize, usize), Broken> {
    let lengths = bytes.get(..8).ok_or(Broken::Ended)?;
    let total = number(bytes, 0).ok_or(Broken::Ended)?;
    let headers = number(bytes, 4).ok_or(Broken::Ended)?;
    let checksum = number(bytes, 8).ok_or(Broken::Ended)?;
    let (total, headers) = (size(total), size(headers));
    let room = total.checked_sub(PRELUDE_BYTES + CHECKSUM_BYTES);
    let fits = room.is_some_and(|room| headers <= room);
    if crc32fast::hash(lengths) != checksum || !fits {
        return Err(Broken::Prelude);
    }
    Ok((total, headers))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let (four, _) = bytes.get(at..)?.split_first_chunk::<4>()?;
    Some(u32::from_be_bytes(*four))
}

fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl<'a> Messages<'a> {
    /// Starts at the beginning of a body.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn message(&mut self) -> Result<Message, Broken> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let (total, headers) = prelude(rest)?;
        let checked = total - CHECKSUM_BYTES;
        let (body, checksum) = rest
            .get(..checked)
            .zip(number(rest, checked))
            .ok_or(Broken::Ended)?;
        let headers_end = self.at + PRELUDE_BYTES + headers;
        let mut message = Message {
            payload: Span {
                start: headers_end,
                end: self.at + checked,
            },
            sound: crc32fast::hash(body) == checksum,
            ..Message::default()
        };
        self.headers(self.at + PRELUDE_BYTES, headers_end, &mut message);
        self.at += total;
        Ok(message)
    }

    /// Reads headers until one is not understood.
    fn headers(&self, mut at: usize, end: usize, message: &mut Message) {
        while let Some((name, value, next)) = self.header(at, end) {
            match name.of(self.bytes) {
                b":message-type" => message.kind = Some(value),
                b":event-type" | b":exception-type" | b":error-code" => message.name = Some(value),
                b":error-message" => message.detail = Some(value),
                _ => {}
            }
            at = next;
        }
    }

    /// Returns the name and the value of a header, and where the next one starts.
    fn header(&self, at: usize, end: usize) -> Option<(Span, Span, usize)> {
        let bytes = self.bytes.get(..end)?;
        let name = Span {
            start: at + 1,
            end: at + 1 + usize::from(*bytes.get(at)?),
        };
        let start = name.end + 1;
        let (start, length) = match bytes.get(name.end)? {
            0 | 1 => (start, 0),
            2 => (start, 1),
            3 => (start, 2),
            4 => (start, 4),
            5 | 8 => (start, 8),
            6 | 7 => {
                let (two, _) = bytes.get(start..)?.split_first_chunk::<2>()?;
                (start + 2, usize::from(u16::from_be_bytes(*two)))
            }
            9 => (start, 16),
            _ => return None,
        };
        let value = Span {
            start,
            end: start + length,
        };
        (value.end <= end).then_some((name, value, value.end))
    }
}

impl Iterator for Messages<'_> {
    type Item = Result<Message, Broken>;

    /// After what is broken there is nothing.
    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let message = self.message();
        if message.is_err() {
            self.at = self.bytes.len();
        }
        Some(message)
    }
}
