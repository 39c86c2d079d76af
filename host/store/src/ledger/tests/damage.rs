//! Damage that SQL or a disk did is named, and never believed.

use model::event::{EventError, Kind};
use model::projection::index::UniqueKey;
use model::{Digest, merkle};
use rusqlite::params;

use super::events::{
    attempt_id, call_id, event_id, imported, interpreter, note, recorded_call, registered, request,
    response, task_id,
};
use super::support::{ALL, Fixture, ledger_of};
use crate::ledger::{Ledger, LedgerError, Reader, columns};

/// A call of ten events, then a registration and an import.
fn fixture() -> Fixture {
    let others = vec![registered(11, "reader-v1"), imported(12, 50)];
    ledger_of(&[recorded_call(0), others].concat())
}

type Question = (&'static str, u64, fn(Reader<'_>) -> Result<(), LedgerError>);

/// Every question whose answer is events, with a place that the answer holds.
const QUESTIONS: [Question; 13] = [
    ("at", 5, |reader| reader.at(5).map(drop)),
    ("by_id", 5, |reader| reader.by_id(event_id(5)).map(drop)),
    ("by_key", 11, |reader| {
        reader.by_key(&UniqueKey::Label("reader-v1")).map(drop)
    }),
    ("after", 5, |reader| reader.after(4, 1).map(drop)),
    ("of_call", 5, |reader| reader.of_call(call_id(0)).map(drop)),
    ("of_task", 5, |reader| reader.of_task(task_id(0)).map(drop)),
    ("call_of", 4, |reader| {
        reader.call_of(attempt_id(0)).map(drop)
    }),
    ("of_kind, begins something", 2, |reader| {
        reader.of_kind(Kind::CallRequested).map(drop)
    }),
    ("of_kind, any other", 5, |reader| {
        reader.of_kind(Kind::AttemptObserved).map(drop)
    }),
    ("named", 2, |reader| {
        reader.named(Kind::CallRequested, "key-0").map(drop)
    }),
    ("by_module", 6, |reader| {
        reader.by_module(interpreter().sha256, 0, ALL).map(drop)
    }),
    ("observing a response", 5, |reader| {
        reader.observing(response(0)).map(drop)
    }),
    ("observing a request", 5, |reader| {
        reader.observing(request(0)).map(drop)
    }),
];

/// Checks that every question whose answer holds a damaged entry names its place, its
/// leaf and what it hashes to. `set` is the damage in SQL.
fn damaged(set: &str) {
    for (question, seq, ask) in QUESTIONS {
        let fixture = fixture();
        ask(fixture.ledger.reader()).unwrap();
        fixture.tamper(&format!("UPDATE event SET {set} WHERE seq = {seq}"), []);
        let row = fixture
            .rows()
            .swap_remove(usize::try_from(seq).unwrap() - 1);
        let (salt, bytes) = (row.salt.unwrap_or_default(), row.bytes.unwrap_or_default());
        let error = ask(fixture.ledger.reader()).unwrap_err();
        let LedgerError::Leaf {
            seq: place,
            leaf,
            found,
        } = &error
        else {
            panic!("{question}: expected a wrong leaf, found {error}")
        };
        assert_eq!((*place, leaf), (seq, &row.leaf), "{question}");
        assert_eq!(*found, merkle::leaf(&salt, &bytes), "{question}");
    }
}

#[test]
fn changed_bytes_are_noticed_by_every_question() {
    damaged("bytes = CAST(replace(CAST(bytes AS TEXT), 'operator', 'operatos') AS BLOB)");
}

#[test]
fn a_changed_salt_is_noticed_by_every_question() {
    damaged("salt = zeroblob(32)");
}

#[test]
fn a_changed_leaf_is_noticed_by_every_question() {
    damaged("leaf = zeroblob(32)");
}

#[test]
fn a_leaf_of_another_length_is_noticed_by_every_question() {
    damaged("leaf = substr(leaf, 1, 31)");
}

#[test]
fn bytes_without_their_salt_are_not_taken_for_an_erased_entry() {
    damaged("salt = NULL");
}

#[test]
fn a_salt_without_its_bytes_is_not_taken_for_an_erased_entry() {
    damaged("bytes = NULL");
}

#[test]
fn a_wrong_leaf_is_told_in_words() {
    let fixture = ledger_of(&[note(1)]);
    fixture.tamper("UPDATE event SET leaf = x'0102'", []);
    let row = fixture.rows().remove(0);
    let found = merkle::leaf(&row.salt.unwrap(), &row.bytes.unwrap());
    let error = fixture.ledger.reader().at(1).unwrap_err();
    let text = format!("event 1: leaf is of 2 bytes, but salt and bytes hash to {found}");
    assert_eq!(error.to_string(), text);
    fixture.tamper("UPDATE event SET leaf = zeroblob(32)", []);
    let error = fixture.ledger.reader().at(1).unwrap_err();
    let zeros = Digest::from_bytes([0; 32]);
    let text = format!("event 1: leaf is {zeros}, but salt and bytes hash to {found}");
    assert_eq!(error.to_string(), text);
}

/// Writes an entry whose leaf is right into place 1, and returns what reading it says.
fn entry(salt: &[u8], bytes: &[u8]) -> LedgerError {
    let fixture = ledger_of(&[note(1)]);
    let sql = "UPDATE event SET leaf = ?1, salt = ?2, bytes = ?3";
    fixture.tamper(
        sql,
        params![merkle::leaf(salt, bytes).as_bytes(), salt, bytes],
    );
    fixture.ledger.reader().at(1).unwrap_err()
}

#[test]
fn a_border_moved_between_salt_and_bytes_is_noticed() {
    // The last byte of the salt is a space, which JSON would allow before an event.
    let bytes = [b" ".as_slice(), &note(1).to_bytes().unwrap()].concat();
    for border in [0, 31, 33] {
        let whole = [vec![7; 31], bytes.clone()].concat();
        let (salt, bytes) = whole.split_at(border);
        let error = entry(salt, bytes);
        let LedgerError::Entry { seq: 1, source } = &error else {
            panic!("expected no event, found {error}")
        };
        assert_eq!(source, &EventError::NotCanonical);
    }
}

#[test]
fn an_entry_that_is_no_event_is_named() {
    let error = entry(&[7; 32], b"{}");
    let LedgerError::Entry {
        seq: 1,
        source: EventError::Json(detail),
    } = &error
    else {
        panic!("expected no event, found {error}")
    };
    assert_eq!(detail, "missing field `v` at line 1 column 2");
    let newer = String::from_utf8(note(1).to_bytes().unwrap()).unwrap();
    let newer = newer.replace("home.preregistered", "home.moved");
    let error = entry(&[7; 32], newer.as_bytes());
    let LedgerError::Entry { seq: 1, source } = &error else {
        panic!("expected an unknown kind, found {error}")
    };
    assert_eq!(source, &EventError::Kind("home.moved".into()));
}

#[test]
fn a_key_whose_holder_is_damaged_is_told_as_damage() {
    let mut fixture = fixture();
    fixture.tamper("UPDATE event SET salt = zeroblob(32) WHERE seq = 11", []);
    let mut writer = fixture.ledger.writer().unwrap();
    let error = writer.append(&registered(13, "reader-v1")).unwrap_err();
    assert!(
        matches!(error, LedgerError::Leaf { seq: 11, .. }),
        "{error}"
    );
}

/// Checks that a tree that does not fit the events is told in these numbers, by the
/// writer and by whoever asks for the tree.
fn tree(sql: &str, expected: (u64, usize, u64)) {
    let mut fixture = ledger_of(&[note(1), note(2), note(3)]);
    fixture.raw().execute_batch(sql).unwrap();
    let asked = fixture.ledger.reader().edge().map(drop);
    let of_writer = fixture.ledger.writer().map(drop);
    let reopened = Ledger::open(&fixture.path()).unwrap().writer().map(drop);
    for refused in [asked, of_writer, reopened] {
        let Err(LedgerError::Tree {
            tree,
            edge_bytes,
            events,
        }) = refused
        else {
            panic!("{sql}: expected another tree, found {refused:?}")
        };
        assert_eq!((tree, edge_bytes, events), expected, "{sql}");
    }
}

#[test]
fn a_tree_that_does_not_fit_the_events_is_noticed_before_anything_is_appended() {
    tree("UPDATE tree SET size = 4", (4, 64, 3));
    tree("UPDATE tree SET size = 2, edge = zeroblob(32)", (2, 32, 3));
    tree("UPDATE tree SET size = 5", (5, 64, 3));
    tree("UPDATE tree SET size = -3", (0, 64, 3));
    tree("UPDATE tree SET edge = substr(edge, 1, 63)", (3, 63, 3));
    tree("UPDATE tree SET edge = substr(edge, 1, 32)", (3, 32, 3));
    tree("UPDATE tree SET edge = zeroblob(65)", (3, 65, 3));
    tree("DELETE FROM tree", (0, 0, 3));
    tree(
        "INSERT INTO event(seq, leaf) VALUES (4, zeroblob(32))",
        (3, 64, 4),
    );
}

#[test]
fn a_tree_that_does_not_fit_is_told_in_words() {
    let fixture = ledger_of(&[note(1), note(2), note(3)]);
    fixture
        .raw()
        .execute_batch("UPDATE tree SET edge = substr(edge, 1, 32)")
        .unwrap();
    assert_eq!(
        fixture.ledger.reader().edge().unwrap_err().to_string(),
        "the tree has 3 leaves and 32 bytes of roots at its edge, but the ledger has 3 events, \
         which need 64"
    );
}

#[test]
fn every_index_column_that_was_changed_is_named() {
    let event = &recorded_call(0)[4];
    for column in columns::NAMES {
        for value in [
            "NULL",
            "x'00'",
            "zeroblob(16)",
            "zeroblob(32)",
            "'other'",
            "x'ff'",
            "7",
        ] {
            let is_text = matches!(column, "kind" | "name");
            let value = match value {
                "7" | "'other'" if !is_text => continue,
                other if is_text => format!("CAST({other} AS TEXT)"),
                other => other.to_owned(),
            };
            let fixture = fixture();
            let was_null = matches!(column, "unique_key" | "name" | "module");
            let sql = format!("UPDATE event SET {column} = {value} WHERE seq = 5");
            fixture.tamper(&sql, []);
            let findings = fixture.rows()[4].index_findings(event);
            let found: Vec<_> = findings.iter().map(|finding| finding.column).collect();
            let expected = if was_null && value.contains("NULL") {
                vec![]
            } else {
                vec![column]
            };
            assert_eq!(found, expected, "{sql}");
        }
    }
}

#[test]
fn several_changed_index_columns_are_all_named() {
    let fixture = fixture();
    let sql = "UPDATE event SET kind = 'call.completed', task = x'00', call = NULL, name = 'x' \
        WHERE seq = 5";
    fixture.tamper(sql, []);
    let row = &fixture.rows()[4];
    let findings = row.index_findings(&recorded_call(0)[4]);
    let found: Vec<_> = findings.iter().map(|finding| finding.column).collect();
    assert_eq!(found, ["kind", "task", "call", "name"]);
    let other = fixture.rows()[3].index_findings(&recorded_call(0)[3]);
    assert_eq!(other, []);
}

#[test]
fn an_index_column_left_by_an_erasure_is_named() {
    let fixture = fixture();
    fixture.tamper(
        "UPDATE event SET salt = NULL, bytes = NULL, kind = NULL WHERE seq = 5",
        [],
    );
    let found: Vec<_> = fixture.rows()[4]
        .left_columns()
        .iter()
        .map(|finding| finding.column)
        .collect();
    assert_eq!(
        found,
        [
            "id", "cause", "task", "call", "attempt", "response", "request"
        ]
    );
}

#[test]
fn rows_are_listed_in_pages() {
    let fixture = ledger_of(&(1..=7).map(note).collect::<Vec<_>>());
    let seqs = |seq, limit| {
        let rows = fixture.ledger.reader().raw_after(seq, limit).unwrap();
        rows.iter().map(|row| row.seq).collect::<Vec<_>>()
    };
    assert_eq!(seqs(0, 3), [1, 2, 3]);
    assert_eq!(seqs(3, 3), [4, 5, 6]);
    assert_eq!(seqs(6, 3), [7]);
    assert_eq!(seqs(7, 3), Vec::<u64>::new());
    assert_eq!(seqs(u64::MAX, 3), Vec::<u64>::new());
}

#[test]
fn an_index_that_disagrees_with_its_table_is_found_by_sqlite() {
    let fixture = ledger_of(&[note(1)]);
    // What a lost write of the index would leave.
    fixture
        .raw()
        .execute_batch(
            "PRAGMA writable_schema = ON; UPDATE sqlite_schema \
             SET sql = 'CREATE UNIQUE INDEX event_id ON event(leaf)' WHERE name = 'event_id'",
        )
        .unwrap();
    let reopened = Ledger::open(&fixture.path()).unwrap();
    let findings = reopened.reader().integrity_check().unwrap();
    assert!(
        findings
            .iter()
            .any(|line| line == "row 1 missing from index event_id"),
        "{findings:?}"
    );
}
