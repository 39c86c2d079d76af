//! A ledger in a folder of its own, and SQL that goes around the program.

use std::path::PathBuf;

use model::Digest;
use model::event::{Event, Placed};
use model::merkle::{self, Edge};
use rusqlite::{Connection, ErrorCode, Params, ffi};

use crate::ledger::{Ledger, LedgerError, RawEntry, schema};

/// More rows than any of these ledgers has.
pub(super) const ALL: u32 = 100_000;

pub(super) struct Fixture {
    pub(super) folder: tempfile::TempDir,
    pub(super) ledger: Ledger,
}

/// Makes a ledger that holds these events.
pub(super) fn ledger_of(events: &[Event]) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    let ledger = Ledger::create::<LedgerError>(&path, |writer| {
        events
            .iter()
            .try_for_each(|event| writer.append(event).map(drop))
    });
    Fixture {
        ledger: ledger.unwrap(),
        folder,
    }
}

impl Fixture {
    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("ledger.sqlite3")
    }

    /// Opens the file as any other program would.
    pub(super) fn raw(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }

    /// Runs SQL as someone who first removes the guards, and then puts them back.
    pub(super) fn tamper(&self, sql: &str, params: impl Params) {
        let raw = self.raw();
        for (guard, _) in schema::GUARDS {
            raw.execute_batch(&format!("DROP TRIGGER {guard}")).unwrap();
        }
        raw.execute(sql, params).unwrap();
        for (_, create) in schema::GUARDS {
            raw.execute_batch(create).unwrap();
        }
    }

    pub(super) fn append(&mut self, events: &[Event]) {
        let mut writer = self.ledger.writer().unwrap();
        for event in events {
            writer.append(event).unwrap();
        }
        writer.commit().unwrap();
    }

    pub(super) fn rows(&self) -> Vec<RawEntry> {
        self.ledger.reader().raw_after(0, ALL).unwrap()
    }

    pub(super) fn events(&self) -> Vec<Placed> {
        self.ledger.reader().after(0, ALL).unwrap()
    }

    /// Computes the tree again from the leaves that are in the file.
    pub(super) fn recomputed(&self) -> Edge {
        let mut edge = Edge::default();
        for row in self.rows() {
            if let (Some(salt), Some(bytes)) = (&row.salt, &row.bytes) {
                assert_eq!(merkle::leaf(salt, bytes).as_bytes().as_slice(), row.leaf);
            }
            edge.push(Digest::from_bytes(row.leaf.try_into().unwrap()));
        }
        edge
    }

    /// Checks that these events are there, in order and without gaps, that the tree
    /// is of them, and that every index column says what the bytes say.
    pub(super) fn check(&self, events: &[Event]) {
        let found = self.events();
        assert_eq!(found.len(), events.len());
        for ((placed, event), seq) in found.iter().zip(events).zip(1_u64..) {
            assert_eq!((placed.seq, &placed.event), (seq, event));
        }
        let reader = self.ledger.reader();
        assert_eq!(
            reader.last_seq().unwrap(),
            u64::try_from(events.len()).unwrap()
        );
        assert_eq!(reader.edge().unwrap(), self.recomputed());
        for (row, event) in self.rows().iter().zip(events) {
            assert_eq!(row.index_findings(event), []);
        }
        assert_eq!(reader.integrity_check().unwrap(), Vec::<String>::new());
        assert_eq!(reader.missing_guards().unwrap(), Vec::<&str>::new());
    }
}

/// Checks that a guard refuses a statement in these words.
pub(super) fn refused(raw: &Connection, sql: &str, params: impl Params, words: &str) {
    let code = ffi::Error {
        code: ErrorCode::ConstraintViolation,
        extended_code: ffi::SQLITE_CONSTRAINT_TRIGGER,
    };
    let expected = rusqlite::Error::SqliteFailure(code, Some(words.to_owned()));
    assert_eq!(raw.execute(sql, params), Err(expected), "{sql}");
}

/// Checks the error of a statement that SQLite itself refused, in these words.
pub(super) fn constraint(error: LedgerError, words: &str) {
    let LedgerError::Sqlite {
        source: rusqlite::Error::SqliteFailure(code, Some(found)),
        ..
    } = error
    else {
        panic!("expected a constraint, found {error}")
    };
    assert_eq!(code.code, ErrorCode::ConstraintViolation);
    assert_eq!(found, words);
}
