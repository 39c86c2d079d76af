//! One rule about one criterion.

use alloc::borrow::{Cow, ToOwned as _};
use alloc::format;
use alloc::string::String;

/// A condition that a criterion rests on.
#[derive(Debug)]
pub(crate) struct Rule<'a> {
    /// From 0.
    pub(crate) criterion: u32,
    pub(crate) condition: Condition<'a>,
}

/// What must hold of a text. No pattern is empty.
#[derive(Debug)]
pub(crate) enum Condition<'a> {
    /// The text has it.
    Contains(Cow<'a, str>),
    /// The text does not have it.
    Absent(Cow<'a, str>),
    /// The text has it so many times, counted without overlap from the front.
    Count(Cow<'a, str>, u64),
    /// The text is no longer, in bytes.
    MaxBytes(u64),
    /// Nowhere stands an ASCII digit, then any ASCII white space, then this.
    NoDigitsBefore(Cow<'a, str>),
}

impl Condition<'_> {
    /// Returns why the condition does not hold.
    pub(crate) fn against(&self, text: &str) -> Option<String> {
        match self {
            Self::Contains(pattern) => {
                let against = !text.contains(&**pattern);
                against.then(|| "the text to contain is not there".to_owned())
            }
            Self::Absent(pattern) => {
                let against = text.contains(&**pattern);
                against.then(|| "the text to be absent is there".to_owned())
            }
            Self::Count(pattern, expected) => {
                let found = wide(text.matches(&**pattern).count());
                (found != *expected)
                    .then(|| format!("expected the text {expected} times, found {found}"))
            }
            Self::MaxBytes(limit) => {
                let found = wide(text.len());
                (found > *limit).then(|| format!("expected at most {limit} bytes, found {found}"))
            }
            Self::NoDigitsBefore(pattern) => {
                let against = digits_before(text, pattern);
                against.then(|| "a digit stands before the text".to_owned())
            }
        }
    }
}

/// Returns whether a digit stands before a pattern, with blanks between or none.
fn digits_before(text: &str, pattern: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = bytes.iter().enumerate();
    let digits = digits.filter(|(_, byte)| byte.is_ascii_digit());
    // Blanks belong to the digit before them only, so they are passed over once.
    digits.map(|(position, _)| position + 1).any(|start| {
        let mut rest = bytes.get(start..).unwrap_or_default();
        loop {
            if rest.starts_with(pattern.as_bytes()) {
                return true;
            }
            match rest.split_first() {
                Some((blank, after)) if blank.is_ascii_whitespace() => rest = after,
                Some(_) | None => return false,
            }
        }
    })
}

/// Returns a length as the configuration counts.
fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
