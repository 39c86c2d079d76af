//! Content-codings: gzip, deflate, br and zstd, as far as the bytes have them.
//!
//! The header `content-encoding` says what the bytes may be, and the bytes say
//! what they are: a proxy may have removed a coding and kept the header. Nothing
//! is decoded past [`DECODED_BYTES_MAX`].

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

mod brotli;
mod deflate;
mod zstd;

/// The longest body that is decoded, in bytes.
pub const DECODED_BYTES_MAX: usize = 63 << 20;

/// Codings on top of each other that are removed.
const LAYERS_MAX: usize = 4;

/// A coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// RFC 1952.
    Gzip,
    /// RFC 1950, or RFC 1951 as some servers send it.
    Deflate,
    /// RFC 7932.
    Brotli,
    /// RFC 8878.
    Zstd,
}

impl Coding {
    /// Returns the name of a header's token, if it is known.
    pub fn of(token: &str) -> Option<Self> {
        let is = |name: &str| token.eq_ignore_ascii_case(name);
        if is("gzip") || is("x-gzip") {
            Some(Self::Gzip)
        } else if is("deflate") {
            Some(Self::Deflate)
        } else if is("br") {
            Some(Self::Brotli)
        } else if is("zstd") {
            Some(Self::Zstd)
        } else {
            None
        }
    }

    /// Returns the registered name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }
}

/// A body without its codings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// The bytes; where the coded ones are damaged, what could be decoded.
    pub bytes: Cow<'a, [u8]>,
    /// What was removed, the outermost first.
    pub removed: Vec<Coding>,
    /// Whether every coding ended as it should.
    pub whole: bool,
    /// What the header says about the bytes.
    pub declared: Declared,
}

/// What a header says about the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Declared {
    /// The codings that they have.
    Rightly,
    /// Something else.
    Wrongly,
}

/// Why a body is not decoded at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// The header names a coding that is not known, and the bytes are no text.
    UnknownCoding(String),
    /// It would be longer than [`DECODED_BYTES_MAX`].
    TooLarge,
}

/// What one decoder made of its input.
pub(crate) struct Output {
    pub(crate) bytes: Vec<u8>,
    /// Whether the coded bytes are sound to their end.
    pub(crate) whole: bool,
}

/// What a decoder returns: none when the output would pass the bound.
pub(crate) type Attempt = Option<Output>;

/// Removes the codings of a body. `declared` are the values of its
/// `content-encoding` headers, in order.
pub fn decode<'a>(body: &'a [u8], declared: &[&str]) -> Result<Decoded<'a>, Refused> {
    let mut decoded = Decoded {
        bytes: Cow::Borrowed(body),
        removed: Vec::new(),
        whole: true,
        declared: Declared::Rightly,
    };
    let tokens = declared.iter().flat_map(|value| value.split(','));
    let tokens: Vec<&str> = tokens
        .map(str::trim)
        .filter(|token| !token.is_empty() && !token.eq_ignore_ascii_case("identity"))
        .collect();
    for token in tokens.iter().rev().take(LAYERS_MAX) {
        match Coding::of(token) {
            Some(coding) => decoded.remove(coding)?,
            None if looks_plain(&decoded.bytes) => decoded.declared = Declared::Wrongly,
            None => return Err(Refused::UnknownCoding((*token).into())),
        }
    }
    while decoded.removed.len() < LAYERS_MAX && decoded.whole {
        let Some(coding) = sniffed(&decoded.bytes) else {
            break;
        };
        decoded.declared = Declared::Wrongly;
        decoded.remove(coding)?;
    }
    Ok(decoded)
}

impl Decoded<'_> {
    fn remove(&mut self, coding: Coding) -> Result<(), Refused> {
        let output = match coding {
            Coding::Gzip if deflate::is_gzip(&self.bytes) => deflate::gzip(&self.bytes),
            Coding::Zstd if zstd::is_zstd(&self.bytes) => zstd::decode(&self.bytes),
            Coding::Deflate if !looks_plain(&self.bytes) => deflate::deflate(&self.bytes),
            Coding::Brotli => {
                let output = brotli::decode(&self.bytes);
                let plain = looks_plain(&self.bytes);
                // No first byte tells brotli from text, but text does not decode.
                match output {
                    Some(output) if plain && !output.whole => {
                        self.declared = Declared::Wrongly;
                        return Ok(());
                    }
                    output => output,
                }
            }
            Coding::Gzip | Coding::Zstd | Coding::Deflate => {
                self.declared = Declared::Wrongly;
                return Ok(());
            }
        };
        let output = output.ok_or(Refused::TooLarge)?;
        self.removed.push(coding);
        self.whole &= output.whole;
        self.bytes = Cow::Owned(output.bytes);
        Ok(())
    }
}

/// Returns the coding that bytes show by themselves.
fn sniffed(bytes: &[u8]) -> Option<Coding> {
    if deflate::is_gzip(bytes) {
        Some(Coding::Gzip)
    } else if zstd::is_zstd(bytes) {
        Some(Coding::Zstd)
    } else {
        None
    }
}

/// Returns whether bytes start like a body without a coding.
fn looks_plain(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = bytes.trim_ascii_start();
    text.is_empty()
        || matches!(text.first(), Some(b'{' | b'[' | b'<' | b'"'))
        || crate::sse::starts(text)
        || crate::eventstream::starts(bytes)
}
