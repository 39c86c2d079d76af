//! The checks that the adapters share. Each names the field, what the contract
//! says and what the module gave.

use std::fmt;

use model::bounds::INTEGER_MAX;
use model::name::Label;

use crate::error::{InvalidResult, Shown};

/// Names of kinds, classes, codes and facts, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// The summary of a module, in bytes.
const SUMMARY_BYTES_MAX: usize = 512;

/// Dialects, vocabularies and superseded labels that a module may list.
const LIST_LENGTH_MAX: usize = 64;

/// Characters of a module's text that an error repeats.
const FOUND_CHARACTERS_MAX: usize = 80;

/// Returns the error for a field.
pub(super) fn invalid(
    field: impl fmt::Display,
    expected: impl Into<String>,
    found: impl Into<String>,
) -> InvalidResult {
    InvalidResult {
        field: field.to_string(),
        expected: expected.into(),
        found: found.into(),
    }
}

/// Returns a shortened, harmless form of what a module gave.
pub(super) fn quoted(text: &str) -> String {
    let start: String = text.chars().take(FOUND_CHARACTERS_MAX).collect();
    let more = if start.len() < text.len() { "…" } else { "" };
    format!("`{}`{more}", Shown(&start))
}

/// Checks a name: 1 to 64 bytes of `a-z`, `0-9` and `_`.
pub(super) fn name(field: impl fmt::Display, value: String) -> Result<String, InvalidResult> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if (1..=NAME_BYTES_MAX).contains(&value.len()) && value.bytes().all(plain) {
        return Ok(value);
    }
    let expected = "1 to 64 bytes of a-z, 0-9 and `_`";
    Err(invalid(field, expected, quoted(&value)))
}

/// Checks the length of a text.
pub(super) fn short(
    field: impl fmt::Display,
    value: String,
    bytes_max: usize,
) -> Result<String, InvalidResult> {
    if value.len() <= bytes_max {
        return Ok(value);
    }
    let expected = format!("at most {bytes_max} bytes");
    Err(invalid(field, expected, format!("{} bytes", value.len())))
}

/// Checks a number that must fit canonical JSON.
pub(super) fn count(field: impl fmt::Display, value: u64) -> Result<u64, InvalidResult> {
    if value <= INTEGER_MAX {
        return Ok(value);
    }
    Err(invalid(field, "at most 2^53 - 1", value.to_string()))
}

/// Checks bytes that the contract calls UTF-8, without copying them.
pub(super) fn utf8(field: impl fmt::Display, bytes: Vec<u8>) -> Result<String, InvalidResult> {
    String::from_utf8(bytes).map_err(|error| {
        let position = error.utf8_error().valid_up_to();
        let found = format!("an invalid byte at position {position}");
        invalid(field, "UTF-8", found)
    })
}

/// Checks bytes that the contract calls UTF-8, where there are any.
pub(super) fn optional_utf8(
    field: impl fmt::Display,
    bytes: Option<Vec<u8>>,
) -> Result<Option<String>, InvalidResult> {
    bytes.map(|bytes| utf8(field, bytes)).transpose()
}

/// Checks the length of a list.
pub(super) fn at_most(field: &str, length: usize, length_max: usize) -> Result<(), InvalidResult> {
    if length <= length_max {
        return Ok(());
    }
    let expected = format!("at most {length_max} entries");
    Err(invalid(field, expected, format!("{length} entries")))
}

/// Checks what a module says of itself, of whatever world.
pub(super) fn label(field: impl fmt::Display, value: &str) -> Result<Label, InvalidResult> {
    value.parse().map_err(|_label_error| {
        let expected = "1 to 64 bytes of a-z, 0-9, `-`, `_` and `.`, starting with a letter or a \
                        digit";
        invalid(field, expected, quoted(value))
    })
}

/// Checks the one sentence for people.
pub(super) fn summary(value: String) -> Result<String, InvalidResult> {
    if value.chars().any(char::is_control) {
        let found = quoted(&value);
        return Err(invalid("summary", "no control characters", found));
    }
    short("summary", value, SUMMARY_BYTES_MAX)
}

/// Checks a list that a module gives of itself, entry by entry.
pub(super) fn listed<T, U>(
    field: &'static str,
    values: Vec<T>,
    entry: impl Fn(Place, T) -> Result<U, InvalidResult>,
) -> Result<Vec<U>, InvalidResult> {
    at_most(field, values.len(), LIST_LENGTH_MAX)?;
    values
        .into_iter()
        .enumerate()
        .map(|(index, value)| entry(Place { field, index }, value))
        .collect()
}

/// The place of one entry in a list; written out only for an error.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) field: &'static str,
    pub(super) index: usize,
}

/// One member of the entry at a place.
#[derive(Clone, Copy)]
pub(super) struct Member(Place, &'static str);

impl Place {
    /// Returns one member of the entry.
    pub(super) const fn member(self, name: &'static str) -> Member {
        Member(self, name)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.field, self.index)
    }
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}
