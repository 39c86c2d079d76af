//! Tests of the home's folders.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o7777
}

/// The folders that a new home has.
fn folders(home: &Home) -> Vec<PathBuf> {
    let names = [
        "",
        "artifacts",
        "artifacts/sha256",
        "artifacts/tmp",
        "packs",
        "cache",
        "spool",
    ];
    let named = names.map(|name| home.folder().join(name));
    named.into_iter().chain([home.keys()]).collect()
}

#[test]
fn the_folders_of_a_new_home_are_its_owners_alone() {
    let outside = tempfile::tempdir().unwrap();
    let home = Home::at(outside.path().join("new/home"));
    home.create_folders().unwrap();
    for folder in folders(&home) {
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
    }
    assert_eq!(mode(&outside.path().join("new")), 0o700);
}

#[test]
fn an_empty_folder_becomes_its_owners_alone() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::set_permissions(outside.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    Home::at(outside.path()).create_folders().unwrap();
    assert_eq!(mode(outside.path()), 0o700);
}

#[test]
fn a_folder_that_holds_something_is_refused_and_left_as_it_is() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::set_permissions(outside.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(outside.path().join(".hidden"), b"mine").unwrap();
    let error = Home::at(outside.path()).create_folders().unwrap_err();
    assert!(
        matches!(&error, HomeError::NotEmpty(path) if path == outside.path()),
        "{error}"
    );
    let text = format!(
        "{} is not empty: a home is made in a missing or an empty folder",
        outside.path().display()
    );
    assert_eq!(error.to_string(), text);
    assert_eq!(outside.path().read_dir().unwrap().count(), 1);
    assert_eq!(mode(outside.path()), 0o755);
}

#[test]
fn a_file_in_the_place_of_a_home_is_refused() {
    let outside = tempfile::tempdir().unwrap();
    let path = outside.path().join("home");
    std::fs::write(&path, b"mine").unwrap();
    let error = Home::at(&path).create_folders().unwrap_err();
    assert!(
        matches!(&error, HomeError::NotAFolder(named) if *named == path),
        "{error}"
    );
    assert_eq!(
        error.to_string(),
        format!("{} is not a folder", path.display())
    );
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
}

#[test]
fn a_file_above_a_home_is_refused_by_the_file_system() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("file"), b"mine").unwrap();
    let home = Home::at(outside.path().join("file/home"));
    let error = home.create_folders().unwrap_err();
    let HomeError::Io { path, source } = &error else {
        panic!("expected a refusal, found {error}")
    };
    assert_eq!(*path, home.folder().display().to_string());
    assert_eq!(source.kind(), io::ErrorKind::NotADirectory);
}

#[test]
fn a_home_without_a_ledger_is_absent() {
    let outside = tempfile::tempdir().unwrap();
    let home = Home::at(outside.path());
    let absent = || {
        let error = home.require().unwrap_err();
        assert!(
            matches!(&error, HomeError::Absent(path) if path == outside.path()),
            "{error}"
        );
        let text = format!(
            "no home at {}: expected a file ledger.sqlite3 in it, found none",
            outside.path().display()
        );
        assert_eq!(error.to_string(), text);
    };
    absent();
    std::fs::create_dir(home.ledger()).unwrap();
    absent();
    std::fs::remove_dir(home.ledger()).unwrap();
    std::fs::write(home.ledger(), b"").unwrap();
    home.require().unwrap();
}

#[test]
fn a_written_file_is_its_owners_alone_and_leaves_nothing_beside_it() {
    let outside = tempfile::tempdir().unwrap();
    let home = Home::at(outside.path());
    home.write_file(&home.config(), b"first").unwrap();
    home.write_file(&home.config(), b"second").unwrap();
    assert_eq!(std::fs::read(home.config()).unwrap(), b"second");
    assert_eq!(mode(&home.config()), 0o600);
    assert_eq!(outside.path().read_dir().unwrap().count(), 1);
}

#[test]
fn a_file_that_cannot_be_placed_leaves_nothing_beside_it() {
    let outside = tempfile::tempdir().unwrap();
    let home = Home::at(outside.path());
    std::fs::create_dir_all(home.config().join("folder")).unwrap();
    let error = home.write_file(&home.config(), b"bytes").unwrap_err();
    let HomeError::Io { path, source } = &error else {
        panic!("expected a refusal, found {error}")
    };
    assert_eq!(*path, home.config().display().to_string());
    assert_eq!(source.kind(), io::ErrorKind::IsADirectory);
    assert_eq!(error.to_string(), format!("{path}: {source}"));
    assert_eq!(outside.path().read_dir().unwrap().count(), 1);
}

#[test]
fn a_link_is_replaced_and_not_written_through() {
    let outside = tempfile::tempdir().unwrap();
    let home = Home::at(outside.path());
    let elsewhere = outside.path().join("elsewhere");
    std::fs::write(&elsewhere, b"mine").unwrap();
    symlink(&elsewhere, home.config()).unwrap();
    home.write_file(&home.config(), b"ours").unwrap();
    assert_eq!(std::fs::read(&elsewhere).unwrap(), b"mine");
    assert!(home.config().symlink_metadata().unwrap().is_file());
}

#[test]
fn of_many_who_make_a_home_in_one_folder_one_has_it() {
    let outside = tempfile::tempdir().unwrap();
    let home = Home::at(outside.path().join("home"));
    let made: Vec<Result<(), HomeError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| home.create_folders()))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let losers = made
        .iter()
        .filter(|made| matches!(made, Err(HomeError::NotEmpty(path)) if path == home.folder()));
    assert_eq!(
        (
            losers.count(),
            made.iter().filter(|made| made.is_ok()).count()
        ),
        (7, 1)
    );
    for folder in folders(&home) {
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
    }
}

#[test]
fn what_a_failed_init_made_is_removed_and_the_folder_can_be_used_again() {
    let outside = tempfile::tempdir().unwrap();
    let home = Home::at(outside.path());
    home.create_folders().unwrap();
    home.write_file(&home.config(), b"text").unwrap();
    home.write_file(&home.keys().join("log"), b"secret")
        .unwrap();
    let (artifacts, _) = crate::Artifacts::open(home.artifacts()).unwrap();
    artifacts.put(b"abc").unwrap();
    let ledger = crate::Ledger::create::<crate::LedgerError>(&home.ledger(), |_| Ok(())).unwrap();
    home.remove_unfinished();
    assert_eq!(outside.path().read_dir().unwrap().count(), 0);
    drop(ledger);
    home.create_folders().unwrap();
}

#[test]
fn what_is_not_a_homes_is_never_removed() {
    let outside = tempfile::tempdir().unwrap();
    let home = Home::at(outside.path());
    home.create_folders().unwrap();
    std::fs::write(outside.path().join("notes"), b"mine").unwrap();
    home.remove_unfinished();
    let names: Vec<_> = outside
        .path()
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["notes"]);
}
