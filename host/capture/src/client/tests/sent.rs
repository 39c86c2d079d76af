//! What the server sees of a request, and answers that come before it is read.

use std::net::Shutdown;

use model::exchange::ExceptionType::{ClientGone, ConnectionReset};

use super::*;

/// A body that no socket buffers whole.
const LARGE: usize = 32 << 20;

const REFUSAL: &[u8] =
    b"HTTP/1.1 413 Content Too Large\r\ncontent-length: 9\r\nconnection: close\r\n\r\ntoo large";

fn owned(headers: &[(&str, &str)]) -> Vec<(String, String)> {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    headers.iter().map(pair).collect()
}

#[test]
fn the_server_sees_the_exact_request() {
    let server = Server::start(|mut stream| {
        let request = read_request(&mut stream);
        send(&mut stream, &response(b"ok"));
        request
    });
    let target = server.target("/v1//a%2Fb?key=a+b&c=%20&d");
    let headers = owned(&[
        ("x-first", "1"),
        ("host", "other.test"),
        ("authorization", "Bearer \u{e9}"),
        ("accept-encoding", "gzip"),
        ("x-twice", "a"),
        ("x-twice", "b"),
        ("x-empty", ""),
        ("content-length", "4"),
    ]);
    let outgoing = Outgoing {
        method: "POST",
        target: &target,
        headers: &headers,
        body: b"\0\xff\r\n",
    };
    check_whole(&client().exchange(&outgoing, PATIENT), 200, b"ok");
    let head = "POST /v1//a%2Fb?key=a+b&c=%20&d HTTP/1.1\r\nx-first: 1\r\nhost: other.test\r\n\
                authorization: Bearer \u{e9}\r\naccept-encoding: gzip\r\nx-twice: a\r\n\
                x-twice: b\r\nx-empty: \r\ncontent-length: 4\r\n\r\n";
    let expected = [head.as_bytes(), b"\0\xff\r\n"].concat();
    assert_eq!(server.result(), expected);
}

#[test]
fn nothing_is_added_to_a_request_without_a_body() {
    for method in ["GET", "POST", "DELETE", "BREW"] {
        let server = Server::start(|mut stream| {
            let request = read_request(&mut stream);
            send(&mut stream, &response(b"ok"));
            request
        });
        let outgoing = Outgoing {
            method,
            target: &server.target("/"),
            headers: &owned(&[("host", "h")]),
            body: b"",
        };
        check_whole(&client().exchange(&outgoing, PATIENT), 200, b"ok");
        let expected = format!("{method} / HTTP/1.1\r\nhost: h\r\n\r\n");
        assert_eq!(server.result(), expected.as_bytes());
    }
}

#[test]
fn the_response_to_head_has_no_body() {
    let server = Server::start(|mut stream| {
        read_request(&mut stream);
        send(&mut stream, b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n");
    });
    let outgoing = Outgoing {
        method: "HEAD",
        target: &server.target("/"),
        headers: &owned(&[("host", "h")]),
        body: b"",
    };
    check_whole(&client().exchange(&outgoing, PATIENT), 200, b"");
    server.result();
}

#[test]
fn a_large_body_is_sent_whole() {
    let server = Server::start(|mut stream| {
        let request = read_request(&mut stream);
        send(&mut stream, &response(b"ok"));
        request
    });
    let body = pattern(LARGE);
    let received = post(&client(), &server.target("/"), &body, PATIENT);
    check_whole(&received, 200, b"ok");
    assert!(server.result().ends_with(&body));
}

#[test]
fn an_answer_to_a_large_request_that_is_not_read_is_seen() {
    let body = pattern(LARGE);
    let scripts: [fn(TcpStream); 4] = [
        // Closed with unread bytes: the connection is reset behind the answer.
        |mut stream| {
            read_head(&mut stream);
            send(&mut stream, REFUSAL);
        },
        // Not even the head is read.
        |mut stream| send(&mut stream, REFUSAL),
        // Closed in order: the rest is read and thrown away.
        |mut stream| {
            read_head(&mut stream);
            send(&mut stream, REFUSAL);
            stream.shutdown(Shutdown::Write).expect("a half close");
            hold(&mut stream);
        },
        // Answered in the middle.
        |mut stream| {
            stream
                .read_exact(&mut vec![0; LARGE / 2])
                .expect("half a body");
            send(&mut stream, REFUSAL);
            hold(&mut stream);
        },
    ];
    for script in scripts {
        for _ in 0..8 {
            let server = Server::start(script);
            let received = post(&client(), &server.target("/"), &body, PATIENT);
            check_whole(&received, 413, b"too large");
            server.result();
        }
    }
}

#[test]
fn an_answer_is_seen_while_the_server_takes_no_bytes() {
    let (gone, wait) = std::sync::mpsc::channel::<()>();
    let server = Server::start(move |mut stream| {
        send(&mut stream, REFUSAL);
        assert!(wait.recv().is_err());
    });
    let received = post(&client(), &server.target("/"), &pattern(LARGE), PATIENT);
    check_whole(&received, 413, b"too large");
    drop(gone);
    server.result();
}

#[test]
fn a_reset_in_a_large_request_without_an_answer_is_a_reset() {
    for _ in 0..8 {
        let server = Server::start(|mut stream| drop(read_head(&mut stream)));
        let received = post(&client(), &server.target("/"), &pattern(LARGE), PATIENT);
        check_none(&received, ConnectionReset);
        server.result();
    }
}

#[test]
fn a_half_answer_before_a_reset_is_kept() {
    let body = pattern(LARGE);
    for _ in 0..8 {
        let server = Server::start(|mut stream| {
            read_head(&mut stream);
            send(
                &mut stream,
                b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf",
            );
        });
        let received = post(&client(), &server.target("/"), &body, PATIENT);
        check_partial(&received, ConnectionReset, b"half");
        server.result();
    }
}

#[test]
fn an_answer_before_the_question_is_seen() {
    for _ in 0..8 {
        let server = Server::start(|mut stream| {
            send(&mut stream, &response(b"early"));
            hold(&mut stream);
        });
        let received = post(&client(), &server.target("/"), b"{}", PATIENT);
        check_whole(&received, 200, b"early");
        server.result();
    }
}

#[test]
fn what_cannot_be_sent_as_given_is_not_sent() {
    let target = Target::parse("http://127.0.0.1:9/").expect("a target");
    for (method, headers, body) in [
        ("PO ST", vec![], ""),
        ("", vec![], ""),
        ("GET", vec![("x secret", "a")], ""),
        ("GET", vec![("x-key", "sec\r\nret: secret")], ""),
        ("GET", vec![("x-key", "secret\0")], ""),
        ("POST", vec![], "{}"),
        ("POST", vec![("content-length", "3")], "{}"),
        ("POST", vec![("content-length", "+2")], "{}"),
        (
            "POST",
            vec![("content-length", "2"), ("content-length", "2")],
            "{}",
        ),
        ("POST", vec![("transfer-encoding", "chunked")], ""),
        (
            "POST",
            vec![("content-length", "2"), ("transfer-encoding", "chunked")],
            "{}",
        ),
    ] {
        let outgoing = Outgoing {
            method,
            target: &target,
            headers: &owned(&headers),
            body: body.as_bytes(),
        };
        let received = client().exchange(&outgoing, PATIENT);
        check_none(&received, ClientGone);
        assert!(!format!("{received:?}").contains("secret"));
    }
}

#[test]
fn nothing_that_is_shown_holds_a_value() {
    let server = Server::start(|mut stream| {
        read_request(&mut stream);
        send(
            &mut stream,
            b"HTTP/1.1 200 OK\r\nrequest-id: SECRET\r\ncontent-length: 6\r\n\r\nSECRET",
        );
    });
    let target = server.target("/v1?key=SECRET");
    let headers = owned(&[("authorization", "SECRET"), ("content-length", "6")]);
    let outgoing = Outgoing {
        method: "POST",
        target: &target,
        headers: &headers,
        body: b"SECRET",
    };
    let client = client();
    let received = client.exchange(&outgoing, PATIENT);
    let shown = format!("{outgoing:?} {client:?} {received:?}");
    assert!(!shown.contains("SECRET"), "{shown}");
    assert!(shown.contains("authorization") && shown.contains("request-id"));
    server.result();
}
