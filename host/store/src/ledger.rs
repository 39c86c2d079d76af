//! The ledger: one SQLite file, append only, with a Merkle tree over its entries.
//!
//! Invariant: `seq` has no gaps, and the tree's right edge is of exactly the
//! entries that are there; both change in the same transaction. The ledger owns
//! order. It does not know what an event means.

mod audit;
mod reader;
mod schema;
mod writer;

use std::path::{Path, PathBuf};
use std::time::Duration;

use model::event::EventError;
use model::{Digest, EventId};
use rusqlite::{Connection, OpenFlags};

pub use audit::{IndexFinding, RawEntry};
pub use reader::{ProjectionRow, Reader, ScopeKey};
pub use writer::Writer;

use crate::syncing;

/// The oldest SQLite without the defect that can corrupt a WAL that two
/// connections reset at once (fixed in 3.51.3).
const SQLITE_VERSION_MIN: i32 = 3_051_003;

/// How long a lock of another process is waited for.
pub const LOCK_WAIT: Duration = Duration::from_secs(10);

/// The layout of the tables; a newer one is refused.
const SCHEMA_VERSION: i64 = 1;

/// `RRd1`, so that other tools can tell what the file is.
const APPLICATION_ID: i64 = 0x5252_6431;

/// An open ledger.
#[derive(Debug)]
pub struct Ledger {
    connection: Connection,
    path: PathBuf,
}

/// Why the ledger cannot be read or appended to.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// Another process holds the lock.
    #[error("ledger {}: another process holds the lock for more than {wait_s} s", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
        /// How long was waited.
        wait_s: u64,
    },
    /// The file is not a ledger of ours.
    #[error("{} is not a ledger of this program: {detail}", path.display())]
    NotALedger {
        /// The file.
        path: PathBuf,
        /// What is different.
        detail: String,
    },
    /// A newer program wrote it.
    #[error(
        "ledger {}: its tables are of version {found}, but this program knows up to \
         {SCHEMA_VERSION}: use a newer program", path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// The disk is full.
    #[error("ledger {}: the disk is full; nothing was appended", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The file or its folder cannot be written.
    #[error("ledger {}: the file or its folder cannot be written", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// An entry does not hash to its leaf.
    #[error("event {seq}: leaf is {leaf}, but salt and bytes hash to {found}")]
    Leaf {
        /// Its place.
        seq: u64,
        /// The leaf recorded.
        leaf: Digest,
        /// What its bytes hash to.
        found: Digest,
    },
    /// An entry holds no event that can be read.
    #[error("event {seq}: {source}")]
    Entry {
        /// Its place.
        seq: u64,
        /// What is wrong with it.
        source: EventError,
    },
    /// The entry was erased.
    #[error("event {seq} was erased: only its leaf is left")]
    Erased {
        /// Its place.
        seq: u64,
    },
    /// The tree's edge is not of the entries that are there.
    #[error("the tree has {tree} leaves, but the ledger has {events} events")]
    Tree {
        /// The size of the tree.
        tree: u64,
        /// The last place in use.
        events: u64,
    },
    /// A key that may stand only once is there already.
    #[error("event {existing} already holds the key of a new {kind}")]
    Duplicate {
        /// The kind that was to be appended.
        kind: &'static str,
        /// The place of the one that is there.
        existing: u64,
    },
    /// The event has no bytes.
    #[error(transparent)]
    Event(#[from] EventError),
    /// The linked SQLite is too old to be trusted with a WAL.
    #[error(
        "the linked SQLite has version number {0}, but at least {SQLITE_VERSION_MIN} is needed"
    )]
    SqliteTooOld(i32),
    /// SQLite refused.
    #[error("ledger {}: {source}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// The file system refused.
    #[error("ledger {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl Ledger {
    /// Creates a ledger and fills it in one transaction: a crash leaves either
    /// nothing or all of what `fill` appends.
    pub fn create<E: From<LedgerError>>(
        path: &Path,
        fill: impl FnOnce(&mut Writer<'_>) -> Result<(), E>,
    ) -> Result<Self, E> {
        let file = syncing::create_file(path).map_err(|source| LedgerError::Io {
            path: path.to_owned(),
            source,
        })?;
        drop(file);
        let mut ledger = Self::connect(path, LOCK_WAIT)?;
        let path = ledger.path.clone();
        let sqlite = |source| from_sqlite(&path, source);
        let transaction = ledger.connection.transaction().map_err(sqlite)?;
        transaction.execute_batch(schema::CREATE).map_err(sqlite)?;
        transaction
            .pragma_update(None, "user_version", SCHEMA_VERSION)
            .and_then(|()| transaction.pragma_update(None, "application_id", APPLICATION_ID))
            .map_err(sqlite)?;
        let mut writer = Writer::within(transaction, &path)?;
        fill(&mut writer)?;
        writer.commit()?;
        if let Some(folder) = path.parent() {
            syncing::sync_folder(folder).map_err(|source| LedgerError::Io {
                path: path.clone(),
                source,
            })?;
        }
        Ok(ledger)
    }

    /// Opens a ledger, waiting up to [`LOCK_WAIT`] for other processes.
    pub fn open(path: &Path) -> Result<Self, LedgerError> {
        Self::open_waiting(path, LOCK_WAIT)
    }

    /// Opens a ledger with a time of one's own to wait for other processes.
    pub fn open_waiting(path: &Path, wait: Duration) -> Result<Self, LedgerError> {
        let ledger = Self::connect(path, wait)?;
        ledger.check_tables()?;
        Ok(ledger)
    }

    fn connect(path: &Path, wait: Duration) -> Result<Self, LedgerError> {
        let version = rusqlite::version_number();
        if version < SQLITE_VERSION_MIN {
            return Err(LedgerError::SqliteTooOld(version));
        }
        let sqlite = |source| from_sqlite(path, source);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(sqlite)?;
        connection.busy_timeout(wait).map_err(sqlite)?;
        connection.set_prepared_statement_cache_capacity(64);
        // WAL with FULL is the one mode in which no acknowledged append was lost
        // to a power cut and a commit costs one fsync. What is erased is wiped.
        for (name, value) in [
            ("synchronous", "FULL"),
            ("secure_delete", "ON"),
            ("temp_store", "MEMORY"),
        ] {
            connection
                .pragma_update(None, name, value)
                .map_err(sqlite)?;
        }
        connection
            .pragma_update(None, "trusted_schema", false)
            .map_err(sqlite)?;
        let mode: String = connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))
            .map_err(sqlite)?;
        let synchronous: i64 = connection
            .pragma_query_value(None, "synchronous", |row| row.get(0))
            .map_err(sqlite)?;
        if mode != "wal" || synchronous != 2 {
            let detail = format!(
                "expected journal_mode wal and synchronous 2, found {mode} and {synchronous}"
            );
            return Err(LedgerError::NotALedger {
                path: path.to_owned(),
                detail,
            });
        }
        Ok(Self {
            connection,
            path: path.to_owned(),
        })
    }

    fn check_tables(&self) -> Result<(), LedgerError> {
        let pragma = |name: &str| -> Result<i64, LedgerError> {
            self.connection
                .pragma_query_value(None, name, |row| row.get(0))
                .map_err(|source| from_sqlite(&self.path, source))
        };
        let (application, version) = (pragma("application_id")?, pragma("user_version")?);
        if application != APPLICATION_ID {
            let detail = format!(
                "expected application_id {APPLICATION_ID}, found {application} (an interrupted \
                 init leaves such a file; remove the folder and run init again)"
            );
            return Err(LedgerError::NotALedger {
                path: self.path.clone(),
                detail,
            });
        }
        if version != SCHEMA_VERSION {
            return Err(LedgerError::Newer {
                path: self.path.clone(),
                found: version,
            });
        }
        Ok(())
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads without a transaction: each question sees the latest state.
    pub fn reader(&self) -> Reader<'_> {
        Reader::new(&self.connection, &self.path)
    }

    /// Takes the write lock. Nothing is written until [`Writer::commit`].
    pub fn writer(&mut self) -> Result<Writer<'_>, LedgerError> {
        Writer::begin(&mut self.connection, &self.path)
    }
}

/// Turns what SQLite says into what it means here.
fn from_sqlite(path: &Path, source: rusqlite::Error) -> LedgerError {
    use rusqlite::ErrorCode;
    let path = path.to_owned();
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => LedgerError::Busy {
            path,
            wait_s: LOCK_WAIT.as_secs(),
        },
        Some(ErrorCode::DiskFull) => LedgerError::Full { path },
        Some(ErrorCode::ReadOnly) => LedgerError::ReadOnly { path },
        Some(ErrorCode::NotADatabase) => LedgerError::NotALedger {
            path,
            detail: "it is not an SQLite file".to_owned(),
        },
        _ => LedgerError::Sqlite { path, source },
    }
}

/// Restores an event id from a column.
fn event_id(bytes: [u8; 16]) -> EventId {
    EventId::from_bytes(bytes)
}

#[cfg(test)]
mod tests;
