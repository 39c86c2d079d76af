use std::convert::Infallible;

use model::exchange::TransportOutcome;
use proptest::prelude::*;

use super::*;

fn contents(file: &str, choice: Choice) -> Vec<Entry> {
    let mut found = Vec::new();
    let read: Result<(), Infallible> = read(file.as_bytes(), choice, &mut |entry| {
        found.push(entry);
        Ok(())
    });
    assert_eq!(read, Ok(()));
    found
}

/// The one exchange of a file with this response.
fn of(response: &str) -> crate::recording::Recorded {
    let file = format!(
        "{{\"log\":{{\"entries\":[{{\"request\":{{\"method\":\"POST\",\"url\":\"/v1/messages\"}},\
         \"response\":{response}}}]}}}}"
    );
    let mut found = contents(&file, Choice::default());
    assert_eq!(found.len(), 1);
    let content = found.remove(0).content;
    let Content::Recorded(recorded) = content else {
        panic!("{response}: {content:?}");
    };
    *recorded
}

#[test]
fn names_of_network_errors_become_words() {
    for (name, word) in [
        ("net::ERR_NAME_NOT_RESOLVED", Some(ExceptionType::DnsError)),
        ("net::ERR_CERT_DATE_INVALID", Some(ExceptionType::TlsError)),
        (
            "net::ERR_CONNECTION_TIMED_OUT",
            Some(ExceptionType::ConnectTimeout),
        ),
        (
            "net::ERR_CONNECTION_REFUSED",
            Some(ExceptionType::ConnectError),
        ),
        (
            "net::ERR_BLOCKED_BY_CLIENT",
            Some(ExceptionType::ClientGone),
        ),
        ("ECONNRESET", Some(ExceptionType::ConnectionReset)),
        ("net::ERR_FAILED", None),
    ] {
        let found = of(&format!("{{\"status\":0,\"_error\":\"{name}\"}}")).exchange;
        assert_eq!(found.exception_type, word, "{name}");
        assert_eq!(found.outcome, TransportOutcome::NoResponse, "{name}");
    }
    let late = of("{\"status\":200,\"_error\":\"net::ERR_ABORTED\"}").exchange;
    assert_eq!(
        late.exception_type, None,
        "a status says that a response came"
    );
}

#[test]
fn only_headers_of_an_undone_encoding_are_left_out() {
    let with = |name: &str, value: &str| {
        let found = of(&format!(
            "{{\"status\":200,\"headers\":[{{\"name\":\"{name}\",\"value\":\"{value}\"}},\
             {{\"name\":\"content-length\",\"value\":\"9\"}}],\"content\":{{\"text\":\"{{}}\"}}}}"
        ));
        (found.exchange.headers.len(), found.exchange.headers_dropped)
    };
    let both = ["content-encoding", "content-length"].map(str::to_owned);
    assert_eq!(with("Content-Encoding", "gzip"), (0, both.to_vec()));
    assert_eq!(with("Content-Encoding", "identity"), (2, Vec::new()));
    assert_eq!(with("x-request-id", "gzip"), (2, Vec::new()));
}

#[test]
fn the_first_error_of_the_caller_ends_what_is_handed_out() {
    let file = "{\"log\":{\"entries\":[1,2,3]}}";
    let mut seen = Vec::new();
    let read = read(file.as_bytes(), Choice::default(), &mut |entry| {
        seen.push(entry.number);
        if entry.number == 2 {
            Err("enough")
        } else {
            Ok(())
        }
    });
    assert_eq!((read, seen), (Err("enough"), vec![1, 2]));
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let found = contents("\u{feff}{\"log\":{\"entries\":[]}}", Choice::default());
    assert!(found.is_empty(), "{found:?}");
}

proptest! {
    #[test]
    fn any_text_is_answered(text in "[\\[\\]{}:,\"a-z0-9 ]{0,60}") {
        let file = format!("{{\"log\":{{\"entries\":[{text}]}}}}");
        let choice = Choice { dialect: None, all: true };
        for (place, entry) in contents(&file, choice).iter().enumerate() {
            prop_assert_eq!(entry.number, u64::try_from(place).unwrap() + 1);
        }
    }
}
