//! Texts that people choose and that end in events: bounded, and on one line.

use model::bounds::NAME_BYTES_MAX;

use crate::error::AppError;

/// Refuses a text that is empty, passes its bound or holds control characters.
pub(crate) fn check(what: &str, text: &str) -> Result<(), AppError> {
    let found = if text.is_empty() {
        "none".to_owned()
    } else if text.len() > NAME_BYTES_MAX {
        text.len().to_string()
    } else if text.chars().any(char::is_control) {
        "one".to_owned()
    } else {
        return Ok(());
    };
    Err(AppError::Usage(format!(
        "{what}: expected 1 to {NAME_BYTES_MAX} bytes without control characters, found {found}"
    )))
}
