//! Many writers at once: one order, no gaps, one winner.

use std::io;
use std::process::Command;

use model::Digest;
use model::Event;
use model::event::Scope;
use model::event::call::CallImported;
use store::{Ledger, LedgerError};

use crate::support::{check_ledger, empty_ledger, note, probe, start};

#[test]
fn eight_threads_with_ledgers_of_their_own_append_without_gaps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    drop(empty_ledger(&path));
    let seqs: Vec<Vec<u64>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let path = &path;
                scope.spawn(move || {
                    let mut ledger = Ledger::open(path).unwrap();
                    (0..200)
                        .map(|number| {
                            let mut writer = ledger.writer().unwrap();
                            let seq = writer.append(&note(thread * 1000 + number)).unwrap();
                            writer.commit().unwrap();
                            seq
                        })
                        .collect()
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let events = check_ledger(&path);
    assert_eq!(events.len(), 1600);
    for (thread, seqs) in (0..).zip(&seqs) {
        assert!(seqs.is_sorted());
        for (number, seq) in (0..).zip(seqs) {
            let place = usize::try_from(*seq).unwrap() - 1;
            assert_eq!(events[place], note(thread * 1000 + number));
        }
    }
}

#[test]
fn four_processes_append_without_gaps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    drop(empty_ledger(&path));
    let children: Vec<_> = (0..4)
        .map(|_| {
            let mut command = Command::new(probe());
            command.arg("append").arg(&path).arg("60");
            start(&mut command).unwrap()
        })
        .collect();
    let mut told: Vec<u64> = children
        .into_iter()
        .flat_map(|child| {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success());
            let text = String::from_utf8(output.stdout).unwrap();
            text.lines()
                .map(|line| line.parse().unwrap())
                .collect::<Vec<_>>()
        })
        .collect();
    told.sort_unstable();
    assert_eq!(told, (1..=240).collect::<Vec<_>>());
    assert_eq!(check_ledger(&path).len(), 240);
}

fn import(number: u64) -> Event {
    let body = CallImported {
        importer: "exchange".into(),
        source_sha256: Digest::of(b"source"),
        line: 1,
        line_sha256: Digest::of(b"line"),
        external_id: None,
        provider: None,
        dialect: "openai.chat".into(),
        exactness: "body".into(),
    };
    Event {
        body: body.into(),
        scope: Scope::default(),
        ..note(number)
    }
}

#[test]
fn of_many_writers_of_one_key_one_wins_and_is_named_to_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    drop(empty_ledger(&path));
    let appended: Vec<Result<u64, LedgerError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number| {
                let path = &path;
                scope.spawn(move || {
                    let mut ledger = Ledger::open(path).unwrap();
                    let mut writer = ledger.writer().unwrap();
                    writer.append(&note(100 + number)).unwrap();
                    let seq = writer.append(&import(number))?;
                    writer.commit()?;
                    Ok(seq)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let winners = appended
        .iter()
        .filter(|appended| matches!(appended, Ok(2)))
        .count();
    let losers = appended
        .iter()
        .filter(|appended| {
            matches!(
                appended,
                Err(LedgerError::Duplicate {
                    kind: "call.imported",
                    existing: 2
                })
            )
        })
        .count();
    assert_eq!((winners, losers), (1, 7), "{appended:?}");
    assert_eq!(check_ledger(&path).len(), 2);
}

#[test]
fn of_many_creations_of_one_ledger_one_wins_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    let created: Vec<Result<(), LedgerError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number| {
                let path = &path;
                scope.spawn(move || {
                    Ledger::create(path, |writer| writer.append(&note(number)).map(drop)).map(drop)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let winners = created.iter().filter(|created| created.is_ok()).count();
    let losers = created
        .iter()
        .filter(|created| {
            matches!(created, Err(LedgerError::Io { source, .. })
                if source.kind() == io::ErrorKind::AlreadyExists)
        })
        .count();
    assert_eq!((winners, losers), (1, 7), "{created:?}");
    assert_eq!(check_ledger(&path).len(), 1);
}

#[test]
fn a_reader_is_never_kept_waiting_by_a_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    let mut ledger = empty_ledger(&path);
    let mut writer = ledger.writer().unwrap();
    writer.append(&note(1)).unwrap();
    let other = Ledger::open_waiting(&path, std::time::Duration::ZERO).unwrap();
    assert_eq!(other.reader().last_seq().unwrap(), 0);
    assert_eq!(other.reader().edge().unwrap().size(), 0);
    writer.commit().unwrap();
    assert_eq!(other.reader().last_seq().unwrap(), 1);
    assert_eq!(other.reader().edge().unwrap().size(), 1);
}
