//! Why a line is refused.

use std::fmt;

use model::exchange::TransportOutcome;

use super::LINE_BYTES_MAX;
use super::json::NESTING_MAX;
use crate::endpoint::EndpointError;

/// Why a line is not an exchange.
///
/// Holds names, numbers and words of ours, never text of the line: a line may
/// hold credentials, and an error ends in terminals and logs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// The line passes its bound.
    #[error("the line: expected at most {LINE_BYTES_MAX} bytes, found {found}")]
    LineTooLong {
        /// The bytes of the line.
        found: usize,
    },
    /// The line is not text.
    #[error("the line: expected UTF-8, found another byte at column {column}")]
    NotUtf8 {
        /// The place in the line, in bytes from 1.
        column: usize,
    },
    /// The line is not JSON.
    #[error("the line: expected JSON, found {fault} at column {column}")]
    NotJson {
        /// What is wrong with it.
        fault: JsonFault,
        /// The place in the line, in bytes from 1.
        column: usize,
    },
    /// The line is JSON, but not an object.
    #[error("the line: expected an object, found {found}")]
    NotObject {
        /// What the line is.
        found: JsonType,
    },
    /// A member that is ignored nests too deep.
    #[error("the line: expected at most {NESTING_MAX} levels in a member, found more")]
    TooDeep,
    /// A member is missing or has another type.
    #[error("`{field}`: expected {expected}, found {found}")]
    WrongType {
        /// The member.
        field: &'static str,
        /// What it may be.
        expected: &'static str,
        /// What it is.
        found: JsonType,
    },
    /// A text or number has the right type and is still not what was expected.
    #[error("`{field}`: expected {expected}, found another {found}")]
    WrongValue {
        /// The member.
        field: &'static str,
        /// What it may be.
        expected: &'static str,
        /// `text` or `number`.
        found: &'static str,
    },
    /// A word is not one of a closed list.
    #[error("`{field}`: expected one of {}, found another text", accepted.join(", "))]
    UnknownWord {
        /// The member.
        field: &'static str,
        /// The whole list.
        accepted: Vec<&'static str>,
    },
    /// A member stands twice in its object, so it is open which one was recorded.
    #[error("`{field}`: expected one member of this name, found more")]
    Duplicate {
        /// The member.
        field: &'static str,
    },
    /// A string holds half a surrogate pair, which no bytes stand for.
    #[error("`{field}`: expected Unicode text, found the escape of a lone surrogate")]
    LoneSurrogate {
        /// The member.
        field: &'static str,
    },
    /// A text or body passes its bound.
    #[error("`{field}`: expected at most {limit} bytes, found more")]
    TooLong {
        /// The member.
        field: &'static str,
        /// The bound.
        limit: usize,
    },
    /// Both forms of one body are given.
    #[error("`{object}`: expected `body_b64` or `body_utf8`, found both")]
    TwoBodies {
        /// `request` or `response`.
        object: &'static str,
    },
    /// A body is not what base64 writes.
    #[error("`{field}`: expected standard base64 with padding, found {fault}")]
    NotBase64 {
        /// The member.
        field: &'static str,
        /// What is wrong with it.
        fault: Base64Fault,
    },
    /// The path names no endpoint.
    #[error("`request.path`: {0}")]
    Path(EndpointError),
    /// A response header is not what was expected.
    #[error("`{field}`: entry {entry}: expected {expected}, found {found}")]
    Header {
        /// The member that holds the headers.
        field: &'static str,
        /// Its place among the entries, from 1.
        entry: usize,
        /// What it may be.
        expected: &'static str,
        /// What it is.
        found: HeaderFound,
    },
    /// A body stands without a status, and nothing says that the response broke off.
    #[error(
        "`response.status`: expected an integer from 100 to 599 beside a body unless `outcome` \
         is `interrupted`, found none"
    )]
    BodyWithoutStatus,
    /// The given outcome contradicts the response.
    #[error("`outcome`: {} expects {expected}, found {found}", outcome.as_str())]
    OutcomeDisagrees {
        /// The outcome.
        outcome: TransportOutcome,
        /// What it needs.
        expected: &'static str,
        /// What the line gives.
        found: &'static str,
    },
    /// An exception stands beside a response that arrived whole.
    #[error(
        "`exception_type`: expected null unless the outcome is no_response or interrupted, found \
         one with {}", outcome.as_str()
    )]
    ExceptionDisagrees {
        /// The outcome, given or derived.
        outcome: TransportOutcome,
    },
}

/// A type of JSON, or nothing where a member is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonType {
    /// The member is absent.
    Nothing,
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl fmt::Display for JsonType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "nothing",
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        })
    }
}

/// What is wrong with JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JsonFault {
    /// A character that cannot stand there.
    #[error("a syntax error")]
    Syntax,
    /// The text ends too early.
    #[error("the end of the line")]
    End,
}

/// What is wrong with base64 text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Base64Fault {
    /// A character is outside the alphabet, or `=` stands before the end.
    #[error("another character at position {position}")]
    Character {
        /// From 1.
        position: usize,
    },
    /// The number of characters cannot be that of any bytes.
    #[error("a length that no bytes have")]
    Length,
    /// `=` is missing at the end, or there are too many.
    #[error("wrong padding at the end")]
    Padding,
    /// The last character carries bits that belong to no byte.
    #[error("spare bits in the last character")]
    SpareBits,
}

/// What stands in place of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeaderFound {
    /// Another type of JSON.
    #[error("{0}")]
    Type(JsonType),
    /// An array with fewer or more than two elements.
    #[error("an array of another length")]
    Length,
    /// A name that holds other characters.
    #[error("another text")]
    Name,
    /// A name that stands in the object already.
    #[error("it again")]
    Again,
}
