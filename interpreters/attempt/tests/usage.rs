//! Token counts in the normal form.

use attempt::reading::Usage;

use crate::common::{chat, read};

fn counts(counts: [Option<u64>; 6]) -> Usage {
    let [input, output, cached_input, cache_write, reasoning, total] = counts;
    Usage {
        input,
        output,
        cached_input,
        cache_write,
        reasoning,
        total,
        diagnostics: vec![],
    }
}

fn messages(usage: &str) -> Usage {
    read("anthropic.messages", &format!(r#"{{"usage":{usage}}}"#)).usage
}

#[test]
fn chat_input_includes_the_cache_already() {
    let body = r#"{"usage":{"prompt_tokens":10,"completion_tokens":7,"total_tokens":17,
        "prompt_tokens_details":{"cached_tokens":4,"audio_tokens":0},
        "completion_tokens_details":{"reasoning_tokens":5}}}"#;
    let expected = counts([Some(10), Some(7), Some(4), None, Some(5), Some(17)]);
    assert_eq!(chat(body).usage, expected);
}

#[test]
fn responses_input_includes_the_cache_already() {
    let body = r#"{"usage":{"input_tokens":10,"output_tokens":7,"total_tokens":17,
        "input_tokens_details":{"cached_tokens":4},"output_tokens_details":{"reasoning_tokens":5}}}"#;
    let expected = counts([Some(10), Some(7), Some(4), None, Some(5), Some(17)]);
    assert_eq!(read("openai.responses", body).usage, expected);
}

#[test]
fn messages_input_is_the_sum_with_cache_reads_and_writes() {
    let usage = r#"{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,
        "output_tokens":7,"output_tokens_details":{"thinking_tokens":5}}"#;
    let expected = counts([Some(60), Some(7), Some(30), Some(20), Some(5), None]);
    assert_eq!(messages(usage), expected);
}

#[test]
fn absent_cache_counts_add_nothing_and_stay_absent() {
    let usage = r#"{"input_tokens":10,"cache_read_input_tokens":null}"#;
    assert_eq!(
        messages(usage),
        counts([Some(10), None, None, None, None, None])
    );
}

#[test]
fn without_an_input_the_cache_is_no_input() {
    let usage = r#"{"cache_read_input_tokens":30}"#;
    assert_eq!(
        messages(usage),
        counts([None, None, Some(30), None, None, None])
    );
}

#[test]
fn an_unusable_cache_count_makes_the_sum_unusable() {
    let usage = messages(r#"{"input_tokens":10,"cache_read_input_tokens":-1}"#);
    assert_eq!((usage.input, usage.cached_input), (None, None));
    let expected = vec![
        ("input", "cache_count_unusable"),
        ("cached_input", "negative"),
    ];
    assert_eq!(usage.diagnostics, expected);
}

#[test]
fn a_sum_beyond_the_bound_is_unusable() {
    let usage = messages(r#"{"input_tokens":9007199254740991,"cache_read_input_tokens":1}"#);
    assert_eq!((usage.input, usage.cached_input), (None, Some(1)));
    assert_eq!(usage.diagnostics, vec![("input", "too_large")]);
}

#[test]
fn absent_or_null_is_neither_zero_nor_a_diagnosis() {
    for body in [
        "{}",
        r#"{"usage":null}"#,
        r#"{"usage":{}}"#,
        r#"{"usage":{"prompt_tokens":null,"prompt_tokens_details":null,"completion_tokens_details":{"reasoning_tokens":null}}}"#,
    ] {
        assert_eq!(chat(body).usage, Usage::default(), "{body}");
    }
}

#[test]
fn zero_is_a_count() {
    let usage = chat(r#"{"usage":{"prompt_tokens":0}}"#).usage;
    assert_eq!(usage, counts([Some(0), None, None, None, None, None]));
}

#[test]
fn a_count_that_is_no_whole_number_in_range_is_diagnosed() {
    for (sent, why) in [
        ("-1", "negative"),
        ("-0", "negative"),
        ("-1.5", "negative"),
        ("1.5", "fractional"),
        ("10.0", "fractional"),
        ("1e3", "fractional"),
        ("9007199254740992", "too_large"),
        ("18446744073709551616", "too_large"),
        (
            "99999999999999999999999999999999999999999999999999",
            "too_large",
        ),
        ("true", "boolean"),
        ("false", "boolean"),
        ("\"7\"", "not_a_number"),
        ("[7]", "not_a_number"),
        ("{}", "not_a_number"),
    ] {
        let body = format!(r#"{{"usage":{{"prompt_tokens":1,"completion_tokens":{sent}}}}}"#);
        let usage = chat(&body).usage;
        assert_eq!((usage.input, usage.output), (Some(1), None), "{sent}");
        assert_eq!(usage.diagnostics, vec![("output", why)], "{sent}");
    }
}

#[test]
fn the_largest_count_is_2_to_the_53_minus_1() {
    let usage = chat(r#"{"usage":{"total_tokens":9007199254740991}}"#).usage;
    assert_eq!(usage.total, Some(9_007_199_254_740_991));
}

#[test]
fn a_usage_or_details_of_another_type_are_diagnosed() {
    for usage in ["7", "[]", "\"many\"", "true"] {
        let usage = chat(&format!(r#"{{"usage":{usage}}}"#)).usage;
        assert_eq!(usage.diagnostics, vec![("usage", "not_an_object")]);
    }
    let usage = chat(r#"{"usage":{"completion_tokens_details":[7]}}"#).usage;
    assert_eq!(
        usage.diagnostics,
        vec![("reasoning", "details_not_an_object")]
    );
}
