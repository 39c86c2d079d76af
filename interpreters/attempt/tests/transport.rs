//! Statuses, signatures, exceptions and dialects that are not read.

use attempt::adapter::{Report, interpret_report};
use attempt::reading::Fact;
use attempt::{Interpreter, Observation, Outcome, interpret};

use crate::common::{BOTH, conclusion, fact, success};

fn with_status(status: u16, body: Option<&[u8]>) -> Observation<'_> {
    Observation {
        outcome: Outcome::HttpError,
        status: Some(status),
        response_body: body,
        ..success("openai.chat", b"")
    }
}

fn without_response(outcome: Outcome, exception_type: Option<&str>) -> Observation<'_> {
    Observation {
        dialect: "openai.chat",
        outcome,
        status: None,
        exception_type,
        response_body: None,
    }
}

#[test]
fn every_other_status_is_a_provider_error_for_both_versions() {
    for status in [100, 301, 404, 408, 422, 499, 502, 503, 529, 599, 999] {
        for version in BOTH {
            let reading = interpret(version, &with_status(status, None));
            let expected = (
                "unknown",
                Some("provider_error"),
                "status_only",
                "other_status",
            );
            assert_eq!(conclusion(&reading), expected, "{version:?} {status}");
        }
    }
}

#[test]
fn every_2xx_status_is_read_as_a_success() {
    let body = br#"{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}"#;
    for status in [200, 201, 299] {
        for version in BOTH {
            let observation = Observation {
                status: Some(status),
                ..success("openai.chat", body)
            };
            let reading = interpret(version, &observation);
            assert_eq!(reading.generation_state.as_str(), "complete", "{status}");
        }
    }
}

#[test]
fn a_status_is_classified_in_every_dialect() {
    for dialect in [
        "gemini.generate_content",
        "unknown",
        "",
        "anthropic.messages",
    ] {
        let observation = Observation {
            dialect,
            ..with_status(429, Some(br#"{"error":{"code":429,"message":"slow"}}"#))
        };
        let reading = interpret(Interpreter::V2, &observation);
        let expected = ("unknown", Some("rate_limited"), "status_only", "status_429");
        assert_eq!(conclusion(&reading), expected);
        let error = reading.error.unwrap();
        assert_eq!(error.code.as_deref(), Some("429"));
        assert_eq!(error.message.as_deref(), Some("slow"));
    }
}

#[test]
fn a_signature_counts_only_with_its_status() {
    for (status, class, kind, detail) in [
        (403, "edge_rejected", "body_signature", "cloudflare_1010_v1"),
        (
            400,
            "invalid_request",
            "body_signature",
            "missing_session_id_v1",
        ),
        (401, "authentication_error", "status_only", "status_401"),
        (500, "provider_error", "status_only", "other_status"),
    ] {
        let body = b"MissingSessionID, error code: 1010";
        let reading = interpret(Interpreter::V2, &with_status(status, Some(body)));
        assert_eq!(conclusion(&reading), ("unknown", Some(class), kind, detail));
        let source = (kind == "body_signature").then_some(Fact::Word("response_body"));
        assert_eq!(fact(&reading, "evidence_source"), source);
    }
}

#[test]
fn a_signature_is_found_among_bytes_that_are_not_utf8() {
    let body = b"\xff\xfe error code: 1010 \xff";
    let reading = interpret(Interpreter::V2, &with_status(403, Some(body)));
    assert_eq!(reading.basis.detail, "cloudflare_1010_v1");
}

#[test]
fn a_signature_after_the_first_64_kib_is_not_looked_for() {
    let signature = b"error code: 1010";
    for (padding, detail) in [
        ((64 << 10) - signature.len(), "cloudflare_1010_v1"),
        ((64 << 10) - signature.len() + 1, "status_403"),
    ] {
        let mut body = vec![b'x'; padding];
        body.extend_from_slice(signature);
        let reading = interpret(Interpreter::V2, &with_status(403, Some(&body)));
        assert_eq!(reading.basis.detail, detail);
    }
}

#[test]
fn the_five_timeout_types_are_timeouts_for_version_2_only() {
    for name in [
        "TimeoutError",
        "TimeoutExpired",
        "ConnectTimeout",
        "ReadTimeout",
        "Timeout",
    ] {
        for outcome in [Outcome::NoResponse, Outcome::Interrupted] {
            let observation = without_response(outcome, Some(name));
            let expected = ("unknown", Some("timeout"), "exception_type", "timeout_type");
            assert_eq!(
                conclusion(&interpret(Interpreter::V2, &observation)),
                expected
            );
            let rule = "no_timeout_message";
            let expected = ("unknown", Some("provider_error"), "exception_type", rule);
            assert_eq!(
                conclusion(&interpret(Interpreter::V1, &observation)),
                expected
            );
        }
    }
}

#[test]
fn any_other_exception_or_none_is_a_provider_error() {
    for name in [
        Some("ConnectionReset"),
        Some("timeout"),
        Some("WriteTimeout"),
        Some(""),
        None,
    ] {
        let reading = interpret(
            Interpreter::V2,
            &without_response(Outcome::NoResponse, name),
        );
        let expected = (
            "unknown",
            Some("provider_error"),
            "exception_type",
            "other_type",
        );
        assert_eq!(conclusion(&reading), expected, "{name:?}");
    }
}

#[test]
fn an_interrupted_response_is_not_read_whatever_has_arrived() {
    let observation = Observation {
        outcome: Outcome::Interrupted,
        exception_type: Some("ReadTimeout"),
        ..success(
            "openai.chat",
            br#"{"choices":[{"message":{"content":"a"}}]}"#,
        )
    };
    let reading = interpret(Interpreter::V2, &observation);
    assert_eq!(
        reading.error.map(|error| error.class.as_str()),
        Some("timeout")
    );
    assert_eq!(reading.output_text, None);
}

#[test]
fn another_dialect_is_not_read_and_never_complete() {
    let body = br#"{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}"#;
    for dialect in [
        "gemini.generate_content",
        "mistral.chat",
        "OpenAI.chat",
        "unknown",
        "",
    ] {
        for body in [&body[..], b"", b"\xff"] {
            for version in BOTH {
                let reading = interpret(version, &success(dialect, body));
                let expected = ("unknown", None, "generation_state", "dialect_not_read");
                assert_eq!(conclusion(&reading), expected);
                assert_eq!(reading.output_text, None);
            }
        }
    }
}

#[test]
fn the_older_names_of_the_dialects_are_read_alike() {
    let chat = br#"{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}"#;
    let responses =
        br#"{"status":"completed","output":[{"content":[{"type":"text","text":"a"}]}]}"#;
    let messages = br#"{"content":[{"type":"text","text":"a"}],"stop_reason":"end_turn"}"#;
    for (name, alias, body) in [
        ("openai.chat", "chat_completions", &chat[..]),
        ("openai.responses", "responses", responses),
        ("anthropic.messages", "messages", messages),
    ] {
        let reading = interpret(Interpreter::V2, &success(name, body));
        assert_eq!(reading.generation_state.as_str(), "complete");
        assert_eq!(interpret(Interpreter::V2, &success(alias, body)), reading);
    }
}

#[test]
fn an_adapters_text_is_searched_where_no_body_was_kept() {
    let report = Report::HttpError {
        status: 403,
        message: "HTTP 403: error code: 1010",
    };
    let reading = interpret_report(Interpreter::V2, &report);
    let expected = (
        "unknown",
        Some("edge_rejected"),
        "body_signature",
        "cloudflare_1010_v1",
    );
    assert_eq!(conclusion(&reading), expected);
    let source = Some(Fact::Word("adapter_error_text"));
    assert_eq!(fact(&reading, "evidence_source"), source);
}

#[test]
fn version_1_needs_the_word_timeout_in_the_message() {
    for (message, class) in [
        ("Timeout while reading", "timeout"),
        ("operation timed out", "timeout"),
        ("the peer went away", "provider_error"),
    ] {
        let report = Report::Exception {
            exception_type: "TimeoutError",
            message,
        };
        let reading = interpret_report(Interpreter::V1, &report);
        assert_eq!(reading.error.map(|error| error.class.as_str()), Some(class));
    }
}
