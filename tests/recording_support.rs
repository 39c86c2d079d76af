//! A provider in a process of its own, and calls of the built binary to it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Ran, TestHome};

/// After this long a test that waits for a process fails; nothing else depends on it.
const PATIENCE: Duration = Duration::from_mins(2);

/// A request of the chat dialect.
pub(crate) const REQUEST: &[u8] =
    b"{\"model\": \"kestrel-2\",\n \"messages\": [{\"role\": \"user\", \"content\": \"h\xc3\xa9rons?\"}]}\n";

/// A provider that answers by a script, until it is dropped.
pub(crate) struct Provider {
    child: Child,
    told: Receiver<Value>,
    address: String,
    folder: tempfile::TempDir,
}

impl Provider {
    /// Starts a provider; `script` is an array of replies (`tests/provider/script.rs`).
    pub(crate) fn start(script: &Value) -> Self {
        Self::spawn(script, &[])
    }

    /// Starts a provider that speaks TLS. Returns the certificate to trust, too.
    pub(crate) fn start_tls(script: &Value) -> (Self, String) {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let certificate = made.cert.pem();
        let folder = tempfile::tempdir().unwrap();
        let paths = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
        fs::write(&paths[0], &certificate).unwrap();
        fs::write(&paths[1], made.signing_key.serialize_pem()).unwrap();
        let [cert, key] = paths.each_ref().map(|path| path.to_str().unwrap());
        (Self::spawn(script, &["--tls", cert, key]), certificate)
    }

    fn spawn(script: &Value, more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("script"), script.to_string()).unwrap();
        let program = program();
        let mut child = Command::new(&program)
            .args(["--script".as_ref(), path("script").as_os_str()])
            .args(["--receipts".as_ref(), path("receipts").as_os_str()])
            .args(["--sent".as_ref(), path("sent").as_os_str()])
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| {
                panic!(
                    "{}: {error}; `cargo build -p cli --example provider` makes it",
                    program.display()
                )
            });
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, told) = channel();
        thread::spawn(move || {
            for line in output.lines() {
                let line = serde_json::from_str(&line.unwrap()).unwrap();
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut provider = Self {
            child,
            told,
            address: String::new(),
            folder,
        };
        let listening = provider.wait_for("listening");
        listening
            .as_str()
            .unwrap()
            .clone_into(&mut provider.address);
        provider
    }

    /// Returns the next line that has this member, and passes over others.
    fn wait_for(&mut self, member: &str) -> Value {
        loop {
            let line = self.told.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|error| panic!("waiting for `{member}`: {error}"));
            if let Some(value) = line.get(member) {
                return value.clone();
            }
        }
    }

    /// Waits until the n-th request, from 1, was read whole and written down.
    pub(crate) fn wait_request(&mut self, number: u64) {
        while self.wait_for("request").as_u64().unwrap() < number {}
    }

    /// Waits until what was sent of the n-th reply, from 1, was written down.
    pub(crate) fn wait_sent(&mut self, number: u64) {
        while self.wait_for("sent").as_u64().unwrap() < number {}
    }

    /// Lets one held reply go.
    pub(crate) fn go(&mut self) {
        writeln!(self.child.stdin.as_mut().unwrap(), "go").unwrap();
    }

    /// Returns the address, `127.0.0.1:PORT`.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Returns a base URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns a line for each request that was read whole.
    pub(crate) fn receipts(&self) -> Vec<Value> {
        self.journal("receipts")
    }

    /// Returns a line for each reply, with what was sent of its body.
    pub(crate) fn sent(&self) -> Vec<Value> {
        self.journal("sent")
    }

    fn journal(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.folder.path().join(name)).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().ok();
    }
}

/// Cargo builds the examples of a package beside its programs.
fn program() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_reread")).with_file_name("examples/provider")
}

/// Makes a home that knows one provider, `kestrel`. `more` are further lines of TOML.
pub(crate) fn home_with(base_url: &str, dialect: &str, more: &str) -> TestHome {
    let home = TestHome::new();
    let config = home.path().join("config.toml");
    let before = fs::read_to_string(&config).unwrap();
    let table = format!(
        "\n[providers.kestrel]\nbase_url = \"{base_url}\"\ndialect = \"{dialect}\"\n{more}\n"
    );
    fs::write(&config, before + &table).unwrap();
    home
}

/// Makes a `call run` to `kestrel`, not yet started.
pub(crate) fn call(home: &TestHome, request: &[u8], more: &[&str]) -> Command {
    let file = home.write("request.json", request);
    let mut command = home.command(&["--json", "call", "run", "--provider", "kestrel"]);
    command.arg("--request").arg(file).args(more);
    command.stdin(Stdio::null());
    command
}

/// Makes one attempt and returns the document that was printed. The exit code is 0
/// whatever became of the call.
pub(crate) fn call_once(home: &TestHome, request: &[u8]) -> Value {
    let ran: Ran = call(home, request, &["--max-attempts", "1"])
        .output()
        .unwrap()
        .into();
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.document()
}

/// Returns what `show` prints of the observation of an attempt.
pub(crate) fn observation(home: &TestHome, attempt: &str) -> Value {
    let shown = home.must(&["show", attempt]).document();
    shown["observation"]["body"].clone()
}

/// A whole reply: a chat completion with the text `Two herons.`
pub(crate) fn chat_reply() -> Value {
    json!({
        "headers": [["content-type", "application/json"]],
        "body_utf8": CHAT_BODY,
    })
}

/// The body of [`chat_reply`].
pub(crate) const CHAT_BODY: &str = "{\"id\":\"chatcmpl-h\",\"model\":\"kestrel-2\",\"choices\":[{\"index\":0,\
    \"message\":{\"role\":\"assistant\",\"content\":\"Two herons.\"},\"finish_reason\":\"stop\"}]}";
