//! Goes over the entries of a JSON file without building a tree of it.
//!
//! Each entry is handed out as soon as it was read, so that what stands before a
//! fault of the file is not lost with it.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::EntryError;

/// Gives `each` the text of every entry of the array at `path`. The last word of
/// the path may be any of several.
pub(super) fn walk<'t, E>(
    text: &'t str,
    path: &[&[&'static str]],
    field: &'static str,
    each: &mut dyn FnMut(&'t str) -> Result<(), E>,
) -> Result<Result<(), EntryError>, E> {
    let mut state = State {
        each,
        found: Found::Nothing,
        failed: None,
    };
    let mut source = serde_json::Deserializer::from_str(text);
    let seed = Level {
        path,
        state: &mut state,
    };
    let walked = seed.deserialize(&mut source).and_then(|()| source.end());
    let State { found, failed, .. } = state;
    if let Some(error) = failed {
        return Err(error);
    }
    Ok(match (walked, found) {
        (Err(error), _) => Err(fault(&error, field)),
        (Ok(()), Found::Once) => Ok(()),
        (Ok(()), Found::Nothing) => Err(EntryError::NoEntries {
            field,
            found: "nothing",
        }),
        (Ok(()), Found::Again) => Err(EntryError::NoEntries {
            field,
            found: "more than one",
        }),
    })
}

fn fault(error: &serde_json::Error, field: &'static str) -> EntryError {
    let fault = match error.classify() {
        Category::Data => {
            return EntryError::NoEntries {
                field,
                found: "another type",
            };
        }
        Category::Eof => "the end of the file",
        Category::Syntax | Category::Io => "a syntax error",
    };
    EntryError::Syntax {
        language: "JSON",
        fault,
        line: error.line().max(1),
        column: error.column().max(1),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    Once,
    Again,
}

struct State<'s, 't, E> {
    each: &'s mut dyn FnMut(&'t str) -> Result<(), E>,
    found: Found,
    failed: Option<E>,
}

/// One object on the way to the entries, or the array that holds them.
struct Level<'p, 's, 'x, 't, E> {
    path: &'p [&'p [&'static str]],
    state: &'x mut State<'s, 't, E>,
}

impl<'t, E> DeserializeSeed<'t> for Level<'_, '_, '_, 't, E> {
    type Value = ();

    fn deserialize<D: Deserializer<'t>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.path.is_empty() {
            deserializer.deserialize_seq(self)
        } else {
            deserializer.deserialize_map(self)
        }
    }
}

impl<'t, E> Visitor<'t> for Level<'_, '_, '_, 't, E> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the way to the entries")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((names, rest)) = self.path.split_first() else {
            return Ok(());
        };
        while let Some(name) = map.next_key::<String>()? {
            if names.contains(&name.as_str()) {
                map.next_value_seed(Level {
                    path: rest,
                    state: &mut *self.state,
                })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut elements: A) -> Result<(), A::Error> {
        self.state.found = match self.state.found {
            Found::Nothing => Found::Once,
            Found::Once | Found::Again => Found::Again,
        };
        while let Some(entry) = elements.next_element::<&RawValue>()? {
            // Of a second list it is open whether it was recorded: it is refused below.
            if self.state.failed.is_none() && self.state.found == Found::Once {
                self.state.failed = (self.state.each)(entry.get()).err();
            }
        }
        Ok(())
    }
}
