//! The completion map of version 2, and what version 1 makes of the same bodies.

use attempt::reading::Reading;
use attempt::{Interpreter, interpret};

use crate::common::{conclusion, success};

fn body(dialect: &str, text: &str, reason: &str) -> String {
    match dialect {
        "openai.chat" => format!(
            r#"{{"choices":[{{"message":{{"content":"{text}"}},"finish_reason":{reason}}}]}}"#
        ),
        "anthropic.messages" => {
            format!(r#"{{"content":[{{"type":"text","text":"{text}"}}],"stop_reason":{reason}}}"#)
        }
        "responses:status" => format!(
            r#"{{"status":{reason},"incomplete_details":null,"output":[{{"type":"message","content":[{{"type":"output_text","text":"{text}"}}]}}]}}"#
        ),
        "responses:incomplete" => format!(
            r#"{{"status":"incomplete","incomplete_details":{{"reason":{reason}}},"output":[{{"type":"message","content":[{{"type":"output_text","text":"{text}"}}]}}]}}"#
        ),
        other => panic!("unknown dialect {other}"),
    }
}

fn dialect_name(dialect: &str) -> &str {
    if dialect.starts_with("responses") {
        "openai.responses"
    } else {
        dialect
    }
}

fn check(
    dialect: &str,
    text: &str,
    reason: &str,
    version: Interpreter,
    claim: impl Fn(&Reading<'_>),
) {
    let body = body(dialect, text, reason);
    let observation = success(dialect_name(dialect), body.as_bytes());
    claim(&interpret(version, &observation));
}

const MAP: [(&str, &str, &str, &str); 8] = [
    (
        "openai.chat",
        "stop",
        "complete",
        "/choices/0/finish_reason",
    ),
    (
        "openai.chat",
        "length",
        "truncated",
        "/choices/0/finish_reason",
    ),
    (
        "openai.chat",
        "content_filter",
        "filtered",
        "/choices/0/finish_reason",
    ),
    ("anthropic.messages", "end_turn", "complete", "/stop_reason"),
    (
        "anthropic.messages",
        "max_tokens",
        "truncated",
        "/stop_reason",
    ),
    ("responses:status", "completed", "complete", "/status"),
    (
        "responses:incomplete",
        "max_output_tokens",
        "truncated",
        "/incomplete_details/reason",
    ),
    (
        "responses:incomplete",
        "content_filter",
        "filtered",
        "/incomplete_details/reason",
    ),
];

#[test]
fn each_of_the_8_mapped_reasons_gives_its_state() {
    for (dialect, reason, state, source) in MAP {
        check(
            dialect,
            "some text",
            &format!("\"{reason}\""),
            Interpreter::V2,
            |reading| {
                assert_eq!(reading.provider_reason.as_deref(), Some(reason));
                assert_eq!(reading.provider_reason_source, Some(source));
                let rule = format!("completion_map_v1:{reason}");
                assert_eq!(
                    conclusion(reading),
                    (state, None, "generation_state", rule.as_str())
                );
            },
        );
    }
}

#[test]
fn without_text_only_complete_becomes_empty() {
    for (dialect, reason, state, _) in MAP {
        check(
            dialect,
            "",
            &format!("\"{reason}\""),
            Interpreter::V2,
            |reading| {
                let rule = format!("completion_map_v1:{reason}");
                let expected = match state {
                    "complete" => ("empty", Some("empty_output"), "generation_state", "no_text"),
                    other => (other, None, "generation_state", rule.as_str()),
                };
                assert_eq!(conclusion(reading), expected, "{dialect} {reason}");
            },
        );
    }
}

const UNMAPPED: [(&str, &[&str]); 4] = [
    (
        "openai.chat",
        &[
            "tool_calls",
            "function_call",
            "zzz",
            "",
            "STOP",
            "end_turn",
            "completed",
            "max_tokens",
        ],
    ),
    (
        "anthropic.messages",
        &[
            "tool_use",
            "stop_sequence",
            "refusal",
            "pause_turn",
            "zzz",
            "stop",
            "model_context_window_exceeded",
        ],
    ),
    (
        "responses:status",
        &[
            "failed",
            "incomplete",
            "cancelled",
            "queued",
            "in_progress",
            "zzz",
            "max_output_tokens",
            "content_filter",
        ],
    ),
    ("responses:incomplete", &["completed", "zzz", "max_tokens"]),
];

#[test]
fn an_unmapped_reason_is_unknown_and_kept_verbatim() {
    for (dialect, reasons) in UNMAPPED {
        for reason in reasons {
            for text in ["some text", ""] {
                check(
                    dialect,
                    text,
                    &format!("\"{reason}\""),
                    Interpreter::V2,
                    |reading| {
                        assert_eq!(reading.provider_reason.as_deref(), Some(*reason));
                        let rule = "completion_map_v1:unmapped";
                        let expected = ("unknown", None, "generation_state", rule);
                        assert_eq!(conclusion(reading), expected, "{dialect} {reason}");
                    },
                );
            }
        }
    }
}

#[test]
fn a_reason_of_another_type_is_none() {
    for dialect in ["openai.chat", "anthropic.messages", "responses:status"] {
        for reason in ["null", "7", "true", r#"["stop"]"#, r#"{"reason":"stop"}"#] {
            check(dialect, "some text", reason, Interpreter::V2, |reading| {
                assert_eq!(reading.provider_reason, None);
                assert_eq!(reading.provider_reason_source, None);
                let expected = (
                    "unknown",
                    None,
                    "generation_state",
                    "completion_map_v1:no_reason",
                );
                assert_eq!(conclusion(reading), expected, "{dialect} {reason}");
            });
        }
    }
}

#[test]
fn without_a_usable_detail_the_status_of_a_response_counts() {
    for detail in ["null", "7", "[]"] {
        check(
            "responses:incomplete",
            "some text",
            detail,
            Interpreter::V2,
            |reading| {
                assert_eq!(reading.provider_reason.as_deref(), Some("incomplete"));
                assert_eq!(reading.provider_reason_source, Some("/status"));
                assert_eq!(reading.generation_state.as_str(), "unknown");
            },
        );
    }
}

#[test]
fn for_version_1_text_means_complete_whatever_the_reason() {
    let mapped = MAP.iter().map(|(dialect, reason, ..)| (*dialect, *reason));
    let unmapped = UNMAPPED
        .iter()
        .flat_map(|(dialect, reasons)| reasons.iter().map(|reason| (*dialect, *reason)));
    for (dialect, reason) in mapped.chain(unmapped) {
        let quoted = format!("\"{reason}\"");
        check(dialect, "some text", &quoted, Interpreter::V1, |reading| {
            let expected = ("complete", None, "generation_state", "text_means_complete");
            assert_eq!(conclusion(reading), expected, "{dialect} {reason}");
            assert_eq!(reading.provider_reason.as_deref(), Some(reason));
        });
        let none = ("empty", Some("empty_output"), "generation_state", "no_text");
        let some = ("complete", None, "generation_state", "text_means_complete");
        // Only the messages dialect took blank text for none.
        let blank = if dialect.starts_with("anthropic") {
            none
        } else {
            some
        };
        for (text, expected) in [("", none), ("  \\n\\t", blank)] {
            check(dialect, text, &quoted, Interpreter::V1, |reading| {
                assert_eq!(conclusion(reading), expected, "{dialect} {reason}");
            });
        }
    }
}
