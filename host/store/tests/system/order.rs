//! The order in which things become durable, as the kernel was asked for it.

use std::path::Path;

use model::Digest;

use crate::support::{Call, body, can_trace, empty_ledger, probe, skipped, trace};

/// Runs the probe and returns what it asked of the kernel.
fn traced(verb: &str, path: &Path, count: &str) -> Vec<Call> {
    let options = ["-e", "trace=%file,%desc"];
    let arguments = [verb.as_ref(), path.as_os_str(), count.as_ref()];
    let (output, calls) = trace(&options, &arguments);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    calls
}

/// Returns the place of the first call from a place on that did this with that.
fn next(calls: &[Call], from: usize, name: &str, argument: &str) -> usize {
    let is_it =
        |call: &Call| call.name == name && call.arguments.contains(argument) && !call.failed();
    let found = calls.iter().skip(from).position(is_it);
    from + found.unwrap_or_else(|| panic!("no {name} of {argument} after {from}: {calls:#?}"))
}

fn last(calls: &[Call], name: &str, argument: &str) -> usize {
    let is_it = |call: &Call| call.name == name && call.arguments.contains(argument);
    calls
        .iter()
        .rposition(is_it)
        .unwrap_or_else(|| panic!("no {name} of {argument}"))
}

fn answer(calls: &[Call]) -> usize {
    next(calls, 0, "write", "1<pipe:")
}

/// A descriptor of exactly this path.
fn of(path: &Path) -> String {
    format!("<{}>", path.display())
}

struct Places {
    root: std::path::PathBuf,
    folder: std::path::PathBuf,
    file: String,
}

fn places(root: &Path, number: usize) -> Places {
    let hex = Digest::of(&body(number)).to_hex();
    Places {
        root: root.to_owned(),
        folder: root.join("sha256").join(&hex[..2]),
        file: hex[2..].to_owned(),
    }
}

/// Checks the order for one body that was not there: written, synced, named, its
/// folder synced, the folder above synced, told.
fn put_in_order(calls: &[Call], places: &Places) {
    let temporary = format!("{}/", places.root.join("tmp").display());
    let renamed = next(calls, 0, "renameat2", &format!("\"{}\"", places.file));
    let arguments = &calls[renamed].arguments;
    assert!(arguments.contains(&of(&places.folder)), "{arguments}");
    assert!(arguments.ends_with("RENAME_NOREPLACE"), "{arguments}");
    let name = arguments
        .split(&temporary)
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let of_temporary = format!("<{temporary}{name}>");
    let written = last(calls, "write", &of_temporary);
    let synced = next(calls, written, "fsync", &of_temporary);
    assert!(synced < renamed);
    let folder = next(calls, renamed, "fsync", &of(&places.folder));
    let top = next(calls, renamed, "fsync", &of(&places.root.join("sha256")));
    assert!(folder < answer(calls) && top < answer(calls));
    // A failed fsync is never tried again, so there is one of each.
    let syncs = calls
        .iter()
        .filter(|call| call.name == "fsync" && call.arguments.contains(&of_temporary));
    assert_eq!(syncs.count(), 1);
}

#[test]
fn an_artifact_is_durable_before_its_name_and_its_name_before_the_answer() {
    let name = "an_artifact_is_durable_before_its_name_and_its_name_before_the_answer";
    if !can_trace() {
        return skipped(name, "strace is absent or may not trace");
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("artifacts");
    let calls = traced("put", &root, "1");
    put_in_order(&calls, &places(&root, 0));
    // The folders were made for it: each is durable in the one above it.
    for made in [&root, &root.join("sha256"), &root.join("tmp")] {
        let made_at = next(&calls, 0, "mkdir", &format!("\"{}\"", made.display()));
        let synced = next(&calls, made_at, "fsync", &of(made.parent().unwrap()));
        assert!(synced < answer(&calls));
    }
}

#[test]
fn an_artifact_that_was_there_is_made_durable_before_the_answer() {
    let name = "an_artifact_that_was_there_is_made_durable_before_the_answer";
    if !can_trace() {
        return skipped(name, "strace is absent or may not trace");
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("artifacts");
    traced("put", &root, "1");
    let calls = traced("put", &root, "1");
    let places = places(&root, 0);
    let file = next(&calls, 0, "fsync", &of(&places.folder.join(&places.file)));
    let folder = next(&calls, file, "fsync", &of(&places.folder));
    let top = next(&calls, folder, "fsync", &of(&places.root.join("sha256")));
    assert!(top < answer(&calls));
    assert!(!calls.iter().any(|call| call.name == "renameat2"));
}

#[test]
fn a_group_is_durable_before_any_of_it_is_told() {
    let name = "a_group_is_durable_before_any_of_it_is_told";
    if !can_trace() {
        return skipped(name, "strace is absent or may not trace");
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("artifacts");
    let calls = traced("group", &root, "12");
    for number in 0..12 {
        put_in_order(&calls, &places(&root, number));
    }
}

#[test]
fn a_ledger_is_durable_before_its_name_and_its_name_before_the_answer() {
    let name = "a_ledger_is_durable_before_its_name_and_its_name_before_the_answer";
    if !can_trace() {
        return skipped(name, "strace is absent or may not trace");
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let path = folder.join("ledger.sqlite3");
    let calls = traced("create", &path, "3");
    let draft = of(&folder.join("ledger.sqlite3.new"));
    let renamed = next(&calls, 0, "renameat2", &format!("\"{}\"", path.display()));
    let written = last(&calls, "pwrite64", &draft);
    let synced = next(&calls, written, "fsync", &draft);
    assert!(synced < renamed);
    let of_folder = next(&calls, renamed, "fsync", &of(&folder));
    assert!(of_folder < answer(&calls));
}

#[test]
fn an_event_is_durable_before_the_answer_and_its_artifact_before_the_event() {
    let name = "an_event_is_durable_before_the_answer_and_its_artifact_before_the_event";
    if !can_trace() {
        return skipped(name, "strace is absent or may not trace");
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    drop(empty_ledger(&folder.join("ledger.sqlite3")));
    let calls = traced("record", &folder, "1");
    let told = answer(&calls);
    let log = of(&folder.join("ledger.sqlite3-wal"));
    let before = &calls[..told];
    let synced = next(before, last(before, "pwrite64", &log), "fsync", &log);
    assert!(synced < told);
    let root = folder.join("artifacts");
    put_in_order(&calls, &places(&root, 0));
    let artifact = next(&calls, 0, "fsync", &of(&places(&root, 0).folder));
    assert!(artifact < next(&calls, 0, "pwrite64", &log));
}

#[test]
fn the_probe_is_built_with_the_tests() {
    assert!(probe().is_file());
}
