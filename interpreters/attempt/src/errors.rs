//! The provider's own words about a failure, and the classes of failures.

use alloc::borrow::Cow;

use crate::body::{start, text};
use crate::json::{Kind, Malformed, Reader};
use crate::reading::{Basis, BasisKind, ErrorClass};

/// What a body's `error` member says.
#[derive(Debug, Default)]
pub(crate) struct ErrorBody<'a> {
    pub(crate) code: Option<Cow<'a, str>>,
    pub(crate) message: Option<Cow<'a, str>>,
}

/// Bytes of a body that signatures are looked for in.
const SIGNATURE_BYTES_MAX: usize = 64 << 10;

/// Reads the value of an `error` member: none for null, otherwise what it says.
pub(crate) fn read<'a>(
    reader: &mut Reader<'a>,
    lossy: &mut bool,
) -> Result<Option<ErrorBody<'a>>, Malformed> {
    let kind = reader.kind()?;
    match kind {
        Kind::Object => error_object(reader, lossy).map(Some),
        Kind::Text => Ok(Some(ErrorBody {
            code: None,
            message: text(reader, lossy)?,
        })),
        Kind::Null => reader.skip().map(|_| None),
        Kind::Array | Kind::Number | Kind::True | Kind::False => {
            reader.skip().map(|_| Some(ErrorBody::default()))
        }
    }
}

fn error_object<'a>(reader: &mut Reader<'a>, lossy: &mut bool) -> Result<ErrorBody<'a>, Malformed> {
    let mut code = None;
    let mut kind = None;
    let mut message = None;
    reader.object(|reader, name| {
        match name {
            "code" => code = word(reader, lossy)?,
            "type" => kind = word(reader, lossy)?,
            "message" => message = text(reader, lossy)?,
            _ => drop(reader.skip()?),
        }
        Ok(())
    })?;
    Ok(ErrorBody {
        code: code.or(kind),
        message,
    })
}

/// Reads a string or a number as a word.
fn word<'a>(reader: &mut Reader<'a>, lossy: &mut bool) -> Result<Option<Cow<'a, str>>, Malformed> {
    if reader.kind()? == Kind::Number {
        return Ok(Some(Cow::Borrowed(reader.raw()?)));
    }
    text(reader, lossy)
}

/// Reads the `error` member of the body of a failure, in any dialect. A body
/// that is no JSON object says nothing.
pub(crate) fn of_failure<'a>(bytes: &'a [u8], lossy: &mut bool) -> ErrorBody<'a> {
    let mut found = None;
    let mut replaced = false;
    let whole = start(bytes).and_then(|mut reader| {
        reader.object(|reader, name| {
            if name == "error" {
                found = read(reader, &mut replaced)?;
                return Ok(());
            }
            reader.skip().map(drop)
        })?;
        reader.end()
    });
    if whole.is_err() {
        return ErrorBody::default();
    }
    *lossy |= replaced;
    found.unwrap_or_default()
}

const fn status_only(detail: &'static str) -> Basis {
    Basis {
        kind: BasisKind::StatusOnly,
        detail,
    }
}

const fn signature(detail: &'static str) -> Basis {
    Basis {
        kind: BasisKind::BodySignature,
        detail,
    }
}

/// `error-classifier-v1`: the status alone.
pub(crate) const fn classify_v1(status: u16) -> (ErrorClass, Basis) {
    match status {
        401 | 403 => (
            ErrorClass::AuthenticationError,
            status_only("authentication_status"),
        ),
        429 => (ErrorClass::RateLimited, status_only("status_429")),
        _ => (ErrorClass::ProviderError, status_only("other_status")),
    }
}

/// `error-classifier-v2`: the status, and two signatures of bodies. A bare 403
/// proves refusal, not invalid credentials; no status is a diagnosis of a route.
pub(crate) fn classify_v2(status: u16, text: &[u8]) -> (ErrorClass, Basis) {
    match status {
        400 if contains(text, b"MissingSessionID") => (
            ErrorClass::InvalidRequest,
            signature("missing_session_id_v1"),
        ),
        400 => (ErrorClass::InvalidRequest, status_only("status_400")),
        401 => (ErrorClass::AuthenticationError, status_only("status_401")),
        403 if contains(text, b"error code: 1010") => {
            (ErrorClass::EdgeRejected, signature("cloudflare_1010_v1"))
        }
        403 => (ErrorClass::ProviderError, status_only("status_403")),
        429 => (ErrorClass::RateLimited, status_only("status_429")),
        _ => (ErrorClass::ProviderError, status_only("other_status")),
    }
}

/// The signatures are ASCII, so looking in the bytes finds what looking in the
/// decoded text would.
fn contains(text: &[u8], signature: &[u8]) -> bool {
    text.get(..SIGNATURE_BYTES_MAX)
        .unwrap_or(text)
        .windows(signature.len())
        .any(|window| window == signature)
}

/// The exception types that v2 takes for a timeout.
pub(crate) const TIMEOUT_TYPES: [&str; 5] = [
    "TimeoutError",
    "TimeoutExpired",
    "ConnectTimeout",
    "ReadTimeout",
    "Timeout",
];
