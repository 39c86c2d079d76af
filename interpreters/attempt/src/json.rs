//! One pass over JSON text: members are visited in order, and nothing is built
//! that the visitor does not keep.
//!
//! The grammar is RFC 8259 without a byte order mark. A string may escape a lone
//! surrogate, which the grammar allows and no UTF-8 text can hold: it is decoded
//! as U+FFFD and reported. Numbers are never converted here.
//!
//! It is not `serde_json` because that refuses lone surrogates, refuses or merges
//! repeated names, does not bound the nesting of values it skips, and does not
//! say where a value stands.

use std::borrow::Cow;

/// Values inside of each other. Honest bodies stay far below; the bound keeps
/// the stack small.
pub(crate) const DEPTH_MAX: usize = 128;

/// Why text is not what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// There is nothing but white space.
    Empty,
    /// The bytes are not UTF-8.
    NotUtf8,
    /// The grammar does not allow it.
    NotJson,
    /// It is JSON, but not an object.
    NotAnObject,
    /// Something follows the value.
    TrailingBytes,
    /// It nests deeper than [`DEPTH_MAX`].
    TooDeep,
}

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Object,
    Array,
    Text,
    Number,
    True,
    False,
    Null,
}

/// Where a value stands: [start, end).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// A string that is not decoded yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a> {
    /// Between the quotation marks.
    raw: &'a str,
    escaped: bool,
    /// With the quotation marks.
    pub(crate) span: Span,
}

/// A position in JSON text.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    /// Starts at the beginning of a text.
    pub(crate) const fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
        }
    }

    /// Starts at the beginning of bytes that should be UTF-8.
    pub(crate) fn of_bytes(bytes: &'a [u8]) -> Result<Self, Malformed> {
        match str::from_utf8(bytes) {
            Ok(text) => Ok(Self::new(text)),
            Err(_not_utf8) => Err(Malformed::NotUtf8),
        }
    }

    /// Returns the kind of the next value, and stops before it.
    pub(crate) fn kind(&mut self) -> Result<Kind, Malformed> {
        match self.next_token() {
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'"') => Ok(Kind::Text),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            Some(b't') => Ok(Kind::True),
            Some(b'f') => Ok(Kind::False),
            Some(b'n') => Ok(Kind::Null),
            None if self.depth == 0 => Err(Malformed::Empty),
            Some(_) | None => Err(Malformed::NotJson),
        }
    }

    /// Visits the members of an object. The visitor reads the value.
    pub(crate) fn object(
        &mut self,
        mut visit: impl FnMut(&mut Self, &str) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.open(b'{')?;
        if self.take(b'}') {
            self.depth -= 1;
            return Ok(());
        }
        loop {
            let name = self.text()?;
            self.expect(b':')?;
            if name.escaped {
                visit(self, &name.decode().0)?;
            } else {
                visit(self, name.raw)?;
            }
            if !self.take(b',') {
                break;
            }
        }
        self.expect(b'}')?;
        self.depth -= 1;
        Ok(())
    }

    /// Visits the entries of an array. The visitor reads the value.
    pub(crate) fn array(
        &mut self,
        mut visit: impl FnMut(&mut Self, usize) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.open(b'[')?;
        if self.take(b']') {
            self.depth -= 1;
            return Ok(());
        }
        let mut position = 0;
        loop {
            visit(self, position)?;
            position += 1;
            if !self.take(b',') {
                break;
            }
        }
        self.expect(b']')?;
        self.depth -= 1;
        Ok(())
    }

    /// Reads a string; the next value must be one.
    pub(crate) fn text(&mut self) -> Result<Text<'a>, Malformed> {
        if self.next_token() != Some(b'"') {
            return Err(Malformed::NotJson);
        }
        let start = self.at;
        self.at += 1;
        let mut escaped = false;
        loop {
            self.plain_bytes();
            match self.byte() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(_) | None => return Err(Malformed::NotJson),
            }
        }
        let raw = self.slice(start + 1, self.at)?;
        self.at += 1;
        let span = Span {
            start,
            end: self.at,
        };
        Ok(Text { raw, escaped, span })
    }

    /// Passes over any value and returns where it stands.
    pub(crate) fn skip(&mut self) -> Result<Span, Malformed> {
        let kind = self.kind()?;
        let start = self.at;
        match kind {
            Kind::Object => self.object(|reader, _| reader.skip().map(drop))?,
            Kind::Array => self.array(|reader, _| reader.skip().map(drop))?,
            Kind::Text => self.text().map(drop)?,
            Kind::Number => self.number()?,
            Kind::True => self.literal("true")?,
            Kind::False => self.literal("false")?,
            Kind::Null => self.literal("null")?,
        }
        Ok(Span {
            start,
            end: self.at,
        })
    }

    /// Passes over any value and returns its JSON text.
    pub(crate) fn raw(&mut self) -> Result<&'a str, Malformed> {
        let span = self.skip()?;
        self.slice(span.start, span.end)
    }

    /// Checks that nothing follows.
    pub(crate) fn end(&mut self) -> Result<(), Malformed> {
        match self.next_token() {
            Some(_) => Err(Malformed::TrailingBytes),
            None => Ok(()),
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn slice(&self, start: usize, end: usize) -> Result<&'a str, Malformed> {
        self.text.get(start..end).ok_or(Malformed::NotJson)
    }

    /// Passes over white space and returns the byte after it.
    fn next_token(&mut self) -> Option<u8> {
        while let Some(byte) = self.byte() {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    fn take(&mut self, expected: u8) -> bool {
        let found = self.next_token() == Some(expected);
        if found {
            self.at += 1;
        }
        found
    }

    fn expect(&mut self, expected: u8) -> Result<(), Malformed> {
        if self.take(expected) {
            Ok(())
        } else {
            Err(Malformed::NotJson)
        }
    }

    fn open(&mut self, bracket: u8) -> Result<(), Malformed> {
        if self.depth >= DEPTH_MAX {
            return Err(Malformed::TooDeep);
        }
        self.depth += 1;
        self.expect(bracket)
    }

    /// Passes over the bytes of a string that stand for themselves.
    fn plain_bytes(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let (words, _) = rest.as_chunks::<8>();
        let plain_words = words
            .iter()
            .take_while(|word| !has_special(u64::from_le_bytes(**word)))
            .count();
        self.at += plain_words * 8;
        while let Some(byte) = self.byte() {
            if byte < 0x20 || byte == b'"' || byte == b'\\' {
                break;
            }
            self.at += 1;
        }
    }

    fn escape(&mut self) -> Result<(), Malformed> {
        self.at += 1;
        match self.byte() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 1;
                Ok(())
            }
            Some(b'u') => {
                let digits = self.text.as_bytes().get(self.at + 1..self.at + 5);
                if digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                    self.at += 5;
                    return Ok(());
                }
                Err(Malformed::NotJson)
            }
            Some(_) | None => Err(Malformed::NotJson),
        }
    }

    fn literal(&mut self, word: &str) -> Result<(), Malformed> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(());
        }
        Err(Malformed::NotJson)
    }

    fn number(&mut self) -> Result<(), Malformed> {
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        if self.byte() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.byte(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Malformed> {
        let start = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start {
            return Err(Malformed::NotJson);
        }
        Ok(())
    }
}

/// Returns whether one of eight bytes is a control character, a quotation mark
/// or a backslash.
const fn has_special(word: u64) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let quote = word ^ (ONES * 0x22);
    let backslash = word ^ (ONES * 0x5c);
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = quote.wrapping_sub(ONES) & !quote;
    let backslash = backslash.wrapping_sub(ONES) & !backslash;
    (control | quote | backslash) & HIGHS != 0
}

impl<'a> Text<'a> {
    /// Returns the text, and whether it had a lone surrogate.
    pub(crate) fn decode(&self) -> (Cow<'a, str>, bool) {
        if !self.escaped {
            return (Cow::Borrowed(self.raw), false);
        }
        let mut decoded = String::with_capacity(self.raw.len());
        let mut lossy = false;
        let mut rest = self.raw;
        while let Some((plain, escape)) = rest.split_once('\\') {
            decoded.push_str(plain);
            let (character, length) = unescape(escape);
            lossy |= character.is_none();
            decoded.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
            rest = escape.get(length..).unwrap_or_default();
        }
        decoded.push_str(rest);
        (Cow::Owned(decoded), lossy)
    }
}

/// Returns the character of an escape without its backslash, none for a lone
/// surrogate, and the bytes that it takes.
fn unescape(escape: &str) -> (Option<char>, usize) {
    let simple = match escape.as_bytes().first() {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unescape_unit(escape),
        Some(other) => char::from(*other),
        None => return (None, 0),
    };
    (Some(simple), 1)
}

fn unescape_unit(escape: &str) -> (Option<char>, usize) {
    let Some(unit) = unit_at(escape, 1) else {
        return (None, escape.len());
    };
    if !(0xd800..0xdc00).contains(&unit) {
        return (char::from_u32(unit), 5);
    }
    let low = match escape.get(5..7) {
        Some("\\u") => unit_at(escape, 7).filter(|low| (0xdc00..0xe000).contains(low)),
        Some(_) | None => None,
    };
    match low {
        Some(low) => {
            let scalar = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            (char::from_u32(scalar), 11)
        }
        None => (None, 5),
    }
}

fn unit_at(escape: &str, at: usize) -> Option<u32> {
    let digits = escape.get(at..at + 4)?;
    u32::from_str_radix(digits, 16).ok()
}
