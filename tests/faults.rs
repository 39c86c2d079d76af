//! Commands that are stopped, held or failed at fault points, as only the process
//! that starts them can ask for.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::recording_support::{Provider, REQUEST, call, chat_reply, home_with};
use crate::support::{Ran, TestHome, text};

/// After this long a test that waits for a point fails; nothing else depends on it.
const PATIENCE: Duration = Duration::from_mins(2);

/// A process that runs with a script.
pub(crate) struct Armed {
    child: Child,
    told: BufReader<UnixStream>,
}

/// Returns the text of a script of these rules.
pub(crate) fn script(rules: &[&str]) -> String {
    let mut lines = vec!["reread-faults-1"];
    lines.extend(rules);
    lines.push("end\n");
    lines.join("\n")
}

/// Starts a command with a script of these rules.
pub(crate) fn start(mut command: Command, rules: &[&str]) -> Armed {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    ours.write_all(script(rules).as_bytes()).unwrap();
    ours.set_read_timeout(Some(PATIENCE)).unwrap();
    let child = command
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    Armed {
        child,
        told: BufReader::new(ours),
    }
}

impl Armed {
    /// Waits until the process tells of a point, and returns it.
    pub(crate) fn reached(&mut self) -> String {
        let mut line = String::new();
        self.told.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Lets a held process go on.
    pub(crate) fn go(&mut self) {
        self.told.get_mut().write_all(b"g").unwrap();
    }

    /// Ends the process with SIGKILL.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        let output = self.child.wait_with_output().unwrap();
        is_killed(&output);
    }

    /// Waits until the process ends.
    pub(crate) fn output(self) -> Output {
        self.child.wait_with_output().unwrap()
    }

    /// Waits until the process ends by itself.
    pub(crate) fn ran(self) -> Ran {
        self.output().into()
    }
}

fn is_killed(output: &Output) {
    assert_eq!(output.status.signal(), Some(9), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
}

/// Runs a command that kills itself at a point: `after:exchange 1`.
pub(crate) fn killed(command: Command, point: &str) {
    is_killed(&start(command, &[&format!("kill {point}")]).output());
}

/// Runs a command that fails at a point.
pub(crate) fn failed(command: Command, point: &str) -> Ran {
    start(command, &[&format!("fail {point}")]).ran()
}

/// Runs a command and returns what it did with the points that it reached.
pub(crate) fn traced(command: Command) -> (Ran, Vec<String>) {
    let Armed { child, mut told } = start(command, &["trace"]);
    let ran = Ran::from(child.wait_with_output().unwrap());
    let mut points = String::new();
    told.read_to_string(&mut points).unwrap();
    (ran, points.lines().map(str::to_owned).collect())
}

/// A provider, and a home that knows it.
pub(crate) struct Scene {
    pub(crate) provider: Provider,
    pub(crate) home: TestHome,
}

/// A call as the log tells it.
pub(crate) struct Logged {
    pub(crate) id: String,
    pub(crate) events: Vec<Value>,
}

impl Scene {
    /// Makes both; `more` are further lines of the provider's table.
    pub(crate) fn with(replies: &Value, more: &str) -> Self {
        let provider = Provider::start(replies);
        let more = format!("retry_wait_max_ms = 0\n{more}");
        let home = home_with(&provider.url(), "openai.chat", &more);
        Self { provider, home }
    }

    /// Makes a scene whose provider gives one good reply, again and again.
    pub(crate) fn answering() -> Self {
        Self::with(&json!([chat_reply()]), "")
    }

    /// Makes a scene whose provider is overloaded once, and then answers.
    pub(crate) fn overloaded_once() -> Self {
        Self::with(&json!([overloaded(), chat_reply()]), "")
    }

    /// Makes a `call run`, not yet started.
    pub(crate) fn call(&self, more: &[&str]) -> Command {
        call(&self.home, REQUEST, more)
    }

    /// Makes another command with `--json`, not yet started.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command(arguments);
        command.arg("--json").stdin(Stdio::null());
        command
    }

    /// Makes a call that is killed at a point, and returns its id.
    pub(crate) fn killed_call(&self, more: &[&str], point: &str) -> String {
        killed(self.call(more), point);
        self.calls().pop().unwrap().id
    }

    /// Returns how many requests the provider read whole.
    pub(crate) fn receipts(&self) -> usize {
        self.provider.receipts().len()
    }

    /// Returns every call of the log, in order.
    pub(crate) fn calls(&self) -> Vec<Logged> {
        logged(&self.home)
    }

    /// Returns the kinds of the events of a call, in order.
    pub(crate) fn kinds(&self, call: &str) -> Vec<String> {
        let calls = self.calls();
        calls.iter().find(|one| one.id == call).unwrap().kinds()
    }

    /// Returns the work state of a call.
    pub(crate) fn state(&self, call: &str) -> Value {
        self.home.must(&["state", "call", call]).document()
    }

    /// Asserts that a command is refused, appends nothing and sends nothing. Returns
    /// the error's name and message.
    pub(crate) fn refuses(&self, arguments: &[&str], code: i32) -> (String, String) {
        let before = self.receipts();
        let refused = self.home.refuses(arguments, code);
        assert_eq!(self.receipts(), before, "something was sent");
        refused
    }
}

impl Logged {
    /// Returns the kinds of the events, in order.
    pub(crate) fn kinds(&self) -> Vec<String> {
        let kinds = self.events.iter().map(|event| text(event, "kind"));
        kinds.map(str::to_owned).collect()
    }
}

/// Returns every call of a home's log, in the order of their first events.
pub(crate) fn logged(home: &TestHome) -> Vec<Logged> {
    let mut calls: Vec<Logged> = Vec::new();
    for event in home.must(&["log"]).lines() {
        let Some(id) = event["call"].as_str() else {
            continue;
        };
        let known = calls.iter().position(|one| one.id == id);
        let known = known.unwrap_or_else(|| {
            let (id, events) = (id.to_owned(), Vec::new());
            calls.push(Logged { id, events });
            calls.len() - 1
        });
        calls[known].events.push(event);
    }
    calls
}

/// A reply after which the policy tries again.
pub(crate) fn overloaded() -> Value {
    json!({
        "status_line": "HTTP/1.1 429 Too Many Requests",
        "headers": [["content-type", "application/json"]],
        "body_utf8": "{\"error\":{\"message\":\"Slow down.\",\"type\":\"rate_limit_error\"}}",
    })
}

/// What `state` says of a stage: its name, what is next, and why.
pub(crate) type Standing<'a> = (&'a str, &'a str, &'a str);

/// The refusal of an operation that is not what is next.
pub(crate) fn not_next(operation: &str, call: &str, at: Standing<'_>) -> (String, String) {
    let (stage, next, reason) = at;
    let message =
        format!("{operation} is refused: call {call} is at stage {stage}, next {next} ({reason})");
    ("not_next".to_owned(), message)
}

/// The refusal of a command that might have its effect twice.
pub(crate) fn effect_unknown(call: &str) -> (String, String) {
    let message = format!(
        "call {call}: an attempt was started and nothing was observed: its process waits still or \
         is gone, the provider may have served it, and sending again may have its effect twice"
    );
    ("effect_unknown".to_owned(), message)
}
