//! Damaged bodies in the sandbox: the third interpreter gives a reading or a typed
//! refusal, and never a trap, however a body is framed or cut.

use std::fs;
use std::path::Path;

use model::exchange::Observation;
use runtime::{Limits, RunError, compile};

use crate::common::{observation, sandbox};

/// Bodies of every framing; the damage does the rest.
const BODIES: [(&str, &[u8]); 8] = [
    (
        "openai.chat",
        br#"{"id":"a","choices":[{"index":0,"message":{"content":"Hi \u00e9","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}"#,
    ),
    (
        "openai.chat",
        b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    ),
    (
        "openai.responses",
        b"event: response.completed\ndata: {\"type\":\"response.completed\",\ndata: \"response\":{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"Hi\"}]}]}}\n\n",
    ),
    (
        "anthropic.messages",
        br#"{"type":"message","content":[{"type":"text","text":"Hi"},{"type":"tool_use","id":"t","name":"f","input":{"a":[1,2]}}],"stop_reason":"tool_use","usage":{"input_tokens":1}}"#,
    ),
    (
        "gemini.generate_content",
        br#"[{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}]"#,
    ),
    (
        "ollama.chat",
        b"{\"message\":{\"content\":\"H\"},\"done\":false}\n{\"done\":true,\"done_reason\":\"stop\"}",
    ),
    (
        "cohere.v2.chat",
        br#"{"id":"a","message":{"content":[{"type":"text","text":"Hi"}]},"finish_reason":"COMPLETE","usage":{"tokens":{"input_tokens":1.0}}}"#,
    ),
    // gzip of `{}`, which is cut and damaged like the others.
    (
        "openai.chat",
        &[
            0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 2, 0xff, 0xab, 0xae, 0x05, 0, 0x43, 0xbf, 0xa6, 0xa3,
            2, 0, 0, 0,
        ],
    ),
];

/// Numbers that are the same in every run (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % u64::try_from(bound.max(1)).unwrap()).unwrap()
    }
}

const PIECES: [&[u8]; 14] = [
    b"null",
    b"NaN",
    b"[",
    b"{",
    b"}",
    b"\"",
    b"\\u",
    b"\xff",
    b"\n\n",
    b"data: ",
    b":",
    b"\"finish_reason\":\"stop\"",
    b"-0.0e99",
    b"\x1f\x8b\x08",
];

fn damaged(body: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut body = body.to_vec();
    for _ in 0..=dice.below(4) {
        let at = dice.below(body.len());
        match dice.below(4) {
            0 => body.truncate(at),
            1 => {
                if let Some(byte) = body.get_mut(at) {
                    *byte ^= 1 << dice.below(8);
                }
            }
            2 => {
                let end = at + dice.below(body.len() - at).min(24);
                drop(body.drain(at..end));
            }
            _ => drop(body.splice(at..at, PIECES[dice.below(PIECES.len())].iter().copied())),
        }
    }
    body
}

#[test]
fn damaged_bodies_are_read_or_refused_and_stop_no_module() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../interpreters/released/attempt-interpretation-v3.wasm");
    let compiled = compile(&fs::read(path).unwrap()).unwrap();
    let sandbox = sandbox(Limits::P1);
    let interpreter = sandbox.interpreter(&compiled).unwrap();
    let mut dice = Dice(7);
    let mut refused = 0;
    for round in 0..20_000 {
        let (dialect, body) = BODIES[round % BODIES.len()];
        let body = damaged(body, &mut dice);
        let seen = Observation {
            dialect,
            ..observation(&body)
        };
        match interpreter.interpret(&seen, None) {
            Ok(outcome) => {
                let bound = 500_000 + 2_000 * u64::try_from(body.len()).unwrap();
                assert!(outcome.fuel <= bound, "{} for {body:?}", outcome.fuel);
                let decoded = interpreter.decode(&seen).unwrap().value;
                for citation in &outcome.value.citations {
                    let end = usize::try_from(citation.end).unwrap();
                    assert!(end <= decoded.len(), "{citation:?} of {body:?}");
                }
            }
            Err(RunError::Refused { code, .. }) => {
                assert_eq!(code, "decoded_too_large");
                refused += 1;
            }
            Err(other) => panic!("{other}: {body:?}"),
        }
    }
    println!("20000 damaged bodies read in the sandbox, {refused} refused");
}

/// Members that a reader of some dialect goes into.
const INTO: [&str; 16] = [
    "delta",
    "message",
    "content",
    "citationsContent",
    "output",
    "response",
    "error",
    "details",
    "metadata",
    "innererror",
    "choices",
    "candidates",
    "parts",
    "tool_calls",
    "function",
    "usage",
];

const DIALECTS: [&str; 13] = [
    "openai.chat",
    "openai.responses",
    "openai.completions",
    "anthropic.messages",
    "anthropic.complete",
    "gemini.generate_content",
    "bedrock.converse",
    "bedrock.invoke",
    "mistral.chat",
    "cohere.v1.chat",
    "cohere.v2.chat",
    "ollama.chat",
    "ollama.generate",
];

#[test]
fn bodies_as_deep_as_they_may_be_stop_no_module() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../interpreters/released/attempt-interpretation-v3.wasm");
    let compiled = compile(&fs::read(path).unwrap()).unwrap();
    let sandbox = sandbox(Limits::P1);
    let interpreter = sandbox.interpreter(&compiled).unwrap();
    for dialect in DIALECTS {
        for name in INTO {
            for (open, close) in [("{", "}"), ("[{", "}]")] {
                let levels = if open == "{" { 127 } else { 63 };
                let front = format!("{open}\"{name}\":").repeat(levels);
                let body = format!("{front}1{}", close.repeat(levels));
                let framed = [body.clone(), format!("data: {body}\n\n")];
                for body in framed {
                    for status in [200, 500] {
                        let seen = Observation {
                            dialect,
                            status: Some(status),
                            ..observation(body.as_bytes())
                        };
                        let read = interpreter.interpret(&seen, None);
                        assert!(read.is_ok(), "{dialect} {name} {open}: {read:?}");
                    }
                }
            }
        }
    }
    // Schemas and texts that are held against each other.
    let text = format!("{}1{}", "[".repeat(120), "]".repeat(120));
    let body =
        format!(r#"{{"choices":[{{"message":{{"content":"{text}"}},"finish_reason":"stop"}}]}}"#);
    for keyword in ["items", "not"] {
        let front = format!("{{\"{keyword}\":").repeat(110);
        let schema = format!("{front}true{}", "}".repeat(110));
        let request = format!(
            r#"{{"response_format":{{"type":"json_schema","json_schema":{{"schema":{schema}}}}}}}"#
        );
        let seen = Observation {
            request_body: Some(request.as_bytes()),
            ..observation(body.as_bytes())
        };
        let read = interpreter.interpret(&seen, None);
        assert!(read.is_ok(), "{keyword}: {read:?}");
    }
}
