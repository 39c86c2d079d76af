//! A full or a read-only disk is told as such, and nothing stays half-written.

use std::path::Path;

use model::Digest;
use rustix::io::Errno;
use store::{ArtifactError, Artifacts, Ledger, LedgerError};

use crate::support::{
    Tmpfs, check_artifacts, check_ledger, check_swept, empty_ledger, no_new_processes, note,
};

const MEGABYTE: &str = "size=1m";

/// Checks that a temporary file could not be handled for this reason.
fn io(error: &ArtifactError, action: &str, root: &Path, errno: Errno) {
    let ArtifactError::Io {
        action: done,
        path,
        source,
    } = error
    else {
        panic!("expected {action} to fail, found {error}")
    };
    assert_eq!(
        (*done, source.raw_os_error()),
        (action, Some(errno.raw_os_error()))
    );
    assert!(path.starts_with(root), "{}", path.display());
}

#[test]
fn an_artifact_for_which_there_is_no_room_leaves_nothing() {
    let name = "an_artifact_for_which_there_is_no_room_leaves_nothing";
    let Some(disk) = Tmpfs::mount(name, MEGABYTE) else {
        return;
    };
    let _room = no_new_processes();
    let root = disk.path().join("artifacts");
    let (artifacts, _) = Artifacts::open(&root).unwrap();
    let small = artifacts.put(b"small").unwrap();
    let large = vec![7; 2 << 20];
    let error = artifacts.put(&large).unwrap_err();
    io(&error, "writing", &root.join("tmp"), Errno::NOSPC);
    check_swept(&root);
    assert!(matches!(
        artifacts.get(Digest::of(&large)),
        Err(ArtifactError::Missing(_))
    ));
    assert_eq!(check_artifacts(&root), [small]);
    artifacts.put(b"after").unwrap();
    assert_eq!(check_artifacts(&root).len(), 2);
}

#[test]
fn a_group_for_which_there_is_no_room_leaves_only_whole_artifacts() {
    let name = "a_group_for_which_there_is_no_room_leaves_only_whole_artifacts";
    let Some(disk) = Tmpfs::mount(name, MEGABYTE) else {
        return;
    };
    let _room = no_new_processes();
    let root = disk.path().join("artifacts");
    let (artifacts, _) = Artifacts::open(&root).unwrap();
    let bodies: Vec<Vec<u8>> = (0..30_u8).map(|number| vec![number; 100_000]).collect();
    let group: Vec<_> = bodies.iter().map(Vec::as_slice).collect();
    let error = artifacts.put_all(&group).unwrap_err();
    io(&error, "writing", &root.join("tmp"), Errno::NOSPC);
    check_swept(&root);
    let kept = check_artifacts(&root);
    assert!((1..30).contains(&kept.len()), "{}", kept.len());
}

#[test]
fn an_event_for_which_there_is_no_room_is_refused_and_what_was_told_stays() {
    let name = "an_event_for_which_there_is_no_room_is_refused_and_what_was_told_stays";
    let Some(disk) = Tmpfs::mount(name, MEGABYTE) else {
        return;
    };
    let _room = no_new_processes();
    let path = disk.path().join("ledger.sqlite3");
    let mut ledger = empty_ledger(&path);
    let mut told = 0;
    let refused = loop {
        let append = |ledger: &mut Ledger| {
            let mut writer = ledger.writer()?;
            for number in 0..10 {
                writer.append(&note(told + number))?;
            }
            writer.commit()
        };
        match append(&mut ledger) {
            Ok(()) => told += 10,
            Err(error) => break error,
        }
        assert!(told < 5000);
    };
    assert!(
        matches!(&refused, LedgerError::Full { path: named } if *named == path),
        "{refused}"
    );
    let text = format!(
        "ledger {}: the disk is full; nothing was appended",
        path.display()
    );
    assert_eq!(refused.to_string(), text);
    assert_eq!(ledger.reader().last_seq().unwrap(), told);
    drop(ledger);
    let rows = Ledger::open(&path)
        .unwrap()
        .reader()
        .after(0, u32::MAX)
        .unwrap();
    assert_eq!(u64::try_from(rows.len()).unwrap(), told);
    for (placed, number) in rows.iter().zip(0..) {
        assert_eq!(placed.event, note(number));
    }
}

#[test]
fn a_transaction_too_large_for_the_disk_is_refused_whole() {
    let name = "a_transaction_too_large_for_the_disk_is_refused_whole";
    let Some(disk) = Tmpfs::mount(name, "size=4m") else {
        return;
    };
    let _room = no_new_processes();
    let path = disk.path().join("ledger.sqlite3");
    let mut ledger = empty_ledger(&path);
    let mut writer = ledger.writer().unwrap();
    // SQLite keeps the first pages in memory, and then rolls all of it back itself.
    let refused = (0..50_000)
        .find_map(|number| writer.append(&note(number)).err())
        .unwrap();
    assert!(
        matches!(&refused, LedgerError::Full { path: named } if *named == path),
        "{refused}"
    );
    drop(writer);
    assert_eq!(ledger.reader().last_seq().unwrap(), 0);
    let mut writer = ledger.writer().unwrap();
    writer.append(&note(1)).unwrap();
    writer.commit().unwrap();
    drop(ledger);
    assert_eq!(check_ledger(&path), [note(1)]);
}

#[test]
fn nothing_more_is_written_by_a_writer_that_met_a_full_disk() {
    let name = "nothing_more_is_written_by_a_writer_that_met_a_full_disk";
    let Some(disk) = Tmpfs::mount(name, "size=4m") else {
        return;
    };
    let _room = no_new_processes();
    let path = disk.path().join("ledger.sqlite3");
    let mut ledger = empty_ledger(&path);
    let mut writer = ledger.writer().unwrap();
    let first = (0..50_000)
        .find_map(|number| writer.append(&note(number)).err())
        .unwrap();
    assert!(matches!(first, LedgerError::Full { .. }), "{first}");
    // Whoever overlooks the first error meets another one.
    for refused in [writer.append(&note(60_000)).map(drop), writer.commit()] {
        let Err(LedgerError::Sqlite { source, .. }) = refused else {
            panic!("expected an aborted transaction, found {refused:?}")
        };
        assert_eq!(
            source.sqlite_error_code(),
            Some(rusqlite::ErrorCode::OperationAborted)
        );
    }
    drop(ledger);
    assert_eq!(check_ledger(&path), []);
}

#[test]
fn a_ledger_for_which_there_is_no_room_leaves_nothing() {
    let name = "a_ledger_for_which_there_is_no_room_leaves_nothing";
    let Some(disk) = Tmpfs::mount(name, MEGABYTE) else {
        return;
    };
    let _room = no_new_processes();
    let path = disk.path().join("ledger.sqlite3");
    let refused = Ledger::create::<LedgerError>(&path, |writer| {
        (0..5_000).try_for_each(|number| writer.append(&note(number)).map(drop))
    });
    let error = refused.unwrap_err();
    assert!(
        matches!(&error, LedgerError::Full { path: named } if *named == path),
        "{error}"
    );
    assert_eq!(disk.path().read_dir().unwrap().count(), 0);
    drop(empty_ledger(&path));
}

#[test]
fn a_read_only_disk_is_told_and_what_it_holds_is_read() {
    let name = "a_read_only_disk_is_told_and_what_it_holds_is_read";
    let Some(disk) = Tmpfs::mount(name, "size=4m") else {
        return;
    };
    let (root, path) = (
        disk.path().join("artifacts"),
        disk.path().join("ledger.sqlite3"),
    );
    let (artifacts, _) = Artifacts::open(&root).unwrap();
    let digest = artifacts.put(b"abc").unwrap();
    drop(empty_ledger(&path));
    disk.make_read_only();
    let error = artifacts.put(b"other").unwrap_err();
    io(&error, "opening", &root.join("tmp/lock"), Errno::ROFS);
    assert_eq!(artifacts.get(digest).unwrap().as_slice(), b"abc");
    let error = Ledger::open(&path).unwrap_err();
    assert!(
        matches!(&error, LedgerError::ReadOnly { path: named } if *named == path),
        "{error}"
    );
    let text = format!(
        "ledger {}: the file, its folder or a -wal or -shm file beside it cannot be written",
        path.display()
    );
    assert_eq!(error.to_string(), text);
}
