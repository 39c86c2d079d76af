//! What a provider says about a failure, in any of the shapes that are in use.

use alloc::string::String;

use crate::framing::Frame;
use crate::json::{Cite, Cited, Kind, Reader, Result};

/// An error as it was sent. Which word decides is for [`crate::class`] to say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Complaint<'a> {
    /// `code`: a word, or a number that may be an HTTP status.
    pub code: Option<Cited<'a>>,
    /// What stands deeper: `innererror.code`, `metadata.error_type` or
    /// `details[].reason`.
    pub detail: Option<Cited<'a>>,
    /// `type`, `error_type` or `__type`, or the name of an exception.
    pub kind: Option<Cited<'a>>,
    /// `status`, where it is a word.
    pub status: Option<Cited<'a>>,
    /// For people.
    pub message: Option<Cited<'a>>,
    /// The number of the document that it stands in, from 0.
    pub document: u32,
}

impl<'a> Complaint<'a> {
    /// Returns every word, the most specific first.
    pub fn words(&self) -> impl Iterator<Item = &Cited<'a>> {
        [&self.detail, &self.code, &self.kind, &self.status]
            .into_iter()
            .flatten()
    }

    fn is_blank(&self) -> bool {
        self.words().next().is_none() && self.message.is_none()
    }

    /// Reads the value of a `detail` member.
    pub(crate) fn describe(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        self.message = message(reader)?.or_else(|| self.message.take());
        Ok(())
    }

    /// Reads one member of an error object.
    pub(crate) fn member(&mut self, reader: &mut Reader<'a>, name: &str) -> Result<()> {
        match name {
            "code" => self.code = reader.word()?,
            "type" | "error_type" | "__type" => self.kind = reader.filled()?,
            "status" => self.status = reader.filled()?,
            "message" | "Message" => self.message = message(reader)?,
            "innererror" => reader.members(|reader, name| self.inner(reader, name, "code"))?,
            "metadata" => reader.members(|reader, name| self.inner(reader, name, "error_type"))?,
            "details" => reader.entries(|reader, _| {
                reader.members(|reader, name| self.inner(reader, name, "reason"))
            })?,
            _ => drop(reader.skip()?),
        }
        Ok(())
    }

    fn inner(&mut self, reader: &mut Reader<'a>, name: &str, wanted: &str) -> Result<()> {
        if name == wanted && self.detail.is_none() {
            self.detail = reader.filled()?;
            return Ok(());
        }
        reader.skip().map(drop)
    }
}

/// Reads text, or the first text of a list of objects with a `msg` each.
fn message<'a>(reader: &mut Reader<'a>) -> Result<Option<Cited<'a>>> {
    if reader.kind()? != Kind::Array {
        return reader.filled();
    }
    let mut first = None;
    reader.array(|reader, _| {
        reader.members(|reader, name| {
            if name == "msg" && first.is_none() {
                first = reader.filled()?;
                return Ok(());
            }
            reader.skip().map(drop)
        })
    })?;
    Ok(first)
}

/// Reads the value of an `error` member. What other languages take for false is
/// no error: null, false, zero, and whatever is empty.
pub fn of_member<'a>(reader: &mut Reader<'a>, document: u32) -> Result<Option<Complaint<'a>>> {
    let mut complaint = Complaint {
        document,
        ..Complaint::default()
    };
    match reader.kind()? {
        Kind::Object => {
            let mut members = 0_u32;
            reader.object(|reader, name| {
                members = members.saturating_add(1);
                complaint.member(reader, name)
            })?;
            Ok((members > 0).then_some(complaint))
        }
        Kind::Text => {
            complaint.message = reader.filled()?;
            Ok(complaint.message.is_some().then_some(complaint))
        }
        Kind::Number => {
            let code = reader.source_text()?;
            let zero = code.text.parse().is_ok_and(|code: f64| code == 0.0);
            complaint.code = Some(code);
            Ok((!zero).then_some(complaint))
        }
        Kind::Array => {
            let mut entries = 0_u32;
            reader.array(|reader, _| {
                entries = entries.saturating_add(1);
                reader.members(|reader, name| complaint.member(reader, name))
            })?;
            Ok((entries > 0).then_some(complaint))
        }
        Kind::True => reader.skip().map(|_| Some(complaint)),
        Kind::False | Kind::Null => reader.skip().map(|_| None),
    }
}

/// Reads the body of a failed request, whatever its dialect: an `error` member, or
/// the members of an error at the top, or either in an array.
pub fn of_failure<'a>(reader: &mut Reader<'a>) -> Result<Option<Complaint<'a>>> {
    if reader.kind()? == Kind::Array {
        let mut first = None;
        reader.array(|reader, _| {
            let complaint = of_failure(reader)?;
            if first.is_none() {
                first = complaint;
            }
            Ok(())
        })?;
        return Ok(first);
    }
    let mut flat = Complaint::default();
    let mut member = None;
    reader.members(|reader, name| match name {
        "error" => {
            member = of_member(reader, 0)?;
            Ok(())
        }
        "detail" => flat.describe(reader),
        // The envelope's own type is no class.
        "type" if reader.peek_text().as_deref() == Some("error") => reader.skip().map(drop),
        _ => flat.member(reader, name),
    })?;
    let flat = (!flat.is_blank()).then_some(flat);
    Ok(match (member, flat) {
        (Some(mut member), Some(flat)) => {
            member.kind = member.kind.or(flat.kind);
            Some(member)
        }
        (member, flat) => member.or(flat),
    })
}

/// Reads an exception of an event stream. Its name is its type.
pub(crate) fn exception<'a>(
    reader: &mut Reader<'a>,
    body: &'a [u8],
    frame: &Frame,
    document: u32,
) -> Complaint<'a> {
    // A payload that is no JSON says nothing; the name is enough.
    let said = of_failure(reader).ok().flatten();
    let mut complaint = said.unwrap_or_default();
    complaint.document = document;
    let header = |span: crate::json::Span| Cited {
        text: String::from_utf8_lossy(span.of(body)),
        cite: Cite {
            pointer: String::new(),
            span,
        },
    };
    complaint.kind = frame.name.map(header);
    if complaint.message.is_none() {
        complaint.message = frame.detail.map(header);
    }
    complaint
}

/// Returns the name of an exception as AWS writes it in a header, without the
/// address behind a colon and the name of a namespace before a hash.
pub fn exception_name(value: &str) -> &str {
    let name = value.split(':').next().unwrap_or_default();
    name.rsplit('#').next().unwrap_or_default().trim()
}
