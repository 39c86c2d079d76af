//! Questions to the ledger. Every entry is hashed again before it is believed.

use std::path::Path;

use model::event::{Event, Kind, Placed};
use model::merkle::{self, Edge};
use model::projection::index::UniqueKey;
use model::{AttemptId, CallId, Digest, EventId, TaskId};
use rusqlite::{Connection, OptionalExtension as _, Params, Row};

use super::{LedgerError, event_id, from_sqlite};

/// Kinds that are found by name; the index of them is partial, and SQLite uses
/// it only where a question repeats this condition.
const OPENING: &str = "kind IN ('home.created', 'home.preregistered', 'home.erased', \
    'module.registered', 'module.retired', 'task.created', 'call.requested', 'call.imported')";

/// Reads the ledger through one connection.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'c> {
    connection: &'c Connection,
    path: &'c Path,
}

/// What a deciding append is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScopeKey {
    /// One call.
    Call(CallId),
    /// One task.
    Task(TaskId),
}

impl ScopeKey {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Call(_) => "call",
            Self::Task(_) => "task",
        }
    }

    pub(super) const fn id(&self) -> &[u8; 16] {
        match self {
            Self::Call(id) => id.as_bytes(),
            Self::Task(id) => id.as_bytes(),
        }
    }
}

/// A cached projection and the place up to which it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectionRow {
    /// The last event of the scope that it covers.
    pub seq: u64,
    /// What it says.
    pub value: String,
}

impl<'c> Reader<'c> {
    pub(super) const fn new(connection: &'c Connection, path: &'c Path) -> Self {
        Self { connection, path }
    }

    pub(super) const fn connection(&self) -> &'c Connection {
        self.connection
    }

    pub(super) fn sqlite(&self, source: rusqlite::Error) -> LedgerError {
        from_sqlite(self.path, source)
    }

    /// Returns the last place in use, 0 when there is none.
    pub fn last_seq(&self) -> Result<u64, LedgerError> {
        self.number("SELECT coalesce(max(seq), 0) FROM event", [])
    }

    /// Returns the tree's right edge as it is recorded.
    pub fn edge(&self) -> Result<Edge, LedgerError> {
        let (size, bytes): (i64, Vec<u8>) = self
            .connection
            .prepare_cached("SELECT size, edge FROM tree")
            .and_then(|mut statement| statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?))))
            .map_err(|source| self.sqlite(source))?;
        let roots = bytes
            .chunks(32)
            .map(|chunk| chunk.try_into().map(Digest::from_bytes))
            .collect::<Result<Vec<_>, _>>();
        let size = u64::try_from(size).unwrap_or_default();
        let events = self.last_seq()?;
        roots
            .ok()
            .and_then(|roots| Edge::new(size, roots).ok())
            .ok_or(LedgerError::Tree { tree: size, events })
    }

    /// Returns the event at a place.
    pub fn at(&self, seq: u64) -> Result<Option<Placed>, LedgerError> {
        self.one(
            "SELECT seq, leaf, salt, bytes FROM event WHERE seq = ?1",
            [signed(seq)],
        )
    }

    /// Returns the event of this name.
    pub fn by_id(&self, id: EventId) -> Result<Option<Placed>, LedgerError> {
        self.one(
            "SELECT seq, leaf, salt, bytes FROM event WHERE id = ?1",
            [id.as_bytes()],
        )
    }

    /// Returns the event that holds a key which may stand only once.
    pub fn by_key(&self, key: &UniqueKey<'_>) -> Result<Option<Placed>, LedgerError> {
        let digest = key.digest();
        self.one(
            "SELECT seq, leaf, salt, bytes FROM event WHERE unique_key = ?1",
            [digest.as_bytes()],
        )
    }

    /// Returns up to `limit` events after a place, in order.
    pub fn after(&self, seq: u64, limit: u32) -> Result<Vec<Placed>, LedgerError> {
        self.all(
            "SELECT seq, leaf, salt, bytes FROM event WHERE seq > ?1 AND bytes IS NOT NULL \
             ORDER BY seq LIMIT ?2",
            (signed(seq), limit),
        )
    }

    /// Returns the events of a call, in order.
    pub fn of_call(&self, call: CallId) -> Result<Vec<Placed>, LedgerError> {
        self.all(
            "SELECT seq, leaf, salt, bytes FROM event WHERE call = ?1 ORDER BY seq",
            [call.as_bytes()],
        )
    }

    /// Returns the events of a task and of its calls, in order.
    pub fn of_task(&self, task: TaskId) -> Result<Vec<Placed>, LedgerError> {
        self.all(
            "SELECT seq, leaf, salt, bytes FROM event WHERE task = ?1 ORDER BY seq",
            [task.as_bytes()],
        )
    }

    /// Returns the call of an attempt.
    pub fn call_of(&self, attempt: AttemptId) -> Result<Option<CallId>, LedgerError> {
        self.connection
            .prepare_cached(
                "SELECT call FROM event WHERE attempt = ?1 \
                 AND kind IN ('attempt.started', 'attempt.observed') LIMIT 1",
            )
            .and_then(|mut statement| {
                statement
                    .query_row([attempt.as_bytes()], |row| row.get(0))
                    .optional()
            })
            .map(|found| found.map(CallId::from_bytes))
            .map_err(|source| self.sqlite(source))
    }

    /// Returns every event of one of the kinds that begin something.
    pub fn of_kind(&self, kind: Kind) -> Result<Vec<Placed>, LedgerError> {
        let query = format!(
            "SELECT seq, leaf, salt, bytes FROM event WHERE kind = ?1 AND {OPENING} ORDER BY seq"
        );
        self.all(&query, [kind.as_str()])
    }

    /// Returns the events of a kind that begin something under a name.
    pub fn named(&self, kind: Kind, name: &str) -> Result<Vec<Placed>, LedgerError> {
        let query = format!(
            "SELECT seq, leaf, salt, bytes FROM event \
             WHERE kind = ?1 AND name = ?2 AND {OPENING} ORDER BY seq"
        );
        self.all(&query, (kind.as_str(), name))
    }

    /// Returns up to `limit` calls whose first event comes after a place, in
    /// order, each with that place.
    pub fn calls_after(&self, seq: u64, limit: u32) -> Result<Vec<(u64, CallId)>, LedgerError> {
        self.pairs(
            "SELECT seq, call FROM event INDEXED BY event_calls WHERE seq > ?1 \
             AND kind IN ('call.requested', 'call.imported') ORDER BY seq LIMIT ?2",
            (signed(seq), limit),
        )
        .map(|rows| {
            rows.into_iter()
                .map(|(seq, id)| (seq, CallId::from_bytes(id)))
                .collect()
        })
    }

    /// Returns how many events are of a kind that begins something.
    pub fn count_of_kind(&self, kind: Kind) -> Result<u64, LedgerError> {
        let query = format!("SELECT count(*) FROM event WHERE kind = ?1 AND {OPENING}");
        self.number(&query, [kind.as_str()])
    }

    /// Returns up to `limit` events that a module read or decided, after a place.
    pub fn by_module(
        &self,
        module: Digest,
        seq: u64,
        limit: u32,
    ) -> Result<Vec<Placed>, LedgerError> {
        self.all(
            "SELECT seq, leaf, salt, bytes FROM event WHERE module = ?1 AND seq > ?2 \
             ORDER BY seq LIMIT ?3",
            (module.as_bytes(), signed(seq), limit),
        )
    }

    /// Returns the observations whose response or request is these bytes.
    pub fn observing(&self, artifact: Digest) -> Result<Vec<Placed>, LedgerError> {
        self.all(
            "SELECT seq, leaf, salt, bytes FROM event WHERE response = ?1 \
             UNION SELECT seq, leaf, salt, bytes FROM event WHERE request = ?1 ORDER BY seq",
            [artifact.as_bytes()],
        )
    }

    /// Returns the last place of a call's or a task's events, 0 when there is none.
    pub fn head(&self, scope: ScopeKey) -> Result<u64, LedgerError> {
        let query = match scope {
            ScopeKey::Call(_) => "SELECT coalesce(max(seq), 0) FROM event WHERE call = ?1",
            ScopeKey::Task(_) => "SELECT coalesce(max(seq), 0) FROM event WHERE task = ?1",
        };
        self.number(query, [scope.id()])
    }

    /// Returns a cached projection.
    pub fn projection(&self, scope: ScopeKey) -> Result<Option<ProjectionRow>, LedgerError> {
        self.connection
            .prepare_cached("SELECT seq, value FROM projection WHERE scope = ?1 AND id = ?2")
            .and_then(|mut statement| {
                statement
                    .query_row((scope.name(), scope.id()), |row| {
                        Ok((row.get(0)?, row.get(1)?))
                    })
                    .optional()
            })
            .map(|found: Option<(i64, String)>| {
                found.map(|(seq, value)| ProjectionRow {
                    seq: unsigned(seq),
                    value,
                })
            })
            .map_err(|source| self.sqlite(source))
    }

    /// Returns the cached projections of calls, each value with how many calls have
    /// it; none when they do not cover the whole ledger.
    pub fn projection_counts(&self) -> Result<Option<Vec<(String, u64)>>, LedgerError> {
        let projected = self.number("SELECT projected FROM tree", [])?;
        if projected != self.last_seq()? {
            return Ok(None);
        }
        self.connection
            .prepare_cached(
                "SELECT value, count(*) FROM projection WHERE scope = 'call' \
                 GROUP BY value ORDER BY value",
            )
            .and_then(|mut statement| {
                statement.query_map([], |row| Ok((row.get(0)?, unsigned(row.get(1)?))))?.collect()
            })
            .map(Some)
            .map_err(|source| self.sqlite(source))
    }

    fn number(&self, query: &str, params: impl Params) -> Result<u64, LedgerError> {
        self.connection
            .prepare_cached(query)
            .and_then(|mut statement| statement.query_row(params, |row| row.get::<_, i64>(0)))
            .map(unsigned)
            .map_err(|source| self.sqlite(source))
    }

    fn pairs(&self, query: &str, params: impl Params) -> Result<Vec<(u64, [u8; 16])>, LedgerError> {
        self.connection
            .prepare_cached(query)
            .and_then(|mut statement| {
                statement
                    .query_map(params, |row| Ok((unsigned(row.get(0)?), row.get(1)?)))?
                    .collect()
            })
            .map_err(|source| self.sqlite(source))
    }

    fn one(&self, query: &str, params: impl Params) -> Result<Option<Placed>, LedgerError> {
        let mut statement = self
            .connection
            .prepare_cached(query)
            .map_err(|source| self.sqlite(source))?;
        let mut rows = statement
            .query(params)
            .map_err(|source| self.sqlite(source))?;
        match rows.next().map_err(|source| self.sqlite(source))? {
            Some(row) => self.believe(row).map(Some),
            None => Ok(None),
        }
    }

    fn all(&self, query: &str, params: impl Params) -> Result<Vec<Placed>, LedgerError> {
        let mut statement = self
            .connection
            .prepare_cached(query)
            .map_err(|source| self.sqlite(source))?;
        let mut rows = statement
            .query(params)
            .map_err(|source| self.sqlite(source))?;
        let mut events = Vec::new();
        while let Some(row) = rows.next().map_err(|source| self.sqlite(source))? {
            events.push(self.believe(row)?);
        }
        Ok(events)
    }

    /// Hashes an entry again and reads its event.
    fn believe(&self, row: &Row<'_>) -> Result<Placed, LedgerError> {
        let column = |source| self.sqlite(source);
        let seq = unsigned(row.get(0).map_err(column)?);
        let leaf = Digest::from_bytes(row.get(1).map_err(column)?);
        let salt = row
            .get_ref(2)
            .and_then(|value| Ok(value.as_blob_or_null()?))
            .map_err(column)?;
        let bytes = row
            .get_ref(3)
            .and_then(|value| Ok(value.as_blob_or_null()?))
            .map_err(column)?;
        let (Some(salt), Some(bytes)) = (salt, bytes) else {
            return Err(LedgerError::Erased { seq });
        };
        let found = merkle::leaf(salt, bytes);
        if found != leaf {
            return Err(LedgerError::Leaf { seq, leaf, found });
        }
        let event = Event::parse(bytes).map_err(|source| LedgerError::Entry { seq, source })?;
        Ok(Placed { seq, event })
    }
}

/// SQLite's integers are signed; places stay far below the difference.
pub(super) fn signed(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

pub(super) fn unsigned(seq: i64) -> u64 {
    u64::try_from(seq).unwrap_or_default()
}

/// Restores an optional id from a column.
pub(super) fn optional_event_id(bytes: Option<[u8; 16]>) -> Option<EventId> {
    bytes.map(event_id)
}
