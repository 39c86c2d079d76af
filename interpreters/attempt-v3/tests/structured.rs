//! Whether the text is what the request asked for.

use attempt_v3::Reading;
use attempt_v3::reading::StructuredOutput;
use serde_json::{Value, json};

use crate::common::Seen;

fn judged(seen: &Seen) -> StructuredOutput {
    let of = |reading: &Reading<'_>, _: &[u8]| reading.structured_output.clone();
    seen.read(of).unwrap()
}

fn invalid(why: &str) -> StructuredOutput {
    StructuredOutput::Invalid(why.to_owned())
}

fn chat(text: &str, format: &Value) -> Seen {
    let body = json!({"choices":[{"message":{"content":text},"finish_reason":"stop"}]});
    let mut seen = Seen::ok("openai.chat", body.to_string());
    seen.request = Some(
        json!({"model":"m","response_format":format})
            .to_string()
            .into_bytes(),
    );
    seen
}

fn by_schema(text: &str, schema: &Value) -> StructuredOutput {
    let format =
        json!({"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":schema}});
    judged(&chat(text, &format))
}

#[test]
fn nothing_is_judged_that_was_not_asked_for() {
    assert_eq!(
        judged(&chat("x", &json!({"type":"text"}))),
        StructuredOutput::NotRequested
    );
    assert_eq!(
        judged(&chat("x", &Value::Null)),
        StructuredOutput::NotRequested
    );
    let mut gone = chat("x", &json!({"type":"json_object"}));
    gone.request = None;
    assert_eq!(judged(&gone), StructuredOutput::NotRequested);
    let mut broken = chat("x", &json!({"type":"json_object"}));
    broken.request = Some(b"{\"response_format\":".to_vec());
    assert_eq!(judged(&broken), StructuredOutput::NotRequested);
}

#[test]
fn a_text_that_should_be_json_is_held_against_the_grammar() {
    let format = json!({"type":"json_object"});
    assert_eq!(
        judged(&chat(" {\"a\":[1,2]} ", &format)),
        StructuredOutput::Valid
    );
    for (text, why) in [
        ("{\"a\":", "not JSON at byte 5"),
        ("```json\n{}\n```", "not JSON at byte 0"),
        ("{} {}", "not JSON: something follows the value at byte 3"),
        ("[NaN]", "not JSON: a number has no value"),
    ] {
        assert_eq!(judged(&chat(text, &format)), invalid(why), "{text}");
    }
}

/// A schema, a text, and what is wrong with it; nothing where it is valid.
const KEYWORDS: &[(&str, &str, &str)] = &[
    (r#"{"type":"object"}"#, "{}", ""),
    (r#"{"type":"object"}"#, "[]", "at \"\": type is array"),
    (r#"{"type":["string","null"]}"#, "null", ""),
    (r#"{"type":"integer"}"#, "2.0", ""),
    (r#"{"type":"integer"}"#, "2.5", "at \"\": type is number"),
    (r#"{"type":"number"}"#, "2", ""),
    (
        r#"{"required":["a"]}"#,
        "{}",
        "at \"\": required member \"a\" is missing",
    ),
    (
        r#"{"properties":{"a":{"type":"string"}}}"#,
        r#"{"a":1}"#,
        "at \"/a\": type is integer",
    ),
    (
        r#"{"properties":{"a":{}},"additionalProperties":false}"#,
        r#"{"b":1}"#,
        "at \"/b\": no value is allowed here",
    ),
    (
        r#"{"additionalProperties":{"type":"string"}}"#,
        r#"{"b/c":1}"#,
        "at \"/b~1c\": type is integer",
    ),
    (
        r#"{"items":{"type":"string"}}"#,
        r#"["a",1]"#,
        "at \"/1\": type is integer",
    ),
    (
        r#"{"prefixItems":[{"type":"integer"}],"items":{"type":"string"}}"#,
        r#"[1,"a"]"#,
        "",
    ),
    (r#"{"minItems":2}"#, "[1]", "at \"\": minItems"),
    (r#"{"maxItems":1}"#, "[1,2]", "at \"\": maxItems"),
    (r#"{"minLength":2}"#, "\"é\"", "at \"\": minLength"),
    (r#"{"maxLength":1}"#, "\"é\"", ""),
    (r#"{"minimum":2}"#, "2", ""),
    (
        r#"{"exclusiveMinimum":2}"#,
        "2",
        "at \"\": exclusiveMinimum",
    ),
    (r#"{"maximum":2}"#, "3", "at \"\": maximum"),
    (r#"{"exclusiveMaximum":2}"#, "1.9", ""),
    (r#"{"enum":["a",1]}"#, "1.0", ""),
    (r#"{"enum":["a",1]}"#, "\"b\"", "at \"\": enum"),
    (r#"{"const":{"a":[1]}}"#, r#"{"a":[1.0]}"#, ""),
    (r#"{"const":{"a":[1]}}"#, r#"{"a":[2]}"#, "at \"\": const"),
    (
        r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
        "1",
        "at \"\": anyOf",
    ),
    (
        r#"{"oneOf":[{"type":"number"},{"type":"integer"}]}"#,
        "1",
        "at \"\": oneOf",
    ),
    (
        r#"{"allOf":[{"type":"number"},{"minimum":5}]}"#,
        "1",
        "at \"\": minimum",
    ),
    (r#"{"not":{"type":"number"}}"#, "1", "at \"\": not"),
    (
        r##"{"$ref":"#/$defs/n","$defs":{"n":{"type":"null"}}}"##,
        "1",
        "at \"\": type is integer",
    ),
    (
        r##"{"$defs":{"t":{"type":"object","properties":{"next":{"$ref":"#/$defs/t"}}}},"$ref":"#/$defs/t"}"##,
        r#"{"next":{"next":1}}"#,
        "at \"/next/next\": type is integer",
    ),
    (r#"{"type":"STRING","nullable":true}"#, "null", ""),
];

#[test]
fn every_keyword_that_is_looked_at_holds_or_names_its_place() {
    for (schema, text, why) in KEYWORDS {
        let wanted = if why.is_empty() {
            StructuredOutput::Valid
        } else {
            invalid(why)
        };
        let parsed = serde_json::from_str(schema).unwrap();
        assert_eq!(by_schema(text, &parsed), wanted, "{schema} {text}");
    }
}

#[test]
fn what_is_not_looked_at_is_said() {
    let pattern = json!({"type":"json_schema","json_schema":{"schema":{"pattern":"^a"}}});
    let seen = chat("\"b\"", &pattern);
    assert_eq!(judged(&seen), StructuredOutput::Valid);
    assert!(seen.has_fact("schema_partly_checked"));
    // A reference to itself has no end.
    let endless = json!({"type":"json_schema","json_schema":{"schema":{"$ref":"#"}}});
    let seen = chat("1", &endless);
    assert_eq!(judged(&seen), StructuredOutput::Valid);
    assert!(seen.has_fact("schema_partly_checked"));
    // Two ways at every step: a million steps, and no more.
    let wide = json!({"type":"json_schema","json_schema":{"schema":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}}});
    assert!(chat("1", &wide).has_fact("schema_partly_checked"));
}

#[test]
fn every_dialect_asks_in_its_own_place() {
    let schema = json!({"type":"object","required":["a"]});
    let gemini =
        json!({"candidates":[{"content":{"parts":[{"text":"{}"}]},"finishReason":"STOP"}]});
    let messages =
        json!({"type":"message","content":[{"type":"text","text":"{}"}],"stop_reason":"end_turn"});
    for (dialect, body, request) in [
        (
            "openai.responses",
            json!({"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"{}"}]}]}),
            json!({"text":{"format":{"type":"json_schema","schema":schema}}}),
        ),
        (
            "anthropic.messages",
            messages.clone(),
            json!({"output_format":{"type":"json_schema","schema":schema}}),
        ),
        (
            "anthropic.messages",
            messages,
            json!({"output_config":{"format":{"type":"json_schema","schema":schema}}}),
        ),
        (
            "gemini.generate_content",
            gemini.clone(),
            json!({"generationConfig":{"responseMimeType":"application/json","responseSchema":{"type":"OBJECT","required":["a"]}}}),
        ),
        (
            "gemini.generate_content",
            gemini,
            json!({"generationConfig":{"responseJsonSchema":schema,"responseMimeType":"application/json"}}),
        ),
        (
            "cohere.v2.chat",
            json!({"message":{"content":[{"type":"text","text":"{}"}]},"finish_reason":"COMPLETE"}),
            json!({"response_format":{"type":"json_object","schema":schema}}),
        ),
        (
            "ollama.chat",
            json!({"message":{"content":"{}"},"done":true,"done_reason":"stop"}),
            json!({"format":schema}),
        ),
    ] {
        let mut seen = Seen::ok(dialect, body.to_string());
        seen.request = Some(request.to_string().into_bytes());
        let why = "at \"\": required member \"a\" is missing";
        assert_eq!(judged(&seen), invalid(why), "{dialect} {request}");
    }
}

#[test]
fn without_text_the_answer_depends_on_the_state() {
    let request = json!({"response_format":{"type":"json_object"}}).to_string();
    let mut refused = Seen::ok(
        "openai.chat",
        r#"{"choices":[{"message":{"refusal":"No."},"finish_reason":"stop"}]}"#,
    );
    refused.request = Some(request.clone().into_bytes());
    assert_eq!(
        judged(&refused),
        invalid("there is no text; the state is refused")
    );
    let mut calling = Seen::ok(
        "openai.chat",
        r#"{"choices":[{"message":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#,
    );
    calling.request = Some(request.into_bytes());
    assert_eq!(judged(&calling), StructuredOutput::NotRequested);
    assert!(calling.has_fact("structured_output_deferred"));
}
