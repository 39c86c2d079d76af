//! Entries as they lie in the file, for `verify`: nothing is believed here.

use model::event::{Event, Scope};
use model::projection::IndexColumns;
use model::{AttemptId, CallId, Digest, TaskId};
use rusqlite::Row;

use super::LedgerError;
use super::reader::{Reader, optional_event_id, signed, unsigned};

/// One row of the ledger, unchecked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawEntry {
    /// Its place.
    pub seq: u64,
    /// The leaf recorded.
    pub leaf: Vec<u8>,
    /// The salt; none when erased.
    pub salt: Option<Vec<u8>>,
    /// The event; none when erased.
    pub bytes: Option<Vec<u8>>,
    columns: Option<StoredColumns>,
}

/// An index column says something else than the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexFinding {
    /// The column.
    pub column: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct StoredColumns {
    id: Option<[u8; 16]>,
    kind: Option<String>,
    cause: Option<[u8; 16]>,
    task: Option<[u8; 16]>,
    call: Option<[u8; 16]>,
    attempt: Option<[u8; 16]>,
    unique_key: Option<[u8; 32]>,
    name: Option<String>,
    module: Option<[u8; 32]>,
    response: Option<[u8; 32]>,
    request: Option<[u8; 32]>,
}

impl RawEntry {
    /// Returns the columns that differ from what the event's bytes say.
    pub fn index_findings(&self, event: &Event) -> Vec<IndexFinding> {
        let expected = IndexColumns::of(event);
        let Some(stored) = &self.columns else {
            return vec![IndexFinding {
                column: "of another type",
            }];
        };
        let digest = |bytes: Option<[u8; 32]>| bytes.map(Digest::from_bytes);
        let scope = Scope {
            task: stored.task.map(TaskId::from_bytes),
            call: stored.call.map(CallId::from_bytes),
            attempt: stored.attempt.map(AttemptId::from_bytes),
        };
        let checks = [
            ("id", optional_event_id(stored.id) == Some(expected.id)),
            ("kind", stored.kind.as_deref() == Some(expected.kind)),
            ("cause", optional_event_id(stored.cause) == expected.cause),
            ("task", scope.task == expected.scope.task),
            ("call", scope.call == expected.scope.call),
            ("attempt", scope.attempt == expected.scope.attempt),
            (
                "unique_key",
                digest(stored.unique_key) == expected.unique_key,
            ),
            ("name", stored.name == expected.name),
            ("module", digest(stored.module) == expected.module),
            ("response", digest(stored.response) == expected.response),
            ("request", digest(stored.request) == expected.request),
        ];
        checks
            .into_iter()
            .filter(|(_, equal)| !equal)
            .map(|(column, _)| IndexFinding { column })
            .collect()
    }
}

impl Reader<'_> {
    /// Returns up to `limit` rows after a place, unchecked, in order.
    pub fn raw_after(&self, seq: u64, limit: u32) -> Result<Vec<RawEntry>, LedgerError> {
        self.connection()
            .prepare_cached(
                "SELECT seq, leaf, salt, bytes, id, kind, cause, task, call, attempt, unique_key, \
                 name, module, response, request FROM event WHERE seq > ?1 ORDER BY seq LIMIT ?2",
            )
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
            .prepare("PRAGMA integrity_check(20)")
            .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
            .map_err(|source| self.sqlite(source))?;
        Ok(lines.into_iter().filter(|line| line != "ok").collect())
    }

    /// Returns the names of the triggers that guard the ledger and are not there.
    pub fn missing_guards(&self) -> Result<Vec<&'static str>, LedgerError> {
        let present: Vec<String> = self
            .connection()
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'event'")
            .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
            .map_err(|source| self.sqlite(source))?;
        let guards = [
            "event_no_delete",
            "event_in_order",
            "event_no_replace",
            "event_no_update",
        ];
        Ok(guards
            .into_iter()
            .filter(|guard| !present.iter().any(|name| name == guard))
            .collect())
    }
}

fn raw_entry(row: &Row<'_>) -> rusqlite::Result<RawEntry> {
    let blob = |column| {
        row.get_ref(column)
            .map(|value| value.as_bytes().ok().map(Vec::from))
    };
    Ok(RawEntry {
        seq: unsigned(row.get(0)?),
        leaf: blob(1)?.unwrap_or_default(),
        salt: blob(2)?,
        bytes: blob(3)?,
        // A column of another type or length is a finding, not an error.
        columns: stored_columns(row).ok(),
    })
}

fn stored_columns(row: &Row<'_>) -> rusqlite::Result<StoredColumns> {
    Ok(StoredColumns {
        id: row.get(4)?,
        kind: row.get(5)?,
        cause: row.get(6)?,
        task: row.get(7)?,
        call: row.get(8)?,
        attempt: row.get(9)?,
        unique_key: row.get(10)?,
        name: row.get(11)?,
        module: row.get(12)?,
        response: row.get(13)?,
        request: row.get(14)?,
    })
}
