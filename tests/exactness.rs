//! The bytes that a provider says it sent are the bytes that are kept, whatever
//! became of the exchange. The provider and this program are processes of their own.

mod wire;

use std::fs;
use std::net::{SocketAddrV4, TcpStream};
use std::os::fd::OwnedFd;

use model::Digest;
use model::bounds::EXCHANGE_BYTES_MAX;
use rustix::net::{AddressFamily, SocketType};
use serde_json::{Value, json};

use crate::recording_support::{
    CHAT_BODY, Provider, REQUEST, call_once, chat_reply, home_with, observation,
};
use crate::support::{TestHome, text};

const CHAT: &str = "openai.chat";

/// What is kept of a reply's body.
enum Kept {
    /// What the provider says it sent of it.
    Sent,
    /// No artifact at all: no head arrived.
    Nothing,
    /// These bytes.
    Bytes(&'static [u8]),
}

/// One exchange and everything that is recorded of it.
struct Case {
    name: &'static str,
    reply: Value,
    outcome: &'static str,
    status: Option<u16>,
    exception: Option<&'static str>,
    generation: &'static str,
    kept: Kept,
}

/// A reply that arrives whole.
fn whole(name: &'static str, status: u16, generation: &'static str, reply: Value) -> Case {
    let mut reply = reply;
    reply["status_line"] = json!(format!("HTTP/1.1 {status} Reason"));
    Case {
        name,
        reply,
        outcome: if status < 400 {
            "response_received"
        } else {
            "http_error"
        },
        status: Some(status),
        exception: None,
        generation,
        kept: Kept::Sent,
    }
}

/// A reply of which no head arrives.
fn headless(name: &'static str, exception: &'static str, reply: Value) -> Case {
    Case {
        name,
        reply,
        outcome: "no_response",
        status: None,
        exception: Some(exception),
        generation: "unknown",
        kept: Kept::Nothing,
    }
}

/// A reply that breaks off after its head.
fn broken(name: &'static str, exception: &'static str, reply: Value) -> Case {
    Case {
        name,
        reply,
        outcome: "interrupted",
        status: Some(200),
        exception: Some(exception),
        generation: "unknown",
        kept: Kept::Sent,
    }
}

/// Makes the exchange in a home of its own and asserts everything recorded of it.
fn holds(case: &Case, more: &str) {
    let name = case.name;
    let mut provider = Provider::start(&json!([case.reply]));
    let home = home_with(&provider.url(), CHAT, more);
    let called = call_once(&home, REQUEST);
    provider.wait_request(1);
    let receipts = provider.receipts();
    assert_eq!(receipts.len(), 1, "{name}: {receipts:?}");
    assert_eq!(receipts[0]["body_sha256"], sha256(REQUEST), "{name}");
    assert_eq!(receipts[0]["method"], "POST", "{name}");
    let kept = match case.kept {
        Kept::Nothing => None,
        Kept::Bytes(bytes) => Some((sha256(bytes), json!(bytes.len()))),
        Kept::Sent => {
            provider.wait_sent(1);
            let sent = provider.sent().remove(0);
            Some((sent["body_sha256"].clone(), sent["body_length"].clone()))
        }
    };
    is_recorded(&home, &called, case, kept);
}

fn sha256(bytes: &[u8]) -> Value {
    json!(Digest::of(bytes))
}

/// Asserts what was printed and recorded of one attempt, and the bytes in the home.
fn is_recorded(home: &TestHome, called: &Value, case: &Case, kept: Option<(Value, Value)>) {
    let name = case.name;
    let attempts = called["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 1, "{name}: {called}");
    let printed = &attempts[0];
    let observed = observation(home, text(printed, "attempt"));
    for record in [printed, &observed] {
        let found = json!([
            record["index"],
            record["transport_outcome"],
            record["http_status"],
            record["exception_type"],
        ]);
        let expected = json!([1, case.outcome, case.status, case.exception]);
        assert_eq!(found, expected, "{name}: {record}");
    }
    assert_eq!(printed["generation_state"], case.generation, "{name}");
    assert_eq!(observed["provider"], "kestrel", "{name}");
    let request = &observed["request_body_artifact"];
    assert_eq!(request["sha256"], sha256(REQUEST), "{name}");
    assert_eq!(
        fs::read(home.artifact(text(request, "sha256"))).unwrap(),
        REQUEST,
        "{name}"
    );

    let response = &observed["response_body_artifact"];
    assert_eq!(*response, printed["response"], "{name}");
    let found = match response {
        Value::Null => None,
        artifact => Some((artifact["sha256"].clone(), artifact["length"].clone())),
    };
    assert_eq!(found, kept, "{name}");
    if let Some((digest, _)) = kept {
        let bytes = fs::read(home.artifact(digest.as_str().unwrap())).unwrap();
        assert_eq!(sha256(&bytes), digest, "{name}");
    }
    home.must(&["verify"]);
}

#[test]
fn whole_replies_are_kept_byte_for_byte() {
    let html = "<!DOCTYPE html><title>403</title>\r\n<p>error code: 1010\r\n";
    let gzip = "H4sIAAAAAAACAxWLQQoCMRAEvyJ9jiIe8w5vIhJ2RzOYnZF0QCHk7xtPVVBUx+arFES8ha1KOV4\
                QsGTXRYh461Bb5Yd4DtiETC9B7KheJpFIZUvW/o9bk2kR168fslQ3njACnmrK/KiS6DYzm38w7mMHe7\
                Jc/HsAAAA=";
    let error =
        |class: &str| json!({"body_utf8": format!("{{\"error\":{{\"type\":\"{class}\"}}}}")});
    let gzipped = json!({
        "headers": [["content-type", "application/json"], ["content-encoding", "gzip"]],
        "body_b64": gzip,
    });
    for case in [
        whole("200", 200, "complete", chat_reply()),
        whole("400", 400, "unknown", error("invalid_request_error")),
        whole(
            "403",
            403,
            "unknown",
            json!({"headers": [["content-type", "text/html"]], "body_utf8": html}),
        ),
        whole("429", 429, "unknown", error("rate_limit_error")),
        whole("500", 500, "unknown", error("server_error")),
        whole("an empty body", 200, "unknown", json!({"body_utf8": ""})),
        whole("one byte", 200, "unknown", json!({"body_utf8": "x"})),
        whole(
            "no UTF-8",
            200,
            "unknown",
            json!({"body_b64": "//79APCQgMMo7aCA"}),
        ),
        whole("gzip", 200, "unknown", gzipped),
        whole("204", 204, "unknown", json!({"framing": "close"})),
    ] {
        holds(&case, "");
    }
}

#[test]
fn a_body_of_32_megabytes_is_kept_byte_for_byte() {
    for framing in [json!("length"), json!({"chunked": {"sizes": [1, 65536]}})] {
        let body = json!({"byte": 0, "count": 32 << 20});
        let reply = json!({"body_repeat": body, "framing": framing});
        holds(&whole("32 MB", 200, "unknown", reply), "");
    }
}

#[test]
fn of_a_body_beyond_the_bound_what_fits_is_kept_and_read() {
    const FITS: usize = EXCHANGE_BYTES_MAX - REQUEST.len();
    static BOUND: [u8; FITS] = [0; FITS];
    let zeros = |count: usize| json!({"body_repeat": {"byte": 0, "count": count}});
    let fits = whole("what fits", 200, "unknown", zeros(FITS));
    let mut longer = broken("a byte more", "ClientGone", zeros(FITS + 1));
    longer.kept = Kept::Bytes(&BOUND);
    holds(&fits, "");
    holds(&longer, "");
}

#[test]
fn the_framing_of_a_body_is_no_part_of_it() {
    let mut framed = Vec::new();
    for framing in [
        json!("close"),
        json!({"chunked": {"sizes": [1]}}),
        json!({"chunked": {"sizes": [5, 17, 1000]}}),
    ] {
        let mut reply = chat_reply();
        reply["framing"] = framing;
        framed.push(reply);
    }
    for reply in framed {
        let mut case = whole("framed", 200, "complete", reply);
        case.kept = Kept::Bytes(CHAT_BODY.as_bytes());
        holds(&case, "");
    }
}

#[test]
fn of_a_reply_that_breaks_off_what_arrived_is_kept() {
    let body = "0123456789".repeat(10);
    let cut = |after: i64| json!({"body_utf8": body, "cut_after": after});
    // Two chunks of 16: `10\r\n`, 16 bytes, `\r\n`, the same again, `0\r\n\r\n`.
    let chunked = |after: i64| {
        let framing = json!({"chunked": {"sizes": [16]}});
        json!({"body_utf8": body[..32], "framing": framing, "cut_after": after})
    };
    let closed = "ConnectionClosed";
    for case in [
        headless("before anything", closed, cut(0)),
        headless("within the status line", closed, cut(10)),
        headless("within the headers", closed, cut(-101)),
        broken("after the head", closed, cut(-100)),
        broken("in the body", closed, cut(-40)),
        broken("before the last byte", closed, cut(-1)),
        broken("before the first chunk", closed, chunked(-49)),
        broken("in a chunk size", closed, chunked(-26)),
        broken("in a chunk", closed, chunked(-13)),
        broken("after a chunk", closed, chunked(-7)),
        broken("before the last chunk", closed, chunked(-5)),
        broken("in the last chunk", closed, chunked(-2)),
    ] {
        holds(&case, "");
    }
}

#[test]
fn of_a_reply_that_is_reset_what_arrived_is_kept() {
    let reset = |after: i64| json!({"body_utf8": CHAT_BODY, "cut_after": after, "then": "reset"});
    for case in [
        headless("reset before anything", "ConnectionReset", reset(0)),
        headless("reset within the status line", "ConnectionReset", reset(10)),
        broken("reset in the body", "ConnectionReset", reset(-40)),
    ] {
        holds(&case, "");
    }
}

#[test]
fn of_a_reply_that_is_no_http_what_was_understood_is_kept() {
    let raw = |text: &str| {
        use base64::Engine as _;
        json!({"raw_b64": base64::engine::general_purpose::STANDARD.encode(text)})
    };
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut chunk_size = broken(
        "no chunk size",
        "ProtocolError",
        raw(&format!("{chunked}4\r\nheys\r\nhuge\r\n")),
    );
    chunk_size.kept = Kept::Bytes(b"heys");
    for case in [
        headless(
            "no status line",
            "ProtocolError",
            raw("220 mail.example.com ESMTP\r\n\r\n"),
        ),
        headless(
            "no header",
            "ProtocolError",
            raw("HTTP/1.1 200 OK\r\nno header\r\n\r\n"),
        ),
        chunk_size,
    ] {
        holds(&case, "");
    }
}

#[test]
fn of_a_reply_that_stalls_what_arrived_is_kept() {
    let stalled = |after: i64| json!({"body_utf8": CHAT_BODY, "cut_after": after, "then": "hold"});
    let read = "read_timeout_ms = 2000";
    let total = "timeout_ms = 2000";
    for (case, more) in [
        (headless("no byte", "ReadTimeout", stalled(0)), read),
        (headless("half a head", "ReadTimeout", stalled(10)), read),
        (broken("half a body", "ReadTimeout", stalled(-40)), read),
        (headless("no byte in time", "Timeout", stalled(0)), total),
        (
            broken("half a body in time", "Timeout", stalled(-40)),
            total,
        ),
    ] {
        holds(&case, more);
    }
}

/// Asserts what is recorded of a request that reaches no provider.
fn reaches_nobody(name: &'static str, exception: &'static str, base_url: &str, more: &str) {
    let home = home_with(base_url, CHAT, more);
    let called = call_once(&home, REQUEST);
    let case = headless(name, exception, Value::Null);
    is_recorded(&home, &called, &case, None);
}

/// A port of 127.0.0.1 that is taken.
fn bound_port() -> (OwnedFd, SocketAddrV4) {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    let any = SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, 0);
    rustix::net::bind(&socket, &any).unwrap();
    let address = rustix::net::getsockname(&socket).unwrap();
    (socket, address.try_into().unwrap())
}

#[test]
fn a_request_that_reaches_nobody_is_an_observation_without_a_body() {
    let (_taken, address) = bound_port();
    reaches_nobody(
        "nobody listens",
        "ConnectError",
        &format!("http://{address}/v1"),
        "",
    );
    reaches_nobody("no such name", "DnsError", "http://nothing.invalid/v1", "");
    let (full, address) = bound_port();
    rustix::net::listen(&full, 0).unwrap();
    // The queue of those who wait to be accepted has one place.
    let _waiting = TcpStream::connect(address).unwrap();
    let brief = "connect_timeout_ms = 500";
    reaches_nobody(
        "nobody accepts",
        "ConnectTimeout",
        &format!("http://{address}/v1"),
        brief,
    );
}

#[test]
fn a_tls_failure_sends_nothing_and_is_an_observation() {
    let plain = Provider::start(&json!([
        {"on": "accept", "raw_b64": "SFRUUC8xLjEgNDAwIEJhZCBSZXF1ZXN0DQoNCg=="}
    ]));
    let (unknown, _) = Provider::start_tls(&json!([chat_reply()]));
    for (name, provider) in [("no TLS at all", plain), ("an unknown signer", unknown)] {
        let url = format!("https://{}/v1", provider.address());
        reaches_nobody(name, "TlsError", &url, "");
        assert_eq!(provider.receipts(), Vec::<Value>::new(), "{name}");
    }
}

#[test]
fn bytes_that_come_under_tls_are_kept_byte_for_byte() {
    let body = json!({"body_repeat": {"byte": 255, "count": 100_000}});
    let cut = json!({"body_utf8": CHAT_BODY, "cut_after": -40});
    for case in [
        whole("200 under TLS", 200, "complete", chat_reply()),
        whole("100 kB under TLS", 200, "unknown", body),
        broken("a body cut under TLS", "ConnectionClosed", cut),
    ] {
        let (mut provider, certificate) = Provider::start_tls(&json!([case.reply]));
        let url = format!("https://{}/v1", provider.address());
        let home = home_with(&url, CHAT, "ca_file = \"ca.pem\"");
        fs::write(home.path().join("ca.pem"), certificate).unwrap();
        let called = call_once(&home, REQUEST);
        provider.wait_sent(1);
        assert_eq!(provider.receipts().len(), 1);
        let sent = provider.sent().remove(0);
        let kept = (sent["body_sha256"].clone(), sent["body_length"].clone());
        is_recorded(&home, &called, &case, Some(kept));
    }
}
