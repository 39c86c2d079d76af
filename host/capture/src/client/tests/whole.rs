//! Responses that arrive whole: their bytes, their status and their headers.

use model::bounds::EXCHANGE_BYTES_MAX;

use super::*;

fn headers(received: &Received) -> Vec<(&str, &str)> {
    received
        .headers
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect()
}

#[test]
fn a_whole_response_has_its_status_and_exact_bytes() {
    for (status, body) in [
        (200, r#"{"a":1}"#),
        (201, "x"),
        (400, r#"{"error":{}}"#),
        (403, "<html>no</html>"),
        (429, ""),
        (500, "oops\n"),
        (529, "overloaded"),
        (999, "unheard of"),
    ] {
        let received = answered(
            format!(
                "HTTP/1.1 {status} Any\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            )
            .as_bytes(),
        );
        check_whole(&received, status, body.as_bytes());
    }
}

#[test]
fn the_media_type_is_that_of_the_headers() {
    let received = answered(
        b"HTTP/1.1 403 Forbidden\r\nContent-Type: Text/HTML; charset=utf-8\r\ncontent-length: 4\r\n\r\n<a/>",
    );
    check_whole(&received, 403, b"<a/>");
    assert_eq!(received.media_type, "text/html");
    assert_eq!(
        headers(&received),
        [
            ("content-type", "Text/HTML; charset=utf-8"),
            ("content-length", "4")
        ]
    );
}

#[test]
fn a_response_without_a_body_has_an_empty_one() {
    for head in [
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    ] {
        check_whole(&answered(head.as_bytes()), 200, b"");
    }
    check_whole(&answered(b"HTTP/1.1 204 No Content\r\n\r\n"), 204, b"");
    check_whole(
        &answered(b"HTTP/1.1 304 Not Modified\r\ncontent-length: 7\r\n\r\n"),
        304,
        b"",
    );
}

#[test]
fn a_body_of_32_mib_arrives_whole() {
    let body = pattern(32 << 20);
    let sent = response(&body);
    check_whole(&exchange(move |stream| send(stream, &sent)), 200, &body);
}

#[test]
fn a_body_of_the_greatest_length_arrives_whole() {
    let body = vec![7; EXCHANGE_BYTES_MAX - 2];
    let sent = response(&body);
    check_whole(&exchange(move |stream| send(stream, &sent)), 200, &body);
}

#[test]
fn a_compressed_body_is_not_touched() {
    let gzip = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x4b\x04\0\x43\xbe\xb7\xe8\x01\0\0\0";
    let mut sent = format!(
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        gzip.len()
    )
    .into_bytes();
    sent.extend(gzip);
    let received = answered(&sent);
    check_whole(&received, 200, gzip);
    assert_eq!(headers(&received)[0], ("content-encoding", "gzip"));
}

#[test]
fn bytes_that_are_not_utf8_stay() {
    let received = answered(
        b"HTTP/1.1 200 \xe9\r\nrequest-id: \xff\xe9\r\ncontent-length: 3\r\n\r\n\xff\0\xfe",
    );
    check_whole(&received, 200, b"\xff\0\xfe");
    assert_eq!(headers(&received)[0], ("request-id", "\u{ff}\u{e9}"));
}

#[test]
fn chunks_are_joined_without_their_framing() {
    let received = answered(
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\
          5\r\n0\r\n\r\n\r\n\
          1;name=value;other=\"a;b\"\r\nx\r\n\
          00000A \r\n0123456789\r\n\
          0;last\r\nx-trailer: secret\r\ndate: never\r\n\r\n",
    );
    check_whole(&received, 200, b"0\r\n\r\nx0123456789");
    assert_eq!(headers(&received), [("transfer-encoding", "chunked")]);
}

#[test]
fn a_body_without_a_length_ends_with_the_connection() {
    check_whole(
        &answered(b"HTTP/1.0 200 OK\r\n\r\nto the end"),
        200,
        b"to the end",
    );
    check_whole(
        &answered(b"HTTP/1.1 500 Oops\r\nconnection: close\r\n\r\nto the end"),
        500,
        b"to the end",
    );
}

#[test]
fn the_order_of_headers_is_that_of_the_wire() {
    let received = answered(
        b"HTTP/1.1 200 OK\r\nDate: 1\r\nX-RateLimit-A: 2\r\nSet-Cookie: secret\r\ndate: 3\r\n\
          Request-Id:  4 \r\nx-ratelimit-a: 5\r\nDATE: 6\r\ncontent-length: 0\r\n\r\n",
    );
    check_whole(&received, 200, b"");
    assert_eq!(
        headers(&received),
        [
            ("date", "1"),
            ("x-ratelimit-a", "2"),
            ("date", "3"),
            ("request-id", "4"),
            ("x-ratelimit-a", "5"),
            ("date", "6"),
            ("content-length", "0"),
        ]
    );
}

#[test]
fn interim_responses_are_skipped() {
    let received = answered(
        b"HTTP/1.1 100 Continue\r\ndate: 1\r\n\r\n\
          HTTP/1.1 103 Early Hints\r\nlink: </a>\r\ndate: 2\r\n\r\n\
          HTTP/1.1 103 Early Hints\r\n\r\n\
          HTTP/1.1 200 OK\r\ndate: 3\r\nretry-after: 4\r\ndate: 5\r\ncontent-length: 1\r\n\r\nx",
    );
    check_whole(&received, 200, b"x");
    assert_eq!(
        headers(&received),
        [
            ("date", "3"),
            ("retry-after", "4"),
            ("date", "5"),
            ("content-length", "1")
        ]
    );
}

#[test]
fn a_redirect_is_not_followed() {
    let received = answered(
        b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 2\r\n\r\nhi",
    );
    check_whole(&received, 302, b"hi");
}

#[test]
fn bytes_behind_the_length_are_no_part_of_the_body() {
    let received = answered(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi there");
    check_whole(&received, 200, b"hi");
}

#[test]
fn a_response_in_single_bytes_is_the_same() {
    let bytes = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nDate: 1\r\n\r\n\
                  3;e=f\r\nabc\r\n2\r\nde\r\n0\r\nx-y: z\r\n\r\n";
    let received = exchange(move |stream| {
        for byte in bytes {
            send(stream, &[*byte]);
        }
    });
    check_whole(&received, 200, b"abcde");
}

#[test]
fn a_response_is_whole_before_the_connection_is_closed() {
    let received = exchange(|stream| {
        send(stream, &response(b"held open"));
        hold(stream);
    });
    check_whole(&received, 200, b"held open");
}

#[test]
fn many_and_long_headers_are_read_and_bounded() {
    let line = "x-ratelimit-a: b\r\n".repeat(999);
    let received =
        answered(format!("HTTP/1.1 200 OK\r\n{line}content-length: 2\r\n\r\nok").as_bytes());
    check_whole(&received, 200, b"ok");
    assert_eq!(headers(&received)[0], ("x-ratelimit-a", "b"));

    let long = "c".repeat(900_000);
    let received = answered(
        format!("HTTP/1.1 200 OK\r\nrequest-id: {long}\r\ncontent-length: 2\r\n\r\nok").as_bytes(),
    );
    check_whole(&received, 200, b"ok");
    assert_eq!(headers(&received), [("content-length", "2")]);
    assert_eq!(received.headers.dropped, ["request-id"]);
}
