//! The bytes that stand for a result: a changed adapter or a changed canonical
//! form changes a hash that ledgers hold, so it shows here first.

use model::{Digest, Reading, canonical};

use crate::common::abi::{Value, none, some, text};
use crate::common::fixture::{Field, Fixture, ok, plain_reading, reading_with};
use crate::common::{interpreter, observation};

fn read(reading: Value) -> Reading {
    let mut fixture = Fixture::interpreter();
    fixture.returns("interpret", &ok(reading));
    let outcome = interpreter(&fixture).interpret(&observation(b"{}"), None);
    outcome.unwrap().value
}

/// Asserts that a reading has these bytes and this hash, both from files.
fn golden(name: &str, reading: &Reading, bytes: &str) {
    let found = canonical::to_bytes(reading).unwrap();
    assert_eq!(
        String::from_utf8(found.clone()).unwrap(),
        bytes.trim_end(),
        "{name}"
    );
    let hash = include_str!("golden/HASHES")
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
        .unwrap_or("none");
    assert_eq!(Digest::of(&found).to_string(), hash, "{name}");
    assert_eq!(reading.result_sha256().unwrap().to_string(), hash, "{name}");
}

#[test]
fn a_plain_reading() {
    let reading = read(plain_reading());
    golden("plain", &reading, include_str!("golden/plain.json"));
}

#[test]
fn a_reading_of_every_field() {
    let list = |values: Vec<Value>| Value::List(values);
    let fields = |values: Vec<Value>| Value::Fields(values);
    let state = |case: u8| Value::Case(case, None);
    let count = |value: u64| some(Value::U64(value));
    let case = |case: u8, value: Value| Value::Case(case, Some(Box::new(value)));
    let reading = read(fields(vec![
        state(1),
        some(text("tool_calls")),
        some(text("/choices/0/finish_reason")),
        fields(vec![text("generation_state"), text("tool_calls_present")]),
        some(text("line\nwith \"quotes\", \u{7f}, é and \u{1f600}")),
        list(vec![
            fields(vec![
                some(text("call_1")),
                text("lookup"),
                text("{\"a\": 1}"),
            ]),
            fields(vec![none(), text("no_id"), text("{not json")]),
        ]),
        some(text("I cannot help with that.")),
        case(2, text("missing property `a`")),
        fields(vec![
            count(21),
            count(0),
            count(20),
            none(),
            count(9_007_199_254_740_991),
            count(149),
            list(vec![fields(vec![text("cache_write"), text("a fraction")])]),
        ]),
        some(text("gpt-x-2026-01-01")),
        some(text("chatcmpl-1")),
        some(fields(vec![
            text("rate_limit"),
            some(text("429")),
            some(text("Slow down.")),
        ])),
        list(vec![
            fields(vec![
                Value::U32(0),
                state(0),
                some(text("stop")),
                some(text("one")),
            ]),
            fields(vec![Value::U32(4_294_967_295), state(2), none(), none()]),
        ]),
        list(vec![
            fields(vec![text("terminator_seen"), case(0, Value::Bool(true))]),
            fields(vec![text("malformed_frames"), case(1, Value::U64(3))]),
            fields(vec![text("a_word"), case(2, text("sse"))]),
        ]),
        list(vec![fields(vec![
            text("provider_reason"),
            text("/choices/0/finish_reason"),
            Value::U64(17),
            Value::U64(29),
        ])]),
    ]));
    golden("full", &reading, include_str!("golden/full.json"));
}

#[test]
fn a_reading_of_nothing() {
    let mut reading = reading_with(Field::GenerationState, Value::Case(9, None));
    if let Value::Fields(fields) = &mut reading {
        for field in [
            Field::ProviderReason,
            Field::ProviderReasonSource,
            Field::OutputText,
            Field::Model,
            Field::ResponseId,
        ] {
            fields[field.position()] = none();
        }
    }
    golden(
        "nothing",
        &read(reading),
        include_str!("golden/nothing.json"),
    );
}

#[test]
fn a_reading_of_each_state() {
    let names = [
        "complete",
        "tool_call",
        "truncated",
        "refused",
        "filtered",
        "empty",
        "paused",
        "pending",
        "error",
        "unknown",
    ];
    for (case, name) in (0_u8..).zip(names) {
        let value = Value::Case(case, None);
        let reading = read(reading_with(Field::GenerationState, value));
        assert_eq!(reading.generation_state.as_str(), name);
    }
}
