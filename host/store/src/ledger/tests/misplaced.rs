//! An event that an index gives as something else is never taken for it.

use model::Kind;
use model::projection::index::UniqueKey;

use super::events::{
    attempt_id, call_id, event_id, imported, module, recorded_call, registered, response, task_id,
};
use super::support::{ALL, Fixture, ledger_of};
use crate::ledger::{LedgerError, Reader};

/// A call of ten events, then a registration and an import.
fn fixture() -> Fixture {
    let others = vec![registered(11, "reader-v1"), imported(12, 50)];
    ledger_of(&[recorded_call(0), others].concat())
}

/// Checks that an event whose index column was changed, and which a question therefore
/// finds, is told with its place and that column.
fn misplaced(
    (seq, column): (u64, &'static str),
    value: &[u8],
    ask: impl Fn(Reader<'_>) -> Result<usize, LedgerError>,
) {
    let fixture = fixture();
    let before = ask(fixture.ledger.reader()).unwrap();
    let sql = format!("UPDATE event SET {column} = ?1 WHERE seq = {seq}");
    if matches!(column, "kind" | "name") {
        fixture.tamper(&sql, [std::str::from_utf8(value).unwrap()]);
    } else {
        fixture.tamper(&sql, [value]);
    }
    let error = ask(fixture.ledger.reader()).unwrap_err();
    let LedgerError::Index {
        seq: place,
        column: named,
    } = &error
    else {
        panic!("expected another column after {before} events, found {error}")
    };
    assert_eq!(*place, seq);
    assert!(named.split(" or ").any(|named| named == column), "{named}");
    let text = format!("event {seq}: the index column {named} differs from the bytes");
    assert_eq!(error.to_string(), text);
}

#[test]
fn an_event_under_another_id_is_not_taken_for_it() {
    let id = event_id(99);
    misplaced((5, "id"), id.as_bytes(), |reader| {
        Ok(usize::from(reader.by_id(id)?.is_some()))
    });
}

#[test]
fn an_event_under_another_key_is_not_taken_for_its_holder() {
    let key = UniqueKey::Label("other");
    misplaced((11, "unique_key"), key.digest().as_bytes(), |reader| {
        Ok(usize::from(reader.by_key(&key)?.is_some()))
    });
}

#[test]
fn an_event_under_another_call_or_task_is_not_taken_for_one_of_it() {
    let (call, task) = (call_id(99), task_id(99));
    misplaced((5, "call"), call.as_bytes(), |reader| {
        Ok(reader.of_call(call)?.len())
    });
    misplaced((5, "task"), task.as_bytes(), |reader| {
        Ok(reader.of_task(task)?.len())
    });
}

#[test]
fn an_event_under_another_attempt_does_not_tell_its_call() {
    let attempt = attempt_id(99);
    for seq in [4, 5] {
        misplaced((seq, "attempt"), attempt.as_bytes(), |reader| {
            Ok(usize::from(reader.call_of(attempt)?.is_some()))
        });
    }
}

#[test]
fn an_event_under_another_kind_or_name_is_not_taken_for_one_of_it() {
    misplaced((5, "kind"), b"task.created", |reader| {
        Ok(reader.of_kind(Kind::TaskCreated)?.len())
    });
    misplaced((5, "kind"), b"call.completed", |reader| {
        Ok(reader.of_kind(Kind::CallCompleted)?.len())
    });
    misplaced((2, "name"), b"other", |reader| {
        Ok(reader.named(Kind::CallRequested, "other")?.len())
    });
}

#[test]
fn an_event_under_another_module_or_body_is_not_taken_for_one_of_it() {
    let other = module("reader-v9").sha256;
    misplaced((6, "module"), other.as_bytes(), |reader| {
        Ok(reader.by_module(other, 0, ALL)?.len())
    });
    let body = response(99);
    for column in ["response", "request"] {
        misplaced((5, column), body.as_bytes(), |reader| {
            Ok(reader.observing(body)?.len())
        });
    }
}

#[test]
fn a_key_that_an_index_gives_to_another_event_is_told_as_damage() {
    let mut fixture = fixture();
    let key = UniqueKey::Label("other").digest();
    fixture.tamper(
        "UPDATE event SET unique_key = ?1 WHERE seq = 11",
        [key.as_bytes()],
    );
    let error = fixture
        .ledger
        .writer()
        .unwrap()
        .append(&registered(13, "other"))
        .unwrap_err();
    let LedgerError::Index {
        seq: 11,
        column: "unique_key",
    } = &error
    else {
        panic!("expected another column, found {error}")
    };
}
