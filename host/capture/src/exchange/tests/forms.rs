//! What a line may look like.

use model::bounds::{BODY_BYTES_MAX, HEADER_VALUE_BYTES_MAX, NAME_BYTES_MAX};
use model::exchange::{DIALECTS, TransportOutcome};
use serde_json::{Value, json};

use super::super::{DIALECT_ALIASES, parse_line};
use super::{accepted, line_with};

fn headers_of(headers: Value) -> Vec<(String, String)> {
    accepted(&[("response.headers", headers)]).headers
}

fn pairs(headers: &[(&str, &str)]) -> Vec<(String, String)> {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    headers.iter().map(pair).collect()
}

#[test]
fn a_whole_line_gives_every_field() {
    let line = br#" {"id":"a-1","dialect":"messages","provider":"anthropic","note":[{}],
        "request":{"method":"POST","path":"https://u:p@api.example.com/v1/messages?beta=true",
            "headers":{"Content-Type":"Application/JSON; charset=utf-8","x-api-key":"k"},
            "body_b64":"eyJhIjoxfQ=="},
        "response":{"status":529,"headers":[["Content-Type","text/event-stream"],
            ["Set-Cookie","s"],["Request-Id","r"]],"body_utf8":"\u00e9\n"},
        "outcome":"http_error","exception_type":null} "#;
    let exchange = parse_line(line).unwrap();
    assert_eq!(exchange.external_id.as_deref(), Some("a-1"));
    assert_eq!(exchange.dialect, "anthropic.messages");
    assert_eq!(exchange.provider.as_deref(), Some("anthropic"));
    assert_eq!(exchange.method, "POST");
    assert_eq!(exchange.endpoint, "/v1/messages");
    assert_eq!(exchange.outcome, TransportOutcome::HttpError);
    assert_eq!(exchange.status, Some(529));
    let headers = [("content-type", "text/event-stream"), ("request-id", "r")];
    assert_eq!(exchange.headers, pairs(&headers));
    assert_eq!(exchange.headers_dropped, Vec::<String>::new());
    assert_eq!(exchange.exception_type, None);
    assert_eq!(
        exchange.request_body.as_deref(),
        Some(br#"{"a":1}"#.as_slice())
    );
    assert_eq!(exchange.request_media_type, "application/json");
    assert_eq!(exchange.response_body.as_deref(), Some("é\n".as_bytes()));
    assert_eq!(exchange.response_media_type, "text/event-stream");
}

#[test]
fn a_line_may_start_with_a_byte_order_mark_and_end_in_a_line_break() {
    let line = line_with(&[]);
    let expected = parse_line(line.as_bytes());
    assert_eq!(
        parse_line(format!("\u{feff}{line}\r\n").as_bytes()),
        expected
    );
    assert!(expected.is_ok());
}

#[test]
fn every_dialect_and_alias_is_accepted_under_its_own_name() {
    for name in DIALECTS.into_iter().chain(DIALECT_ALIASES) {
        let exchange = accepted(&[("dialect", json!(name))]);
        assert_eq!(Some(exchange.dialect), model::exchange::dialect(name));
        assert!(DIALECTS.contains(&exchange.dialect));
    }
}

#[test]
fn null_is_absent() {
    let exchange = accepted(&[
        ("id", Value::Null),
        ("provider", Value::Null),
        ("outcome", Value::Null),
        ("exception_type", Value::Null),
        ("request.body_b64", Value::Null),
        ("request.body_utf8", Value::Null),
        ("response.headers", Value::Null),
        ("response.body_b64", Value::Null),
    ]);
    assert_eq!(exchange.external_id, None);
    assert_eq!(exchange.provider, None);
    assert_eq!(exchange.request_body, None);
    assert_eq!(exchange.headers, []);
    assert_eq!(exchange.response_body.as_deref(), Some(b"{}".as_slice()));
    assert_eq!(exchange.response_media_type, "application/octet-stream");
}

#[test]
fn an_empty_string_is_a_body_of_no_bytes() {
    for field in ["response.body_utf8", "response.body_b64"] {
        let changes = [("response.body_utf8", Value::Null), (field, json!(""))];
        assert_eq!(accepted(&changes).response_body, Some(Vec::new()));
    }
    let exchange = accepted(&[("request.body_utf8", json!(""))]);
    assert_eq!(exchange.request_body, Some(Vec::new()));
}

#[test]
fn a_status_may_stand_without_a_body() {
    let exchange = accepted(&[("response", json!({"status": 204}))]);
    assert_eq!(exchange.status, Some(204));
    assert_eq!(exchange.response_body, None);
    assert_eq!(exchange.outcome, TransportOutcome::ResponseReceived);
}

#[test]
fn escapes_in_names_and_bodies_are_read() {
    let line = r#"{"\u0069d":"x","dialect":"unknown","request":{"method":"GET","path":"\/v1"},
        "response":{"status":200,"body_b64":"\/\/8\u003d"}}"#;
    let exchange = parse_line(line.as_bytes()).unwrap();
    assert_eq!(exchange.external_id.as_deref(), Some("x"));
    assert_eq!(exchange.endpoint, "/v1");
    assert_eq!(exchange.response_body, Some(vec![255, 255]));
}

#[test]
fn other_members_may_be_anything() {
    let line = r#"{"a":1e999,"a":[[{"id":7}]],"b":"\ud800","dialect":"unknown",
        "request":{"method":"GET","path":"/","id":{},"headers":"gone"},
        "response":{"dialect":1,"dialect":2},"c":null}"#;
    let exchange = parse_line(line.as_bytes()).unwrap();
    assert_eq!(exchange.external_id, None);
    assert_eq!(exchange.request_media_type, "application/octet-stream");
}

#[test]
fn both_forms_of_headers_keep_order_and_duplicates() {
    let expected = pairs(&[("date", "1"), ("date", "2"), ("retry-after", "3")]);
    let list = json!([["Date", "1"], ["DATE", "2"], ["retry-after", "3"]]);
    assert_eq!(headers_of(list), expected);
    assert_eq!(
        headers_of(json!({"Date": ["1", "2"], "Retry-After": "3"})),
        expected
    );
    let text = r#"{"dialect":"unknown","request":{"method":"GET","path":"/"},
        "response":{"status":200,"headers":{"retry-after":"z","date":"1","Date":"2"}}}"#;
    let exchange = parse_line(text.as_bytes()).unwrap();
    assert_eq!(
        exchange.headers,
        pairs(&[("retry-after", "z"), ("date", "1"), ("date", "2")])
    );
}

#[test]
fn an_integer_is_a_header_value_of_its_digits() {
    assert_eq!(
        headers_of(json!({"retry-after": 12})),
        pairs(&[("retry-after", "12")])
    );
    assert_eq!(
        headers_of(json!([["retry-after", -1]])),
        pairs(&[("retry-after", "-1")])
    );
    assert_eq!(headers_of(json!({"retry-after": []})), []);
}

#[test]
fn the_value_of_a_header_that_is_not_kept_may_be_anything() {
    assert_eq!(
        headers_of(json!({"set-cookie": null, "x-other": {"a": [1.5]}})),
        []
    );
    assert_eq!(
        headers_of(json!([["set-cookie", null], ["x-other", {}]])),
        []
    );
    let twice = r#"{"dialect":"unknown","request":{"method":"GET","path":"/"},
        "response":{"status":200,"headers":{"x-other":1,"x-other":2}}}"#;
    assert_eq!(parse_line(twice.as_bytes()).unwrap().headers, []);
}

#[test]
fn a_header_over_its_bound_leaves_its_name() {
    let value = "a".repeat(HEADER_VALUE_BYTES_MAX + 1);
    let exchange = accepted(&[(
        "response.headers",
        json!({"Content-Type": value, "date": "d"}),
    )]);
    assert_eq!(exchange.headers, pairs(&[("date", "d")]));
    assert_eq!(exchange.headers_dropped, ["content-type"]);
    assert_eq!(exchange.response_media_type, "application/octet-stream");
}

#[test]
fn a_name_may_be_as_long_as_its_bound() {
    let name = "n".repeat(NAME_BYTES_MAX);
    let exchange = accepted(&[("id", json!(name)), ("provider", json!(name))]);
    assert_eq!(exchange.external_id.as_ref(), Some(&name));
    assert_eq!(exchange.provider, Some(name));
}

#[test]
fn a_body_may_be_as_long_as_its_bound() {
    let text = "a".repeat(BODY_BYTES_MAX);
    let exchange = accepted(&[("response.body_utf8", json!(text))]);
    assert_eq!(
        exchange.response_body.map(|body| body.len()),
        Some(BODY_BYTES_MAX)
    );
    // 64 MiB is one more than a multiple of three.
    let text = format!("{}AA==", "A".repeat(BODY_BYTES_MAX / 3 * 4));
    let exchange = accepted(&[("request.body_b64", json!(text))]);
    assert_eq!(
        exchange.request_body.map(|body| body.len()),
        Some(BODY_BYTES_MAX)
    );
}

#[test]
fn the_bodies_are_not_in_the_debug_text() {
    let exchange = accepted(&[
        ("request.body_utf8", json!("secret")),
        ("response.body_utf8", json!("secret")),
    ]);
    let text = format!("{exchange:?}");
    assert!(!text.contains("secret"));
    assert!(text.contains("response_bytes: Some(6)"));
}
