//! Streams in every framing, whole, cut and damaged.

use crate::common::{Seen, sse};

const HI: &str =
    r#"{"id":"a","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}"#;
const STOP: &str = r#"{"id":"a","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

fn chat(body: impl Into<Vec<u8>>) -> Seen {
    Seen::ok("openai.chat", body)
}

#[test]
fn line_ends_may_be_mixed_and_fields_may_stand_without_a_space() {
    let body = format!(":comment\r\nevent: x\rdata:{HI}\r\rdata: {STOP}\r\n\r\ndata: [DONE]\n\n");
    let seen = chat(body);
    assert_eq!(
        (seen.state(), seen.text().as_deref()),
        ("complete", Some("Hi"))
    );
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    assert_eq!(
        chat(format!("\u{feff}{}", sse(&[HI, STOP]))).state(),
        "complete"
    );
    let whole = r#"{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}"#;
    assert_eq!(chat(format!("\u{feff}{whole}")).state(), "complete");
    assert_eq!(chat(format!("\n\n  {whole}\n")).state(), "complete");
}

#[test]
fn a_document_may_stand_behind_several_data_fields() {
    let body = "data: {\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":\"Hi\"},\n: comment\n\
                data:\"finish_reason\":\ndata: \"stop\"}]}\n\n";
    let seen = chat(body);
    assert_eq!(
        (seen.state(), seen.text().as_deref()),
        ("complete", Some("Hi"))
    );
    // The place of a value is its place in the body.
    seen.read(|reading, bytes| {
        let reason = reading
            .citations
            .iter()
            .find(|citation| citation.field == "provider_reason")
            .unwrap();
        assert_eq!(&bytes[reason.start..reason.end], b"\"stop\"");
    })
    .unwrap();
}

#[test]
fn events_that_lack_their_blank_line_are_told_apart() {
    let seen = chat(format!("data: {HI}\ndata: {STOP}\ndata: [DONE]\n"));
    assert_eq!(
        (seen.state(), seen.text().as_deref()),
        ("complete", Some("Hi"))
    );
    assert!(seen.has_fact("unterminated_last_event"));
}

#[test]
fn a_last_event_without_its_blank_line_counts_and_is_said() {
    let body = format!("{}data: {STOP}", sse(&[HI]));
    let seen = chat(body);
    assert_eq!(seen.state(), "complete");
    assert!(seen.has_fact("unterminated_last_event"));
    assert!(!chat(sse(&[HI, STOP])).has_fact("unterminated_last_event"));
}

#[test]
fn a_stream_that_ends_before_its_reason_is_cut_wherever_it_ends() {
    let body = sse(&[HI, STOP, "[DONE]"]);
    let reason = body.find(r#""stop""#).unwrap();
    for end in 0..reason + r#""stop""#.len() {
        let seen = chat(&body.as_bytes()[..end]);
        assert_eq!(seen.state(), "error", "{end}");
    }
    // Behind it, what follows does not change what was said.
    let closed = reason + STOP.len() - STOP.find(r#""stop""#).unwrap();
    for end in closed..=body.len() {
        assert_eq!(chat(&body.as_bytes()[..end]).state(), "complete", "{end}");
    }
}

#[test]
fn a_stream_that_ends_inside_of_a_character_is_cut() {
    let body = sse(&[r#"{"choices":[{"index":0,"delta":{"content":"é"}}]}"#]);
    let inside = body.find('é').unwrap() + 1;
    let seen = chat(&body.as_bytes()[..inside]);
    assert_eq!(seen.verdict(), ("error", Some("transport_cut")));
}

#[test]
fn a_broken_event_before_the_reason_spoils_and_behind_it_does_not() {
    let broken = r#"{"choices":[{"index":0,"delta":{"conte"#;
    let before = chat(sse(&[HI, broken, STOP]));
    assert_eq!(before.verdict(), ("error", Some("malformed_body")));
    let behind = chat(sse(&[HI, STOP, broken]));
    assert_eq!(behind.state(), "complete");
    assert!(behind.has_fact("malformed_frames"));
}

#[test]
fn text_outside_of_any_field_is_passed_over_and_json_is_read() {
    let error = "{\n  \"error\": {\n    \"code\": 503,\n    \"status\": \"UNAVAILABLE\"\n  }\n}\n";
    let part = r#"{"candidates":[{"content":{"parts":[{"text":"Hi"}]}}]}"#;
    let seen = Seen::ok(
        "gemini.generate_content",
        format!("{}{error}", sse(&[part])),
    );
    assert_eq!(seen.verdict(), ("error", Some("overloaded")));
    assert_eq!(seen.text().as_deref(), Some("Hi"));
}

#[test]
fn comments_and_empty_data_say_nothing() {
    let body = format!(
        ": OPENROUTER PROCESSING\n\ndata:\n\ndata: : keep-alive\n\n{}",
        sse(&[HI, STOP])
    );
    let seen = chat(body);
    assert_eq!(seen.state(), "complete");
    assert!(!seen.has_fact("malformed_frames"));
}

#[test]
fn calls_are_put_together_by_slot_and_by_identifier() {
    let delta = |calls: &str| {
        format!(r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{calls}]}}}}]}}"#)
    };
    let end = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#;
    let body = sse(&[
        &delta(
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":""}},{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}"#,
        ),
        &delta(r#"{"index":0,"function":{"arguments":"{\"x\":"}}"#),
        &delta(r#"{"index":1,"function":{"arguments":"}"}}"#),
        &delta(r#"{"index":0,"function":{"arguments":"1}"}}"#),
        &delta(r#"{"index":0,"id":"c","function":{"name":"h","arguments":"{}"}}"#),
        end,
        "[DONE]",
    ]);
    chat(body)
        .read(|reading, _| {
            let found: Vec<_> = reading
                .tool_calls
                .iter()
                .map(|call| (call.id.as_deref().unwrap(), &*call.name, &*call.arguments))
                .collect();
            assert_eq!(
                found,
                [("a", "f", r#"{"x":1}"#), ("b", "g", "{}"), ("c", "h", "{}")]
            );
            assert_eq!(reading.state.as_str(), "tool_call");
        })
        .unwrap();
}

#[test]
fn answers_that_interleave_are_kept_apart() {
    let body = sse(&[
        r#"{"choices":[{"index":1,"delta":{"content":"B"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"A"}}]}"#,
        r#"{"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"length"}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}"#,
    ]);
    chat(body)
        .read(|reading, _| {
            let found: Vec<_> = reading
                .choices
                .iter()
                .map(|choice| {
                    (
                        choice.index,
                        choice.state.as_str(),
                        choice.output_text.as_deref(),
                    )
                })
                .collect();
            let wanted = [(0, "complete", Some("Aa")), (1, "truncated", Some("Bb"))];
            assert_eq!(found, wanted);
            assert_eq!(reading.output_text.as_deref(), Some("Aa"));
        })
        .unwrap();
}

#[test]
fn lines_are_read_by_themselves_and_a_broken_one_is_counted() {
    let line = |text: &str| format!(r#"{{"message":{{"content":"{text}"}},"done":false}}"#);
    let end = r#"{"message":{"content":""},"done":true,"done_reason":"stop"}"#;
    let whole = format!("{}\n{}\n{end}", line("a"), line("b"));
    let seen = Seen::ok("ollama.chat", whole.as_str());
    assert_eq!(
        (seen.state(), seen.text().as_deref()),
        ("complete", Some("ab"))
    );
    let glued = Seen::ok("ollama.chat", whole.replace('\n', ""));
    assert_eq!(
        (glued.state(), glued.text().as_deref()),
        ("complete", Some("ab"))
    );
    let broken = format!("{}\n{{\"message\":oops}}\n{end}\n", line("a"));
    let seen = Seen::ok("ollama.chat", broken);
    assert_eq!(seen.verdict(), ("error", Some("malformed_body")));
    let cut = Seen::ok("ollama.chat", format!("{}\n{}\n", line("a"), line("b")));
    assert_eq!(cut.verdict(), ("error", Some("transport_cut")));
}

#[test]
fn an_array_of_pieces_is_a_stream_and_has_an_end() {
    let piece = |text: &str, end: &str| {
        format!(r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{text}"}}]}}{end}}}]}}"#)
    };
    let whole = format!(
        "[{},\n{}\n]",
        piece("a", ""),
        piece("b", r#","finishReason":"STOP""#)
    );
    let seen = Seen::ok("gemini.generate_content", whole.as_str());
    assert_eq!(
        (seen.state(), seen.text().as_deref()),
        ("complete", Some("ab"))
    );
    let cut = &whole[..whole.find("finishReason").unwrap()];
    let seen = Seen::ok("gemini.generate_content", cut);
    assert_eq!(seen.verdict(), ("error", Some("transport_cut")));
    let closed = format!("[{}]", piece("a", ""));
    assert_eq!(
        Seen::ok("gemini.generate_content", closed).state(),
        "unknown"
    );
}

/// One message of an event stream, with its checksums.
fn message(kind: (&str, &str), name: &str, payload: &str) -> Vec<u8> {
    let mut headers = Vec::new();
    for (header, value) in [(":message-type", kind.0), (kind.1, name)] {
        headers.push(u8::try_from(header.len()).unwrap());
        headers.extend(header.as_bytes());
        headers.push(7);
        headers.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
        headers.extend(value.as_bytes());
    }
    let total = 12 + headers.len() + payload.len() + 4;
    let mut bytes = u32::try_from(total).unwrap().to_be_bytes().to_vec();
    bytes.extend(u32::try_from(headers.len()).unwrap().to_be_bytes());
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes.extend(headers);
    bytes.extend(payload.as_bytes());
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes
}

fn event(name: &str, payload: &str) -> Vec<u8> {
    message(("event", ":event-type"), name, payload)
}

fn converse() -> Vec<Vec<u8>> {
    vec![
        event("messageStart", r#"{"role":"assistant"}"#),
        event(
            "contentBlockDelta",
            r#"{"contentBlockIndex":0,"delta":{"text":"Hi"}}"#,
        ),
        event("messageStop", r#"{"stopReason":"end_turn"}"#),
        event(
            "metadata",
            r#"{"usage":{"inputTokens":1,"outputTokens":2}}"#,
        ),
    ]
}

#[test]
fn an_event_stream_is_read_by_its_frames() {
    let seen = Seen::ok("bedrock.converse", converse().concat());
    assert_eq!(
        (seen.state(), seen.text().as_deref()),
        ("complete", Some("Hi"))
    );
    // Cut at every byte before the frame of the reason is whole.
    let whole = converse().concat();
    let stop: usize = converse().iter().take(3).map(Vec::len).sum();
    for end in 12..stop {
        let seen = Seen::ok("bedrock.converse", &whole[..end]);
        assert_eq!(seen.state(), "error", "{end}");
    }
    assert_eq!(
        Seen::ok("bedrock.converse", &whole[..stop]).state(),
        "complete"
    );
}

#[test]
fn a_frame_whose_checksum_does_not_fit_is_not_believed() {
    let frames = converse();
    for (frame, name) in [(1, "text"), (2, "reason")] {
        let mut frames = frames.clone();
        let middle = frames[frame].len() - 8;
        frames[frame][middle] ^= 1;
        let seen = Seen::ok("bedrock.converse", frames.concat());
        assert_eq!(seen.verdict(), ("error", Some("malformed_body")), "{name}");
        assert!(seen.has_fact("checksum_errors"), "{name}");
    }
    let mut prelude = frames.concat();
    let second = frames[0].len();
    prelude[second] ^= 1;
    let seen = Seen::ok("bedrock.converse", prelude);
    assert_eq!(seen.verdict(), ("error", Some("malformed_body")));
}

#[test]
fn an_exception_in_an_event_stream_is_an_error_of_its_type() {
    for (name, class) in [
        ("throttlingException", "rate_limit"),
        ("modelStreamErrorException", "server_error"),
        ("internalServerException", "server_error"),
        ("serviceUnavailableException", "overloaded"),
        ("validationException", "invalid_request"),
    ] {
        let exception = message(("exception", ":exception-type"), name, r#"{"message":"m"}"#);
        let body = [converse()[1].clone(), exception].concat();
        let seen = Seen::ok("bedrock.converse", body);
        assert_eq!(seen.verdict(), ("error", Some(class)), "{name}");
        assert_eq!(seen.text().as_deref(), Some("Hi"));
    }
}

#[test]
fn what_passes_a_bound_is_left_out_and_said_or_refused() {
    let choices = r#"{"message":{"content":"a"},"finish_reason":"stop"},"#.repeat(3_000);
    let body = format!(r#"{{"choices":[{}]}}"#, choices.trim_end_matches(','));
    let seen = chat(body);
    assert!(seen.has_fact("choices_left_out"));
    let kept = seen.read(|reading, _| reading.choices.len()).unwrap();
    assert_eq!((kept, seen.state()), (1024, "complete"));
    let calls = r#"{"id":"c","function":{"name":"f","arguments":"{}"}},"#.repeat(5_000);
    let calls = calls.trim_end_matches(',');
    let body = format!(
        r#"{{"choices":[{{"message":{{"tool_calls":[{calls}]}},"finish_reason":"stop"}}]}}"#
    );
    let seen = chat(body);
    assert!(seen.has_fact("calls_left_out"));
    let kept = seen.read(|reading, _| reading.tool_calls.len()).unwrap();
    assert_eq!((kept, seen.state()), (4096, "tool_call"));
    let refusal = chat("data:1\n\n".repeat(750_001))
        .read(|_, _| ())
        .unwrap_err();
    assert_eq!(refusal.code, "too_many_events");
    assert_eq!(refusal.detail, "the body has more than 750000 events");
}

#[test]
fn many_reasons_of_one_answer_never_make_it_complete() {
    let reasons = |words: &[String]| -> String {
        let event = |word: &String| {
            format!(
                r#"{{"choices":[{{"index":0,"delta":{{"content":"a"}},"finish_reason":"{word}"}}]}}"#
            )
        };
        let events: Vec<_> = words.iter().map(event).collect();
        let events: Vec<_> = events.iter().map(String::as_str).collect();
        sse(&events)
    };
    let mut words: Vec<_> = (0..200).map(|word| format!("word{word}")).collect();
    words.insert(0, "stop".to_owned());
    words.push("length".to_owned());
    assert_eq!(chat(reasons(&words)).state(), "unknown");
    let same = vec!["stop".to_owned(); 5_000];
    assert_eq!(chat(reasons(&same)).state(), "complete");
}
