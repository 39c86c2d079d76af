//! What refuses a file, with the place, what was expected and what was found.

use serde_json::json;

use super::{import, refusal, summary};
use crate::ledger::row_count;
use crate::support::{TestHome, root};

const GOOD: &str = r#"{"request":{"method":"POST","url":"/v1/messages"},"response":{"status":200,"content":{"text":"{}"}}}"#;

fn har(entries: &str) -> String {
    format!("{{\"log\":{{\"entries\":[{GOOD},{entries}]}}}}")
}

#[test]
fn a_malformed_har_file_is_refused_whole() {
    let cases = [
        (
            "[]".to_owned(),
            "FILE: `log.entries`: expected an array, found another type",
        ),
        (
            "{}".to_owned(),
            "FILE: `log.entries`: expected an array, found nothing",
        ),
        (
            "{\"log\":{\"entries\":[],\"entries\":[]}}".to_owned(),
            "FILE: `log.entries`: expected an array, found more than one",
        ),
        (
            har("{"),
            "FILE: expected JSON, found a syntax error at line 1 column 122",
        ),
        (
            har("1"),
            "FILE: entry 2: `entry`: expected an object, found a number",
        ),
    ];
    let home = TestHome::new();
    for (bytes, expected) in cases {
        let file = home.write("a.har", bytes.as_bytes());
        assert_eq!(refusal(&home, "har", &file, &[]), expected, "{bytes}");
    }
    let file = home.write("a.har", b"{\"log\":\xff");
    let expected = "FILE: expected UTF-8, found another byte at place 8";
    assert_eq!(refusal(&home, "har", &file, &[]), expected);
}

#[test]
fn a_malformed_entry_of_a_har_file_is_named() {
    let entry = |request: &str, response: &str| {
        har(&format!(
            "{{\"request\":{request},\"response\":{response}}}"
        ))
    };
    let request = r#"{"method":"POST","url":"/v1/messages"}"#;
    let cases = [
        (
            entry("{\"method\":\"POST\"}", "{}"),
            "FILE: entry 2: `request.url`: expected a URL, found nothing",
        ),
        (
            entry(request, "null"),
            "FILE: entry 2: `response`: expected an object, found null",
        ),
        (
            entry(request, "{\"status\":700}"),
            "FILE: entry 2: `response.status`: expected an integer from 100 to 599, or 0, found \
             another number",
        ),
        (
            entry(request, "{\"status\":0,\"content\":{\"text\":\"secret\"}}"),
            "FILE: entry 2: the exchange that it gives: `response.status`: expected an integer \
             from 100 to 599 beside a body unless `outcome` is `interrupted`, found none",
        ),
        (
            entry(
                request,
                "{\"status\":200,\"content\":{\"text\":\"/w=\",\"encoding\":\"base64\"}}",
            ),
            "FILE: entry 2: `response.content.text`: expected standard base64 with padding, found \
             wrong padding at the end",
        ),
        (
            entry(
                request,
                "{\"status\":200,\"content\":{\"text\":\"\",\"encoding\":\"hex\"}}",
            ),
            "FILE: entry 2: `response.content.encoding`: expected one of base64, found another \
             text",
        ),
        (
            entry(
                request,
                "{\"status\":200,\"content\":{\"text\":\"\\ud800\"}}",
            ),
            "FILE: entry 2: `response.content.text`: expected Unicode text, found the escape of a \
             lone surrogate",
        ),
    ];
    let home = TestHome::new();
    for (bytes, expected) in cases {
        let file = home.write("a.har", bytes.as_bytes());
        assert_eq!(refusal(&home, "har", &file, &[]), expected, "{bytes}");
    }
}

#[test]
fn what_stands_before_a_fault_comes_in_when_it_is_asked_for() {
    let home = TestHome::new();
    let broken = har("{");
    let file = home.write("a.har", broken.as_bytes());
    let (lines, counts) = import(&home, "har", &[&file], &["--keep-going"]);
    let expected = json!({"imported": 1, "duplicates": 0, "refused": 1, "skipped": 0});
    assert_eq!(counts, expected);
    assert_eq!(
        lines[0],
        json!({"file": file, "line": 2, "external_id": null, "outcome": "refused",
            "code": "malformed_exchange",
            "detail": "expected JSON, found a syntax error at line 1 column 122"})
    );
    assert_eq!(lines[1]["outcome"], "imported");
    let strict = [
        "import",
        "har",
        file.to_str().unwrap(),
        "--keep-going",
        "--strict",
    ];
    assert_eq!(home.run(&strict).code, 4);
    let count = row_count(&home);
    let cut = &broken[..broken.len() - 4];
    let file = home.write("a.har", cut.as_bytes());
    let message = refusal(&home, "har", &file, &[]);
    assert!(message.starts_with("FILE: expected JSON, found the end of the file at line 1"));
    let good = home.write("good.har", har(GOOD).as_bytes());
    let (_, counts) = import(&home, "har", &[&good], &[]);
    assert_eq!(counts, summary(0, 2, 0));
    assert_eq!(row_count(&home), count);
}

/// A cassette of one interaction, after some other members.
fn cassette(before: &str, response: &str) -> String {
    format!(
        "{before}interactions:\n- request: {{method: POST, uri: /v1/messages}}\n  \
         response: {response}\n"
    )
}

#[test]
fn a_malformed_cassette_is_refused_whole() {
    let cases = [
        (
            String::new(),
            "FILE: `interactions`: expected an array, found nothing",
        ),
        (
            "- 1\n".to_owned(),
            "FILE: `interactions`: expected an array, found nothing",
        ),
        (
            "interactions: 1\n".to_owned(),
            "FILE: `interactions`: expected an array, found another type",
        ),
        (
            "interactions: []\n---\na: 1\n".to_owned(),
            "FILE: expected one YAML document, found another at line 2",
        ),
        (
            cassette("", "{status: [200}"),
            "FILE: expected YAML, found a syntax error at line 3 column 26",
        ),
        (
            cassette("", "{status: 200, body: [1]}"),
            "FILE: interaction 1: `response.body`: expected a string, bytes, a mapping or null, \
             found an array",
        ),
        (
            cassette("", "{status: 200, body: !!binary '?'}"),
            "FILE: interaction 1: `response.body`: expected standard base64 with padding, found \
             another character at position 1",
        ),
        (
            cassette("", "{status: {code: 42}}"),
            "FILE: interaction 1: `response.status.code`: expected an integer from 100 to 599, \
             found another text",
        ),
        (
            cassette("", "{status: 200, status: 200}"),
            "FILE: expected each key of a mapping once and as a scalar, found a key again at line \
             3",
        ),
        (
            cassette("", "&a {status: *a}"),
            "FILE: expected an alias of a value before it, found one of a value around it at line \
             3",
        ),
        (
            "interactions:\n- request: 1\n".to_owned(),
            "FILE: interaction 1: `request`: expected a mapping, found a number",
        ),
        (
            "{\"interactions\": [{\"request\": []}]}".to_owned(),
            "FILE: interaction 1: `request`: expected a mapping, found an array",
        ),
    ];
    let home = TestHome::new();
    for (text, expected) in cases {
        let file = home.write("a.yaml", text.as_bytes());
        assert_eq!(refusal(&home, "vcr", &file, &[]), expected, "{text}");
    }
}

#[test]
fn aliases_that_stand_for_too_much_and_depth_without_end_are_refused() {
    let home = TestHome::new();
    // Nine references to the level before, ten levels: 9^10 values.
    let levels = (1..=10).map(|level| {
        let before = vec![format!("*a{}", level - 1); 9].join(", ");
        format!("a{level}: &a{level} [{before}]\n")
    });
    let bomb = ["a0: &a0 [x]\n".to_owned()].into_iter().chain(levels);
    let bomb = bomb.collect::<Vec<_>>().concat();
    let good = "{status: 200, body: '{}'}";
    let file = home.write("bomb.yaml", cassette(&bomb, good).as_bytes());
    let expected = "FILE: expected at most 1048576 values in one interaction, aliases followed, \
                    found more at line 7";
    assert_eq!(refusal(&home, "vcr", &file, &[]), expected);

    // The same, inside the body that would be written out.
    let body = format!(
        "{{status: 200, parsed_body: {{{}}}}}",
        bomb.replace('\n', ", ")
    );
    let file = home.write("body.yaml", cassette("", &body).as_bytes());
    let expected = "FILE: expected at most 1048576 values in one interaction, aliases followed, \
                    found more at line 3";
    assert_eq!(refusal(&home, "vcr", &file, &[]), expected);

    let blocks: Vec<_> = (0..200)
        .map(|depth| format!("{}a:\n", " ".repeat(depth)))
        .collect();
    let flows = format!("a: {}{}\n", "[".repeat(200), "]".repeat(200));
    let aliases: Vec<_> = (1..=200)
        .map(|level| format!("a{level}: &a{level} [*a{}]\n", level - 1))
        .collect();
    for (deep, line) in [
        (blocks.concat(), 130),
        (flows, 1),
        (format!("a0: &a0 x\n{}", aliases.concat()), 129),
    ] {
        let file = home.write("deep.yaml", cassette(&deep, good).as_bytes());
        let expected =
            format!("FILE: expected at most 128 levels in a value, found more at line {line}");
        assert_eq!(refusal(&home, "vcr", &file, &[]), expected);
    }
    let deep = format!(
        "{{\"interactions\": [{}{}]}}",
        "[".repeat(200),
        "]".repeat(200)
    );
    let file = home.write("deep.json", deep.as_bytes());
    let expected = "FILE: interaction 1: the line: expected at most 128 levels in a member, found \
                    more";
    assert_eq!(refusal(&home, "vcr", &file, &[]), expected);
}

#[test]
fn a_malformed_line_of_a_batch_is_refused_with_its_number() {
    let home = TestHome::new();
    let cases = [
        (
            "{",
            "FILE:2: the line: expected JSON, found the end of the line at column 1",
        ),
        (
            "{\"response\":{}}",
            "FILE:2: `custom_id`: expected a string, found nothing",
        ),
        (
            "{\"custom_id\":\"a\"}",
            "FILE:2: `response`: expected an object unless `error` is one, found nothing",
        ),
        (
            "{\"custom_id\":\"a\",\"response\":{\"body\":{}}}",
            "FILE:2: `response.status_code`: expected an integer from 100 to 599, found nothing",
        ),
        (
            "{\"custom_id\":\"\",\"response\":{\"status_code\":200,\"body\":{\"object\":\
             \"response\"}}}",
            "FILE:2: the exchange that it gives: `id`: expected a text that is not empty and has \
             no control characters, found another text",
        ),
    ];
    for (line, expected) in cases {
        let file = home.write("a.jsonl", format!("\n{line}\n").as_bytes());
        assert_eq!(
            refusal(&home, "openai-batch", &file, &[]),
            expected,
            "{line}"
        );
    }
    let output = root().join("tests/fixtures/batch.jsonl");
    let request = r#"{"custom_id":"a","method":"POST","url":"/v1/responses","body":{}}"#;
    let requests = home.write(
        "requests.jsonl",
        format!("{request}\n{request}\n1\n").as_bytes(),
    );
    let name = requests.to_str().unwrap();
    let options = ["--requests", name];
    let message = refusal(&home, "openai-batch", &output, &options).replace(name, "REQUESTS");
    assert_eq!(
        message,
        "REQUESTS:2: `custom_id`: expected each once, found one again\n\
         REQUESTS:3: the line: expected an object, found a number"
    );
}

#[test]
fn a_recording_that_is_too_long_or_no_plain_file_is_not_read() {
    let home = TestHome::new();
    let long = home.write("long.har", b"");
    let file = std::fs::File::options().write(true).open(&long).unwrap();
    // A hole: no bytes on the disk.
    file.set_len((256 << 20) + 1).unwrap();
    for form in ["har", "vcr"] {
        let name = long.to_str().unwrap();
        let message = format!("{name}: expected at most 268435456 bytes, found more");
        let refused = home.refuses(&["import", form, name], 2);
        assert_eq!(refused, ("usage".to_owned(), message));
        let message = "/dev/null is not a plain file: an import reads its source twice";
        let refused = home.refuses(&["import", form, "/dev/null"], 2);
        assert_eq!(refused, ("usage".to_owned(), message.to_owned()));
    }
}
