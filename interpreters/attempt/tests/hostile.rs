//! No bytes stop the program, and the grammar is the one of another parser.

use attempt::{Interpreter, Observation, Outcome, Reading, interpret};
use proptest::prelude::*;
use serde_json::Value;

use crate::common::{BOTH, chat, chat_body, read, success};

const DIALECTS: [&str; 4] = [
    "openai.chat",
    "openai.responses",
    "anthropic.messages",
    "other",
];

/// Checks what the host would refuse.
fn within_the_contract(reading: &Reading<'_>, body_length: usize) {
    for citation in &reading.citations {
        assert!(citation.start < citation.end);
        assert!(usize::try_from(citation.end).unwrap() <= body_length);
    }
    let mut names: Vec<&str> = reading.facts.iter().map(|(name, _)| *name).collect();
    let mut indexes: Vec<u32> = reading.choices.iter().map(|choice| choice.index).collect();
    let lengths = (names.len(), indexes.len());
    names.sort_unstable();
    names.dedup();
    assert!(indexes.is_sorted());
    indexes.dedup();
    assert_eq!((names.len(), indexes.len()), lengths);
    assert!(reading.basis.detail.len() <= 256);
    assert_ne!(reading.output_text.as_deref(), Some(""));
    let usage = &reading.usage;
    for count in [
        usage.input,
        usage.output,
        usage.cached_input,
        usage.cache_write,
        usage.reasoning,
        usage.total,
    ] {
        assert!(count.is_none_or(|count| count < 1 << 53));
    }
}

fn read_every_way(body: &[u8], status: u16) {
    for dialect in DIALECTS {
        for version in BOTH {
            for status in [200, status] {
                let observation = Observation {
                    status: Some(status),
                    ..success(dialect, body)
                };
                within_the_contract(&interpret(version, &observation), body.len());
            }
        }
    }
}

/// JSON text with the names that the dialects read, in any place.
fn plausible() -> impl Strategy<Value = String> {
    let names = [
        "choices",
        "message",
        "content",
        "text",
        "type",
        "finish_reason",
        "usage",
        "prompt_tokens",
        "input_tokens",
        "cache_read_input_tokens",
        "output",
        "status",
        "incomplete_details",
        "reason",
        "error",
        "code",
        "tool_calls",
        "function",
        "arguments",
        "index",
        "refusal",
        "stop_reason",
        "id",
        "model",
        "input",
        "name",
    ];
    let words = [
        "\"stop\"",
        "\"text\"",
        "\"output_text\"",
        "\"tool_use\"",
        "\"function_call\"",
        "\"refusal\"",
        "\"\\ud800\"",
        "\"é\\n\"",
        "\"\"",
        "7",
        "-1",
        "0",
        "1.5",
        "99999999999999999999",
        "null",
        "true",
        "[]",
        "{}",
    ];
    let leaf = prop::sample::select(words.to_vec()).prop_map(str::to_owned);
    leaf.prop_recursive(7, 64, 5, move |inner| {
        let member = (prop::sample::select(names.to_vec()), inner.clone())
            .prop_map(|(name, value)| format!("\"{name}\":{value}"));
        prop_oneof![
            prop::collection::vec(member, 0..5).prop_map(|all| format!("{{{}}}", all.join(","))),
            prop::collection::vec(inner, 0..4).prop_map(|all| format!("[{}]", all.join(", "))),
        ]
    })
}

/// A JSON value that the other parser can hold.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn is_malformed(body: &str) -> bool {
    chat(body).basis.kind.as_str() == "parser_failure"
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn any_bytes_give_a_reading(body in prop::collection::vec(any::<u8>(), 0..300), status in any::<u16>()) {
        read_every_way(&body, status);
    }

    #[test]
    fn plausible_bodies_give_a_reading_within_the_contract(body in plausible(), status in any::<u16>()) {
        read_every_way(body.as_bytes(), status);
    }

    #[test]
    fn any_cut_of_a_plausible_body_gives_a_reading(body in plausible(), at in any::<prop::sample::Index>()) {
        read_every_way(&body.as_bytes()[..at.index(body.len() + 1)], 200);
    }

    #[test]
    fn what_another_parser_writes_is_read(value in any_value()) {
        let compact = format!("{{\"x\":{value}}}");
        prop_assert!(!is_malformed(&compact), "{compact}");
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let spread = format!("{{\"x\":\n{pretty} }}");
        prop_assert!(!is_malformed(&spread));
    }

    #[test]
    fn what_another_parser_refuses_is_malformed(text in "[\\[\\]{},:\"\\\\ tfn0-9eE.+a-u-]{0,12}") {
        let body = format!("{{\"x\":{text}}}");
        let other = serde_json::from_str::<Value>(&body);
        // The other parser has a range for numbers, which the grammar has not.
        let out_of_range = other.as_ref().is_err_and(|error| error.to_string().contains("out of range"));
        prop_assert!(out_of_range || is_malformed(&body) == other.is_err(), "{body}");
    }

    #[test]
    fn any_text_is_read_as_another_parser_reads_it(text in any::<String>()) {
        let written = Value::from(text.as_str()).to_string();
        let body = chat_body(&written);
        let reading = chat(&body);
        prop_assert_eq!(reading.output_text.as_deref().unwrap_or_default(), text.as_str());
    }

    #[test]
    fn text_of_special_bytes_and_their_neighbours_is_read_as_another_parser_reads_it(
        text in "[ !#\\[\\]\"\\\\\u{1}-\u{21}az\u{7f}\u{80}é😀]{0,40}",
    ) {
        let body = chat_body(&Value::from(text.as_str()).to_string());
        let reading = chat(&body);
        prop_assert_eq!(reading.output_text.as_deref().unwrap_or_default(), text.as_str());
    }

    #[test]
    fn any_escapes_are_read_as_another_parser_reads_them(
        units in prop::collection::vec(any::<u16>(), 1..6), filler in "[a-z\u{e9}]{0,9}",
    ) {
        let escape = |unit: &u16| format!("{filler}\\u{unit:04x}");
        let escaped: Vec<String> = units.iter().map(escape).collect();
        let escaped = escaped.concat();
        let body = chat_body(&format!("\"{escaped}\""));
        let reading = chat(&body);
        let expected: String = units
            .iter()
            .flat_map(|unit| filler.encode_utf16().chain([*unit]))
            .collect::<Vec<u16>>()
            .pipe(|all| String::from_utf16_lossy(&all));
        prop_assert_eq!(reading.output_text.as_deref(), Some(expected.as_str()));
    }

    #[test]
    fn any_exception_gives_a_reading(name in any::<Option<String>>(), dialect in any::<String>()) {
        for version in BOTH {
            for outcome in [Outcome::ResponseReceived, Outcome::HttpError, Outcome::NoResponse, Outcome::Interrupted] {
                let observation = Observation {
                    dialect: &dialect,
                    outcome,
                    status: None,
                    exception_type: name.as_deref(),
                    response_body: None,
                };
                within_the_contract(&interpret(version, &observation), 0);
            }
        }
    }
}

/// Lets a value go through a function at the end of a chain.
trait Pipe: Sized {
    fn pipe<T>(self, function: impl FnOnce(Self) -> T) -> T {
        function(self)
    }
}

impl Pipe for Vec<u16> {}

#[test]
fn a_hundred_thousand_choices_are_read() {
    let choice = r#"{"message":{"content":"a"},"finish_reason":"stop"}"#;
    let body = format!(r#"{{"choices":[{}]}}"#, vec![choice; 100_000].join(","));
    let reading = chat(&body);
    assert_eq!(reading.choices.len(), 100_000);
    assert_eq!(reading.choices[99_999].index, 99_999);
}

#[test]
fn many_pieces_of_text_are_joined_in_linear_time() {
    let block = r#"{"type":"text","text":"abcdefgh"}"#;
    let body = format!(r#"{{"content":[{}]}}"#, vec![block; 100_000].join(","));
    let reading = read("anthropic.messages", &body);
    assert_eq!(reading.output_text.map(|text| text.len()), Some(800_000));
    let again = interpret(
        Interpreter::V1,
        &success("anthropic.messages", body.as_bytes()),
    );
    assert_eq!(again.generation_state.as_str(), "complete");
}
