//! What a choice's text and the provider's word say of the output.

use crate::body::Spoken;
use crate::dialect::responses;
use crate::observation::Dialect;
use crate::reading::GenerationState;

/// A state with the name of the rule that gave it.
pub(crate) type Conclusion = (GenerationState, &'static str);

/// The rule of a success without output.
pub(crate) const NO_TEXT: &str = "no_text";

/// `completion-legacy-acceptance-v1`: text means complete.
pub(crate) const fn legacy(has_text: bool) -> Conclusion {
    if has_text {
        (GenerationState::Complete, "text_means_complete")
    } else {
        (GenerationState::Empty, NO_TEXT)
    }
}

/// `completion-map-v1`: the provider's word decides, and what it does not decide
/// is unknown. No word makes missing text complete.
pub(crate) fn mapped(dialect: Dialect, spoken: &Spoken<'_>) -> Conclusion {
    let Some(reason) = &spoken.reason else {
        return (GenerationState::Unknown, "completion_map_v1:no_reason");
    };
    let conclusion = lookup(dialect, reason.source, &reason.word);
    if conclusion.0 == GenerationState::Complete && !spoken.output.has_text() {
        return (GenerationState::Empty, NO_TEXT);
    }
    conclusion
}

fn lookup(dialect: Dialect, source: &str, word: &str) -> Conclusion {
    use GenerationState::{Complete, Filtered, Truncated, Unknown};
    match (dialect, word) {
        (Dialect::Chat, "stop") => (Complete, "completion_map_v1:stop"),
        (Dialect::Chat, "length") => (Truncated, "completion_map_v1:length"),
        (Dialect::Chat, "content_filter") => (Filtered, "completion_map_v1:content_filter"),
        (Dialect::Messages, "end_turn") => (Complete, "completion_map_v1:end_turn"),
        (Dialect::Messages, "max_tokens") => (Truncated, "completion_map_v1:max_tokens"),
        (Dialect::Responses, "completed") if source == responses::STATUS_SOURCE => {
            (Complete, "completion_map_v1:completed")
        }
        (Dialect::Responses, "max_output_tokens") if source == responses::INCOMPLETE_SOURCE => {
            (Truncated, "completion_map_v1:max_output_tokens")
        }
        (Dialect::Responses, "content_filter") if source == responses::INCOMPLETE_SOURCE => {
            (Filtered, "completion_map_v1:content_filter")
        }
        _ => (Unknown, "completion_map_v1:unmapped"),
    }
}
