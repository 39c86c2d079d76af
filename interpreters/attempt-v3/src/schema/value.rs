//! A JSON value in memory: of a schema, and of a text that is held against one.
//! Bodies are never read this way.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use wire::json::{Kind, Reader, Result};

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'a> {
    Null,
    Flag(bool),
    /// As written.
    Number(Cow<'a, str>),
    Text(Cow<'a, str>),
    Array(Vec<Self>),
    /// In order; of repeated names the last one counts.
    Object(Vec<(Cow<'a, str>, Self)>),
}

impl<'a> Value<'a> {
    /// Reads the next value.
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self> {
        Ok(match reader.kind()? {
            Kind::Null => {
                reader.skip()?;
                Self::Null
            }
            Kind::True | Kind::False => Self::Flag(reader.flag()?.unwrap_or_default()),
            Kind::Number => Self::Number(reader.source_text()?.text),
            Kind::Text => Self::Text(reader.cited()?.map(|text| text.text).unwrap_or_default()),
            Kind::Array => {
                let mut entries = Vec::new();
                reader.array(|reader, _| {
                    entries.push(Self::read(reader)?);
                    Ok(())
                })?;
                Self::Array(entries)
            }
            Kind::Object => {
                let mut members = Vec::new();
                reader.object(|reader, name| {
                    let name = Cow::Owned(name.into());
                    members.push((name, Self::read(reader)?));
                    Ok(())
                })?;
                Self::Object(members)
            }
        })
    }

    /// Returns a member of an object.
    pub(super) fn member(&self, name: &str) -> Option<&Self> {
        let Self::Object(members) = self else {
            return None;
        };
        let found = members.iter().rev().find(|(found, _)| found == name);
        found.map(|(_, value)| value)
    }

    /// Returns the text of a string.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::Flag(_) | Self::Number(_) | Self::Array(_) | Self::Object(_) => None,
        }
    }

    /// Returns a number as the nearest double.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(digits) => digits.parse().ok(),
            Self::Null | Self::Flag(_) | Self::Text(_) | Self::Array(_) | Self::Object(_) => None,
        }
    }

    /// Returns the entries of an array.
    pub(super) fn entries(&self) -> Option<&[Self]> {
        match self {
            Self::Array(entries) => Some(entries),
            Self::Null | Self::Flag(_) | Self::Number(_) | Self::Text(_) | Self::Object(_) => None,
        }
    }

    /// Returns the name of the type, in the words of JSON Schema.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Flag(_) => "boolean",
            Self::Number(_) if self.is_whole() => "integer",
            Self::Number(_) => "number",
            Self::Text(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }

    fn is_whole(&self) -> bool {
        // The remainder needs no floor, which `core` has not.
        self.number().is_some_and(|number| number % 1.0 == 0.0)
    }

    /// Returns whether two values are the same to JSON Schema.
    pub(super) fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(left), Self::Number(right)) if left == right => true,
            (Self::Number(_), Self::Number(_)) => self.number() == other.number(),
            (Self::Array(left), Self::Array(right)) => {
                left.len() == right.len()
                    && left
                        .iter()
                        .zip(right)
                        .all(|(left, right)| left.equals(right))
            }
            (Self::Object(left), Self::Object(right)) => {
                let has = |(name, value): &(Cow<'_, str>, Self)| {
                    other.member(name).is_some_and(|found| found.equals(value))
                };
                left.len() == right.len() && left.iter().all(has)
            }
            (left, right) => left == right,
        }
    }
}
