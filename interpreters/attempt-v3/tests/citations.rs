//! Every value that was read from bytes cites them, and the cited bytes decode to
//! it.

use std::collections::BTreeMap;

use attempt_v3::Reading;
use attempt_v3::reading::Citation;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::common::{Seen, cases, cited, recorded, recordings};

/// What one citation's bytes say, by a reader of our own: a JSON string, or the
/// text as it stands.
fn decoded(bytes: &[u8]) -> String {
    match serde_json::from_slice(bytes) {
        Ok(Value::String(text)) => text,
        Ok(_) => String::from_utf8(bytes.to_vec()).unwrap(),
        // Lone surrogates, and words of a header.
        Err(_) => {
            let text = String::from_utf8_lossy(bytes).into_owned();
            text.trim_matches('"').to_owned()
        }
    }
}

/// The text of all pieces that a field cites.
fn joined(body: &[u8], citations: &[&Citation]) -> String {
    citations
        .iter()
        .map(|citation| decoded(cited(body, citation)))
        .collect()
}

fn sum(body: &[u8], citations: &[&Citation]) -> u64 {
    citations
        .iter()
        .map(|citation| {
            let digits = std::str::from_utf8(cited(body, citation)).unwrap();
            let number: f64 = digits.parse().unwrap();
            assert!(number >= 0.0 && number.fract() == 0.0, "{digits}");
            digits.split('.').next().unwrap().parse::<u64>().unwrap()
        })
        .sum()
}

/// What a reading states, by the field's name in a citation.
fn stated(reading: &Reading<'_>) -> BTreeMap<String, String> {
    let mut stated = BTreeMap::new();
    let mut put = |field: &str, value: Option<&str>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            stated.insert(field.to_owned(), value.to_owned());
        }
    };
    put("provider_reason", reading.provider_reason.as_deref());
    put("output_text", reading.output_text.as_deref());
    put("refusal", reading.refusal.as_deref());
    put("model", reading.model.as_deref());
    put("response_id", reading.response_id.as_deref());
    if let Some(error) = &reading.error {
        put("error.code", error.code.as_deref());
        put("error.message", error.message.as_deref());
    }
    for (index, call) in reading.tool_calls.iter().enumerate() {
        put(&format!("tool_calls.{index}.id"), call.id.as_deref());
        put(&format!("tool_calls.{index}.name"), Some(&call.name));
        put(
            &format!("tool_calls.{index}.arguments"),
            Some(&call.arguments),
        );
    }
    for choice in reading.choices.iter().skip(1) {
        let field = format!("choices.{}.output_text", choice.index);
        put(&field, choice.output_text.as_deref());
    }
    stated
}

fn counts(reading: &Reading<'_>) -> [(&'static str, Option<u64>); 6] {
    let usage = &reading.usage;
    [
        ("usage.input", usage.input.tokens),
        ("usage.output", usage.output.tokens),
        ("usage.cached_input", usage.cached_input.tokens),
        ("usage.cache_write", usage.cache_write.tokens),
        ("usage.reasoning", usage.reasoning.tokens),
        ("usage.total", usage.total.tokens),
    ]
}

/// The length of the longest string anywhere in a document that text starts with.
fn longest_prefix(document: &Value, text: &str) -> usize {
    match document {
        Value::String(piece) if text.starts_with(piece.as_str()) => piece.len(),
        Value::Array(entries) => entries
            .iter()
            .map(|entry| longest_prefix(entry, text))
            .max()
            .unwrap_or_default(),
        Value::Object(members) => members
            .values()
            .map(|member| longest_prefix(member, text))
            .max()
            .unwrap_or_default(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Checks every field of a reading; returns how many citations were looked at.
fn check(id: &str, reading: &Reading<'_>, body: &[u8]) -> usize {
    let mut by_field: BTreeMap<&str, Vec<&Citation>> = BTreeMap::new();
    for citation in &reading.citations {
        assert!(
            citation.start <= citation.end && citation.end <= body.len(),
            "{id}"
        );
        by_field.entry(&citation.field).or_default().push(citation);
    }
    let looked_at = reading.citations.len();
    // Inside of base64, the whole of it is cited: see what it holds instead.
    let inner = |citation: &&Citation| citation.pointer == "/bytes";
    for (field, value) in stated(reading) {
        let citations = by_field.remove(field.as_str());
        let citations = citations.unwrap_or_else(|| panic!("{id}: {field} cites nothing"));
        if citations.iter().any(inner) {
            let mut rest = value.as_str();
            for citation in citations {
                let coded = decoded(cited(body, citation));
                let held = serde_json::from_slice(&STANDARD.decode(coded).unwrap()).unwrap();
                let next = longest_prefix(&held, rest);
                assert!(next > 0, "{id}: {field} is not in {held}");
                rest = &rest[next..];
            }
            assert_eq!(rest, "", "{id}: {field}");
            continue;
        }
        assert_eq!(joined(body, &citations), value, "{id}: {field}");
    }
    for (field, tokens) in counts(reading) {
        let citations = by_field.remove(field).unwrap_or_default();
        if citations.iter().any(inner) {
            continue;
        }
        let found = (!citations.is_empty()).then(|| sum(body, &citations));
        assert_eq!(found, tokens, "{id}: {field}");
    }
    let deciding = by_field.remove("generation_state").unwrap_or_default();
    assert!(deciding.len() <= 1, "{id}");
    assert!(
        by_field.is_empty(),
        "{id}: {:?} states nothing",
        by_field.keys()
    );
    looked_at
}

fn checked(id: &str, seen: &Seen) -> usize {
    seen.read(|reading, body| check(id, reading, body)).unwrap()
}

#[test]
fn the_cited_bytes_of_every_case_decode_to_the_stated_value() {
    let looked_at: usize = cases()
        .iter()
        .map(|(case, seen)| checked(case["id"].as_str().unwrap(), seen))
        .sum();
    assert!(looked_at > 700, "only {looked_at} citations");
}

#[test]
fn the_cited_bytes_of_every_recording_decode_to_the_stated_value() {
    let Some(entries) = recordings() else {
        println!("skipped 1 test over the recordings: no ../shared/corpus");
        return;
    };
    let mut looked_at = 0;
    for entry in &entries {
        if let Some(seen) = recorded(entry) {
            looked_at += checked(entry["id"].as_str().unwrap(), &seen);
        }
    }
    assert!(looked_at > 20_000, "only {looked_at} citations");
}

#[test]
fn a_pointer_leads_to_the_cited_bytes() {
    let body = r#"{"id":"a","choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}"#;
    Seen::ok("openai.chat", body)
        .read(|reading, body| {
            let document: Value = serde_json::from_slice(body).unwrap();
            for citation in &reading.citations {
                let there = document.pointer(&citation.pointer).unwrap();
                let here: Value = serde_json::from_slice(cited(body, citation)).unwrap();
                assert_eq!(*there, here, "{citation:?}");
            }
            assert_eq!(reading.citations.len(), 4);
        })
        .unwrap();
}

#[test]
fn names_with_a_slash_or_a_tilde_are_escaped_in_a_pointer() {
    // Nothing that is read has such a name, so the reader of names is asked.
    let bytes = br#"{"a/b~c":{"\u00e9":1}}"#;
    let mut reader = wire::json::Reader::of_body(bytes);
    let mut pointer = String::new();
    reader
        .object(|reader, _| {
            reader.object(|reader, _| {
                let span = reader.skip()?;
                pointer = reader.cite(span).pointer;
                Ok(())
            })
        })
        .unwrap();
    assert_eq!(pointer, "/a~1b~0c/\u{e9}");
}
