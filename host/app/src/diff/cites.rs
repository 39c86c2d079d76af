//! The bytes that a reading cites, as they stand in the decoded body.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::reading::Reading;
use serde::Serialize;

/// Citations of one field that are shown.
const SHOWN_MAX: usize = 3;

/// Bytes of one citation that are shown.
const BYTES_MAX: usize = 120;

/// Bytes that a reading cites.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CitedBytes {
    /// The field of the reading.
    pub field: String,
    /// JSON pointer within the document that the bytes are of.
    pub pointer: String,
    /// The first byte, in the decoded body.
    pub start: u64,
    /// The byte behind the last one.
    pub end: u64,
    /// The bytes where they are text, at most 120 of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The bytes where they are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// How many further citations the field has; only on the last that is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<u64>,
}

/// Returns what a reading cites for some of its fields, and for its state and reason.
pub(super) fn of(reading: &Reading, decoded: &[u8], fields: &[&'static str]) -> Vec<CitedBytes> {
    let wanted = |field: &str| {
        let group = field.split('.').next().unwrap_or_default();
        matches!(field, "generation_state" | "provider_reason")
            || fields.contains(&field)
            || (matches!(group, "tool_calls" | "choices") && fields.contains(&group))
    };
    let mut shown: Vec<CitedBytes> = Vec::new();
    let mut of_field = 0;
    for citation in reading.citations.iter().filter(|one| wanted(&one.field)) {
        match shown.last_mut() {
            Some(last) if last.field == citation.field => {
                of_field += 1;
                if of_field > SHOWN_MAX {
                    *last.more.get_or_insert(0) += 1;
                    continue;
                }
            }
            Some(_) | None => of_field = 1,
        }
        let position = |position: u64| usize::try_from(position).unwrap_or(usize::MAX);
        let bytes = decoded.get(position(citation.start)..position(citation.end));
        let (text, base64) = shortened(bytes.unwrap_or_default());
        shown.push(CitedBytes {
            field: citation.field.clone(),
            pointer: citation.pointer.clone(),
            start: citation.start,
            end: citation.end,
            text,
            base64,
            more: None,
        });
    }
    shown
}

/// Returns the front of bytes, as text where they are text.
fn shortened(bytes: &[u8]) -> (Option<String>, Option<String>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            let end = text.floor_char_boundary(BYTES_MAX);
            (text.get(..end).map(str::to_owned), None)
        }
        Err(_not_text) => {
            let front = bytes.get(..BYTES_MAX).unwrap_or(bytes);
            (None, Some(STANDARD.encode(front)))
        }
    }
}
