//! A new ledger is whole or it is not there.

use std::io;
use std::path::Path;

use super::events::{event, note};
use super::support::{Fixture, ledger_of};
use crate::ledger::{Ledger, LedgerError};
use crate::syncing::beside;
use model::event::home::HomePreregistered;
use model::event::{EventError, Scope};
use model::{Digest, Event};

#[derive(Debug, PartialEq)]
enum FillError {
    Refused,
    Ledger(String),
}

impl From<LedgerError> for FillError {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error.to_string())
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = folder
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn too_large(number: u64) -> Event {
    let body = HomePreregistered {
        expected_sha256: Digest::of(b"expected"),
        note: "n".repeat(70_000),
    };
    event(number, Scope::default(), body)
}

#[test]
fn a_new_ledger_holds_what_filled_it() {
    let fixture = ledger_of(&[note(1), note(2)]);
    fixture.check(&[note(1), note(2)]);
    assert_eq!(fixture.ledger.path(), fixture.path());
}

#[test]
fn a_new_ledger_may_be_empty() {
    let mut fixture = ledger_of(&[]);
    fixture.check(&[]);
    fixture.append(&[note(1)]);
    fixture.check(&[note(1)]);
}

#[test]
fn nothing_is_left_when_the_filling_fails() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    let refused = Ledger::create(&path, |writer| {
        writer.append(&note(1))?;
        Err(FillError::Refused)
    });
    assert_eq!(refused.unwrap_err(), FillError::Refused);
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn nothing_is_left_when_an_event_of_the_filling_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    let refused = Ledger::create::<LedgerError>(&path, |writer| {
        writer.append(&note(1))?;
        writer.append(&too_large(2)).map(drop)
    });
    let Err(LedgerError::Event(EventError::TooLarge { kind, found })) = refused else {
        panic!("expected an event that is too large, found {refused:?}")
    };
    assert_eq!((kind, found > 70_000), ("home.preregistered", true));
    assert_eq!(names(folder.path()), Vec::<String>::new());
    let again = Ledger::create::<LedgerError>(&path, |writer| writer.append(&note(1)).map(drop));
    let fixture = Fixture {
        folder,
        ledger: again.unwrap(),
    };
    fixture.check(&[note(1)]);
}

#[test]
fn the_file_has_its_name_only_when_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    let created = Ledger::create::<LedgerError>(&path, |writer| {
        writer.append(&note(1))?;
        assert!(!path.exists());
        Ok(())
    });
    drop(created.unwrap());
    assert_eq!(names(folder.path()), ["ledger.sqlite3"]);
}

#[test]
fn a_file_that_is_there_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    std::fs::write(&path, b"mine").unwrap();
    let refused = Ledger::create::<LedgerError>(&path, |_| Ok(()));
    let Err(LedgerError::Io {
        path: named,
        source,
    }) = refused
    else {
        panic!("expected a refusal, found {refused:?}")
    };
    assert_eq!(
        (named, source.kind()),
        (path.clone(), io::ErrorKind::AlreadyExists)
    );
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    assert_eq!(names(folder.path()), ["ledger.sqlite3"]);
}

#[test]
fn a_file_that_appears_while_a_ledger_is_filled_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    let refused = Ledger::create::<LedgerError>(&path, |_| {
        std::fs::write(&path, b"mine").unwrap();
        Ok(())
    });
    let Err(LedgerError::Io {
        path: named,
        source,
    }) = refused
    else {
        panic!("expected a refusal, found {refused:?}")
    };
    assert_eq!(
        (named, source.kind()),
        (path.clone(), io::ErrorKind::AlreadyExists)
    );
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    assert_eq!(names(folder.path()), ["ledger.sqlite3"]);
}

#[test]
fn a_second_creation_at_the_same_time_is_refused_and_leaves_the_first_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    let first = Ledger::create::<LedgerError>(&path, |writer| {
        let second = Ledger::create::<LedgerError>(&path, |_| Ok(()));
        let Err(LedgerError::Io {
            path: named,
            source,
        }) = second
        else {
            panic!("expected a refusal, found {second:?}")
        };
        let draft = beside(&path, ".new");
        assert_eq!(
            (named, source.kind()),
            (draft, io::ErrorKind::AlreadyExists)
        );
        writer.append(&note(1)).map(drop)
    });
    let fixture = Fixture {
        folder,
        ledger: first.unwrap(),
    };
    fixture.check(&[note(1)]);
}

#[test]
fn a_missing_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("absent/ledger.sqlite3");
    let refused = Ledger::create::<LedgerError>(&path, |_| Ok(()));
    let Err(LedgerError::Io { source, .. }) = refused else {
        panic!("expected a refusal, found {refused:?}")
    };
    assert_eq!(source.kind(), io::ErrorKind::NotFound);
}
