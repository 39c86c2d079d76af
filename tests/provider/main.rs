//! A provider of its own for the tests that cross processes: it answers by a script
//! and writes down what it received and what it sent.
//!
//! `provider --script FILE --receipts FILE --sent FILE [--tls CERT.pem KEY.pem]`
//! listens on a free port of 127.0.0.1 and serves until its standard input ends.
//! `script.rs` says what a script may hold. Standard output has JSON lines: the
//! address (`{"listening"}`), each request once it was read whole (`{"request": n}`,
//! from 1) and each reply once it was sent (`{"sent": n}`). A line `go` on standard
//! input lets one reply go that its script holds. A receipt is on the disk before the
//! first byte of its reply.

mod connection;
mod journal;
mod peer;
mod request;
mod script;
mod server;

use std::error::Error;
use std::fs;
use std::io::{self, BufRead as _, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use journal::Journal;
use script::Reply;
use server::Server;

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

const USAGE: &str = "provider --script FILE --receipts FILE --sent FILE [--tls CERT.pem KEY.pem]";

#[derive(Default)]
struct Arguments {
    script: PathBuf,
    receipts: PathBuf,
    sent: PathBuf,
    tls: Option<(PathBuf, PathBuf)>,
}

impl Arguments {
    fn parse(given: impl Iterator<Item = String>) -> Outcome<Self> {
        let mut given = given;
        let mut arguments = Self::default();
        while let Some(name) = given.next() {
            let mut path = || given.next().map(PathBuf::from).ok_or(USAGE);
            match name.as_str() {
                "--script" => arguments.script = path()?,
                "--receipts" => arguments.receipts = path()?,
                "--sent" => arguments.sent = path()?,
                "--tls" => arguments.tls = Some((path()?, path()?)),
                _ => return Err(USAGE.into()),
            }
        }
        Ok(arguments)
    }
}

fn main() -> Outcome {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    let script: Vec<Reply> = serde_json::from_slice(&fs::read(&arguments.script)?)?;
    let tls = arguments
        .tls
        .map(|(certificate, key)| peer::tls_config(&certificate, &key))
        .transpose()?;
    let journal = Journal::create(&arguments.receipts, &arguments.sent)?;
    let server = Arc::new(Server::new(script, journal, tls)?);
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    journal::tell(&serde_json::json!({ "listening": address }))?;
    let accepting = Arc::clone(&server);
    thread::spawn(move || accept(&listener, &accepting));
    for line in io::stdin().lock().lines() {
        if line? == "go" {
            server.let_one_go();
        }
    }
    Ok(())
}

fn accept(listener: &TcpListener, server: &Arc<Server>) {
    for stream in listener.incoming() {
        let server = Arc::clone(server);
        thread::spawn(move || {
            let served = stream
                .map_err(Into::into)
                .and_then(|stream| connection::serve(&server, stream));
            if let Err(error) = served {
                writeln!(io::stderr(), "provider: {error}").ok();
            }
        });
    }
}
