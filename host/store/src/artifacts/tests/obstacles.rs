//! What stands in the place of an artifact is told, left alone and never followed.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use model::Digest;
use model::bounds::BODY_BYTES_MAX;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::io::Errno;

use super::support::{Fixture, fixture, io};
use crate::artifacts::{ArtifactError, Artifacts};

const BYTES: &[u8] = b"abc";

fn digest() -> Digest {
    Digest::of(BYTES)
}

fn fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

fn corrupt(error: &ArtifactError, altered: &[u8]) {
    let ArtifactError::Corrupt { expected, found } = error else {
        panic!("expected other bytes, found {error}")
    };
    assert_eq!((*expected, *found), (digest(), Digest::of(altered)));
    let text = format!("artifact {expected} holds bytes that hash to {found}");
    assert_eq!(error.to_string(), text);
}

/// Checks that what stands in the place is no plain file for put, get and check.
fn not_a_file(fixture: &Fixture) {
    for error in [
        fixture.artifacts.put(BYTES).unwrap_err(),
        fixture.artifacts.put_all(&[BYTES, b"other"]).unwrap_err(),
        fixture.artifacts.get(digest()).unwrap_err(),
        fixture.artifacts.check(digest()).unwrap_err(),
    ] {
        let ArtifactError::NotAFile(named) = &error else {
            panic!("expected no plain file, found {error}")
        };
        assert_eq!(*named, digest());
        assert_eq!(
            error.to_string(),
            format!("artifact {} is not a plain file", digest())
        );
    }
    assert_eq!(fixture.temporary().read_dir().unwrap().count(), 1);
}

#[test]
fn altered_bytes_are_told_by_put_get_and_check_and_left_as_they_are() {
    for altered in [b"abd".as_slice(), b"ab", b"abcd", b""] {
        let fixture = fixture();
        fixture.artifacts.put(BYTES).unwrap();
        std::fs::write(fixture.path(BYTES), altered).unwrap();
        corrupt(&fixture.artifacts.put(BYTES).unwrap_err(), altered);
        corrupt(
            &fixture.artifacts.put_all(&[BYTES, b"other"]).unwrap_err(),
            altered,
        );
        corrupt(&fixture.artifacts.get(digest()).unwrap_err(), altered);
        corrupt(&fixture.artifacts.check(digest()).unwrap_err(), altered);
        assert_eq!(std::fs::read(fixture.path(BYTES)).unwrap(), altered);
        assert_eq!(fixture.temporary().read_dir().unwrap().count(), 1);
    }
}

#[test]
fn a_link_in_the_place_is_not_followed_even_to_the_right_bytes() {
    let fixture = fixture();
    let elsewhere = fixture.root().join("elsewhere");
    std::fs::write(&elsewhere, BYTES).unwrap();
    fixture.folder_of(BYTES);
    symlink(&elsewhere, fixture.path(BYTES)).unwrap();
    not_a_file(&fixture);
    assert!(fixture.path(BYTES).symlink_metadata().unwrap().is_symlink());
}

#[test]
fn a_link_to_nothing_is_not_written_through() {
    let fixture = fixture();
    let elsewhere = fixture.root().join("elsewhere");
    fixture.folder_of(BYTES);
    symlink(&elsewhere, fixture.path(BYTES)).unwrap();
    not_a_file(&fixture);
    assert!(!elsewhere.exists());
}

#[test]
fn a_pipe_in_the_place_keeps_nobody_waiting() {
    let fixture = fixture();
    fixture.folder_of(BYTES);
    fifo(&fixture.path(BYTES));
    not_a_file(&fixture);
}

#[test]
fn a_socket_in_the_place_is_no_plain_file() {
    let fixture = fixture();
    let folder = fixture.folder_of(BYTES);
    // A socket's path is too short for the name that it must have here.
    let bound = UnixListener::bind(folder.join("s")).unwrap();
    std::fs::rename(folder.join("s"), fixture.path(BYTES)).unwrap();
    not_a_file(&fixture);
    drop(bound);
}

#[test]
fn a_folder_in_the_place_is_no_plain_file() {
    let fixture = fixture();
    std::fs::create_dir_all(fixture.path(BYTES)).unwrap();
    not_a_file(&fixture);
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let fixture = fixture();
    fixture.artifacts.put(BYTES).unwrap();
    let length = u64::try_from(BODY_BYTES_MAX).unwrap() + 1;
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(fixture.path(BYTES))
        .unwrap();
    file.set_len(length).unwrap();
    for error in [
        fixture.artifacts.put(BYTES).unwrap_err(),
        fixture.artifacts.get(digest()).unwrap_err(),
        fixture.artifacts.check(digest()).unwrap_err(),
    ] {
        let ArtifactError::TooLarge {
            digest: named,
            found,
        } = &error
        else {
            panic!("expected too many bytes, found {error}")
        };
        assert_eq!((*named, *found), (digest(), length));
    }
}

#[test]
fn a_link_in_the_place_of_a_folder_is_neither_read_nor_written_through() {
    let fixture = fixture();
    fixture.artifacts.put(BYTES).unwrap();
    let folder = fixture.folder_of(BYTES);
    let elsewhere = fixture.root().join("elsewhere");
    std::fs::rename(&folder, &elsewhere).unwrap();
    symlink(&elsewhere, &folder).unwrap();
    for error in [
        fixture.artifacts.get(digest()).unwrap_err(),
        fixture.artifacts.check(digest()).unwrap_err(),
        fixture.artifacts.put(BYTES).unwrap_err(),
    ] {
        assert!(
            matches!(error, ArtifactError::NotAFile(named) if named == digest()),
            "{error}"
        );
    }
    std::fs::remove_file(elsewhere.join(fixture.path(BYTES).file_name().unwrap())).unwrap();
    let error = fixture.artifacts.put(BYTES).unwrap_err();
    io(&error, "opening", &folder, Errno::NOTDIR);
    assert_eq!(elsewhere.read_dir().unwrap().count(), 0);
}

#[test]
fn a_file_in_the_place_of_a_folder_is_told_and_left_alone() {
    let fixture = fixture();
    let folder = fixture.folder_of(BYTES);
    std::fs::remove_dir(&folder).unwrap();
    std::fs::write(&folder, b"mine").unwrap();
    let error = fixture.artifacts.put(BYTES).unwrap_err();
    io(&error, "opening", &folder, Errno::NOTDIR);
    for error in [
        fixture.artifacts.get(digest()).unwrap_err(),
        fixture.artifacts.check(digest()).unwrap_err(),
    ] {
        assert!(
            matches!(error, ArtifactError::NotAFile(named) if named == digest()),
            "{error}"
        );
    }
    assert_eq!(std::fs::read(&folder).unwrap(), b"mine");
    assert_eq!(fixture.files(), [folder]);
}

#[test]
fn a_file_in_the_place_of_all_folders_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("artifacts");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("sha256"), b"mine").unwrap();
    let error = Artifacts::open(&root).unwrap_err();
    io(&error, "creating", &root.join("sha256"), Errno::EXIST);
}

#[test]
fn a_file_in_the_place_of_the_temporary_folder_is_told_and_nothing_is_put() {
    let fixture = fixture();
    std::fs::remove_dir_all(fixture.temporary()).unwrap();
    std::fs::write(fixture.temporary(), b"mine").unwrap();
    let error = fixture.artifacts.put(BYTES).unwrap_err();
    io(&error, "creating", &fixture.temporary(), Errno::EXIST);
    assert_eq!(fixture.files(), [fixture.temporary()]);
}

#[test]
fn a_link_or_a_pipe_in_the_place_of_the_lock_is_told() {
    let fixture = fixture();
    let lock = fixture.temporary().join("lock");
    let elsewhere = fixture.root().join("elsewhere");
    std::fs::remove_file(&lock).unwrap();
    symlink(&elsewhere, &lock).unwrap();
    io(
        &fixture.artifacts.put(BYTES).unwrap_err(),
        "opening",
        &lock,
        Errno::LOOP,
    );
    assert!(!elsewhere.exists());
    std::fs::remove_file(&lock).unwrap();
    fifo(&lock);
    io(
        &fixture.artifacts.put(BYTES).unwrap_err(),
        "opening",
        &lock,
        Errno::NXIO,
    );
}

#[test]
fn a_temporary_folder_that_was_removed_is_made_again() {
    let fixture = fixture();
    std::fs::remove_dir_all(fixture.temporary()).unwrap();
    fixture.artifacts.put(BYTES).unwrap();
    fixture.check(&[BYTES]);
}

#[test]
fn one_obstacle_in_a_group_leaves_the_others_whole() {
    let fixture = fixture();
    std::fs::create_dir_all(fixture.path(BYTES)).unwrap();
    let bodies: Vec<Vec<u8>> = (0..20_u8).map(|number| vec![number; 50]).collect();
    let mut group: Vec<_> = bodies.iter().map(Vec::as_slice).collect();
    group.push(BYTES);
    let error = fixture.artifacts.put_all(&group).unwrap_err();
    assert!(
        matches!(error, ArtifactError::NotAFile(named) if named == digest()),
        "{error}"
    );
    for path in fixture.files() {
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(fixture.path(&bytes), path);
    }
    group.pop();
    fixture.artifacts.put_all(&group).unwrap();
    fixture.check(&group);
}
