//! HAR 1.2: what browsers and proxies export.
//!
//! `content.text` is by its specification the decoded content, so no body of a HAR
//! file is known to be the bytes of the wire. Status 0 stands for a request that
//! got no response.

use std::borrow::Cow;

use model::bounds::BODY_BYTES_MAX;
use model::exchange::ExceptionType;

use super::{
    Choice, Content, Draft, Entry, EntryError, Exactness, content, endpoint_of, entries,
    keep_header, skipped, text,
};
use crate::exchange::json::{self, Member};
use crate::exchange::{JsonType, LineError, body, exception_type};
use crate::headers::kept_name;

/// The importer's name in `call.imported`.
pub const IMPORTER: &str = "har";

/// Longer than any word that is compared.
const WORD_BYTES_MAX: usize = 128;

/// What Chromium calls its errors, by how the name starts; the first that fits counts.
const NET_ERRORS: [(&str, ExceptionType); 14] = [
    ("net::ERR_NAME_", ExceptionType::DnsError),
    ("net::ERR_DNS_", ExceptionType::DnsError),
    ("net::ERR_CERT_", ExceptionType::TlsError),
    ("net::ERR_SSL_", ExceptionType::TlsError),
    (
        "net::ERR_CONNECTION_TIMED_OUT",
        ExceptionType::ConnectTimeout,
    ),
    ("net::ERR_TIMED_OUT", ExceptionType::Timeout),
    ("net::ERR_CONNECTION_RESET", ExceptionType::ConnectionReset),
    (
        "net::ERR_CONNECTION_CLOSED",
        ExceptionType::ConnectionClosed,
    ),
    ("net::ERR_EMPTY_RESPONSE", ExceptionType::ConnectionClosed),
    ("net::ERR_CONNECTION_", ExceptionType::ConnectError),
    ("net::ERR_ADDRESS_UNREACHABLE", ExceptionType::ConnectError),
    (
        "net::ERR_INTERNET_DISCONNECTED",
        ExceptionType::ConnectError,
    ),
    ("net::ERR_ABORTED", ExceptionType::ClientGone),
    ("net::ERR_BLOCKED_BY_", ExceptionType::ClientGone),
];

/// Goes over the entries of a HAR file, in order.
pub fn read<E>(
    bytes: &[u8],
    choice: Choice,
    each: &mut dyn FnMut(Entry) -> Result<(), E>,
) -> Result<(), E> {
    let mut number = 0;
    let walked = match text(bytes) {
        Err(error) => Err(error),
        Ok(text) => entries::walk(
            text,
            &[&["log"], &["entries"]],
            "log.entries",
            &mut |entry| {
                number += 1;
                let content = content(read_entry(entry, choice));
                each(Entry { number, content })
            },
        )?,
    };
    match walked {
        Ok(()) => Ok(()),
        Err(error) => each(Entry {
            number: number + 1,
            content: Content::Broken(error),
        }),
    }
}

fn read_entry(entry: &str, choice: Choice) -> Result<Content, EntryError> {
    let entry = Member {
        field: "entry",
        text: Some(entry),
    };
    let [request, response, started] =
        entry.members(["request", "response", "startedDateTime"], "an object")?;
    let started = started.string("a time", WORD_BYTES_MAX).ok().flatten();
    let [method, url, headers, post] = request.members(
        [
            "request.method",
            "request.url",
            "request.headers",
            "request.postData",
        ],
        "an object",
    )?;
    let method = needed(method, "an HTTP method", WORD_BYTES_MAX)?;
    // A URL may hold a whole picture; only the path of a call is bounded.
    let url = needed(url, "a URL", BODY_BYTES_MAX)?;
    let Some(dialect) = choice.dialect_of(&method, &url) else {
        return Ok(skipped(&url));
    };
    let endpoint = endpoint_of("request.url", &url)?;
    let mut request_headers = Vec::new();
    read_headers(headers, &mut request_headers)?;
    let request_type = request_headers
        .into_iter()
        .find(|(name, _)| name == "content-type");
    let response = Response::read(response)?;
    let draft = Draft {
        external_id: None,
        dialect,
        method: method.into_owned(),
        endpoint,
        request_type: request_type.map(|(_, value)| value),
        request_body: read_post(post)?,
        status: response.status,
        headers: response.headers,
        response_body: response.body,
        exception: response.exception,
        exactness: response.exactness,
        recorded_at: started.map(Cow::into_owned),
    };
    Ok(Content::Recorded(Box::new(draft.recorded(true)?)))
}

fn needed<'t>(
    member: Member<'t>,
    expected: &'static str,
    limit: usize,
) -> Result<Cow<'t, str>, LineError> {
    let text = member.string(expected, limit)?;
    text.ok_or_else(|| member.mismatch(expected))
}

fn read_post(post: Member<'_>) -> Result<Option<Vec<u8>>, EntryError> {
    let [text, encoding, other] = post.members(
        [
            "request.postData.text",
            "request.postData.encoding",
            "request.postData._encoding",
        ],
        "an object or null",
    )?;
    let encoding = if other.text.is_some() {
        other
    } else {
        encoding
    };
    Ok(read_body("request", text, encoding)?)
}

/// Returns the bytes of a text, which `encoding` may say is base64.
fn read_body(
    object: &'static str,
    text: Member<'_>,
    encoding: Member<'_>,
) -> Result<Option<Vec<u8>>, LineError> {
    let nothing = Member {
        field: text.field,
        text: None,
    };
    match encoding.string("a string or null", WORD_BYTES_MAX)? {
        None => body::read(object, nothing, text),
        Some(word) if word.is_empty() => body::read(object, nothing, text),
        Some(word) if word.eq_ignore_ascii_case("base64") => body::read(object, text, nothing),
        Some(_) => Err(LineError::UnknownWord {
            field: encoding.field,
            accepted: vec!["base64"],
        }),
    }
}

struct Response {
    status: Option<u16>,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
    exception: Option<ExceptionType>,
    exactness: Exactness,
}

impl Response {
    fn read(member: Member<'_>) -> Result<Self, EntryError> {
        if member.kind() != JsonType::Object {
            return Err(member.mismatch("an object").into());
        }
        let [status, headers, content, error] = member.members(
            [
                "response.status",
                "response.headers",
                "response.content",
                "response._error",
            ],
            "an object or null",
        )?;
        let exception = error.string("a string or null", WORD_BYTES_MAX);
        // Why a request failed is worth a word, not a refusal.
        let exception = exception.ok().flatten().and_then(|name| why(&name));
        let status = read_status(status)?;
        let [size, text, encoding] = content.members(
            [
                "response.content.size",
                "response.content.text",
                "response.content.encoding",
            ],
            "an object or null",
        )?;
        let size = size.text.and_then(|digits| digits.parse::<usize>().ok());
        let body = read_body("response", text, encoding)?
            // Some exporters write an empty text where they kept none.
            .filter(|bytes| !bytes.is_empty() || (status.is_some() && size == Some(0)));
        let exactness = match &body {
            None => Exactness::NotPreserved,
            Some(bytes) if size.is_some_and(|size| size != bytes.len()) => Exactness::LengthDiffers,
            Some(_) => Exactness::Decoded,
        };
        let mut kept = Vec::new();
        read_headers(headers, &mut kept)?;
        Ok(Self {
            status,
            headers: kept,
            body,
            exception: exception.filter(|_| status.is_none()),
            exactness,
        })
    }
}

fn why(name: &str) -> Option<ExceptionType> {
    let known = NET_ERRORS
        .into_iter()
        .find(|(start, _)| name.starts_with(start));
    known.map(|(_, word)| word).or_else(|| exception_type(name))
}

/// Returns the status; 0 is none.
fn read_status(member: Member<'_>) -> Result<Option<u16>, LineError> {
    let expected = "an integer from 100 to 599, or 0";
    match (member.text, member.kind()) {
        (Some("0"), _) => Ok(None),
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

/// Adds the headers that are kept; the others may be anything.
fn read_headers(member: Member<'_>, kept: &mut Vec<(String, String)>) -> Result<(), LineError> {
    let expected = "an array of objects or null";
    let text = match (member.text, member.kind()) {
        (None, _) | (_, JsonType::Null) => return Ok(()),
        (Some(text), JsonType::Array) => text,
        _ => return Err(member.mismatch(expected)),
    };
    let walked = json::array(text, |header| {
        let header = Member {
            field: member.field,
            text: Some(header),
        };
        let [name, value] = header.members(["headers.name", "headers.value"], "an object")?;
        let name = needed(name, "a string", BODY_BYTES_MAX)?;
        if kept_name(name.as_bytes()).is_some() {
            let value = needed(value, "a string", BODY_BYTES_MAX)?;
            keep_header(kept, &name, &value);
        }
        Ok(())
    });
    walked.unwrap_or_else(|_| Err(member.lone_surrogate()))
}

#[cfg(test)]
mod tests;
