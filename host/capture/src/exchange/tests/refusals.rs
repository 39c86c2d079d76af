//! What is refused, with its exact message.

use model::bounds::{BODY_BYTES_MAX, NAME_BYTES_MAX};
use serde_json::{Value, json};

use super::super::{Base64Fault, JsonFault, JsonType, LINE_BYTES_MAX, LineError, parse_line};
use super::{line_with, parsed, refused, refused_rows, refused_text};
use crate::endpoint::EndpointError;

#[test]
fn a_line_over_its_bound() {
    let line = vec![b' '; LINE_BYTES_MAX + 1];
    let error = parse_line(&line).unwrap_err();
    assert_eq!(
        error,
        LineError::LineTooLong {
            found: LINE_BYTES_MAX + 1
        }
    );
    assert_eq!(
        error.to_string(),
        "the line: expected at most 268435456 bytes, found 268435457"
    );
}

#[test]
fn a_line_that_is_not_utf8_wherever_it_stands() {
    for (line, column) in [
        (b"{\"a\":\"\xff\"}".as_slice(), 7),
        (b"\xef\xbb\xbf{\"\xc3\"", 6),
        (b"\xef\xbb", 1),
    ] {
        let error = parse_line(line).unwrap_err();
        assert_eq!(error, LineError::NotUtf8 { column });
        let message = format!("the line: expected UTF-8, found another byte at column {column}");
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_line_that_is_not_json() {
    let syntax = "the line: expected JSON, found a syntax error at column";
    let end = "the line: expected JSON, found the end of the line at column";
    refused_text("", &format!("{end} 1"));
    refused_text(r#"{"id":"secret"#, &format!("{end} 13"));
    refused_text(r#"{"id":"s","#, &format!("{end} 10"));
    refused_text("secret", &format!("{syntax} 1"));
    refused_text(r#"{"id":secret}"#, &format!("{syntax} 7"));
    refused_text("{\"id\":\n  secret}", &format!("{syntax} 10"));
    refused_text("\u{feff}{\"id\":secret}", &format!("{syntax} 10"));
    refused_text(r#"{"a":1,}"#, &format!("{syntax} 8"));
    refused_text("{\"a\":\"\n\"}", &format!("{syntax} 6"));
    let error = refused_text(r#"{"a":1} {"#, &format!("{syntax} 9"));
    assert_eq!(
        error,
        LineError::NotJson {
            fault: JsonFault::Syntax,
            column: 9
        }
    );
}

#[test]
fn a_line_that_is_no_object() {
    for (line, found) in [
        (r#"["secret"]"#, JsonType::Array),
        (r#" "secret""#, JsonType::String),
        ("123", JsonType::Number),
        ("null", JsonType::Null),
        ("true", JsonType::Boolean),
    ] {
        let message = format!("the line: expected an object, found {found}");
        assert_eq!(refused_text(line, &message), LineError::NotObject { found });
    }
}

#[test]
fn deep_nesting_wherever_it_stands() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let line = |name: &str, value: &str| format!("{{\"{name}\":{value},{}", &line_with(&[])[1..]);
    let message = "the line: expected at most 128 levels in a member, found more";
    assert!(parse_line(line("other", &deep(128)).as_bytes()).is_ok());
    assert_eq!(
        refused_text(&line("other", &deep(129)), message),
        LineError::TooDeep
    );
    let end = "the line: expected JSON, found the end of the line at column 1000000";
    refused_text(&"{\"a\":".repeat(200_000), end);
    let million = deep(1_000_000);
    refused_text(&line("other", &million), message);
    refused_text(
        &line("id", &million),
        "`id`: expected a string or null, found an array",
    );
    let response = |members: &str| {
        let request = r#""request":{"method":"GET","path":"/"}"#;
        format!("{{\"dialect\":\"unknown\",{request},\"response\":{{{members}}}}}")
    };
    refused_text(&response(&format!("\"other\":{million}")), message);
    refused_text(
        &response(&format!("\"headers\":{{\"x-other\":{million}}}")),
        message,
    );
    refused_text(
        &response(&format!("\"headers\":{million}")),
        "`response.headers`: entry 1: expected an array of a name and a value, found an array \
         of another length",
    );
    let brackets = format!("[\"{}\\\"{}\"]", "[".repeat(500), "{".repeat(500));
    assert!(parse_line(line("other", &brackets).as_bytes()).is_ok());
}

#[test]
fn a_member_of_another_type() {
    refused_rows(
        r#"
        id                 | 7          | expected a string or null | a number
        id                 | ["secret"] | expected a string or null | an array
        provider           | true       | expected a string or null | a boolean
        dialect            | {}         | expected the name of a dialect | an object
        dialect            | null       | expected the name of a dialect | null
        request            | "secret"   | expected an object | a string
        request            | null       | expected an object | null
        request.method     | 1          | expected an HTTP method | a number
        request.method     | null       | expected an HTTP method | null
        request.path       | []         | expected a path | an array
        request.path       | null       | expected a path | null
        request.body_utf8  | {"a":1}    | expected a string or null | an object
        request.body_b64   | false      | expected a string of base64 or null | a boolean
        response           | []         | expected an object or null | an array
        response.status    | "200"      | expected an integer from 100 to 599 or null | a string
        response.headers   | "secret"   | expected an object, an array of pairs or null | a string
        response.body_utf8 | 1          | expected a string or null | a number
        response.body_b64  | []         | expected a string of base64 or null | an array
        "#,
    );
    let error = parsed(&[("id", json!(7))]).unwrap_err();
    let (expected, found) = ("a string or null", JsonType::Number);
    assert_eq!(
        error,
        LineError::WrongType {
            field: "id",
            expected,
            found
        }
    );
}

#[test]
fn a_member_that_is_missing() {
    refused_text(
        "{}",
        "`dialect`: expected the name of a dialect, found nothing",
    );
    refused_text(
        r#"{"dialect":"unknown"}"#,
        "`request`: expected an object, found nothing",
    );
    refused_text(
        r#"{"dialect":"unknown","request":{}}"#,
        "`request.path`: expected a path, found nothing",
    );
    refused_text(
        r#"{"dialect":"unknown","request":{"path":"/"}}"#,
        "`request.method`: expected an HTTP method, found nothing",
    );
}

#[test]
fn another_dialect_with_the_list() {
    refused(
        &[("dialect", json!("secret"))],
        "`dialect`: expected one of openai.chat, openai.responses, openai.completions, \
         anthropic.messages, anthropic.complete, gemini.generate_content, bedrock.converse, \
         bedrock.invoke, mistral.chat, cohere.v1.chat, cohere.v2.chat, ollama.chat, \
         ollama.generate, unknown, chat_completions, responses, messages, found another text",
    );
}

#[test]
fn a_name_that_is_empty_or_holds_control_characters() {
    for field in ["id", "provider"] {
        let message = format!(
            "`{field}`: expected a text that is not empty and has no control characters, found \
             another text"
        );
        for value in ["", "a\nb", "\u{1b}[2J"] {
            refused(&[(field, json!(value))], &message);
        }
    }
}

#[test]
fn a_text_over_its_bound() {
    let name = json!("n".repeat(NAME_BYTES_MAX + 1));
    let escapes = "\\u006e".repeat(NAME_BYTES_MAX + 1);
    for field in ["id", "provider"] {
        let error = refused(
            &[(field, name.clone())],
            &format!("`{field}`: expected at most 512 bytes, found more"),
        );
        assert_eq!(
            error,
            LineError::TooLong {
                field,
                limit: NAME_BYTES_MAX
            }
        );
    }
    refused_text(
        &format!("{{\"id\":\"{escapes}\"}}"),
        "`id`: expected at most 512 bytes, found more",
    );
    refused(
        &[("request.method", json!("M".repeat(33)))],
        "`request.method`: expected at most 32 bytes, found more",
    );
    refused(
        &[(
            "request.path",
            json!(format!("/?{}", "q".repeat(64 * 1024))),
        )],
        "`request.path`: expected at most 65536 bytes, found more",
    );
}

#[test]
fn a_body_over_its_bound() {
    let text = json!("a".repeat(BODY_BYTES_MAX + 1));
    let base64 = json!("A".repeat(BODY_BYTES_MAX.div_ceil(3) * 4));
    let longer = json!("A".repeat(BODY_BYTES_MAX.div_ceil(3) * 4 + 4));
    for (field, value) in [
        ("request.body_utf8", text),
        ("request.body_b64", base64),
        ("response.body_b64", longer),
    ] {
        let changes = [("response.body_utf8", Value::Null), (field, value)];
        let message = format!("`{field}`: expected at most 67108864 bytes, found more");
        let error = refused(&changes, &message);
        assert_eq!(
            error,
            LineError::TooLong {
                field,
                limit: BODY_BYTES_MAX
            }
        );
    }
}

#[test]
fn a_method_or_path_that_is_none() {
    for method in ["", "GE T", "GET\r\n", "G\u{e9}T"] {
        refused(
            &[("request.method", json!(method))],
            "`request.method`: expected an HTTP method of token characters, found another text",
        );
    }
    let error = refused(
        &[("request.path", json!("u:secret@example.com/v1"))],
        "`request.path`: expected a path that starts with `/` or a URL, found a text that may \
         name a host",
    );
    assert_eq!(error, LineError::Path(EndpointError::MayNameHost));
    refused(
        &[("request.path", json!("/a\u{0}"))],
        "`request.path`: expected a path without control characters, found one",
    );
    refused(
        &[("request.path", json!(format!("/{}", "a".repeat(1024))))],
        "`request.path`: expected a path of at most 1024 bytes, found more",
    );
}

#[test]
fn both_forms_of_a_body() {
    for object in ["request", "response"] {
        let fields = [format!("{object}.body_utf8"), format!("{object}.body_b64")];
        let changes = [
            (fields[0].as_str(), json!("")),
            (fields[1].as_str(), json!("")),
        ];
        let message = format!("`{object}`: expected `body_b64` or `body_utf8`, found both");
        assert_eq!(refused(&changes, &message), LineError::TwoBodies { object });
    }
}

#[test]
fn base64_of_another_kind() {
    let field = "request.body_b64";
    for (text, fault, found) in [
        (
            "a-_b",
            Base64Fault::Character { position: 2 },
            "another character at position 2",
        ),
        (
            "QUJD\nQUJD",
            Base64Fault::Character { position: 5 },
            "another character at position 5",
        ),
        (
            "QQ==QQ==",
            Base64Fault::Character { position: 3 },
            "another character at position 3",
        ),
        ("QUJDQ", Base64Fault::Length, "a length that no bytes have"),
        ("QQ", Base64Fault::Padding, "wrong padding at the end"),
        ("QQ=", Base64Fault::Padding, "wrong padding at the end"),
        (
            "QR==",
            Base64Fault::SpareBits,
            "spare bits in the last character",
        ),
    ] {
        let message = format!("`{field}`: expected standard base64 with padding, found {found}");
        let error = refused(&[(field, json!(text))], &message);
        assert_eq!(error, LineError::NotBase64 { field, fault });
    }
}

#[test]
fn a_status_that_is_none() {
    for text in [
        "99",
        "600",
        "0",
        "-1",
        "200.0",
        "2e2",
        "1e999",
        "99999999999999999999",
    ] {
        let line = format!(
            r#"{{"dialect":"unknown","request":{{"method":"GET","path":"/"}},
                "response":{{"status":{text}}}}}"#
        );
        refused_text(
            &line,
            "`response.status`: expected an integer from 100 to 599 or null, found another number",
        );
    }
}

#[test]
fn a_member_that_stands_twice() {
    let line = r#""dialect":"unknown","request":{"method":"GET","path":"/"},"response":null"#;
    for (text, field) in [
        (format!("{{{line},\"dialect\":\"unknown\"}}"), "dialect"),
        (format!("{{{line},\"id\":null,\"\\u0069d\":\"x\"}}"), "id"),
        (
            line.replace("null", r#"{"status":200,"status":200}"#),
            "response.status",
        ),
        (
            line.replace("null", r#"{"body_utf8":null,"body_utf8":""}"#),
            "response.body_utf8",
        ),
        (
            line.replace(r#""path""#, r#""method":"GET","path""#),
            "request.method",
        ),
    ] {
        let text = if text.starts_with('{') {
            text
        } else {
            format!("{{{text}}}")
        };
        let message = format!("`{field}`: expected one member of this name, found more");
        assert_eq!(
            refused_text(&text, &message),
            LineError::Duplicate { field }
        );
    }
}

#[test]
fn a_lone_surrogate_in_what_is_read() {
    let line = |id: &str, headers: &str, body: &str| {
        format!(
            r#"{{"dialect":"unknown","id":"{id}","request":{{"method":"GET","path":"/"}},
                "response":{{"status":200,"headers":{headers},"body_utf8":"{body}"}}}}"#
        )
    };
    let message =
        |field| format!("`{field}`: expected Unicode text, found the escape of a lone surrogate");
    let error = refused_text(&line("\\ud83e", "{}", ""), &message("id"));
    assert_eq!(error, LineError::LoneSurrogate { field: "id" });
    refused_text(&line("i", "{}", "\\udd91"), &message("response.body_utf8"));
    for headers in [
        r#"{"\ud800":"v"}"#,
        r#"{"date":"\ud800"}"#,
        r#"{"date":["\ud800"]}"#,
        r#"[["\ud800","v"]]"#,
        r#"[["date","\ud800"]]"#,
    ] {
        refused_text(&line("i", headers, ""), &message("response.headers"));
    }
    assert!(parse_line(line("\\ud83e\\udd91", r#"{"x":"\ud800"}"#, "").as_bytes()).is_ok());
}

#[test]
fn the_first_fault_of_a_line_is_named_and_syntax_comes_before_all() {
    let error = parsed(&[("id", json!(1)), ("dialect", json!(1))]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`id`: expected a string or null, found a number"
    );
    let message = "the line: expected JSON, found a syntax error at column 16";
    refused_text(r#"{"id":1,"id":2,]"#, message);
}
