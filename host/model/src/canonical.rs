//! Canonical JSON (RFC 8785) without floats: integers up to 2^53 - 1, object
//! keys in order of their UTF-16 code units, no white space.

use serde::Serialize;
use serde_json::Value;

use crate::bounds::INTEGER_MAX;

/// Why a value has no canonical form.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalError {
    /// The number is a fraction or outside of ±(2^53 - 1).
    #[error("the number {0} is not an integer of at most 2^53 - 1")]
    Number(String),
    /// The value could not be turned into JSON.
    #[error("the value has no JSON form: {0}")]
    Shape(String),
}

/// Returns the canonical JSON of anything serialisable.
pub fn to_bytes<T: Serialize>(value: &T) -> Result<Vec<u8>, CanonicalError> {
    let value =
        serde_json::to_value(value).map_err(|error| CanonicalError::Shape(error.to_string()))?;
    value_to_bytes(&value)
}

/// Returns the canonical JSON of a JSON value.
pub fn value_to_bytes(value: &Value) -> Result<Vec<u8>, CanonicalError> {
    let mut bytes = Vec::with_capacity(1024);
    write_value(&mut bytes, value)?;
    Ok(bytes)
}

fn write_value(out: &mut Vec<u8>, value: &Value) -> Result<(), CanonicalError> {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => {
            let magnitude = number
                .as_i64()
                .map(i64::unsigned_abs)
                .or_else(|| number.as_u64());
            match magnitude {
                Some(magnitude) if magnitude <= INTEGER_MAX => {
                    out.extend_from_slice(number.to_string().as_bytes());
                }
                _ => return Err(CanonicalError::Number(number.to_string())),
            }
        }
        Value::String(text) => write_string(out, text),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_value(out, item)?;
            }
            out.push(b']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            // Byte order and UTF-16 order differ only beyond ASCII; the check
            // keeps the common case free of the slower comparison.
            if sorted.iter().all(|(key, _)| key.is_ascii()) {
                sorted.sort_unstable_by_key(|(key, _)| *key);
            } else {
                sorted.sort_unstable_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            }
            out.push(b'{');
            for (index, (key, member)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_string(out, key);
                out.push(b':');
                write_value(out, member)?;
            }
            out.push(b'}');
        }
    }
    Ok(())
}

fn write_string(out: &mut Vec<u8>, text: &str) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut plain = 0;
    for (index, &byte) in bytes.iter().enumerate() {
        let short = match byte {
            b'"' => b'"',
            b'\\' => b'\\',
            0x08 => b'b',
            0x09 => b't',
            0x0a => b'n',
            0x0c => b'f',
            0x0d => b'r',
            0..=0x1f => 0,
            _ => continue,
        };
        out.extend_from_slice(bytes.get(plain..index).unwrap_or_default());
        plain = index + 1;
        if short == 0 {
            out.extend_from_slice(b"\\u00");
            for nibble in [byte >> 4, byte & 15] {
                out.push(DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'0'));
            }
        } else {
            out.extend_from_slice(&[b'\\', short]);
        }
    }
    out.extend_from_slice(bytes.get(plain..).unwrap_or_default());
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn canonical(value: &Value) -> String {
        String::from_utf8(value_to_bytes(value).unwrap()).unwrap()
    }

    #[test]
    fn keys_are_sorted_by_utf16_code_units() {
        // RFC 8785, section 3.2.3: U+1F600 is written with surrogates, which
        // sort before U+FB33 although its code point is larger.
        let value = json!({"\u{fb33}": 1, "\u{1f600}": 2, "1": 3, "\u{20ac}": 4, "\r": 5});
        let sorted = "{\"\\r\":5,\"1\":3,\"\u{20ac}\":4,\"\u{1f600}\":2,\"\u{fb33}\":1}";
        assert_eq!(canonical(&value), sorted);
    }

    #[test]
    fn control_characters_use_the_shortest_escape() {
        assert_eq!(
            canonical(&json!("\u{8}\t\n\u{c}\r\"\\\u{1}\u{1f}/é")),
            "\"\\b\\t\\n\\f\\r\\\"\\\\\\u0001\\u001f/é\""
        );
    }

    #[test]
    fn a_number_that_is_not_a_small_integer_is_refused() {
        let refused = |value: Value, text: &str| {
            assert_eq!(
                value_to_bytes(&value),
                Err(CanonicalError::Number(text.into()))
            );
        };
        refused(json!(1.5), "1.5");
        refused(json!(9_007_199_254_740_992_u64), "9007199254740992");
        refused(json!(-9_007_199_254_740_992_i64), "-9007199254740992");
        assert_eq!(
            canonical(&json!([9_007_199_254_740_991_u64, -1])),
            "[9007199254740991,-1]"
        );
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-9_007_199_254_740_991_i64..=9_007_199_254_740_991).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 48, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn canonical_bytes_equal_those_of_an_independent_implementation(value in any_json()) {
            let ours = value_to_bytes(&value).unwrap();
            prop_assert_eq!(&ours, &serde_json_canonicalizer::to_vec(&value).unwrap());
            let back: Value = serde_json::from_slice(&ours).unwrap();
            prop_assert_eq!(back, value);
        }
    }
}
