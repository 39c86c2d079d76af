//! Recordings of other tools: each entry becomes the exchange line that
//! `import exchange` would have been given.
//!
//! An entry is drafted, written as an exchange line and read back by
//! [`crate::exchange::parse_line`], so that the bounds, the allow-list of headers
//! and the agreement of status, outcome and body are those of every import. What
//! the line leaves out (cookies, queries, headers that are not kept) is neither
//! kept nor hashed. Invariant: no error holds text of the file.

pub mod batch;
mod entries;
pub mod har;
pub mod vcr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::Digest;
use model::exchange::ExceptionType;
use serde::Serialize;

use crate::dialects;
use crate::endpoint::{self, EndpointError};
use crate::exchange::{Exchange, LineError, parse_line};
use crate::headers::{drop_name, kept_name};

/// One recording that is read whole, in bytes: as much as one exchange line.
pub const RECORDING_BYTES_MAX: usize = 256 << 20;

/// What is known of how close the response's body is to the bytes of the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exactness {
    /// The source gives bytes, and these are kept. Whether they are those of the
    /// wire is the source's word.
    AsGiven,
    /// The source gives text. Its length in UTF-8 is that of `content-length`.
    LengthMatches,
    /// The source gives what its recorder decoded: another content encoding or
    /// character set may have been on the wire.
    Decoded,
    /// As decoded, and the source states another length than the body has.
    LengthDiffers,
    /// The source gives a JSON value, written anew by its recorder.
    Reserialised,
    /// The source holds no body of the response.
    NotPreserved,
}

impl Exactness {
    /// Returns the word of the format.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AsGiven => crate::exchange::EXACTNESS,
            Self::LengthMatches => "length_matches",
            Self::Decoded => "decoded",
            Self::LengthDiffers => "length_differs",
            Self::Reserialised => "reserialised",
            Self::NotPreserved => "not_preserved",
        }
    }
}

/// Which entries of a recording become calls, and in which dialect.
#[derive(Debug, Clone, Copy, Default)]
pub struct Choice {
    /// The dialect of every entry; else method, host and path name it.
    pub dialect: Option<&'static str>,
    /// Take entries of no known dialect too, as `unknown`.
    pub all: bool,
}

impl Choice {
    /// Returns the dialect of a request, none when its entry is to be skipped.
    pub fn dialect_of(self, method: &str, url: &str) -> Option<&'static str> {
        self.given_or(|| dialects::of_request(method, url))
    }

    fn given_or(self, known: impl FnOnce() -> Option<&'static str>) -> Option<&'static str> {
        self.dialect
            .or_else(known)
            .or(self.all.then_some("unknown"))
    }
}

/// One entry of a recording.
#[derive(Debug)]
pub struct Entry {
    /// Its place, from 1.
    pub number: u64,
    /// What it is.
    pub content: Content,
}

/// What one entry of a recording is.
#[derive(Debug)]
pub enum Content {
    /// An exchange.
    Recorded(Box<Recorded>),
    /// No call in a known dialect. Holds what names it: a path, or words of ours.
    Skipped(String),
    /// Not what its format says.
    Malformed(EntryError),
    /// The file ends being what its format says where this entry would stand.
    Broken(EntryError),
}

/// An exchange, as an entry of a recording gives it.
#[derive(Debug)]
pub struct Recorded {
    /// The exchange.
    pub exchange: Exchange,
    /// The digest of the exchange line that was made of the entry.
    pub line_sha256: Digest,
    /// How many bytes this line has.
    pub line_bytes: usize,
    /// How close the body is to the wire.
    pub exactness: Exactness,
}

/// Why an entry, or the file from it on, is not what its format says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// A member is not what was expected.
    #[error(transparent)]
    Member(#[from] LineError),
    /// The URL names no endpoint.
    #[error("`{field}`: {fault}")]
    Url {
        /// The member.
        field: &'static str,
        /// What is wrong with it.
        fault: EndpointError,
    },
    /// The entry reads well, and its exchange does not hold together.
    #[error("the exchange that it gives: {0}")]
    Exchange(LineError),
    /// The file is not text.
    #[error("expected UTF-8, found another byte at place {place}")]
    NotUtf8 {
        /// In bytes, from 1.
        place: usize,
    },
    /// The file is not in the language of its format.
    #[error("expected {language}, found {fault} at line {line} column {column}")]
    Syntax {
        /// `JSON` or `YAML`.
        language: &'static str,
        /// What stands there.
        fault: &'static str,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
    },
    /// The file lacks the list of entries.
    #[error("`{field}`: expected an array, found {found}")]
    NoEntries {
        /// Where the list is expected.
        field: &'static str,
        /// What stands there.
        found: &'static str,
    },
    /// A value nests too deep.
    #[error("expected at most {limit} levels in a value, found more at line {line}")]
    TooDeep {
        /// The bound.
        limit: usize,
        /// Where it is passed, from 1.
        line: usize,
    },
    /// A value is too large once its aliases are followed.
    #[error(
        "expected at most {limit} values in one interaction, aliases followed, found more at \
         line {line}"
    )]
    TooManyValues {
        /// The bound.
        limit: u64,
        /// Where it is passed, from 1.
        line: usize,
    },
    /// An alias names a value that has not ended.
    #[error(
        "expected an alias of a value before it, found one of a value around it at line {line}"
    )]
    AliasOfItself {
        /// Where it stands, from 1.
        line: usize,
    },
    /// A mapping holds a key twice, or one that is no scalar.
    #[error("expected each key of a mapping once and as a scalar, found {found} at line {line}")]
    Key {
        /// What was found.
        found: &'static str,
        /// Where the mapping ends, from 1.
        line: usize,
    },
    /// The file holds a second document.
    #[error("expected one YAML document, found another at line {line}")]
    SecondDocument {
        /// Where it starts, from 1.
        line: usize,
    },
}

/// What an entry gives, before it is an exchange.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) external_id: Option<String>,
    pub(crate) dialect: &'static str,
    pub(crate) method: String,
    pub(crate) endpoint: String,
    pub(crate) request_type: Option<String>,
    pub(crate) request_body: Option<Vec<u8>>,
    pub(crate) status: Option<u16>,
    /// Kept headers of the response, by [`kept_name`].
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) response_body: Option<Vec<u8>>,
    pub(crate) exception: Option<ExceptionType>,
    pub(crate) exactness: Exactness,
    /// When it was recorded, as the source writes it. It is hashed and not kept, so
    /// that an exchange which was repeated is not taken for one that was imported.
    pub(crate) recorded_at: Option<String>,
}

/// The exchange line of a draft. Its form is frozen: its digest makes a repeated
/// import a repeated one.
#[derive(Serialize)]
struct Line<'a> {
    id: Option<&'a str>,
    dialect: &'a str,
    request: LineRequest<'a>,
    response: Option<LineResponse<'a>>,
    exception_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded_at: Option<&'a str>,
}

#[derive(Serialize)]
struct LineRequest<'a> {
    method: &'a str,
    path: &'a str,
    headers: Vec<(&'a str, &'a str)>,
    body_b64: Option<String>,
}

#[derive(Serialize)]
struct LineResponse<'a> {
    status: Option<u16>,
    headers: &'a [(String, String)],
    body_b64: Option<String>,
}

impl Draft {
    /// Leaves out the headers that speak of another form of the body than the one
    /// that is kept, and returns their names. A reader would undo the encoding again,
    /// or think that the body broke off.
    fn without_encoding(&mut self) -> Vec<String> {
        let speaks = |name: &str| ["content-encoding", "content-length"].contains(&name);
        let (left, kept) = std::mem::take(&mut self.headers)
            .into_iter()
            .partition(|(name, _)| speaks(name));
        self.headers = kept;
        left.into_iter().map(|(name, _)| name).collect()
    }

    /// Returns whether a content encoding stands in the headers.
    pub(crate) fn is_encoded(&self) -> bool {
        self.headers.iter().any(|(name, value)| {
            name == "content-encoding" && !value.trim().eq_ignore_ascii_case("identity")
        })
    }

    /// Makes the exchange. `undone` says that the recorder removed the content
    /// encoding that the headers name.
    pub(crate) fn recorded(mut self, undone: bool) -> Result<Recorded, EntryError> {
        let dropped = if undone && self.is_encoded() {
            self.without_encoding()
        } else {
            Vec::new()
        };
        let encoded = |body: &Option<Vec<u8>>| body.as_ref().map(|bytes| STANDARD.encode(bytes));
        let response = self.status.is_some() || self.response_body.is_some();
        let line = Line {
            id: self.external_id.as_deref(),
            dialect: self.dialect,
            request: LineRequest {
                method: &self.method,
                path: &self.endpoint,
                headers: self
                    .request_type
                    .iter()
                    .map(|value| ("content-type", value.as_str()))
                    .collect(),
                body_b64: encoded(&self.request_body),
            },
            response: response.then(|| LineResponse {
                status: self.status,
                headers: &self.headers,
                body_b64: encoded(&self.response_body),
            }),
            exception_type: self.exception.map(ExceptionType::as_str),
            recorded_at: self.recorded_at.as_deref(),
        };
        let line = serde_json::to_vec(&line).unwrap_or_default();
        let mut exchange = parse_line(&line).map_err(EntryError::Exchange)?;
        for name in dropped {
            drop_name(&mut exchange.headers_dropped, &name);
        }
        Ok(Recorded {
            exchange,
            line_sha256: Digest::of(&line),
            line_bytes: line.len(),
            exactness: self.exactness,
        })
    }
}

/// Returns the content of an entry from what reading it gave.
fn content(read: Result<Content, EntryError>) -> Content {
    read.unwrap_or_else(Content::Malformed)
}

/// Returns what names a request that is skipped.
fn skipped(url: &str) -> Content {
    let path = endpoint::redacted(url);
    Content::Skipped(path.unwrap_or_else(|_| "a URL without a path".to_owned()))
}

/// Returns the endpoint of a URL that stands in `field`.
fn endpoint_of(field: &'static str, url: &str) -> Result<String, EntryError> {
    endpoint::redacted(url).map_err(|fault| EntryError::Url { field, fault })
}

/// Adds a header of a response when its name is kept.
fn keep_header(headers: &mut Vec<(String, String)>, name: &str, value: &str) {
    if let Some(name) = kept_name(name.as_bytes()) {
        headers.push((name, value.to_owned()));
    }
}

/// Returns the text of a file without its byte order mark.
fn text(bytes: &[u8]) -> Result<&str, EntryError> {
    let text = str::from_utf8(bytes).map_err(|error| EntryError::NotUtf8 {
        place: error.valid_up_to() + 1,
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}
