//! Appending, inside one transaction.

use model::bounds::SALT_BYTES;
use model::event::Event;
use model::merkle::{self, Edge};
use model::projection::IndexColumns;
use model::projection::index::UniqueKey;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Transaction, TransactionBehavior, ffi, params_from_iter};

use super::reader::{Reader, ScopeKey, signed};
use super::{LedgerError, Origin, columns, query};

/// Holds the write lock. Dropping it without [`Writer::commit`] changes nothing.
#[derive(Debug)]
pub struct Writer<'l> {
    transaction: Transaction<'l>,
    origin: &'l Origin,
    edge: Edge,
    salts: Salts,
    /// The size of the tree when the lock was taken.
    began_at: u64,
}

impl<'l> Writer<'l> {
    pub(super) fn begin(
        connection: &'l mut Connection,
        origin: &'l Origin,
    ) -> Result<Self, LedgerError> {
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|source| origin.sqlite(source))?;
        Self::within(transaction, origin)
    }

    pub(super) fn within(
        transaction: Transaction<'l>,
        origin: &'l Origin,
    ) -> Result<Self, LedgerError> {
        let edge = Reader::new(&transaction, origin).edge()?;
        let began_at = edge.size();
        Ok(Self {
            transaction,
            origin,
            edge,
            salts: Salts::default(),
            began_at,
        })
    }

    /// Reads inside the transaction.
    pub fn reader(&self) -> Reader<'_> {
        Reader::new(&self.transaction, self.origin)
    }

    /// Appends an event and returns its place.
    pub fn append(&mut self, event: &Event) -> Result<u64, LedgerError> {
        self.require_transaction()?;
        let bytes = event.to_bytes()?;
        let salt = self.salts.next(self.origin)?;
        let leaf = merkle::leaf(&salt, &bytes);
        let seq = self.edge.size() + 1;
        let of_event = IndexColumns::of(event);
        let entry = [
            ValueRef::Integer(signed(seq)),
            ValueRef::Blob(leaf.as_bytes()),
            ValueRef::Blob(&salt),
            ValueRef::Blob(&bytes),
        ];
        let index = columns::expected(&of_event).map(|(_, value)| value);
        let values = entry.into_iter().chain(index).map(ToSqlOutput::Borrowed);
        let inserted = self
            .transaction
            .prepare_cached(query::INSERT)
            .and_then(|mut statement| statement.execute(params_from_iter(values)));
        match inserted {
            Ok(1) => {
                self.edge.push(leaf);
                Ok(seq)
            }
            // Someone's own trigger can swallow a row without an error.
            Ok(rows) => Err(LedgerError::NotALedger {
                path: self.origin.path.clone(),
                detail: format!("an append changed {rows} rows, expected 1"),
            }),
            Err(source) => Err(self.explain(event, source)),
        }
    }

    /// Caches a projection that holds up to the given place.
    pub fn cache_projection(
        &self,
        scope: ScopeKey,
        seq: u64,
        value: &str,
    ) -> Result<(), LedgerError> {
        self.transaction
            .prepare_cached(
                "INSERT OR REPLACE INTO projection(scope, id, seq, value) VALUES (?1, ?2, ?3, ?4)",
            )
            .and_then(|mut statement| {
                statement.execute((scope.name(), scope.id(), signed(seq), value))
            })
            .map(drop)
            .map_err(|source| self.origin.sqlite(source))
    }

    /// Removes every cached projection; those that are left cover nothing.
    pub fn clear_projections(&self) -> Result<(), LedgerError> {
        self.transaction
            .execute_batch("DELETE FROM projection; UPDATE tree SET projected = 0")
            .map_err(|source| self.origin.sqlite(source))
    }

    /// Makes everything appended durable.
    pub fn commit(self) -> Result<(), LedgerError> {
        self.require_transaction()?;
        let edge: Vec<u8> = self
            .edge
            .roots()
            .iter()
            .flat_map(|root| *root.as_bytes())
            .collect();
        self.transaction
            .execute(
                "UPDATE tree SET size = ?1, edge = ?2",
                (signed(self.edge.size()), edge),
            )
            .and_then(|_| self.transaction.commit())
            .map_err(|source| self.origin.sqlite(source))
    }

    /// Makes everything appended durable, and moves the mark up to which the cached
    /// projections cover the ledger, if it stood where this transaction began.
    pub fn commit_projected(self) -> Result<(), LedgerError> {
        self.move_mark("UPDATE tree SET projected = ?1 WHERE projected = ?2")?;
        self.commit()
    }

    /// Makes everything appended durable, and says that the cached projections cover
    /// all of it.
    pub fn commit_rebuilt(self) -> Result<(), LedgerError> {
        self.move_mark("UPDATE tree SET projected = max(?1, ?2)")?;
        self.commit()
    }

    fn move_mark(&self, query: &str) -> Result<(), LedgerError> {
        self.transaction
            .execute(query, (signed(self.edge.size()), signed(self.began_at)))
            .map(drop)
            .map_err(|source| self.origin.sqlite(source))
    }

    /// Refuses to go on when SQLite has rolled the transaction back, as it does when
    /// the disk is full: what follows would be written outside of any.
    fn require_transaction(&self) -> Result<(), LedgerError> {
        if self.transaction.is_autocommit() {
            let code = ffi::Error::new(ffi::SQLITE_ABORT_ROLLBACK);
            return Err(self
                .origin
                .sqlite(rusqlite::Error::SqliteFailure(code, None)));
        }
        Ok(())
    }

    /// Says which event holds the key, when that is why an append was refused.
    fn explain(&self, event: &Event, source: rusqlite::Error) -> LedgerError {
        let kind = event.kind().as_str();
        if source.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
            && let Some(key) = UniqueKey::of(event)
        {
            return match self.reader().by_key(&key) {
                Ok(Some(existing)) => LedgerError::Duplicate {
                    kind,
                    existing: existing.seq,
                },
                Ok(None) => self.origin.sqlite(source),
                Err(damage) => damage,
            };
        }
        self.origin.sqlite(source)
    }
}

/// Random bytes, fetched from the system in groups.
#[derive(Debug, Default)]
struct Salts {
    left: Vec<[u8; SALT_BYTES]>,
}

impl Salts {
    const GROUP: usize = 64;

    fn next(&mut self, origin: &Origin) -> Result<[u8; SALT_BYTES], LedgerError> {
        if let Some(salt) = self.left.pop() {
            return Ok(salt);
        }
        let mut salt = [0; SALT_BYTES];
        let mut group = [0; SALT_BYTES * Self::GROUP];
        getrandom::fill(&mut salt)
            .and_then(|()| getrandom::fill(&mut group))
            .map_err(|error| {
                origin.io(std::io::Error::other(format!("no random bytes: {error}")))
            })?;
        self.left.extend_from_slice(group.as_chunks().0);
        Ok(salt)
    }
}
