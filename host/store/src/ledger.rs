//! The ledger: one SQLite file, append only, with a Merkle tree over its entries.
//!
//! Invariant: `seq` has no gaps, and the tree's right edge is of exactly the
//! entries that are there; both change in the same transaction. The ledger owns
//! order. It does not know what an event means.

mod reader;
mod writer;

mod audit;
mod columns;
mod query;
mod schema;

use std::path::{Path, PathBuf};
use std::time::Duration;

use model::Digest;
use model::event::EventError;
use rusqlite::{Connection, OpenFlags};
use rustix::fs::{CWD, RenameFlags, renameat_with};

pub use audit::{IndexFinding, RawEntry};
pub use reader::{ProjectionRow, Reader, ScopeKey, Statuses};
pub use writer::Writer;

use crate::syncing::{self, beside};

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
    origin: Origin,
    /// Whether the WAL is durable in its folder.
    log: Log,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Log {
    Unknown,
    Durable,
}

/// What an error says of the ledger that it comes from.
#[derive(Debug)]
struct Origin {
    path: PathBuf,
    /// How long other processes are waited for.
    wait: Duration,
}

/// Why the ledger cannot be read or appended to.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// Another process holds the lock.
    #[error("ledger {}: another process holds the lock for more than {wait:?}", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
        /// How long was waited.
        wait: Duration,
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
    #[error("ledger {}: the file, its folder or a -wal or -shm file beside it cannot be written", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// An entry does not hash to its leaf.
    #[error(
        "event {seq}: leaf is {}, but salt and bytes hash to {found}",
        digest_or_length(leaf)
    )]
    Leaf {
        /// Its place.
        seq: u64,
        /// The leaf recorded: 32 bytes, unless it was damaged.
        leaf: Vec<u8>,
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
    /// An index gives the entry as something that its bytes are not.
    #[error("event {seq}: the index column {column} differs from the bytes")]
    Index {
        /// Its place.
        seq: u64,
        /// The column.
        column: &'static str,
    },
    /// The entry was erased.
    #[error("event {seq} was erased: only its leaf is left")]
    Erased {
        /// Its place.
        seq: u64,
    },
    /// The tree's edge is not of the entries that are there.
    #[error(
        "the tree has {tree} leaves and {edge_bytes} bytes of roots at its edge, but the ledger \
         has {events} events, which need {}", u64::from(events.count_ones()) * 32
    )]
    Tree {
        /// The size of the tree.
        tree: u64,
        /// The bytes of the roots at its edge.
        edge_bytes: usize,
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
    /// The file's own structure is damaged.
    #[error("ledger {}: {source}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What SQLite says of it.
        source: rusqlite::Error,
    },
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
    /// Creates a ledger and fills it in one transaction. It gets its name when it is
    /// whole: a crash or a failing `fill` leaves no file of that name.
    pub fn create<E: From<LedgerError>>(
        path: &Path,
        fill: impl FnOnce(&mut Writer<'_>) -> Result<(), E>,
    ) -> Result<Self, E> {
        let origin = Origin::of(path, LOCK_WAIT);
        let taken = || std::io::Error::from(std::io::ErrorKind::AlreadyExists);
        if path.symlink_metadata().is_ok() {
            return Err(origin.io(taken()).into());
        }
        let draft = beside(path, ".new");
        let created = syncing::create_file(&draft).map_err(|source| LedgerError::Io {
            path: draft.clone(),
            source,
        });
        drop(created?);
        let placed = Self::fill(&draft, &origin, fill)
            .and_then(|()| place(&draft, path).map_err(|source| origin.io(source).into()));
        if let Err(error) = placed {
            for leftover in [beside(&draft, "-shm"), beside(&draft, "-wal"), draft] {
                // Best effort: the error that matters is the one above.
                std::fs::remove_file(leftover).ok();
            }
            return Err(error);
        }
        Ok(Self::open(path)?)
    }

    fn fill<E: From<LedgerError>>(
        draft: &Path,
        origin: &Origin,
        fill: impl FnOnce(&mut Writer<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let sqlite = |source| origin.sqlite(source);
        let mut connection = connect(draft, origin)?;
        keep_durable(&connection, origin)?;
        let transaction = connection.transaction().map_err(sqlite)?;
        transaction
            .execute_batch(&schema::create())
            .and_then(|()| transaction.pragma_update(None, "user_version", SCHEMA_VERSION))
            .and_then(|()| transaction.pragma_update(None, "application_id", APPLICATION_ID))
            .map_err(sqlite)?;
        let mut writer = Writer::within(transaction, origin)?;
        fill(&mut writer)?;
        writer.commit_projected()?;
        // The file is renamed without its WAL: all of it must be in the file.
        let unmoved: i64 = connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
            .map_err(sqlite)?;
        connection.close().map_err(|(_, source)| sqlite(source))?;
        if unmoved == 0 {
            Ok(())
        } else {
            Err(origin.busy().into())
        }
    }

    /// Opens a ledger, waiting up to [`LOCK_WAIT`] for other processes.
    pub fn open(path: &Path) -> Result<Self, LedgerError> {
        Self::open_waiting(path, LOCK_WAIT)
    }

    /// Opens a ledger with a time of one's own to wait for other processes.
    pub fn open_waiting(path: &Path, wait: Duration) -> Result<Self, LedgerError> {
        let origin = Origin::of(path, wait);
        let connection = connect(path, &origin)?;
        // Before anything is set: setting the journal mode writes to the file, and
        // it may be another program's.
        check_identity(&connection, &origin)?;
        keep_durable(&connection, &origin)?;
        Ok(Self {
            connection,
            origin,
            log: Log::Unknown,
        })
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.origin.path
    }

    /// Reads without a transaction: each question sees the latest state.
    pub fn reader(&self) -> Reader<'_> {
        Reader::new(&self.connection, &self.origin)
    }

    /// Takes the write lock. Nothing is written until [`Writer::commit`].
    pub fn writer(&mut self) -> Result<Writer<'_>, LedgerError> {
        let writer = Writer::begin(&mut self.connection, &self.origin)?;
        // SQLite overlooks when this fails, and the commits would be in a file that a
        // power cut may take away. The file stays while this connection is open.
        if self.log == Log::Unknown {
            syncing::sync_parent(&self.origin.path).map_err(|source| self.origin.io(source))?;
            self.log = Log::Durable;
        }
        Ok(writer)
    }
}

fn connect(file: &Path, origin: &Origin) -> Result<Connection, LedgerError> {
    require_sqlite(rusqlite::version_number())?;
    // SQLite would take a relative path such as `file:home/ledger.sqlite3` for a URI.
    let file = std::path::absolute(file).map_err(|source| origin.io(source))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection =
        Connection::open_with_flags(file, flags).map_err(|source| origin.sqlite(source))?;
    connection
        .busy_timeout(origin.wait)
        .map_err(|source| origin.sqlite(source))?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

const fn require_sqlite(version: i32) -> Result<(), LedgerError> {
    if version < SQLITE_VERSION_MIN {
        return Err(LedgerError::SqliteTooOld(version));
    }
    Ok(())
}

fn check_identity(connection: &Connection, origin: &Origin) -> Result<(), LedgerError> {
    let (application, version) = (
        pragma(connection, "application_id", origin)?,
        pragma(connection, "user_version", origin)?,
    );
    let refused = |detail| LedgerError::NotALedger {
        path: origin.path.clone(),
        detail,
    };
    if application != APPLICATION_ID {
        return Err(refused(format!(
            "expected application_id {APPLICATION_ID}, found {application}"
        )));
    }
    if version > SCHEMA_VERSION {
        return Err(LedgerError::Newer {
            path: origin.path.clone(),
            found: version,
        });
    }
    if version < SCHEMA_VERSION {
        return Err(refused(format!(
            "expected tables of version {SCHEMA_VERSION}, found version {version}"
        )));
    }
    Ok(())
}

/// Sets how commits are made durable, and checks that it is so.
fn keep_durable(connection: &Connection, origin: &Origin) -> Result<(), LedgerError> {
    // WAL with FULL is the one mode in which no acknowledged append was lost to a
    // power cut and a commit costs one fsync. What is erased is wiped. On macOS an
    // fsync alone does not reach the disk.
    // An event is about one kilobyte: pages of 8 KiB waste less than the usual 4. The
    // cache holds the upper levels of the indexes of a million events, and a bulk
    // append is copied from the WAL every 32 MiB instead of every 4.
    for (name, value) in [
        ("page_size", "8192"),
        ("cache_size", "-32768"),
        ("wal_autocheckpoint", "4000"),
        ("journal_mode", "WAL"),
        ("synchronous", "FULL"),
        ("fullfsync", "ON"),
        ("checkpoint_fullfsync", "ON"),
        ("secure_delete", "ON"),
        ("temp_store", "MEMORY"),
        ("trusted_schema", "OFF"),
    ] {
        set(connection, name, value).map_err(|source| origin.sqlite(source))?;
    }
    let mode: String = connection
        .pragma_query_value(None, "journal_mode", |row| row.get(0))
        .map_err(|source| origin.sqlite(source))?;
    let synchronous = pragma(connection, "synchronous", origin)?;
    let secure_delete = pragma(connection, "secure_delete", origin)?;
    if mode == "wal" && synchronous == 2 && secure_delete == 1 {
        return Ok(());
    }
    Err(LedgerError::NotALedger {
        path: origin.path.clone(),
        detail: format!(
            "expected journal_mode wal, synchronous 2 and secure_delete 1, found {mode}, \
             {synchronous} and {secure_delete}"
        ),
    })
}

/// Sets a pragma and waits for its end: the new mode is told in a first row, and only
/// then written to the file.
fn set(connection: &Connection, name: &str, value: &str) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&format!("PRAGMA {name} = {value}"))?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

fn pragma(connection: &Connection, name: &str, origin: &Origin) -> Result<i64, LedgerError> {
    connection
        .pragma_query_value(None, name, |row| row.get(0))
        .map_err(|source| origin.sqlite(source))
}

/// Gives a whole ledger its name, durably and without replacing anything.
fn place(draft: &Path, path: &Path) -> std::io::Result<()> {
    match renameat_with(CWD, draft, CWD, path, RenameFlags::NOREPLACE) {
        Ok(()) => {}
        Err(errno) if syncing::knows_no_noreplace(errno) => {
            std::fs::hard_link(draft, path)?;
            std::fs::remove_file(draft)?;
        }
        Err(errno) => return Err(errno.into()),
    }
    syncing::sync_parent(path)
}

fn digest_or_length(leaf: &[u8]) -> String {
    <[u8; 32]>::try_from(leaf).map_or_else(
        |_error| format!("of {} bytes", leaf.len()),
        |bytes| Digest::from_bytes(bytes).to_string(),
    )
}

impl Origin {
    fn of(path: &Path, wait: Duration) -> Self {
        Self {
            path: path.to_owned(),
            wait,
        }
    }

    fn busy(&self) -> LedgerError {
        LedgerError::Busy {
            path: self.path.clone(),
            wait: self.wait,
        }
    }

    fn io(&self, source: std::io::Error) -> LedgerError {
        LedgerError::Io {
            path: self.path.clone(),
            source,
        }
    }

    /// Turns what SQLite says into what it means here.
    fn sqlite(&self, source: rusqlite::Error) -> LedgerError {
        use rusqlite::ErrorCode;
        let path = self.path.clone();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => self.busy(),
            Some(ErrorCode::DatabaseCorrupt) => LedgerError::Malformed { path, source },
            Some(ErrorCode::DiskFull) => LedgerError::Full { path },
            Some(ErrorCode::ReadOnly) => LedgerError::ReadOnly { path },
            // A file that is there and whose folder takes no WAL beside it.
            Some(ErrorCode::CannotOpen) if path.is_file() => LedgerError::ReadOnly { path },
            Some(ErrorCode::NotADatabase) => LedgerError::NotALedger {
                path,
                detail: "it is not an SQLite file".to_owned(),
            },
            _ => LedgerError::Sqlite { path, source },
        }
    }
}

#[cfg(test)]
mod tests;
