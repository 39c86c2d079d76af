//! The main job: read, reread, decide, refuse.

use std::fs;

use serde_json::Value;

use crate::support::{TestHome, V1, V2, V3, chat, exchange, text};

fn of<'a>(arguments: &[&'a str], rules: &[&'a str]) -> Vec<&'a str> {
    [arguments, rules].concat()
}

/// A home with one exchange that v1 reads as complete and v2 as truncated.
fn cut() -> (TestHome, String, String) {
    let (home, imported) = TestHome::importing(&[chat("cut", "It stopped mid-", "length")]);
    let call = text(&imported[0], "call").to_owned();
    let attempt = text(&imported[0], "attempt").to_owned();
    (home, call, attempt)
}

#[test]
fn an_import_is_two_events_and_nothing_is_read_yet() {
    let (home, call, _) = cut();
    let state = home.must(&["state", "call", &call]).document();
    assert_eq!(text(&state, "stage"), "observed");
    assert_eq!(text(&state, "next_operation"), "reinterpret");
    assert_eq!(state["call_status"], Value::Null);
    let kinds: Vec<_> = home
        .must(&["log", "--call", &call])
        .lines()
        .iter()
        .map(|event| text(event, "kind").to_owned())
        .collect();
    assert_eq!(kinds, ["call.imported", "attempt.observed"]);
}

#[test]
fn a_truncated_answer_succeeds_under_v1_and_is_unresolved_under_v2() {
    let (home, call, _) = cut();
    let one = home
        .must(&of(&["reinterpret", "call", &call], &V1))
        .document();
    assert_eq!(text(&one, "status"), "succeeded");
    assert_eq!(text(&one, "reason"), "final attempt accepted");
    assert_eq!(one["appended"], 2);
    assert_eq!(one["prior_status"], Value::Null);
    let before = home.must(&["log"]).lines();

    let two = home
        .must(&of(&["reinterpret", "call", &call], &V2))
        .document();
    assert_eq!(text(&two, "status"), "unresolved");
    assert_eq!(text(&two, "prior_status"), "succeeded");
    assert_eq!(
        text(&two, "reason"),
        "generation truncated, not treated as completed cognition"
    );
    assert_eq!(
        text(&two, "status_basis"),
        "reinterpretation:attempt-interpretation-v2/attempt-policy-v2"
    );
    assert_eq!(two["provider_effect"], false);
    let after = home.must(&["log"]).lines();
    assert_eq!(
        after[..before.len()],
        before[..],
        "history is an unchanged prefix"
    );
    assert_eq!(after.len(), before.len() + 2);

    let record = &after[after.len() - 1];
    assert_eq!(text(record, "kind"), "call.reinterpreted");
    assert_eq!(text(record, "cause"), text(&one, "record"));
    let reading = &after[after.len() - 2];
    let observed = before
        .iter()
        .find(|event| text(event, "kind") == "attempt.observed")
        .unwrap();
    assert_eq!(text(reading, "cause"), text(observed, "id"));
    assert_eq!(reading["body"]["recorded_by"], "reinterpretation");
    assert_eq!(reading["body"]["reading"]["generation_state"], "truncated");
    assert_eq!(reading["body"]["reading"]["provider_reason"], "length");
    assert_eq!(
        reading["body"]["reading"]["provider_reason_source"],
        "/choices/0/finish_reason"
    );
}

#[test]
fn a_repeat_appends_nothing_and_returns_the_same_record() {
    let (home, call, attempt) = cut();
    let first = home
        .must(&of(&["reinterpret", "call", &call], &V2))
        .document();
    let count = home.event_count();
    let again = home
        .must(&of(&["reinterpret", "call", &call], &V2))
        .document();
    assert_eq!(again["appended"], 0);
    assert_eq!(again["record"], first["record"]);
    let reading = home
        .must(&[
            "reinterpret",
            "attempt",
            &attempt,
            "--interpreter",
            "attempt-interpretation-v2",
        ])
        .document();
    assert_eq!(reading["appended"], 0);
    assert_eq!(reading["interpretation"], first["interpretations"][0]);
    assert_eq!(home.event_count(), count);
}

#[test]
fn one_more_reading_of_an_attempt_moves_its_call_from_observed_to_interpreted() {
    let (home, call, attempt) = cut();
    let count = home.event_count();
    let reading = home.must(&["reinterpret", "attempt", &attempt]).document();
    assert_eq!(reading["appended"], 1);
    assert_eq!(home.event_count(), count + 1);
    let state = home.must(&["state", "call", &call]).document();
    assert_eq!(text(&state, "stage"), "interpreted");
    assert_eq!(text(&state, "next_operation"), "reinterpret");
}

#[test]
fn a_dry_run_and_a_counterfactual_reading_append_nothing() {
    let (home, call, attempt) = cut();
    let count = home.event_count();
    let dry = home
        .must(&of(&["reinterpret", "call", &call, "--dry-run"], &V2))
        .document();
    assert_eq!(
        (&dry["appended"], &dry["would_append"]),
        (&Value::from(0), &Value::from(2))
    );
    assert_eq!(text(&dry, "status"), "unresolved");
    assert_eq!(dry["record"], Value::Null);
    let read = home.must(&["interpret", &attempt]).document();
    assert_eq!(read["reading"]["generation_state"], "truncated");
    assert_eq!(read["reading"]["output_text"], "It stopped mid-");
    let all = home
        .must(&of(&["reinterpret", "all", "--dry-run"], &V2))
        .lines();
    assert_eq!(all.last().unwrap()["summary"]["would_append"], 2);
    assert_eq!(home.event_count(), count);
}

#[test]
fn a_step_back_is_refused_unless_its_reason_is_recorded() {
    let (home, call, _) = cut();
    home.must(&of(&["reinterpret", "call", &call], &V2));
    let count = home.event_count();
    let (code, message) = home
        .run(&of(&["reinterpret", "call", &call], &V1))
        .refused(4);
    assert_eq!(code, "step_back");
    assert!(
        message.starts_with(
            "attempt-interpretation-v2 is adopted and supersedes attempt-interpretation-v1: \
             stepping back needs --allow-older"
        ),
        "{message}"
    );
    assert_eq!(home.event_count(), count);

    let back = of(
        &["reinterpret", "call", &call, "--allow-older=to compare"],
        &V1,
    );
    assert_eq!(text(&home.must(&back).document(), "status"), "succeeded");
    let record = home.must(&["log"]).lines().pop().unwrap();
    assert_eq!(record["body"]["allow_older"]["reason"], "to compare");
    home.must(&of(&["reinterpret", "call", &call], &V2));
    let state = home.must(&["state", "call", &call]).document();
    assert_eq!(
        text(&state, "status_basis"),
        "reinterpretation:attempt-interpretation-v2/attempt-policy-v2"
    );
}

#[test]
fn missing_and_altered_bytes_refuse_every_reading_and_append_nothing() {
    let (home, call, attempt) = cut();
    home.must(&of(&["reinterpret", "call", &call], &V1));
    let shown = home.must(&["show", &attempt]).document();
    let sha = text(&shown["response"], "sha256").to_owned();
    for (word, sentence) in [
        ("missing", "response body bytes are missing"),
        (
            "corrupt",
            "response body bytes do not match their recorded sha256",
        ),
    ] {
        let copy = home.copy();
        let file = copy.artifact(&sha);
        if word == "missing" {
            fs::remove_file(&file).unwrap();
        } else {
            let mut bytes = fs::read(&file).unwrap();
            bytes[10] ^= 1;
            fs::write(&file, bytes).unwrap();
        }
        let count = copy.event_count();
        for command in [
            of(&["reinterpret", "call", &call], &V2),
            // A repeat refuses too, although its answer is recorded.
            of(&["reinterpret", "call", &call], &V1),
            vec!["reinterpret", "attempt", &attempt],
            vec!["interpret", &attempt],
            vec!["output", &attempt],
        ] {
            let (code, message) = copy.run(&command).refused(4);
            assert_eq!(code, "observation_unavailable");
            let expected =
                format!("ObservationUnavailable: {word}: {sentence} (attempt {attempt}, {sha}");
            assert!(message.starts_with(&expected), "{message}");
        }
        let all = copy.must(&of(&["reinterpret", "all"], &V2)).lines();
        assert_eq!(all[0]["refused"]["code"], "observation_unavailable");
        assert_eq!(all.last().unwrap()["summary"]["refused"], 1);
        assert_eq!(
            copy.run(&of(&["reinterpret", "all", "--strict"], &V2)).code,
            4
        );
        assert_eq!(copy.event_count(), count);
        // What arrived, and when, is still on record.
        let shown = copy.must(&["show", &attempt]).document();
        assert_eq!(text(&shown, "bytes"), word);
        assert_eq!(shown["response"]["sha256"], sha.as_str());
        assert_eq!(copy.run(&["verify"]).code, 3);
    }
}

#[test]
fn a_repeat_over_missing_bytes_names_the_recorded_event() {
    let (home, call, attempt) = cut();
    let first = home
        .must(&of(&["reinterpret", "call", &call], &V2))
        .document();
    let shown = home.must(&["show", &attempt]).document();
    fs::remove_file(home.artifact(text(&shown["response"], "sha256"))).unwrap();
    let (_, message) = home
        .run(&of(&["reinterpret", "call", &call], &V2))
        .refused(4);
    assert!(message.contains(text(&first, "record")), "{message}");
}

#[test]
fn an_unread_call_whose_bytes_are_gone_says_so_as_its_state() {
    let (home, call, attempt) = cut();
    let shown = home.must(&["show", &attempt]).document();
    fs::remove_file(home.artifact(text(&shown["response"], "sha256"))).unwrap();
    let state = home.must(&["state", "call", &call]).document();
    let found = ["stage", "next_operation", "reason"].map(|name| text(&state, name).to_owned());
    assert_eq!(found, ["observed", "none", "missing"]);
}

#[test]
fn an_exchange_without_a_response_is_read_from_its_metadata_alone() {
    let line = serde_json::json!({
        "id": "gone", "dialect": "openai.chat", "request": {"method": "POST", "path": "/"},
        "response": null, "outcome": "no_response", "exception_type": "ReadTimeout",
    });
    let (home, imported) = TestHome::importing(&[line]);
    let call = text(&imported[0], "call");
    let done = home
        .must(&of(&["reinterpret", "call", call], &V2))
        .document();
    assert_eq!(text(&done, "status"), "failed");
    assert_eq!(
        text(&done, "reason"),
        "reinterpretation decides retry; reinterpretation never starts an attempt"
    );
    let kinds: Vec<_> = home
        .must(&["log", "--call", call])
        .lines()
        .iter()
        .map(|event| text(event, "kind").to_owned())
        .collect();
    assert!(!kinds.contains(&"attempt.started".to_owned()), "{kinds:?}");
    let reading = home
        .must(&["interpret", text(&imported[0], "attempt")])
        .document();
    assert_eq!(reading["reading"]["error"]["class"], "timeout");
    assert_eq!(reading["reading"]["output_text"], Value::Null);
}

#[test]
fn the_text_of_a_reading_is_made_again_from_the_bytes_and_can_be_stored() {
    let (home, _, attempt) = cut();
    let text_bytes = home.command(&["output", &attempt]).output().unwrap().stdout;
    assert_eq!(text_bytes, b"It stopped mid-");
    let stored = home.must(&["output", &attempt, "--store"]).document();
    let sha = text(&stored, "sha256");
    assert_eq!(fs::read(home.artifact(sha)).unwrap(), b"It stopped mid-");
    let cat = home
        .command(&["artifact", "cat", sha])
        .output()
        .unwrap()
        .stdout;
    assert_eq!(cat, b"It stopped mid-");
}

#[test]
fn bodies_of_every_kind_come_back_byte_for_byte() {
    use base64::Engine as _;
    let engine = base64::engine::general_purpose::STANDARD;
    let large: Vec<u8> = (0..250_000_u32).flat_map(u32::to_le_bytes).collect();
    let bodies: [&[u8]; 5] = [b"", b"\0", b"\xff\xfe\x00not utf-8", b"{}", &large];
    let lines: Vec<_> = bodies
        .iter()
        .enumerate()
        .map(|(index, body)| {
            let mut line = exchange(&format!("body-{index}"), "openai.chat", 200, "");
            let response = line["response"].as_object_mut().unwrap();
            response.remove("body_utf8");
            response.insert("body_b64".into(), engine.encode(body).into());
            line
        })
        .collect();
    let (home, imported) = TestHome::importing(&lines);
    for (line, body) in imported.iter().zip(bodies) {
        let shown = home.must(&["show", text(line, "attempt")]).document();
        let sha = text(&shown["response"], "sha256");
        assert_eq!(fs::read(home.artifact(sha)).unwrap(), body);
        let cat = home
            .command(&["artifact", "cat", sha])
            .output()
            .unwrap()
            .stdout;
        assert_eq!(cat, body);
    }
    let all = home.must(&of(&["reinterpret", "all"], &V2)).lines();
    assert_eq!(all.last().unwrap()["summary"]["refused"], 0);
    assert_eq!(home.must(&["verify"]).document()["verified"]["findings"], 0);
}

#[test]
fn three_versions_stand_side_by_side_on_one_call_each_with_its_own_answer() {
    let body = serde_json::json!({
        "id": "chatcmpl-1",
        "model": "kestrel-2",
        "choices": [{
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "Looking it up.",
                "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}],
            },
            "finish_reason": "tool_calls",
        }],
    });
    let lines = [exchange("one", "openai.chat", 200, &body.to_string())];
    let (home, imported) = TestHome::importing(&lines);
    let (call, attempt) = (text(&imported[0], "call"), text(&imported[0], "attempt"));
    let mut before = Vec::new();
    for (rules, state, status) in [
        (V1, "complete", "succeeded"),
        (V2, "unknown", "succeeded"),
        (V3, "tool_call", "succeeded"),
    ] {
        let read = home.must(&[&["reinterpret", "call", call][..], &rules].concat());
        assert_eq!(read.document()["status"], status, "{state}");
        let events = home.must(&["log", "--call", call]).lines();
        let states: Vec<_> = events
            .iter()
            .filter(|event| event["kind"] == "attempt.interpreted")
            .map(|event| event["body"]["reading"]["generation_state"].clone())
            .collect();
        assert_eq!(states.last().unwrap(), state);
        // What an earlier version said stands as it was.
        assert_eq!(events[..before.len()], before[..]);
        before = events;
    }
    let who: Vec<_> = home
        .must(&["log", "--call", call])
        .lines()
        .iter()
        .filter(|event| event["kind"] == "attempt.interpreted")
        .map(|event| text(&event["body"]["module"], "label").to_owned())
        .collect();
    assert_eq!(
        who,
        [
            "attempt-interpretation-v1",
            "attempt-interpretation-v2",
            "attempt-interpretation-v3"
        ]
    );
    // Asked again, each gives its own historical answer, and none is recorded twice.
    let count = home.event_count();
    for (rules, state) in [(V1, "complete"), (V2, "unknown"), (V3, "tool_call")] {
        let again = [&["reinterpret", "attempt", attempt], &rules[..2]].concat();
        let again = home.must(&again).document();
        assert_eq!(
            (&again["generation_state"], &again["appended"]),
            (&state.into(), &0.into())
        );
    }
    assert_eq!(home.event_count(), count);
}
