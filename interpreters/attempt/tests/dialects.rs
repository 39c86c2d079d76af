//! What is read from each dialect beside the state.

use attempt::reading::{Fact, Reading, ToolCall};
use attempt::{Interpreter, interpret};

use crate::common::{chat, chat_body, cited, conclusion, fact, read, success};

fn call<'a>(id: Option<&'a str>, name: &'a str, arguments: &'a str) -> ToolCall<'a> {
    ToolCall {
        id: id.map(Into::into),
        name: name.into(),
        arguments: arguments.into(),
    }
}

fn messages(body: &str) -> Reading<'_> {
    read("anthropic.messages", body)
}

fn responses(body: &str) -> Reading<'_> {
    read("openai.responses", body)
}

#[test]
fn chat_content_is_a_string_or_the_joined_text_of_its_parts() {
    let cases = [
        (r#""hello""#, Some("hello")),
        (
            r#"[{"type":"text","text":"hel"},{"type":"image"},{"text":"lo"}]"#,
            Some("hello"),
        ),
        (r#"[7,null,"x",{"text":7},{"text":"a"}]"#, Some("a")),
        (r#""  ""#, Some("  ")),
        (r#""""#, None),
        ("[]", None),
        ("null", None),
        ("7", None),
        (r#"{"text":"x"}"#, None),
    ];
    for (content, text) in cases {
        let body = chat_body(content);
        assert_eq!(chat(&body).output_text.as_deref(), text, "{content}");
    }
}

#[test]
fn responses_text_is_joined_from_text_blocks_and_never_from_reasoning() {
    let body = r#"{"status":"completed","output":[
        {"type":"reasoning","content":[{"type":"text","text":"hidden"}]},
        {"type":"message","content":[
            {"type":"output_text","text":"one "},
            {"text":"two ","type":"text"},
            {"type":"summary_text","text":"no"},
            {"text":"untyped"}]},
        {"type":"web_search_call","status":"failed"},
        {"content":[{"type":"output_text","text":"three"}],"type":"message"},
        {"content":[{"type":"output_text","text":"hidden"}],"type":"reasoning"},
        7]}"#;
    assert_eq!(
        responses(body).output_text.as_deref(),
        Some("one two three")
    );
}

#[test]
fn messages_text_is_joined_from_text_blocks_and_blank_text_is_none() {
    let body = r#"{"stop_reason":"end_turn","content":[{"type":"thinking","thinking":"hidden","text":"no"},
        {"type":"text","text":"one "},{"text":"two","type":"text"}]}"#;
    assert_eq!(messages(body).output_text.as_deref(), Some("one two"));
    let blank = r#"{"stop_reason":"end_turn","content":[{"type":"text","text":" \n"}]}"#;
    assert_eq!(messages(blank).output_text, None);
    assert_eq!(messages(blank).citations.len(), 1);
}

#[test]
fn chat_tool_calls_are_listed_and_do_not_change_the_state() {
    let body = r#"{"choices":[{"message":{"content":"text","tool_calls":[
        {"id":"call_1","type":"function","function":{"name":"look","arguments":"{\"a\": 1}"}},
        {"id":null,"function":{"name":"up","arguments":{"b": 2}}},
        {"function":{}},
        "no call"]},"finish_reason":"stop"}]}"#;
    let reading = chat(body);
    let expected = vec![
        call(Some("call_1"), "look", r#"{"a": 1}"#),
        call(None, "up", r#"{"b": 2}"#),
        call(None, "", ""),
    ];
    assert_eq!(reading.tool_calls, expected);
    assert_eq!(reading.generation_state.as_str(), "complete");
}

#[test]
fn responses_function_calls_are_listed_and_prefer_the_call_id() {
    let body = r#"{"status":"completed","output":[
        {"type":"function_call","id":"fc_1","call_id":"call_1","name":"look","arguments":"{}"},
        {"arguments":"[1]","name":"up","id":"fc_2","type":"function_call"}]}"#;
    let expected = vec![
        call(Some("call_1"), "look", "{}"),
        call(Some("fc_2"), "up", "[1]"),
    ];
    let reading = responses(body);
    assert_eq!(reading.tool_calls, expected);
    assert_eq!(reading.generation_state.as_str(), "empty");
}

#[test]
fn messages_tool_use_blocks_are_listed_with_their_input_as_it_stands() {
    let body = r#"{"stop_reason":"tool_use","content":[{"type":"tool_use","id":"toolu_1","name":"look","input":{ "a" : [1, 2e3] }}]}"#;
    let reading = messages(body);
    let expected = vec![call(Some("toolu_1"), "look", r#"{ "a" : [1, 2e3] }"#)];
    assert_eq!(reading.tool_calls, expected);
    let rule = "completion_map_v1:unmapped";
    assert_eq!(
        conclusion(&reading),
        ("unknown", None, "generation_state", rule)
    );
}

#[test]
fn tool_arguments_are_valid_when_all_of_them_are_json() {
    for (first, second, valid) in [
        (r#""{}""#, r#""[1]""#, true),
        (r#""{}""#, r#""""#, false),
        (r#""{\"sql\": \"select""#, r#""{}""#, false),
        (r#""{} {}""#, r#""{}""#, false),
        (r#"{"a":1}"#, "null", true),
    ] {
        let body = format!(
            r#"{{"choices":[{{"message":{{"tool_calls":[{{"function":{{"arguments":{first}}}}},{{"function":{{"arguments":{second}}}}}]}}}}]}}"#
        );
        let found = fact(&chat(&body), "tool_arguments_valid");
        assert_eq!(found, Some(Fact::Flag(valid)), "{first} {second}");
    }
}

#[test]
fn without_calls_and_losses_there_are_no_facts() {
    assert_eq!(chat(&chat_body(r#""text""#)).facts, vec![]);
}

#[test]
fn refusals_are_read_and_do_not_change_the_state() {
    let body = r#"{"choices":[{"message":{"content":"a","refusal":"no"},"finish_reason":"stop"}]}"#;
    let reading = chat(body);
    assert_eq!(reading.refusal.as_deref(), Some("no"));
    assert_eq!(reading.generation_state.as_str(), "complete");
    let body = r#"{"status":"completed","output":[{"type":"message","content":[
        {"type":"refusal","refusal":"I can"},{"type":"refusal","refusal":"not"}]}]}"#;
    let reading = responses(body);
    assert_eq!(reading.refusal.as_deref(), Some("I cannot"));
    assert_eq!(reading.generation_state.as_str(), "empty");
    let body = r#"{"choices":[{"message":{"content":"a","refusal":""},"finish_reason":"stop"}]}"#;
    assert_eq!(chat(body).refusal, None);
}

#[test]
fn model_and_response_id_are_strings_or_none() {
    let reading = chat(r#"{"id":"r\u002d1","model":"kestrel-2"}"#);
    assert_eq!(reading.response_id.as_deref(), Some("r-1"));
    assert_eq!(reading.model.as_deref(), Some("kestrel-2"));
    let reading = chat(r#"{"id":7,"model":["kestrel-2"]}"#);
    assert_eq!((reading.response_id, reading.model), (None, None));
}

#[test]
fn several_choices_are_given_by_index_and_the_first_in_the_body_counts() {
    let body = r#"{"choices":[
        {"index":1,"message":{"content":"second"},"finish_reason":"length"},
        {"index":0,"message":{"content":"first"},"finish_reason":"stop"}]}"#;
    let states = |version| -> Vec<(u32, &'static str, Option<String>, Option<String>)> {
        let reading = interpret(version, &success("openai.chat", body.as_bytes()));
        assert_eq!(reading.output_text.as_deref(), Some("second"));
        let choices = reading.choices.into_iter();
        choices
            .map(|it| {
                let state = it.generation_state.as_str();
                let reason = it.provider_reason.map(String::from);
                (it.index, state, reason, it.output_text.map(String::from))
            })
            .collect()
    };
    let of = |index, state, reason: &str, text: &str| {
        (index, state, Some(reason.to_owned()), Some(text.to_owned()))
    };
    let first = of(0, "complete", "stop", "first");
    let expected = vec![first.clone(), of(1, "truncated", "length", "second")];
    assert_eq!(states(Interpreter::V2), expected);
    assert_eq!(
        states(Interpreter::V1),
        vec![first, of(1, "complete", "length", "second")]
    );
}

#[test]
fn unusable_indexes_are_replaced_by_positions() {
    for indexes in [
        ["0", "0"],
        ["5", "null"],
        ["-1", "0"],
        ["4294967296", "0"],
        ["1.0", "2"],
    ] {
        let [first, second] = indexes;
        let body = format!(
            r#"{{"choices":[{{"index":{first},"message":{{"content":"a"}}}},{{"index":{second},"message":{{"content":"b"}}}}]}}"#
        );
        let reading = chat(&body);
        let found: Vec<_> = reading
            .choices
            .iter()
            .map(|choice| (choice.index, choice.output_text.as_deref().unwrap()))
            .collect();
        assert_eq!(found, vec![(0, "a"), (1, "b")], "{indexes:?}");
    }
}

#[test]
fn a_single_choice_is_not_listed() {
    assert_eq!(chat(&chat_body(r#""text""#)).choices, vec![]);
}

#[test]
fn citations_are_the_byte_ranges_of_the_json_values() {
    let body = "{ \"choices\" : [ {\"message\":{\"content\": \"h\\u00e9llo é\"} , \"finish_reason\" :\t\"stop\"} ] }";
    let reading = chat(body);
    let text = Some(("/choices/0/message/content".to_owned(), "\"h\\u00e9llo é\""));
    assert_eq!(cited(&reading, "output_text", body), text);
    let reason = Some(("/choices/0/finish_reason".to_owned(), "\"stop\""));
    assert_eq!(cited(&reading, "provider_reason", body), reason);
}

#[test]
fn each_dialect_cites_its_own_places() {
    let body =
        r#"{"content":[{"type":"thinking"},{"type":"text","text":"a"}],"stop_reason":"end_turn"}"#;
    let reading = messages(body);
    let text = Some(("/content/1/text".to_owned(), "\"a\""));
    assert_eq!(cited(&reading, "output_text", body), text);
    let reason = Some(("/stop_reason".to_owned(), "\"end_turn\""));
    assert_eq!(cited(&reading, "provider_reason", body), reason);

    let body = r#"{"output":[{"type":"reasoning"},{"type":"message","content":[{},{"type":"text","text":"a"}]}],"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}"#;
    let reading = responses(body);
    let text = Some(("/output/1/content/1/text".to_owned(), "\"a\""));
    assert_eq!(cited(&reading, "output_text", body), text);
    let reason = (
        "/incomplete_details/reason".to_owned(),
        "\"max_output_tokens\"",
    );
    assert_eq!(cited(&reading, "provider_reason", body), Some(reason));

    let body = chat_body(r#"[{"text":""},{"text":"a"}]"#);
    let text = Some(("/choices/0/message/content/1/text".to_owned(), "\"a\""));
    assert_eq!(cited(&chat(&body), "output_text", &body), text);
}

#[test]
fn text_in_several_strings_is_not_cited() {
    let body = chat_body(r#"[{"text":"a"},{"text":"b"}]"#);
    assert_eq!(cited(&chat(&body), "output_text", &body), None);
}

#[test]
fn an_error_member_is_an_error_unless_it_is_null() {
    let cases = [
        (
            r#"{"code":502,"message":"up"}"#,
            Some((Some("502"), Some("up"))),
        ),
        (
            r#"{"code":null,"type":"overloaded_error","message":"busy"}"#,
            Some((Some("overloaded_error"), Some("busy"))),
        ),
        (r#"{"code":"c","type":"t"}"#, Some((Some("c"), None))),
        (r#"{"message":7}"#, Some((None, None))),
        (r#""plain""#, Some((None, Some("plain")))),
        ("{}", Some((None, None))),
        ("[]", Some((None, None))),
        ("false", Some((None, None))),
        ("0", Some((None, None))),
        ("null", None),
    ];
    for (error, expected) in cases {
        let body = format!(
            r#"{{"choices":[{{"message":{{"content":"a"}},"finish_reason":"stop"}}],"error":{error}}}"#
        );
        let reading = chat(&body);
        let found = reading.error.as_ref().map(|error| {
            assert_eq!(error.class.as_str(), "provider_error");
            (error.code.as_deref(), error.message.as_deref())
        });
        assert_eq!(found, expected, "{error}");
        let conclusion = conclusion(&reading);
        if expected.is_some() {
            let class = Some("provider_error");
            assert_eq!(
                conclusion,
                ("unknown", class, "body_signature", "error_member")
            );
        } else {
            let rule = "completion_map_v1:stop";
            assert_eq!(conclusion, ("complete", None, "generation_state", rule));
        }
        assert_eq!(reading.output_text.as_deref(), Some("a"));
    }
}

#[test]
fn bodies_without_choices_are_empty_for_version_1_and_unknown_for_version_2() {
    for (dialect, body) in [
        ("openai.chat", "{}"),
        ("openai.chat", r#"{"choices":[]}"#),
        ("openai.chat", r#"{"choices":"none"}"#),
        ("openai.chat", r#"{"choices":[null]}"#),
        ("openai.responses", r#"{"output":{}}"#),
        ("anthropic.messages", r#"{"content":"text"}"#),
    ] {
        let observation = success(dialect, body.as_bytes());
        let expected = ("empty", Some("empty_output"), "generation_state", "no_text");
        assert_eq!(
            conclusion(&interpret(Interpreter::V1, &observation)),
            expected
        );
        let rule = "completion_map_v1:no_reason";
        let expected = ("unknown", None, "generation_state", rule);
        assert_eq!(
            conclusion(&interpret(Interpreter::V2, &observation)),
            expected
        );
    }
}
