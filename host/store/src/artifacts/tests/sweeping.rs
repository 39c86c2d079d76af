//! What an interrupted put left behind is removed, and nothing else.

use std::fs::{File, OpenOptions};

use super::support::{Fixture, fixture};
use crate::artifacts::Artifacts;

const NAME: &str = "0123456789abcdef0123456789abcdef";

fn stale(fixture: &Fixture) -> [std::path::PathBuf; 2] {
    let paths =
        [NAME, "00000000000000000000000000000000"].map(|name| fixture.temporary().join(name));
    for path in &paths {
        std::fs::write(path, b"half of somethi").unwrap();
    }
    paths
}

fn lock(fixture: &Fixture) -> File {
    let path = fixture.temporary().join("lock");
    OpenOptions::new().write(true).open(path).unwrap()
}

fn swept(fixture: &Fixture) -> usize {
    Artifacts::open(fixture.root()).unwrap().1
}

#[test]
fn temporary_files_are_removed_when_nobody_writes() {
    let fixture = fixture();
    fixture.artifacts.put(b"abc").unwrap();
    stale(&fixture);
    assert_eq!(swept(&fixture), 2);
    fixture.check(&[b"abc"]);
    assert_eq!(swept(&fixture), 0);
}

#[test]
fn temporary_files_stay_while_another_writes() {
    let fixture = fixture();
    let paths = stale(&fixture);
    let writing = lock(&fixture);
    writing.lock_shared().unwrap();
    assert_eq!(swept(&fixture), 0);
    assert_eq!(fixture.files(), {
        let mut paths = paths.to_vec();
        paths.sort();
        paths
    });
    drop(writing);
    assert_eq!(swept(&fixture), 2);
    fixture.check(&[]);
}

#[test]
fn a_put_goes_on_while_another_writes() {
    let fixture = fixture();
    let writing = lock(&fixture);
    writing.lock_shared().unwrap();
    fixture.artifacts.put(b"abc").unwrap();
    fixture.check(&[b"abc"]);
}

#[test]
fn what_no_put_made_is_not_removed() {
    let fixture = fixture();
    let temporary = fixture.temporary();
    std::fs::create_dir(temporary.join(NAME)).unwrap();
    std::fs::write(temporary.join("notes"), b"mine").unwrap();
    std::fs::write(temporary.join(&NAME[1..]), b"mine").unwrap();
    assert_eq!(swept(&fixture), 0);
    assert!(temporary.join(NAME).is_dir());
    assert_eq!(fixture.files().len(), 2);
    fixture.artifacts.put(b"abc").unwrap();
    assert_eq!(fixture.files().len(), 3);
}

#[test]
fn opening_makes_the_folders_that_are_missing() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("a/b/artifacts");
    let (artifacts, swept) = Artifacts::open(&root).unwrap();
    assert_eq!((swept, artifacts.list().unwrap()), (0, vec![]));
    let digest = artifacts.put(b"abc").unwrap();
    assert_eq!(artifacts.get(digest).unwrap().as_slice(), b"abc");
}

#[test]
fn puts_and_openings_at_once_never_disturb_each_other() {
    let fixture = fixture();
    let bodies: Vec<Vec<u8>> = (0..60_u8).map(|number| vec![number; 500]).collect();
    std::thread::scope(|scope| {
        for half in bodies.chunks(30) {
            let artifacts = fixture.artifacts.clone();
            scope.spawn(move || {
                for bytes in half {
                    artifacts.put(bytes).unwrap();
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..60 {
                    assert_eq!(swept(&fixture), 0);
                }
            });
        }
    });
    fixture.check(&bodies.iter().map(Vec::as_slice).collect::<Vec<_>>());
}
