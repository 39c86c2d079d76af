//! What holds for any bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::exchange::TransportOutcome;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::parse_line;
use super::{accepted, parsed};
use crate::endpoint::ENDPOINT_BYTES_MAX;

/// Stands in every value of the lines below, as text and as digits.
const SECRET: &str = "zQ7kV9wX2pLm";
const SECRET_NUMBER: u64 = 918_273_645;

/// Returns a line whose every free text holds the secret.
fn secret_line() -> Value {
    json!({
        "id": format!("id-{SECRET}"),
        "dialect": "openai.chat",
        "provider": SECRET,
        SECRET: {SECRET: [SECRET, SECRET_NUMBER]},
        "request": {
            "method": "POST",
            "path": format!("https://user:{SECRET}@host/v1/{SECRET}?key={SECRET}"),
            "headers": {"authorization": SECRET},
            "body_utf8": SECRET,
        },
        "response": {
            "status": 200,
            "headers": [["content-type", SECRET], ["set-cookie", SECRET]],
            "body_b64": STANDARD.encode(SECRET),
        },
        "outcome": "response_received",
        "exception_type": null,
    })
}

/// Returns every value in a tree, by its JSON pointer.
fn pointers(value: &Value, here: &str, found: &mut Vec<String>) {
    found.push(here.to_owned());
    if let Value::Object(members) = value {
        for (name, member) in members {
            pointers(member, &format!("{here}/{name}"), found);
        }
    }
    if let Value::Array(elements) = value {
        for (index, element) in elements.iter().enumerate() {
            pointers(element, &format!("{here}/{index}"), found);
        }
    }
}

fn check_silence(line: &[u8]) -> Result<(), TestCaseError> {
    let Err(error) = parse_line(line) else {
        return Ok(());
    };
    let told = format!("{error} {error:?}");
    let digits = SECRET_NUMBER.to_string();
    for secret in [SECRET, STANDARD.encode(SECRET).as_str(), digits.as_str()] {
        for start in 0..=secret.len() - 4 {
            prop_assert!(!told.contains(&secret[start..start + 4]), "{}", told);
        }
    }
    Ok(())
}

/// Returns values of every type that hold the secret.
fn hostile() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(SECRET)),
        Just(json!(SECRET_NUMBER)),
        Just(json!(918_273.645)),
        Just(json!([SECRET])),
        Just(json!([[SECRET, SECRET]])),
        Just(json!({SECRET: SECRET})),
        Just(json!({"content-type": [SECRET, {SECRET: SECRET}]})),
        Just(json!([[SECRET, SECRET, SECRET]])),
        Just(json!([["content-type", {SECRET: 1}]])),
        Just(json!(format!("{SECRET}\u{0}"))),
        Just(json!(SECRET.repeat(300))),
        Just(json!(true)),
        Just(Value::Null),
    ]
}

#[derive(Debug, Clone)]
enum Mutation {
    Replace(usize, u8),
    Insert(usize, u8),
    Remove(usize, usize),
    Repeat(usize, usize),
}

impl Mutation {
    fn apply(&self, line: &mut Vec<u8>) {
        let place = |at: usize, line: &Vec<u8>| at % (line.len() + 1);
        match *self {
            Self::Replace(at, byte) => {
                let at = place(at, line);
                if let Some(slot) = line.get_mut(at) {
                    *slot = byte;
                }
            }
            Self::Insert(at, byte) => line.insert(place(at, line), byte),
            Self::Remove(at, count) => {
                let at = place(at, line);
                line.drain(at..(at + count).min(line.len()));
            }
            Self::Repeat(at, count) => {
                let at = place(at, line);
                let piece = line[at..(at + count).min(line.len())].to_vec();
                line.splice(at..at, piece);
            }
        }
    }
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let byte = prop_oneof![
        any::<u8>(),
        prop::sample::select(br#""\{}[]:,.0nte-u"#.to_vec()),
    ];
    prop_oneof![
        (any::<usize>(), byte.clone()).prop_map(|(at, byte)| Mutation::Replace(at, byte)),
        (any::<usize>(), byte).prop_map(|(at, byte)| Mutation::Insert(at, byte)),
        (any::<usize>(), 1..40_usize).prop_map(|(at, count)| Mutation::Remove(at, count)),
        (any::<usize>(), 1..40_usize).prop_map(|(at, count)| Mutation::Repeat(at, count)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_bytes_come_back_from_base64(
        request in vec(any::<u8>(), 0..2000),
        response in vec(any::<u8>(), 0..2000),
    ) {
        let exchange = accepted(&[
            ("request.body_b64", json!(STANDARD.encode(&request))),
            ("response.body_utf8", Value::Null),
            ("response.body_b64", json!(STANDARD.encode(&response))),
        ]);
        prop_assert_eq!(exchange.request_body, Some(request));
        prop_assert_eq!(exchange.response_body, Some(response));
    }

    #[test]
    fn any_text_comes_back_from_utf8(request in any::<String>(), response in any::<String>()) {
        let exchange = accepted(&[
            ("request.body_utf8", json!(request)),
            ("response.body_utf8", json!(response)),
        ]);
        prop_assert_eq!(exchange.request_body, Some(request.into_bytes()));
        prop_assert_eq!(exchange.response_body, Some(response.into_bytes()));
    }

    #[test]
    fn arbitrary_bytes_are_answered(line in vec(any::<u8>(), 0..300)) {
        prop_assert!(parse_line(&line).is_err());
    }

    #[test]
    fn mutated_lines_are_answered_without_their_text(mutations in vec(mutation(), 1..6)) {
        let mut line = secret_line().to_string().into_bytes();
        for mutation in &mutations {
            mutation.apply(&mut line);
        }
        check_silence(&line)?;
    }

    #[test]
    fn no_error_holds_a_value_of_the_line(
        places in vec((any::<prop::sample::Index>(), hostile()), 1..4),
    ) {
        let mut line = secret_line();
        for (place, value) in places {
            let mut found = Vec::new();
            pointers(&line, "", &mut found);
            let pointer = &found[place.index(found.len())];
            *line.pointer_mut(pointer).unwrap() = value;
        }
        check_silence(line.to_string().as_bytes())?;
    }

    #[test]
    fn an_accepted_exchange_is_consistent(
        status in prop_oneof![Just(Value::Null), (90..610_u16).prop_map(|status| json!(status))],
        body in prop_oneof![Just(Value::Null), ".{0,9}".prop_map(|body| json!(body))],
        outcome in prop::sample::select(vec![
            Value::Null,
            json!("response_received"),
            json!("http_error"),
            json!("no_response"),
            json!("interrupted"),
        ]),
        exception in prop_oneof![Just(Value::Null), Just(json!("TimeoutError"))],
        path in ".{0,60}",
    ) {
        let response = json!({"status": status, "body_utf8": body});
        let parsed = parsed(&[
            ("response", response),
            ("outcome", outcome.clone()),
            ("exception_type", exception),
            ("request.path", json!(path)),
        ]);
        let Ok(exchange) = parsed else {
            return Ok(());
        };
        prop_assert!(outcome.is_null() || outcome == exchange.outcome.as_str());
        prop_assert_eq!(exchange.response_body.is_some(), !body.is_null());
        prop_assert!(exchange.endpoint.len() <= ENDPOINT_BYTES_MAX);
        let status = exchange.status;
        let agrees = match exchange.outcome {
            TransportOutcome::NoResponse => status.is_none() && body.is_null(),
            TransportOutcome::ResponseReceived => status.is_some_and(|status| status < 400),
            TransportOutcome::HttpError => status.is_some_and(|status| status >= 400),
            TransportOutcome::Interrupted => true,
        };
        prop_assert!(agrees);
    }
}
