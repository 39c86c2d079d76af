//! What `reinterpret all` lets through, and how it ends.

use std::fs;

use serde_json::{Value, json};

use crate::support::{TestHome, V1, V2, chat, exchange, text};

/// A home with four calls of different dialects, providers, tasks and statuses.
fn varied() -> (TestHome, String, Vec<Value>) {
    let home = TestHome::new();
    let criteria = home.write("criteria", b"it is there\n");
    let create = ["task", "create", "t", "--output", "o", "--criteria"];
    let create = [&create[..], &[criteria.to_str().unwrap()]].concat();
    let task = text(&home.must(&create).document(), "task").to_owned();
    let mut imported = home.import(&[
        chat("stop", "All of it.", "stop"),
        chat("cut", "It stopped mid-", "length"),
        exchange("claude", "messages", 500, "{}"),
    ]);
    let mut other = chat("other", "Of another provider.", "stop");
    other["provider"] = json!("osprey");
    let file = home.write_exchanges("other.jsonl", &[other]);
    let import = [
        "import",
        "exchange",
        file.to_str().unwrap(),
        "--task",
        &task,
    ];
    imported.push(home.must(&import).lines()[0].clone());
    (home, task, imported)
}

/// The names of the calls that a dry run lets through.
fn let_through(home: &TestHome, filters: &[&str]) -> Vec<String> {
    let dry = [&["reinterpret", "all", "--dry-run"][..], filters, &V2].concat();
    let mut lines = home.must(&dry).lines();
    let summary = lines.pop().unwrap()["summary"].clone();
    assert_eq!(summary["calls"], lines.len());
    lines
        .iter()
        .map(|line| text(line, "external_id").to_owned())
        .collect()
}

#[test]
fn every_filter_lets_through_what_fits_and_all_of_them_must_fit() {
    let (home, task, imported) = varied();
    let through = |filters: &[&str]| let_through(&home, filters);
    assert_eq!(through(&[]), ["stop", "cut", "claude", "other"]);
    assert_eq!(through(&["--dialect", "anthropic.messages"]), ["claude"]);
    let chat = ["stop", "cut", "other"];
    for name in ["openai.chat", "chat_completions"] {
        assert_eq!(through(&["--dialect", name]), chat);
    }
    assert_eq!(through(&["--provider", "osprey"]), ["other"]);
    assert_eq!(through(&["--provider", "nobody"]), [""; 0]);
    assert_eq!(through(&["--task", &task]), ["other"]);
    assert_eq!(through(&["--external-id", "cut"]), ["cut"]);
    let both = ["--provider", "kestrel", "--dialect", "openai.chat"];
    assert_eq!(through(&both), ["stop", "cut"]);
    assert_eq!(through(&["--status", "succeeded"]), [""; 0]);
    for index in [0, 1] {
        let call = ["reinterpret", "call", text(&imported[index], "call")];
        home.must(&[&call[..], &V2].concat());
    }
    assert_eq!(through(&["--status", "succeeded"]), ["stop"]);
    assert_eq!(through(&["--status", "unresolved"]), ["cut"]);
    assert_eq!(through(&["--status", "failed"]), [""; 0]);

    let known = "openai.chat, openai.responses, openai.completions, anthropic.messages, \
                 anthropic.complete, gemini.generate_content, bedrock.converse, bedrock.invoke, \
                 mistral.chat, cohere.v1.chat, cohere.v2.chat, ollama.chat, ollama.generate, \
                 unknown";
    let all = ["reinterpret", "all"];
    let nobody = "01890000-0000-7000-8000-000000000000";
    let refused = home.refuses(&[&all[..], &["--task", nobody]].concat(), 2);
    let message = format!("unknown task: {nobody}");
    assert_eq!(refused, ("unknown_name".to_owned(), message));
    let refused = home.refuses(&[&all[..], &["--dialect", "klingon"]].concat(), 2);
    let message = format!("dialect \"klingon\": expected one of {known}");
    assert_eq!(refused, ("usage".to_owned(), message));
}

#[test]
fn what_cannot_be_read_is_counted_by_code_and_the_others_are_done() {
    let (home, _, imported) = varied();
    let shown = home
        .must(&["show", text(&imported[1], "attempt")])
        .document();
    fs::remove_file(home.artifact(text(&shown["response"], "sha256"))).unwrap();
    let all = [&["reinterpret", "all"][..], &V2].concat();
    let count = home.event_count();
    let mut lines = home.must(&all).lines();
    let summary = lines.pop().unwrap()["summary"].clone();
    assert_eq!(
        ["calls", "reinterpreted", "unchanged", "refused", "appended"]
            .map(|name| summary[name].as_u64().unwrap()),
        [4, 3, 0, 1, 6]
    );
    assert_eq!(summary["refusals"], json!({"observation_unavailable": 1}));
    assert_eq!(home.event_count(), count + 6);
    let refused: Vec<_> = lines
        .iter()
        .filter(|line| line["refused"].is_object())
        .collect();
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0]["external_id"], "cut");
    // A strict run does the same, and tells with its exit code.
    let strict = home.run(&[&all[..], &["--strict"]].concat());
    assert_eq!(strict.code, 4);
    assert_eq!(strict.lines().pop().unwrap()["summary"]["refused"], 1);
    let interpret = home.run(&["interpret", "all", "--strict"]);
    assert_eq!((interpret.code, interpret.lines().len()), (4, 4));
    // So is a step back that nobody allowed, of each call.
    let back = [&["reinterpret", "all"][..], &V1].concat();
    let summary = home.must(&back).lines().pop().unwrap()["summary"].clone();
    assert_eq!(
        summary["refusals"],
        json!({"observation_unavailable": 1, "step_back": 3})
    );
    assert_eq!(home.event_count(), count + 6);
}
