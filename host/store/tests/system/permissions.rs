//! Everything is its owner's alone, whatever the umask.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use model::Digest;
use store::Home;

use crate::support::{body, probe, start};

fn collect(folder: &Path, found: &mut Vec<(PathBuf, u32)>) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        found.push((path.clone(), metadata.permissions().mode()));
        if metadata.is_dir() {
            collect(&path, found);
        }
    }
}

#[test]
fn every_file_and_folder_is_its_owners_alone_even_with_a_permissive_umask() {
    let outside = tempfile::tempdir().unwrap();
    let home = Home::at(outside.path().join("a/home"));
    let mut shell = Command::new("sh");
    shell.args(["-c", "umask 0 && exec \"$0\" home \"$1\" 0"]);
    shell.arg(probe()).arg(home.folder()).stdin(Stdio::piped());
    let mut child = start(&mut shell).unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "open\n");
    let mut found = Vec::new();
    collect(outside.path(), &mut found);
    for (path, mode) in &found {
        let expected = if path.is_dir() { 0o040_700 } else { 0o100_600 };
        assert_eq!(
            format!("{mode:o}"),
            format!("{expected:o}"),
            "{}",
            path.display()
        );
    }
    let hex = Digest::of(&body(0)).to_hex();
    let artifact = format!("artifacts/sha256/{}/{}", &hex[..2], &hex[2..]);
    for name in [
        "ledger.sqlite3",
        "ledger.sqlite3-wal",
        "ledger.sqlite3-shm",
        "artifacts/tmp/lock",
        "config.toml",
        "keys",
        &artifact,
    ] {
        assert!(
            found
                .iter()
                .any(|(path, _)| *path == home.folder().join(name)),
            "{name}"
        );
    }
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}
