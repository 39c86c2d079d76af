//! The reasons of every dialect, and what decides between pieces of evidence.

use crate::common::{Seen, sse};

fn chat(reason: &str, message: &str) -> Seen {
    let body =
        format!(r#"{{"choices":[{{"index":0,"message":{message},"finish_reason":{reason}}}]}}"#);
    Seen::ok("openai.chat", body)
}

const TEXT: &str = r#"{"content":"Hi"}"#;
const CALL: &str =
    r#"{"content":null,"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}"#;

#[test]
fn every_word_of_the_chat_wire_means_what_the_table_says() {
    for (word, state, class) in [
        ("stop", "complete", None),
        ("eos", "complete", None),
        ("eos_token", "complete", None),
        ("stop_sequence", "complete", None),
        ("length", "truncated", None),
        ("model_length", "truncated", None),
        ("repetition", "truncated", None),
        ("content_filter", "filtered", None),
        ("sensitive", "filtered", None),
        ("refusal", "refused", None),
        ("tool_calls", "unknown", None),
        ("function_call", "unknown", None),
        ("error", "error", Some("unknown")),
        ("abort", "error", Some("cancelled")),
        ("network_error", "error", Some("server_error")),
        ("insufficient_system_resource", "error", Some("overloaded")),
        (
            "function_call_filter: MALFORMED_FUNCTION_CALL",
            "error",
            Some("malformed_output"),
        ),
        ("end_turn", "unknown", None),
        ("STOP", "unknown", None),
        ("Stop", "unknown", None),
        ("stop ", "unknown", None),
        ("zzz", "unknown", None),
    ] {
        assert_eq!(
            chat(&format!("{word:?}"), TEXT).verdict(),
            (state, class),
            "{word}"
        );
    }
    for reason in ["null", "7", "true", "{}", r#""""#, r#""null""#] {
        assert_eq!(chat(reason, TEXT).state(), "unknown", "{reason}");
    }
}

#[test]
fn what_the_model_says_decides_between_the_states_of_a_normal_end() {
    for (message, state) in [
        (TEXT, "complete"),
        (CALL, "tool_call"),
        (
            r#"{"content":"Hi","tool_calls":[{"id":"c","function":{"name":"f"}}]}"#,
            "tool_call",
        ),
        (r#"{"content":"Hi","refusal":"No."}"#, "refused"),
        (r#"{"content":null}"#, "empty"),
        (r#"{"content":""}"#, "empty"),
        (r#"{"content":" \n"}"#, "empty"),
        (r#"{"reasoning_content":"Hm."}"#, "empty"),
        (
            r#"{"content":null,"audio":{"id":"a","data":"UklG","transcript":"Hi"}}"#,
            "complete",
        ),
        (
            r#"{"content":null,"audio":{"data":"","transcript":""}}"#,
            "empty",
        ),
        (
            r#"{"content":null,"function_call":{"name":"","arguments":""}}"#,
            "empty",
        ),
        (
            r#"{"content":null,"function_call":{"name":"f","arguments":"{}"}}"#,
            "tool_call",
        ),
        (
            r#"{"content":[{"type":"thinking","thinking":"Hm."}]}"#,
            "empty",
        ),
        (r#"{"content":[{"type":"text","text":"Hi"}]}"#, "complete"),
    ] {
        assert_eq!(chat(r#""stop""#, message).state(), state, "{message}");
    }
    // A length or a filter outweighs everything that was said.
    assert_eq!(chat(r#""length""#, CALL).state(), "truncated");
    assert_eq!(chat(r#""content_filter""#, CALL).state(), "filtered");
    assert_eq!(
        chat(r#""length""#, r#"{"refusal":"No."}"#).state(),
        "truncated"
    );
    assert_eq!(chat(r#""tool_calls""#, CALL).state(), "tool_call");
}

fn messages(reason: &str) -> &'static str {
    let body = format!(
        r#"{{"type":"message","content":[{{"type":"text","text":"Hi"}}],"stop_reason":{reason}}}"#
    );
    Seen::ok("anthropic.messages", body).state()
}

#[test]
fn every_word_of_anthropic_means_what_the_table_says() {
    for (word, state) in [
        (r#""end_turn""#, "complete"),
        (r#""stop_sequence""#, "complete"),
        (r#""max_tokens""#, "truncated"),
        (r#""model_context_window_exceeded""#, "truncated"),
        (r#""tool_use""#, "unknown"),
        (r#""pause_turn""#, "paused"),
        (r#""compaction""#, "paused"),
        (r#""refusal""#, "refused"),
        (r#""stop""#, "unknown"),
        ("null", "unknown"),
        (r#""zzz""#, "unknown"),
    ] {
        assert_eq!(messages(word), state, "{word}");
    }
}

#[test]
fn every_word_of_gemini_means_what_the_table_says() {
    for (word, state, class) in [
        ("STOP", "complete", None),
        ("MAX_TOKENS", "truncated", None),
        ("SAFETY", "filtered", None),
        ("RECITATION", "filtered", None),
        ("LANGUAGE", "filtered", None),
        ("BLOCKLIST", "filtered", None),
        ("PROHIBITED_CONTENT", "filtered", None),
        ("SPII", "filtered", None),
        ("IMAGE_SAFETY", "filtered", None),
        ("IMAGE_PROHIBITED_CONTENT", "filtered", None),
        ("IMAGE_RECITATION", "filtered", None),
        ("MODEL_ARMOR", "filtered", None),
        ("ESCALATION", "filtered", None),
        ("MALFORMED_FUNCTION_CALL", "error", Some("malformed_output")),
        ("UNEXPECTED_TOOL_CALL", "error", Some("malformed_output")),
        ("MALFORMED_RESPONSE", "error", Some("malformed_output")),
        ("TOO_MANY_TOOL_CALLS", "error", Some("malformed_output")),
        (
            "MISSING_THOUGHT_SIGNATURE",
            "error",
            Some("invalid_request"),
        ),
        ("NO_IMAGE", "empty", None),
        ("OTHER", "unknown", None),
        ("IMAGE_OTHER", "unknown", None),
        ("FINISH_REASON_UNSPECIFIED", "unknown", None),
        ("stop", "unknown", None),
    ] {
        let body = format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"text":"Hi"}}]}},"finishReason":"{word}"}}]}}"#
        );
        let seen = Seen::ok("gemini.generate_content", body);
        assert_eq!(seen.verdict(), (state, class), "{word}");
    }
}

/// Words and their states.
type Rows = &'static [(&'static str, &'static str)];

/// A dialect, a body with a place for the word, and words with their states.
const OTHERS: &[(&str, &str, Rows)] = &[
    (
        "bedrock.converse",
        r#"{"output":{"message":{"content":[{"text":"Hi"}]}},"stopReason":"@"}"#,
        &[
            ("end_turn", "complete"),
            ("stop_sequence", "complete"),
            ("tool_use", "unknown"),
            ("max_tokens", "truncated"),
            ("model_context_window_exceeded", "truncated"),
            ("guardrail_intervened", "filtered"),
            ("content_filtered", "filtered"),
            ("malformed_model_output", "error"),
            ("malformed_tool_use", "error"),
            ("stop", "unknown"),
        ],
    ),
    (
        "cohere.v2.chat",
        r#"{"message":{"content":[{"type":"text","text":"Hi"}]},"finish_reason":"@"}"#,
        &[
            ("COMPLETE", "complete"),
            ("STOP_SEQUENCE", "complete"),
            ("MAX_TOKENS", "truncated"),
            ("TOOL_CALL", "unknown"),
            ("ERROR", "error"),
            ("TIMEOUT", "error"),
            ("complete", "unknown"),
        ],
    ),
    (
        "cohere.v1.chat",
        r#"{"text":"Hi","finish_reason":"@"}"#,
        &[
            ("COMPLETE", "complete"),
            ("ERROR_TOXIC", "filtered"),
            ("ERROR_LIMIT", "truncated"),
            ("USER_CANCEL", "error"),
        ],
    ),
    (
        "ollama.chat",
        r#"{"message":{"content":"Hi"},"done":true,"done_reason":"@"}"#,
        &[
            ("stop", "complete"),
            ("length", "truncated"),
            ("load", "empty"),
            ("unload", "empty"),
            ("", "unknown"),
            ("end", "unknown"),
        ],
    ),
    (
        "ollama.generate",
        r#"{"response":"Hi","done":true,"done_reason":"@"}"#,
        &[
            ("stop", "complete"),
            ("length", "truncated"),
            ("zzz", "unknown"),
        ],
    ),
    (
        "mistral.chat",
        r#"{"choices":[{"message":{"content":"Hi"},"finish_reason":"@"}]}"#,
        &[
            ("stop", "complete"),
            ("length", "truncated"),
            ("model_length", "truncated"),
            ("error", "error"),
            ("tool_calls", "unknown"),
            ("eos", "unknown"),
        ],
    ),
    (
        "openai.completions",
        r#"{"choices":[{"text":"Hi","finish_reason":"@"}]}"#,
        &[
            ("stop", "complete"),
            ("length", "truncated"),
            ("content_filter", "filtered"),
        ],
    ),
    (
        "anthropic.complete",
        r#"{"type":"completion","completion":"Hi","stop_reason":"@"}"#,
        &[
            ("stop_sequence", "complete"),
            ("max_tokens", "truncated"),
            ("stop", "unknown"),
        ],
    ),
    (
        "bedrock.invoke",
        r#"{"results":[{"outputText":"Hi","completionReason":"@"}]}"#,
        &[
            ("FINISH", "complete"),
            ("LENGTH", "truncated"),
            ("CONTENT_FILTERED", "filtered"),
            ("zzz", "unknown"),
        ],
    ),
];

#[test]
fn every_word_of_the_other_dialects_means_what_the_table_says() {
    for (dialect, frame, rows) in OTHERS.iter().copied() {
        for (word, state) in rows {
            let seen = Seen::ok(dialect, frame.replace('@', word));
            assert_eq!(seen.state(), *state, "{dialect} {word}");
        }
    }
}

fn response(status: &str, details: &str, output: &str) -> Seen {
    Seen::ok(
        "openai.responses",
        format!(r#"{{"status":{status},"incomplete_details":{details},"output":[{output}]}}"#),
    )
}

#[test]
fn the_status_of_a_response_decides_and_that_of_an_item_does_not() {
    const MESSAGE: &str =
        r#"{"type":"message","status":"completed","content":[{"type":"output_text","text":"Hi"}]}"#;
    const ITEM: &str = r#"{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}"#;
    const SEARCH: &str = r#"{"type":"web_search_call","status":"completed"}"#;
    const REFUSAL: &str = r#"{"type":"message","content":[{"type":"refusal","refusal":"No."}]}"#;
    let none = "null";
    for (status, details, output, state) in [
        (r#""completed""#, none, MESSAGE, "complete"),
        (r#""completed""#, none, ITEM, "tool_call"),
        (r#""completed""#, none, SEARCH, "empty"),
        (r#""completed""#, none, REFUSAL, "refused"),
        (r#""completed""#, none, "", "empty"),
        (
            r#""incomplete""#,
            r#"{"reason":"max_output_tokens"}"#,
            MESSAGE,
            "truncated",
        ),
        (
            r#""incomplete""#,
            r#"{"reason":"content_filter"}"#,
            MESSAGE,
            "filtered",
        ),
        (r#""incomplete""#, r#"{"reason":"zzz"}"#, MESSAGE, "unknown"),
        (r#""incomplete""#, none, MESSAGE, "unknown"),
        (
            r#""completed""#,
            r#"{"reason":"max_output_tokens"}"#,
            MESSAGE,
            "truncated",
        ),
        (r#""failed""#, none, MESSAGE, "error"),
        (r#""cancelled""#, none, MESSAGE, "error"),
        (r#""queued""#, none, "", "pending"),
        (r#""in_progress""#, none, MESSAGE, "pending"),
        (none, none, MESSAGE, "unknown"),
        (r#""zzz""#, none, MESSAGE, "unknown"),
    ] {
        assert_eq!(
            response(status, details, output).state(),
            state,
            "{status} {details}"
        );
    }
}

#[test]
fn of_several_reasons_the_least_favourable_counts() {
    let chunk = |reason: &str| {
        format!(
            r#"{{"choices":[{{"index":0,"delta":{{"content":"a"}},"finish_reason":{reason}}}]}}"#
        )
    };
    for (first, second, state) in [
        (r#""stop""#, r#""stop""#, "complete"),
        (r#""stop""#, r#""length""#, "truncated"),
        (r#""length""#, r#""stop""#, "truncated"),
        (r#""stop""#, r#""zzz""#, "unknown"),
        (r#""zzz""#, r#""stop""#, "unknown"),
        (r#""stop""#, "null", "complete"),
    ] {
        let body = sse(&[&chunk(first), &chunk(second), "[DONE]"]);
        assert_eq!(
            Seen::ok("openai.chat", body).state(),
            state,
            "{first} {second}"
        );
    }
    // Of repeated names, too.
    let twice = r#"{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop","finish_reason":"length"}]}"#;
    assert_eq!(Seen::ok("openai.chat", twice).state(), "truncated");
}

#[test]
fn a_blocked_prompt_is_filtered_and_its_reason_is_a_fact() {
    let body =
        r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":3}}"#;
    let seen = Seen::ok("gemini.generate_content", body);
    assert_eq!(seen.state(), "filtered");
    assert!(seen.has_fact("block_reason"));
}

#[test]
fn what_has_nothing_of_the_dialect_is_a_malformed_body() {
    for body in [
        "{}",
        r#"{"foo":1}"#,
        "[]",
        "[1]",
        "7",
        r#""text""#,
        "null",
        "",
        "  \n",
        "<html>",
    ] {
        for dialect in wire::Dialect::ALL {
            let seen = Seen::ok(dialect.as_str(), body);
            let wanted = ("error", Some("malformed_body"));
            assert_eq!(seen.verdict(), wanted, "{body} {}", dialect.as_str());
        }
    }
}

#[test]
fn a_dialect_that_is_not_known_is_unknown_and_nothing_else() {
    let seen = Seen::ok("unknown", r#"{"choices":[{"finish_reason":"stop"}]}"#);
    assert_eq!(seen.verdict(), ("unknown", None));
    for (old, new) in [
        ("chat_completions", "openai.chat"),
        ("responses", "openai.responses"),
        ("messages", "anthropic.messages"),
    ] {
        assert_eq!(wire::Dialect::of(old), wire::Dialect::of(new));
    }
}
