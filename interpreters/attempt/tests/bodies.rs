//! Bodies at the edge of JSON and beyond it.

use attempt::reading::Fact;
use attempt::{Observation, interpret};

use crate::common::{BOTH, chat, chat_body, conclusion, fact, success};

fn malformed(body: &[u8], why: &str) {
    for dialect in ["openai.chat", "openai.responses", "anthropic.messages"] {
        for version in BOTH {
            let reading = interpret(version, &success(dialect, body));
            let expected = ("unknown", Some("malformed_response"), "parser_failure", why);
            assert_eq!(conclusion(&reading), expected);
        }
    }
}

#[test]
fn an_empty_or_blank_or_missing_body_is_malformed() {
    malformed(b"", "empty_body");
    malformed(b" \r\n\t", "empty_body");
    let observation = Observation {
        response_body: None,
        ..success("openai.chat", b"")
    };
    for version in BOTH {
        assert_eq!(interpret(version, &observation).basis.detail, "empty_body");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_malformed_wherever_they_stand() {
    malformed(b"\xff", "not_utf8");
    malformed(b"{\"a\":\"\xc3\"}", "not_utf8");
    malformed(b"{}\xf0\x9f\x98", "not_utf8");
}

#[test]
fn compressed_and_streamed_bodies_are_malformed() {
    malformed(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", "not_utf8");
    malformed(b"data: {\"choices\":[]}\n\ndata: [DONE]\n\n", "not_json");
}

#[test]
fn a_byte_order_mark_is_malformed() {
    malformed(b"\xef\xbb\xbf{}", "not_json");
}

#[test]
fn json_that_is_no_object_is_malformed() {
    for body in ["[]", "null", "7", "\"text\"", "true", "[{}] "] {
        malformed(body.as_bytes(), "not_an_object");
    }
}

#[test]
fn what_follows_the_object_is_malformed_unless_it_is_blank() {
    malformed(b"{} {}", "trailing_bytes");
    malformed(b"{}x", "trailing_bytes");
    malformed(b"{}\0", "trailing_bytes");
    let body = format!("\n {} \r\n", chat_body("\"a\""));
    assert_eq!(chat(&body).output_text.as_deref(), Some("a"));
}

#[test]
fn broken_json_is_malformed() {
    for body in [
        "{",
        "{\"",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{,}",
        "{a:1}",
        "{'a':1}",
        "{\"a\":tru}",
        "{\"a\":truex}",
        "{\"a\":01}",
        "{\"a\":-}",
        "{\"a\":1.}",
        "{\"a\":.5}",
        "{\"a\":1e}",
        "{\"a\":+1}",
        "{\"a\":NaN}",
        "{\"a\":-Infinity}",
        "{\"a\":[1,]}",
        "{\"a\":[1 2]}",
        "{\"a\":[}",
        "{\"a\" 1}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12\"}",
        "{\"a\":\"\\u12g4\"}",
        "{\"a\":\"\n\"}",
        "{\"a\":\"\u{1}\"}",
        "<html></html>",
        "{\"a\":1 /* no */}",
    ] {
        malformed(body.as_bytes(), "not_json");
    }
}

#[test]
fn nesting_is_read_to_128_levels_and_malformed_beyond() {
    let nested = |levels: usize| {
        let inner = levels - 1;
        let (open, close) = ("[".repeat(inner), "]".repeat(inner));
        format!(r#"{{"choices":[{{"message":{{"content":"a"}}}}],"x":{open}{close}}}"#)
    };
    assert_eq!(chat(&nested(128)).output_text.as_deref(), Some("a"));
    malformed(nested(129).as_bytes(), "too_deep");
    malformed(nested(1_000_000).as_bytes(), "too_deep");
    malformed("[".repeat(1_000_000).as_bytes(), "too_deep");
    malformed("{\"a\":".repeat(1_000_000).as_bytes(), "too_deep");
}

#[test]
fn escapes_are_decoded() {
    let body = chat_body(r#""\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\ude00 plain é""#);
    let reading = chat(&body);
    let expected = "\"\\/\u{8}\u{c}\n\r\tA\u{e9}\u{20ac}\u{1f600} plain é";
    assert_eq!(reading.output_text.as_deref(), Some(expected));
    assert_eq!(fact(&reading, "lossy_text"), None);
}

#[test]
fn a_control_character_is_malformed_at_every_offset() {
    for padding in 0..40 {
        let before = "a".repeat(padding);
        for control in ["\0", "\n", "\u{1f}"] {
            malformed(
                chat_body(&format!("\"{before}{control} \"")).as_bytes(),
                "not_json",
            );
        }
        let body = chat_body(&format!("\"{before}\u{7f}\\t]#!\""));
        let expected = format!("{before}\u{7f}\t]#!");
        assert_eq!(chat(&body).output_text.as_deref(), Some(expected.as_str()));
    }
}

#[test]
fn lone_surrogates_become_replacement_characters_and_are_reported() {
    for (escaped, text) in [
        (r"\ud83d", "\u{fffd}"),
        (r"\ude00", "\u{fffd}"),
        (r"a\ud83dz", "a\u{fffd}z"),
        (r"\ud83d\ud83d\ude00", "\u{fffd}\u{1f600}"),
        (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
        (r"\ud83d\n", "\u{fffd}\n"),
        (r"\ud83d\u0041", "\u{fffd}A"),
        (r"\uD83Dé", "\u{fffd}é"),
    ] {
        let body = chat_body(&format!("\"{escaped}\""));
        let reading = chat(&body);
        assert_eq!(reading.output_text.as_deref(), Some(text), "{escaped}");
        assert_eq!(reading.generation_state.as_str(), "complete");
        assert_eq!(fact(&reading, "lossy_text"), Some(Fact::Flag(true)));
    }
}

#[test]
fn a_lone_surrogate_is_reported_only_where_it_is_read() {
    let body = r#"{"\ud800":"\ud800","choices":[{"message":{"content":"a","other":"\ud800"}}]}"#;
    let reading = chat(body);
    assert_eq!(reading.output_text.as_deref(), Some("a"));
    assert_eq!(fact(&reading, "lossy_text"), None);
}

#[test]
fn names_are_compared_without_their_escapes() {
    let body = r#"{"\u0063hoices":[{"m\u0065ssage":{"content":"a"}}]}"#;
    assert_eq!(chat(body).output_text.as_deref(), Some("a"));
}

#[test]
fn of_repeated_names_the_last_one_counts() {
    let body = r#"{"choices":7,"model":"a","model":"b","error":"x","error":null,
        "usage":{"prompt_tokens":true,"prompt_tokens":3},
        "choices":[{"message":{"content":"old","refusal":"old"},"message":{"content":["x"],"content":"new"},
            "finish_reason":"stop","finish_reason":"length"}]}"#;
    let reading = chat(body);
    assert_eq!(reading.model.as_deref(), Some("b"));
    assert_eq!(reading.error, None);
    assert_eq!(
        (reading.usage.input, reading.usage.diagnostics.len()),
        (Some(3), 0)
    );
    assert_eq!(reading.output_text.as_deref(), Some("new"));
    assert_eq!(reading.refusal, None);
    assert_eq!(reading.provider_reason.as_deref(), Some("length"));
}

#[test]
fn a_last_repeated_name_of_another_type_counts_as_absent() {
    let body = r#"{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"choices":null}"#;
    let reading = chat(body);
    assert_eq!(reading.output_text, None);
    assert_eq!(reading.provider_reason, None);
}

#[test]
fn a_body_of_1_mb_is_read_whole() {
    let plain = "x".repeat(1 << 20);
    let body = chat_body(&format!("\"{plain}\""));
    assert_eq!(chat(&body).output_text.as_deref(), Some(plain.as_str()));
    let body = chat_body(&format!("\"{}\"", r"\u00e9\n".repeat(1 << 17)));
    let expected = "é\n".repeat(1 << 17);
    assert_eq!(chat(&body).output_text.as_deref(), Some(expected.as_str()));
}

#[test]
fn the_body_of_a_failure_may_be_anything() {
    for body in [
        &b""[..],
        b"\xff",
        b"<html>",
        b"[]",
        b"{\"error\":{\"message\":\"cut",
        b"{\"error\":{\"message\":\"a\"}} x",
    ] {
        for version in BOTH {
            let observation = Observation {
                status: Some(500),
                ..success("openai.chat", body)
            };
            let error = interpret(version, &observation).error.unwrap();
            assert_eq!((error.code, error.message), (None, None));
        }
    }
}

#[test]
fn a_lone_surrogate_in_the_message_of_a_failure_is_reported() {
    let observation = Observation {
        status: Some(500),
        ..success("openai.chat", br#"{"error":"\ud800"}"#)
    };
    for version in BOTH {
        let reading = interpret(version, &observation);
        assert_eq!(fact(&reading, "lossy_text"), Some(Fact::Flag(true)));
    }
}
