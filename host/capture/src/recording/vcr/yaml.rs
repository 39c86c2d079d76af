//! Reads a cassette in YAML, one interaction at a time.
//!
//! The parser gives events and keeps no tree; depth, size and aliases are bounded
//! here. Its messages may echo the file, so only their places leave this file.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use saphyr_parser::{Event, Parser, Span, StrInput, Tag};

use super::node::{Field, Kind, NESTING_MAX, Node, VALUES_MAX};
use super::{LIST_FIELD, LIST_NAMES};
use crate::recording::EntryError;

/// An error of the file, or of the one who was given the interactions.
pub(super) enum Stop<E> {
    File(EntryError),
    Caller(E),
}

impl<E> From<EntryError> for Stop<E> {
    fn from(error: EntryError) -> Self {
        Self::File(error)
    }
}

/// Gives `each` every interaction of a cassette, in order.
pub(super) fn walk<E>(
    text: &str,
    each: &mut dyn FnMut(&Node) -> Result<(), E>,
) -> Result<(), Stop<E>> {
    let mut reader = Reader::new(text);
    let mut lists = 0;
    if !matches!(reader.start()?, Some(Event::MappingStart(..))) {
        return Err(no_entries("nothing").into());
    }
    loop {
        let event = reader.next()?;
        if event == Event::MappingEnd {
            break;
        }
        let key = reader.node(event, 0)?;
        let value = reader.next()?;
        let is_list = Field::new(LIST_FIELD, Some(&key))
            .scalar()
            .is_some_and(|key| LIST_NAMES.contains(&key));
        if !is_list {
            // Nobody reads it, but an alias may name it.
            reader.node(value, 0)?;
            continue;
        }
        lists += 1;
        if lists > 1 {
            return Err(no_entries("more than one").into());
        }
        let Event::SequenceStart(..) = value else {
            return Err(no_entries("another type").into());
        };
        loop {
            let event = reader.next()?;
            if event == Event::SequenceEnd {
                break;
            }
            reader.written = 0;
            let node = reader.node(event, 0)?;
            each(&node).map_err(Stop::Caller)?;
        }
    }
    reader.end()?;
    if lists == 0 {
        return Err(no_entries("nothing").into());
    }
    Ok(())
}

fn no_entries(found: &'static str) -> EntryError {
    EntryError::NoEntries {
        field: LIST_FIELD,
        found,
    }
}

struct Reader<'t> {
    parser: Parser<'t, StrInput<'t>>,
    /// Values that have a name, by its number. One that has not ended is not here.
    anchored: BTreeMap<usize, Rc<Node>>,
    /// How many values were written since the interaction started.
    written: u64,
    line: usize,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            parser: Parser::new_from_str(text),
            anchored: BTreeMap::new(),
            written: 0,
            line: 1,
        }
    }

    fn next(&mut self) -> Result<Event<'t>, EntryError> {
        match self.parser.next_event() {
            Some(Ok((event, Span { start, .. }))) => {
                self.line = start.line();
                Ok(event)
            }
            Some(Err(error)) => Err(EntryError::Syntax {
                language: "YAML",
                fault: "a syntax error",
                line: error.marker().line(),
                column: error.marker().col() + 1,
            }),
            None => Err(EntryError::Syntax {
                language: "YAML",
                fault: "the end of the file",
                line: self.line,
                column: 1,
            }),
        }
    }

    /// Returns the first event of the first document, if there is one.
    fn start(&mut self) -> Result<Option<Event<'t>>, EntryError> {
        loop {
            match self.next()? {
                Event::Nothing | Event::StreamStart | Event::DocumentStart(_) => {}
                Event::StreamEnd => return Ok(None),
                event @ (Event::DocumentEnd
                | Event::Alias(_)
                | Event::Scalar(..)
                | Event::SequenceStart(..)
                | Event::SequenceEnd
                | Event::MappingStart(..)
                | Event::MappingEnd) => return Ok(Some(event)),
            }
        }
    }

    fn end(&mut self) -> Result<(), EntryError> {
        loop {
            match self.next()? {
                Event::StreamEnd => return Ok(()),
                Event::Nothing | Event::DocumentEnd => {}
                Event::StreamStart
                | Event::DocumentStart(_)
                | Event::Alias(_)
                | Event::Scalar(..)
                | Event::SequenceStart(..)
                | Event::SequenceEnd
                | Event::MappingStart(..)
                | Event::MappingEnd => {
                    return Err(EntryError::SecondDocument { line: self.line });
                }
            }
        }
    }

    /// Returns the value that starts with `event`, below `depth` others.
    fn node(&mut self, event: Event<'t>, depth: usize) -> Result<Rc<Node>, EntryError> {
        // Counted before the value around it ends, which may be never.
        self.written += 1;
        self.few(self.written)?;
        let (anchor, kind) = match event {
            Event::Alias(anchor) => {
                let known = self.anchored.get(&anchor).cloned();
                return known.ok_or(EntryError::AliasOfItself { line: self.line });
            }
            Event::Scalar(text, style, anchor, tag) => {
                let text = text.into_owned();
                let plain = style == saphyr_parser::ScalarStyle::Plain && tag.is_none();
                let kind = match tag.is_some_and(|tag| is_binary(&tag)) {
                    true => Kind::Binary(text),
                    false if plain => Kind::Plain(text),
                    false => Kind::Text(text),
                };
                (anchor, kind)
            }
            Event::SequenceStart(anchor, _) => (anchor, self.list(depth + 1)?),
            Event::MappingStart(anchor, _) => (anchor, self.map(depth + 1)?),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => return Err(self.unfinished()),
        };
        let node = self.bounded(Node::new(kind))?;
        if anchor > 0 {
            self.anchored.insert(anchor, Rc::clone(&node));
        }
        Ok(node)
    }

    fn list(&mut self, depth: usize) -> Result<Kind, EntryError> {
        self.shallow(depth)?;
        let mut items = Vec::new();
        loop {
            let event = self.next()?;
            if event == Event::SequenceEnd {
                return Ok(Kind::List(items));
            }
            items.push(self.node(event, depth)?);
        }
    }

    fn map(&mut self, depth: usize) -> Result<Kind, EntryError> {
        self.shallow(depth)?;
        let (mut members, mut seen) = (Vec::new(), BTreeSet::new());
        loop {
            let event = self.next()?;
            if event == Event::MappingEnd {
                return Ok(Kind::Map(members));
            }
            let key = self.node(event, depth)?;
            let (Kind::Plain(key) | Kind::Text(key)) = &key.kind else {
                let found = "another value as a key";
                return Err(EntryError::Key {
                    found,
                    line: self.line,
                });
            };
            // Symbols of Ruby are written with a colon before them.
            let key = key.strip_prefix(':').unwrap_or(key).to_owned();
            if !seen.insert(key.clone()) {
                let found = "a key again";
                return Err(EntryError::Key {
                    found,
                    line: self.line,
                });
            }
            let event = self.next()?;
            members.push((key, self.node(event, depth)?));
        }
    }

    fn shallow(&self, depth: usize) -> Result<(), EntryError> {
        if depth > NESTING_MAX {
            return Err(EntryError::TooDeep {
                limit: NESTING_MAX,
                line: self.line,
            });
        }
        Ok(())
    }

    /// Aliases can make a value deeper and larger than what is written.
    fn bounded(&self, node: Rc<Node>) -> Result<Rc<Node>, EntryError> {
        self.shallow(node.depth)?;
        self.few(node.values)?;
        Ok(node)
    }

    fn few(&self, values: u64) -> Result<(), EntryError> {
        if values > VALUES_MAX {
            return Err(EntryError::TooManyValues {
                limit: VALUES_MAX,
                line: self.line,
            });
        }
        Ok(())
    }

    fn unfinished(&self) -> EntryError {
        EntryError::Syntax {
            language: "YAML",
            fault: "the end of a value",
            line: self.line,
            column: 1,
        }
    }
}

/// `!!binary`, as Python writes it, and `!binary`, as Ruby does.
fn is_binary(tag: &Tag) -> bool {
    tag.suffix == "binary" && (tag.is_yaml_core_schema() || tag.handle == "!")
}
