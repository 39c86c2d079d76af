//! Bodies that were damaged at random and on purpose: each gives a reading or a
//! typed refusal, and the reading keeps its own rules.
//!
//! `cargo test --release -p attempt-v3 ten_million -- --ignored --nocapture` is the
//! long run.

use std::num::NonZero;
use std::thread;

use attempt_v3::Reading;
use serde_json::Value;
use wire::Dialect;

use crate::common::{Seen, cases, recorded, recordings};

/// Numbers that are the same in every run (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).unwrap();
        usize::try_from(self.roll() % bound).unwrap()
    }

    fn of<'a, T>(&mut self, any: &'a [T]) -> &'a T {
        &any[self.below(any.len())]
    }
}

/// What is put where a value stood, or anywhere.
const PIECES: [&[u8]; 40] = [
    b"null",
    b"true",
    b"false",
    b"0",
    b"-1",
    b"1e999",
    b"NaN",
    b"-Infinity",
    b"\"\"",
    b"\"stop\"",
    b"\"length\"",
    b"\"end_turn\"",
    b"\"STOP\"",
    b"\"completed\"",
    b"[]",
    b"{}",
    b"[{}]",
    b"[[",
    b"}",
    b"]",
    b"{",
    b"\"",
    b"\\",
    b",",
    b":",
    b"\n",
    b"\r\n\r\n",
    b"\n\ndata: ",
    b"data: [DONE]\n\n",
    b": x\n",
    b"event: error\n",
    b"\xff",
    b"\xf0\x9f",
    b"\\ud800",
    b"\\u0000",
    b"\"finish_reason\":\"stop\",",
    b"\"error\":{\"code\":429},",
    b"\"index\":4294967295,",
    b"99999999999999999999",
    b"\x1f\x8b\x08",
];

/// Where a JSON string, number or word stands, as far as can be told.
fn token(body: &[u8], dice: &mut Dice) -> Option<(usize, usize)> {
    let from = dice.below(body.len());
    let start = from + body.get(from..)?.iter().position(|byte| *byte == b':')? + 1;
    let end = body
        .get(start..)?
        .iter()
        .position(|byte| b",}]\n".contains(byte))?;
    Some((start, start + end))
}

fn mutate(body: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    let at = dice.below(body.len());
    let end = at + dice.below(body.len().saturating_sub(at)).min(64);
    match dice.below(9) {
        0 => {
            if let Some(byte) = body.get_mut(at) {
                *byte ^= 1 << dice.below(8);
            }
        }
        1 => body.truncate(at),
        2 => drop(body.drain(at..end)),
        3 => {
            let copy = body[at..end].to_vec();
            body.splice(at..at, copy);
        }
        4 => drop(body.splice(at..at, dice.of(&PIECES).iter().copied())),
        5 => {
            let tail = dice.below(other.len());
            body.truncate(at);
            body.extend(&other[tail..]);
        }
        6 => {
            if let Some((start, end)) = token(body, dice) {
                body.splice(start..end, dice.of(&PIECES).iter().copied());
            }
        }
        7 => {
            if let Some((start, end)) = token(body, dice) {
                let copy = body[start..end].to_vec();
                if let Some((start, end)) = token(body, dice) {
                    body.splice(start..end, copy);
                }
            }
        }
        _ => {
            // Framing: one kind of line end for another.
            let ends: [&[u8]; 4] = [b"\n", b"\r", b"\r\n", b""];
            if let Some(line) = body
                .get(at..)
                .and_then(|rest| rest.iter().position(|b| *b == b'\n'))
            {
                body.splice(at + line..=at + line, dice.of(&ends).iter().copied());
            }
        }
    }
}

/// The rules that every reading keeps, whatever it was read from.
fn keeps_its_rules(reading: &Reading<'_>, body: &[u8]) {
    let state = reading.state.as_str();
    for citation in &reading.citations {
        assert!(
            citation.start <= citation.end && citation.end <= body.len(),
            "{citation:?}"
        );
        assert!(citation.pointer.is_empty() || citation.pointer.starts_with('/'));
    }
    match state {
        "complete" => {
            let seen = reading
                .output_text
                .as_deref()
                .is_some_and(|text| !text.trim().is_empty());
            let media = reading.facts.iter().any(|(name, _)| *name == "media");
            assert!(seen || media, "complete without output");
            assert!(reading.tool_calls.is_empty() && reading.refusal.is_none());
        }
        "tool_call" => assert!(!reading.tool_calls.is_empty()),
        "error" => assert!(reading.error.is_some()),
        _ => {}
    }
    if matches!(
        state,
        "complete" | "tool_call" | "truncated" | "empty" | "paused" | "pending"
    ) {
        let reason = reading.provider_reason.as_deref().unwrap_or_default();
        assert!(!reason.is_empty(), "{state} without a reason");
        assert!(reading.error.is_none(), "{state} with an error");
    }
    let names: Vec<_> = reading.facts.iter().map(|(name, _)| name).collect();
    let mut once = names.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), names.len(), "{names:?}");
    assert!(names.len() <= 64);
}

fn run(sources: &[Seen], mutations: u64, seed: u64) -> u64 {
    let mut dice = Dice(seed);
    let mut refused = 0;
    for _ in 0..mutations {
        let mut seen = dice.of(sources).clone();
        let other = dice.of(sources).body.clone().unwrap_or_default();
        let mut body = seen.body.take().unwrap_or_default();
        for _ in 0..=dice.below(4) {
            mutate(&mut body, &other, &mut dice);
        }
        seen.body = Some(body);
        if dice.below(16) == 0 {
            dice.of(&Dialect::ALL)
                .as_str()
                .clone_into(&mut seen.dialect);
        }
        if dice.below(32) == 0 {
            let coding = *dice.of(&["gzip", "br", "zstd", "deflate", "zzz"]);
            seen = seen.header("content-encoding", coding);
        }
        match seen.read(keeps_its_rules) {
            Ok(()) => {}
            Err(refusal) => {
                assert!(
                    ["unsupported_content_coding", "decoded_too_large"].contains(&refusal.code)
                );
                refused += 1;
            }
        }
    }
    refused
}

/// Damages so many bodies, and says how many readings were refused.
fn mutated(mutations: u64) {
    let mut sources: Vec<Seen> = cases().into_iter().map(|(_, seen)| seen).collect();
    let recorded = recordings().unwrap_or_default();
    let recorded = recorded.iter().filter_map(recorded_small);
    sources.extend(recorded);
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let share = mutations.div_ceil(u64::try_from(threads).unwrap());
    let refused: u64 = thread::scope(|scope| {
        let sources = &sources;
        let running: Vec<_> = (0..threads)
            .map(|thread| {
                let seed = u64::try_from(thread).unwrap();
                scope.spawn(move || run(sources, share, seed))
            })
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    println!(
        "{mutations} mutated bodies from {} sources, {refused} refused",
        sources.len()
    );
}

/// Small recordings only: what is large is slow, and no stranger.
fn recorded_small(entry: &Value) -> Option<Seen> {
    let small = |seen: &Seen| seen.body.as_ref().is_some_and(|body| body.len() < 4096);
    recorded(entry).filter(small)
}

#[test]
fn mutated_bodies_give_a_reading_or_a_typed_refusal() {
    mutated(100_000);
}

#[test]
#[ignore = "minutes, in release: run by .ci/long"]
fn ten_million_mutated_bodies_give_a_reading_or_a_typed_refusal() {
    mutated(10_000_000);
}

/// Where the bytes of the reason end in a body, found by looking for a name and a
/// word and by nothing else.
fn reason_ends(body: &[u8], reason: &str) -> Option<usize> {
    let needle = format!("\"{reason}\"");
    let found = body
        .windows(needle.len())
        .position(|window| window == needle.as_bytes())?;
    Some(found + needle.len())
}

#[test]
fn no_body_cut_before_its_reason_ends_is_complete() {
    let mut cuts = 0;
    for (case, mut seen) in cases() {
        let Some(reason) = case["expected"]["finish_reason"].as_str() else {
            continue;
        };
        let body = seen.body.clone().unwrap();
        let Some(end) = reason_ends(&body, reason) else {
            continue;
        };
        for cut in 0..end {
            seen.body = Some(body[..cut].to_vec());
            assert_ne!(seen.state(), "complete", "{} at {cut}", case["id"]);
            cuts += 1;
        }
    }
    assert!(cuts > 10_000, "only {cuts} cuts");
}
