//! A home in a temporary folder, and processes of the built binary over it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use model::Digest;
use serde_json::Value;

use crate::ledger;

pub(crate) const V1: [&str; 4] = [
    "--interpreter",
    "attempt-interpretation-v1",
    "--policy",
    "attempt-policy-v1",
];
pub(crate) const V2: [&str; 4] = [
    "--interpreter",
    "attempt-interpretation-v2",
    "--policy",
    "attempt-policy-v2",
];

pub(crate) const V3: [&str; 4] = [
    "--interpreter",
    "attempt-interpretation-v3",
    "--policy",
    "attempt-policy-v3",
];

/// The released modules, one line each, with comments.
const HASHES: &str = include_str!("../interpreters/HASHES");

/// The modules that a new home registers.
pub(crate) const MODULES: u64 = lines_of_modules(HASHES.as_bytes());

/// The events of a new home: its creation, and one for each released module.
pub(crate) const INIT_EVENTS: u64 = 1 + MODULES;

const fn lines_of_modules(mut text: &[u8]) -> u64 {
    let mut lines = 0;
    let mut comment = false;
    let mut start = true;
    while let Some((byte, rest)) = text.split_first() {
        if start {
            comment = *byte == b'#';
        }
        start = *byte == b'\n';
        if start && !comment {
            lines += 1;
        }
        text = rest;
    }
    lines
}

/// Returns the place in the ledger of the so-many-th event after those of a new home.
pub(crate) const fn after_init(events: u64) -> u64 {
    INIT_EVENTS + events
}

/// Puts places in the ledger into a text: `@2` is the second event after those of a
/// new home.
pub(crate) fn placed(text: &str) -> String {
    let mut parts = text.split('@');
    let mut placed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(part.len());
        match part[..digits].parse() {
            Ok(events) => placed.push_str(&after_init(events).to_string()),
            Err(_) => placed.push('@'),
        }
        placed.push_str(&part[digits..]);
    }
    placed
}

/// Returns whether tests that take long are to run; says so when they are not.
#[expect(
    clippy::disallowed_methods,
    reason = "`.ci/long` asks for them this way"
)]
pub(crate) fn long(what: &str) -> bool {
    let asked = std::env::var("REREAD_LONG").is_ok();
    if !asked {
        println!("skipped {what}: set REREAD_LONG to run it");
    }
    asked
}

/// Returns the project's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A home in a folder that goes away with it.
pub(crate) struct TestHome {
    folder: tempfile::TempDir,
}

/// What one process did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ran {
    /// Returns the JSON lines that were printed.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Returns the one JSON document that was printed.
    pub(crate) fn document(&self) -> Value {
        let lines = self.lines();
        assert_eq!(lines.len(), 1, "expected one document: {self:?}");
        lines[0].clone()
    }

    /// Returns the error that was printed as JSON.
    pub(crate) fn error(&self) -> Value {
        let line = self
            .stderr
            .lines()
            .find(|line| line.starts_with("{\"error\""));
        let line = line.unwrap_or_else(|| panic!("no error in {self:?}"));
        serde_json::from_str::<Value>(line).unwrap()["error"].clone()
    }

    /// Asserts the exit code and returns the error's name and message.
    pub(crate) fn refused(&self, code: i32) -> (String, String) {
        assert_eq!(self.code, code, "{self:?}");
        let error = self.error();
        assert_eq!(error["exit_code"], code, "{error}");
        let text = |name: &str| error[name].as_str().unwrap().to_owned();
        (text("code"), text("message"))
    }
}

impl TestHome {
    /// Makes a home: a copy of one that `init` made for this process, so that the
    /// released modules are compiled once and not for each test.
    pub(crate) fn new() -> Self {
        static TEMPLATE: OnceLock<PathBuf> = OnceLock::new();
        let template = TEMPLATE.get_or_init(|| {
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
            remove_templates_of_dead_processes(folder);
            let path = folder.join(format!("template-{}", std::process::id()));
            fs::remove_dir_all(&path).ok();
            let made: Ran = Command::new(env!("CARGO_BIN_EXE_reread"))
                .arg("--home")
                .arg(&path)
                .arg("init")
                .output()
                .unwrap()
                .into();
            assert_eq!(made.code, 0, "{made:?}");
            path
        });
        let home = Self::missing();
        copy_folder(template, &home.path());
        home
    }

    /// Makes a home with `init`, with a ledger id of its own.
    pub(crate) fn fresh() -> Self {
        let home = Self::missing();
        home.must(&["init"]);
        home
    }

    /// Names a home that is not there yet.
    pub(crate) fn missing() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Makes a home and imports exchange lines. Returns what was printed of each.
    pub(crate) fn importing(lines: &[Value]) -> (Self, Vec<Value>) {
        let home = Self::new();
        let imported = home.import(lines);
        (home, imported)
    }

    /// Imports exchange lines and returns what was printed of each.
    pub(crate) fn import(&self, lines: &[Value]) -> Vec<Value> {
        let path = self.write_exchanges("exchanges.jsonl", lines);
        let mut printed = self
            .must(&["import", "exchange", path.to_str().unwrap()])
            .lines();
        printed.pop();
        printed
    }

    /// Writes a file of exchange lines beside the home.
    pub(crate) fn write_exchanges(&self, name: &str, lines: &[Value]) -> PathBuf {
        let text: Vec<_> = lines.iter().map(Value::to_string).collect();
        self.write(name, format!("{}\n", text.join("\n")).as_bytes())
    }

    /// Writes a file beside the home.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Returns the home's folder.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Returns the file of an artifact.
    pub(crate) fn artifact(&self, sha256: &str) -> PathBuf {
        let hex = sha256.strip_prefix("sha256:").unwrap();
        self.path()
            .join("artifacts/sha256")
            .join(&hex[..2])
            .join(&hex[2..])
    }

    /// Returns a command over this home, not yet started.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reread"));
        command
            .env_remove("REREAD_HOME")
            .arg("--home")
            .arg(self.path());
        command.args(arguments);
        command
    }

    /// Runs a command with `--json` and waits for it.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Ran {
        self.command(arguments)
            .arg("--json")
            .output()
            .unwrap()
            .into()
    }

    /// Runs a command that must succeed.
    pub(crate) fn must<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{ran:?}");
        ran
    }

    /// Runs a command that must be refused with this exit code and change nothing:
    /// no row of the ledger and no file of the home. Returns the error's name and
    /// message.
    pub(crate) fn refuses<S: AsRef<OsStr>>(&self, arguments: &[S], code: i32) -> (String, String) {
        let before = (ledger::rows(self), self.files());
        let refused = self.run(arguments).refused(code);
        assert_eq!(ledger::rows(self), before.0, "the ledger changed");
        assert_eq!(self.files(), before.1, "the files changed");
        refused
    }

    /// Returns the files of the home with the hashes of their bytes, without those
    /// of the ledger, which change whenever it is opened, and the cache.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, Digest> {
        let mut found = files_in(&self.path());
        found.retain(|path, _| {
            let name = path.to_str().unwrap();
            !name.starts_with("ledger.sqlite3") && !name.starts_with("cache/")
        });
        found
    }

    /// Returns how many events the ledger holds.
    pub(crate) fn event_count(&self) -> u64 {
        self.must(&["state"]).document()["ledger_event_count"]
            .as_u64()
            .unwrap()
    }

    /// Copies the home to another one.
    pub(crate) fn copy(&self) -> Self {
        let copy = Self::missing();
        copy_folder(&self.path(), &copy.path());
        copy
    }
}

/// A test process cannot clean up after its last test, so the next one does.
fn remove_templates_of_dead_processes(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if let Some(process) = name.strip_prefix("template-")
            && !Path::new("/proc").join(process).exists()
        {
            fs::remove_dir_all(path).ok();
        }
    }
}

/// Returns the files below a folder with the hashes of their bytes.
pub(crate) fn files_in(folder: &Path) -> BTreeMap<PathBuf, Digest> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                found.insert(name, Digest::of(&fs::read(&path).unwrap()));
            }
        }
    }
    found
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Returns a text of a document.
pub(crate) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name]
        .as_str()
        .unwrap_or_else(|| panic!("no text {name} in {value}"))
}

/// An exchange line of the chat dialect with this text and finish reason.
pub(crate) fn chat(id: &str, text: &str, finish_reason: &str) -> Value {
    let body = serde_json::json!({
        "id": format!("chatcmpl-{id}"),
        "model": "kestrel-2",
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": finish_reason,
        }],
        "usage": {"prompt_tokens": 38, "completion_tokens": 26, "total_tokens": 64},
    });
    exchange(id, "openai.chat", 200, &body.to_string())
}

/// An exchange line with this body.
pub(crate) fn exchange(id: &str, dialect: &str, status: u16, body: &str) -> Value {
    serde_json::json!({
        "id": id,
        "dialect": dialect,
        "provider": "kestrel",
        "request": {"method": "POST", "path": "/v1/x", "body_utf8": "{\"model\":\"kestrel-2\"}"},
        "response": {
            "status": status,
            "headers": {"content-type": "application/json"},
            "body_utf8": body,
        },
    })
}

/// Runs `sqlite3` statements over a ledger, the way someone without this program would.
pub(crate) fn sql(home: &TestHome, statements: &str) -> Result<(), rusqlite::Error> {
    let connection = rusqlite::Connection::open(home.path().join("ledger.sqlite3"))?;
    connection.execute_batch(statements)
}
