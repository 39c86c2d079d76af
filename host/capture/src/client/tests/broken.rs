//! Responses that break off, and what is no response at all.

use model::bounds::EXCHANGE_BYTES_MAX;
use model::exchange::ExceptionType::{
    ClientGone, ConnectError, ConnectionClosed, ConnectionReset, DnsError, ProtocolError,
};

use super::*;

const LENGTH: &str = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

/// What a server has sent when it stops, and the body that the client has then:
/// none before the head is whole.
pub(super) fn stages() -> Vec<(String, Option<&'static str>)> {
    vec![
        (String::new(), None),
        ("HTTP/1.1 2".to_owned(), None),
        ("HTTP/1.1 200 OK\r\n".to_owned(), None),
        ("HTTP/1.1 200 OK\r\ncontent-le".to_owned(), None),
        ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n".to_owned(), None),
        ("HTTP/1.1 100 Continue\r\n\r\n".to_owned(), None),
        (LENGTH.to_owned(), Some("")),
        (format!("{LENGTH}12345678"), Some("12345678")),
        (CHUNKED.to_owned(), Some("")),
        (format!("{CHUNKED}5"), Some("")),
        (format!("{CHUNKED}5\r\nabc"), Some("abc")),
        (format!("{CHUNKED}5\r\nabcde"), Some("abcde")),
        (format!("{CHUNKED}5\r\nabcde\r\n"), Some("abcde")),
        (format!("{CHUNKED}5\r\nabcde\r\n0"), Some("abcde")),
        (format!("{CHUNKED}5\r\nabcde\r\n0\r\nx: y"), Some("abcde")),
        (format!("{CHUNKED}5\r\nabcde\r\n0\r\n"), Some("abcde")),
    ]
}

#[test]
fn a_close_at_any_stage_is_a_closed_connection() {
    for (sent, body) in stages() {
        let received = answered(sent.as_bytes());
        match body {
            None => check_none(&received, ConnectionClosed),
            Some(body) => check_partial(&received, ConnectionClosed, body.as_bytes()),
        }
    }
}

#[test]
fn a_reset_at_any_stage_is_a_reset_connection() {
    for (sent, body) in stages() {
        // Closing with bytes of the request unread resets the connection.
        let server = Server::start(move |mut stream| {
            read_head(&mut stream);
            send(&mut stream, sent.as_bytes());
        });
        let received = post(&client(), &server.target("/"), &[0; 999], PATIENT);
        server.result();
        match body {
            None => check_none(&received, ConnectionReset),
            Some(body) => check_partial(&received, ConnectionReset, body.as_bytes()),
        }
    }
}

#[test]
fn what_is_not_http_is_a_protocol_error() {
    let many = "a: b\r\n".repeat(1001);
    let long = "c".repeat(2 << 20);
    for sent in [
        "SSH-2.0-OpenSSH_9.6\r\n",
        "hello",
        "\0\0\0\u{4}",
        "{\"choices\":[]}\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 abc OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\na b\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: nine\r\n\r\n123456789",
        "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n12",
        &format!("HTTP/1.1 200 OK\r\n{many}\r\n"),
        &format!("HTTP/1.1 200 OK\r\na: {long}\r\n\r\n"),
        &format!("HTTP/1.1 200 {long}\r\n\r\n"),
    ] {
        check_none(&answered(sent.as_bytes()), ProtocolError);
    }
}

#[test]
fn broken_chunks_keep_what_came_before_them() {
    for (sent, body) in [
        ("zz\r\n", ""),
        ("3\r\nabc\r\nzz\r\n", "abc"),
        ("3\r\nabcd\r\n", "abc"),
        ("3\r\nabc\r\n-1\r\n", "abc"),
        ("3\r\nabc\r\nfffffffffffffffff\r\n", "abc"),
        ("\r\n", ""),
    ] {
        let received = answered(format!("{CHUNKED}{sent}").as_bytes());
        check_partial(&received, ProtocolError, body.as_bytes());
    }
}

#[test]
fn a_length_that_is_too_great_breaks_off() {
    let received = answered(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999999\r\n\r\nhi");
    check_partial(&received, ConnectionClosed, b"hi");
}

#[test]
fn an_error_status_that_breaks_off_keeps_its_status() {
    let received = answered(b"HTTP/1.1 503 Busy\r\ndate: 1\r\ncontent-length: 9\r\n\r\nhi");
    let outcome = (TransportOutcome::Interrupted, Some(ConnectionClosed));
    check(&received, outcome, Some(503), Some(b"hi"));
    assert_eq!(
        received.headers.headers[0],
        ("date".to_owned(), "1".to_owned())
    );
}

#[test]
fn a_switch_of_protocols_is_a_protocol_error() {
    let received = answered(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n\0\0");
    let outcome = (TransportOutcome::Interrupted, Some(ProtocolError));
    check(&received, outcome, Some(101), Some(b""));
}

#[test]
fn a_body_without_an_end_is_left_at_the_bound() {
    for head in [
        "HTTP/1.1 200 OK\r\n\r\n".to_owned(),
        format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n",
            u64::MAX / 4
        ),
    ] {
        let received = exchange(move |stream| {
            send(stream, head.as_bytes());
            let piece = vec![b'x'; 1 << 16];
            while stream.write_all(&piece).is_ok() {}
        });
        check_partial(&received, ClientGone, &vec![b'x'; EXCHANGE_BYTES_MAX - 2]);
    }
}

/// Returns an address that refuses connections.
fn refusing() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address")
}

#[test]
fn a_refused_connection_is_a_connect_error() {
    let target = Target::parse(&format!("http://{}/", refusing())).expect("a target");
    check_none(&post(&client(), &target, b"", PATIENT), ConnectError);
}

#[test]
fn each_address_is_tried_in_order() {
    let server = Server::start(|mut stream| {
        read_request(&mut stream);
        send(&mut stream, &response(b"the second"));
    });
    let client = client_that_finds(vec![refusing(), server.address, refusing()]);
    let target = Target::parse("http://api.test/").expect("a target");
    let received = post(&client, &target, b"", PATIENT);
    check_whole(&received, 200, b"the second");
    server.result();
}

#[test]
fn a_name_without_an_address_is_a_dns_error() {
    let target = Target::parse("http://nothing.invalid/").expect("a target");
    check_none(&post(&client(), &target, b"", PATIENT), DnsError);
    let client = client_that_finds(Vec::new());
    check_none(&post(&client, &target, b"", PATIENT), DnsError);
}

#[test]
fn latency_ends_with_the_exchange() {
    let received = answered(&response(b"x"));
    assert!(received.latency > Duration::ZERO && received.latency < PATIENT.total);
}
