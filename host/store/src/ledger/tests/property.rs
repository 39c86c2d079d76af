//! Any sequence of appends, commits, drops and reopenings keeps the promises.

use std::collections::BTreeMap;

use model::Event;
use model::projection::index::UniqueKey;
use proptest::prelude::*;

use super::events::{
    accepted, event_id, imported, interpreted, module, note, recorded_call, registered,
    reinterpreted, scope_of, task_created,
};
use super::support::{Fixture, ledger_of};
use crate::ledger::{Ledger, LedgerError};

/// What is done in one transaction; few distinct keys, so that they collide.
#[derive(Debug, Clone)]
enum Append {
    Note,
    Task(u64),
    Label(u8),
    Import(u64),
    Reading(u64, u8),
    Reinterpretation(u64, Option<u64>),
    Acceptance(u64, u8),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Commit,
    CommitAndReopen,
    Drop,
}

#[derive(Debug, Clone)]
struct Step {
    appends: Vec<Append>,
    end: End,
}

fn any_append() -> impl Strategy<Value = Append> {
    prop_oneof![
        Just(Append::Note),
        (0..4_u64).prop_map(Append::Task),
        (0..4_u8).prop_map(Append::Label),
        (0..4_u64).prop_map(Append::Import),
        (0..3_u64, 0..3_u8).prop_map(|(call, label)| Append::Reading(call, label)),
        (0..3_u64, prop::option::of(0..2_u64))
            .prop_map(|(call, prior)| Append::Reinterpretation(call, prior)),
        (0..3_u64, 0..2_u8).prop_map(|(task, output)| Append::Acceptance(task, output)),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    let appends = prop::collection::vec(any_append(), 0..12);
    let end = prop_oneof![
        2 => Just(End::Commit),
        1 => Just(End::CommitAndReopen),
        1 => Just(End::Drop),
    ];
    (appends, end).prop_map(|(appends, end)| Step { appends, end })
}

fn made(number: u64, append: &Append) -> Event {
    match append {
        Append::Note => note(number),
        Append::Task(task) => task_created(number, *task),
        Append::Label(label) => registered(number, &format!("label-{label}")),
        Append::Import(line) => imported(number, *line),
        Append::Reading(call, label) => {
            interpreted(number, scope_of(*call), module(&format!("label-{label}")))
        }
        Append::Reinterpretation(call, prior) => {
            reinterpreted(number, scope_of(*call), prior.map(event_id))
        }
        Append::Acceptance(task, output) => accepted(number, *task, &format!("output-{output}")),
    }
}

/// What the ledger must hold, kept by other means than it does.
#[derive(Debug, Clone, Default)]
struct Expected {
    events: Vec<Event>,
    keys: BTreeMap<model::Digest, u64>,
}

fn run(step: &Step, number: &mut u64, fixture: &mut Fixture, expected: &mut Expected) {
    let mut within = expected.clone();
    let mut writer = fixture.ledger.writer().unwrap();
    for append in &step.appends {
        *number += 1;
        let event = made(*number, append);
        let key = UniqueKey::of(&event).map(|key| key.digest());
        let seq = u64::try_from(within.events.len()).unwrap() + 1;
        if let Some(holder) = key.and_then(|key| within.keys.get(&key)) {
            let refused = writer.append(&event).unwrap_err();
            let LedgerError::Duplicate { existing, .. } = refused else {
                panic!("expected a duplicate, found {refused}")
            };
            assert_eq!(existing, *holder);
        } else {
            assert_eq!(writer.append(&event).unwrap(), seq);
            within.keys.extend(key.map(|key| (key, seq)));
            within.events.push(event);
        }
    }
    if step.end == End::Drop {
        drop(writer);
    } else {
        writer.commit().unwrap();
        *expected = within;
    }
    if step.end == End::CommitAndReopen {
        fixture.ledger = Ledger::open(&fixture.path()).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_ledger_holds_exactly_what_was_committed(
        steps in prop::collection::vec(any_step(), 1..14),
    ) {
        let mut fixture = ledger_of(&[]);
        let mut expected = Expected::default();
        let mut number = 100;
        for step in &steps {
            run(step, &mut number, &mut fixture, &mut expected);
            let size = fixture.ledger.reader().edge().unwrap().size();
            prop_assert_eq!(size, u64::try_from(expected.events.len()).unwrap());
        }
        fixture.check(&expected.events);
    }

    #[test]
    fn one_flipped_bit_of_an_entry_is_always_noticed(
        seq in 1..=10_usize, byte in any::<prop::sample::Index>(), bit in 0..8_u8,
    ) {
        let fixture = ledger_of(&recorded_call(0));
        let row = fixture.rows().swap_remove(seq - 1);
        let (mut salt, mut bytes) = (row.salt.unwrap(), row.bytes.unwrap());
        let place = byte.index(salt.len() + bytes.len());
        let flipped = if place < salt.len() {
            &mut salt[place]
        } else {
            &mut bytes[place - 32]
        };
        *flipped ^= 1 << bit;
        let sql = "UPDATE event SET salt = ?1, bytes = ?2 WHERE seq = ?3";
        fixture.tamper(sql, rusqlite::params![salt, bytes, i64::try_from(seq).unwrap()]);
        let found = model::merkle::leaf(&salt, &bytes);
        let error = fixture.ledger.reader().at(u64::try_from(seq).unwrap()).unwrap_err();
        let LedgerError::Leaf { seq: place, leaf, found: other } = error else {
            panic!("expected a wrong leaf, found {error}")
        };
        prop_assert_eq!((place, leaf, other), (u64::try_from(seq).unwrap(), row.leaf, found));
    }
}
