//! Disks that are full or cannot be written. Each case is a mount of its own, in a
//! namespace that goes away with its processes.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::ledger::{row_count, rows};
use crate::support::{Ran, TestHome, V2, after_init, chat, exchange, text};

/// Runs a script in a mount namespace of its own; none when that is not allowed here.
/// `$REREAD` is this program, `$HOME_DIR` the home's folder.
fn in_namespace(home: &TestHome, what: &str, script: &str) -> Option<Ran> {
    let allowed = Command::new("unshare")
        .args(["--mount", "true"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !allowed {
        println!("skipped {what}: unshare --mount is not allowed here");
        return None;
    }
    let output = Command::new("unshare")
        .args(["--mount", "bash", "-euc", script])
        .env("REREAD", env!("CARGO_BIN_EXE_reread"))
        .env("REREAD_HOME", home.path())
        .env("HOME_DIR", home.path())
        .current_dir(home.path().parent().unwrap())
        .output()
        .unwrap();
    Some(output.into())
}

/// What a script left of one of its processes: `NAME.out`, `NAME.err` and `NAME.code`.
fn step(home: &TestHome, name: &str) -> Ran {
    let read = |ending: &str| {
        let path = home.path().with_file_name(format!("{name}.{ending}"));
        std::fs::read_to_string(path).unwrap()
    };
    Ran {
        code: read("code").trim().parse().unwrap(),
        stdout: read("out"),
        stderr: read("err"),
    }
}

/// The shell function that leaves what [`step`] reads.
const STEP: &str = "step() { local name=$1 code=0; shift; \
    \"$REREAD\" --json \"$@\" >\"$name.out\" 2>\"$name.err\" || code=$?; \
    echo $code >\"$name.code\"; }\n";

#[test]
fn a_home_that_cannot_be_written_is_refused_and_left_as_it_is() {
    let (home, imported) = TestHome::importing(&[chat("1", "one", "stop")]);
    let file = home.write_exchanges("more.jsonl", &[chat("2", "two", "stop")]);
    let before = (rows(&home), home.files());
    let script = format!(
        "{STEP} mount --bind \"$HOME_DIR\" \"$HOME_DIR\"
         mount -o remount,bind,ro \"$HOME_DIR\"
         step import import exchange more.jsonl
         step reread reinterpret call {}
         step log log",
        text(&imported[0], "call")
    );
    let Some(ran) = in_namespace(&home, "a read-only home", &script) else {
        return;
    };
    assert_eq!(ran.code, 0, "{ran:?}");
    let expected = format!(
        "ledger {}: the file, its folder or a -wal or -shm file beside it cannot be written",
        home.path().join("ledger.sqlite3").display()
    );
    for name in ["import", "reread", "log"] {
        let refused = step(&home, name).refused(1);
        assert_eq!(refused, ("ledger".to_owned(), expected.clone()), "{name}");
    }
    assert_eq!((rows(&home), home.files()), before);
    home.must(&["import", "exchange", file.to_str().unwrap()]);
}

#[test]
fn init_on_a_disk_without_room_leaves_nothing_and_can_be_run_again() {
    let home = TestHome::missing();
    let script = format!(
        "{STEP} mkdir disk
         mount -t tmpfs -o size=256k tmpfs disk
         step full --home disk/home init
         ls -A disk >left
         mount -o remount,size=64m disk
         step again --home disk/home init
         step verify --home disk/home verify"
    );
    let Some(ran) = in_namespace(&home, "init on a full disk", &script) else {
        return;
    };
    assert_eq!(ran.code, 0, "{ran:?}");
    let full = step(&home, "full");
    let (_, message) = full.refused(1);
    assert!(message.contains("No space left on device"), "{message}");
    assert_eq!(step(&home, "again").code, 0, "{:?}", step(&home, "again"));
    assert_eq!(findings(&step(&home, "verify")), json!(0));
}

fn findings(ran: &Ran) -> Value {
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.document()["verified"]["findings"].clone()
}

/// Imports a file into a home on a disk with a little room, and verifies the home
/// there and again with more room.
fn on_a_full_disk(home: &TestHome, what: &str, room_kib: u64) -> bool {
    let script = format!(
        "{STEP} mkdir disk
         size=$(du -sk \"$HOME_DIR\" | cut -f1)
         mount -t tmpfs -o size=$((size + {room_kib}))k tmpfs disk
         cp -a \"$HOME_DIR\" disk/home
         step full --home disk/home import exchange lines.jsonl
         ls disk/home/artifacts/tmp >left
         step verify --home disk/home verify
         step state --home disk/home state
         mount -o remount,size=64m disk
         step roomy --home disk/home verify
         step again --home disk/home import exchange lines.jsonl
         step reread --home disk/home reinterpret all
         step last --home disk/home verify
         rm -rf \"$HOME_DIR\"; cp -a disk/home \"$HOME_DIR\""
    );
    let Some(ran) = in_namespace(home, what, &script) else {
        return false;
    };
    assert_eq!(ran.code, 0, "{ran:?}");
    true
}

#[test]
fn a_disk_that_is_full_of_bodies_refuses_the_import_and_damages_nothing() {
    let (home, _) = TestHome::importing(&[chat("1", "one", "stop")]);
    let body = "x".repeat(600_000);
    let lines = ["a", "b", "c"].map(|id| exchange(id, "openai.chat", 200, &format!("{id}{body}")));
    home.write_exchanges("lines.jsonl", &lines);
    if !on_a_full_disk(&home, "a disk full of bodies", 1000) {
        return;
    }
    let full = step(&home, "full");
    let (code, message) = full.refused(1);
    assert_eq!(code, "artifact");
    assert!(
        message.starts_with("writing disk/home/artifacts/tmp/"),
        "{message}"
    );
    assert!(
        message.ends_with(": No space left on device (os error 28)"),
        "{message}"
    );
    assert_eq!(full.stdout, "", "nothing is said to be imported");
    let left = std::fs::read_to_string(home.path().with_file_name("left")).unwrap();
    assert_eq!(left, "lock\n", "no half file stays");
    assert_eq!(findings(&step(&home, "verify")), json!(0));
    assert_eq!(
        step(&home, "state").document()["ledger_event_count"],
        after_init(2)
    );
    is_whole_with_more_room(&home, 3);
}

#[test]
fn a_disk_that_is_full_of_events_refuses_the_import_and_damages_nothing() {
    let (home, _) = TestHome::importing(&[chat("1", "one", "stop")]);
    let lines: Vec<_> = (0..700)
        .map(|number| {
            json!({
                "id": format!("{number:04}{}", "n".repeat(400)),
                "dialect": "openai.chat",
                "request": {"method": "POST", "path": "/v1/x"},
                "response": null,
            })
        })
        .collect();
    home.write_exchanges("lines.jsonl", &lines);
    if !on_a_full_disk(&home, "a disk full of events", 1500) {
        return;
    }
    let full = step(&home, "full");
    let ledger = "disk/home/ledger.sqlite3";
    let expected = format!("ledger {ledger}: the disk is full; nothing was appended");
    assert_eq!(full.refused(1), ("ledger".to_owned(), expected));
    assert_eq!(full.error()["hint"], "make room and try again");
    // What was said to be imported is there, and nothing else.
    let said = u64::try_from(full.lines().len()).unwrap();
    assert!(said < 700, "the disk was not full after {said} lines");
    let roomy = step(&home, "roomy").document();
    assert_eq!(roomy["verified"]["events"], after_init(2 + 2 * said));
    is_whole_with_more_room(&home, 700);
}

/// After room was made, the same import goes through and everything is there once.
fn is_whole_with_more_room(home: &TestHome, lines: u64) {
    assert_eq!(findings(&step(home, "roomy")), json!(0));
    let again = step(home, "again");
    assert_eq!(again.code, 0, "{again:?}");
    let summary = again.lines().pop().unwrap()["summary"].clone();
    let count = |name: &str| summary[name].as_u64().unwrap();
    assert_eq!(count("imported") + count("duplicates"), lines, "{summary}");
    assert_eq!(count("refused"), 0);
    assert_eq!(step(home, "reread").code, 0);
    assert_eq!(findings(&step(home, "last")), json!(0));
    assert_eq!(row_count(home), after_init(4 * (lines + 1)));
    home.must(&[&["reinterpret", "all"][..], &V2].concat());
    assert!(Path::new(&home.path()).is_dir());
}
