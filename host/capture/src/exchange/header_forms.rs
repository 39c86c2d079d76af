//! The two forms in which a line gives headers: an object, or an array of pairs.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::error::{HeaderFound, JsonType, LineError};
use super::json::{self, Member, Walked};
use crate::headers::{Keeper, Kept, kept_name};
use crate::media_type::is_token;

/// The headers of a line.
#[derive(Debug, Default)]
pub(super) struct Headers {
    /// What is kept of them.
    pub(super) kept: Kept,
    /// How many entries the line gives, kept or not.
    pub(super) entry_count: usize,
}

/// Returns the headers of an object or an array, none when it is null or absent.
///
/// A value is a string, an integer (as its digits) or, in an object, an array of
/// these. The value of a header that is not kept may be anything.
pub(super) fn read(member: Member<'_>) -> Result<Headers, LineError> {
    let mut reader = Reader {
        member,
        keeper: Keeper::default(),
        entry: 0,
    };
    let walked = match (member.text, member.kind()) {
        (Some(text), JsonType::Object) => reader.object(text),
        (Some(text), JsonType::Array) => reader.array(text),
        (None, _) | (_, JsonType::Null) => return Ok(Headers::default()),
        _ => return Err(member.mismatch("an object, an array of pairs or null")),
    };
    walked.unwrap_or_else(|_| Err(member.lone_surrogate()))?;
    Ok(Headers {
        kept: reader.keeper.finish(),
        entry_count: reader.entry,
    })
}

struct Reader<'a> {
    member: Member<'a>,
    keeper: Keeper,
    entry: usize,
}

impl Reader<'_> {
    fn object(&mut self, text: &str) -> Walked<()> {
        let mut seen = BTreeSet::new();
        json::object(text, |name, value| {
            self.entry += 1;
            let Some(kept) = self.kept(&name, value)? else {
                return Ok(());
            };
            // Two spellings of a name are two headers; one spelling twice is a
            // duplicate member, of which most readers would have dropped one.
            if !seen.insert(name) {
                return Err(self.wrong("each name once", HeaderFound::Again));
            }
            if json::kind(value) != JsonType::Array {
                return self.push(kept, value);
            }
            let each = |value| self.push(kept.clone(), value);
            json::array(value, each).unwrap_or_else(|_| Err(self.member.lone_surrogate()))
        })
    }

    fn array(&mut self, text: &str) -> Walked<()> {
        json::array(text, |item| {
            self.entry += 1;
            let (name, value) = self.pair(item)?;
            match self.kept(&name, value)? {
                Some(kept) => self.push(kept, value),
                None => Ok(()),
            }
        })
    }

    fn pair<'t>(&self, item: &'t str) -> Result<(Cow<'t, str>, &'t str), LineError> {
        let expected = "an array of a name and a value";
        let kind = json::kind(item);
        if kind != JsonType::Array {
            return Err(self.wrong(expected, HeaderFound::Type(kind)));
        }
        let (mut pair, mut count) = ([None; 2], 0);
        let walked = json::array(item, |element| {
            if let Some(slot) = pair.get_mut(count) {
                *slot = Some(element);
            }
            count += 1;
            Ok(())
        });
        walked.unwrap_or_else(|_| Err(self.member.lone_surrogate()))?;
        let (2, [Some(name), Some(value)]) = (count, pair) else {
            return Err(self.wrong(expected, HeaderFound::Length));
        };
        let kind = json::kind(name);
        if kind != JsonType::String {
            return Err(self.wrong("a string as the name", HeaderFound::Type(kind)));
        }
        let name = json::string(name).ok_or_else(|| self.member.lone_surrogate())?;
        Ok((name, value))
    }

    /// Returns the lower-case name when the header is kept.
    fn kept(&self, name: &str, value: &str) -> Result<Option<String>, LineError> {
        if !is_token(name.as_bytes()) {
            return Err(self.wrong("a name of token characters", HeaderFound::Name));
        }
        let kept = kept_name(name.as_bytes());
        if kept.is_none() {
            json::ignore(value)?;
        }
        Ok(kept)
    }

    fn push(&mut self, name: String, value: &str) -> Result<(), LineError> {
        let kind = json::kind(value);
        if kind == JsonType::String {
            let value = json::string(value).ok_or_else(|| self.member.lone_surrogate())?;
            self.keeper.push(name, &value);
        } else if kind == JsonType::Number && !value.contains(['.', 'e', 'E']) {
            self.keeper.push(name, value);
        } else {
            let expected = "a string or an integer as the value";
            return Err(self.wrong(expected, HeaderFound::Type(kind)));
        }
        Ok(())
    }

    fn wrong(&self, expected: &'static str, found: HeaderFound) -> LineError {
        LineError::Header {
            field: self.member.field,
            entry: self.entry,
            expected,
            found,
        }
    }
}
