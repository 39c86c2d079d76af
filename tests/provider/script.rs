//! Replies, and their bytes on the wire.
//!
//! A script is a JSON array. The n-th request gets the n-th reply; the last one
//! repeats. Every member of a reply may be left out.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use crate::Outcome;

/// One reply.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Reply {
    /// When it is sent.
    pub(crate) on: On,
    /// `HTTP/1.1 200 OK` when it is left out.
    status_line: Option<String>,
    /// In the order of the wire; the framing adds its own header after them.
    headers: Vec<(String, String)>,
    body_utf8: Option<String>,
    body_b64: Option<String>,
    body_repeat: Option<Repeat>,
    framing: Framing,
    /// The exact bytes, in place of everything above. What stands after the first
    /// empty line counts as the body, as it is.
    raw_b64: Option<String>,
    /// After how many bytes it stops, the head included; below zero, how many bytes
    /// before its end.
    cut_after: Option<i64>,
    /// What becomes of the connection afterwards.
    pub(crate) then: Then,
    /// Waits for a line `go`.
    pub(crate) hold_before: bool,
}

/// When a reply is sent.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum On {
    /// As soon as the connection stands; such a reply has no receipt.
    Accept,
    /// After the whole request was read.
    #[default]
    Request,
}

/// What becomes of a connection after its reply.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Then {
    /// The next request is read from it.
    Keep,
    /// It is closed in order.
    #[default]
    Close,
    /// It is reset.
    Reset,
    /// It stays open without a byte until the client closes it.
    Hold,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Repeat {
    byte: u8,
    count: usize,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Framing {
    /// With a content-length.
    #[default]
    Length,
    /// In chunks of these sizes; the last size repeats, and none is one chunk.
    Chunked { sizes: Vec<usize> },
    /// The body ends with the connection.
    Close,
}

/// Consecutive bytes of a reply.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) bytes: Vec<u8>,
    /// Whether they are bytes of the body and not of its frame.
    pub(crate) body: bool,
}

impl Piece {
    fn frame(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self { bytes, body: false }
    }

    fn body(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self { bytes, body: true }
    }
}

impl Reply {
    /// Returns the reply's bytes up to where it stops.
    pub(crate) fn pieces(&self) -> Outcome<Vec<Piece>> {
        let mut pieces = match &self.raw_b64 {
            Some(raw) => raw_pieces(STANDARD.decode(raw)?),
            None => self.framed(self.body()?),
        };
        let Some(cut) = self.cut_after else {
            return Ok(pieces);
        };
        let whole: usize = pieces.iter().map(|piece| piece.bytes.len()).sum();
        let bytes = usize::try_from(cut.unsigned_abs())?;
        let mut left = if cut < 0 {
            whole.saturating_sub(bytes)
        } else {
            bytes
        };
        for piece in &mut pieces {
            piece.bytes.truncate(left);
            left -= piece.bytes.len();
        }
        Ok(pieces)
    }

    fn body(&self) -> Outcome<Vec<u8>> {
        Ok(match (&self.body_utf8, &self.body_b64, &self.body_repeat) {
            (None, None, None) => Vec::new(),
            (Some(text), None, None) => text.clone().into_bytes(),
            (None, Some(text), None) => STANDARD.decode(text)?,
            (None, None, Some(repeat)) => vec![repeat.byte; repeat.count],
            _ => return Err("a reply has one body at most".into()),
        })
    }

    fn framed(&self, body: Vec<u8>) -> Vec<Piece> {
        match &self.framing {
            Framing::Close => vec![self.head(None), Piece::body(body)],
            Framing::Length => {
                let length = body.len().to_string();
                let head = self.head(Some(("content-length", &length)));
                vec![head, Piece::body(body)]
            }
            Framing::Chunked { sizes } => {
                let mut pieces = vec![self.head(Some(("transfer-encoding", "chunked")))];
                pieces.extend(chunks(&body, sizes));
                pieces
            }
        }
    }

    fn head(&self, framing: Option<(&str, &str)>) -> Piece {
        let given = self.headers.iter();
        let headers = given.map(|(name, value)| (name.as_str(), value.as_str()));
        let status_line = self.status_line.as_deref().unwrap_or("HTTP/1.1 200 OK");
        let mut head = format!("{status_line}\r\n");
        for (name, value) in headers.chain(framing) {
            head.extend([name, ": ", value, "\r\n"]);
        }
        head.push_str("\r\n");
        Piece::frame(head)
    }
}

fn chunks(body: &[u8], sizes: &[usize]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = body;
    let mut turn = 0;
    while !rest.is_empty() {
        let size = sizes.get(turn).or(sizes.last()).copied();
        let size = size.unwrap_or(rest.len()).clamp(1, rest.len());
        let (chunk, after) = rest.split_at(size);
        pieces.push(Piece::frame(format!("{size:x}\r\n")));
        pieces.push(Piece::body(chunk));
        pieces.push(Piece::frame("\r\n"));
        rest = after;
        turn += 1;
    }
    pieces.push(Piece::frame("0\r\n\r\n"));
    pieces
}

fn raw_pieces(mut raw: Vec<u8>) -> Vec<Piece> {
    let end = raw.windows(4).position(|window| window == b"\r\n\r\n");
    let body = raw.split_off(end.map_or(raw.len(), |end| end + 4));
    vec![Piece::frame(raw), Piece::body(body)]
}
