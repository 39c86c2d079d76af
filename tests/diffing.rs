//! `diff`: two versions of the rules over everything that is kept.

use std::fs;

use model::Digest;
use serde_json::{Value, json};

use crate::impact::Accepted;
use crate::support::{TestHome, V1, chat, exchange, text};

const V1_V2: [&str; 5] = [
    "diff",
    "--from",
    "attempt-interpretation-v1",
    "--to",
    "attempt-interpretation-v2",
];
const V2_V3: [&str; 5] = [
    "diff",
    "--from",
    "attempt-interpretation-v2",
    "--to",
    "attempt-interpretation-v3",
];

/// Four calls: one that both rules read alike, one that was cut, one that failed and
/// one without text.
fn home() -> (TestHome, Vec<Value>) {
    TestHome::importing(&[
        chat("whole", "All of it.", "stop"),
        chat("cut", "It stopped mid-", "length"),
        exchange(
            "failed",
            "openai.chat",
            400,
            "{\"error\":{\"message\":\"no\"}}",
        ),
        chat("filtered", "Some", "content_filter"),
    ])
}

/// The lines of a comparison, and its last one.
fn compared(home: &TestHome, command: &[&str]) -> (Vec<Value>, Value) {
    let mut lines = home.must(command).lines();
    let last = lines.pop().unwrap();
    (lines, last)
}

fn cell(from: &str, to: &str, attempts: u64) -> Value {
    json!({"from": from, "to": to, "attempts": attempts})
}

#[test]
fn states_statuses_and_fields_are_counted() {
    let (home, _) = home();
    let (lines, last) = compared(&home, &V1_V2);
    let summary = &last["summary"];
    assert_eq!(
        summary["matrix"],
        json!([
            cell("complete", "complete", 1),
            cell("complete", "truncated", 1),
            cell("complete", "filtered", 1),
            cell("unknown", "unknown", 1),
        ])
    );
    // Without policies named, each side has the home's default, which accepts both.
    for side in ["from", "to"] {
        assert_eq!(summary[side]["policy"]["label"], "attempt-policy-v2");
    }
    assert_eq!(
        summary["statuses"],
        json!([
            {"from": "succeeded", "to": "succeeded", "calls": 1},
            {"from": "succeeded", "to": "unresolved", "calls": 2},
            {"from": "failed", "to": "failed", "calls": 1},
        ])
    );
    for (field, count) in [
        ("calls", 4),
        ("changed_calls", 3),
        ("attempts", 4),
        ("changed_attempts", 3),
        ("refused", 0),
    ] {
        assert_eq!(summary[field], count, "{field}");
    }
    let fields = json!({"error.class": 1, "generation_state": 2});
    assert_eq!(summary["fields"], fields);
    let names: Vec<_> = lines.iter().map(|line| text(line, "external_id")).collect();
    assert_eq!(names, ["cut", "failed", "filtered"]);
}

#[test]
fn the_cited_bytes_of_both_sides_are_the_bytes_of_the_body() {
    let (home, imported) = home();
    let (lines, _) = compared(&home, &V1_V2);
    let attempt = &lines[0]["attempts"][0];
    assert_eq!(attempt["attempt"], imported[1]["attempt"]);
    assert_eq!(
        attempt["changed"],
        json!([{"field": "generation_state", "from": "complete", "to": "truncated"}])
    );
    let sha256 = text(attempt, "body_sha256");
    let body = fs::read(home.artifact(sha256)).unwrap();
    let mut looked_at = 0;
    for side in ["from", "to"] {
        for cited in attempt["cited"][side].as_array().unwrap() {
            let place = |name: &str| usize::try_from(cited[name].as_u64().unwrap()).unwrap();
            let bytes = &body[place("start")..place("end")];
            assert_eq!(text(cited, "text").as_bytes(), bytes, "{cited}");
            let document: Value = serde_json::from_slice(&body).unwrap();
            let there = document.pointer(text(cited, "pointer")).unwrap();
            let here: Value = serde_json::from_slice(bytes).unwrap();
            assert_eq!(*there, here);
            looked_at += 1;
        }
    }
    assert_eq!(looked_at, 2, "{attempt}");
}

#[test]
fn nothing_is_recorded_and_equal_sides_differ_in_nothing() {
    let (home, _) = home();
    let before = (home.event_count(), home.files());
    let same = [
        "diff",
        "--from",
        "attempt-interpretation-v2",
        "--to",
        "attempt-interpretation-v2",
    ];
    let (lines, last) = compared(&home, &same);
    assert_eq!(lines, Vec::<Value>::new());
    assert_eq!(last["summary"]["changed_calls"], 0);
    compared(&home, &V1_V2);
    assert_eq!(home.event_count(), before.0);
    let ledgers = |files: &std::collections::BTreeMap<_, _>| files.len();
    assert_eq!(ledgers(&home.files()), ledgers(&before.1));
}

/// The canonical form of these lines: sorted names and no blanks. They have neither
/// fractions nor names outside of ASCII.
fn hashed(lines: &[Value], summary: &Value) -> String {
    let mut summary = summary.clone();
    summary["diff_sha256"] = Value::Null;
    let mut bytes = Vec::new();
    for line in lines.iter().chain([&summary]) {
        // serde_json's map is sorted by name.
        bytes.extend(serde_json::to_vec(line).unwrap());
        bytes.push(b'\n');
    }
    Digest::of(&bytes).to_string()
}

#[test]
fn the_hash_is_that_of_the_lines_and_is_the_same_in_every_run() {
    let (home, _) = home();
    let (lines, last) = compared(&home, &V1_V2);
    let summary = &last["summary"];
    assert_eq!(hashed(&lines, summary), text(summary, "diff_sha256"));
    for _ in 0..3 {
        assert_eq!(compared(&home, &V1_V2), (lines.clone(), last.clone()));
    }
    // What a run fails on is a question about the diff, and no part of it.
    let failing = home.run(&[&V1_V2[..], &["--fail-on", "complete->*"]].concat());
    let asked = failing.lines().pop().unwrap();
    assert_eq!(asked["summary"], *summary);
    // Other filters are another diff.
    let (_, other) = compared(&home, &[&V1_V2[..], &["--dialect", "openai.chat"]].concat());
    assert_eq!(
        other["summary"]["filters"],
        json!({"dialect": "openai.chat"})
    );
    assert_ne!(other["summary"]["diff_sha256"], summary["diff_sha256"]);
}

#[test]
fn sides_that_are_swapped_give_the_turned_matrix() {
    let (home, _) = home();
    let swapped = [
        "diff",
        "--from",
        "attempt-interpretation-v2",
        "--to",
        "attempt-interpretation-v1",
    ];
    let turned = |last: &Value| {
        let cells = last["summary"]["matrix"].as_array().unwrap().clone();
        let mut cells: Vec<_> = cells
            .into_iter()
            .map(|cell| cell_of(&cell["to"], &cell["from"], &cell["attempts"]))
            .collect();
        cells.sort();
        cells
    };
    let straight = |last: &Value| {
        let cells = last["summary"]["matrix"].as_array().unwrap().clone();
        let mut cells: Vec<_> = cells
            .into_iter()
            .map(|cell| cell_of(&cell["from"], &cell["to"], &cell["attempts"]))
            .collect();
        cells.sort();
        cells
    };
    let (_, one) = compared(&home, &V1_V2);
    let (_, other) = compared(&home, &swapped);
    assert_eq!(straight(&one), turned(&other));
}

fn cell_of(from: &Value, to: &Value, attempts: &Value) -> String {
    format!("{from} {to} {attempts}")
}

#[test]
fn a_run_fails_on_the_changes_that_it_is_asked_about_and_on_no_others() {
    let (home, imported) = home();
    let asked = |pattern: &str| {
        let ran = home.run(&[&V1_V2[..], &["--fail-on", pattern]].concat());
        let last = ran.lines().pop().unwrap();
        (ran.code, last["fail_on"].clone())
    };
    let found = |pattern: &str, of: &[usize]| {
        let first: Vec<_> = of
            .iter()
            .map(|index| imported[*index]["attempt"].clone())
            .collect();
        json!([{"pattern": pattern, "attempts": of.len(), "first": first}])
    };
    for (pattern, of) in [
        ("complete->*", &[1, 3][..]),
        ("complete->truncated", &[1]),
        ("*->filtered", &[3]),
        ("*->*", &[1, 3]),
    ] {
        assert_eq!(asked(pattern), (3, found(pattern, of)), "{pattern}");
    }
    for pattern in ["truncated->*", "complete->complete", "*->error"] {
        assert_eq!(asked(pattern), (0, found(pattern, &[])), "{pattern}");
    }
    for (pattern, why) in [
        ("complete", "expected FROM->TO, such as complete->*"),
        (
            "done->*",
            "state \"done\": expected * or one of complete, tool_call, truncated, refused, \
             filtered, empty, paused, pending, error, unknown",
        ),
    ] {
        let (code, message) = home.refuses(&[&V1_V2[..], &["--fail-on", pattern]].concat(), 2);
        assert_eq!(code, "usage");
        let start = format!("invalid value '{pattern}' for '--fail-on <FROM->TO>': {why}");
        assert!(message.starts_with(&start), "{message}");
    }
}

#[test]
fn what_a_side_cannot_read_is_listed_and_counted() {
    let (home, _) = home();
    let (lines, _) = compared(&home, &V1_V2);
    let sha256 = text(&lines[0]["attempts"][0], "body_sha256").to_owned();
    fs::remove_file(home.artifact(&sha256)).unwrap();
    let (lines, last) = compared(&home, &V1_V2);
    let sides: Vec<_> = lines[..2]
        .iter()
        .map(|line| {
            assert_eq!(line["external_id"], "cut");
            assert_eq!(line["refused"]["code"], "observation_unavailable");
            text(line, "side")
        })
        .collect();
    assert_eq!(sides, ["from", "to"]);
    let summary = &last["summary"];
    assert_eq!(
        (&summary["refused"], &summary["attempts"]),
        (&json!(2), &json!(3))
    );
    assert_eq!(summary["refusals"], json!({"observation_unavailable": 2}));
    let strict = home.run(&[&V1_V2[..], &["--strict"]].concat());
    assert_eq!(strict.code, 4);
}

#[test]
fn names_that_are_not_there_and_pairs_that_do_not_fit_are_refused() {
    let (home, _) = home();
    let unknown = [
        "diff",
        "--from",
        "nobody-v1",
        "--to",
        "attempt-interpretation-v2",
    ];
    let expected = (
        "unknown_name".to_owned(),
        "unknown module: nobody-v1".to_owned(),
    );
    assert_eq!(home.refuses(&unknown, 2), expected);
    let misfit = [&V2_V3[..], &["--to-policy", "attempt-policy-v2"]].concat();
    let expected = "policy attempt-policy-v2 accepts readings of vocabulary [1, 2], but \
                    interpreter attempt-interpretation-v3 uses vocabulary 3";
    let code = "vocabulary_not_accepted".to_owned();
    assert_eq!(home.refuses(&misfit, 4), (code, expected.to_owned()));
}

#[test]
fn a_policy_that_accepts_the_words_is_found_for_each_side() {
    let (home, _) = home();
    let (_, last) = compared(&home, &V2_V3);
    let summary = &last["summary"];
    assert_eq!(summary["from"]["policy"]["label"], "attempt-policy-v2");
    assert_eq!(summary["to"]["policy"]["label"], "attempt-policy-v3");
    let unknown = cell("unknown", "error", 1);
    assert!(summary["matrix"].as_array().unwrap().contains(&unknown));
}

#[test]
fn the_effect_names_the_next_step_and_what_would_move() {
    let accepted = Accepted::new("length");
    let home = &accepted.home;
    let policies = [
        "--from-policy",
        "attempt-policy-v1",
        "--to-policy",
        "attempt-policy-v2",
    ];
    let (lines, _) = compared(home, &[&V1_V2[..], &policies].concat());
    assert_eq!(lines.len(), 1);
    let effect = &lines[0]["effect"];
    // By the rules that are adopted nothing moves; by the others the acceptance rests
    // on a reading that would be replaced.
    assert_eq!(effect["moved"]["from"], json!([]));
    let moved: Vec<_> = effect["moved"]["to"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (text(one, "kind"), text(one, "output"), text(one, "moved")))
        .collect();
    let wanted = [
        ("acceptance", "report", "status"),
        ("completion", "report", "status"),
    ];
    assert_eq!(moved, wanted);
    // It is what happens when it is adopted.
    home.must(&["reinterpret", "all"]);
    let impact = home.must(&["impact"]).lines();
    let kinds: Vec<_> = impact
        .iter()
        .filter_map(|one| one["kind"].as_str())
        .filter(|kind| *kind != "decision")
        .collect();
    assert_eq!(kinds, ["acceptance", "completion"]);
}

#[test]
fn the_next_step_of_a_task_is_told_for_both_sides_and_comes_true() {
    let home = TestHome::new();
    let criteria = home.write("criteria", b"names herons\n");
    let create = [
        "task",
        "create",
        "t",
        "--grant",
        "ada=accept",
        "--output",
        "report",
    ];
    let create = [&create[..], &["--criteria", criteria.to_str().unwrap()]].concat();
    let created = home.must(&create).document();
    let task = text(&created, "task");
    let path = home.write_exchanges("one.jsonl", &[chat("1", "Two her", "length")]);
    home.must(&["import", "exchange", path.to_str().unwrap(), "--task", task]);
    home.must(&[&["reinterpret", "all"][..], &V1].concat());
    let policies = [
        "--from-policy",
        "attempt-policy-v1",
        "--to-policy",
        "attempt-policy-v2",
    ];
    let (lines, _) = compared(&home, &[&V1_V2[..], &policies].concat());
    let next = &lines[0]["effect"]["next"];
    assert_eq!(next["from"]["operation"], "check_and_accept");
    assert_eq!(next["to"]["operation"], "start_call");
    let state = |home: &TestHome| home.must(&["state", "task", task]).document();
    let now = state(&home);
    assert_eq!(now["task_next_operation"], next["from"]["operation"]);
    assert_eq!(now["task_reason"], next["from"]["reason"]);
    home.must(&["reinterpret", "all"]);
    let then = state(&home);
    assert_eq!(then["task_next_operation"], next["to"]["operation"]);
    assert_eq!(then["task_reason"], next["to"]["reason"]);
}

#[test]
fn a_policy_that_fits_is_found_where_only_an_interpreter_is_named() {
    let (home, imported) = home();
    let call = [
        "reinterpret",
        "call",
        text(&imported[1], "call"),
        "--interpreter",
    ];
    for (interpreter, policy) in [
        ("attempt-interpretation-v1", "attempt-policy-v2"),
        ("attempt-interpretation-v3", "attempt-policy-v3"),
    ] {
        let read = home.must(&[&call[..], &[interpreter]].concat()).document();
        let basis = format!("reinterpretation:{interpreter}/{policy}");
        assert_eq!(read["status_basis"], basis);
    }
}
