//! Appending, inside one transaction.

use std::path::Path;

use model::bounds::SALT_BYTES;
use model::event::Event;
use model::merkle::{self, Edge};
use model::projection::IndexColumns;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::reader::{Reader, ScopeKey, signed};
use super::{LedgerError, from_sqlite};

/// Holds the write lock. Dropping it without [`Writer::commit`] changes nothing.
#[derive(Debug)]
pub struct Writer<'l> {
    transaction: Transaction<'l>,
    path: &'l Path,
    edge: Edge,
    salts: Salts,
    /// The size of the tree when the lock was taken.
    began_at: u64,
}

impl<'l> Writer<'l> {
    pub(super) fn begin(
        connection: &'l mut Connection,
        path: &'l Path,
    ) -> Result<Self, LedgerError> {
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|source| from_sqlite(path, source))?;
        Self::within(transaction, path)
    }

    pub(super) fn within(
        transaction: Transaction<'l>,
        path: &'l Path,
    ) -> Result<Self, LedgerError> {
        let reader = Reader::new(&transaction, path);
        let (edge, events) = (reader.edge()?, reader.last_seq()?);
        if edge.size() != events {
            return Err(LedgerError::Tree {
                tree: edge.size(),
                events,
            });
        }
        let began_at = edge.size();
        Ok(Self { transaction, path, edge, salts: Salts::default(), began_at })
    }

    /// Reads inside the transaction.
    pub fn reader(&self) -> Reader<'_> {
        Reader::new(&self.transaction, self.path)
    }

    /// Appends an event and returns its place.
    pub fn append(&mut self, event: &Event) -> Result<u64, LedgerError> {
        let bytes = event.to_bytes()?;
        let salt = self.salts.next(self.path)?;
        let leaf = merkle::leaf(&salt, &bytes);
        let seq = self.edge.size() + 1;
        let columns = IndexColumns::of(event);
        let inserted = self
            .transaction
            .prepare_cached(
                "INSERT INTO event(seq, leaf, salt, bytes, id, kind, cause, task, call, attempt, \
                 unique_key, name, module, response, request) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            )
            .and_then(|mut statement| {
                statement.execute(params![
                    signed(seq),
                    leaf.as_bytes(),
                    salt.as_slice(),
                    bytes,
                    columns.id.as_bytes(),
                    columns.kind,
                    columns.cause.as_ref().map(model::EventId::as_bytes),
                    columns.scope.task.as_ref().map(model::TaskId::as_bytes),
                    columns.scope.call.as_ref().map(model::CallId::as_bytes),
                    columns
                        .scope
                        .attempt
                        .as_ref()
                        .map(model::AttemptId::as_bytes),
                    columns.unique_key.as_ref().map(model::Digest::as_bytes),
                    columns.name,
                    columns.module.as_ref().map(model::Digest::as_bytes),
                    columns.response.as_ref().map(model::Digest::as_bytes),
                    columns.request.as_ref().map(model::Digest::as_bytes),
                ])
            });
        if let Err(source) = inserted {
            return Err(self.explain(event, source));
        }
        self.edge.push(leaf);
        Ok(seq)
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
            .map_err(|source| from_sqlite(self.path, source))
    }

    /// Removes every cached projection.
    pub fn clear_projections(&self) -> Result<(), LedgerError> {
        self.transaction
            .execute("DELETE FROM projection", [])
            .map(drop)
            .map_err(|source| from_sqlite(self.path, source))
    }

    /// Makes everything appended durable.
    pub fn commit(self) -> Result<(), LedgerError> {
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
            .map_err(|source| from_sqlite(self.path, source))
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
            .map_err(|source| from_sqlite(self.path, source))
    }

    /// Says which event holds the key, when that is why an append was refused.
    fn explain(&self, event: &Event, source: rusqlite::Error) -> LedgerError {
        let kind = event.kind().as_str();
        if source.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) {
            let key = model::projection::index::UniqueKey::of(event);
            let existing = key.and_then(|key| self.reader().by_key(&key).ok().flatten());
            if let Some(existing) = existing {
                return LedgerError::Duplicate {
                    kind,
                    existing: existing.seq,
                };
            }
        }
        from_sqlite(self.path, source)
    }
}

/// Random bytes, fetched from the system in groups.
#[derive(Debug, Default)]
struct Salts {
    left: Vec<[u8; SALT_BYTES]>,
}

impl Salts {
    const GROUP: usize = 64;

    fn next(&mut self, path: &Path) -> Result<[u8; SALT_BYTES], LedgerError> {
        if let Some(salt) = self.left.pop() {
            return Ok(salt);
        }
        let mut group = [0; SALT_BYTES * Self::GROUP];
        getrandom::fill(&mut group).map_err(|error| LedgerError::Io {
            path: path.to_owned(),
            source: std::io::Error::other(format!("no random bytes: {error}")),
        })?;
        let (salts, _) = group.as_chunks::<SALT_BYTES>();
        self.left.extend_from_slice(salts);
        Ok(self.left.pop().unwrap_or_default())
    }
}
