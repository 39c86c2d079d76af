//! What is not a ledger of ours is refused and left as it is.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use super::events::note;
use super::support::{Fixture, constraint, ledger_of};
use crate::ledger::{
    APPLICATION_ID, LOCK_WAIT, Ledger, LedgerError, SCHEMA_VERSION, SQLITE_VERSION_MIN,
    require_sqlite,
};

const SHORT: Duration = Duration::from_millis(20);

/// Checks that a file is refused as no ledger, for this reason, and not written to.
fn not_a_ledger(path: &Path, reason: &str) {
    let before = std::fs::read(path).unwrap();
    let error = Ledger::open(path).unwrap_err();
    let LedgerError::NotALedger {
        path: named,
        detail,
    } = &error
    else {
        panic!("expected no ledger, found {error}")
    };
    assert_eq!((named.as_path(), detail.as_str()), (path, reason));
    let text = format!(
        "{} is not a ledger of this program: {reason}",
        path.display()
    );
    assert_eq!(error.to_string(), text);
    assert_eq!(std::fs::read(path).unwrap(), before);
    let folder: Vec<_> = path.parent().unwrap().read_dir().unwrap().collect();
    assert_eq!(folder.len(), 1, "{folder:?}");
}

fn file(bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

#[test]
fn a_database_of_another_program_is_refused_and_keeps_its_journal_mode() {
    let (_folder, path) = file(b"");
    let other = Connection::open(&path).unwrap();
    other
        .execute_batch("CREATE TABLE theirs(x); PRAGMA application_id = 7")
        .unwrap();
    drop(other);
    not_a_ledger(&path, "expected application_id 1381131313, found 7");
    let other = Connection::open(&path).unwrap();
    let mode: String = other
        .pragma_query_value(None, "journal_mode", |row| row.get(0))
        .unwrap();
    assert_eq!(mode, "delete");
}

#[test]
fn a_text_file_is_refused() {
    let (_folder, path) = file(
        "Not a database, but long enough to be one. "
            .repeat(99)
            .as_bytes(),
    );
    not_a_ledger(&path, "it is not an SQLite file");
}

#[test]
fn an_empty_file_is_refused() {
    let (_folder, path) = file(b"");
    not_a_ledger(&path, "expected application_id 1381131313, found 0");
}

#[test]
fn tables_of_a_newer_program_are_refused_as_such() {
    let fixture = ledger_of(&[note(1)]);
    fixture
        .raw()
        .pragma_update(None, "user_version", SCHEMA_VERSION + 1)
        .unwrap();
    let error = Ledger::open(&fixture.path()).unwrap_err();
    let LedgerError::Newer { path, found } = &error else {
        panic!("expected a newer ledger, found {error}")
    };
    assert_eq!((path, *found), (&fixture.path(), SCHEMA_VERSION + 1));
    let text = format!(
        "ledger {}: its tables are of version 2, but this program knows up to 1: use a newer program",
        path.display()
    );
    assert_eq!(error.to_string(), text);
}

#[test]
fn tables_of_no_known_version_are_refused() {
    let (_folder, path) = file(b"");
    let other = Connection::open(&path).unwrap();
    other
        .pragma_update(None, "application_id", APPLICATION_ID)
        .unwrap();
    drop(other);
    not_a_ledger(&path, "expected tables of version 1, found version 0");
}

#[test]
fn a_missing_file_is_refused_and_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    let error = Ledger::open(&path).unwrap_err();
    let LedgerError::Sqlite { source, .. } = &error else {
        panic!("expected a refusal, found {error}")
    };
    assert_eq!(
        source.sqlite_error_code(),
        Some(rusqlite::ErrorCode::CannotOpen)
    );
    assert!(!path.exists());
}

#[test]
fn a_folder_in_the_place_of_the_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = Ledger::open(folder.path()).unwrap_err();
    let LedgerError::Sqlite { source, .. } = &error else {
        panic!("expected a refusal, found {error}")
    };
    assert_eq!(
        source.sqlite_error_code(),
        Some(rusqlite::ErrorCode::CannotOpen)
    );
}

#[test]
fn a_file_cut_short_is_refused_when_it_is_asked() {
    let fixture = ledger_of(&[note(1)]);
    let path = fixture.path();
    let Fixture { folder, ledger } = fixture;
    drop(ledger);
    std::fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(4096)
        .unwrap();
    let error = match Ledger::open(&path) {
        Ok(mut ledger) => ledger.writer().map(drop).unwrap_err(),
        Err(error) => error,
    };
    assert!(
        matches!(error, LedgerError::Malformed { .. }),
        "expected a damaged file, found {error}"
    );
    drop(folder);
}

#[test]
fn commits_are_made_durable_in_the_one_mode_that_loses_none() {
    let fixture = ledger_of(&[note(1)]);
    let reopened = Ledger::open(&fixture.path()).unwrap();
    for ledger in [&fixture.ledger, &reopened] {
        let number = |name: &str| -> i64 {
            ledger
                .connection
                .pragma_query_value(None, name, |row| row.get(0))
                .unwrap()
        };
        let mode: String = ledger
            .connection
            .pragma_query_value(None, "journal_mode", |row| row.get(0))
            .unwrap();
        assert_eq!(mode, "wal");
        let expected = [
            ("synchronous", 2),
            ("fullfsync", 1),
            ("checkpoint_fullfsync", 1),
            ("secure_delete", 1),
            ("temp_store", 2),
            ("trusted_schema", 0),
            ("application_id", APPLICATION_ID),
            ("user_version", SCHEMA_VERSION),
        ];
        for (name, value) in expected {
            assert_eq!(number(name), value, "{name}");
        }
    }
}

#[test]
fn the_linked_sqlite_is_one_whose_wal_can_be_trusted() {
    assert!(rusqlite::version_number() >= SQLITE_VERSION_MIN);
    assert!(require_sqlite(SQLITE_VERSION_MIN).is_ok());
    let error = require_sqlite(SQLITE_VERSION_MIN - 1).unwrap_err();
    assert!(matches!(error, LedgerError::SqliteTooOld(3_051_002)));
    assert_eq!(
        error.to_string(),
        "the linked SQLite has version number 3051002, but at least 3051003 is needed"
    );
}

/// Checks that a lock was waited for as long as was asked, and no longer.
fn busy(error: &LedgerError, path: &Path) {
    let LedgerError::Busy { path: named, wait } = error else {
        panic!("expected a lock, found {error}")
    };
    assert_eq!((named.as_path(), *wait), (path, SHORT));
    let text = format!(
        "ledger {}: another process holds the lock for more than 20ms",
        path.display()
    );
    assert_eq!(error.to_string(), text);
}

#[test]
fn a_write_lock_of_another_connection_is_waited_for_and_then_named() {
    let mut fixture = ledger_of(&[note(1)]);
    let path = fixture.path();
    let mut raw = fixture.raw();
    let lock = raw
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .unwrap();
    let mut waiting = Ledger::open_waiting(&path, SHORT).unwrap();
    let wait: i64 = waiting
        .connection
        .pragma_query_value(None, "busy_timeout", |row| row.get(0))
        .unwrap();
    assert_eq!(wait, 20);
    busy(&waiting.writer().unwrap_err(), &path);
    assert_eq!(waiting.reader().last_seq().unwrap(), 1);
    drop(lock);
    waiting.writer().unwrap().commit().unwrap();
    fixture.append(&[note(2)]);
    fixture.check(&[note(1), note(2)]);
}

#[test]
fn a_writer_of_this_program_keeps_others_out_until_it_is_dropped() {
    let mut fixture = ledger_of(&[note(1)]);
    let path = fixture.path();
    let mut other = Ledger::open_waiting(&path, SHORT).unwrap();
    let writer = fixture.ledger.writer().unwrap();
    busy(&other.writer().unwrap_err(), &path);
    drop(writer);
    assert_eq!(other.writer().unwrap().append(&note(2)).unwrap(), 2);
}

#[test]
fn a_file_that_is_locked_whole_cannot_be_opened() {
    let fixture = ledger_of(&[note(1)]);
    let path = fixture.path();
    let Fixture { folder, ledger } = fixture;
    drop(ledger);
    let raw = Connection::open(&path).unwrap();
    raw.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE")
        .unwrap();
    busy(&Ledger::open_waiting(&path, SHORT).unwrap_err(), &path);
    drop(folder);
}

#[test]
fn the_usual_wait_is_the_one_that_is_named() {
    let fixture = ledger_of(&[note(1)]);
    let text = fixture.ledger.origin.busy().to_string();
    let expected = format!(
        "ledger {}: another process holds the lock for more than 10s",
        fixture.path().display()
    );
    assert_eq!((text, LOCK_WAIT.as_secs()), (expected, 10));
}

#[test]
fn a_path_that_looks_like_a_uri_is_a_path() {
    // Relative on purpose: `file:` has a meaning for SQLite only at the beginning.
    let name = format!("file:{}?mode=memory", std::process::id());
    let path = Path::new(&name);
    let created = Ledger::create::<LedgerError>(path, |writer| writer.append(&note(1)).map(drop));
    let last = created.map(|ledger| ledger.reader().last_seq());
    let is_there = std::fs::remove_file(path).is_ok();
    assert_eq!((last.unwrap().unwrap(), is_there), (1, true));
}

#[test]
fn a_second_row_of_the_tree_cannot_be_made() {
    let fixture = ledger_of(&[note(1)]);
    let error = fixture
        .raw()
        .execute("INSERT INTO tree VALUES (2, 0, x'', 0)", [])
        .map_err(|source| fixture.ledger.origin.sqlite(source))
        .unwrap_err();
    constraint(error, "CHECK constraint failed: only_row = 1");
}
