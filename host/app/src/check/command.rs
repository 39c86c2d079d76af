//! A verifier that is an external program, run in a process of its own.
//!
//! The protocol, as `reread check run --help` states it: the bytes are standard input,
//! a private copy that is hashed before the program starts and again when it ended.
//! The exit code is the verdict: 0 PASS, 1 FAIL, 2 INCONCLUSIVE; anything else, a
//! signal, a passed limit or a program that cannot start is ERROR. Standard output may
//! be one JSON object with `findings`.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use model::Digest;
use model::checking::CheckReport;
use model::event::task::{Finding, Verdict};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use serde_json::Value;

use crate::error::AppError;

/// The most bytes of standard output, and of standard error.
pub(super) const STREAM_BYTES_MAX: usize = 1 << 20;

/// The most bytes of a note of a finding.
const NOTE_BYTES_MAX: usize = 256;

/// How long the streams may stay open when the program has ended: whoever else holds
/// them is not waited for.
const STREAMS_AFTER_END: Duration = Duration::from_secs(2);

/// What a verifier is given.
pub(super) struct Question<'a> {
    pub(super) argv: &'a [String],
    pub(super) artifact: &'a [u8],
    pub(super) sha256: Digest,
    pub(super) output: &'a str,
    pub(super) criteria: &'a [String],
    pub(super) covers: &'a [u64],
    pub(super) timeout: Duration,
    /// Variables of the environment that a program needs to run at all.
    pub(super) environment: Vec<(&'static str, std::ffi::OsString)>,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) verdict: Verdict,
    pub(super) exit_code: Option<i32>,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) findings: Vec<Finding>,
    /// Why the verdict is ERROR.
    pub(super) why: Option<String>,
}

/// How a program ended.
enum Ended {
    By(ExitStatus),
    TimedOut,
    TooMuch,
    Lost(io::Error),
}

enum Told {
    Exited(io::Result<ExitStatus>),
    TimedOut,
    TooMuch,
    Stream(Stream, Vec<u8>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stream {
    Out,
    Err,
}

impl Question<'_> {
    /// Runs the verifier to its end or its limits. Fails only when the private copy
    /// cannot be made.
    pub(super) fn ask(&self) -> Result<Answer, AppError> {
        let mut copy = self.private_copy()?;
        let given = copy.try_clone().map_err(copying)?;
        let child = match self.command(given).spawn() {
            Ok(child) => child,
            Err(error) => {
                let program = self.argv.first().map_or("", String::as_str);
                return Ok(Answer::error(format!(
                    "{program} cannot be started: {error}"
                )));
            }
        };
        let (ended, stdout, stderr) = watch(child, self.timeout);
        let mut answer = self.judge(ended, stdout, stderr);
        if !self.is_whole(&mut copy)? {
            answer.fail("the verifier changed its copy of the bytes".to_owned());
        }
        Ok(answer)
    }

    /// Returns whether the copy still holds the bytes. One of another length is not read:
    /// the verifier may have made it as long as it liked.
    fn is_whole(&self, copy: &mut File) -> Result<bool, AppError> {
        let length = copy.metadata().map_err(copying)?.len();
        let same = usize::try_from(length) == Ok(self.artifact.len());
        Ok(same && hash_of(copy)? == self.sha256)
    }

    /// Makes a file without a name that holds the bytes, and reads it back.
    fn private_copy(&self) -> Result<File, AppError> {
        let mut copy = tempfile::tempfile().map_err(copying)?;
        copy.write_all(self.artifact).map_err(copying)?;
        let found = hash_of(&mut copy)?;
        if found != self.sha256 {
            return Err(AppError::Damage(format!(
                "the copy of {} for the check hashes to {found}",
                self.sha256
            )));
        }
        Ok(copy)
    }

    fn command(&self, copy: File) -> Command {
        let (program, arguments) = match self.argv {
            [program, arguments @ ..] => (program.as_str(), arguments),
            [] => ("", [].as_slice()),
        };
        let covers: Vec<_> = self.covers.iter().map(ToString::to_string).collect();
        let criteria = serde_json::to_string(self.criteria).unwrap_or_default();
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .env("REREAD_ARTIFACT", "/dev/stdin")
            .env("REREAD_ARTIFACT_SHA256", self.sha256.to_string())
            .env("REREAD_OUTPUT", self.output)
            .env("REREAD_CRITERIA", criteria)
            .env("REREAD_COVERS", covers.join(","))
            .stdin(Stdio::from(copy))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Whatever it starts ends with it.
            .process_group(0);
        command
    }

    fn judge(&self, ended: Ended, stdout: Vec<u8>, stderr: Vec<u8>) -> Answer {
        let mut answer = Answer {
            verdict: Verdict::Error,
            exit_code: None,
            stdout,
            stderr,
            findings: Vec::new(),
            why: None,
        };
        match ended {
            Ended::By(status) => {
                answer.exit_code = status.code();
                match (status.code(), status.signal()) {
                    (Some(0), _) => answer.verdict = Verdict::Pass,
                    (Some(1), _) => answer.verdict = Verdict::Fail,
                    (Some(2), _) => answer.verdict = Verdict::Inconclusive,
                    (Some(code), _) => answer.fail(format!("exit code {code} is no verdict")),
                    (None, signal) => {
                        answer.fail(format!("ended by signal {}", signal.unwrap_or_default()));
                    }
                }
            }
            Ended::TimedOut => {
                answer.fail(format!("no end after {} s", self.timeout.as_secs()));
            }
            Ended::TooMuch => answer.fail(format!("more than {STREAM_BYTES_MAX} bytes of output")),
            Ended::Lost(error) => answer.fail(format!("its end cannot be told: {error}")),
        }
        if answer.verdict != Verdict::Error {
            match findings(&answer.stdout, self.covers, answer.verdict) {
                Ok(findings) => answer.findings = findings,
                Err(why) => answer.fail(why),
            }
        }
        answer
    }
}

impl Answer {
    /// Takes what a module says; findings beyond what it covers are left out.
    pub(super) fn of(report: CheckReport, covers: &[u64]) -> Self {
        let mut findings = report.findings;
        findings.retain(|finding| covers.contains(&finding.criterion));
        Self {
            verdict: report.verdict,
            exit_code: None,
            stdout: Vec::new(),
            stderr: Vec::new(),
            findings,
            why: None,
        }
    }

    fn error(why: String) -> Self {
        Self {
            verdict: Verdict::Error,
            exit_code: None,
            stdout: Vec::new(),
            stderr: Vec::new(),
            findings: Vec::new(),
            why: Some(why),
        }
    }

    fn fail(&mut self, why: String) {
        self.verdict = Verdict::Error;
        self.findings.clear();
        self.why = Some(why);
    }
}

fn copying(source: io::Error) -> AppError {
    AppError::File {
        path: std::path::PathBuf::from("(the private copy of a check)"),
        source,
    }
}

fn hash_of(file: &mut File) -> Result<Digest, AppError> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))
        .and_then(|_| file.read_to_end(&mut bytes))
        .and_then(|_| file.seek(SeekFrom::Start(0)))
        .map_err(copying)?;
    Ok(Digest::of(&bytes))
}

/// Waits for the end of a program and of its streams, within the limits.
fn watch(child: Child, timeout: Duration) -> (Ended, Vec<u8>, Vec<u8>) {
    let mut child = child;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (sender, told) = channel();
    for (stream, pipe) in [
        (Stream::Out, child.stdout.take().map(boxed)),
        (Stream::Err, child.stderr.take().map(boxed)),
    ] {
        if let Some(pipe) = pipe {
            let sender = sender.clone();
            std::thread::spawn(move || drain(stream, pipe, &sender));
        }
    }
    let timer = sender.clone();
    std::thread::spawn(move || {
        std::thread::sleep(timeout);
        timer.send(Told::TimedOut).ok();
    });
    std::thread::spawn(move || sender.send(Told::Exited(child.wait())));
    let mut streams = (None, None);
    let mut ended = wait_for_end(&told, &mut streams);
    if let Some(group) = group {
        // Nobody is left in it where all went well.
        kill_process_group(group, Signal::KILL).ok();
    }
    while streams.0.is_none() || streams.1.is_none() {
        match told.recv_timeout(STREAMS_AFTER_END) {
            Ok(Told::Stream(stream, bytes)) => keep(&mut streams, stream, bytes),
            // It may have ended before anybody read what it printed.
            Ok(Told::TooMuch) => ended = Ended::TooMuch,
            Ok(Told::Exited(_) | Told::TimedOut) => {}
            Err(_) => break,
        }
    }
    let (stdout, stderr) = streams;
    (
        ended,
        stdout.unwrap_or_default(),
        stderr.unwrap_or_default(),
    )
}

type Streams = (Option<Vec<u8>>, Option<Vec<u8>>);

fn keep(streams: &mut Streams, stream: Stream, bytes: Vec<u8>) {
    match stream {
        Stream::Out => streams.0 = Some(bytes),
        Stream::Err => streams.1 = Some(bytes),
    }
}

fn wait_for_end(told: &Receiver<Told>, streams: &mut Streams) -> Ended {
    loop {
        match told.recv() {
            Ok(Told::Exited(Ok(status))) => return Ended::By(status),
            Ok(Told::Exited(Err(error))) => return Ended::Lost(error),
            Ok(Told::TimedOut) => return Ended::TimedOut,
            Ok(Told::TooMuch) => return Ended::TooMuch,
            Ok(Told::Stream(stream, bytes)) => keep(streams, stream, bytes),
            Err(_gone) => return Ended::Lost(io::Error::other("nobody tells of it")),
        }
    }
}

fn boxed(pipe: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(pipe)
}

/// Reads a stream to its end or its limit.
fn drain(stream: Stream, pipe: Box<dyn Read + Send>, sender: &Sender<Told>) {
    let mut bytes = Vec::new();
    let bound = u64::try_from(STREAM_BYTES_MAX).unwrap_or(u64::MAX);
    // What a broken pipe leaves is what there is.
    let mut pipe = pipe.take(bound + 1);
    pipe.read_to_end(&mut bytes).ok();
    if bytes.len() > STREAM_BYTES_MAX {
        bytes.truncate(STREAM_BYTES_MAX);
        // The pipe is still open: whoever writes waits, and is not ended by it first.
        sender.send(Told::TooMuch).ok();
    }
    sender.send(Told::Stream(stream, bytes)).ok();
    drop(pipe);
}

/// Reads what a verifier says of single criteria. Output that does not begin with an
/// object that has findings is output; one that does must be what the protocol says,
/// since a finding that is not understood could be the one that counts.
fn findings(stdout: &[u8], covers: &[u64], verdict: Verdict) -> Result<Vec<Finding>, String> {
    #[derive(Deserialize)]
    struct Report {
        findings: Vec<Finding>,
    }
    let mut values = serde_json::Deserializer::from_slice(stdout).into_iter::<Value>();
    match values.next() {
        Some(Ok(Value::Object(said))) if said.contains_key("findings") => {}
        _ => return Ok(Vec::new()),
    }
    let report = serde_json::from_slice::<Report>(stdout)
        .map_err(|error| format!("its findings are not of the form that is asked for: {error}"))?;
    let mut last = None;
    for finding in &report.findings {
        let criterion = finding.criterion;
        if !covers.contains(&criterion) {
            return Err(format!(
                "a finding is about criterion {criterion}, which is not covered"
            ));
        }
        if last.is_some_and(|last| last >= criterion) {
            return Err(format!(
                "the finding about criterion {criterion} is out of order"
            ));
        }
        if finding.note.len() > NOTE_BYTES_MAX {
            return Err(format!(
                "the note about criterion {criterion} has {} bytes, at most {NOTE_BYTES_MAX} are \
                 kept",
                finding.note.len()
            ));
        }
        if verdict == Verdict::Pass && finding.verdict != Verdict::Pass {
            return Err(format!(
                "exit code 0 says PASS, but the finding about criterion {criterion} does not"
            ));
        }
        last = Some(criterion);
    }
    Ok(report.findings)
}
