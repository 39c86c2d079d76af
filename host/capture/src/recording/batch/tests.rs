use super::*;

fn answer(line: &str) -> Content {
    read_line(line.as_bytes(), None, Choice::default())
}

#[test]
fn a_request_without_method_is_a_post_and_needs_a_url() {
    let line = br#"{"custom_id":"a","url":"/v1/responses","body":{ "model" : 1 }}"#;
    let expected = Request {
        custom_id: "a".to_owned(),
        method: "POST".to_owned(),
        url: "/v1/responses".to_owned(),
        body: Some(br#"{ "model" : 1 }"#.to_vec()),
    };
    assert_eq!(read_request(line), Ok(expected));
    let missing = read_request(br#"{"custom_id":"a"}"#);
    assert_eq!(
        missing,
        Err(LineError::WrongType {
            field: "url",
            expected: "a path",
            found: JsonType::Nothing,
        })
    );
}

#[test]
fn a_custom_id_is_found_in_any_line_that_has_one() {
    assert_eq!(custom_id(br#"{"custom_id":"a","x":[}"#), None);
    assert_eq!(
        custom_id(br#"{"x":1,"custom_id":"a"}"#),
        Some("a".to_owned())
    );
    assert_eq!(custom_id(br#"{"custom_id":1}"#), None);
    assert_eq!(custom_id(b"1"), None);
}

#[test]
fn a_body_is_the_text_that_stands_in_its_line() {
    let line = r#"{"custom_id":"a","response":{"status_code":200,"body":{"object":"response","n":1.0e0 }}}"#;
    let Content::Recorded(recorded) = answer(line) else {
        panic!("{line}");
    };
    let body = recorded.exchange.response_body.unwrap();
    assert_eq!(body, br#"{"object":"response","n":1.0e0 }"#);
    assert_eq!(recorded.exactness, Exactness::Reserialised);
}

#[test]
fn a_body_that_is_null_is_none() {
    let line = br#"{"custom_id":"a","response":{"status_code":500,"body":null}}"#;
    let choice = Choice {
        dialect: Some("openai.chat"),
        all: false,
    };
    let Content::Recorded(recorded) = read_line(line, None, choice) else {
        panic!("not recorded");
    };
    assert_eq!(recorded.exchange.response_body, None);
    assert_eq!(recorded.exactness, Exactness::NotPreserved);
}

#[test]
fn a_line_of_another_kind_of_batch_is_malformed() {
    let line = r#"{"custom_id":"a","result":{"type":"succeeded","message":{}}}"#;
    let Content::Malformed(error) = answer(line) else {
        panic!("{line}");
    };
    assert_eq!(
        error,
        EntryError::Member(LineError::WrongType {
            field: "response",
            expected: "an object unless `error` is one",
            found: JsonType::Nothing,
        })
    );
}
