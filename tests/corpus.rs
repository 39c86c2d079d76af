//! Recorded responses of real providers, where they are at hand: every one is
//! imported and read by both versions without a fault.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use model::Digest;
use serde_json::{Value, json};

use crate::support::{TestHome, V1, V2, V3, root, text};

const DIALECTS: [(&str, &str); 3] = [
    ("openai_chat", "openai.chat"),
    ("openai_responses", "openai.responses"),
    ("anthropic_messages", "anthropic.messages"),
];

/// The dialects that only version 3 reads.
const FURTHER: [(&str, &str); 13] = [
    ("openai_completions", "openai.completions"),
    ("anthropic_complete", "anthropic.complete"),
    ("gemini_generate", "gemini.generate_content"),
    ("bedrock_converse", "bedrock.converse"),
    ("bedrock_converse_stream", "bedrock.converse"),
    ("bedrock_invoke", "bedrock.invoke"),
    ("bedrock_invoke_stream", "bedrock.invoke"),
    ("mistral_chat", "mistral.chat"),
    ("cohere_v1_chat", "cohere.v1.chat"),
    ("cohere_v1_generate", "cohere.v1.chat"),
    ("cohere_v2_chat", "cohere.v2.chat"),
    ("ollama_chat", "ollama.chat"),
    ("ollama_generate", "ollama.generate"),
];

/// The recordings as exchange lines; none when the folder is absent.
fn lines(dialects: &[(&str, &str)]) -> Option<Vec<Value>> {
    let folder = root().join("../shared/corpus");
    if !folder.is_dir() {
        println!(
            "skipped the corpus of {} files: no ../shared/corpus",
            dialects.len()
        );
        return None;
    }
    let mut lines = Vec::new();
    for (file, dialect) in dialects {
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
    let Some(lines) = lines(&DIALECTS) else {
        return;
    };
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

/// Fuel that a reading takes whatever the body is, and for each byte of it.
const FUEL: (u64, u64) = (250_000, 250);

/// How many bytes one coded byte may come to, in a recording.
const CODED: u64 = 8;

/// A reading as it is recorded: its hash, its fuel and the length of what it read.
type Recorded = BTreeMap<String, (String, u64, u64)>;

/// Reads every recording with version 3 in processes of their own.
fn read_by_version_3(lines: &[Value]) -> (TestHome, Recorded) {
    let home = TestHome::new();
    let path = home.write_exchanges("corpus.jsonl", lines);
    home.must(&["import", "exchange", path.to_str().unwrap()]);
    let counts = summary(&home, &V3);
    assert_eq!(counts["refused"], 0, "{counts}");
    let mut names = BTreeMap::new();
    let mut recorded = Recorded::new();
    for event in home.must(&["log"]).lines() {
        let body = &event["body"];
        if event["kind"] == "call.imported" {
            let id = text(body, "external_id").to_owned();
            names.insert(text(&event, "call").to_owned(), id);
        } else if event["kind"] == "attempt.interpreted" {
            let response = body["inputs"]["response_sha256"].as_str();
            let length = response.map_or(0, |sha256| {
                fs::metadata(home.artifact(sha256)).unwrap().len()
            });
            let coded = !body["reading"]["facts"]["content_coding"].is_null();
            let length = if coded { length * CODED } else { length };
            let fuel = body["fuel"].as_u64().unwrap();
            let result = text(body, "result_sha256").to_owned();
            recorded.insert(names[text(&event, "call")].clone(), (result, fuel, length));
        }
    }
    (home, recorded)
}

#[test]
fn every_recording_is_read_by_version_3_with_one_result_and_bounded_fuel() {
    let all = [&DIALECTS[..], &FURTHER].concat();
    let Some(lines) = lines(&all) else { return };
    let lines: Vec<_> = lines
        .into_iter()
        .filter(|line| !line["response"]["body_b64"].is_null())
        .collect();
    let (_, first) = read_by_version_3(&lines);
    let (home, second) = read_by_version_3(&lines);
    assert_eq!(first, second, "the same bytes, another result");
    assert!(first.len() > 1_300, "only {} recordings", first.len());
    for (name, (_, fuel, length)) in &first {
        let bound = FUEL.0 + FUEL.1 * length;
        assert!(*fuel <= bound, "{name}: {fuel} of {length} bytes");
    }
    // The three versions side by side: each still gives its own answer.
    let states = |rules: &[&str]| -> BTreeMap<String, u64> {
        let mut states = BTreeMap::new();
        let readings = home.must(&[&["interpret", "all"], &rules[..2]].concat());
        for line in readings.lines() {
            let state = text(&line["reading"], "generation_state").to_owned();
            *states.entry(state).or_default() += 1;
        }
        states
    };
    println!(
        "v1 {:?}\nv2 {:?}\nv3 {:?}",
        states(&V1),
        states(&V2),
        states(&V3)
    );
    println!("{} recordings read twice by version 3", first.len());
}
