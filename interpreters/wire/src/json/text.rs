//! Strings.

use alloc::borrow::Cow;
use alloc::string::String;

use super::{Fault, Reader, Result, Span};

/// Bytes of an escaped UTF-16 unit, such as `\u00e9`.
const UNIT_LENGTH: usize = 6;

/// A string.
#[derive(Debug)]
pub(super) struct Text<'a> {
    /// Borrowed where it has no escapes.
    pub(super) decoded: Cow<'a, str>,
    /// Whether something was replaced.
    pub(super) lossy: bool,
    /// With the quotation marks.
    pub(super) span: Span,
}

/// Returns text, and whether something in it had to be replaced.
pub(super) fn utf8(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    match core::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), false),
        Err(_not_utf8) => (String::from_utf8_lossy(bytes), true),
    }
}

/// Decodes a string that was read before, with its quotation marks.
pub(super) fn decoded(quoted: &[u8]) -> Cow<'_, str> {
    let text = Reader::of_body(quoted).text();
    text.map_or(Cow::Borrowed(""), |text| text.decoded)
}

impl<'a> Reader<'a> {
    /// Reads a string; the next value must be one.
    #[inline(never)]
    pub(super) fn text(&mut self) -> Result<Text<'a>> {
        self.expect(b'"')?;
        let start = self.at - 1;
        let mut decoded: Option<String> = None;
        let mut lossy = false;
        let mut plain_from = self.at;
        while self.until_escape()? {
            let decoded = decoded.get_or_insert_default();
            lossy |= self.push_plain(decoded, plain_from);
            let character = self.escape()?;
            lossy |= character.is_none();
            decoded.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
            plain_from = self.at;
        }
        let decoded = match decoded {
            None => {
                let end = self.at;
                let start = plain_from;
                let (text, replaced) = utf8(Span { start, end }.of(self.bytes));
                lossy |= replaced;
                text
            }
            Some(mut decoded) => {
                lossy |= self.push_plain(&mut decoded, plain_from);
                Cow::Owned(decoded)
            }
        };
        self.at += 1;
        let end = self.at;
        let span = Span { start, end };
        Ok(Text {
            decoded,
            lossy,
            span,
        })
    }

    fn push_plain(&self, decoded: &mut String, start: usize) -> bool {
        let end = self.at;
        let (plain, replaced) = utf8(Span { start, end }.of(self.bytes));
        decoded.push_str(&plain);
        replaced
    }

    /// Passes over a string without decoding it.
    #[inline(never)]
    pub(super) fn skip_text(&mut self) -> Result<()> {
        self.expect(b'"')?;
        while self.until_escape()? {
            self.escape()?;
        }
        self.at += 1;
        Ok(())
    }

    /// Stops before the next escape, or else before the end of the string.
    fn until_escape(&mut self) -> Result<bool> {
        self.plain_bytes();
        match self.byte() {
            Some(b'\\') => Ok(true),
            Some(b'"') => Ok(false),
            Some(_) => Err(Fault::Syntax),
            None => Err(Fault::Ended),
        }
    }

    /// Passes over the bytes of a string that stand for themselves.
    fn plain_bytes(&mut self) {
        let rest = self.rest();
        let (words, tail) = rest.as_chunks::<8>();
        let mut plain_words = 0;
        for word in words {
            let specials = specials(u64::from_le_bytes(*word));
            if specials != 0 {
                self.at += plain_words * 8 + first(specials);
                return;
            }
            plain_words += 1;
        }
        let special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
        self.at += plain_words * 8 + tail.iter().position(special).unwrap_or(tail.len());
    }

    /// Takes an escape and returns its character, none for a lone surrogate.
    #[inline(never)]
    fn escape(&mut self) -> Result<Option<char>> {
        let character = match self.rest().get(1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unit_escape(),
            Some(_) => return Err(Fault::Syntax),
            None => return Err(Fault::Ended),
        };
        self.at += 2;
        Ok(Some(character))
    }

    /// Takes one UTF-16 unit, or the two of a pair.
    fn unit_escape(&mut self) -> Result<Option<char>> {
        let rest = self.rest();
        let unit = unit(rest).ok_or(if rest.len() < UNIT_LENGTH {
            Fault::Ended
        } else {
            Fault::Syntax
        })?;
        self.at += UNIT_LENGTH;
        if !(0xd800..0xdc00).contains(&unit) {
            return Ok(char::from_u32(unit));
        }
        let low = self::unit(self.rest()).filter(|low| (0xdc00..0xe000).contains(low));
        let Some(low) = low else {
            return Ok(None);
        };
        self.at += UNIT_LENGTH;
        Ok(char::from_u32(
            0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00),
        ))
    }
}

/// Returns the unit of the escape that text starts with.
fn unit(text: &[u8]) -> Option<u32> {
    let (prefix, digits) = text.get(..UNIT_LENGTH)?.split_at_checked(2)?;
    if prefix != b"\\u" {
        return None;
    }
    digits.iter().try_fold(0, |unit, digit| {
        Some((unit << 4) | char::from(*digit).to_digit(16)?)
    })
}

/// Marks the bytes of a word that are control characters, quotation marks or
/// backslashes, each by its high bit. The lowest mark is exact; above it, there
/// may be marks too many.
const fn specials(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let quote = word ^ (ONES * 0x22);
    let backslash = word ^ (ONES * 0x5c);
    // A byte below the number that is taken from it borrows, which sets its high
    // bit, and may set the ones of bytes above it.
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = quote.wrapping_sub(ONES) & !quote;
    let backslash = backslash.wrapping_sub(ONES) & !backslash;
    (control | quote | backslash) & HIGHS
}

/// Returns the position of the lowest byte with a mark.
fn first(specials: u64) -> usize {
    // At most 8, for a word without marks.
    usize::try_from(specials.trailing_zeros() / 8).unwrap_or(8)
}
