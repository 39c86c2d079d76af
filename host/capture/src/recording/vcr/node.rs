//! A value of a cassette, written in YAML or JSON.
//!
//! Only one interaction is held at a time. Aliases share what they name, so a value
//! costs the memory of what is written; its depth and its size with all aliases
//! followed are bounded when it is made.

use std::rc::Rc;

use crate::exchange::{JsonType, LineError};

/// How deep a value may nest, as deep as exchange lines may.
pub(super) const NESTING_MAX: usize = 128;

/// The values of one interaction, aliases followed: far above what a recorder
/// writes, far below what a chain of aliases can stand for.
pub(super) const VALUES_MAX: u64 = 1 << 20;

/// A value with its measures.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// How deep it nests; a scalar is 1.
    pub(super) depth: usize,
    /// How many values it is, itself and aliases included.
    pub(super) values: u64,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// A scalar without quotes: null, a boolean, a number or a text.
    Plain(String),
    /// A text.
    Text(String),
    /// Base64 of bytes, by its tag.
    Binary(String),
    /// A sequence.
    List(Vec<Rc<Node>>),
    /// A mapping; no key stands twice.
    Map(Vec<(String, Rc<Node>)>),
}

impl Node {
    /// Makes a value and measures it.
    pub(super) fn new(kind: Kind) -> Rc<Self> {
        let (mut depth, mut values) = (0, 1_u64);
        let mut measure = |node: &Rc<Self>| {
            depth = depth.max(node.depth);
            values = values.saturating_add(node.values);
        };
        match &kind {
            Kind::Plain(_) | Kind::Text(_) | Kind::Binary(_) => {}
            Kind::List(items) => items.iter().for_each(measure),
            Kind::Map(members) => members.iter().for_each(|(_, node)| measure(node)),
        }
        Rc::new(Self {
            kind,
            depth: depth + 1,
            values,
        })
    }

    /// Returns the type that it would have in JSON.
    fn json_type(&self) -> JsonType {
        match &self.kind {
            Kind::Text(_) | Kind::Binary(_) => JsonType::String,
            Kind::List(_) => JsonType::Array,
            Kind::Map(_) => JsonType::Object,
            Kind::Plain(text) => match text.as_str() {
                "" | "~" | "null" | "Null" | "NULL" => JsonType::Null,
                "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => JsonType::Boolean,
                text if is_number(text) => JsonType::Number,
                _ => JsonType::String,
            },
        }
    }
}

/// A member of a mapping: where it stands, and its value, if it is there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'n> {
    /// Such as `response.body`.
    pub(super) name: &'static str,
    node: Option<&'n Node>,
}

impl<'n> Field<'n> {
    /// Names a value.
    pub(super) fn new(name: &'static str, node: Option<&'n Node>) -> Self {
        // A null member counts as absent.
        let node = node.filter(|node| node.json_type() != JsonType::Null);
        Self { name, node }
    }

    /// Returns the value, unless it is absent.
    pub(super) fn value(self) -> Option<&'n Kind> {
        self.node.map(|node| &node.kind)
    }

    /// Returns the node, unless it is absent.
    pub(super) fn node(self) -> Option<&'n Node> {
        self.node
    }

    /// Returns the first of these members of a mapping that is there; none where the
    /// value is no mapping. The last part of a name is the member's.
    pub(super) fn member(self, names: &[&'static str]) -> Self {
        let first = names.first().copied().unwrap_or(self.name);
        let Some(Kind::Map(members)) = self.value() else {
            return Self::new(first, None);
        };
        names
            .iter()
            .find_map(|name| {
                let key = name.rsplit('.').next().unwrap_or(name);
                let (_, node) = members.iter().find(|(found, _)| found == key)?;
                Some(Self::new(name, Some(node))).filter(|field| field.node.is_some())
            })
            .unwrap_or_else(|| Self::new(first, None))
    }

    /// Returns a text as it is; numbers and the like are no text.
    pub(super) fn text(self, expected: &'static str) -> Result<Option<&'n str>, LineError> {
        let Some(node) = self.node else {
            return Ok(None);
        };
        match (&node.kind, node.json_type()) {
            (Kind::Plain(text) | Kind::Text(text), JsonType::String) => Ok(Some(text)),
            _ => Err(self.mismatch(expected)),
        }
    }

    /// Returns the digits of an integer, or the text of a scalar.
    pub(super) fn scalar(self) -> Option<&'n str> {
        match self.value()? {
            Kind::Plain(text) | Kind::Text(text) => Some(text),
            Kind::Binary(_) | Kind::List(_) | Kind::Map(_) => None,
        }
    }

    /// Returns the error of a member of another type.
    pub(super) fn mismatch(self, expected: &'static str) -> LineError {
        LineError::WrongType {
            field: self.name,
            expected,
            found: self.node.map_or(JsonType::Nothing, Node::json_type),
        }
    }
}

/// Writes a value as JSON, none when it would take more than `limit` bytes.
pub(super) fn to_json(node: &Node, limit: usize) -> Option<Vec<u8>> {
    let mut json = Vec::new();
    write(node, limit, &mut json)?;
    Some(json)
}

fn write(node: &Node, limit: usize, json: &mut Vec<u8>) -> Option<()> {
    match &node.kind {
        Kind::Plain(text) => match node.json_type() {
            JsonType::Null => json.extend_from_slice(b"null"),
            JsonType::Boolean => json.extend_from_slice(text.to_ascii_lowercase().as_bytes()),
            JsonType::Number => json.extend_from_slice(text.as_bytes()),
            JsonType::Nothing | JsonType::String | JsonType::Array | JsonType::Object => {
                write_text(text, json)?;
            }
        },
        Kind::Text(text) | Kind::Binary(text) => write_text(text, json)?,
        Kind::List(items) => {
            json.push(b'[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    json.push(b',');
                }
                write(item, limit, json)?;
            }
            json.push(b']');
        }
        Kind::Map(members) => {
            json.push(b'{');
            for (place, (key, value)) in members.iter().enumerate() {
                if place > 0 {
                    json.push(b',');
                }
                write_text(key, json)?;
                json.push(b':');
                write(value, limit, json)?;
            }
            json.push(b'}');
        }
    }
    (json.len() <= limit).then_some(())
}

fn write_text(text: &str, json: &mut Vec<u8>) -> Option<()> {
    serde_json::to_writer(json, text).ok()
}

/// Returns whether a text is a number as JSON writes them.
fn is_number(text: &str) -> bool {
    text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        && serde_json::from_str::<&serde_json::value::RawValue>(text)
            .is_ok_and(|value| value.get() == text)
}
