//! What holds for any body in any framing and any split of its writes.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// How a body is delimited.
#[derive(Debug, Clone, Copy)]
enum Framing {
    Length,
    Chunks,
    Close,
}

fn framing() -> impl Strategy<Value = Framing> {
    prop_oneof![
        Just(Framing::Length),
        Just(Framing::Chunks),
        Just(Framing::Close)
    ]
}

/// Returns the pieces of `bytes` whose lengths are `sizes`, again and again.
fn pieces<'a>(bytes: &'a [u8], sizes: &[usize]) -> Vec<&'a [u8]> {
    let mut rest = bytes;
    let mut pieces = Vec::new();
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, behind) = rest.split_at(rest.len().min(*size));
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

/// Returns a whole response with `body` in this framing.
fn framed(body: &[u8], framing: Framing, chunks: &[usize]) -> Vec<u8> {
    match framing {
        Framing::Length => response(body),
        Framing::Close => [b"HTTP/1.1 200 OK\r\n\r\n", body].concat(),
        Framing::Chunks => {
            let mut bytes = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
            for chunk in pieces(body, chunks) {
                bytes.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
                bytes.extend(chunk);
                bytes.extend(b"\r\n");
            }
            bytes.extend(b"0\r\n\r\n");
            bytes
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_is_sent_is_what_is_received(
        body in vec(any::<u8>(), 0..3000),
        framing in framing(),
        chunks in vec(1_usize..700, 1..6),
        writes in vec(1_usize..900, 1..6),
    ) {
        let bytes = framed(&body, framing, &chunks);
        let received = exchange(move |stream| {
            for piece in pieces(&bytes, &writes) {
                send(stream, piece);
            }
        });
        check_whole(&received, 200, &body);
    }

    #[test]
    fn what_is_cut_is_never_whole_and_is_a_prefix(
        body in vec(any::<u8>(), 1..500),
        chunked in any::<bool>(),
        chunks in vec(1_usize..200, 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let framing = if chunked { Framing::Chunks } else { Framing::Length };
        let mut bytes = framed(&body, framing, &chunks);
        bytes.truncate(cut.index(bytes.len()));
        let received = answered(&bytes);
        prop_assert_eq!(received.exception_type, Some(ExceptionType::ConnectionClosed));
        prop_assert!(body.starts_with(received.body.as_deref().unwrap_or_default()));
        prop_assert_eq!(received.body.is_some(), received.status.is_some());
    }

    #[test]
    fn any_bytes_are_an_observation(bytes in vec(any::<u8>(), 0..200), head in any::<bool>()) {
        let mut sent = Vec::new();
        if head {
            sent.extend(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
        }
        sent.extend(bytes);
        let received = answered(&sent);
        prop_assert_eq!(received.body.is_some(), received.status.is_some());
        prop_assert_eq!(received.detail.is_some(), received.exception_type.is_some());
    }

    #[test]
    fn the_server_sees_the_body_that_is_sent(body in vec(any::<u8>(), 0..3000)) {
        let server = Server::start(|mut stream| {
            let request = read_request(&mut stream);
            send(&mut stream, &response(b"ok"));
            request
        });
        let received = post(&client(), &server.target("/"), &body, PATIENT);
        check_whole(&received, 200, b"ok");
        prop_assert!(server.result().ends_with(&body));
    }
}
