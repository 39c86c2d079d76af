//! Everything that lies in the folders is listed.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

use model::Digest;
use rustix::io::Errno;

use super::support::{fixture, io};
use crate::artifacts::Found;

#[test]
fn a_new_store_lists_nothing() {
    assert_eq!(fixture().artifacts.list().unwrap(), []);
}

#[test]
fn artifacts_are_listed_in_the_order_of_their_names() {
    let fixture = fixture();
    let mut expected: Vec<_> = (0..50_u8)
        .map(|number| fixture.artifacts.put(&[number]).unwrap())
        .collect();
    expected.sort_unstable();
    let expected: Vec<_> = expected.into_iter().map(Found::Artifact).collect();
    assert_eq!(fixture.artifacts.list().unwrap(), expected);
}

#[test]
fn what_does_not_belong_there_is_listed_as_stray() {
    let fixture = fixture();
    let digest = fixture.artifacts.put(b"abc").unwrap();
    let top = fixture.root().join("sha256");
    let folder = fixture.folder_of(b"abc");
    let hex = "0".repeat(62);
    let folders = [
        top.join("zz"),
        top.join("BA"),
        top.join("abc"),
        top.join("a"),
    ];
    for folder in &folders {
        std::fs::create_dir(folder).unwrap();
    }
    let non_utf8 = folder.join(OsStr::from_bytes(b"\xff\xfe"));
    let files = [
        top.join("loose"),
        top.join("bb"),
        folder.join("short"),
        folder.join(format!("{hex}0")),
        folder.join(format!("{}A", &hex[1..])),
        non_utf8,
    ];
    for file in &files {
        std::fs::write(file, b"stray").unwrap();
    }
    symlink(&folder, top.join("cc")).unwrap();
    let mut expected: Vec<_> = folders
        .into_iter()
        .chain(files)
        .chain([top.join("cc")])
        .map(|path| (path.clone(), Found::Stray(path)))
        .chain([(fixture.path(b"abc"), Found::Artifact(digest))])
        .collect();
    expected.sort_by(|(one, _), (other, _)| one.cmp(other));
    let expected: Vec<_> = expected.into_iter().map(|(_, found)| found).collect();
    assert_eq!(fixture.artifacts.list().unwrap(), expected);
}

#[test]
fn something_under_a_well_formed_name_is_listed_for_check_to_judge() {
    let fixture = fixture();
    let digest = Digest::of(b"abc");
    std::fs::create_dir_all(fixture.path(b"abc")).unwrap();
    assert_eq!(fixture.artifacts.list().unwrap(), [Found::Artifact(digest)]);
}

#[test]
fn a_folder_that_is_gone_is_told() {
    let fixture = fixture();
    let top = fixture.root().join("sha256");
    std::fs::remove_dir(&top).unwrap();
    io(
        &fixture.artifacts.list().unwrap_err(),
        "listing",
        &top,
        Errno::NOENT,
    );
}
