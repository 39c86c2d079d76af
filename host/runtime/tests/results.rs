//! What a module says is within its contract, or it is an error that names the
//! field; nothing is repaired.

use model::reading::StructuredOutput;
use runtime::{InvalidResult, LoadError, RunError, compile};

use crate::common::abi::{Value, none, some, text};
use crate::common::fixture::{Field, Fixture, interpreter_info, ok, reading_with, refused};
use crate::common::{attempt, interpreter, limits, observation, policy, sandbox};

fn invalid(field: &str, expected: &str, found: &str) -> RunError {
    RunError::InvalidResult(InvalidResult {
        field: field.to_owned(),
        expected: expected.to_owned(),
        found: found.to_owned(),
    })
}

fn interpret(reading: &Value) -> Result<model::Reading, RunError> {
    let mut fixture = Fixture::interpreter();
    fixture.returns("interpret", reading);
    interpreter(&fixture)
        .interpret(&observation(b"{}"), None)
        .map(|outcome| outcome.value)
}

/// Asserts that a reading with this value in this field is refused.
fn broken(field: Field, value: Value, error: &RunError) {
    assert_eq!(
        interpret(&ok(reading_with(field, value))).as_ref(),
        Err(error)
    );
}

/// Asserts that a reading with this value in this field is taken.
fn taken(field: Field, value: Value) {
    let reading = interpret(&ok(reading_with(field, value)));
    assert!(reading.is_ok(), "{reading:?}");
}

fn long(bytes: usize) -> Value {
    Value::Str(vec![b'a'; bytes])
}

const NAME: &str = "1 to 64 bytes of a-z, 0-9 and `_`";
const NOT_UTF8: &[u8] = b"abc\xff";

#[test]
fn a_message_names_field_expectation_and_finding() {
    assert_eq!(
        invalid("basis.kind", NAME, "`Upper`").to_string(),
        "result field `basis.kind`: expected 1 to 64 bytes of a-z, 0-9 and `_`, found `Upper`"
    );
}

#[test]
fn the_kind_of_a_basis_is_a_short_name() {
    let basis = |kind: Value| Value::Fields(vec![kind, text("rule")]);
    for (kind, found) in [
        ("", "``"),
        ("Upper", "`Upper`"),
        ("a b", "`a b`"),
        ("é", "`é`"),
    ] {
        broken(
            Field::Basis,
            basis(text(kind)),
            &invalid("basis.kind", NAME, found),
        );
    }
    let found = format!("`{}`", "a".repeat(65));
    broken(
        Field::Basis,
        basis(long(65)),
        &invalid("basis.kind", NAME, &found),
    );
    taken(Field::Basis, basis(long(64)));
}

#[test]
fn what_a_module_gave_is_shown_short_and_harmless() {
    let basis = Value::Fields(vec![text("\x1b[31m red\n"), text("rule")]);
    let error = invalid("basis.kind", NAME, "`\\u{1b}[31m red\\n`");
    broken(Field::Basis, basis, &error);
    let basis = Value::Fields(vec![long(1000), text("rule")]);
    let found = format!("`{}`…", "a".repeat(80));
    broken(Field::Basis, basis, &invalid("basis.kind", NAME, &found));
}

#[test]
fn the_detail_of_a_basis_is_at_most_256_bytes() {
    let basis = |detail: Value| Value::Fields(vec![text("status_only"), detail]);
    taken(Field::Basis, basis(long(256)));
    let error = invalid("basis.detail", "at most 256 bytes", "257 bytes");
    broken(Field::Basis, basis(long(257)), &error);
}

#[test]
fn the_source_of_a_reason_is_at_most_256_bytes() {
    taken(Field::ProviderReasonSource, some(long(256)));
    let error = invalid("provider_reason_source", "at most 256 bytes", "257 bytes");
    broken(Field::ProviderReasonSource, some(long(257)), &error);
}

#[test]
fn texts_that_are_called_utf8_are_utf8() {
    let found = "an invalid byte at position 3";
    let not_utf8 = || some(Value::Str(NOT_UTF8.to_vec()));
    broken(
        Field::OutputText,
        not_utf8(),
        &invalid("output_text", "UTF-8", found),
    );
    broken(
        Field::Refusal,
        not_utf8(),
        &invalid("refusal", "UTF-8", found),
    );
    let error = Value::Fields(vec![text("rate_limit"), none(), not_utf8()]);
    broken(
        Field::Error,
        some(error),
        &invalid("error.message", "UTF-8", found),
    );
    let call = |arguments| Value::Fields(vec![none(), text("f"), arguments]);
    let calls = Value::List(vec![call(text("{}")), call(Value::Str(NOT_UTF8.to_vec()))]);
    let error = invalid("tool_calls[1].arguments", "UTF-8", found);
    broken(Field::ToolCalls, calls, &error);
    let choice = Value::Fields(vec![
        Value::U32(0),
        Value::Case(0, None),
        none(),
        not_utf8(),
    ]);
    let error = invalid("choices[0].output_text", "UTF-8", found);
    broken(Field::Choices, Value::List(vec![choice]), &error);
}

#[test]
fn a_string_that_is_not_utf8_breaks_the_calling_rules() {
    let value = some(Value::Str(NOT_UTF8.to_vec()));
    let error = RunError::BrokenAbi("invalid utf-8 sequence of 1 bytes from index 3".to_owned());
    assert_eq!(
        error.to_string(),
        "module broke the component model's calling rules: invalid utf-8 sequence of 1 bytes \
         from index 3"
    );
    broken(Field::Model, value, &error);
}

#[test]
fn the_class_of_an_error_is_a_short_name() {
    let error = |class| some(Value::Fields(vec![text(class), none(), none()]));
    taken(Field::Error, error("rate_limit"));
    let refused = invalid("error.class", NAME, "`Rate limit`");
    broken(Field::Error, error("Rate limit"), &refused);
}

const INTEGER_MAX: u64 = (1 << 53) - 1;

#[test]
fn no_count_of_tokens_passes_the_largest_integer_of_json() {
    let counts = [
        "input",
        "output",
        "cached_input",
        "cache_write",
        "reasoning",
        "total",
    ];
    for (position, name) in counts.into_iter().enumerate() {
        let usage = |count: u64| {
            let mut fields: Vec<Value> = (0..6).map(|_| none()).collect();
            fields[position] = some(Value::U64(count));
            fields.push(Value::List(vec![]));
            Value::Fields(fields)
        };
        taken(Field::Usage, usage(INTEGER_MAX));
        let field = format!("usage.{name}");
        let error = invalid(&field, "at most 2^53 - 1", "9007199254740992");
        broken(Field::Usage, usage(INTEGER_MAX + 1), &error);
    }
}

#[test]
fn a_structured_output_says_why_it_is_invalid() {
    let why = Value::Case(2, Some(Box::new(text("missing property `a`"))));
    let reading = interpret(&ok(reading_with(Field::StructuredOutput, why))).unwrap();
    let expected = StructuredOutput::Invalid("missing property `a`".to_owned());
    assert_eq!(reading.structured_output, expected);
}

#[test]
fn each_choice_has_an_index_of_its_own() {
    let choice = |index| {
        Value::Fields(vec![
            Value::U32(index),
            Value::Case(0, None),
            none(),
            none(),
        ])
    };
    taken(Field::Choices, Value::List(vec![choice(1), choice(0)]));
    let error = invalid("choices[2].index", "each index once", "7 twice");
    let choices = Value::List(vec![choice(7), choice(0), choice(7)]);
    broken(Field::Choices, choices, &error);
}

fn fact(name: &str, case: u8, value: Value) -> Value {
    Value::Fields(vec![text(name), Value::Case(case, Some(Box::new(value)))])
}

fn flag(name: &str) -> Value {
    fact(name, 0, Value::Bool(true))
}

#[test]
fn facts_have_short_names_each_once_and_never_the_hosts_own() {
    let facts = |facts: &[Value]| Value::List(facts.to_vec());
    let error = invalid("facts[1].name", NAME, "`Bad`");
    broken(Field::Facts, facts(&[flag("good"), flag("Bad")]), &error);
    let error = invalid("facts[1].name", "each name once", "`same` twice");
    broken(Field::Facts, facts(&[flag("same"), flag("same")]), &error);
    let expected = "a name other than `oversized`, which only the host writes";
    let error = invalid("facts[0].name", expected, "`oversized`");
    broken(Field::Facts, facts(&[flag("oversized")]), &error);
}

#[test]
fn facts_are_few_and_small() {
    let many = |count: usize| {
        Value::List(
            (0..count)
                .map(|index| flag(&format!("fact_{index}")))
                .collect(),
        )
    };
    taken(Field::Facts, many(64));
    let error = invalid("facts", "at most 64 entries", "65 entries");
    broken(Field::Facts, many(65), &error);
    let one = |value| Value::List(vec![value]);
    taken(Field::Facts, one(fact("word", 2, long(128))));
    let error = invalid("facts[0].value", "at most 128 bytes", "129 bytes");
    broken(Field::Facts, one(fact("word", 2, long(129))), &error);
    taken(Field::Facts, one(fact("count", 1, Value::U64(INTEGER_MAX))));
    let error = invalid("facts[0].value", "at most 2^53 - 1", "18446744073709551615");
    broken(
        Field::Facts,
        one(fact("count", 1, Value::U64(u64::MAX))),
        &error,
    );
}

#[test]
fn a_citation_does_not_end_before_it_starts() {
    let citation = |start, end| {
        let (start, end) = (Value::U64(start), Value::U64(end));
        Value::List(vec![Value::Fields(vec![
            text("model"),
            text("/model"),
            start,
            end,
        ])])
    };
    taken(Field::Citations, citation(5, 5));
    let error = invalid("citations[0].start", "at most its end, 5", "6");
    broken(Field::Citations, citation(6, 5), &error);
    let error = invalid("citations[0].end", "at most 2^53 - 1", "9007199254740992");
    broken(Field::Citations, citation(0, INTEGER_MAX + 1), &error);
}

#[test]
fn a_refusal_is_given_as_the_module_gave_it() {
    let error = interpret(&refused("not_mine", "this is not for me")).unwrap_err();
    let expected = RunError::Refused {
        code: "not_mine".to_owned(),
        detail: "this is not for me".to_owned(),
    };
    assert_eq!(error, expected);
    assert_eq!(
        error.to_string(),
        "module refuses with code not_mine: this is not for me"
    );
    let error = interpret(&refused("Not mine", "")).unwrap_err();
    assert_eq!(error, invalid("refusal.code", NAME, "`Not mine`"));
}

#[test]
fn the_words_of_a_refusal_are_shown_short_and_harmless() {
    let error = interpret(&refused("loud", &"\u{7}".repeat(300))).unwrap_err();
    let shown = "\\u{7}".repeat(256);
    assert_eq!(
        error.to_string(),
        format!("module refuses with code loud: {shown}…")
    );
}

#[test]
fn decode_gives_bytes_or_a_refusal() {
    let mut fixture = Fixture::interpreter();
    fixture.returns("decode", &ok(Value::Str(NOT_UTF8.to_vec())));
    let decoded = interpreter(&fixture).decode(&observation(b"{}")).unwrap();
    assert_eq!(decoded.value, NOT_UTF8);
    fixture.returns("decode", &refused("content_coding_unknown", "br"));
    let error = interpreter(&fixture)
        .decode(&observation(b"{}"))
        .unwrap_err();
    assert_eq!(
        error,
        RunError::Refused {
            code: "content_coding_unknown".to_owned(),
            detail: "br".to_owned()
        }
    );
}

/// Asserts that a module that says this of itself does not load.
fn undescribed(info: &Value, error: &RunError) {
    let mut fixture = Fixture::interpreter();
    fixture.returns("describe", info);
    let compiled = compile(&fixture.build()).unwrap();
    let loaded = sandbox(limits()).interpreter(&compiled).map(drop);
    assert_eq!(loaded, Err(LoadError::Describe(error.clone())));
}

const LABEL: &str =
    "1 to 64 bytes of a-z, 0-9, `-`, `_` and `.`, starting with a letter or a digit";

#[test]
fn what_a_module_says_of_itself_is_checked_before_it_is_used() {
    let with = |position: usize, value: Value| {
        let Value::Fields(mut fields) = interpreter_info("fixture-v1") else {
            panic!("not a record");
        };
        fields[position] = value;
        Value::Fields(fields)
    };
    undescribed(&with(0, text("-v1")), &invalid("label", LABEL, "`-v1`"));
    undescribed(
        &with(0, long(65)),
        &invalid("label", LABEL, &format!("`{}`", "a".repeat(65))),
    );
    undescribed(
        &with(1, long(513)),
        &invalid("summary", "at most 512 bytes", "513 bytes"),
    );
    let error = invalid("summary", "no control characters", "`two\\nlines`");
    undescribed(&with(1, text("two\nlines")), &error);
    undescribed(
        &with(3, Value::U32(0)),
        &invalid("vocabulary", "at least 1", "0"),
    );
    let one = |value: Value| Value::List(vec![value]);
    let error = invalid("dialects[0]", LABEL, "`Open AI`");
    undescribed(&with(2, one(text("Open AI"))), &error);
    let error = invalid("supersedes[0]", LABEL, "``");
    undescribed(&with(4, one(text(""))), &error);
    let many = |value: &str| Value::List(vec![text(value); 65]);
    let error = |field| invalid(field, "at most 64 entries", "65 entries");
    undescribed(&with(2, many("openai.chat")), &error("dialects"));
    undescribed(&with(4, many("v0")), &error("supersedes"));
}

#[test]
fn a_module_that_cannot_describe_itself_says_why() {
    let mut fixture = Fixture::interpreter();
    fixture.does("describe", "unreachable");
    let compiled = compile(&fixture.build()).unwrap();
    let error = sandbox(limits())
        .interpreter(&compiled)
        .map(drop)
        .unwrap_err();
    let trap = RunError::Trap("wasm `unreachable` instruction executed".to_owned());
    assert_eq!(error, LoadError::Describe(trap));
    assert_eq!(
        error.to_string(),
        "module could not describe itself: module trapped: wasm `unreachable` instruction executed"
    );
}

#[test]
fn a_decision_has_a_reason_of_at_most_256_bytes() {
    let decision = |reason: Value| ok(Value::Fields(vec![Value::Case(1, None), reason]));
    let mut fixture = Fixture::policy();
    fixture.returns("decide-attempt", &decision(long(256)));
    fixture.returns("decide-call", &decision(long(256)));
    let (facts, decided) = attempt();
    let loaded = policy(&fixture);
    assert!(loaded.decide_attempt(&facts, None).is_ok());
    let occasion = model::decision::Occasion::Reinterpretation;
    let calls = [(facts.clone(), decided)];
    assert!(loaded.decide_call(&calls, occasion, None).is_ok());
    fixture.returns("decide-attempt", &decision(long(257)));
    fixture.returns("decide-call", &decision(long(257)));
    let loaded = policy(&fixture);
    let error = invalid("reason", "at most 256 bytes", "257 bytes");
    assert_eq!(loaded.decide_attempt(&facts, None), Err(error.clone()));
    assert_eq!(loaded.decide_call(&calls, occasion, None), Err(error));
}

#[test]
fn a_policy_may_refuse() {
    let mut fixture = Fixture::policy();
    fixture.returns("decide-attempt", &refused("no_rule", "nothing fits"));
    let (facts, _) = attempt();
    let error = policy(&fixture).decide_attempt(&facts, None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "module refuses with code no_rule: nothing fits"
    );
}
