//! Cassettes of VCR and its relatives, in YAML or JSON.
//!
//! Read are the forms of vcrpy, of VCR for Ruby and of go-vcr, and `parsed_body` as
//! some serializers of vcrpy write it. Chunk framing is in none of them. A body is
//! bytes where the cassette marks it so, and otherwise what the recorder decoded.

mod json;
mod node;
mod yaml;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::bounds::BODY_BYTES_MAX;

use self::node::{Field, Kind, Node};
use self::yaml::Stop;
use super::{
    Choice, Content, Draft, Entry, EntryError, Exactness, content, endpoint_of, entries,
    keep_header, skipped, text,
};
use crate::exchange::LineError;

/// The importer's name in `call.imported`.
pub const IMPORTER: &str = "vcr";

/// What the list of interactions is called.
const LIST_NAMES: [&str; 2] = ["interactions", "http_interactions"];

/// What an error calls it.
const LIST_FIELD: &str = "interactions";

/// Goes over the interactions of a cassette, in order.
pub fn read<E>(
    bytes: &[u8],
    choice: Choice,
    each: &mut dyn FnMut(Entry) -> Result<(), E>,
) -> Result<(), E> {
    let mut number = 0;
    let walked = match text(bytes) {
        Err(error) => Err(error),
        // A flow mapping of YAML starts so too, and no recorder writes one.
        Ok(text) if text.trim_start().starts_with('{') => {
            entries::walk(text, &[&LIST_NAMES], LIST_FIELD, &mut |entry| {
                number += 1;
                let read = json::node(entry).and_then(|node| interaction(&node, choice));
                each(Entry {
                    number,
                    content: content(read),
                })
            })?
        }
        Ok(text) => {
            let walked = yaml::walk(text, &mut |node| {
                number += 1;
                each(Entry {
                    number,
                    content: content(interaction(node, choice)),
                })
            });
            match walked {
                Ok(()) => Ok(()),
                Err(Stop::File(error)) => Err(error),
                Err(Stop::Caller(error)) => return Err(error),
            }
        }
    };
    match walked {
        Ok(()) => Ok(()),
        Err(error) => each(Entry {
            number: number + 1,
            content: Content::Broken(error),
        }),
    }
}

fn interaction(node: &Node, choice: Choice) -> Result<Content, EntryError> {
    let whole = Field::new("interaction", Some(node));
    let request = mapping(whole.member(&["request"]))?;
    let method = request.member(&["request.method"]);
    let method = method
        .text("an HTTP method")?
        .ok_or_else(|| method.mismatch("an HTTP method"))?;
    let method = method.trim_start_matches(':').to_ascii_uppercase();
    let url = request.member(&["request.uri", "request.url"]);
    let url = url.text("a URL")?.ok_or_else(|| url.mismatch("a URL"))?;
    let Some(dialect) = choice.dialect_of(&method, url) else {
        return Ok(skipped(url));
    };
    let response = mapping(whole.member(&["response"]))?;
    let endpoint = endpoint_of("request.uri", url)?;
    let mut request_headers = Vec::new();
    read_headers(request.member(&["request.headers"]), &mut request_headers)?;
    let request_type = request_headers
        .into_iter()
        .find(|(name, _)| name == "content-type");
    let request_body = read_body(
        request.member(&["request.body"]),
        request.member(&["request.parsed_body"]),
    )?;
    let mut headers = Vec::new();
    read_headers(response.member(&["response.headers"]), &mut headers)?;
    let body = read_body(
        response.member(&["response.body", "response.content"]),
        response.member(&["response.parsed_body"]),
    )?;
    let mut draft = Draft {
        external_id: None,
        dialect,
        method,
        endpoint,
        request_type: request_type.map(|(_, value)| value),
        request_body: request_body.map(|body| body.bytes),
        status: Some(read_status(response)?),
        headers,
        response_body: None,
        exception: None,
        exactness: Exactness::NotPreserved,
        recorded_at: whole.member(&["recorded_at"]).scalar().map(str::to_owned),
    };
    let mut undone = false;
    if let Some(body) = body {
        (draft.exactness, undone) = exactness(&draft, &body);
        draft.response_body = Some(body.bytes);
    }
    Ok(Content::Recorded(Box::new(draft.recorded(undone)?)))
}

fn mapping(field: Field<'_>) -> Result<Field<'_>, LineError> {
    match field.value() {
        Some(Kind::Map(_)) => Ok(field),
        _ => Err(field.mismatch("a mapping")),
    }
}

/// How a cassette gives a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Bytes,
    Text,
    Parsed,
}

struct GivenBody {
    bytes: Vec<u8>,
    form: Form,
}

/// Returns the body, none when neither form of it is there.
fn read_body(body: Field<'_>, parsed: Field<'_>) -> Result<Option<GivenBody>, LineError> {
    let given = |bytes: Vec<u8>, form| {
        if bytes.len() > BODY_BYTES_MAX {
            return Err(LineError::TooLong {
                field: body.name,
                limit: BODY_BYTES_MAX,
            });
        }
        Ok(Some(GivenBody { bytes, form }))
    };
    match body.value() {
        None => match parsed.node() {
            None => Ok(None),
            Some(node) => match node::to_json(node, BODY_BYTES_MAX) {
                Some(bytes) => given(bytes, Form::Parsed),
                None => Err(LineError::TooLong {
                    field: parsed.name,
                    limit: BODY_BYTES_MAX,
                }),
            },
        },
        Some(Kind::Binary(base64)) => given(decoded(body, base64)?, Form::Bytes),
        Some(Kind::Map(_)) => {
            let bytes = body.member(&["body.base64_string"]);
            match bytes.value() {
                Some(Kind::Text(base64) | Kind::Plain(base64) | Kind::Binary(base64)) => {
                    given(decoded(bytes, base64)?, Form::Bytes)
                }
                Some(Kind::List(_) | Kind::Map(_)) => Err(bytes.mismatch("a string of base64")),
                None => {
                    let inner = body.member(&["body.string"]);
                    if matches!(inner.value(), Some(Kind::Map(_))) {
                        return Err(inner.mismatch("a string, bytes or null"));
                    }
                    read_body(inner, parsed)
                }
            }
        }
        // A plain scalar that looks like a number is the text that it was written as.
        Some(Kind::Plain(text) | Kind::Text(text)) => given(text.clone().into_bytes(), Form::Text),
        Some(Kind::List(_)) => Err(body.mismatch("a string, bytes, a mapping or null")),
    }
}

/// Decodes base64 that may be broken into lines, as cassettes write it.
fn decoded(field: Field<'_>, base64: &str) -> Result<Vec<u8>, LineError> {
    let mut base64 = base64.to_owned();
    base64.retain(|character| !character.is_ascii_whitespace());
    STANDARD
        .decode(base64)
        .map_err(|error| LineError::NotBase64 {
            field: field.name,
            fault: crate::exchange::body::fault(&error),
        })
}

/// Returns what is known of a response's body, and whether the recorder has undone
/// the content encoding that its headers name.
fn exactness(draft: &Draft, body: &GivenBody) -> (Exactness, bool) {
    let gzip = draft.headers.iter().any(|(name, value)| {
        name == "content-encoding" && value.trim().eq_ignore_ascii_case("gzip")
    });
    match body.form {
        Form::Parsed => (Exactness::Reserialised, true),
        // What is said to be gzip and does not start like it was decoded.
        Form::Bytes if gzip && !body.bytes.starts_with(&[0x1f, 0x8b]) => (Exactness::Decoded, true),
        Form::Bytes => (Exactness::AsGiven, false),
        Form::Text if draft.is_encoded() => (Exactness::Decoded, true),
        Form::Text => {
            let lengths: Vec<_> = draft
                .headers
                .iter()
                .filter(|(name, _)| name == "content-length")
                .map(|(_, value)| value.trim().parse::<usize>())
                .collect();
            let word = match lengths.as_slice() {
                [Ok(length)] if *length == body.bytes.len() => Exactness::LengthMatches,
                [Ok(_)] => Exactness::LengthDiffers,
                _ => Exactness::Decoded,
            };
            (word, false)
        }
    }
}

/// Returns the status, which relatives write as `status.code`, `status`, `code` or
/// `status_code`.
fn read_status(response: Field<'_>) -> Result<u16, LineError> {
    let expected = "an integer from 100 to 599";
    let status = response.member(&["response.status"]);
    let nested = status.member(&["response.status.code"]);
    let beside = response.member(&["response.code", "response.status_code"]);
    let field = [nested, beside, status]
        .into_iter()
        .find(|field| field.node().is_some())
        .unwrap_or(nested);
    let Some(digits) = field.scalar() else {
        return Err(field.mismatch(expected));
    };
    match digits.parse() {
        Ok(status @ 100..=599) => Ok(status),
        _ => Err(LineError::WrongValue {
            field: field.name,
            expected,
            found: "text",
        }),
    }
}

/// Adds the headers that are kept: a mapping of names to a value or a list of them.
fn read_headers(field: Field<'_>, kept: &mut Vec<(String, String)>) -> Result<(), LineError> {
    let members = match field.value() {
        None => return Ok(()),
        Some(Kind::Map(members)) => members,
        Some(_) => return Err(field.mismatch("a mapping or null")),
    };
    for (name, value) in members {
        if crate::headers::kept_name(name.as_bytes()).is_none() {
            continue;
        }
        let one = [value.clone()];
        let values = match &value.kind {
            Kind::List(values) => values.as_slice(),
            Kind::Plain(_) | Kind::Text(_) | Kind::Binary(_) | Kind::Map(_) => &one,
        };
        for value in values {
            let value = Field::new(field.name, Some(value));
            match value.scalar() {
                Some(text) => keep_header(kept, name, text),
                None => return Err(value.mismatch("a string, an integer or a list of them")),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
