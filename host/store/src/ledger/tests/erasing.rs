//! An erasure that is recorded first is the one change that is allowed.

use rusqlite::params;

use super::events::{call_id, erased, event_id, note, recorded_call};
use super::support::{ALL, Fixture, ledger_of, refused};
use crate::ledger::{LedgerError, columns};

const NEVER_CHANGED: &str = "events are never changed";

/// A call of ten events, then an erasure of events 5 and 6.
fn with_erasure_recorded() -> Fixture {
    ledger_of(&[recorded_call(0), vec![erased(11, &[5, 6])]].concat())
}

fn nulls() -> String {
    let all = ["salt", "bytes"].into_iter().chain(columns::NAMES);
    all.map(|column| format!("{column} = NULL"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn erase(fixture: &Fixture, seq: u64) {
    let sql = format!("UPDATE event SET {} WHERE seq = {seq}", nulls());
    assert_eq!(fixture.raw().execute(&sql, []), Ok(1));
}

#[test]
fn a_recorded_erasure_may_be_carried_out() {
    let fixture = with_erasure_recorded();
    erase(&fixture, 5);
    let row = &fixture.rows()[4];
    assert_eq!((&row.salt, &row.bytes), (&None, &None));
    assert_eq!(row.left_columns(), []);
}

#[test]
fn a_recorded_erasure_may_be_carried_out_by_the_programs_own_connection() {
    // It trusts no schema, and the guard uses a table function of SQLite's.
    let fixture = with_erasure_recorded();
    let sql = format!("UPDATE event SET {} WHERE seq IN (5, 6)", nulls());
    assert_eq!(fixture.ledger.connection.execute(&sql, []), Ok(2));
}

#[test]
fn erasing_keeps_the_leaf_and_so_the_trees_root() {
    let fixture = with_erasure_recorded();
    let (before, leaf) = (fixture.recomputed(), fixture.rows()[4].leaf.clone());
    erase(&fixture, 5);
    assert_eq!(fixture.recomputed(), before);
    assert_eq!(fixture.recomputed().root(), before.root());
    assert_eq!(fixture.ledger.reader().edge().unwrap(), before);
    assert_eq!(fixture.rows()[4].leaf, leaf);
}

#[test]
fn an_erased_event_is_named_as_such_and_its_neighbours_are_read() {
    let fixture = with_erasure_recorded();
    erase(&fixture, 5);
    let reader = fixture.ledger.reader();
    assert!(matches!(reader.at(5), Err(LedgerError::Erased { seq: 5 })));
    let text = reader.at(5).unwrap_err().to_string();
    assert_eq!(text, "event 5 was erased: only its leaf is left");
    let after: Vec<_> = reader
        .after(0, ALL)
        .unwrap()
        .iter()
        .map(|placed| placed.seq)
        .collect();
    assert_eq!(after, [1, 2, 3, 4, 6, 7, 8, 9, 10, 11]);
    let of_call: Vec<_> = reader
        .of_call(call_id(0))
        .unwrap()
        .iter()
        .map(|placed| placed.seq)
        .collect();
    assert_eq!(of_call, [2, 3, 4, 6, 7, 8, 9, 10]);
    assert_eq!(reader.by_id(event_id(5)).unwrap(), None);
}

#[test]
fn appending_goes_on_after_an_erasure_of_the_last_event() {
    let mut fixture = ledger_of(&[note(1), erased(2, &[3]), note(3)]);
    erase(&fixture, 3);
    fixture.append(&[note(4)]);
    assert_eq!(
        fixture.ledger.reader().edge().unwrap(),
        fixture.recomputed()
    );
    assert_eq!(fixture.ledger.reader().last_seq().unwrap(), 4);
}

#[test]
fn an_erasure_of_an_event_that_no_record_names_is_refused() {
    let fixture = with_erasure_recorded();
    let before = fixture.rows();
    for seq in [1, 4, 7, 11] {
        let sql = format!("UPDATE event SET {} WHERE seq = {seq}", nulls());
        refused(&fixture.raw(), &sql, [], NEVER_CHANGED);
    }
    let all = format!("UPDATE event SET {}", nulls());
    refused(&fixture.raw(), &all, [], NEVER_CHANGED);
    assert_eq!(fixture.rows(), before);
}

#[test]
fn an_erasure_that_changes_the_leaf_or_the_place_is_refused() {
    let fixture = with_erasure_recorded();
    let before = fixture.rows();
    for also in ["leaf = zeroblob(32)", "leaf = NULL", "seq = 12", "seq = 6"] {
        for verb in ["UPDATE", "UPDATE OR REPLACE", "UPDATE OR IGNORE"] {
            let sql = format!("{verb} event SET {}, {also} WHERE seq = 5", nulls());
            refused(&fixture.raw(), &sql, [], NEVER_CHANGED);
        }
    }
    assert_eq!(fixture.rows(), before);
}

#[test]
fn an_erasure_that_leaves_any_one_column_is_refused() {
    let fixture = with_erasure_recorded();
    let before = fixture.rows();
    // Every event has these; event 6 has a key and a module, event 5 the bodies.
    let of_all = [
        "salt", "bytes", "id", "kind", "cause", "task", "call", "attempt",
    ];
    let left = of_all.map(|column| (5, column)).into_iter().chain([
        (5, "response"),
        (5, "request"),
        (6, "unique_key"),
        (6, "module"),
    ]);
    for (seq, column) in left {
        let sets = nulls().replace(&format!("{column} = NULL"), &format!("{column} = {column}"));
        let sql = format!("UPDATE event SET {sets} WHERE seq = {seq}");
        refused(&fixture.raw(), &sql, [], NEVER_CHANGED);
    }
    let named = format!("UPDATE event SET {} WHERE seq = 5", nulls())
        .replace("name = NULL", "name = 'left'");
    refused(&fixture.raw(), &named, [], NEVER_CHANGED);
    assert_eq!(fixture.rows(), before);
}

#[test]
fn an_erasure_cannot_allow_itself() {
    let fixture = ledger_of(&[note(1), erased(2, &[2])]);
    let sql = format!("UPDATE event SET {} WHERE seq = 2", nulls());
    refused(&fixture.raw(), &sql, [], NEVER_CHANGED);
}

#[test]
fn an_erased_event_cannot_be_filled_again() {
    let fixture = with_erasure_recorded();
    let row = fixture.rows()[4].clone();
    erase(&fixture, 5);
    let sql = "UPDATE event SET salt = ?1, bytes = ?2 WHERE seq = 5";
    refused(
        &fixture.raw(),
        sql,
        params![row.salt, row.bytes],
        NEVER_CHANGED,
    );
}

#[test]
fn an_erasure_that_was_itself_erased_allows_nothing_more() {
    let fixture = ledger_of(&[note(1), note(2), erased(3, &[1]), erased(4, &[3])]);
    erase(&fixture, 3);
    let sql = format!("UPDATE event SET {} WHERE seq = 1", nulls());
    refused(&fixture.raw(), &sql, [], NEVER_CHANGED);
}

#[test]
fn a_target_that_only_looks_like_the_place_allows_nothing() {
    // Only SQL that goes around the program can write such targets.
    for target in ["\"5\"", "5.0", "[5]", "null"] {
        let fixture = ledger_of(&recorded_call(0));
        let bytes = format!("{{\"body\":{{\"targets\":[{{\"seq\":{target}}}]}}}}");
        let sql = "INSERT INTO event(seq, leaf, salt, bytes, kind) \
            VALUES (11, zeroblob(32), zeroblob(32), ?1, 'home.erased')";
        fixture.raw().execute(sql, [bytes.as_bytes()]).unwrap();
        let sql = format!("UPDATE event SET {} WHERE seq = 5", nulls());
        refused(&fixture.raw(), &sql, [], NEVER_CHANGED);
    }
}

#[test]
fn nothing_of_an_erased_event_stays_in_the_file() {
    let fixture = with_erasure_recorded();
    let marker = b"req_3f9a3c1e7b5d4f0e8a6c2b1d9e7f5a3c";
    let holds = |fixture: &Fixture| {
        let bytes = std::fs::read(fixture.path()).unwrap();
        bytes.windows(marker.len()).any(|window| window == marker)
    };
    assert!(holds(&fixture));
    let sql = format!("UPDATE event SET {} WHERE seq = 5", nulls());
    fixture.ledger.connection.execute(&sql, []).unwrap();
    fixture
        .ledger
        .connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
            row.get::<_, i64>(0)
        })
        .unwrap();
    assert!(!holds(&fixture));
}
