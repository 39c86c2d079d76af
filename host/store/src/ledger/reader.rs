//! Questions to the ledger. Every entry is hashed again before it is believed.

use model::bounds::SALT_BYTES;
use model::event::{Event, EventError, Kind, Placed};
use model::merkle::{self, Edge};
use model::projection::IndexColumns;
use model::projection::index::UniqueKey;
use model::{AttemptId, CallId, Digest, EventId, TaskId};
use rusqlite::{Connection, OptionalExtension as _, Params, Row};

use super::{LedgerError, Origin, query};

/// Reads the ledger through one connection.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'c> {
    connection: &'c Connection,
    origin: &'c Origin,
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

impl From<CallId> for ScopeKey {
    fn from(call: CallId) -> Self {
        Self::Call(call)
    }
}

impl From<TaskId> for ScopeKey {
    fn from(task: TaskId) -> Self {
        Self::Task(task)
    }
}

/// Which records of a status are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statuses {
    /// `call.reinterpreted` alone.
    Reinterpreted,
    /// `call.status_decided` too.
    Decided,
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
    pub(super) const fn new(connection: &'c Connection, origin: &'c Origin) -> Self {
        Self { connection, origin }
    }

    pub(super) const fn connection(&self) -> &'c Connection {
        self.connection
    }

    pub(super) fn sqlite(&self, source: rusqlite::Error) -> LedgerError {
        self.origin.sqlite(source)
    }

    /// Returns the last place in use, 0 when there is none.
    pub fn last_seq(&self) -> Result<u64, LedgerError> {
        self.number(query::LAST_SEQ, [])
    }

    /// Returns the tree's right edge as it is recorded. Refuses one that is not of as
    /// many entries as there are.
    pub fn edge(&self) -> Result<Edge, LedgerError> {
        let row = self
            .connection
            .prepare_cached(query::EDGE)
            .and_then(|mut statement| {
                statement
                    .query_row([], |row| {
                        Ok((unsigned(row.get(0)?), row.get(1)?, unsigned(row.get(2)?)))
                    })
                    .optional()
            })
            .map_err(|source| self.sqlite(source))?;
        let (tree, bytes, events): (u64, Vec<u8>, u64) = match row {
            Some(row) => row,
            None => (0, Vec::new(), self.last_seq()?),
        };
        let refused = LedgerError::Tree {
            tree,
            edge_bytes: bytes.len(),
            events,
        };
        let (roots, rest) = bytes.as_chunks::<32>();
        let roots = roots.iter().copied().map(Digest::from_bytes).collect();
        match Edge::new(tree, roots) {
            Ok(edge) if rest.is_empty() && tree == events => Ok(edge),
            _ => Err(refused),
        }
    }

    /// Returns the event at a place.
    pub fn at(&self, seq: u64) -> Result<Option<Placed>, LedgerError> {
        self.one(query::AT, [signed(seq)], &Asked::PLACE)
    }

    /// Returns the event of this name.
    pub fn by_id(&self, id: EventId) -> Result<Option<Placed>, LedgerError> {
        let asked = Asked("id", |event: &Event| event.id == id);
        self.one(query::BY_ID, [id.as_bytes()], &asked)
    }

    /// Returns the event that holds a key which may stand only once.
    pub fn by_key(&self, key: &UniqueKey<'_>) -> Result<Option<Placed>, LedgerError> {
        let asked = Asked("unique_key", |event: &Event| {
            UniqueKey::of(event).as_ref() == Some(key)
        });
        self.one(query::BY_KEY, [key.digest().as_bytes()], &asked)
    }

    /// Returns up to `limit` events after a place, in order, without the erased ones.
    pub fn after(&self, seq: u64, limit: u32) -> Result<Vec<Placed>, LedgerError> {
        self.all(query::AFTER, (signed(seq), limit), &Asked::PLACE)
    }

    /// Returns the events of a call, in order.
    pub fn of_call(&self, call: CallId) -> Result<Vec<Placed>, LedgerError> {
        let asked = Asked("call", |event: &Event| event.scope.call == Some(call));
        self.all(query::OF_CALL, [call.as_bytes()], &asked)
    }

    /// Returns the events of a task and of its calls, in order.
    pub fn of_task(&self, task: TaskId) -> Result<Vec<Placed>, LedgerError> {
        let asked = Asked("task", |event: &Event| event.scope.task == Some(task));
        self.all(query::OF_TASK, [task.as_bytes()], &asked)
    }

    /// Returns the events of a task that are of none of its calls, in order.
    pub fn of_task_alone(&self, task: TaskId) -> Result<Vec<Placed>, LedgerError> {
        let asked = Asked("call", |event: &Event| {
            event.scope.task == Some(task) && event.scope.call.is_none()
        });
        self.all(query::OF_TASK_ALONE, [task.as_bytes()], &asked)
    }

    /// Returns the events of a call or a task, in order.
    pub fn of_scope(&self, scope: ScopeKey) -> Result<Vec<Placed>, LedgerError> {
        match scope {
            ScopeKey::Call(call) => self.of_call(call),
            ScopeKey::Task(task) => self.of_task(task),
        }
    }

    /// Returns the call of an attempt.
    pub fn call_of(&self, attempt: AttemptId) -> Result<Option<CallId>, LedgerError> {
        let asked = Asked("attempt", |event: &Event| {
            event.scope.attempt == Some(attempt)
        });
        self.one(query::OF_ATTEMPT, [attempt.as_bytes()], &asked)
            .map(|found| found.and_then(|placed| placed.event.scope.call))
    }

    /// Returns every event of a kind. Those that begin something are found by an
    /// index; for the others, every entry is read.
    pub fn of_kind(&self, kind: Kind) -> Result<Vec<Placed>, LedgerError> {
        let query = if opens(kind) {
            query::OF_OPENING_KIND
        } else {
            query::OF_OTHER_KIND
        };
        let asked = Asked("kind", |event: &Event| event.kind() == kind);
        self.all(query, [kind.as_str()], &asked)
    }

    /// Returns the events of a kind that begin something under a name; other kinds
    /// have none.
    pub fn named(&self, kind: Kind, name: &str) -> Result<Vec<Placed>, LedgerError> {
        let asked = Asked("name", |event: &Event| {
            event.kind() == kind && IndexColumns::of(event).name.as_deref() == Some(name)
        });
        self.all(query::NAMED, (kind.as_str(), name), &asked)
    }

    /// Returns up to `limit` calls whose first event comes after a place, in
    /// order, each with that place. The index alone is asked: whoever acts on a call
    /// reads its events.
    pub fn calls_after(&self, seq: u64, limit: u32) -> Result<Vec<(u64, CallId)>, LedgerError> {
        self.places_of_calls(query::CALLS_AFTER, (signed(seq), limit))
    }

    /// Returns up to `limit` places after a place at which a call was reinterpreted,
    /// in order, each with the call; with `Decided`, also those at which it was first
    /// decided. No index is asked: every entry after the place is looked at.
    pub fn statuses_after(
        &self,
        seq: u64,
        limit: u32,
        which: Statuses,
    ) -> Result<Vec<(u64, CallId)>, LedgerError> {
        let decided = which == Statuses::Decided;
        self.places_of_calls(query::STATUSES_AFTER, (signed(seq), limit, decided))
    }

    fn places_of_calls(
        &self,
        query: &str,
        params: impl Params,
    ) -> Result<Vec<(u64, CallId)>, LedgerError> {
        self.connection
            .prepare_cached(query)
            .and_then(|mut statement| {
                statement
                    .query_map(params, |row| {
                        Ok((unsigned(row.get(0)?), CallId::from_bytes(row.get(1)?)))
                    })?
                    .collect()
            })
            .map_err(|source| self.sqlite(source))
    }

    /// Returns how many events are of a kind. Those that begin something are counted
    /// by an index; for the others, every entry is read.
    pub fn count_of_kind(&self, kind: Kind) -> Result<u64, LedgerError> {
        let query = if opens(kind) {
            query::COUNT_OF_OPENING_KIND
        } else {
            query::COUNT_OF_OTHER_KIND
        };
        self.number(query, [kind.as_str()])
    }

    /// Returns up to `limit` events that a module read or decided, after a place.
    pub fn by_module(
        &self,
        module: Digest,
        seq: u64,
        limit: u32,
    ) -> Result<Vec<Placed>, LedgerError> {
        let asked = Asked("module", |event: &Event| {
            IndexColumns::of(event).module == Some(module)
        });
        self.all(
            query::BY_MODULE,
            (module.as_bytes(), signed(seq), limit),
            &asked,
        )
    }

    /// Returns how many events register a module, or were read or decided by it.
    pub fn count_by_module(&self, module: Digest) -> Result<u64, LedgerError> {
        self.number(query::COUNT_BY_MODULE, [module.as_bytes()])
    }

    /// Returns the observations whose response or request is these bytes, and the
    /// derivations to or from them.
    pub fn observing(&self, artifact: Digest) -> Result<Vec<Placed>, LedgerError> {
        let asked = Asked("response or request", |event: &Event| {
            let columns = IndexColumns::of(event);
            [columns.response, columns.request].contains(&Some(artifact))
        });
        self.all(query::OBSERVING, [artifact.as_bytes()], &asked)
    }

    /// Returns the last place of a call's or a task's events, 0 when there is none.
    pub fn head(&self, scope: ScopeKey) -> Result<u64, LedgerError> {
        let query = match scope {
            ScopeKey::Call(_) => query::HEAD_OF_CALL,
            ScopeKey::Task(_) => query::HEAD_OF_TASK,
        };
        self.number(query, [scope.id()])
    }

    /// Returns a cached projection.
    pub fn projection(&self, scope: ScopeKey) -> Result<Option<ProjectionRow>, LedgerError> {
        self.connection
            .prepare_cached(query::PROJECTION)
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
        let rows: Vec<(bool, Option<String>, Option<i64>)> = self
            .connection
            .prepare_cached(query::PROJECTION_COUNTS)
            .and_then(|mut statement| {
                statement
                    .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
                    .collect()
            })
            .map_err(|source| self.sqlite(source))?;
        let whole = rows.first().is_some_and(|(whole, ..)| *whole);
        Ok(whole.then(|| {
            rows.into_iter()
                .filter_map(|(_, value, calls)| Some((value?, unsigned(calls?))))
                .collect()
        }))
    }

    fn number(&self, query: &str, params: impl Params) -> Result<u64, LedgerError> {
        self.connection
            .prepare_cached(query)
            .and_then(|mut statement| statement.query_row(params, |row| row.get::<_, i64>(0)))
            .map(unsigned)
            .map_err(|source| self.sqlite(source))
    }

    fn one(
        &self,
        query: &str,
        params: impl Params,
        asked: &Asked<impl Fn(&Event) -> bool>,
    ) -> Result<Option<Placed>, LedgerError> {
        let mut statement = self
            .connection
            .prepare_cached(query)
            .map_err(|source| self.sqlite(source))?;
        let mut rows = statement
            .query(params)
            .map_err(|source| self.sqlite(source))?;
        match rows.next().map_err(|source| self.sqlite(source))? {
            Some(row) => self.believe(row, asked).map(Some),
            None => Ok(None),
        }
    }

    fn all(
        &self,
        query: &str,
        params: impl Params,
        asked: &Asked<impl Fn(&Event) -> bool>,
    ) -> Result<Vec<Placed>, LedgerError> {
        let mut statement = self
            .connection
            .prepare_cached(query)
            .map_err(|source| self.sqlite(source))?;
        let mut rows = statement
            .query(params)
            .map_err(|source| self.sqlite(source))?;
        let mut events = Vec::new();
        while let Some(row) = rows.next().map_err(|source| self.sqlite(source))? {
            events.push(self.believe(row, asked)?);
        }
        Ok(events)
    }

    /// Hashes an entry again, reads its event and sees that it is what was asked for:
    /// the columns it was found by are under no hash.
    fn believe(
        &self,
        row: &Row<'_>,
        asked: &Asked<impl Fn(&Event) -> bool>,
    ) -> Result<Placed, LedgerError> {
        let blob = |column| {
            row.get_ref(column)
                .and_then(|value| Ok(value.as_bytes_or_null()?))
                .map_err(|source| self.sqlite(source))
        };
        let seq = row
            .get(0)
            .map(unsigned)
            .map_err(|source| self.sqlite(source))?;
        let (leaf, salt, bytes) = (blob(1)?.unwrap_or_default(), blob(2)?, blob(3)?);
        if salt.is_none() && bytes.is_none() {
            return Err(LedgerError::Erased { seq });
        }
        let (salt, bytes) = (salt.unwrap_or_default(), bytes.unwrap_or_default());
        let found = merkle::leaf(salt, bytes);
        if found.as_bytes() != leaf {
            return Err(LedgerError::Leaf {
                seq,
                leaf: leaf.to_vec(),
                found,
            });
        }
        // The hash is of both together: it does not say where the salt ends.
        let event = if salt.len() == SALT_BYTES {
            Event::parse(bytes)
        } else {
            Err(EventError::NotCanonical)
        };
        let event = event.map_err(|source| LedgerError::Entry { seq, source })?;
        let Asked(column, is_it) = asked;
        if is_it(&event) {
            Ok(Placed { seq, event })
        } else {
            Err(LedgerError::Index { seq, column })
        }
    }
}

/// The index column that entries are found by, and whether an event is meant.
struct Asked<F>(&'static str, F);

impl Asked<fn(&Event) -> bool> {
    /// By its place alone, which is no index.
    const PLACE: Self = Self("seq", |_event| true);
}

/// Returns whether events of a kind begin something.
pub(super) const fn opens(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::HomeCreated
            | Kind::HomePreregistered
            | Kind::HomeErased
            | Kind::ModuleRegistered
            | Kind::ModuleRetired
            | Kind::TaskCreated
            | Kind::CallRequested
            | Kind::CallImported
    )
}

/// SQLite's integers are signed; places stay far below the difference.
pub(super) fn signed(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

pub(super) fn unsigned(seq: i64) -> u64 {
    u64::try_from(seq).unwrap_or_default()
}
