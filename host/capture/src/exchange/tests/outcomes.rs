//! The outcome and the exception type, beside the response.

use model::exchange::ExceptionType;
use model::exchange::TransportOutcome::{
    self, HttpError, Interrupted, NoResponse, ResponseReceived,
};
use serde_json::{Value, json};

use super::super::LineError;
use super::{accepted, refused};

fn outcome_of(response: Value) -> TransportOutcome {
    accepted(&[("response", response)]).outcome
}

#[test]
fn the_outcome_follows_from_the_response() {
    assert_eq!(outcome_of(Value::Null), NoResponse);
    assert_eq!(outcome_of(json!({})), NoResponse);
    assert_eq!(
        outcome_of(json!({"status": null, "headers": [], "body_b64": null})),
        NoResponse
    );
    assert_eq!(outcome_of(json!({"status": 100})), ResponseReceived);
    assert_eq!(
        outcome_of(json!({"status": 399, "body_utf8": ""})),
        ResponseReceived
    );
    assert_eq!(outcome_of(json!({"status": 400})), HttpError);
    assert_eq!(
        outcome_of(json!({"status": 599, "body_utf8": "x"})),
        HttpError
    );
}

#[test]
fn a_given_outcome_that_agrees_is_taken() {
    for (outcome, response) in [
        (NoResponse, Value::Null),
        (ResponseReceived, json!({"status": 200})),
        (HttpError, json!({"status": 500, "body_utf8": "x"})),
        (Interrupted, Value::Null),
        (Interrupted, json!({"status": 200, "body_utf8": "x"})),
        (Interrupted, json!({"status": 503})),
        (Interrupted, json!({"status": null, "body_utf8": "x"})),
        (Interrupted, json!({"headers": {"date": "d"}})),
    ] {
        let changes = [("response", response), ("outcome", json!(outcome.as_str()))];
        assert_eq!(accepted(&changes).outcome, outcome);
    }
}

#[test]
fn a_line_without_a_response_member_is_no_response() {
    let line = r#"{"dialect":"unknown","request":{"method":"GET","path":"/"}}"#;
    assert_eq!(
        super::parse_line(line.as_bytes()).unwrap().outcome,
        NoResponse
    );
}

#[test]
fn a_given_outcome_that_disagrees_is_refused() {
    let nothing = "neither a status nor headers nor a body";
    let bad = "a status of 400 or above";
    for (outcome, response, expected, found) in [
        (NoResponse, json!({"status": 200}), nothing, "a status"),
        (NoResponse, json!({"body_utf8": ""}), nothing, "a body"),
        (
            NoResponse,
            json!({"headers": {"x-other": "v"}}),
            nothing,
            "headers",
        ),
        (ResponseReceived, Value::Null, "a status below 400", "none"),
        (
            ResponseReceived,
            json!({"body_utf8": "x"}),
            "a status below 400",
            "none",
        ),
        (
            ResponseReceived,
            json!({"status": 400}),
            "a status below 400",
            "one of 400 or above",
        ),
        (HttpError, json!({}), bad, "none"),
        (HttpError, json!({"status": 399}), bad, "one below 400"),
    ] {
        let name = outcome.as_str();
        let message = format!("`outcome`: {name} expects {expected}, found {found}");
        let error = refused(
            &[("response", response), ("outcome", json!(name))],
            &message,
        );
        assert_eq!(
            error,
            LineError::OutcomeDisagrees {
                outcome,
                expected,
                found
            }
        );
    }
}

#[test]
fn headers_alone_follow_from_nothing() {
    refused(
        &[("response", json!({"headers": {"date": "d"}}))],
        "`outcome`: no_response expects neither a status nor headers nor a body, found headers",
    );
}

#[test]
fn a_body_without_a_status_is_refused_unless_it_broke_off() {
    let error = refused(
        &[("response", json!({"body_utf8": "x"}))],
        "`response.status`: expected an integer from 100 to 599 beside a body unless `outcome` \
         is `interrupted`, found none",
    );
    assert_eq!(error, LineError::BodyWithoutStatus);
}

#[test]
fn another_outcome_is_refused_with_the_list() {
    let error = refused(
        &[("outcome", json!("ok"))],
        "`outcome`: expected one of response_received, http_error, no_response, interrupted, \
         found another text",
    );
    let accepted = vec![
        "response_received",
        "http_error",
        "no_response",
        "interrupted",
    ];
    assert_eq!(
        error,
        LineError::UnknownWord {
            field: "outcome",
            accepted
        }
    );
    refused(
        &[("outcome", json!(1))],
        "`outcome`: expected a string or null, found a number",
    );
    refused(
        &[("outcome", json!("x".repeat(129)))],
        "`outcome`: expected at most 128 bytes, found more",
    );
}

#[test]
fn words_and_aliases_of_exceptions_are_read() {
    for (name, word) in [
        ("ReadTimeout", ExceptionType::ReadTimeout),
        ("TimeoutExpired", ExceptionType::Timeout),
        (
            "builtins.ConnectionResetError",
            ExceptionType::ConnectionReset,
        ),
    ] {
        let changes = [("response", Value::Null), ("exception_type", json!(name))];
        assert_eq!(accepted(&changes).exception_type, Some(word));
        let changes = [
            ("outcome", json!("interrupted")),
            ("exception_type", json!(name)),
        ];
        assert_eq!(accepted(&changes).exception_type, Some(word));
    }
}

#[test]
fn another_exception_is_refused_with_the_list() {
    let error = refused(
        &[
            ("response", Value::Null),
            ("exception_type", json!("ValueError")),
        ],
        "`exception_type`: expected one of ConnectError, TlsError, DnsError, ConnectTimeout, \
         ReadTimeout, Timeout, ConnectionReset, ConnectionClosed, ProtocolError, ClientGone, \
         found another text",
    );
    let accepted = ExceptionType::ALL.map(ExceptionType::as_str).to_vec();
    assert_eq!(
        error,
        LineError::UnknownWord {
            field: "exception_type",
            accepted
        }
    );
    refused(
        &[("exception_type", json!({}))],
        "`exception_type`: expected a string or null, found an object",
    );
}

#[test]
fn an_exception_beside_a_whole_response_is_refused() {
    for (status, outcome) in [(200, ResponseReceived), (500, HttpError)] {
        let message = format!(
            "`exception_type`: expected null unless the outcome is no_response or interrupted, \
             found one with {}",
            outcome.as_str()
        );
        let changes = [
            ("response.status", json!(status)),
            ("exception_type", json!("Timeout")),
        ];
        assert_eq!(
            refused(&changes, &message),
            LineError::ExceptionDisagrees { outcome }
        );
    }
}
