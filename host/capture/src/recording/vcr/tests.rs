use std::convert::Infallible;

use proptest::prelude::*;

use super::*;
use crate::recording::Recorded;

fn contents(file: &str) -> Vec<Entry> {
    let choice = Choice {
        dialect: None,
        all: true,
    };
    let mut found = Vec::new();
    let read: Result<(), Infallible> = read(file.as_bytes(), choice, &mut |entry| {
        found.push(entry);
        Ok(())
    });
    assert_eq!(read, Ok(()));
    found
}

/// The one exchange of a cassette with this response, in flow form.
fn of(response: &str) -> Recorded {
    let mut found = contents(&format!(
        "interactions:\n- request: {{method: POST, uri: /v1/messages}}\n  response: {response}\n"
    ));
    assert_eq!(found.len(), 1);
    let content = found.remove(0).content;
    let Content::Recorded(recorded) = content else {
        panic!("{response}: {content:?}");
    };
    *recorded
}

fn body(response: &str) -> (Option<Vec<u8>>, Exactness) {
    let found = of(response);
    (found.exchange.response_body, found.exactness)
}

#[test]
fn bodies_are_given_in_many_forms() {
    let text = |bytes: &[u8]| (Some(bytes.to_vec()), Exactness::Decoded);
    let bytes = |bytes: &[u8]| (Some(bytes.to_vec()), Exactness::AsGiven);
    let none = (None, Exactness::NotPreserved);
    for (response, expected) in [
        ("{status: 200, body: a}", text(b"a")),
        ("{status: 200, body: ''}", text(b"")),
        ("{status: 200, body: {string: a}}", text(b"a")),
        ("{status: 200, content: 'true'}", text(b"true")),
        ("{status: 200, body: !!str 1}", text(b"1")),
        ("{status: 200, body: !python/unicode a}", text(b"a")),
        ("{status: 200, body: !!binary /w==}", bytes(b"\xff")),
        ("{status: 200, body: !binary '/w=='}", bytes(b"\xff")),
        (
            "{status: 200, body: {string: !!binary '/w =='}}",
            bytes(b"\xff"),
        ),
        ("{status: 200, body: {base64_string: /w==}}", bytes(b"\xff")),
        ("{status: 200, body: null}", none.clone()),
        ("{status: 200, body: {string: }}", none.clone()),
        ("{status: 200}", none),
    ] {
        assert_eq!(body(response), expected, "{response}");
    }
}

#[test]
fn a_body_that_is_said_to_be_gzip_and_is_not_was_decoded() {
    let gzip = "status: 200, headers: {content-encoding: gzip, content-length: 2}";
    let decoded = of(&format!("{{{gzip}, body: !!binary e30=}}"));
    assert_eq!(decoded.exactness, Exactness::Decoded);
    assert_eq!(decoded.exchange.headers, []);
    let kept = of(&format!("{{{gzip}, body: !!binary H4s=}}"));
    assert_eq!(kept.exactness, Exactness::AsGiven);
    assert_eq!(kept.exchange.headers.len(), 2);
}

#[test]
fn a_status_stands_in_any_of_four_places() {
    for response in [
        "{status: {code: 201, message: Created}}",
        "{status: 201 Created, code: 201}",
        "{status: 201}",
        "{status_code: '201'}",
    ] {
        assert_eq!(of(response).exchange.status, Some(201), "{response}");
    }
}

#[test]
fn scalars_of_a_parsed_body_keep_their_types_and_their_writing() {
    let json = |yaml: &str| {
        let (body, exactness) = body(&format!("{{status: 200, parsed_body: {{v: {yaml}}}}}"));
        assert_eq!(exactness, Exactness::Reserialised);
        String::from_utf8(body.unwrap()).unwrap()
    };
    for (yaml, value) in [
        ("1.50", "1.50"),
        ("-0", "-0"),
        ("1.0e-05", "1.0e-05"),
        ("'1'", "\"1\""),
        ("True", "true"),
        ("~", "null"),
        ("\"\"", "\"\""),
        ("a b", "\"a b\""),
        ("01", "\"01\""),
        ("\"\\n\\u00e9\"", "\"\\n\u{e9}\""),
        ("[{}, []]", "[{},[]]"),
    ] {
        assert_eq!(json(yaml), format!("{{\"v\":{value}}}"), "{yaml}");
    }
}

#[test]
fn a_value_written_out_keeps_its_bound() {
    let leaf = Node::new(Kind::Text("x".repeat(100)));
    let list = Node::new(Kind::List(vec![leaf; 10]));
    assert_eq!(
        node::to_json(&list, 1031).map(|json| json.len()),
        Some(1031)
    );
    assert_eq!(node::to_json(&list, 1030), None);
}

#[test]
fn the_first_error_of_the_caller_ends_what_is_handed_out() {
    for file in ["interactions: [1, 2, 3]", "{\"interactions\": [1, 2, 3]}"] {
        let mut seen = Vec::new();
        let read = read(file.as_bytes(), Choice::default(), &mut |entry| {
            seen.push(entry.number);
            if entry.number == 2 {
                Err("enough")
            } else {
                Ok(())
            }
        });
        assert_eq!((read, seen), (Err("enough"), vec![1, 2]), "{file}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_answered(text in "[-\\[\\]{}:,?&*!|>'\"%#a-c0-2 \n\t\r]{0,60}") {
        contents(&text);
        contents(&format!("interactions:\n- {text}"));
    }
}
