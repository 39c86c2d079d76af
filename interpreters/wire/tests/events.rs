//! Server-sent events.

use proptest::prelude::*;
use wire::sse::{Events, Shape};

fn datas(body: &str) -> Vec<String> {
    Events::new(body.as_bytes(), 0)
        .map(|event| String::from_utf8(event.data.of(body.as_bytes()).to_vec()).unwrap())
        .collect()
}

proptest! {
    #[test]
    fn events_are_found_whatever_ends_their_lines(
        lines in prop::collection::vec("[a-z{}:\" ]{1,12}", 1..8),
        ends in prop::collection::vec(0..3_usize, 32),
    ) {
        let mut body = String::new();
        let mut ends = ends.into_iter().map(|end| ["\n", "\r", "\r\n"][end]).cycle();
        for line in &lines {
            // A carriage return before a line feed would be one line end.
            let (first, second) = (ends.next().unwrap(), ends.next().unwrap());
            let second = if first == "\r" && second == "\n" { "\r\n" } else { second };
            let blank = if first == "\r" && second.starts_with('\n') { "\r" } else { second };
            body.push_str("data: ");
            body.push_str(line);
            body.push_str(first);
            body.push_str(blank);
        }
        // A carriage return that meets a line feed of the next end joins events.
        if !body.contains("\r\n\n") && !body.contains("\r\r\n") {
            prop_assert_eq!(datas(&body), lines);
        }
    }

    #[test]
    fn no_bytes_stop_the_events(bytes in prop::collection::vec(any::<u8>(), 0..128)) {
        for event in Events::new(&bytes, 0) {
            prop_assert!(event.data.start <= event.data.end && event.data.end <= bytes.len());
        }
    }
}

#[test]
fn every_shape_is_told() {
    let body = "data: {\"a\":\ndata: 1}\n\n{\"b\":\n2}\ndata: 3";
    let found: Vec<_> = Events::new(body.as_bytes(), 0)
        .map(|event| (event.shape, event.terminated))
        .collect();
    assert_eq!(
        found,
        [
            (Shape::Folded, true),
            (Shape::Bare, true),
            (Shape::Plain, false)
        ]
    );
}

#[test]
fn names_are_kept_and_do_not_outlive_their_event() {
    let body = "event: a\ndata: 1\n\ndata: 2\n\nevent: b\n\ndata: 3\n\n";
    let names: Vec<_> = Events::new(body.as_bytes(), 0)
        .map(|event| event.name.map(|name| name.of(body.as_bytes())))
        .collect();
    assert_eq!(names, [Some(&b"a"[..]), None, None]);
}

#[test]
fn lines_that_are_nothing_are_counted() {
    let mut events = Events::new(b"hello\n\n<html>\nid: 1\nretry: 2\n: c\ndata: 1\n\n", 0);
    assert_eq!(events.by_ref().count(), 1);
    assert_eq!(events.stray_lines, 2);
}
