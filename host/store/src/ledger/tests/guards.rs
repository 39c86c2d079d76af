//! SQL that goes around the program cannot change history by accident.

use super::events::{imported, note, recorded_call};
use super::support::{Fixture, ledger_of, refused};
use crate::ledger::columns;

const NEVER_DELETED: &str = "events are never deleted";
const NEVER_CHANGED: &str = "events are never changed";
const IN_ORDER: &str = "events are appended in order";
const NEVER_REPLACED: &str = "events are never replaced";

fn two_calls() -> Fixture {
    ledger_of(&[recorded_call(1), vec![imported(21, 1)]].concat())
}

#[test]
fn a_delete_is_refused() {
    let fixture = two_calls();
    let before = fixture.rows();
    for sql in ["DELETE FROM event", "DELETE FROM event WHERE seq = 11"] {
        refused(&fixture.raw(), sql, [], NEVER_DELETED);
    }
    assert_eq!(fixture.rows(), before);
}

#[test]
fn an_update_of_any_column_is_refused() {
    let fixture = two_calls();
    let before = fixture.rows();
    let numbers = ["seq", "rowid"].map(|column| format!("{column} = 99"));
    let others = ["leaf", "salt", "bytes"]
        .into_iter()
        .chain(columns::NAMES)
        .map(|column| match column {
            "kind" | "name" => format!("{column} = 'home.erased'"),
            _ => format!("{column} = x'00'"),
        });
    let nulls = columns::NAMES.map(|column| format!("{column} = NULL"));
    for set in numbers.into_iter().chain(others).chain(nulls) {
        for verb in [
            "UPDATE",
            "UPDATE OR REPLACE",
            "UPDATE OR IGNORE",
            "UPDATE OR FAIL",
        ] {
            let sql = format!("{verb} event SET {set} WHERE seq = 5");
            refused(&fixture.raw(), &sql, [], NEVER_CHANGED);
        }
    }
    assert_eq!(fixture.rows(), before);
}

#[test]
fn an_update_that_changes_nothing_is_refused_as_well() {
    let fixture = two_calls();
    refused(
        &fixture.raw(),
        "UPDATE event SET kind = kind",
        [],
        NEVER_CHANGED,
    );
}

#[test]
fn an_insert_at_a_place_that_is_not_the_next_is_refused() {
    let fixture = two_calls();
    let before = fixture.rows();
    for seq in ["0", "-1", "11", "13", "9223372036854775807", "NULL"] {
        for verb in ["INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE", "REPLACE"] {
            let sql = format!("{verb} INTO event(seq, leaf) VALUES ({seq}, zeroblob(32))");
            refused(&fixture.raw(), &sql, [], IN_ORDER);
        }
    }
    let unplaced = "INSERT INTO event(leaf) VALUES (zeroblob(32))";
    refused(&fixture.raw(), unplaced, [], IN_ORDER);
    assert_eq!(fixture.rows(), before);
}

#[test]
fn an_insert_that_would_replace_the_holder_of_an_id_is_refused() {
    let fixture = two_calls();
    let before = fixture.rows();
    for verb in ["INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE", "REPLACE"] {
        let sql = format!(
            "{verb} INTO event(seq, leaf, id) \
             SELECT 12, zeroblob(32), id FROM event WHERE seq = 3"
        );
        refused(&fixture.raw(), &sql, [], NEVER_REPLACED);
    }
    assert_eq!(fixture.rows(), before);
}

#[test]
fn an_insert_that_would_replace_the_holder_of_a_unique_key_is_refused() {
    let fixture = two_calls();
    let before = fixture.rows();
    for verb in ["INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE", "REPLACE"] {
        let sql = format!(
            "{verb} INTO event(seq, leaf, unique_key) \
             SELECT 12, zeroblob(32), unique_key FROM event WHERE seq = 11"
        );
        refused(&fixture.raw(), &sql, [], NEVER_REPLACED);
    }
    assert_eq!(fixture.rows(), before);
}

#[test]
fn an_upsert_cannot_change_an_event() {
    let fixture = two_calls();
    let before = fixture.rows();
    let at_a_place = "INSERT INTO event(seq, leaf) VALUES (11, zeroblob(32)) \
        ON CONFLICT(seq) DO UPDATE SET bytes = x'00'";
    refused(&fixture.raw(), at_a_place, [], IN_ORDER);
    let of_an_id = "INSERT INTO event(seq, leaf, id) \
        SELECT 12, zeroblob(32), id FROM event WHERE seq = 3 \
        ON CONFLICT DO UPDATE SET bytes = x'00'";
    refused(&fixture.raw(), of_an_id, [], NEVER_REPLACED);
    assert_eq!(fixture.rows(), before);
}

#[test]
fn several_rows_at_once_are_refused_when_one_of_them_is_out_of_order() {
    let fixture = two_calls();
    let before = fixture.rows();
    let sql = "INSERT INTO event(seq, leaf) VALUES (12, zeroblob(32)), (14, zeroblob(32))";
    refused(&fixture.raw(), sql, [], IN_ORDER);
    assert_eq!(fixture.rows(), before);
}

#[test]
fn guards_also_hold_for_the_programs_own_connection() {
    let fixture = two_calls();
    let connection = &fixture.ledger.connection;
    refused(connection, "DELETE FROM event", [], NEVER_DELETED);
    refused(
        connection,
        "UPDATE event SET name = 'other'",
        [],
        NEVER_CHANGED,
    );
}

#[test]
fn a_guard_that_is_gone_is_named() {
    let fixture = ledger_of(&[note(1)]);
    assert_eq!(
        fixture.ledger.reader().missing_guards().unwrap(),
        Vec::<&str>::new()
    );
    let raw = fixture.raw();
    for guard in ["event_no_delete", "event_no_update"] {
        raw.execute_batch(&format!("DROP TRIGGER {guard}")).unwrap();
    }
    let missing = fixture.ledger.reader().missing_guards().unwrap();
    assert_eq!(missing, ["event_no_delete", "event_no_update"]);
}

#[test]
fn a_guard_that_was_weakened_under_its_own_name_is_named() {
    let fixture = ledger_of(&[note(1)]);
    fixture
        .raw()
        .execute_batch(
            "DROP TRIGGER event_in_order; CREATE TRIGGER event_in_order BEFORE INSERT ON event \
             WHEN 0 BEGIN SELECT RAISE(ABORT, 'events are appended in order'); END",
        )
        .unwrap();
    assert_eq!(
        fixture.ledger.reader().missing_guards().unwrap(),
        ["event_in_order"]
    );
}
