//! What a body says, before any rule is applied to it.
//!
//! Of repeated names the last one counts, as in the parser that the historical
//! rules were written for. A member of an unexpected type counts as absent; only
//! text that is no JSON object makes a body malformed.

use alloc::borrow::Cow;
use alloc::format;
use alloc::vec::Vec;

use crate::dialect;
use crate::errors::ErrorBody;
use crate::json::{Kind, Malformed, Reader, Span};
use crate::observation::Dialect;
use crate::reading::{ToolCall, Usage};

/// The members of a body that a reading needs.
#[derive(Debug, Default)]
pub(crate) struct Body<'a> {
    pub(crate) error: Option<ErrorBody<'a>>,
    pub(crate) model: Option<Cow<'a, str>>,
    pub(crate) response_id: Option<Cow<'a, str>>,
    pub(crate) usage: Usage,
    /// In the order of the body; a dialect without choices has exactly one.
    pub(crate) choices: Vec<Spoken<'a>>,
    /// Whether a lone surrogate was replaced.
    pub(crate) lossy: bool,
}

/// What one choice says.
#[derive(Debug, Default)]
pub(crate) struct Spoken<'a> {
    pub(crate) index: Option<u32>,
    pub(crate) reason: Option<Reason<'a>>,
    pub(crate) output: Output<'a>,
    pub(crate) tool_calls: Vec<ToolCall<'a>>,
    pub(crate) refusal: Option<Cow<'a, str>>,
}

/// The provider's own word about the end of the output.
#[derive(Debug)]
pub(crate) struct Reason<'a> {
    pub(crate) word: Cow<'a, str>,
    pub(crate) source: &'static str,
    pub(crate) span: Span,
}

/// Text that may come in pieces.
#[derive(Debug, Default)]
pub(crate) struct Output<'a> {
    pub(crate) text: Option<Cow<'a, str>>,
    /// Where the text stands, when it is one JSON string.
    pub(crate) place: Option<Place>,
}

/// Where one JSON string stands.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) pointer: Pointer,
    pub(crate) span: Span,
}

/// The pointer of a text, written out only when it is cited.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pointer {
    /// `/choices/0/message/content`
    Content,
    /// `/choices/0/message/content/<part>/text`
    ContentPart(usize),
    /// `/output/<item>/content/<block>/text`
    OutputBlock(usize, usize),
    /// `/content/<block>/text`
    Block(usize),
}

impl Pointer {
    pub(crate) fn written(self) -> Cow<'static, str> {
        match self {
            Self::Content => Cow::Borrowed("/choices/0/message/content"),
            Self::ContentPart(part) => {
                Cow::Owned(format!("/choices/0/message/content/{part}/text"))
            }
            Self::OutputBlock(item, block) => {
                Cow::Owned(format!("/output/{item}/content/{block}/text"))
            }
            Self::Block(block) => Cow::Owned(format!("/content/{block}/text")),
        }
    }
}

impl<'a> Output<'a> {
    /// Adds a piece. Empty pieces are no text and are not cited.
    pub(crate) fn push(&mut self, piece: Cow<'a, str>, span: Span, pointer: Pointer) {
        if piece.is_empty() {
            return;
        }
        match &mut self.text {
            None => {
                self.text = Some(piece);
                self.place = Some(Place { pointer, span });
            }
            Some(text) => {
                text.to_mut().push_str(&piece);
                self.place = None;
            }
        }
    }

    /// Returns whether there is text. Blank text is text: the historical rules asked
    /// only whether it was there.
    pub(crate) fn has_text(&self) -> bool {
        self.text.as_deref().is_some_and(|text| !text.is_empty())
    }

    /// Returns whether there is no text but blanks.
    pub(crate) fn is_blank(&self) -> bool {
        self.text
            .as_deref()
            .is_none_or(|text| text.trim().is_empty())
    }
}

/// Reads the body of a dialect in one pass.
pub(crate) fn read(dialect: Dialect, bytes: &[u8]) -> Result<Body<'_>, Malformed> {
    let mut reader = start(bytes)?;
    let body = match dialect {
        Dialect::Chat => dialect::chat::read(&mut reader)?,
        Dialect::Responses => dialect::responses::read(&mut reader)?,
        Dialect::Messages => dialect::messages::read(&mut reader)?,
    };
    reader.end()?;
    Ok(body)
}

/// Starts to read bytes that should be one JSON object.
pub(crate) fn start(bytes: &[u8]) -> Result<Reader<'_>, Malformed> {
    let mut reader = Reader::of_bytes(bytes)?;
    if reader.kind()? == Kind::Object {
        return Ok(reader);
    }
    reader.skip()?;
    reader.end()?;
    Err(Malformed::NotAnObject)
}

/// Reads a string with its place; any other value counts as absent.
pub(crate) fn placed_text<'a>(
    reader: &mut Reader<'a>,
    lossy: &mut bool,
) -> Result<Option<(Cow<'a, str>, Span)>, Malformed> {
    if reader.kind()? != Kind::Text {
        reader.skip()?;
        return Ok(None);
    }
    let text = reader.text()?;
    *lossy |= text.lossy;
    Ok(Some((text.decoded, text.span)))
}

/// Reads a string; any other value counts as absent.
pub(crate) fn text<'a>(
    reader: &mut Reader<'a>,
    lossy: &mut bool,
) -> Result<Option<Cow<'a, str>>, Malformed> {
    Ok(placed_text(reader, lossy)?.map(|(text, _)| text))
}

/// Reads the provider's word.
pub(crate) fn reason<'a>(
    reader: &mut Reader<'a>,
    source: &'static str,
    lossy: &mut bool,
) -> Result<Option<Reason<'a>>, Malformed> {
    let placed = placed_text(reader, lossy)?;
    Ok(placed.map(|(word, span)| Reason { word, source, span }))
}

/// Reads the arguments of a call: a string's text, or any other value's JSON text.
pub(crate) fn arguments<'a>(
    reader: &mut Reader<'a>,
    lossy: &mut bool,
) -> Result<Cow<'a, str>, Malformed> {
    if reader.kind()? == Kind::Text {
        return Ok(text(reader, lossy)?.unwrap_or_default());
    }
    Ok(Cow::Borrowed(reader.raw()?))
}

/// Visits the members of an object; any other value has none.
pub(crate) fn members<'a>(
    reader: &mut Reader<'a>,
    visit: impl FnMut(&mut Reader<'a>, &str) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    if reader.kind()? == Kind::Object {
        return reader.object(visit);
    }
    reader.skip().map(drop)
}

/// Visits the entries of an array; any other value has none.
pub(crate) fn entries<'a>(
    reader: &mut Reader<'a>,
    visit: impl FnMut(&mut Reader<'a>, usize) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    if reader.kind()? == Kind::Array {
        return reader.array(visit);
    }
    reader.skip().map(drop)
}
