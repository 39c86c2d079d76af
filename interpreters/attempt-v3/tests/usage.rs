//! Token counts in the normal form, and what is said beside them.

use attempt_v3::Reading;
use wire::usage::Usage;

use crate::common::{Seen, sse};

fn counts(usage: &Usage) -> [Option<u64>; 6] {
    [
        usage.input.tokens,
        usage.output.tokens,
        usage.cached_input.tokens,
        usage.cache_write.tokens,
        usage.reasoning.tokens,
        usage.total.tokens,
    ]
}

fn found(seen: &Seen) -> ([Option<u64>; 6], Vec<(&'static str, &'static str)>) {
    let of = |reading: &Reading<'_>, _: &[u8]| {
        let usage = &reading.usage;
        (counts(usage), usage.diagnostics.clone())
    };
    seen.read(of).unwrap()
}

fn chat(usage: &str) -> Seen {
    let body = format!(
        r#"{{"choices":[{{"message":{{"content":"H"}},"finish_reason":"stop"}}],"usage":{usage}}}"#
    );
    Seen::ok("openai.chat", body)
}

#[test]
fn absent_and_null_are_never_zero() {
    let nothing = [None; 6];
    assert_eq!(
        found(&chat("null")),
        (nothing, vec![("usage", "not_reported")])
    );
    assert_eq!(
        found(&chat("7")),
        (nothing, vec![("usage", "not_an_object")])
    );
    assert_eq!(found(&chat("{}")), (nothing, vec![]));
    let null = found(&chat(r#"{"prompt_tokens":null,"completion_tokens":2}"#));
    let only = [None, Some(2), None, None, None, None];
    assert_eq!(null, (only, vec![("input", "null_value")]));
}

#[test]
fn what_is_no_count_is_named() {
    for (value, why) in [
        ("true", "invalid_value:boolean"),
        ("\"7\"", "invalid_value:not_a_number"),
        ("[]", "invalid_value:not_a_number"),
        ("-1", "invalid_value:negative"),
        ("1.5", "invalid_value:fractional"),
        ("1e3", "invalid_value:not_whole"),
        ("NaN", "invalid_value:not_whole"),
        ("9007199254740992", "invalid_value:too_large"),
        ("99999999999999999999999", "invalid_value:too_large"),
    ] {
        let (counts, diagnostics) = found(&chat(&format!(r#"{{"prompt_tokens":{value}}}"#)));
        assert_eq!(counts, [None; 6], "{value}");
        assert_eq!(diagnostics, [("input", why)], "{value}");
    }
    for (value, tokens) in [
        ("10.0", 10),
        ("9007199254740991", 9_007_199_254_740_991),
        ("0", 0),
    ] {
        let (counts, diagnostics) = found(&chat(&format!(r#"{{"prompt_tokens":{value}}}"#)));
        assert_eq!((counts[0], diagnostics), (Some(tokens), vec![]), "{value}");
    }
}

#[test]
fn counts_that_contradict_each_other_are_named() {
    for (usage, diagnostic) in [
        (
            r#"{"prompt_tokens":5,"completion_tokens":2,"total_tokens":9}"#,
            ("total", "reported_total_differs_from_derived"),
        ),
        (
            r#"{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":6}}"#,
            ("cached_input", "cache_components_exceed_input"),
        ),
        (
            r#"{"prompt_tokens":5,"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":3}}"#,
            ("reasoning", "reasoning_exceeds_output"),
        ),
    ] {
        assert_eq!(found(&chat(usage)).1, [diagnostic], "{usage}");
    }
}

#[test]
fn a_total_tells_that_a_server_counts_reasoning_beside_the_output() {
    let beside = r#"{"prompt_tokens":5,"completion_tokens":2,"total_tokens":10,"completion_tokens_details":{"reasoning_tokens":3}}"#;
    let (counts, diagnostics) = found(&chat(beside));
    assert_eq!(counts[1], Some(5));
    assert_eq!(diagnostics, [("output", "reasoning_added_as_total_tells")]);
    let within = beside.replace("10,", "7,").replace(":3}", ":1}");
    let (counts, diagnostics) = found(&chat(&within));
    assert_eq!((counts[1], diagnostics), (Some(2), vec![]));
}

fn messages(usage: &str) -> Seen {
    let body = format!(
        r#"{{"type":"message","content":[{{"type":"text","text":"H"}}],"stop_reason":"end_turn","usage":{usage}}}"#
    );
    Seen::ok("anthropic.messages", body)
}

#[test]
fn the_input_of_anthropic_gets_its_cache_and_is_a_lower_bound_without() {
    let whole = r#"{"input_tokens":3,"cache_creation_input_tokens":5,"cache_read_input_tokens":7,"output_tokens":2}"#;
    let (counts, diagnostics) = found(&messages(whole));
    assert_eq!(counts, [Some(15), Some(2), Some(7), Some(5), None, None]);
    assert_eq!(diagnostics, []);
    let bare = r#"{"input_tokens":73,"output_tokens":220}"#;
    let (counts, diagnostics) = found(&messages(bare));
    assert_eq!(counts, [Some(73), Some(220), None, None, None, None]);
    assert_eq!(diagnostics, [("input", "lower_bound:cache_not_reported")]);
    let broken = r#"{"input_tokens":3,"cache_read_input_tokens":"x","output_tokens":2}"#;
    let (counts, diagnostics) = found(&messages(broken));
    assert_eq!(counts[0], None);
    let unusable = [
        ("cached_input", "invalid_value:not_a_number"),
        ("input", "cache_count_unusable"),
    ];
    assert_eq!(diagnostics, unusable);
}

#[test]
fn running_totals_replace_each_other_and_are_never_added() {
    let body = sse(&[
        r#"{"type":"message_start","message":{"content":[],"usage":{"input_tokens":9,"cache_read_input_tokens":1,"cache_creation_input_tokens":0,"output_tokens":1}}}"#,
        r#"{"type":"message_delta","delta":{},"usage":{"output_tokens":4}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":6,"input_tokens":null}}"#,
    ]);
    let (counts, diagnostics) = found(&Seen::ok("anthropic.messages", body));
    assert_eq!(counts, [Some(10), Some(6), Some(1), Some(0), None, None]);
    assert_eq!(diagnostics, []);
}

fn gemini(usage: &str) -> Seen {
    let body = format!(
        r#"{{"candidates":[{{"content":{{"parts":[{{"text":"H"}}]}},"finishReason":"STOP"}}],"usageMetadata":{usage}}}"#
    );
    Seen::ok("gemini.generate_content", body)
}

#[test]
fn the_output_of_gemini_gets_its_thoughts_and_the_input_its_tools() {
    let whole = r#"{"promptTokenCount":10,"toolUsePromptTokenCount":4,"candidatesTokenCount":5,"thoughtsTokenCount":7,"cachedContentTokenCount":3,"totalTokenCount":26}"#;
    let (counts, diagnostics) = found(&gemini(whole));
    assert_eq!(
        counts,
        [Some(14), Some(12), Some(3), None, Some(7), Some(26)]
    );
    assert_eq!(diagnostics, []);
    // Zeros are left out of this wire; the total shows that they are zeros.
    let plain = r#"{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15}"#;
    assert_eq!(found(&gemini(plain)).1, []);
    let open = r#"{"promptTokenCount":10,"candidatesTokenCount":5}"#;
    assert_eq!(
        found(&gemini(open)).1,
        [("output", "lower_bound:part_not_reported")]
    );
}

#[test]
fn reasoning_that_is_there_and_not_counted_is_named() {
    let body = r#"{"choices":[{"message":{"content":"H","reasoning_content":"Hm"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#;
    let missing = ("reasoning", "not_reported_with_reasoning_content");
    assert_eq!(found(&Seen::ok("openai.chat", body)).1, [missing]);
    let zero = body.replace(
        "\"completion_tokens\":2",
        "\"completion_tokens\":2,\"completion_tokens_details\":{\"reasoning_tokens\":0}",
    );
    let named = ("reasoning", "zero_with_reasoning_content");
    assert_eq!(found(&Seen::ok("openai.chat", zero)).1, [named]);
}

#[test]
fn the_other_dialects_have_their_counts_where_the_table_says() {
    for (dialect, body, wanted) in [
        (
            "bedrock.converse",
            r#"{"output":{"message":{"content":[]}},"stopReason":"end_turn","usage":{"inputTokens":2,"outputTokens":3,"totalTokens":10,"cacheReadInputTokens":4,"cacheWriteInputTokens":1}}"#,
            [Some(7), Some(3), Some(4), Some(1), None, Some(10)],
        ),
        (
            "cohere.v2.chat",
            r#"{"message":{"content":[]},"finish_reason":"COMPLETE","usage":{"billed_units":{"input_tokens":1.0},"tokens":{"input_tokens":8.0,"output_tokens":3.0},"cached_tokens":2}}"#,
            [Some(8), Some(3), Some(2), None, None, None],
        ),
        (
            "ollama.chat",
            r#"{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":8,"eval_count":3}"#,
            [Some(8), Some(3), None, None, None, None],
        ),
        (
            "openai.chat",
            r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1,"prompt_cache_hit_tokens":4}}"#,
            [Some(9), Some(1), Some(4), None, None, None],
        ),
        (
            "openai.responses",
            r#"{"status":"completed","output":[],"usage":{"input_tokens":9,"output_tokens":4,"total_tokens":13,"input_tokens_details":{"cached_tokens":2},"output_tokens_details":{"reasoning_tokens":3}}}"#,
            [Some(9), Some(4), Some(2), None, Some(3), Some(13)],
        ),
    ] {
        assert_eq!(found(&Seen::ok(dialect, body)).0, wanted, "{dialect}");
    }
}
