//! Peers that take too long, and which timeout says so.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use model::exchange::ExceptionType::{ConnectTimeout, ReadTimeout, Timeout};

use super::broken::stages;
use super::*;

/// Long enough for what is sent at once to arrive on a busy machine.
const SHORT: Duration = Duration::from_millis(500);

const IMPATIENT_READ: Timeouts = Timeouts {
    read: SHORT,
    ..PATIENT
};

const IMPATIENT_CONNECT: Timeouts = Timeouts {
    connect: SHORT,
    ..PATIENT
};

const IMPATIENT: Timeouts = Timeouts {
    total: SHORT,
    ..PATIENT
};

/// Runs a server that stops at each stage and calls `check` with what was seen.
fn stall(timeouts: Timeouts, check: impl Fn(&Received, Option<&str>) + Sync) {
    std::thread::scope(|scope| {
        for (sent, body) in stages() {
            let check = &check;
            scope.spawn(move || {
                let received = exchange_within(timeouts, move |stream| {
                    send(stream, sent.as_bytes());
                    hold(stream);
                });
                check(&received, body);
            });
        }
    });
}

#[test]
fn a_stall_at_any_stage_is_a_read_timeout() {
    stall(IMPATIENT_READ, |received, body| match body {
        None => check_none(received, ReadTimeout),
        Some(body) => check_partial(received, ReadTimeout, body.as_bytes()),
    });
}

#[test]
fn a_stall_past_the_total_is_a_timeout() {
    stall(IMPATIENT, |received, body| match body {
        None => check_none(received, Timeout),
        Some(body) => check_partial(received, Timeout, body.as_bytes()),
    });
}

#[test]
fn a_peer_that_takes_no_bytes_is_a_read_timeout() {
    let (gone, wait) = channel::<()>();
    let server = Server::start(move |stream| {
        assert!(wait.recv().is_err());
        drop(stream);
    });
    let body = pattern(32 << 20);
    let received = post(&client(), &server.target("/"), &body, IMPATIENT_READ);
    check_none(&received, ReadTimeout);
    drop(gone);
    server.result();
}

/// Sends a head and then one byte after another until the client is gone.
fn drip(stream: &mut TcpStream) {
    send(stream, b"HTTP/1.1 200 OK\r\n\r\n");
    while stream.write_all(b"x").is_ok() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_drip_that_never_rests_ends_with_the_total() {
    let received = exchange_within(IMPATIENT, drip);
    let body = received.body.clone().unwrap_or_default();
    assert!(!body.is_empty() && body.iter().all(|byte| *byte == b'x'));
    check_partial(&received, Timeout, &body);
}

#[test]
fn bytes_that_are_taken_put_the_read_timeout_off() {
    // No socket buffers the whole body, so every read lets some bytes move.
    let body = pattern(32 << 20);
    let server = Server::start(|mut stream| {
        let mut piece = vec![0; 2 << 20];
        for _ in 0..10 {
            std::thread::sleep(SHORT / 4);
            stream.read_exact(&mut piece).expect("a part of the body");
        }
        send(&mut stream, &response(b"enough"));
        hold(&mut stream);
    });
    let received = post(&client(), &server.target("/"), &body, IMPATIENT_READ);
    check_whole(&received, 200, b"enough");
    server.result();
}

#[test]
fn bytes_that_move_put_the_read_timeout_off() {
    // Ten rests of a quarter of the timeout each are longer than the timeout.
    let received = exchange_within(IMPATIENT_READ, |stream| {
        send(stream, b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n");
        for _ in 0..10 {
            std::thread::sleep(SHORT / 4);
            send(stream, b"x");
        }
    });
    check_whole(&received, 200, b"xxxxxxxxxx");
    assert!(received.latency > SHORT);
}

#[test]
fn a_flood_ends_with_the_total() {
    // Far too short for the bound of a body to be reached one byte a chunk.
    let received = exchange_within(IMPATIENT, |stream| {
        send(
            stream,
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        );
        let chunks = b"1\r\nx\r\n".repeat(1000);
        while stream.write_all(&chunks).is_ok() {}
    });
    let body = received.body.clone().unwrap_or_default();
    check_partial(&received, Timeout, &body);
}

/// Returns a listener that answers no further connection, and those that it has.
fn silent() -> (TcpListener, Vec<TcpStream>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .expect("a runtime");
    let listener = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
        socket
            .bind("127.0.0.1:0".parse().expect("an address"))
            .expect("a free port");
        let listener = socket.listen(1).expect("a listener");
        listener.into_std().expect("a listener")
    });
    let address = listener.local_addr().expect("an address");
    let connect = || TcpStream::connect_timeout(&address, SHORT).ok();
    (listener, std::iter::from_fn(connect).take(64).collect())
}

#[test]
fn an_address_that_never_answers_leaves_time_for_the_next() {
    let (listener, _queue) = silent();
    let address = listener.local_addr().expect("an address");
    let target = Target::parse("http://api.test/").expect("a target");
    let received = post(
        &client_that_finds(vec![address]),
        &target,
        b"",
        IMPATIENT_CONNECT,
    );
    check_none(&received, ConnectTimeout);

    let server = Server::start(|mut stream| {
        read_request(&mut stream);
        send(&mut stream, &response(b"the second"));
    });
    let client = client_that_finds(vec![address, server.address]);
    let received = post(&client, &target, b"", IMPATIENT_CONNECT);
    check_whole(&received, 200, b"the second");
    server.result();
}

#[test]
fn a_handshake_without_an_answer_is_a_connect_timeout() {
    for (timeouts, exception) in [(IMPATIENT_CONNECT, ConnectTimeout), (IMPATIENT, Timeout)] {
        let server = Server::start(|mut stream| hold(&mut stream));
        let target = Target::parse(&format!("https://{}/", server.address)).expect("a target");
        check_none(&post(&client(), &target, b"", timeouts), exception);
        server.result();
    }
}

#[test]
fn a_lookup_without_an_answer_is_not_waited_for() {
    let none = Timeouts {
        total: Duration::ZERO,
        ..PATIENT
    };
    for (timeouts, exception) in [
        (IMPATIENT_CONNECT, ConnectTimeout),
        (IMPATIENT, Timeout),
        (none, Timeout),
    ] {
        let (gone, wait) = channel::<()>();
        let wait = Mutex::new(wait);
        let mut client = client();
        client.lookup = Arc::new(move |_, _| {
            assert!(wait.lock().expect("one lookup").recv().is_err());
            Ok(Vec::new())
        });
        let target = Target::parse("http://api.test/").expect("a target");
        check_none(&post(&client, &target, b"", timeouts), exception);
        // Only now can the lookup end.
        drop(gone);
    }
}

#[test]
fn the_longest_timeouts_are_taken() {
    let endless = Timeouts {
        connect: Duration::MAX,
        read: Duration::MAX,
        total: Duration::MAX,
    };
    let received = exchange_within(endless, |stream| send(stream, &response(b"x")));
    check_whole(&received, 200, b"x");
}
