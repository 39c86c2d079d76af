//! Entries as they lie in the file, for `verify`: nothing is believed here.

use model::event::Event;
use model::projection::IndexColumns;
use rusqlite::Row;
use rusqlite::types::{Value, ValueRef};

use super::reader::{Reader, signed, unsigned};
use super::{LedgerError, columns, query, schema};

/// One row of the ledger, unchecked.
#[derive(Debug, Clone, PartialEq)]
pub struct RawEntry {
    /// Its place.
    pub seq: u64,
    /// The leaf recorded.
    pub leaf: Vec<u8>,
    /// The salt; none when erased.
    pub salt: Option<Vec<u8>>,
    /// The event; none when erased.
    pub bytes: Option<Vec<u8>>,
    columns: [Value; columns::COUNT],
}

/// An index column says something else than the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexFinding {
    /// The column.
    pub column: &'static str,
}

impl RawEntry {
    /// Returns the columns that differ from what the event's bytes say.
    pub fn index_findings(&self, event: &Event) -> Vec<IndexFinding> {
        let of_event = IndexColumns::of(event);
        let expected = columns::expected(&of_event);
        self.differing(&expected)
    }

    /// Returns the columns that still hold something; of an erased entry, none may.
    pub fn left_columns(&self) -> Vec<IndexFinding> {
        let nothing = columns::NAMES.map(|column| (column, ValueRef::Null));
        self.differing(&nothing)
    }

    fn differing(&self, expected: &[(&'static str, ValueRef<'_>)]) -> Vec<IndexFinding> {
        expected
            .iter()
            .zip(&self.columns)
            .filter(|((_, expected), stored)| ValueRef::from(*stored) != *expected)
            .map(|((column, _), _)| IndexFinding { column })
            .collect()
    }
}

impl Reader<'_> {
    /// Returns up to `limit` rows after a place, unchecked, in order.
    pub fn raw_after(&self, seq: u64, limit: u32) -> Result<Vec<RawEntry>, LedgerError> {
        self.connection()
            .prepare_cached(query::RAW_AFTER)
            .and_then(|mut statement| {
                statement
                    .query_map((signed(seq), limit), raw_entry)?
                    .collect()
            })
            .map_err(|source| self.sqlite(source))
    }

    /// Asks SQLite itself; returns what it complains of.
    pub fn integrity_check(&self) -> Result<Vec<String>, LedgerError> {
        let lines: Vec<String> = self
            .connection()
            .prepare(query::INTEGRITY)
            .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
            .map_err(|source| self.sqlite(source))?;
        Ok(lines.into_iter().filter(|line| line != "ok").collect())
    }

    /// Returns the names of the triggers that guard the ledger and are not there, or
    /// are not what this program made them.
    pub fn missing_guards(&self) -> Result<Vec<&'static str>, LedgerError> {
        let present: Vec<(String, String)> = self
            .connection()
            .prepare(query::GUARDS)
            .and_then(|mut statement| {
                statement
                    .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                    .collect()
            })
            .map_err(|source| self.sqlite(source))?;
        let is_there = |guard: &str, sql: &str| {
            present
                .iter()
                .any(|(name, found)| name == guard && found == sql)
        };
        Ok(schema::GUARDS
            .into_iter()
            .filter(|(guard, sql)| !is_there(guard, sql))
            .map(|(guard, _)| guard)
            .collect())
    }
}

fn raw_entry(row: &Row<'_>) -> rusqlite::Result<RawEntry> {
    let blob = |column| {
        row.get_ref(column)
            .map(|value| value.as_bytes().ok().map(Vec::from))
    };
    let mut stored = [const { Value::Null }; columns::COUNT];
    for (column, value) in stored.iter_mut().enumerate() {
        // A column of another type, or with text that is none, is a finding, not an
        // error.
        *value = match row.get_ref(columns::FIRST + column)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::Integer(number),
            ValueRef::Real(number) => Value::Real(number),
            ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
            ValueRef::Text(bytes) => String::from_utf8(bytes.to_vec())
                .map_or_else(|error| Value::Blob(error.into_bytes()), Value::Text),
        };
    }
    Ok(RawEntry {
        seq: unsigned(row.get(0)?),
        leaf: blob(1)?.unwrap_or_default(),
        salt: blob(2)?,
        bytes: blob(3)?,
        columns: stored,
    })
}
