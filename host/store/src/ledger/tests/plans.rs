//! No question reads the whole ledger, but those that say so.

use std::collections::BTreeSet;

use model::Kind;

use super::events::{note, recorded_call};
use super::support::{Fixture, ledger_of};
use crate::ledger::query;
use crate::ledger::reader::opens;

/// Each question, and how SQLite finds the answer.
const PLANS: [(&str, &[&str]); 24] = [
    (query::LAST_SEQ, &["SEARCH event"]),
    (
        query::EDGE,
        &["SCAN tree", "SCALAR SUBQUERY 1", "SEARCH event"],
    ),
    (
        query::AT,
        &["SEARCH event USING INTEGER PRIMARY KEY (rowid=?)"],
    ),
    (query::BY_ID, &["SEARCH event USING INDEX event_id (id=?)"]),
    (
        query::BY_KEY,
        &["SEARCH event USING INDEX event_unique_key (unique_key=?)"],
    ),
    (
        query::AFTER,
        &["SEARCH event USING INTEGER PRIMARY KEY (rowid>?)"],
    ),
    (
        query::OF_CALL,
        &["SEARCH event USING INDEX event_call (call=?)"],
    ),
    (
        query::OF_TASK,
        &["SEARCH event USING INDEX event_task (task=?)"],
    ),
    (
        query::OF_TASK_ALONE,
        &["SEARCH event USING INDEX event_task (task=?)"],
    ),
    (
        query::STATUSES_AFTER,
        &["SEARCH event USING INTEGER PRIMARY KEY (rowid>?)"],
    ),
    (
        query::OF_ATTEMPT,
        &["SEARCH event USING INDEX event_attempt (attempt=?)"],
    ),
    (
        query::OF_OPENING_KIND,
        &[
            "SEARCH event USING INDEX event_opening (kind=?)",
            "USE TEMP B-TREE FOR ORDER BY",
        ],
    ),
    (
        query::NAMED,
        &["SEARCH event USING INDEX event_opening (kind=? AND name=?)"],
    ),
    (
        query::CALLS_AFTER,
        &["SEARCH event USING INDEX event_calls (seq>?)"],
    ),
    (
        query::COUNT_OF_OPENING_KIND,
        &["SEARCH event USING COVERING INDEX event_opening (kind=?)"],
    ),
    (
        query::COUNT_BY_MODULE,
        &["SEARCH event USING COVERING INDEX event_module (module=?)"],
    ),
    (
        query::BY_MODULE,
        &["SEARCH event USING INDEX event_module (module=? AND rowid>?)"],
    ),
    (
        query::OBSERVING,
        &[
            "MERGE (UNION)",
            "LEFT",
            "SEARCH event USING INDEX event_response (response=?)",
            "RIGHT",
            "SEARCH event USING INDEX event_request (request=?)",
        ],
    ),
    (
        query::HEAD_OF_CALL,
        &["SEARCH event USING COVERING INDEX event_call (call=?)"],
    ),
    (
        query::HEAD_OF_TASK,
        &["SEARCH event USING COVERING INDEX event_task (task=?)"],
    ),
    (
        query::PROJECTION,
        &["SEARCH projection USING PRIMARY KEY (scope=? AND id=?)"],
    ),
    (
        query::RAW_AFTER,
        &["SEARCH event USING INTEGER PRIMARY KEY (rowid>?)"],
    ),
    // These two are asked for what no index holds.
    (query::OF_OTHER_KIND, &["SCAN event"]),
    (query::COUNT_OF_OTHER_KIND, &["SCAN event"]),
];

fn plan(fixture: &Fixture, sql: &str) -> Vec<String> {
    let connection = &fixture.ledger.connection;
    let mut statement = connection
        .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
        .unwrap();
    let rows = statement.raw_query();
    rows.mapped(|row| row.get(3))
        .collect::<Result<_, _>>()
        .unwrap()
}

#[test]
fn every_question_is_answered_through_an_index() {
    let fixture = ledger_of(&recorded_call(0));
    for (sql, expected) in PLANS {
        assert_eq!(plan(&fixture, sql), expected, "{sql}");
    }
}

#[test]
fn the_counts_of_projections_read_no_event() {
    let plan = plan(&ledger_of(&[note(1)]), query::PROJECTION_COUNTS);
    assert!(
        plan.iter()
            .any(|step| step.starts_with("SEARCH projection")),
        "{plan:?}"
    );
    assert!(
        !plan.iter().any(|step| step.starts_with("SCAN event")),
        "{plan:?}"
    );
}

#[test]
fn the_guards_read_no_more_than_they_must() {
    let fixture = ledger_of(&recorded_call(0));
    for sql in [
        "SELECT 1 FROM event WHERE id = ?1",
        "SELECT 1 FROM event WHERE unique_key = ?1",
        "SELECT coalesce(max(seq), 0) + 1 FROM event",
    ] {
        let plan = plan(&fixture, sql);
        assert!(
            plan.iter().all(|step| step.starts_with("SEARCH event")),
            "{plan:?}"
        );
    }
    let erased = concat!(
        "SELECT 1 FROM event AS erased WHERE erased.kind = 'home.erased' AND erased.",
        query::opening!(),
    );
    let expected = ["SEARCH erased USING COVERING INDEX event_opening (kind=?)"];
    assert_eq!(plan(&fixture, erased), expected);
}

#[test]
fn every_question_is_in_the_list_of_questions() {
    for (file, source) in [
        ("reader.rs", include_str!("../reader.rs")),
        ("audit.rs", include_str!("../audit.rs")),
        ("ledger.rs", include_str!("../../ledger.rs")),
    ] {
        assert!(
            !source.contains("SELECT"),
            "{file} asks a question of its own"
        );
    }
    let explained: BTreeSet<_> = PLANS.iter().map(|(sql, _)| *sql).collect();
    let source = include_str!("../query.rs");
    let constants = source.matches("pub(super) const ").count();
    // The counts of projections, the guards, the integrity check and the insert.
    assert_eq!(explained.len() + 4, constants);
}

#[test]
fn the_kinds_that_begin_something_are_those_of_the_index() {
    for kind in Kind::ALL.iter().copied() {
        let in_the_index = query::opening!().contains(&format!("'{}'", kind.as_str()));
        assert_eq!(opens(kind), in_the_index, "{}", kind.as_str());
    }
}

#[test]
fn columns_are_inserted_and_listed_in_one_order() {
    let names = ["seq", "leaf", "salt", "bytes"]
        .into_iter()
        .chain(crate::ledger::columns::NAMES);
    let names = names.collect::<Vec<_>>().join(", ");
    assert!(query::INSERT.contains(&format!("event({names}) VALUES")));
    assert!(query::RAW_AFTER.starts_with(&format!("SELECT {names} FROM event")));
}
