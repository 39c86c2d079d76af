//! Recorded responses of real providers, where they are at hand: every one is
//! imported and read by both versions without a fault.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use model::Digest;
use serde_json::{Value, json};

use crate::support::{TestHome, V1, V2, root};

const DIALECTS: [(&str, &str); 3] = [
    ("openai_chat", "openai.chat"),
    ("openai_responses", "openai.responses"),
    ("anthropic_messages", "anthropic.messages"),
];

/// The recordings as exchange lines; none when the folder is absent.
fn lines() -> Option<Vec<Value>> {
    let folder = root().join("../shared/corpus");
    if !folder.is_dir() {
        println!(
            "skipped the corpus of {} dialects: no ../shared/corpus",
            DIALECTS.len()
        );
        return None;
    }
    let mut lines = Vec::new();
    for (file, dialect) in DIALECTS {
        let text = fs::read_to_string(folder.join(format!("{file}.jsonl"))).unwrap();
        for row in text.lines() {
            let entry: Value = serde_json::from_str(row).unwrap();
            lines.push(json!({
                "id": entry["id"],
                "dialect": dialect,
                "request": {
                    "method": entry["request"]["method"],
                    "path": entry["request"]["path"],
                    "body_b64": entry["request"]["body_b64"],
                },
                "response": {
                    "status": entry["response"]["status"],
                    "headers": entry["response"]["headers"],
                    "body_b64": entry["response"]["body_b64"],
                },
            }));
        }
    }
    Some(lines)
}

fn summary(home: &TestHome, rules: &[&str]) -> Value {
    let all = home.must(&[&["reinterpret", "all"][..], rules].concat());
    all.lines().last().unwrap()["summary"].clone()
}

/// Returns every file below a folder.
fn files(folder: PathBuf) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .flat_map(|path| {
            if path.is_dir() {
                files(path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[test]
fn every_recording_of_three_dialects_is_kept_and_read_by_both_versions() {
    let Some(lines) = lines() else { return };
    let home = TestHome::new();
    let path = home.write_exchanges("corpus.jsonl", &lines);
    let imported = home
        .must(&["import", "exchange", path.to_str().unwrap()])
        .lines();
    let counts = &imported.last().unwrap()["summary"];
    // Some recordings stand in the corpus twice, line for line.
    let (new, again) = (
        counts["imported"].as_u64().unwrap(),
        counts["duplicates"].as_u64().unwrap(),
    );
    assert_eq!(usize::try_from(new + again).unwrap(), lines.len());
    assert_eq!(counts["refused"], 0);
    println!("{new} recordings imported, {again} lines more than once");

    for rules in [V1, V2] {
        let first = summary(&home, &rules);
        assert_eq!(
            (&first["calls"], &first["refused"]),
            (&json!(new), &json!(0))
        );
        assert_eq!(first["appended"], 2 * new);
        let second = summary(&home, &rules);
        assert_eq!(
            (&second["appended"], &second["unchanged"]),
            (&json!(0), &json!(new))
        );
        if rules == V2 {
            print_matrix(&first);
        }
    }
    let artifacts = files(home.path().join("artifacts/sha256"));
    assert!(artifacts.len() > 500, "{} artifacts", artifacts.len());
    for file in &artifacts {
        let folder = file
            .parent()
            .unwrap()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap();
        let name = file.file_name().unwrap().to_str().unwrap();
        assert_eq!(
            Digest::of(&fs::read(file).unwrap()).to_hex(),
            format!("{folder}{name}")
        );
    }
    println!("{} artifact files hash to their names", artifacts.len());
    let verified = home.must(&["verify"]).document();
    assert_eq!(verified["verified"]["findings"], 0);
}

fn print_matrix(summary: &Value) {
    let mut rows: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for cell in summary["matrix"].as_array().unwrap() {
        let state = |name: &str| cell[name].as_str().unwrap().to_owned();
        let row = rows.entry(state("from")).or_default();
        row.insert(state("to"), cell["calls"].as_u64().unwrap());
    }
    for (from, row) in rows {
        println!("v1 {from}: v2 {row:?}");
    }
}
