//! Recorded responses of real providers, read as their own libraries read them,
//! where the recordings are at hand.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::common::{Seen, recorded, recordings};

/// The readings that differ from the provider's library, with the reason why ours
/// are right in the README.
const DISAGREEING: [&str; 2] = [
    "bedrock_converse-53acd5a4bb7207cc",
    "bedrock_converse-8b7c22e421b8011c",
];

/// What the library says, of what is compared here.
fn agrees(expected: &Value, seen: &Seen) -> bool {
    let text = |name: &str| expected[name].as_str().unwrap_or_default().to_owned();
    seen.read(|reading, _| {
        let state = reading.state.as_str();
        if !expected["error"].is_null() {
            return matches!(state, "error" | "filtered");
        }
        let reason = match &expected["finish_reason"] {
            Value::Array(several) => several[0].as_str().unwrap_or_default().to_owned(),
            Value::String(reason) => reason.clone(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
        };
        let found = reading.provider_reason.as_deref().unwrap_or_default();
        let status = text("status");
        let same_reason = found == reason || (reason.is_empty() && found == status);
        let calls = &expected["tool_calls"];
        let calls = calls["count"].as_u64().unwrap_or_default()
            + u64::from(!calls["legacy_function_call"].is_null());
        let found_calls = u64::try_from(reading.tool_calls.len()).unwrap();
        let same_text = reading.output_text.as_deref().unwrap_or_default() == text("output_text");
        same_reason && same_text && calls == found_calls
    })
    .unwrap()
}

#[test]
fn every_recording_is_read_as_the_providers_library_reads_it() {
    let Some(entries) = recordings() else {
        println!("skipped 1 test over the recordings: no ../shared/corpus");
        return;
    };
    let mut compared = 0;
    let mut disagreeing = BTreeSet::new();
    for entry in entries.iter().filter(|entry| entry["scored"] == true) {
        let Some(seen) = recorded(entry) else {
            continue;
        };
        compared += 1;
        if !agrees(&entry["expected"], &seen) {
            disagreeing.insert(entry["id"].as_str().unwrap().to_owned());
        }
    }
    assert!(compared > 1_300, "only {compared} were compared");
    assert_eq!(disagreeing, DISAGREEING.map(str::to_owned).into());
}

#[test]
fn a_recording_cut_anywhere_is_never_complete_without_its_reason() {
    let Some(entries) = recordings() else {
        println!("skipped 1 test over the recordings: no ../shared/corpus");
        return;
    };
    let mut cuts = 0;
    for entry in entries.iter().filter(|entry| entry["scored"] == true) {
        let Some(mut seen) = recorded(entry) else {
            continue;
        };
        let body = seen.body.clone().unwrap();
        let reason = entry["expected"]["finish_reason"]
            .as_str()
            .unwrap_or("completed");
        // Where the bytes of the reason are, by looking for them and nothing else;
        // coded bodies do not show them.
        let needle = format!("\"{reason}\"");
        let place = body
            .windows(needle.len())
            .position(|window| window == needle.as_bytes());
        let Some(place) = place else {
            continue;
        };
        for part in 0..16 {
            seen.body = Some(body[..place * part / 16].to_vec());
            assert_ne!(seen.state(), "complete", "{} at {part}/16", entry["id"]);
            cuts += 1;
        }
    }
    assert!(cuts > 10_000, "only {cuts} cuts");
}
