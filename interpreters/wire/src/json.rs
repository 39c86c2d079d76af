//! One pass over JSON text that is what providers send, which is not always what
//! RFC 8259 allows: members are visited in order, nothing is built that the
//! visitor does not keep, and every value knows its pointer and its bytes.
//!
//! Where it is lenient, the choice is one for all readers:
//!
//! - `NaN`, `Infinity` and `-Infinity` are numbers without a value; they are
//!   counted ([`Notes::non_finite`]).
//! - A lone surrogate escape, which the grammar allows and UTF-8 cannot hold, and
//!   bytes that are not UTF-8 become U+FFFD ([`Notes::lossy`]).
//! - Of repeated names every one is visited, in order; so the last one counts
//!   where the visitor keeps one.
//! - Numbers are never converted here: they may be of any size.
//!
//! Everything else that the grammar forbids is [`Fault::Syntax`]. Bytes that end
//! inside of a value are [`Fault::Ended`]: what is there might be the front of
//! something sound.

use alloc::borrow::Cow;
use alloc::string::String;

mod path;
mod skip;
mod text;

pub use path::Cite;
use path::Path;

/// Values inside of each other. Honest bodies stay far below; the bound keeps
/// the stack small.
pub const DEPTH_MAX: usize = 128;

/// Why text is not what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The bytes end before the value does.
    Ended,
    /// The grammar does not allow it.
    Syntax,
    /// It nests deeper than [`DEPTH_MAX`].
    TooDeep,
}

/// A result of reading.
pub type Result<T> = core::result::Result<T, Fault>;

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `{`
    Object,
    /// `[`
    Array,
    /// A string.
    Text,
    /// A number, also one without a value.
    Number,
    /// `true`
    True,
    /// `false`
    False,
    /// `null`
    Null,
}

/// Where something stands: [start, end), in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte behind the last one.
    pub end: usize,
}

impl Span {
    /// Returns the bytes of a span.
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start..self.end).unwrap_or_default()
    }
}

/// What had to be forgiven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Notes {
    /// Kept strings in which something was replaced by U+FFFD.
    pub lossy: u32,
    /// Numbers without a value that were passed over.
    pub non_finite: u32,
}

/// A string or a number that was kept, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cited<'a> {
    /// The decoded text of a string, or the digits of a number.
    pub text: Cow<'a, str>,
    /// With the quotation marks of a string.
    pub cite: Cite,
}

/// Where the text of a reader is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// It is the body, so positions are positions in the body.
    Body,
    /// It was decoded from the base64 text that stands here in the body, which is
    /// what is cited.
    Within(Span),
}

/// A position in JSON text.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
    depth: usize,
    /// Whether line ends are followed by the field names of an event stream.
    folded: bool,
    source: Source,
    path: Path,
    /// What had to be forgiven so far.
    pub notes: Notes,
}

impl<'a> Reader<'a> {
    /// Starts at the beginning of a span.
    pub fn new(bytes: &'a [u8], span: Span, source: Source) -> Self {
        let end = span.end.min(bytes.len());
        Self {
            bytes,
            at: span.start.min(end),
            end,
            depth: 0,
            folded: false,
            source,
            path: Path::default(),
            notes: Notes::default(),
        }
    }

    /// Starts at the beginning of a body.
    pub fn of_body(bytes: &'a [u8]) -> Self {
        let (start, end) = (0, bytes.len());
        Self::new(bytes, Span { start, end }, Source::Body)
    }

    /// Takes the field names of an event stream for white space: a value whose
    /// lines stand behind several `data:` fields.
    #[must_use]
    pub const fn folded(mut self) -> Self {
        self.folded = true;
        self
    }

    /// Returns the position.
    pub const fn position(&self) -> usize {
        self.at
    }

    /// Returns the rest of the text, from the position.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..self.end).unwrap_or_default()
    }

    /// Returns the kind of the next value, and stops before it.
    pub fn kind(&mut self) -> Result<Kind> {
        match self.next_token() {
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'"') => Ok(Kind::Text),
            Some(b'-' | b'0'..=b'9' | b'N' | b'I') => Ok(Kind::Number),
            Some(b't') => Ok(Kind::True),
            Some(b'f') => Ok(Kind::False),
            Some(b'n') => Ok(Kind::Null),
            None => Err(Fault::Ended),
            Some(_) => Err(Fault::Syntax),
        }
    }

    /// Returns whether nothing but white space follows.
    pub fn at_end(&mut self) -> bool {
        self.next_token().is_none()
    }

    /// Visits the members of an object. The visitor reads the value.
    pub fn object(&mut self, mut visit: impl FnMut(&mut Self, &str) -> Result<()>) -> Result<()> {
        self.visit_members(&mut visit)
    }

    /// One body for all visitors: a component is to be small.
    #[inline(never)]
    fn visit_members(
        &mut self,
        visit: &mut dyn FnMut(&mut Self, &str) -> Result<()>,
    ) -> Result<()> {
        self.open(b'{')?;
        if self.take(b'}') {
            self.depth -= 1;
            return Ok(());
        }
        loop {
            let name = self.text()?;
            self.expect(b':')?;
            self.path.push_name(name.span);
            visit(self, &name.decoded)?;
            self.path.pop();
            if !self.take(b',') {
                break;
            }
        }
        self.expect(b'}')?;
        self.depth -= 1;
        Ok(())
    }

    /// Visits the members if the next value is an object, and passes over it
    /// otherwise.
    pub fn members(&mut self, visit: impl FnMut(&mut Self, &str) -> Result<()>) -> Result<()> {
        if self.kind()? == Kind::Object {
            return self.object(visit);
        }
        self.skip().map(drop)
    }

    /// Visits the entries of an array. The visitor reads the value.
    pub fn array(&mut self, mut visit: impl FnMut(&mut Self, usize) -> Result<()>) -> Result<()> {
        self.visit_entries(&mut visit)
    }

    #[inline(never)]
    fn visit_entries(
        &mut self,
        visit: &mut dyn FnMut(&mut Self, usize) -> Result<()>,
    ) -> Result<()> {
        self.open(b'[')?;
        if self.take(b']') {
            self.depth -= 1;
            return Ok(());
        }
        let mut position = 0;
        loop {
            self.path.push_index(position);
            visit(self, position)?;
            self.path.pop();
            position += 1;
            if !self.take(b',') {
                break;
            }
        }
        self.expect(b']')?;
        self.depth -= 1;
        Ok(())
    }

    /// Visits the entries if the next value is an array, and passes over it
    /// otherwise.
    pub fn entries(&mut self, visit: impl FnMut(&mut Self, usize) -> Result<()>) -> Result<()> {
        if self.kind()? == Kind::Array {
            return self.array(visit);
        }
        self.skip().map(drop)
    }

    /// Reads a string with its place; any other value is passed over and is none.
    #[inline(never)]
    pub fn cited(&mut self) -> Result<Option<Cited<'a>>> {
        if self.kind()? != Kind::Text {
            self.skip()?;
            return Ok(None);
        }
        let text = self.text()?;
        self.notes.lossy += u32::from(text.lossy);
        Ok(Some(Cited {
            text: text.decoded,
            cite: self.cite(text.span),
        }))
    }

    /// Reads a string of at least one byte; anything else is none.
    #[inline(never)]
    pub fn filled(&mut self) -> Result<Option<Cited<'a>>> {
        Ok(self.cited()?.filter(|value| !value.text.is_empty()))
    }

    /// Reads a string of at least one byte or a number as a word.
    #[inline(never)]
    pub fn word(&mut self) -> Result<Option<Cited<'a>>> {
        if self.kind()? == Kind::Number {
            return self.source_text().map(Some);
        }
        self.filled()
    }

    /// Reads any value as the JSON text that it is.
    #[inline(never)]
    pub fn source_text(&mut self) -> Result<Cited<'a>> {
        let span = self.skip()?;
        let (text, lossy) = text::utf8(span.of(self.bytes));
        self.notes.lossy += u32::from(lossy);
        Ok(Cited {
            text,
            cite: self.cite(span),
        })
    }

    /// Reads `true` or `false`; any other value is passed over and is none.
    #[inline(never)]
    pub fn flag(&mut self) -> Result<Option<bool>> {
        let flag = match self.kind()? {
            Kind::True => Some(true),
            Kind::False => Some(false),
            Kind::Object | Kind::Array | Kind::Text | Kind::Number | Kind::Null => None,
        };
        self.skip()?;
        Ok(flag)
    }

    /// Reads a whole number that fits; any other value is passed over and is none.
    #[inline(never)]
    pub fn index(&mut self) -> Result<Option<u32>> {
        let span = self.skip()?;
        let digits = core::str::from_utf8(span.of(self.bytes));
        Ok(digits.ok().and_then(|digits| digits.parse().ok()))
    }

    /// Returns the string member of that name of the next value, which stays
    /// unread.
    #[inline(never)]
    pub fn peek(&self, wanted: &str) -> Option<Cow<'a, str>> {
        self.peek_before(wanted, "")
    }

    /// Returns the string member of that name of the next value, unless a member
    /// of another name stands before it.
    #[inline(never)]
    pub fn peek_before(&self, wanted: &str, last: &str) -> Option<Cow<'a, str>> {
        let mut ahead = self.clone();
        let mut found = None;
        // A fault behind what was wanted is found again by whoever reads on; the
        // one that is made here ends the search.
        let _ignored = ahead.members(|reader, name| {
            if name == wanted {
                found = reader.cited()?.map(|value| value.text);
                return Err(Fault::Syntax);
            }
            if name == last {
                return Err(Fault::Syntax);
            }
            reader.skip().map(drop)
        });
        found
    }

    /// Returns the next value if it is a string; it stays unread.
    #[inline(never)]
    pub fn peek_text(&self) -> Option<Cow<'a, str>> {
        let text = self.clone().text();
        text.ok().map(|text| text.decoded)
    }

    /// Returns the number of a member of the next value, which stays unread.
    #[inline(never)]
    pub fn peek_index(&self, wanted: &str) -> Option<u32> {
        let mut ahead = self.clone();
        let mut found = None;
        let _ignored = ahead.members(|reader, name| {
            if name != wanted {
                return reader.skip().map(drop);
            }
            found = reader.index()?;
            Err(Fault::Syntax)
        });
        found
    }

    /// Looks at the names of the members of the next value, which stays unread.
    #[inline(never)]
    pub fn names(&self, mut look: impl FnMut(&str)) {
        let mut ahead = self.clone();
        // A fault is found again by whoever reads on.
        let _ignored = ahead.members(|reader, name| {
            look(name);
            reader.skip().map(drop)
        });
    }

    /// Returns whether the next value is an object with a member of that name.
    #[inline(never)]
    pub fn has(&self, wanted: &str) -> bool {
        let mut ahead = self.clone();
        let mut found = false;
        let _ignored = ahead.members(|reader, name| {
            found = name == wanted;
            if found {
                return Err(Fault::Syntax);
            }
            reader.skip().map(drop)
        });
        found
    }

    /// Returns a citation of bytes at the current place.
    #[inline(never)]
    pub fn cite(&self, span: Span) -> Cite {
        match self.source {
            Source::Body => Cite {
                pointer: self.path.pointer(self.bytes),
                span,
            },
            Source::Within(span) => Cite {
                pointer: String::from("/bytes"),
                span,
            },
        }
    }

    /// Goes to the start of the next line, out of any value. Returns whether there
    /// is one.
    pub fn skip_line(&mut self) -> bool {
        self.depth = 0;
        self.path = Path::default();
        let rest = self.rest();
        let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        self.at += length;
        length < rest.len()
    }

    fn byte(&self) -> Option<u8> {
        if self.at >= self.end {
            return None;
        }
        self.bytes.get(self.at).copied()
    }

    /// Passes over white space and returns the byte after it.
    fn next_token(&mut self) -> Option<u8> {
        while let Some(byte) = self.byte() {
            match byte {
                b' ' | b'\t' => self.at += 1,
                b'\n' | b'\r' => {
                    self.at += 1;
                    if self.folded {
                        self.skip_field_name();
                    }
                }
                _ => return Some(byte),
            }
        }
        None
    }

    /// Passes over what stands before the value of a `data` field, and over whole
    /// lines of other fields.
    fn skip_field_name(&mut self) {
        let rest = self.rest();
        if let Some(value) = rest.strip_prefix(b"data:") {
            self.at += rest.len() - value.len();
        } else if [&b":"[..], b"event:", b"id:", b"retry:"]
            .iter()
            .any(|field| rest.starts_with(field))
        {
            self.at += memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        }
    }

    fn take(&mut self, expected: u8) -> bool {
        let found = self.next_token() == Some(expected);
        if found {
            self.at += 1;
        }
        found
    }

    fn expect(&mut self, expected: u8) -> Result<()> {
        match self.next_token() {
            Some(found) if found == expected => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(Fault::Syntax),
            None => Err(Fault::Ended),
        }
    }

    fn open(&mut self, bracket: u8) -> Result<()> {
        if self.depth >= DEPTH_MAX {
            return Err(Fault::TooDeep);
        }
        self.depth += 1;
        self.expect(bracket)
    }
}
