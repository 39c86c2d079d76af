//! Caches: what is derived may be lost or altered, and comes out as it was.

use std::fs;

use rusqlite::types::Value;
use serde_json::json;

use crate::ledger::{open, rows, select};
use crate::support::{TestHome, V1, V2, chat, exchange, sql, text};

/// A home with calls in every stage that an import can bring them to.
fn varied() -> (TestHome, Vec<serde_json::Value>) {
    let (home, imported) = TestHome::importing(&[
        chat("stop", "All of it.", "stop"),
        chat("cut", "It stopped mid-", "length"),
        exchange("failed", "openai.chat", 500, "{\"error\":{}}"),
        exchange("other", "anthropic.messages", 200, "{}"),
        chat("unread", "Nobody read this.", "stop"),
    ]);
    for index in [0, 1, 2] {
        let call = ["reinterpret", "call", text(&imported[index], "call")];
        home.must(&[&call[..], &V1].concat());
    }
    let call = ["reinterpret", "call", text(&imported[1], "call")];
    home.must(&[&call[..], &V2].concat());
    home.must(&["reinterpret", "attempt", text(&imported[3], "attempt")]);
    (home, imported)
}

/// Every row of the cached projections, and how far they are said to reach.
fn projections(home: &TestHome) -> (Vec<Vec<Value>>, Vec<Vec<Value>>) {
    let connection = open(home);
    (
        select(&connection, "SELECT * FROM projection ORDER BY scope, id"),
        select(&connection, "SELECT projected FROM tree"),
    )
}

#[test]
fn rebuild_makes_lost_and_altered_projections_again_byte_for_byte() {
    let (home, _) = varied();
    let kept = projections(&home);
    let events = rows(&home);
    let state = home.must(&["state"]).document();
    assert_eq!(kept.0.len(), 5);
    for (statements, calls_missing, calls_different) in [
        ("SELECT 1", 0, 0),
        ("DELETE FROM projection", 5, 0),
        (
            "DELETE FROM projection WHERE id = (SELECT min(id) FROM projection)",
            1,
            0,
        ),
        ("UPDATE projection SET value = '{}'", 0, 5),
        (
            "UPDATE projection SET value = replace(value, 'observed', 'completed')",
            0,
            1,
        ),
        ("UPDATE projection SET seq = 1", 5, 0),
        ("UPDATE tree SET projected = 0", 0, 0),
        ("UPDATE tree SET projected = 99", 0, 0),
        (
            "INSERT INTO projection VALUES ('call', zeroblob(16), 1, 'nobody')",
            0,
            0,
        ),
    ] {
        sql(&home, statements).unwrap();
        let rebuilt = home.must(&["rebuild"]).document();
        assert_eq!(
            rebuilt,
            json!({"calls": 5, "missing": calls_missing, "different": calls_different}),
            "{statements}"
        );
        assert_eq!(projections(&home), kept, "{statements}");
        assert_eq!(home.must(&["state"]).document(), state, "{statements}");
        assert_eq!(rows(&home), events, "{statements}");
    }
}

#[test]
fn the_state_is_the_same_from_the_cache_and_from_the_events_and_in_every_process() {
    let (home, imported) = varied();
    let questions: Vec<Vec<&str>> = std::iter::once(vec!["state"])
        .chain(
            imported
                .iter()
                .map(|line| vec!["state", "call", text(line, "call")]),
        )
        .collect();
    let answers = || -> Vec<String> {
        questions
            .iter()
            .map(|question| home.must(question).stdout)
            .collect()
    };
    let first = answers();
    assert_eq!(answers(), first);
    // Where the cache is not said to cover the ledger, the events are asked.
    sql(
        &home,
        "UPDATE tree SET projected = 0; DELETE FROM projection",
    )
    .unwrap();
    assert_eq!(answers(), first);
    home.must(&["rebuild"]);
    assert_eq!(answers(), first);
    let state: serde_json::Value = serde_json::from_str(&first[0]).unwrap();
    assert_eq!(
        state["stages"],
        json!({"completed": 3, "interpreted": 1, "observed": 1})
    );
    assert_eq!(state["calls"], 5);
}

#[test]
fn appends_go_on_over_a_cache_that_is_behind_and_never_believe_it() {
    let (home, imported) = varied();
    sql(
        &home,
        "UPDATE tree SET projected = 0; DELETE FROM projection",
    )
    .unwrap();
    let call = ["reinterpret", "call", text(&imported[4], "call")];
    home.must(&[&call[..], &V2].concat());
    let state = home.must(&["state"]).document();
    assert_eq!(state["stages"], json!({"completed": 4, "interpreted": 1}));
    let rebuilt = home.must(&["rebuild"]).document();
    assert_eq!(rebuilt, json!({"calls": 5, "missing": 4, "different": 0}));
    assert_eq!(home.must(&["state"]).document(), state);
}

#[test]
fn a_cached_summary_that_cannot_be_read_is_told_with_the_way_out() {
    let (home, _) = varied();
    sql(&home, "UPDATE projection SET value = 'x'").unwrap();
    let (code, message) = home.refuses(&["state"], 3);
    assert_eq!(code, "damage");
    assert!(message.starts_with("a cached summary: "), "{message}");
    assert!(message.ends_with("; run rebuild"), "{message}");
    home.must(&["rebuild"]);
    home.must(&["state"]);
}

#[test]
fn a_deleted_cache_changes_no_output() {
    let (home, imported) = varied();
    let attempt = text(&imported[1], "attempt");
    let interpret = ["interpret", attempt];
    let all = ["interpret", "all"];
    let dry = [&["reinterpret", "all", "--dry-run"][..], &V2].concat();
    let output = ["output", attempt];
    let commands: [&[&str]; 5] = [&interpret, &all, &dry, &output, &["doctor"]];
    for command in commands {
        let before = home.must(command);
        fs::remove_dir_all(home.path().join("cache")).unwrap();
        let after = home.must(command);
        assert_eq!(
            (after.stdout, after.stderr),
            (before.stdout, before.stderr),
            "{command:?}"
        );
    }
}
