//! The bytes of a body, in either of the two forms that a line gives them in.

use base64::DecodeError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::bounds::BODY_BYTES_MAX;

use super::error::{Base64Fault, LineError};
use super::json::Member;

/// The longest base64 text of a body within its bound.
const BASE64_BYTES_MAX: usize = BODY_BYTES_MAX.div_ceil(3) * 4;

/// Returns the body that `b64` or `utf8` gives, none when both are null or absent.
/// An empty string is a body of no bytes.
pub(crate) fn read(
    object: &'static str,
    b64: Member<'_>,
    utf8: Member<'_>,
) -> Result<Option<Vec<u8>>, LineError> {
    let encoded = b64.string("a string of base64 or null", BASE64_BYTES_MAX);
    // The bound is on the bytes, so that is what the error names.
    if matches!(encoded, Err(LineError::TooLong { .. })) {
        return Err(too_long(b64));
    }
    let encoded = encoded?;
    let text = utf8.string("a string or null", BODY_BYTES_MAX)?;
    match (encoded, text) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(LineError::TwoBodies { object }),
        (None, Some(text)) => Ok(Some(text.into_owned().into_bytes())),
        (Some(encoded), None) => {
            let decoded = STANDARD.decode(encoded.as_bytes());
            let bytes = decoded.map_err(|error| LineError::NotBase64 {
                field: b64.field,
                fault: fault(&error),
            })?;
            if bytes.len() > BODY_BYTES_MAX {
                return Err(too_long(b64));
            }
            Ok(Some(bytes))
        }
    }
}

fn too_long(member: Member<'_>) -> LineError {
    LineError::TooLong {
        field: member.field,
        limit: BODY_BYTES_MAX,
    }
}

/// Returns what is wrong, without the character, which is text of the line.
pub(crate) fn fault(error: &DecodeError) -> Base64Fault {
    match *error {
        DecodeError::InvalidByte(offset, _) => Base64Fault::Character {
            position: offset + 1,
        },
        DecodeError::InvalidLength(_) => Base64Fault::Length,
        DecodeError::InvalidLastSymbol { .. } => Base64Fault::SpareBits,
        DecodeError::InvalidPadding => Base64Fault::Padding,
    }
}
