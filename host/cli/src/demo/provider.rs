//! The provider of the demo: one fixed answer, and a receipt for each request.
//!
//! It is a process of its own, so that what it counts is counted outside the ledger.
//! A receipt is durable before the answer leaves.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::stage::{KEY_VARIABLE, Stage, text};
use crate::exit;
use crate::printer::Printer;

/// What the provider of the three days answers: text that was cut by the token limit.
pub(super) const BODY: &str = concat!(
    r#"{"id":"chatcmpl-demo","object":"chat.completion","model":"kestrel-2","#,
    r#""choices":[{"index":0,"message":{"role":"assistant","content":"#,
    r#""The tide tables for the harbour give high water at six and again at"},"#,
    r#""finish_reason":"length"}],"#,
    r#""usage":{"prompt_tokens":38,"completion_tokens":16,"total_tokens":54}}"#,
);

/// The most bytes of a request's head and of its body.
const REQUEST_BYTES_MAX: u64 = 1 << 20;

/// The provider's name in a home's configuration.
pub(super) const NAME: &str = "loopback";

/// Answers with the bytes of a file until standard input ends.
pub(super) fn serve(receipts: &Path, body: &Path, printer: &mut Printer) -> anyhow::Result<u8> {
    let body = fs::read(body).with_context(|| format!("reading {}", body.display()))?;
    let mut receipts = OpenOptions::new()
        .create(true)
        .append(true)
        .open(receipts)
        .with_context(|| format!("opening {}", receipts.display()))?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("listening on loopback")?;
    let address = listener.local_addr().context("listening on loopback")?;
    printer.document(&json!({ "listening": address.to_string() }))?;
    printer.finish()?;
    std::thread::spawn(move || {
        for (number, stream) in (1_u64..).zip(listener.incoming()) {
            // A client that goes away is its own loss.
            stream
                .and_then(|stream| answer((&stream, number), &body, &mut receipts))
                .ok();
        }
    });
    io::copy(&mut io::stdin().lock(), &mut io::sink()).context("waiting for the end")?;
    Ok(exit::DONE)
}

fn answer(
    (stream, number): (&TcpStream, u64),
    answer: &[u8],
    receipts: &mut File,
) -> io::Result<()> {
    let mut reader = BufReader::new(stream.take(REQUEST_BYTES_MAX));
    let mut length = 0;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 0 && !line.trim().is_empty() {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
        line.clear();
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    let receipt = json!({
        "receipt": number,
        "request_sha256": model::Digest::of(&body).to_string(),
        "response_sha256": model::Digest::of(answer).to_string(),
    });
    writeln!(receipts, "{receipt}")?;
    receipts.sync_all()?;
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         x-request-id: demo-{number}\r\nset-cookie: session=never-kept\r\n\
         connection: close\r\n\r\n",
        answer.len()
    )?;
    stream.write_all(answer)
}

/// A running provider; it ends with this value.
pub(super) struct Provider {
    process: Child,
}

impl Provider {
    /// Starts a provider for a home: it answers with these bytes, writes its receipts
    /// beside the home's files, and is named in the home's configuration.
    pub(super) fn start(stage: &Stage, home: &str, body: &str) -> anyhow::Result<Self> {
        let answer = stage.path(home).join("answer.json");
        fs::write(&answer, body).context("writing the provider's answer")?;
        let mut process = Command::new(stage.program())
            .args(["--json", "demo-provider", "--receipts"])
            .arg(stage.path(home).join("receipts.log"))
            .arg("--body")
            .arg(&answer)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("starting the demo's provider")?;
        let mut line = String::new();
        if let Some(stdout) = process.stdout.take() {
            BufReader::new(stdout)
                .read_line(&mut line)
                .context("waiting for the demo's provider")?;
        }
        let said: Value = serde_json::from_str(&line).context("reading the provider's address")?;
        configure(stage, home, text(&said, "/listening"))?;
        Ok(Self { process })
    }
}

/// Names a provider in a home's configuration.
fn configure(stage: &Stage, home: &str, listening: &str) -> anyhow::Result<()> {
    let path = stage.path(home).join("config.toml");
    let config = fs::read_to_string(&path).context("reading config.toml")?;
    let config = format!(
        "{config}\n[providers.{NAME}]\nbase_url = \"http://{listening}/v1\"\n\
         dialect = \"openai.chat\"\nkey_env = \"{KEY_VARIABLE}\"\n"
    );
    fs::write(&path, config).context("writing config.toml")
}

impl Drop for Provider {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // It ends with its input; nothing is left to do when it does not.
        self.process.wait().ok();
    }
}
