//! Content-codings, as declared and as they are.

use std::io::Write as _;

use crate::common::Seen;

const BODY: &str = r#"{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}"#;

/// The body in every coding, made by other programs.
const GZIP: &[u8] = include_bytes!("coded/body.gz");
const ZLIB: &[u8] = include_bytes!("coded/body.zlib");
const DEFLATE: &[u8] = include_bytes!("coded/body.deflate");
const BROTLI: &[u8] = include_bytes!("coded/body.br");
const ZSTD: &[u8] = include_bytes!("coded/body.zst");

fn seen(body: &[u8], coding: &str) -> Seen {
    Seen::ok("openai.chat", body).header("content-encoding", coding)
}

#[test]
fn every_coding_is_removed_and_citations_count_in_what_is_left() {
    for (coded, coding) in [
        (GZIP, "gzip"),
        (GZIP, "x-gzip"),
        (GZIP, "GZIP"),
        (ZLIB, "deflate"),
        (DEFLATE, "deflate"),
        (BROTLI, "br"),
        (ZSTD, "zstd"),
    ] {
        let seen = seen(coded, coding);
        assert_eq!(seen.state(), "complete", "{coding}");
        assert!(seen.has_fact("content_coding"), "{coding}");
        assert!(!seen.has_fact("content_coding_misdeclared"), "{coding}");
        seen.read(|_, body| assert_eq!(body, BODY.as_bytes(), "{coding}"))
            .unwrap();
    }
}

#[test]
fn a_coding_that_the_header_does_not_name_is_seen_in_the_bytes() {
    for coded in [GZIP, ZSTD] {
        let seen = Seen::ok("openai.chat", coded);
        assert_eq!(seen.state(), "complete");
        assert!(seen.has_fact("content_coding_misdeclared"));
    }
}

#[test]
fn a_header_over_a_plain_body_is_not_believed() {
    for coding in ["gzip", "deflate", "br", "zstd", "zzz"] {
        let seen = seen(BODY.as_bytes(), coding);
        assert_eq!(seen.state(), "complete", "{coding}");
        assert!(seen.has_fact("content_coding_misdeclared"), "{coding}");
        assert!(!seen.has_fact("content_coding"), "{coding}");
    }
    let identity = seen(BODY.as_bytes(), "identity");
    assert!(!identity.has_fact("content_coding_misdeclared"));
}

#[test]
fn codings_on_top_of_each_other_are_removed_from_the_outside() {
    let seen = seen(include_bytes!("coded/body.gz.br"), "gzip, br");
    assert_eq!(seen.state(), "complete");
    let seen = Seen::ok("openai.chat", include_bytes!("coded/body.gz.br"))
        .header("content-encoding", "gzip")
        .header("content-encoding", "br");
    assert_eq!(seen.state(), "complete");
}

#[test]
fn a_coding_that_is_not_known_is_refused_and_names_it() {
    let refusal = seen(b"\x01\x02\x03", "sdch").read(|_, _| ()).unwrap_err();
    assert_eq!(refusal.code, "unsupported_content_coding");
    assert_eq!(
        refusal.detail,
        "the header content-encoding names \"sdch\"; known are gzip, deflate, br and zstd"
    );
}

#[test]
fn coded_bytes_that_end_early_are_never_complete() {
    for (coded, coding) in [
        (GZIP, "gzip"),
        (ZLIB, "deflate"),
        (DEFLATE, "deflate"),
        (BROTLI, "br"),
        (ZSTD, "zstd"),
    ] {
        for end in 0..coded.len() {
            let state = seen(&coded[..end], coding).state();
            assert_eq!(state, "error", "{coding} {end}");
        }
    }
}

#[test]
fn coded_bytes_with_a_bit_turned_are_never_another_answer() {
    for (coded, coding) in [(GZIP, "gzip"), (ZSTD, "zstd"), (ZLIB, "deflate")] {
        for bit in 0..coded.len() * 8 {
            let mut turned = coded.to_vec();
            turned[bit / 8] ^= 1 << (bit % 8);
            let seen = seen(&turned, coding);
            // A flag of the header may carry no meaning; then nothing changed.
            match seen.read(|reading, body| (reading.state.as_str(), body == BODY.as_bytes())) {
                Ok((state, same)) => assert!(same || state == "error", "{coding} {bit}: {state}"),
                Err(refusal) => assert_eq!(refusal.code, "decoded_too_large", "{coding} {bit}"),
            }
        }
    }
}

#[test]
fn a_body_that_would_fill_the_memory_is_refused() {
    // Zeros, a thousand to one: more than the bound, from 70 KB.
    let mut coded = Vec::new();
    coded.write_all(include_bytes!("coded/zeros.gz")).unwrap();
    let refusal = seen(&coded, "gzip").read(|_, _| ()).unwrap_err();
    assert_eq!(refusal.code, "decoded_too_large");
    assert_eq!(refusal.detail, "the decoded body passes 66060288 bytes");
}
