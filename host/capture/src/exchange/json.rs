//! Walks JSON text member by member, without building a tree.
//!
//! Each member comes out as the text it was written in, so what is ignored is
//! passed over once and never copied. `serde_json` skips a value without
//! recursion, so no nesting can exhaust the stack. Of its errors only the place
//! and the category leave this file: the rest may echo the line.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::error::{JsonFault, JsonType, LineError};

/// How deep a member that is ignored may nest, as deep as `serde_json` itself reads.
pub(crate) const NESTING_MAX: usize = 128;

/// One member of an object: its path in the line and its JSON text, if present.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member<'a> {
    /// Such as `response.status`.
    pub(crate) field: &'static str,
    /// The JSON text without space around it.
    pub(crate) text: Option<&'a str>,
}

impl<'a> Member<'a> {
    /// Returns the type that the member has.
    pub(crate) fn kind(self) -> JsonType {
        self.text.map_or(JsonType::Nothing, kind)
    }

    /// Returns the error of a member of another type.
    pub(crate) fn mismatch(self, expected: &'static str) -> LineError {
        LineError::WrongType {
            field: self.field,
            expected,
            found: self.kind(),
        }
    }

    /// Returns the members named by `fields` of an object; all are absent when the
    /// member is null or absent itself.
    pub(crate) fn members<const N: usize>(
        self,
        fields: [&'static str; N],
        expected: &'static str,
    ) -> Result<[Self; N], LineError> {
        match (self.text, self.kind()) {
            (Some(text), JsonType::Object) => {
                members(text, fields).unwrap_or_else(|_| Err(self.lone_surrogate()))
            }
            (None, _) | (_, JsonType::Null) => Ok(absent(fields)),
            _ => Err(self.mismatch(expected)),
        }
    }

    /// Returns a string of at most `limit` bytes; none when it is null or absent.
    pub(crate) fn string(
        self,
        expected: &'static str,
        limit: usize,
    ) -> Result<Option<Cow<'a, str>>, LineError> {
        let text = match (self.text, self.kind()) {
            (Some(text), JsonType::String) => text,
            (None, _) | (_, JsonType::Null) => return Ok(None),
            _ => return Err(self.mismatch(expected)),
        };
        let field = self.field;
        // An escape writes one byte in at most six: what is longer need not be read.
        if text.len() > limit.saturating_mul(6).saturating_add(2) {
            return Err(LineError::TooLong { field, limit });
        }
        let string = string(text).ok_or_else(|| self.lone_surrogate())?;
        if string.len() > limit {
            return Err(LineError::TooLong { field, limit });
        }
        Ok(Some(string))
    }

    /// Returns the error of the one fault that skipping a value does not find.
    pub(crate) fn lone_surrogate(self) -> LineError {
        LineError::LoneSurrogate { field: self.field }
    }

    fn name(self) -> &'static str {
        self.field.rsplit('.').next().unwrap_or(self.field)
    }
}

/// Returns the members named by `fields` of the object that a whole line is.
pub(crate) fn line<'a, const N: usize>(
    line: &'a [u8],
    fields: [&'static str; N],
) -> Result<[Member<'a>; N], LineError> {
    const MARK: &[u8] = "\u{feff}".as_bytes();
    let (bytes, skipped) = match line.strip_prefix(MARK) {
        Some(rest) => (rest, MARK.len()),
        None => (line, 0),
    };
    let text = str::from_utf8(bytes).map_err(|error| LineError::NotUtf8 {
        column: skipped + error.valid_up_to() + 1,
    })?;
    members(text, fields).unwrap_or_else(|error| {
        let fault = match error.classify() {
            Category::Eof => JsonFault::End,
            Category::Syntax | Category::Io => JsonFault::Syntax,
            Category::Data => {
                let found = kind(text.trim_ascii_start());
                return Err(LineError::NotObject { found });
            }
        };
        // A line may hold line breaks, where JSON allows space.
        let lines_before = text
            .split_inclusive('\n')
            .take(error.line().saturating_sub(1));
        let before: usize = lines_before.map(str::len).sum();
        let column = (skipped + before + error.column()).max(1);
        Err(LineError::NotJson { fault, column })
    })
}

/// Returns the type of a JSON text, which starts with the value's first character.
pub(crate) fn kind(text: &str) -> JsonType {
    match text.as_bytes().first() {
        None => JsonType::Nothing,
        Some(b'n') => JsonType::Null,
        Some(b't' | b'f') => JsonType::Boolean,
        Some(b'"') => JsonType::String,
        Some(b'[') => JsonType::Array,
        Some(b'{') => JsonType::Object,
        Some(_) => JsonType::Number,
    }
}

/// Returns the string that a JSON text writes, borrowed where it has no escapes;
/// none when an escape is half a surrogate pair.
pub(crate) fn string(text: &str) -> Option<Cow<'_, str>> {
    serde_json::from_str(text).ok().map(|Text(string)| string)
}

/// Checks that a value which nobody reads nests no deeper than [`NESTING_MAX`].
pub(crate) fn ignore(text: &str) -> Result<(), LineError> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    if !matches!(kind(text), JsonType::Array | JsonType::Object) {
        return Ok(());
    }
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > NESTING_MAX {
            return Err(LineError::TooDeep);
        }
    }
    Ok(())
}

/// What a walk ends with: an error of the text, or else of the one who was given
/// the members. After the first error of the latter, the rest is only skipped.
pub(crate) type Walked<T> = Result<Result<T, LineError>, serde_json::Error>;

/// Gives `each` the name and the text of every member of an object, in order.
pub(crate) fn object<'a, F>(text: &'a str, each: F) -> Walked<()>
where
    F: FnMut(Cow<'a, str>, &'a str) -> Result<(), LineError>,
{
    let mut source = serde_json::Deserializer::from_str(text);
    let walked = source.deserialize_map(Each(each))?;
    source.end()?;
    Ok(walked)
}

/// Gives `each` the text of every element of an array, in order.
pub(crate) fn array<'a, F>(text: &'a str, each: F) -> Walked<()>
where
    F: FnMut(&'a str) -> Result<(), LineError>,
{
    let mut source = serde_json::Deserializer::from_str(text);
    let walked = source.deserialize_seq(EachElement(each))?;
    source.end()?;
    Ok(walked)
}

fn members<'a, const N: usize>(
    text: &'a str,
    fields: [&'static str; N],
) -> Walked<[Member<'a>; N]> {
    let mut members = absent(fields);
    let walked = object(text, |name, value| {
        match members.iter_mut().find(|member| member.name() == name) {
            None => ignore(value),
            Some(Member {
                field,
                text: Some(_),
            }) => Err(LineError::Duplicate { field }),
            Some(member) => {
                member.text = Some(value);
                Ok(())
            }
        }
    })?;
    Ok(walked.map(|()| members))
}

fn absent<'a, const N: usize>(fields: [&'static str; N]) -> [Member<'a>; N] {
    fields.map(|field| Member { field, text: None })
}

struct Each<F>(F);

impl<'de, F> Visitor<'de> for Each<F>
where
    F: FnMut(Cow<'de, str>, &'de str) -> Result<(), LineError>,
{
    type Value = Result<(), LineError>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut walked = Ok(());
        while let Some((Text(name), value)) = map.next_entry::<_, &RawValue>()? {
            walked = walked.and_then(|()| (self.0)(name, value.get()));
        }
        Ok(walked)
    }
}

struct EachElement<F>(F);

impl<'de, F> Visitor<'de> for EachElement<F>
where
    F: FnMut(&'de str) -> Result<(), LineError>,
{
    type Value = Result<(), LineError>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut walked = Ok(());
        while let Some(value) = elements.next_element::<&RawValue>()? {
            walked = walked.and_then(|()| (self.0)(value.get()));
        }
        Ok(walked)
    }
}

/// A string that is borrowed from its source wherever it stands there as it is.
struct Text<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }
}
