//! A reader written from `docs/format.md` alone, in another language, and the
//! program must agree about a home: what stands in it and what is wrong with it.

mod moved;
mod recorded;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::support::{Ran, TestHome, V1, V2, chat, exchange, root, sql};

/// Drops what keeps other programs from changing a ledger by accident.
const UNGUARDED: &str = "DROP TRIGGER event_no_delete; DROP TRIGGER event_in_order; \
    DROP TRIGGER event_no_replace; DROP TRIGGER event_no_update;";

/// What both say of a task.
const TASK_MEMBERS: [&str; 5] = [
    "task_status",
    "task_standing",
    "task_next_operation",
    "outputs_missing",
    "checks_without_verdict",
];

/// Tells whether there is an interpreter for the outside reader, and counts who goes without.
pub(crate) fn python_is_here() -> bool {
    static HERE: OnceLock<bool> = OnceLock::new();
    static SKIPPED: AtomicUsize = AtomicUsize::new(0);
    let here = *HERE.get_or_init(|| {
        let check = "import sqlite3, sys; sys.exit(sys.version_info < (3, 11))";
        let ran = Command::new("python3").args(["-c", check]).output();
        ran.is_ok_and(|output| output.status.success())
    });
    if !here {
        let skipped = SKIPPED.fetch_add(1, Ordering::Relaxed) + 1;
        // Past the harness, which keeps what a passing test prints to itself.
        let said = format!("outside: no python3 of 3.11 or later, {skipped} tests skipped\n");
        io::stderr().write_all(said.as_bytes()).unwrap();
    }
    here
}

/// Runs a program of the outside reader.
fn python<S: AsRef<OsStr>>(program: &str, arguments: &[S]) -> Ran {
    let mut command = Command::new("python3");
    command
        .arg("-B")
        .arg(root().join("tests/verifier").join(program));
    command.args(arguments).output().unwrap().into()
}

/// Returns what the outside reader says of a home, and its exit code.
fn outside(home: &TestHome, more: &[&str]) -> (i32, Value) {
    read(&home.path(), more)
}

fn read(home: &Path, more: &[&str]) -> (i32, Value) {
    let mut arguments = vec![home.to_str().unwrap(), "--json"];
    arguments.extend(more);
    let ran = python("verify.py", &arguments);
    assert!([0, 3].contains(&ran.code), "{ran:?}");
    (ran.code, ran.document())
}

/// Asserts that the outside reader ends with a code and says the same of every task.
pub(crate) fn is_read_the_same(home: &Path, code: i32) {
    if !python_is_here() {
        return;
    }
    let (found, said) = read(home, &[]);
    assert_eq!(found, code, "{said}");
    let tasks = said["tasks"].as_object().unwrap();
    assert!(!tasks.is_empty(), "{said}");
    for (task, ours) in tasks {
        let state: Ran = Command::new(env!("CARGO_BIN_EXE_reread"))
            .arg("--home")
            .arg(home)
            .args(["--json", "state", "task", task])
            .output()
            .unwrap()
            .into();
        let theirs = state.document();
        for member in TASK_MEMBERS {
            assert_eq!(ours[member], theirs[member], "{member} of {task}");
        }
    }
}

/// Returns the objects that findings name.
fn objects<'a>(findings: impl IntoIterator<Item = &'a Value>) -> BTreeSet<String> {
    let name = |finding: &Value| finding["object"].as_str().unwrap().to_owned();
    findings.into_iter().map(name).collect()
}

/// Asserts that both find nothing wrong and agree about every call and task.
pub(crate) fn agree(home: &TestHome) -> Value {
    let (code, said) = outside(home, &[]);
    assert_eq!(code, 0, "{said}");
    let verified = &home.must(&["verify"]).document()["verified"];
    assert_eq!(verified["findings"], 0);
    assert_eq!(verified["events"], said["events"]);
    assert_eq!(verified["root"], said["root"]);

    let calls = said["calls"].as_object().unwrap();
    let tasks = said["tasks"].as_object().unwrap();
    let summary = home.must(&["state"]).document();
    assert_eq!(summary["calls"], calls.len());
    assert_eq!(summary["tasks"], tasks.len());
    for (call, ours) in calls {
        let theirs = home.must(&["state", "call", call]).document();
        for (member, name) in [
            ("stage", "stage"),
            ("next_operation", "next_operation"),
            ("status", "call_status"),
            ("status_basis", "status_basis"),
        ] {
            assert_eq!(ours[member], theirs[name], "{member} of {call}");
        }
    }
    for (task, ours) in tasks {
        let theirs = &home.must(&["state", "task", task]).lines()[0];
        for member in TASK_MEMBERS {
            assert_eq!(ours[member], theirs[member], "{member} of {task}");
        }
        let moved = |state: &Value| -> Vec<Value> {
            let outputs = state["outputs"].as_array().unwrap().iter();
            outputs
                .map(|output| output["basis_moved_by"].clone())
                .collect()
        };
        assert_eq!(moved(ours), moved(theirs), "outputs of {task}");
    }
    said
}

/// Asserts that both report damage and name these objects.
pub(crate) fn both_find(home: &TestHome, wanted: &[&str]) {
    let ran = home.run(&["verify"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let lines = ran.lines();
    let theirs = objects(lines.iter().filter_map(|line| line.get("finding")));
    let (code, said) = outside(home, &[]);
    let ours = objects(said["findings"].as_array().unwrap());
    assert_eq!(code, 3, "{said}");
    for object in wanted {
        assert!(theirs.contains(*object), "{object} is not in {theirs:?}");
    }
    // Whoever reads the document checks at least what the program checks.
    assert!(theirs.is_subset(&ours), "{theirs:?} is not within {ours:?}");
}

/// Changes a copy of a home's ledger and asserts that both name these objects.
fn both_find_after(home: &TestHome, statements: &str, wanted: &[&str]) {
    let copy = home.copy();
    sql(&copy, &format!("{UNGUARDED} {statements}")).unwrap();
    both_find(&copy, wanted);
}

/// A home with imports that were read and decided in several ways.
fn reread_home() -> (TestHome, Vec<Value>) {
    let home = TestHome::new();
    let criteria = home.write("criteria.txt", b"Names the port.\nIs one line.\n");
    let criteria = criteria.to_str().unwrap();
    let declare = ["task", "create", "Name it", "--output", "answer"];
    home.must(&[&declare[..], &["--criteria", criteria]].concat());
    let long = "ü\u{1F600}\u{FB33} \"quoted\" \\ \t\u{1}";
    let mut imported = home.import(&[
        chat("plain", "The port is 80.", "stop"),
        chat("cut", "The port", "length"),
        chat("escaped ü\u{1F600}", long, "stop"),
        exchange("broken", "openai.chat", 500, "{"),
        exchange("other", "cohere.v2.chat", 429, "{}"),
    ]);
    home.must(&[&["reinterpret", "all"], &V1[..]].concat());
    home.must(&[&["reinterpret", "all"], &V2[..]].concat());
    let back = ["reinterpret", "call", imported[1]["call"].as_str().unwrap()];
    home.must(&[&back[..], &V1[..], &["--allow-older=a bill"]].concat());
    imported.extend(home.import(&[
        chat("read only", "Twice.", "stop"),
        chat("untouched", "Never.", "stop"),
    ]));
    let attempt = imported[5]["attempt"].as_str().unwrap();
    home.must(&[&["reinterpret", "attempt", attempt], &V1[..2]].concat());
    home.must(&[&["reinterpret", "attempt", attempt], &V2[..2]].concat());
    (home, imported)
}

/// Returns the place of the first event of a kind.
fn place(home: &TestHome, kind: &str) -> u64 {
    let connection = rusqlite::Connection::open(home.path().join("ledger.sqlite3")).unwrap();
    let query = "SELECT min(seq) FROM event WHERE kind = ?1";
    let found: u32 = connection
        .query_row(query, [kind], |row| row.get(0))
        .unwrap();
    found.into()
}

#[test]
fn the_reader_passes_all_vectors() {
    if !python_is_here() {
        return;
    }
    let ran = python::<&str>("vectors.py", &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn a_fresh_home_reads_the_same() {
    if !python_is_here() {
        return;
    }
    let said = agree(&TestHome::new());
    assert_eq!(said["calls"].as_object().unwrap().len(), 0);
}

#[test]
fn a_reread_home_reads_the_same() {
    if !python_is_here() {
        return;
    }
    let (home, imported) = reread_home();
    let said = agree(&home);
    let state = |line: usize| &said["calls"][imported[line]["call"].as_str().unwrap()];
    let basis = "reinterpretation:attempt-interpretation-v1/attempt-policy-v1";
    assert_eq!(state(1)["status_basis"], basis);
    assert_eq!(state(5)["stage"], "interpreted");
    assert_eq!(state(6)["next_operation"], "reinterpret");
    assert_eq!(state(6)["status"], Value::Null);
}

#[test]
fn the_reader_leaves_a_home_as_it_is() {
    if !python_is_here() {
        return;
    }
    let (home, _) = reread_home();
    // A reader that stays keeps the newest events in the file's write-ahead log.
    let reader = rusqlite::Connection::open(home.path().join("ledger.sqlite3")).unwrap();
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM event;")
        .unwrap();
    home.import(&[chat("late", "Here.", "stop")]);
    let files = || -> Vec<_> {
        let read = |end| fs::read(home.path().join(format!("ledger.sqlite3{end}"))).unwrap();
        ["", "-wal"].map(read).into()
    };
    let before = files();
    let (code, said) = outside(&home, &[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(said["events"], home.event_count());
    assert!(before == files());
}

#[test]
fn both_find_damage_in_an_event() {
    if !python_is_here() {
        return;
    }
    let (home, _) = reread_home();
    for kind in [
        "task.created",
        "call.imported",
        "attempt.observed",
        "attempt.interpreted",
        "call.reinterpreted",
    ] {
        let seq = place(&home, kind);
        let event = format!("event {seq}");
        let update = |set: &str| format!("UPDATE event SET {set} WHERE seq = {seq};");
        let flipped =
            "bytes = CAST(replace(CAST(bytes AS TEXT), '\"operator\"', '\"operatos\"') AS BLOB)";
        both_find_after(&home, &update(flipped), &[&event]);
        both_find_after(&home, &update("salt = zeroblob(32)"), &[&event]);
        both_find_after(&home, &update("leaf = zeroblob(32)"), &[&event, "tree"]);
    }
    let seq = place(&home, "call.reinterpreted");
    for set in [
        "bytes = x'7b'",
        "salt = NULL",
        "unique_key = zeroblob(32)",
        "name = 'zz'",
        "attempt = zeroblob(16)",
        "module = NULL",
    ] {
        let update = format!("UPDATE event SET {set} WHERE seq = {seq};");
        both_find_after(&home, &update, &[&format!("event {seq}")]);
    }
}

#[test]
fn both_find_a_changed_history() {
    if !python_is_here() {
        return;
    }
    let (home, _) = reread_home();
    let seq = place(&home, "call.reinterpreted");
    let (next, last) = (seq + 1, home.event_count());
    let delete = format!("DELETE FROM event WHERE seq = {seq};");
    both_find_after(&home, &delete, &[&format!("event {next}"), "tree"]);
    let delete = format!("DELETE FROM event WHERE seq = {last};");
    both_find_after(&home, &delete, &["tree"]);
    let insert = format!(
        "INSERT INTO event SELECT {last} + 1, leaf, salt, bytes, NULL, kind, cause, task, call,
            attempt, NULL, name, module, response, request FROM event WHERE seq = {seq};"
    );
    both_find_after(&home, &insert, &[&format!("event {}", last + 1), "tree"]);
    let swap = format!(
        "UPDATE event SET seq = -1 WHERE seq = {seq}; UPDATE event SET seq = {seq} WHERE seq = {next};
            UPDATE event SET seq = {next} WHERE seq = -1;"
    );
    both_find_after(&home, &swap, &["tree"]);
    both_find_after(
        &home,
        "UPDATE tree SET edge = zeroblob(length(edge));",
        &["tree"],
    );
    both_find_after(&home, "UPDATE tree SET size = size + 1;", &["tree"]);
    both_find_after(&home, "", &["ledger"]);
}

#[test]
fn both_find_damage_among_the_artifacts() {
    if !python_is_here() {
        return;
    }
    let line = chat("plain", "The port is 80.", "stop");
    let (home, imported) = TestHome::importing(&[line]);
    let call = imported[0]["call"].as_str().unwrap();
    home.must(&[&["reinterpret", "call", call], &V1[..]].concat());
    let connection = rusqlite::Connection::open(home.path().join("ledger.sqlite3")).unwrap();
    let query = "SELECT 'sha256:' || lower(hex(response)) FROM event WHERE response IS NOT NULL";
    let digest: String = connection.query_row(query, [], |row| row.get(0)).unwrap();
    drop(connection);
    let artifact = format!("artifact {digest}");

    let altered = home.copy();
    let file = altered.artifact(&digest);
    fs::remove_file(&file).unwrap();
    fs::write(&file, b"other bytes").unwrap();
    both_find(&altered, &[&artifact]);

    let missing = home.copy();
    fs::remove_file(missing.artifact(&digest)).unwrap();
    both_find(&missing, &[&artifact]);

    for name in ["stray", "ab/stray"] {
        let copy = home.copy();
        let file = copy.path().join("artifacts/sha256").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, b"").unwrap();
        both_find(&copy, &[&format!("file {}", file.display())]);
    }

    let unnamed = home.copy();
    let digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let file = unnamed.artifact(digest);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, b"").unwrap();
    agree(&unnamed);
}

#[test]
fn bytes_that_are_gone_take_the_next_operation_away() {
    if !python_is_here() {
        return;
    }
    let (home, imported) = TestHome::importing(&[chat("plain", "Hi.", "stop")]);
    let call = imported[0]["call"].as_str().unwrap();
    let before = agree(&home);
    assert_eq!(before["calls"][call]["next_operation"], "reinterpret");
    let observed = home.must(&["show", imported[0]["attempt"].as_str().unwrap()]);
    let text = observed.stdout;
    let at = text.find("\"response_body_artifact\"").unwrap();
    let at = at + text[at..].find("sha256:").unwrap();
    fs::remove_file(home.artifact(&text[at..at + 71])).unwrap();
    let (_, said) = outside(&home, &[]);
    let theirs = home.must(&["state", "call", call]).document();
    assert_eq!(said["calls"][call]["next_operation"], "none");
    assert_eq!(theirs["next_operation"], "none");
}

/// Returns what the outside reader says of a home and a checkpoint.
fn against(home: &TestHome, note: &Path, key: &str) -> (i32, Value) {
    let note = note.to_str().unwrap();
    outside(home, &["--checkpoint", note, "--log-key", key])
}

#[test]
fn a_checkpoint_holds_outside() {
    if !python_is_here() {
        return;
    }
    let (home, _) = reread_home();
    let printed = |arguments: &[&str]| -> String {
        let ran: Ran = home.command(arguments).output().unwrap().into();
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.stdout
    };
    let note = printed(&["checkpoint"]);
    let key = printed(&["checkpoint", "--key"]);
    let file = home.write("note", note.as_bytes());
    let (code, said) = against(&home, &file, &key);
    assert_eq!(code, 0, "{said}");

    let size = home.event_count();
    home.import(&[chat("later", "More.", "stop")]);
    let (code, said) = against(&home, &file, &key);
    assert_eq!(code, 0, "it is a prefix of the ledger: {said}");

    let line = note.lines().nth(2).unwrap();
    let other = if line.starts_with('A') { "B" } else { "A" };
    for altered in [
        note.replace(&format!("\n{size}\n"), &format!("\n{}\n", size - 1)),
        note.replace(line, &format!("{other}{}", &line[1..])),
        note.replacen("reread/0", "reread/1", 1),
        note.replace("\n\n", "\n"),
    ] {
        assert_ne!(altered, note);
        let file = home.write("altered", altered.as_bytes());
        let (code, said) = against(&home, &file, &key);
        assert_eq!(code, 3, "{altered}: {said}");
        let named = objects(said["findings"].as_array().unwrap());
        assert!(named.contains("checkpoint"), "{said}");
    }
    let stranger = TestHome::missing();
    stranger.must(&["init"]);
    let theirs: Ran = stranger
        .command(&["checkpoint", "--key"])
        .output()
        .unwrap()
        .into();
    assert_eq!(against(&home, &file, &theirs.stdout).0, 3);
    assert_eq!(against(&stranger, &file, &key).0, 3, "another ledger");
}
