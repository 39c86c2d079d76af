//! Artifacts that are gone or changed: named by `verify`, and never read.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::damage::{Read, found, owned, verify};
use crate::support::{V2, text};

/// Something put in the place of an artifact.
type Replace = fn(&Path);

#[test]
fn an_artifact_that_is_not_what_it_was_is_named_and_never_read() {
    let read = Read::new();
    let cases: [(&str, &str, Replace); 8] = [
        ("missing", "missing", |file| fs::remove_file(file).unwrap()),
        ("corrupt", "corrupt", |file| {
            let mut bytes = fs::read(file).unwrap();
            bytes[0] ^= 1;
            fs::write(file, bytes).unwrap();
        }),
        ("corrupt", "corrupt", |file| fs::write(file, b"").unwrap()),
        ("corrupt", "corrupt", |file| {
            let bytes = fs::read(file).unwrap();
            fs::write(file, &bytes[..bytes.len() - 1]).unwrap();
        }),
        ("corrupt", "corrupt", |file| {
            let bytes = [fs::read(file).unwrap(), vec![b'\n']].concat();
            fs::write(file, bytes).unwrap();
        }),
        // The very bytes, but elsewhere: a link may be changed without a trace here.
        ("corrupt", "unreadable", |file| {
            let elsewhere = file.with_file_name("elsewhere");
            let elsewhere = elsewhere.parent().unwrap().join("../../../../elsewhere");
            fs::rename(file, &elsewhere).unwrap();
            symlink(elsewhere, file).unwrap();
        }),
        ("corrupt", "unreadable", |file| {
            fs::remove_file(file).unwrap();
            fs::create_dir(file).unwrap();
        }),
        ("corrupt", "unreadable", |file| {
            fs::remove_file(file).unwrap();
            assert!(Command::new("mkfifo").arg(file).status().unwrap().success());
        }),
    ];
    for (word, code, replace) in cases {
        let Read {
            home,
            call,
            attempt,
            response,
        } = read.copy();
        replace(&home.artifact(&response));
        let object = format!("artifact {response}");
        assert_eq!(found(&home), owned(&[(&object, code)]));
        let rows = crate::ledger::rows(&home);
        for command in [
            [&["reinterpret", "call", &call][..], &V2].concat(),
            vec!["interpret", &attempt],
            vec!["output", &attempt],
        ] {
            let (name, message) = home.run(&command).refused(4);
            assert_eq!(name, "observation_unavailable");
            let start = format!("ObservationUnavailable: {word}: response body bytes ");
            assert!(message.starts_with(&start), "{message}");
        }
        let cat = home.run(&["artifact", "cat", &response]);
        assert_eq!(cat.stdout, "");
        let (exit_code, message) = match code {
            "missing" => (4, format!("artifact {response} is missing")),
            "corrupt" => (
                4,
                format!("artifact {response} holds bytes that hash to sha256:"),
            ),
            _ => (3, format!("artifact {response} is not a plain file")),
        };
        let (name, found) = cat.refused(exit_code);
        assert_eq!(name, "artifact");
        assert!(found.starts_with(&message), "{found}");
        assert_eq!(crate::ledger::rows(&home), rows);
    }
}

#[test]
fn what_lies_among_the_artifacts_and_is_none_is_named() {
    let read = Read::new();
    let top = read.home.path().join("artifacts/sha256");
    let folder = top.join("ab");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("note.txt"), b"mine").unwrap();
    fs::write(folder.join("A".repeat(62)), b"capitals").unwrap();
    fs::write(top.join("README"), b"mine").unwrap();
    fs::create_dir(top.join("xyz")).unwrap();
    symlink("/etc", top.join("cd")).ok();
    let mut expected: Vec<_> = [
        top.join("README"),
        folder.join("A".repeat(62)),
        folder.join("note.txt"),
        top.join("cd"),
        top.join("xyz"),
    ]
    .iter()
    .filter(|path| path.symlink_metadata().is_ok())
    .map(|path| (format!("file {}", path.display()), "stray".to_owned()))
    .collect();
    let mut named = found(&read.home);
    named.sort_unstable();
    expected.sort_unstable();
    assert_eq!(named, expected);
    let detail = text(&verify(&read.home, &[])[0], "detail").to_owned();
    assert_eq!(detail, "it is no artifact, but lies among them");
}

#[test]
fn an_artifact_that_no_event_names_is_counted_and_is_no_damage() {
    let read = Read::new();
    read.home.must(&["output", &read.attempt, "--store"]);
    let lines = read.home.must(&["verify"]).lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0]["verified"]["orphans"], 1);
    let doctor = read.home.must(&["doctor"]).lines();
    let orphans = doctor
        .iter()
        .find(|check| check["check"] == "orphans")
        .unwrap();
    assert_eq!(orphans["health"], "note");
}

#[test]
fn a_body_whose_file_was_changed_refuses_the_import_of_the_same_bytes() {
    let read = Read::new();
    fs::write(read.home.artifact(&read.response), b"other bytes").unwrap();
    let mut line = crate::support::chat("first", "The first answer.", "stop");
    line["id"] = "another line, the same body".into();
    let file = read.home.write_exchanges("again.jsonl", &[line]);
    let import = ["import", "exchange", file.to_str().unwrap()];
    let found = model::Digest::of(b"other bytes");
    let message = format!(
        "artifact {} holds bytes that hash to {found}",
        read.response
    );
    assert_eq!(
        read.home.refuses(&import, 4),
        ("artifact".to_owned(), message)
    );
}

#[test]
fn bytes_that_come_in_again_are_the_bytes_that_were_lost() {
    let read = Read::new();
    fs::remove_file(read.home.artifact(&read.response)).unwrap();
    let interpret = ["interpret", &read.attempt];
    assert_eq!(read.home.run(&interpret).code, 4);
    let mut line = crate::support::chat("first", "The first answer.", "stop");
    line["id"] = "another line, the same body".into();
    assert_eq!(read.home.import(&[line])[0]["outcome"], "imported");
    read.home.must(&interpret);
    assert_eq!(found(&read.home), owned(&[]));
}
