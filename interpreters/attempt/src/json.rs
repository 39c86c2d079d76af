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

use alloc::borrow::Cow;
use alloc::string::String;

/// Values inside of each other. Honest bodies stay far below; the bound keeps
/// the stack small.
pub(crate) const DEPTH_MAX: usize = 128;

/// Bytes of an escaped UTF-16 unit, such as `\u00e9`.
const UNIT_LENGTH: usize = 6;

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

/// A string.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    /// Borrowed where it has no escapes.
    pub(crate) decoded: Cow<'a, str>,
    /// Whether a lone surrogate was replaced.
    pub(crate) lossy: bool,
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
            visit(self, &name.decoded)?;
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
        let start = self.quotation_mark()?;
        let mut decoded: Option<String> = None;
        let mut lossy = false;
        let mut plain_from = self.at;
        while self.until_escape()? {
            let decoded = decoded.get_or_insert_default();
            decoded.push_str(self.slice(plain_from, self.at)?);
            let character = self.escape()?;
            lossy |= character.is_none();
            decoded.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
            plain_from = self.at;
        }
        let plain = self.slice(plain_from, self.at)?;
        self.at += 1;
        let decoded = match decoded {
            None => Cow::Borrowed(plain),
            Some(mut decoded) => {
                decoded.push_str(plain);
                Cow::Owned(decoded)
            }
        };
        let end = self.at;
        let span = Span { start, end };
        Ok(Text {
            decoded,
            lossy,
            span,
        })
    }

    /// Passes over a string without decoding it.
    fn skip_text(&mut self) -> Result<(), Malformed> {
        self.quotation_mark()?;
        while self.until_escape()? {
            self.escape()?;
        }
        self.at += 1;
        Ok(())
    }

    /// Passes over any value and returns where it stands.
    pub(crate) fn skip(&mut self) -> Result<Span, Malformed> {
        let kind = self.kind()?;
        let start = self.at;
        match kind {
            Kind::Object => self.object(|reader, _| reader.skip().map(drop))?,
            Kind::Array => self.array(|reader, _| reader.skip().map(drop))?,
            Kind::Text => self.skip_text()?,
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
        let (words, tail) = rest.as_chunks::<8>();
        let specials = words.iter().map(|word| specials(u64::from_le_bytes(*word)));
        let mut plain_words = 0;
        for specials in specials {
            if specials != 0 {
                self.at += plain_words * 8 + first(specials);
                return;
            }
            plain_words += 1;
        }
        let special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
        self.at += plain_words * 8 + tail.iter().position(special).unwrap_or(tail.len());
    }

    /// Takes a quotation mark and returns where it stands.
    fn quotation_mark(&mut self) -> Result<usize, Malformed> {
        self.expect(b'"')?;
        Ok(self.at - 1)
    }

    /// Stops before the next escape, or else before the end of the string.
    fn until_escape(&mut self) -> Result<bool, Malformed> {
        self.plain_bytes();
        match self.byte() {
            Some(b'\\') => Ok(true),
            Some(b'"') => Ok(false),
            Some(_) | None => Err(Malformed::NotJson),
        }
    }

    /// Takes an escape and returns its character, none for a lone surrogate.
    fn escape(&mut self) -> Result<Option<char>, Malformed> {
        let kind = self.text.as_bytes().get(self.at + 1);
        let character = match kind {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unit_escape(),
            Some(_) | None => return Err(Malformed::NotJson),
        };
        self.at += 2;
        Ok(Some(character))
    }

    /// Takes one UTF-16 unit, or the two of a pair.
    fn unit_escape(&mut self) -> Result<Option<char>, Malformed> {
        let unit = self.unit_at(self.at).ok_or(Malformed::NotJson)?;
        self.at += UNIT_LENGTH;
        if !(0xd800..0xdc00).contains(&unit) {
            return Ok(char::from_u32(unit));
        }
        let low = self.unit_at(self.at);
        let Some(low) = low.filter(|low| (0xdc00..0xe000).contains(low)) else {
            return Ok(None);
        };
        self.at += UNIT_LENGTH;
        Ok(char::from_u32(
            0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00),
        ))
    }

    /// Returns the unit of the escape at a position, if there is one.
    fn unit_at(&self, at: usize) -> Option<u32> {
        let escape = self.text.as_bytes().get(at..at + UNIT_LENGTH)?;
        let (prefix, digits) = escape.split_at_checked(2)?;
        if prefix != b"\\u" {
            return None;
        }
        digits.iter().try_fold(0, |unit, digit| {
            Some((unit << 4) | char::from(*digit).to_digit(16)?)
        })
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
