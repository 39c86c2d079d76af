//! Headers that are refused, with the exact message.

use serde_json::json;

use super::super::{HeaderFound, JsonType, LineError};
use super::{parsed, refused_rows, refused_text};

#[test]
fn an_entry_that_is_no_header() {
    refused_rows(
        r#"
        response.headers | [["date","d"],"x"]             | entry 2: expected an array of a name and a value | a string
        response.headers | [{"name":"date","value":"d"}]  | entry 1: expected an array of a name and a value | an object
        response.headers | [[]]                           | entry 1: expected an array of a name and a value | an array of another length
        response.headers | [["date"]]                     | entry 1: expected an array of a name and a value | an array of another length
        response.headers | [["date","d","e"]]             | entry 1: expected an array of a name and a value | an array of another length
        response.headers | [[1,"d"]]                      | entry 1: expected a string as the name | a number
        response.headers | {"se cret":"v"}                | entry 1: expected a name of token characters | another text
        response.headers | [["","v"]]                     | entry 1: expected a name of token characters | another text
        response.headers | {":status":"200"}              | entry 1: expected a name of token characters | another text
        "#,
    );
}

#[test]
fn a_value_that_is_none() {
    refused_rows(
        r#"
        response.headers | {"date":null}        | entry 1: expected a string or an integer as the value | null
        response.headers | {"date":1.5}         | entry 1: expected a string or an integer as the value | a number
        response.headers | {"date":1e3}         | entry 1: expected a string or an integer as the value | a number
        response.headers | {"date":true}        | entry 1: expected a string or an integer as the value | a boolean
        response.headers | {"date":["a",["b"]]} | entry 1: expected a string or an integer as the value | an array
        response.headers | {"date":{}}          | entry 1: expected a string or an integer as the value | an object
        response.headers | [["date",["a"]]]     | entry 1: expected a string or an integer as the value | an array
        "#,
    );
}

#[test]
fn the_error_names_the_entry() {
    let headers = json!([["date", "d"], ["set-cookie", null], ["date", null]]);
    let error = parsed(&[("response.headers", headers)]).unwrap_err();
    let expected = LineError::Header {
        field: "response.headers",
        entry: 3,
        expected: "a string or an integer as the value",
        found: HeaderFound::Type(JsonType::Null),
    };
    assert_eq!(error, expected);
}

#[test]
fn a_kept_header_that_stands_twice_in_an_object() {
    let line = r#"{"dialect":"unknown","request":{"method":"GET","path":"/"},
        "response":{"status":200,"headers":{"x-other":"a","date":"secret","date":"b"}}}"#;
    refused_text(
        line,
        "`response.headers`: entry 3: expected each name once, found it again",
    );
}
