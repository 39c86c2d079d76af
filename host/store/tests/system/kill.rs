//! A process killed at any step loses nothing that it told.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use model::{Body, Digest, Event};

use crate::support::{
    Call, body, can_trace, check_artifacts, check_ledger, empty_ledger, probe, run, skipped, trace,
};

/// Calls that change something, or lead to a change.
const CALLS: [&str; 16] = [
    "open",
    "openat",
    "mkdir",
    "mkdirat",
    "write",
    "pwrite64",
    "ftruncate",
    "fsync",
    "fdatasync",
    "rename",
    "renameat2",
    "linkat",
    "unlink",
    "flock",
    "fcntl",
    "close",
];

/// Returns each of the calls that the probe makes, and how often.
fn points(calls: &[Call]) -> BTreeMap<&str, u32> {
    let mut points = BTreeMap::new();
    for call in calls {
        if CALLS.contains(&call.name.as_str()) {
            *points.entry(call.name.as_str()).or_default() += 1;
        }
    }
    points
}

/// Kills the probe at every call that it makes, each time in a new folder that
/// `prepare` fills, and has `check` judge the folder and what was told. Returns how
/// often it was killed.
fn sweep(
    (verb, name, count): (&str, &str, &str),
    prepare: impl Fn(&Path),
    check: impl Fn(&Path, &[String]),
) -> u32 {
    let outside = tempfile::tempdir().unwrap();
    prepare(outside.path());
    let path = outside.path().join(name);
    let (output, calls) = trace(&[], &[verb.as_ref(), path.as_os_str(), count.as_ref()]);
    assert!(output.status.success());
    let mut killed = 0;
    for (call, times) in points(&calls) {
        for nth in 1..=times {
            let outside = tempfile::tempdir().unwrap();
            prepare(outside.path());
            let mut strace = Command::new("strace");
            strace.args([
                "-f",
                "-o",
                "/dev/null",
                "-e",
                &format!("trace={call}"),
                "-e",
            ]);
            strace
                .arg(format!("inject={call}:signal=SIGKILL:when={nth}"))
                .arg(probe());
            let path = outside.path().join(name);
            let output = run(strace.args([verb.as_ref(), path.as_os_str(), count.as_ref()]));
            assert!(
                !output.status.success(),
                "{verb} was not killed at {call} {nth}"
            );
            let told = String::from_utf8(output.stdout).unwrap();
            let told: Vec<_> = told.lines().map(ToOwned::to_owned).collect();
            println!("{verb} killed at {call} {nth}: {} told", told.len());
            check(outside.path(), &told);
            killed += 1;
        }
    }
    killed
}

fn digest_of(event: &Event) -> Digest {
    let Body::HomePreregistered(body) = &event.body else {
        panic!("expected a note, found {}", event.kind().as_str())
    };
    body.expected_sha256
}

fn nothing(_: &Path) {}

fn put() -> u32 {
    sweep(("put", "artifacts", "4"), nothing, |folder, told| {
        let root = folder.join("artifacts");
        let (artifacts, _) = store::Artifacts::open(&root).unwrap();
        let kept: BTreeSet<_> = check_artifacts(&root).into_iter().collect();
        for hex in told {
            let digest = Digest::from_hex(hex).unwrap();
            assert!(kept.contains(&digest), "{digest} was told and is lost");
        }
        for number in 0..4 {
            artifacts.put(&body(number)).unwrap();
        }
        assert_eq!(check_artifacts(&root).len(), 4);
    })
}

fn create() -> u32 {
    sweep(
        ("create", "ledger.sqlite3", "3"),
        nothing,
        |folder, told| {
            let path = folder.join("ledger.sqlite3");
            if path.exists() {
                assert_eq!(check_ledger(&path).len(), 3);
            } else {
                assert_eq!(told, Vec::<String>::new());
            }
        },
    )
}

fn record() -> u32 {
    let prepare = |folder: &Path| {
        std::fs::create_dir(folder.join("home")).unwrap();
        drop(empty_ledger(&folder.join("home/ledger.sqlite3")));
    };
    sweep(("record", "home", "3"), prepare, |folder, told| {
        let home = folder.join("home");
        let events = check_ledger(&home.join("ledger.sqlite3"));
        for line in told {
            let (seq, hex) = line.split_once(' ').unwrap();
            let place: usize = seq.parse().unwrap();
            let digest = Digest::from_hex(hex).unwrap();
            assert_eq!(
                events.get(place - 1).map(digest_of),
                Some(digest),
                "told and lost"
            );
        }
        let root = home.join("artifacts");
        drop(store::Artifacts::open(&root).unwrap());
        let kept: BTreeSet<_> = check_artifacts(&root).into_iter().collect();
        for event in &events {
            assert!(
                kept.contains(&digest_of(event)),
                "an event without its bytes"
            );
        }
    })
}

#[test]
fn nothing_that_was_told_is_lost_when_the_process_is_killed_at_any_call() {
    let name = "nothing_that_was_told_is_lost_when_the_process_is_killed_at_any_call";
    if std::env::var_os("REREAD_LONG").is_none() {
        return skipped(name, "it takes minutes; set REREAD_LONG to run it");
    }
    if !can_trace() {
        return skipped(name, "strace is absent or may not trace");
    }
    let (put, create, record) = (put(), create(), record());
    println!(
        "0 of {} kills lost something: {put} of put, {create} of create, {record} of record",
        put + create + record
    );
}
