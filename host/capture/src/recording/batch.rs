//! Batch files of OpenAI: one JSON object a line.
//!
//! A body is a JSON value of the line. Its text is kept as the file has it, which
//! is not what a server would have sent: the file was written anew.

use std::borrow::Cow;

use model::bounds::{BODY_BYTES_MAX, NAME_BYTES_MAX};

use super::{Choice, Content, Draft, EntryError, Exactness, content, endpoint_of, skipped};
use crate::dialects;
use crate::exchange::json::{self, Member};
use crate::exchange::{JsonType, LINE_BYTES_MAX, LineError, TARGET_BYTES_MAX};

/// The importer's name in `call.imported`.
pub const IMPORTER: &str = "openai-batch";

/// Longer than any word that is compared.
const WORD_BYTES_MAX: usize = 128;

/// What a body's `object` says of its dialect.
const OBJECTS: [(&str, &str); 3] = [
    ("chat.completion", "openai.chat"),
    ("response", "openai.responses"),
    ("text_completion", "openai.completions"),
];

/// One line of a batch's input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What joins it to a line of the output.
    pub custom_id: String,
    /// The HTTP method.
    pub method: String,
    /// The path.
    pub url: String,
    /// The text of the body as the line has it.
    pub body: Option<Vec<u8>>,
}

/// Reads one line of a batch's input.
pub fn read_request(line: &[u8]) -> Result<Request, LineError> {
    let [custom_id, method, url, body] = members(line, ["custom_id", "method", "url", "body"])?;
    let method = method.string("a string or null", WORD_BYTES_MAX)?;
    Ok(Request {
        custom_id: needed(custom_id, "a string", NAME_BYTES_MAX)?.into_owned(),
        method: method.unwrap_or(Cow::Borrowed("POST")).into_owned(),
        url: needed(url, "a path", TARGET_BYTES_MAX)?.into_owned(),
        body: body_text(body)?,
    })
}

/// Returns the `custom_id` of a line of a batch's output, none when it has none.
pub fn custom_id(line: &[u8]) -> Option<String> {
    let [custom_id] = json::line(line, ["custom_id"]).ok()?;
    let name = custom_id.string("a string", NAME_BYTES_MAX).ok()??;
    Some(name.into_owned())
}

/// Reads one line of a batch's output, beside the line of the input that it answers.
pub fn read_line(line: &[u8], request: Option<Request>, choice: Choice) -> Content {
    content(read_answer(line, request, choice))
}

fn read_answer(
    line: &[u8],
    request: Option<Request>,
    choice: Choice,
) -> Result<Content, EntryError> {
    let [custom_id, response, error] = members(line, ["custom_id", "response", "error"])?;
    let custom_id = needed(custom_id, "a string", NAME_BYTES_MAX)?;
    let answered = !is_absent(response);
    if !answered && is_absent(error) {
        return Err(response.mismatch("an object unless `error` is one").into());
    }
    let [status, body] = response.members(
        ["response.status_code", "response.body"],
        "an object or null",
    )?;
    let status = if answered {
        Some(read_status(status)?)
    } else {
        None
    };
    let known = || match &request {
        Some(request) => dialects::of_request(&request.method, &request.url),
        None => of_body(body),
    };
    let Some(dialect) = choice.given_or(known) else {
        return Ok(match &request {
            Some(request) => skipped(&request.url),
            None => Content::Skipped("a line whose dialect nothing names".to_owned()),
        });
    };
    let response_body = body_text(body)?;
    let exactness = match &response_body {
        Some(_) => Exactness::Reserialised,
        None => Exactness::NotPreserved,
    };
    let request = request.unwrap_or_else(|| Request {
        custom_id: String::new(),
        method: "POST".to_owned(),
        // The endpoint of a batch is that of its dialect.
        url: dialects::usual_path(dialect).unwrap_or("/").to_owned(),
        body: None,
    });
    let draft = Draft {
        external_id: Some(custom_id.into_owned()),
        dialect,
        method: request.method,
        endpoint: endpoint_of("url", &request.url)?,
        request_type: None,
        request_body: request.body,
        status,
        headers: Vec::new(),
        response_body,
        exception: None,
        exactness,
        recorded_at: None,
    };
    Ok(Content::Recorded(Box::new(draft.recorded(false)?)))
}

fn members<'t, const N: usize>(
    line: &'t [u8],
    fields: [&'static str; N],
) -> Result<[Member<'t>; N], LineError> {
    if line.len() > LINE_BYTES_MAX {
        return Err(LineError::LineTooLong { found: line.len() });
    }
    json::line(line, fields)
}

fn needed<'t>(
    member: Member<'t>,
    expected: &'static str,
    limit: usize,
) -> Result<Cow<'t, str>, LineError> {
    let text = member.string(expected, limit)?;
    text.ok_or_else(|| member.mismatch(expected))
}

fn is_absent(member: Member<'_>) -> bool {
    matches!(member.kind(), JsonType::Nothing | JsonType::Null)
}

fn read_status(member: Member<'_>) -> Result<u16, LineError> {
    let expected = "an integer from 100 to 599";
    match (member.text, member.kind()) {
        (Some(text), JsonType::Number) => match text.parse() {
            Ok(status @ 100..=599) => Ok(status),
            _ => Err(LineError::WrongValue {
                field: member.field,
                expected,
                found: "number",
            }),
        },
        _ => Err(member.mismatch(expected)),
    }
}

/// Returns the text of a JSON value as it stands in its line; null is no body.
fn body_text(member: Member<'_>) -> Result<Option<Vec<u8>>, LineError> {
    let Some(text) = member.text.filter(|_| !is_absent(member)) else {
        return Ok(None);
    };
    if text.len() > BODY_BYTES_MAX {
        return Err(LineError::TooLong {
            field: member.field,
            limit: BODY_BYTES_MAX,
        });
    }
    Ok(Some(text.as_bytes().to_vec()))
}

fn of_body(body: Member<'_>) -> Option<&'static str> {
    if body.kind() != JsonType::Object {
        return None;
    }
    let [object] = body.members(["response.body.object"], "an object").ok()?;
    let object = object.string("a string", WORD_BYTES_MAX).ok()??;
    let known = OBJECTS.into_iter().find(|(name, _)| *name == object);
    known.map(|(_, dialect)| dialect)
}

#[cfg(test)]
mod tests;
