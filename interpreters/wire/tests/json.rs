//! JSON as providers send it.

use proptest::prelude::*;
use serde_json::Value;
use wire::json::{Fault, Kind, Reader, Result, Span};

/// Builds what `serde_json` would build, from visits alone.
fn built(reader: &mut Reader<'_>) -> Result<Value> {
    Ok(match reader.kind()? {
        Kind::Object => {
            let mut members = serde_json::Map::new();
            reader.object(|reader, name| {
                members.insert(name.to_owned(), built(reader)?);
                Ok(())
            })?;
            Value::Object(members)
        }
        Kind::Array => {
            let mut entries = Vec::new();
            reader.array(|reader, _| {
                entries.push(built(reader)?);
                Ok(())
            })?;
            Value::Array(entries)
        }
        Kind::Text => Value::String(reader.cited()?.unwrap().text.into_owned()),
        Kind::Number => serde_json::from_str(&reader.source_text()?.text).unwrap_or(Value::Null),
        Kind::True | Kind::False => Value::Bool(reader.flag()?.unwrap()),
        Kind::Null => {
            reader.skip()?;
            Value::Null
        }
    })
}

fn read(text: &str) -> Result<Value> {
    let mut reader = Reader::of_body(text.as_bytes());
    let value = built(&mut reader)?;
    if reader.at_end() {
        return Ok(value);
    }
    Err(Fault::Syntax)
}

fn skipped(text: &[u8]) -> Result<Span> {
    Reader::of_body(text).skip()
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::String),
    ];
    leaf.prop_recursive(5, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_value_that_is_written_is_read_back(value in value(), pretty in any::<bool>()) {
        let text = if pretty {
            serde_json::to_string_pretty(&value).unwrap()
        } else {
            value.to_string()
        };
        prop_assert_eq!(read(&text).unwrap(), value);
        prop_assert_eq!(skipped(text.as_bytes()).unwrap().end, text.len());
    }

    #[test]
    fn text_is_json_here_exactly_where_serde_says_so(text in "[\\[\\]{}\",:0-9a-z\\\\u.+\\-eE \n\t]{0,24}") {
        let ours = read(&text);
        let theirs = serde_json::from_str::<Value>(&text);
        // Only a lone surrogate is read here and refused there.
        if theirs.is_ok() || !text.contains("\\u") {
            prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{}", text);
        }
    }

    #[test]
    fn the_front_of_a_value_is_ended_and_never_a_fault_of_syntax(value in value(), part in 0.0..1.0_f64) {
        let text = serde_json::json!([value]).to_string();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            clippy::as_conversions,
            reason = "any place will do"
        )]
        let end = (text.len() as f64 * part) as usize;
        let front = text.as_bytes().get(..end).unwrap();
        prop_assert_eq!(skipped(front), Err(Fault::Ended));
    }

    #[test]
    fn no_bytes_stop_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let mut reader = Reader::of_body(&bytes);
        let _ignored = built(&mut reader);
        prop_assert!(reader.position() <= bytes.len());
    }
}

#[test]
fn numbers_without_a_value_are_counted() {
    let mut reader = Reader::of_body(b"[NaN,-Infinity,Infinity,1]");
    assert!(reader.skip().is_ok());
    assert_eq!(reader.notes.non_finite, 3);
    for text in [
        "Nan",
        "Infinit",
        "--Infinity",
        "+1",
        "01",
        "1.",
        ".5",
        "1e",
        "-",
    ] {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn what_is_no_text_is_replaced_and_counted() {
    for (text, wanted) in [
        (&br#""\ud83d\ude00""#[..], "\u{1f600}"),
        (br#""\ud83d""#, "\u{fffd}"),
        (br#""\ude00a""#, "\u{fffd}a"),
        (br#""\ud83d\u0041""#, "\u{fffd}A"),
        (b"\"\xff\"", "\u{fffd}"),
        (b"\"\xc3\xa9\\n\xe2\x82\"", "\u{e9}\n\u{fffd}"),
    ] {
        let mut reader = Reader::of_body(text);
        assert_eq!(reader.cited().unwrap().unwrap().text, wanted);
        assert_eq!(reader.notes.lossy > 0, wanted.contains('\u{fffd}'));
    }
}

#[test]
fn nesting_has_a_bound() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(read(&nested(128)).is_ok());
    assert_eq!(read(&nested(129)), Err(Fault::TooDeep));
    assert_eq!(skipped(nested(100_000).as_bytes()), Err(Fault::TooDeep));
}

#[test]
fn repeated_names_are_all_visited() {
    let mut seen = Vec::new();
    Reader::of_body(br#"{"a":1,"a":2}"#)
        .object(|reader, name| {
            seen.push((name.to_owned(), reader.index()?));
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, [("a".to_owned(), Some(1)), ("a".to_owned(), Some(2))]);
}
