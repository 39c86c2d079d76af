//! Many processes over one home: every one gets its answer, and history is one line.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;

use serde_json::Value;

use crate::ledger::{open, select};
use crate::support::{Ran, TestHome, V1, V2, after_init, chat, text};

const PROCESSES: usize = 8;

/// Starts every command before it waits for one, and returns how each ended.
fn at_once(home: &TestHome, commands: &[Vec<&str>]) -> Vec<Ran> {
    let started: Vec<_> = commands
        .iter()
        .map(|command| {
            home.command(command)
                .arg("--json")
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    // Each is read by a thread of its own: none may wait for a full pipe.
    let waiting: Vec<_> = started
        .into_iter()
        .map(|child| std::thread::spawn(move || Ran::from(child.wait_with_output().unwrap())))
        .collect();
    waiting
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect()
}

fn all_done(ran: &[Ran]) {
    for one in ran {
        assert_eq!((one.code, one.stderr.as_str()), (0, ""), "{one:?}");
    }
}

/// Asserts that places have no gaps and that everything verifies.
fn is_whole(home: &TestHome) {
    let places = select(
        &open(home),
        "SELECT count(*) = max(seq) AND min(seq) = 1 FROM event",
    );
    assert_eq!(places, [[rusqlite::types::Value::Integer(1)]]);
    let verified = home.must(&["verify"]).lines();
    assert_eq!(verified.len(), 1, "{verified:?}");
    let before = home.must(&["state"]).stdout;
    home.must(&["rebuild"]);
    assert_eq!(home.must(&["state"]).stdout, before);
}

/// How often each kind of event was recorded of each call.
fn kinds_by_call(home: &TestHome) -> BTreeMap<(String, String), usize> {
    let mut counts = BTreeMap::new();
    for event in home.must(&["log"]).lines() {
        if let Some(call) = event["call"].as_str() {
            let key = (call.to_owned(), text(&event, "kind").to_owned());
            *counts.entry(key).or_default() += 1;
        }
    }
    counts
}

fn lines(prefix: &str, count: usize) -> Vec<Value> {
    (0..count)
        .map(|number| chat(&format!("{prefix}-{number}"), "An answer.", "stop"))
        .collect()
}

#[test]
fn imports_of_different_files_at_once_lose_nothing() {
    let home = TestHome::new();
    let files: Vec<_> = (0..PROCESSES)
        .map(|process| {
            // More than one group, so that the transactions of all alternate.
            home.write_exchanges(
                &format!("{process}.jsonl"),
                &lines(&process.to_string(), 300),
            )
        })
        .collect();
    let commands: Vec<_> = files
        .iter()
        .map(|file| vec!["import", "exchange", file.to_str().unwrap()])
        .collect();
    all_done(&at_once(&home, &commands));
    assert_eq!(home.event_count(), after_init(2 * 300 * 8));
    let names: BTreeSet<_> = home
        .must(&["log"])
        .lines()
        .iter()
        .filter(|event| event["kind"] == "call.imported")
        .map(|event| text(&event["body"], "external_id").to_owned())
        .collect();
    assert_eq!(names.len(), 300 * 8);
    is_whole(&home);
}

#[test]
fn imports_of_the_same_file_at_once_import_each_line_once() {
    let home = TestHome::new();
    let file = home.write_exchanges("same.jsonl", &lines("same", 40));
    let commands = vec![vec!["import", "exchange", file.to_str().unwrap()]; PROCESSES];
    let ran = at_once(&home, &commands);
    all_done(&ran);
    assert_eq!(home.event_count(), after_init(2 * 40));
    let mut totals = (0, 0);
    let mut calls = BTreeSet::new();
    for one in &ran {
        let mut lines = one.lines();
        let summary = lines.pop().unwrap()["summary"].clone();
        totals.0 += summary["imported"].as_u64().unwrap();
        totals.1 += summary["duplicates"].as_u64().unwrap();
        calls.extend(lines.iter().map(|line| text(line, "call").to_owned()));
    }
    assert_eq!(totals, (40, 40 * 7));
    assert_eq!(calls.len(), 40, "all of them name the same calls");
    is_whole(&home);
}

#[test]
fn rereading_everything_at_once_records_each_result_once() {
    let home = TestHome::new();
    home.import(&lines("call", 60));
    for rules in [V1, V2] {
        let commands = vec![[&["reinterpret", "all"][..], &rules].concat(); PROCESSES];
        let ran = at_once(&home, &commands);
        all_done(&ran);
        let appended: u64 = ran
            .iter()
            .map(|one| {
                let summary = one.lines().pop().unwrap()["summary"].clone();
                assert_eq!(summary["calls"], 60);
                assert_eq!(summary["refused"], 0);
                summary["appended"].as_u64().unwrap()
            })
            .sum();
        assert_eq!(appended, 60 * 2, "readings and statuses of one run");
    }
    assert_eq!(home.event_count(), after_init(60 * (2 + 4)));
    for ((call, kind), count) in kinds_by_call(&home) {
        let expected = match kind.as_str() {
            "attempt.interpreted" | "call.reinterpreted" => 2,
            _ => 1,
        };
        assert_eq!(count, expected, "{kind} of {call}");
    }
    is_whole(&home);
}

#[test]
fn rereading_one_call_at_once_records_one_result_and_all_return_it() {
    let (home, imported) = TestHome::importing(&[chat("one", "It stopped mid-", "length")]);
    let (call, attempt) = (text(&imported[0], "call"), text(&imported[0], "attempt"));
    let reread = |rules: &[&'static str]| [&["reinterpret", "call", call][..], rules].concat();
    let ran = at_once(&home, &vec![reread(&V2); PROCESSES]);
    all_done(&ran);
    let records: BTreeSet<_> = ran
        .iter()
        .map(|one| text(&one.document(), "record").to_owned())
        .collect();
    assert_eq!(records.len(), 1, "{records:?}");
    let appended: u64 = ran
        .iter()
        .map(|one| one.document()["appended"].as_u64().unwrap())
        .sum();
    assert_eq!(appended, 2);
    assert_eq!(home.event_count(), after_init(2 + 2));

    // Readings alone, of another module: one is recorded, and all return it.
    let read = ["reinterpret", "attempt", attempt, V1[0], V1[1]];
    let ran = at_once(&home, &vec![read.to_vec(); PROCESSES]);
    all_done(&ran);
    let ids: BTreeSet<_> = ran
        .iter()
        .map(|one| text(&one.document(), "interpretation").to_owned())
        .collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    assert_eq!(home.event_count(), after_init(2 + 2 + 1));
    is_whole(&home);
}

#[test]
fn two_rules_at_once_end_in_one_order_and_no_step_back_is_silent() {
    let (home, imported) = TestHome::importing(&[chat("one", "It stopped mid-", "length")]);
    let call = text(&imported[0], "call");
    let commands: Vec<_> = (0..PROCESSES)
        .map(|process| {
            let rules = if process % 2 == 0 { V1 } else { V2 };
            [&["reinterpret", "call", call][..], &rules].concat()
        })
        .collect();
    let ran = at_once(&home, &commands);
    for (process, one) in ran.iter().enumerate() {
        if process % 2 == 1 {
            assert_eq!((one.code, one.stderr.as_str()), (0, ""), "{one:?}");
        } else if one.code != 0 {
            assert_eq!(one.refused(4).0, "step_back");
        }
    }
    // Whoever came first: the newer rules are adopted, the older ones at most once.
    let state = home.must(&["state", "call", call]).document();
    let basis = "reinterpretation:attempt-interpretation-v2/attempt-policy-v2";
    assert_eq!(text(&state, "status_basis"), basis);
    let counts = kinds_by_call(&home);
    let statuses = counts[&(call.to_owned(), "call.reinterpreted".to_owned())];
    assert!((1..=2).contains(&statuses), "{counts:?}");
    is_whole(&home);
}

#[test]
fn verifying_and_looking_while_others_append_finds_no_damage() {
    let home = TestHome::new();
    let files: Vec<_> = (0..4)
        .map(|file| home.write_exchanges(&format!("{file}.jsonl"), &lines(&file.to_string(), 300)))
        .collect();
    let mut commands: Vec<_> = files
        .iter()
        .map(|file| vec!["import", "exchange", file.to_str().unwrap()])
        .collect();
    for _ in 0..6 {
        commands.push(vec!["verify"]);
        commands.push(vec!["state"]);
        commands.push(vec!["log", "--limit", "50"]);
    }
    commands.push([&["reinterpret", "all"][..], &V2].concat());
    all_done(&at_once(&home, &commands));
    is_whole(&home);
}

#[test]
fn homes_made_at_once_in_one_folder_are_one_home() {
    for _ in 0..3 {
        let home = TestHome::missing();
        let ran = at_once(&home, &vec![vec!["init"]; PROCESSES]);
        let made: Vec<_> = ran.iter().filter(|one| one.code == 0).collect();
        assert_eq!(made.len(), 1, "{ran:?}");
        for other in ran.iter().filter(|one| one.code != 0) {
            assert_eq!(other.refused(2).0, "home");
        }
        let state = home.must(&["state"]).document();
        assert_eq!(state["ledger"], made[0].document()["ledger"]);
        is_whole(&home);
    }
}
