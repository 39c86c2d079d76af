//! One line of an exchange file: what somebody recorded of one HTTP exchange.
//!
//! ```json
//! {"id"?, "dialect", "provider"?,
//!  "request": {"method", "path", "body_b64" | "body_utf8" | absent},
//!  "response": {"status", "headers", "body_b64" | "body_utf8" | null},
//!  "outcome"?, "exception_type"?}
//! ```
//!
//! Other members are passed over, whatever they are; of `request.headers` the
//! media type is taken if it can be. A member that is null counts as absent. A
//! member that is read and stands twice refuses the line, since it is open which
//! one was recorded. Base64 is standard and padded: a text without its padding
//! may be one that was cut. Invariant: no error holds text of the line.

pub(crate) mod body;
mod error;
mod exception;
mod header_forms;
pub(crate) mod json;
mod outcome;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use model::bounds::NAME_BYTES_MAX;
use model::exchange::{DIALECTS, ExceptionType, TransportOutcome};

pub use error::{Base64Fault, HeaderFound, JsonFault, JsonType, LineError};
pub use exception::{EXCEPTION_ALIASES, exception_type};

use header_forms::Headers;
use json::Member;

use crate::endpoint;
use crate::headers::Kept;
use crate::media_type;

/// The importer's name in `call.imported`.
pub const IMPORTER: &str = "exchange-jsonl";

/// What is known of the bodies' exactness: they are the bytes that the line gives.
/// Whether these are the bytes of the wire is the word of whoever wrote the file.
pub const EXACTNESS: &str = "as_given";

/// One line, in bytes. Two bodies at their bound take 171 MiB as base64.
pub const LINE_BYTES_MAX: usize = 256 << 20;

/// The other names that `model::exchange::dialect` takes, for the error's list.
const DIALECT_ALIASES: [&str; 3] = ["chat_completions", "responses", "messages"];

/// One HTTP method, in bytes. The longest registered one has 17.
const METHOD_BYTES_MAX: usize = 32;

/// A target with its query, in bytes: what servers and proxies take at most.
pub(crate) const TARGET_BYTES_MAX: usize = 64 * 1024;

/// A recorded exchange. Its bytes are those the line gives, unchanged.
#[derive(Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The line's `id`. Never empty, without control characters.
    pub external_id: Option<String>,
    /// The dialect's own name, never an alias.
    pub dialect: &'static str,
    /// The provider's name. Never empty, without control characters.
    pub provider: Option<String>,
    /// The HTTP method, as written.
    pub method: String,
    /// The path: no query, fragment, scheme, userinfo or host.
    pub endpoint: String,
    /// How the exchange ended. Agrees with status, headers and body.
    pub outcome: TransportOutcome,
    /// The HTTP status, from 100 to 599.
    pub status: Option<u16>,
    /// The kept headers of the response: lower-case names, in order, duplicates kept.
    pub headers: Vec<(String, String)>,
    /// The names of kept headers that passed a bound.
    pub headers_dropped: Vec<String>,
    /// Why no whole response arrived; only with `no_response` and `interrupted`.
    pub exception_type: Option<ExceptionType>,
    /// The request's body. An empty one is not an absent one.
    pub request_body: Option<Vec<u8>>,
    /// The media type that the request's `content-type` names.
    pub request_media_type: String,
    /// The response's body. An empty one is not an absent one.
    pub response_body: Option<Vec<u8>>,
    /// The media type that the response's `content-type` names.
    pub response_media_type: String,
}

/// Writes the lengths of the bodies: their bytes belong in no log.
impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("external_id", &self.external_id)
            .field("dialect", &self.dialect)
            .field("provider", &self.provider)
            .field("method", &self.method)
            .field("endpoint", &self.endpoint)
            .field("outcome", &self.outcome)
            .field("status", &self.status)
            .field("headers", &self.headers)
            .field("headers_dropped", &self.headers_dropped)
            .field("exception_type", &self.exception_type)
            .field("request_bytes", &self.request_body.as_ref().map(Vec::len))
            .field("request_media_type", &self.request_media_type)
            .field("response_bytes", &self.response_body.as_ref().map(Vec::len))
            .field("response_media_type", &self.response_media_type)
            .finish()
    }
}

/// Reads one line of an exchange file. A byte order mark before it and space
/// around it are passed over.
pub fn parse_line(line: &[u8]) -> Result<Exchange, LineError> {
    if line.len() > LINE_BYTES_MAX {
        return Err(LineError::LineTooLong { found: line.len() });
    }
    let [
        id,
        dialect,
        provider,
        request,
        response,
        outcome,
        exception_type,
    ] = json::line(
        line,
        [
            "id",
            "dialect",
            "provider",
            "request",
            "response",
            "outcome",
            "exception_type",
        ],
    )?;
    let external_id = read_name(id)?;
    let dialect = read_dialect(dialect)?;
    let provider = read_name(provider)?;
    let request = Request::read(request)?;
    let response = Response::read(response)?;
    let outcome = outcome::read(outcome, &response)?;
    let exception_type = outcome::read_exception(exception_type, outcome)?;
    let response_media_type = media_type::of_headers(&response.kept.headers);
    Ok(Exchange {
        external_id,
        dialect,
        provider,
        method: request.method,
        endpoint: request.endpoint,
        outcome,
        status: response.status,
        headers: response.kept.headers,
        headers_dropped: response.kept.dropped,
        exception_type,
        request_body: request.body,
        request_media_type: request.media_type,
        response_body: response.body,
        response_media_type,
    })
}

fn read_name(member: Member<'_>) -> Result<Option<String>, LineError> {
    let Some(name) = member.string("a string or null", NAME_BYTES_MAX)? else {
        return Ok(None);
    };
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(LineError::WrongValue {
            field: member.field,
            expected: "a text that is not empty and has no control characters",
            found: "text",
        });
    }
    Ok(Some(name.into_owned()))
}

fn read_dialect(member: Member<'_>) -> Result<&'static str, LineError> {
    let name = required(member, "the name of a dialect", NAME_BYTES_MAX)?;
    model::exchange::dialect(&name).ok_or_else(|| LineError::UnknownWord {
        field: member.field,
        accepted: DIALECTS.into_iter().chain(DIALECT_ALIASES).collect(),
    })
}

fn required<'a>(
    member: Member<'a>,
    expected: &'static str,
    limit: usize,
) -> Result<Cow<'a, str>, LineError> {
    let text = member.string(expected, limit)?;
    text.ok_or_else(|| member.mismatch(expected))
}

/// What a line says of the request.
struct Request {
    method: String,
    endpoint: String,
    media_type: String,
    body: Option<Vec<u8>>,
}

impl Request {
    fn read(member: Member<'_>) -> Result<Self, LineError> {
        if member.text.is_none_or(|text| text == "null") {
            return Err(member.mismatch("an object"));
        }
        let [method, path, headers, b64, utf8] = member.members(
            [
                "request.method",
                "request.path",
                "request.headers",
                "request.body_b64",
                "request.body_utf8",
            ],
            "an object",
        )?;
        let target = required(path, "a path", TARGET_BYTES_MAX)?;
        Ok(Self {
            method: read_method(method)?,
            endpoint: endpoint::redacted(&target).map_err(LineError::Path)?,
            media_type: request_media_type(headers),
            body: body::read("request", b64, utf8)?,
        })
    }
}

fn read_method(member: Member<'_>) -> Result<String, LineError> {
    let method = required(member, "an HTTP method", METHOD_BYTES_MAX)?;
    if media_type::is_token(method.as_bytes()) {
        return Ok(method.into_owned());
    }
    Err(LineError::WrongValue {
        field: member.field,
        expected: "an HTTP method of token characters",
        found: "text",
    })
}

/// Returns the media type that the request's headers name, if they name one.
///
/// Request headers are no part of an exchange file, so they may be anything and
/// nothing else is taken from them: they hold the credentials.
fn request_media_type(headers: Member<'_>) -> String {
    let headers = header_forms::read(headers).unwrap_or_default();
    media_type::of_headers(&headers.kept.headers)
}

/// What a line says of the response.
struct Response {
    status: Option<u16>,
    kept: Kept,
    header_count: usize,
    body: Option<Vec<u8>>,
}

impl Response {
    fn read(member: Member<'_>) -> Result<Self, LineError> {
        let [status, headers, b64, utf8] = member.members(
            [
                "response.status",
                "response.headers",
                "response.body_b64",
                "response.body_utf8",
            ],
            "an object or null",
        )?;
        let Headers { kept, entry_count } = header_forms::read(headers)?;
        Ok(Self {
            status: read_status(status)?,
            kept,
            header_count: entry_count,
            body: body::read("response", b64, utf8)?,
        })
    }
}

fn read_status(member: Member<'_>) -> Result<Option<u16>, LineError> {
    let expected = "an integer from 100 to 599 or null";
    match (member.text, member.kind()) {
        (None, _) | (_, JsonType::Null) => Ok(None),
        (Some(text), JsonType::Number) => match text.parse() {
            Ok(status @ 100..=599) => Ok(Some(status)),
            _ => Err(LineError::WrongValue {
                field: member.field,
                expected,
                found: "number",
            }),
        },
        _ => Err(member.mismatch(expected)),
    }
}
