//! Failures: what class they are of, and what tells it.

use attempt_v3::Outcome;

use crate::common::{Seen, sse};

fn failed(status: u16, body: &str) -> (&'static str, Option<&'static str>) {
    Seen::response("openai.chat", status, body).verdict()
}

#[test]
fn a_status_tells_the_class_where_the_body_tells_none() {
    for (status, class) in [
        (400, "invalid_request"),
        (401, "auth"),
        (402, "quota"),
        (403, "permission"),
        (404, "not_found"),
        (408, "timeout"),
        (413, "request_too_large"),
        (422, "invalid_request"),
        (429, "rate_limit"),
        (499, "cancelled"),
        (500, "server_error"),
        (502, "server_error"),
        (503, "overloaded"),
        (504, "timeout"),
        (520, "server_error"),
        (529, "overloaded"),
        (302, "unknown"),
        (418, "unknown"),
    ] {
        for body in ["", "<html>", "{}", "[]", "{\"choices\":", "text"] {
            assert_eq!(
                failed(status, body),
                ("error", Some(class)),
                "{status} {body}"
            );
        }
    }
}

/// Status, body and class.
const TYPED: &[(u16, &str, &str)] = &[
    (
        400,
        r#"{"error":{"code":"context_length_exceeded","type":"invalid_request_error"}}"#,
        "context_length",
    ),
    (
        429,
        r#"{"error":{"code":"insufficient_quota","type":"insufficient_quota"}}"#,
        "quota",
    ),
    (
        429,
        r#"{"error":{"code":null,"type":"insufficient_quota"}}"#,
        "quota",
    ),
    (
        429,
        r#"{"error":{"code":"limit_requests","type":"insufficient_quota"}}"#,
        "rate_limit",
    ),
    (
        429,
        r#"{"error":{"code":"429","message":"You exceeded your current quota and billing plan"}}"#,
        "rate_limit",
    ),
    (
        400,
        r#"{"error":{"code":"tool_use_failed","type":"invalid_request_error"}}"#,
        "malformed_output",
    ),
    (
        400,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        "overloaded",
    ),
    (
        400,
        r#"[{"error":{"code":400,"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]"#,
        "auth",
    ),
    (
        429,
        r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"quota, billing"}}"#,
        "rate_limit",
    ),
    (
        400,
        r#"{"error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}"#,
        "context_length",
    ),
    (
        400,
        r#"{"error":{"type":"invalid_request_error","message":"Your credit balance is too low to go on"}}"#,
        "quota",
    ),
    (
        400,
        r#"{"error":{"type":"invalid_request_error","message":"the prompt was long"}}"#,
        "invalid_request",
    ),
    (
        500,
        r#"{"error":{"code":500,"type":"server_error","message":"Context size has been exceeded."}}"#,
        "context_length",
    ),
    (
        502,
        r#"{"error":{"code":402,"message":"no credit"}}"#,
        "quota",
    ),
    (
        400,
        r#"{"error":{"code":"invalid_image_format"}}"#,
        "invalid_request",
    ),
    (
        422,
        r#"{"detail":[{"msg":"too long","type":"value_error"}]}"#,
        "invalid_request",
    ),
    (
        503,
        r#"{"object":"error","message":"busy","type":"service_unavailable","code":"1"}"#,
        "overloaded",
    ),
];

#[test]
fn a_typed_word_outweighs_the_status_and_the_prose() {
    for (status, body, class) in TYPED.iter().copied() {
        assert_eq!(failed(status, body), ("error", Some(class)), "{body}");
    }
}

#[test]
fn a_policy_that_answers_with_an_error_is_a_filter() {
    let azure = r#"{"error":{"code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#;
    assert_eq!(failed(400, azure), ("filtered", Some("content_filter")));
    let router = r#"{"error":{"code":403,"metadata":{"error_type":"content_policy_violation"}}}"#;
    assert_eq!(failed(403, router), ("filtered", Some("content_filter")));
    let declined = r#"{"error":{"code":403,"metadata":{"error_type":"refusal"}}}"#;
    assert_eq!(failed(403, declined), ("refused", Some("content_filter")));
    // An ordinary answer under a failing status.
    let answer = r#"{"choices":[{"message":{"content":"H"},"finish_reason":"content_filter"}]}"#;
    assert_eq!(failed(400, answer), ("filtered", Some("content_filter")));
    let whole = r#"{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}"#;
    assert_eq!(failed(500, whole), ("error", Some("server_error")));
}

#[test]
fn a_header_names_the_type_where_the_body_has_none() {
    for (header, class) in [
        ("ThrottlingException", "rate_limit"),
        ("ThrottlingException:http://internal/", "rate_limit"),
        ("AccessDeniedException", "permission"),
        ("ServiceQuotaExceededException", "quota"),
        ("ModelNotReadyException", "overloaded"),
        ("ZzzException", "invalid_request"),
    ] {
        let seen = Seen::response("bedrock.converse", 400, r#"{"message":"m"}"#)
            .header("x-amzn-errortype", header);
        assert_eq!(seen.verdict(), ("error", Some(class)), "{header}");
    }
}

#[test]
fn an_error_inside_of_a_success_is_an_error() {
    let error = r#"{"error":{"code":429,"message":"slow down"}}"#;
    assert_eq!(failed(200, error), ("error", Some("rate_limit")));
    let late = sse(&[
        r#"{"choices":[{"index":0,"delta":{"content":"H"}}]}"#,
        error,
        "[DONE]",
    ]);
    let seen = Seen::ok("openai.chat", late);
    assert_eq!(seen.verdict(), ("error", Some("rate_limit")));
    assert_eq!(seen.text().as_deref(), Some("H"));
    // Even behind a reason: the provider takes it back.
    let done = r#"{"choices":[{"index":0,"delta":{"content":"H"},"finish_reason":"stop"}]}"#;
    let seen = Seen::ok("openai.chat", sse(&[done, error]));
    assert_eq!(seen.verdict(), ("error", Some("rate_limit")));
    for nothing in ["null", "false", "0", "\"\"", "{}", "[]"] {
        let body = format!(
            r#"{{"error":{nothing},"choices":[{{"message":{{"content":"H"}},"finish_reason":"stop"}}]}}"#
        );
        assert_eq!(failed(200, &body), ("complete", None), "{nothing}");
    }
}

#[test]
fn without_a_response_the_exception_tells_the_class() {
    for (exception, class) in [
        (Some("ConnectTimeout"), "timeout"),
        (Some("ReadTimeout"), "timeout"),
        (Some("Timeout"), "timeout"),
        (Some("ConnectError"), "transport_cut"),
        (Some("ConnectionReset"), "transport_cut"),
        (Some("ClientGone"), "cancelled"),
        (None, "transport_cut"),
    ] {
        let mut seen = Seen::ok("openai.chat", "");
        seen.outcome = Outcome::NoResponse;
        seen.status = None;
        seen.body = None;
        seen.exception_type = exception.map(str::to_owned);
        assert_eq!(seen.verdict(), ("error", Some(class)), "{exception:?}");
    }
}

#[test]
fn an_interrupted_response_is_read_as_far_as_it_came() {
    let part = r#"{"choices":[{"index":0,"delta":{"content":"H"}}]}"#;
    let done = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    let mut seen = Seen::ok("openai.chat", sse(&[part]));
    seen.outcome = Outcome::Interrupted;
    seen.exception_type = Some("ReadTimeout".to_owned());
    assert_eq!(seen.verdict(), ("error", Some("timeout")));
    assert_eq!(seen.text().as_deref(), Some("H"));
    seen.exception_type = Some("ConnectionReset".to_owned());
    assert_eq!(seen.verdict(), ("error", Some("transport_cut")));
    seen.body = Some(Vec::new());
    assert_eq!(seen.verdict(), ("error", Some("transport_cut")));
    seen.body = Some(b"\r\n".to_vec());
    assert_eq!(seen.verdict(), ("error", Some("transport_cut")));
    // A reason that was seen beats an end that was not.
    seen.body = Some(sse(&[part, done]).into_bytes());
    assert_eq!(seen.verdict(), ("complete", None));
}
