//! Reads one interaction of a cassette that is written in JSON.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::node::{Kind, Node, VALUES_MAX};
use crate::exchange::json::{self, Walked};
use crate::exchange::{JsonType, LineError};
use crate::recording::EntryError;

/// Returns the value of a JSON text.
pub(super) fn node(text: &str) -> Result<Rc<Node>, EntryError> {
    // Levels are counted before any is gone down.
    json::ignore(text)?;
    if values_at_most(text) > VALUES_MAX {
        return Err(EntryError::TooManyValues {
            limit: VALUES_MAX,
            line: 1,
        });
    }
    Ok(value(text)?)
}

/// Returns a bound on the values of a JSON text: each but the first follows a comma
/// or a bracket.
fn values_at_most(text: &str) -> u64 {
    let (mut count, mut in_string, mut escaped) = (1, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => count += 1,
            _ => {}
        }
    }
    count
}

fn value(text: &str) -> Result<Rc<Node>, LineError> {
    let surrogate = LineError::LoneSurrogate {
        field: "interaction",
    };
    let flat = |walked: Walked<()>| walked.unwrap_or_else(|_| Err(surrogate.clone()));
    let kind = match json::kind(text) {
        JsonType::String => {
            let text = json::string(text).ok_or_else(|| surrogate.clone())?;
            Kind::Text(text.into_owned())
        }
        JsonType::Array => {
            let mut items = Vec::new();
            flat(json::array(text, |item| {
                items.push(value(item)?);
                Ok(())
            }))?;
            Kind::List(items)
        }
        JsonType::Object => {
            let (mut members, mut seen) = (Vec::new(), BTreeSet::new());
            flat(json::object(text, |name, member| {
                if !seen.insert(name.to_string()) {
                    return Err(LineError::Duplicate {
                        field: "interaction",
                    });
                }
                members.push((name.into_owned(), value(member)?));
                Ok(())
            }))?;
            Kind::Map(members)
        }
        JsonType::Nothing | JsonType::Null | JsonType::Boolean | JsonType::Number => {
            Kind::Plain(text.to_owned())
        }
    };
    Ok(Node::new(kind))
}
