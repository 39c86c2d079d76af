//! Appending: one after the other, all of a transaction or nothing of it.

use model::event::home::HomePreregistered;
use model::event::{EventError, Kind, Scope};
use model::projection::IndexColumns;
use model::{Digest, Event};
use rusqlite::ErrorCode;

use super::events::{
    accepted, call_id, event, event_id, imported, interpreted, interpreter, module, note,
    recorded_call, registered, reinterpreted, scope_of, task_created,
};
use super::support::{constraint, ledger_of};
use crate::ledger::{Ledger, LedgerError, ScopeKey};

#[test]
fn places_are_contiguous_from_one() {
    let mut fixture = ledger_of(&[]);
    let mut writer = fixture.ledger.writer().unwrap();
    let seqs: Vec<_> = recorded_call(0)
        .iter()
        .map(|event| writer.append(event).unwrap())
        .collect();
    assert_eq!(seqs, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    writer.commit().unwrap();
    fixture.append(&[note(11)]);
    fixture.check(&[recorded_call(0), vec![note(11)]].concat());
}

#[test]
fn what_is_appended_is_there_after_reopening() {
    let mut fixture = ledger_of(&[note(1)]);
    for number in 2..40 {
        fixture.append(&[note(number)]);
        fixture.ledger = Ledger::open(&fixture.path()).unwrap();
    }
    fixture.check(&(1..40).map(note).collect::<Vec<_>>());
}

#[test]
fn a_writer_that_is_dropped_changes_nothing() {
    let mut fixture = ledger_of(&[note(1)]);
    let before = (fixture.rows(), fixture.ledger.reader().edge().unwrap());
    let mut writer = fixture.ledger.writer().unwrap();
    writer.append(&note(2)).unwrap();
    writer.append(&note(3)).unwrap();
    assert_eq!(writer.reader().last_seq().unwrap(), 3);
    drop(writer);
    assert_eq!(
        (fixture.rows(), fixture.ledger.reader().edge().unwrap()),
        before
    );
    fixture.append(&[note(4)]);
    fixture.check(&[note(1), note(4)]);
}

#[test]
fn a_commit_without_an_append_changes_nothing() {
    let mut fixture = ledger_of(&[note(1)]);
    fixture.ledger.writer().unwrap().commit().unwrap();
    fixture.check(&[note(1)]);
}

#[test]
fn what_is_not_committed_is_seen_by_its_writer_alone() {
    let mut fixture = ledger_of(&[note(1)]);
    let other = Ledger::open(&fixture.path()).unwrap();
    let mut writer = fixture.ledger.writer().unwrap();
    writer.append(&note(2)).unwrap();
    assert_eq!(writer.reader().at(2).unwrap().unwrap().event, note(2));
    assert_eq!(other.reader().at(2).unwrap(), None);
    writer.commit().unwrap();
    assert_eq!(other.reader().at(2).unwrap().unwrap().event, note(2));
}

/// Checks that a second event with the key of the first is refused, names the first,
/// and that the writer goes on as if it had not been asked.
fn duplicate(first: &Event, second: &Event) {
    let mut fixture = ledger_of(&[note(1000), first.clone()]);
    let mut writer = fixture.ledger.writer().unwrap();
    assert_eq!(writer.append(&note(1001)).unwrap(), 3);
    let error = writer.append(second).unwrap_err();
    let LedgerError::Duplicate { kind, existing } = &error else {
        panic!("expected a duplicate, found {error}")
    };
    assert_eq!((*kind, *existing), (second.kind().as_str(), 2));
    let text = format!("event 2 already holds the key of a new {kind}");
    assert_eq!(error.to_string(), text);
    assert_eq!(writer.append(&note(1002)).unwrap(), 4);
    writer.commit().unwrap();
    fixture.check(&[note(1000), first.clone(), note(1001), note(1002)]);
}

#[test]
fn a_label_is_bound_once() {
    let mut other = registered(2, "reader-v1");
    if let model::Body::ModuleRegistered(body) = &mut other.body {
        body.module.sha256 = Digest::of(b"other bytes");
    }
    duplicate(&registered(1, "reader-v1"), &other);
}

#[test]
fn a_module_reads_an_attempt_once() {
    let scope = scope_of(1);
    duplicate(
        &interpreted(1, scope, interpreter()),
        &interpreted(2, scope, interpreter()),
    );
}

#[test]
fn a_pair_reinterprets_a_call_once_after_each_status_record() {
    let scope = scope_of(1);
    duplicate(
        &reinterpreted(1, scope, None),
        &reinterpreted(2, scope, None),
    );
    let prior = Some(event_id(77));
    duplicate(
        &reinterpreted(1, scope, prior),
        &reinterpreted(2, scope, prior),
    );
}

#[test]
fn a_line_is_imported_once() {
    duplicate(&imported(1, 5), &imported(2, 5));
}

#[test]
fn an_output_is_accepted_once() {
    duplicate(&accepted(1, 5, "summary"), &accepted(2, 5, "summary"));
}

#[test]
fn keys_that_differ_in_one_part_are_not_duplicates() {
    let events = [
        registered(1, "reader-v1"),
        registered(2, "reader-v2"),
        interpreted(3, scope_of(1), interpreter()),
        interpreted(4, scope_of(2), interpreter()),
        interpreted(5, scope_of(1), module("reader-v2")),
        reinterpreted(6, scope_of(1), None),
        reinterpreted(7, scope_of(1), Some(event_id(6))),
        reinterpreted(8, scope_of(2), None),
        imported(9, 1),
        imported(10, 2),
        accepted(11, 1, "summary"),
        accepted(12, 1, "figure"),
        accepted(13, 2, "summary"),
        task_created(14, 1),
        task_created(15, 1),
    ];
    ledger_of(&events).check(&events);
}

#[test]
fn an_id_that_is_taken_is_refused() {
    let mut fixture = ledger_of(&[note(1)]);
    let mut writer = fixture.ledger.writer().unwrap();
    constraint(
        writer.append(&note(1)).unwrap_err(),
        "events are never replaced",
    );
    assert_eq!(writer.append(&note(2)).unwrap(), 2);
    writer.commit().unwrap();
    fixture.check(&[note(1), note(2)]);
}

#[test]
fn an_event_over_the_bound_is_refused_and_appends_nothing() {
    let large = |length: usize| {
        let body = HomePreregistered {
            expected_sha256: Digest::of(b"expected"),
            note: "n".repeat(length),
        };
        event(2, Scope::default(), body)
    };
    let room = model::bounds::EVENT_BYTES_MAX - large(0).to_bytes().unwrap().len();
    let mut fixture = ledger_of(&[note(1)]);
    let mut writer = fixture.ledger.writer().unwrap();
    let refused = writer.append(&large(room + 1)).unwrap_err();
    let LedgerError::Event(error) = refused else {
        panic!("expected an event that is too large, found {refused}")
    };
    let expected = EventError::TooLarge {
        kind: "home.preregistered",
        found: model::bounds::EVENT_BYTES_MAX + 1,
    };
    assert_eq!(error, expected);
    assert_eq!(writer.append(&large(room)).unwrap(), 2);
    writer.commit().unwrap();
    fixture.check(&[note(1), large(room)]);
}

#[test]
fn nothing_is_written_after_sqlite_rolled_the_transaction_back() {
    let mut fixture = ledger_of(&[note(1)]);
    let mut writer = fixture.ledger.writer().unwrap();
    writer.append(&note(2)).unwrap();
    writer
        .reader()
        .connection()
        .execute_batch("ROLLBACK")
        .unwrap();
    for refused in [writer.append(&note(3)).map(drop), writer.commit()] {
        let Err(LedgerError::Sqlite { source, .. }) = refused else {
            panic!("expected an aborted transaction, found {refused:?}")
        };
        assert_eq!(
            source.sqlite_error_code(),
            Some(ErrorCode::OperationAborted)
        );
    }
    fixture.check(&[note(1)]);
}

#[test]
fn salts_are_never_the_same() {
    let fixture = ledger_of(&(1..=200).map(note).collect::<Vec<_>>());
    let salts: std::collections::BTreeSet<_> = fixture
        .rows()
        .into_iter()
        .map(|row| row.salt.unwrap())
        .collect();
    assert_eq!(salts.len(), 200);
    assert!(
        salts
            .iter()
            .all(|salt| salt.len() == 32 && salt.iter().any(|byte| *byte != 0))
    );
}

#[test]
fn questions_find_what_was_appended() {
    let events = recorded_call(0);
    let fixture = ledger_of(&events);
    let reader = fixture.ledger.reader();
    let scope = scope_of(0);
    let (task, call) = (scope.task.unwrap(), scope.call.unwrap());
    let seqs =
        |found: Vec<model::Placed>| found.iter().map(|placed| placed.seq).collect::<Vec<_>>();
    assert_eq!(
        seqs(reader.of_task(task).unwrap()),
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    );
    assert_eq!(
        seqs(reader.of_call(call).unwrap()),
        [2, 3, 4, 5, 6, 7, 8, 9, 10]
    );
    assert_eq!(reader.call_of(scope.attempt.unwrap()).unwrap(), Some(call));
    assert_eq!(reader.head(ScopeKey::Call(call)).unwrap(), 10);
    assert_eq!(reader.head(ScopeKey::Task(task)).unwrap(), 10);
    assert_eq!(reader.head(ScopeKey::Call(call_id(9))).unwrap(), 0);
    assert_eq!(
        seqs(reader.named(Kind::CallRequested, "key-0").unwrap()),
        [2]
    );
    assert_eq!(seqs(reader.named(Kind::TaskCreated, "run-0").unwrap()), [1]);
    assert_eq!(
        seqs(reader.by_module(interpreter().sha256, 0, 10).unwrap()),
        [6]
    );
    assert_eq!(
        seqs(reader.observing(super::events::response(0)).unwrap()),
        [5]
    );
    assert_eq!(
        seqs(reader.observing(super::events::request(0)).unwrap()),
        [5]
    );
    assert_eq!(reader.calls_after(0, 10).unwrap(), [(2, call)]);
    assert_eq!(reader.calls_after(2, 10).unwrap(), []);
    assert_eq!(seqs(reader.after(3, 2).unwrap()), [4, 5]);
}

#[test]
fn events_of_every_kind_are_found_and_counted_by_kind() {
    let events = recorded_call(0);
    let fixture = ledger_of(&events);
    let reader = fixture.ledger.reader();
    for kind in Kind::ALL.iter().copied() {
        let expected: Vec<_> = events.iter().filter(|event| event.kind() == kind).collect();
        let found = reader.of_kind(kind).unwrap();
        assert_eq!(
            found.iter().map(|placed| &placed.event).collect::<Vec<_>>(),
            expected
        );
        let count = u64::try_from(expected.len()).unwrap();
        assert_eq!(reader.count_of_kind(kind).unwrap(), count);
    }
}

#[test]
fn only_kinds_that_begin_something_have_a_name() {
    let all = [
        recorded_call(0),
        vec![imported(11, 1), registered(12, "reader-v1")],
    ]
    .concat();
    for event in all {
        let named = IndexColumns::of(&event).name.is_some();
        assert!(
            !named || crate::ledger::reader::opens(event.kind()),
            "{:?}",
            event.kind()
        );
    }
}

#[test]
fn projections_cover_the_ledger_only_while_every_append_projects() {
    let mut fixture = ledger_of(&[]);
    let scope = ScopeKey::Call(call_id(1));
    let counts =
        |fixture: &super::support::Fixture| fixture.ledger.reader().projection_counts().unwrap();
    assert_eq!(counts(&fixture), Some(vec![]));
    let mut writer = fixture.ledger.writer().unwrap();
    writer.append(&note(1)).unwrap();
    writer.cache_projection(scope, 1, "observed").unwrap();
    writer.commit_projected().unwrap();
    assert_eq!(counts(&fixture), Some(vec![("observed".to_owned(), 1)]));
    let row = fixture.ledger.reader().projection(scope).unwrap().unwrap();
    assert_eq!((row.seq, row.value.as_str()), (1, "observed"));
    fixture.append(&[note(2)]);
    assert_eq!(counts(&fixture), None);
    let mut writer = fixture.ledger.writer().unwrap();
    writer.append(&note(3)).unwrap();
    writer.commit_projected().unwrap();
    assert_eq!(counts(&fixture), None);
    let writer = fixture.ledger.writer().unwrap();
    writer.clear_projections().unwrap();
    writer.commit_rebuilt().unwrap();
    assert_eq!(counts(&fixture), Some(vec![]));
}

#[test]
fn projections_that_were_cleared_cover_nothing() {
    let mut fixture = ledger_of(&[]);
    let mut writer = fixture.ledger.writer().unwrap();
    writer.append(&note(1)).unwrap();
    writer
        .cache_projection(ScopeKey::Call(call_id(1)), 1, "observed")
        .unwrap();
    writer.commit_projected().unwrap();
    let writer = fixture.ledger.writer().unwrap();
    writer.clear_projections().unwrap();
    writer.commit().unwrap();
    assert_eq!(fixture.ledger.reader().projection_counts().unwrap(), None);
}

#[test]
fn an_append_that_a_foreign_trigger_swallows_is_not_taken_for_one() {
    let mut fixture = ledger_of(&[note(1)]);
    fixture
        .ledger
        .connection
        .execute_batch(
            "CREATE TRIGGER foreign_one BEFORE INSERT ON event BEGIN SELECT RAISE(IGNORE); END",
        )
        .unwrap();
    let mut writer = fixture.ledger.writer().unwrap();
    let error = writer.append(&note(2)).unwrap_err();
    let LedgerError::NotALedger { detail, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(detail, "an append changed 0 rows, expected 1");
}
