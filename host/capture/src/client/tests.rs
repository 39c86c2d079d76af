//! Tests of the client against servers that send raw bytes.
//!
//! A server is a thread with one connection. It holds its socket until the client
//! is gone wherever the end of the connection would decide what is seen.

mod broken;
mod properties;
mod secure;
mod sent;
mod slow;
mod whole;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use model::exchange::{ExceptionType, TransportOutcome};

use super::{Client, Outgoing, Received, Timeouts};
use crate::target::Target;

/// Timeouts that no test reaches.
const PATIENT: Timeouts = Timeouts {
    connect: Duration::from_mins(1),
    read: Duration::from_mins(1),
    total: Duration::from_mins(2),
};

/// A server with one connection.
struct Server<T> {
    address: SocketAddr,
    thread: JoinHandle<T>,
}

impl<T: Send + 'static> Server<T> {
    /// Starts a server that runs `script` on its only connection.
    fn start(script: impl FnOnce(TcpStream) -> T + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let thread = std::thread::spawn(move || {
            let (stream, _) = listener.accept().expect("a client");
            drop(listener);
            stream.set_nodelay(true).expect("a connected socket");
            script(stream)
        });
        Self { address, thread }
    }

    /// Returns the target of a path on this server.
    fn target(&self, path: &str) -> Target {
        let address = self.address;
        Target::parse(&format!("http://{address}{path}")).expect("a target")
    }

    /// Returns what the script returned.
    fn result(self) -> T {
        self.thread.join().expect("a script that ends")
    }
}

fn client() -> Client {
    Client::new(None).expect("a client")
}

/// Returns a client that finds `addresses` for every host.
fn client_that_finds(addresses: Vec<SocketAddr>) -> Client {
    let mut client = client();
    client.lookup = Arc::new(move |_, _| Ok(addresses.clone()));
    client
}

/// Posts `body` with its length.
fn post(client: &Client, target: &Target, body: &[u8], timeouts: Timeouts) -> Received {
    let headers = [
        ("host".to_owned(), target.authority()),
        ("content-length".to_owned(), body.len().to_string()),
    ];
    let outgoing = Outgoing {
        method: "POST",
        target,
        headers: &headers,
        body,
    };
    client.exchange(&outgoing, timeouts)
}

/// Makes an exchange with a server that reads the request and runs `script`.
fn exchange(script: impl FnOnce(&mut TcpStream) + Send + 'static) -> Received {
    exchange_within(PATIENT, script)
}

fn exchange_within(
    timeouts: Timeouts,
    script: impl FnOnce(&mut TcpStream) + Send + 'static,
) -> Received {
    let server = Server::start(|mut stream| {
        read_request(&mut stream);
        script(&mut stream);
    });
    let received = post(&client(), &server.target("/v1"), b"{}", timeouts);
    server.result();
    received
}

/// Makes an exchange with a server that sends `bytes` and closes.
fn answered(bytes: &[u8]) -> Received {
    let bytes = bytes.to_vec();
    exchange(move |stream| send(stream, &bytes))
}

/// Reads one request: its head and the body of its `content-length`.
fn read_request(stream: &mut impl std::io::Read) -> Vec<u8> {
    let mut request = read_head(stream);
    let text = String::from_utf8(request.clone()).expect("a head in ASCII");
    let length = text
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.parse().expect("a length"));
    let start = request.len();
    request.resize(start + length, 0);
    stream.read_exact(&mut request[start..]).expect("a body");
    request
}

/// Reads the head of a request and not one byte more.
fn read_head(stream: &mut impl std::io::Read) -> Vec<u8> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("a head");
        head.extend(byte);
    }
    head
}

/// Sends bytes to a client that may be gone.
fn send(stream: &mut TcpStream, bytes: &[u8]) {
    drop(stream.write_all(bytes));
}

/// Waits until the client is gone.
fn hold(stream: &mut TcpStream) {
    let mut bytes = [0; 1024];
    while stream.read(&mut bytes).is_ok_and(|read| read > 0) {}
}

/// Checks a response that arrived whole.
fn check_whole(received: &Received, status: u16, body: &[u8]) {
    let outcome = if status < 400 {
        TransportOutcome::ResponseReceived
    } else {
        TransportOutcome::HttpError
    };
    check(received, (outcome, None), Some(status), Some(body));
    assert_eq!(received.detail, None);
}

/// Checks that no response arrived.
fn check_none(received: &Received, exception: ExceptionType) {
    let outcome = (TransportOutcome::NoResponse, Some(exception));
    check(received, outcome, None, None);
    assert!(received.headers.headers.is_empty(), "{received:?}");
    assert!(received.detail.is_some(), "{received:?}");
}

/// Checks a response of status 200 that broke off.
fn check_partial(received: &Received, exception: ExceptionType, body: &[u8]) {
    let outcome = (TransportOutcome::Interrupted, Some(exception));
    check(received, outcome, Some(200), Some(body));
    assert!(received.detail.is_some(), "{received:?}");
}

fn check(
    received: &Received,
    (outcome, exception): (TransportOutcome, Option<ExceptionType>),
    status: Option<u16>,
    body: Option<&[u8]>,
) {
    assert_eq!(received.outcome, outcome, "{received:?}");
    assert_eq!(received.status, status, "{received:?}");
    assert_eq!(received.exception_type, exception, "{received:?}");
    // Too long to be printed.
    assert!(received.body.as_deref() == body, "{received:?}");
}

/// Returns `length` bytes that no shift maps onto themselves.
fn pattern(length: usize) -> Vec<u8> {
    let period: Vec<u8> = (0..=250).collect();
    let mut bytes = period.repeat(length / period.len() + 1);
    bytes.truncate(length);
    bytes
}

/// Returns a response of status 200 with its length.
fn response(body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(body);
    bytes
}
