//! `check run`: evidence about exact bytes, by a verifier that decides nothing.

mod command;

use std::path::Path;
use std::time::Duration;

use model::event::task::{CheckCompleted, CheckRequested, Finding, TaskOutput, Verdict, Verifier};
use model::event::{ArtifactRef, Body, Kind, Placed, Preservation, Scope};
use model::{Digest, EventId, TaskId};
use serde::Serialize;
use store::VerifiedBytes;

use crate::appending::{Lock, Proposal};
use crate::context::Session;
use crate::error::AppError;
use crate::fault::{self, Step};
use crate::module::LoadedCheck;

/// The longest time that a check may take, in seconds.
const TIMEOUT_S_MAX: u64 = 24 * 60 * 60;

/// What is known of a program's environment without naming anything secret.
const ENVIRONMENT: [&str; 6] = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "USER"];

/// Which bytes to check, and how.
#[derive(Debug, Clone, Copy)]
pub struct CheckOptions<'a> {
    /// The task.
    pub task: TaskId,
    /// The output that the bytes are meant to be.
    pub output: &'a str,
    /// The bytes.
    pub artifact: Digest,
    /// What checks them.
    pub verifier: CheckVerifier<'a>,
    /// The criteria that the verifier covers, from 0; none means all.
    pub covers: Option<&'a [u64]>,
    /// How long it may take, in seconds.
    pub timeout_s: u64,
}

/// What checks bytes.
#[derive(Debug, Clone, Copy)]
pub enum CheckVerifier<'a> {
    /// A program and its arguments.
    Command(&'a [String]),
    /// A module of the world `check`, by label or hash, and its configuration.
    Module(&'a str, Option<&'a Path>),
}

/// A verifier that is ready to run.
enum Ready<'a> {
    Command(&'a [String]),
    Module(Box<LoadedCheck>),
}

/// A check that ended.
#[derive(Debug, Clone, Serialize)]
pub struct CheckDone {
    /// The event that an acceptance cites.
    pub check: EventId,
    /// The event that announced it.
    pub requested: EventId,
    /// The task.
    pub task: TaskId,
    /// The output.
    pub output: String,
    /// The bytes.
    pub artifact_sha256: Digest,
    /// What was found.
    pub verdict: Verdict,
    /// Why the verdict is ERROR.
    pub why: Option<String>,
    /// Of the program.
    pub exit_code: Option<i32>,
    /// What it printed.
    pub stdout: Option<ArtifactRef>,
    /// What it complained of.
    pub stderr: Option<ArtifactRef>,
    /// By criterion.
    pub findings: Vec<Finding>,
    /// The criteria that it covers.
    pub covers: Vec<u64>,
    /// The criteria of the output that it does not cover.
    pub uncovered: Vec<u64>,
    /// How many events were appended: one where an intent without a verdict was
    /// continued, else two.
    pub appended: u64,
}

/// Whether an intent that has no verdict may be continued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asking {
    Continue,
    Anew,
}

/// An intent, and whether it was appended now.
#[derive(Debug, Clone, Copy)]
struct Requested {
    id: EventId,
    appended: u64,
}

/// A verdict that is recorded.
struct Concluded {
    check: EventId,
    requested: EventId,
    stdout: Option<ArtifactRef>,
    stderr: Option<ArtifactRef>,
    appended: u64,
}

impl CheckOptions<'_> {
    fn bounds(&self) -> Result<(), AppError> {
        if matches!(self.verifier, CheckVerifier::Command([])) {
            return Err(AppError::Usage("a check needs a program to run".to_owned()));
        }
        if (1..=TIMEOUT_S_MAX).contains(&self.timeout_s) {
            return Ok(());
        }
        Err(AppError::Usage(format!(
            "--timeout-s: expected 1 to {TIMEOUT_S_MAX}, found {}",
            self.timeout_s
        )))
    }
}

impl Session {
    /// Runs a verifier over exact bytes and records what it says. The intent is durable
    /// before it runs; one that was left without a verdict is continued.
    pub fn check(&mut self, options: CheckOptions<'_>) -> Result<CheckDone, AppError> {
        let declared = self.declared_output(options.task, options.output)?;
        let covers = covered(&declared.output, options.covers)?;
        options.bounds()?;
        let ready = self.ready(options.verifier)?;
        let bytes = self.artifacts.get(options.artifact)?;
        let body = CheckRequested {
            output: options.output.to_owned(),
            target: format!("artifact:{}", options.artifact),
            verifier: ready.recorded(),
            covers: covers.clone(),
            criteria_sha256: declared.output.criteria_sha256,
            timeout_s: options.timeout_s,
        };
        let mut asking = Asking::Continue;
        let (recorded, answer) = loop {
            let requested = self.announce((options.task, declared.declaration), &body, asking)?;
            let answer = self.ask(&ready, &options, (&bytes, &declared.output, &covers))?;
            let recorded = self.conclude(options.task, requested, &answer)?;
            if let Some(recorded) = recorded {
                break (recorded, answer);
            }
            // Another process ended the check that both continued: what was found here
            // is not lost, it is found again for a check of its own.
            asking = Asking::Anew;
        };
        let count = u64::try_from(declared.output.criteria.len()).unwrap_or(u64::MAX);
        Ok(CheckDone {
            check: recorded.check,
            requested: recorded.requested,
            task: options.task,
            output: options.output.to_owned(),
            artifact_sha256: options.artifact,
            verdict: answer.verdict,
            why: answer.why,
            exit_code: answer.exit_code,
            stdout: recorded.stdout,
            stderr: recorded.stderr,
            findings: answer.findings,
            uncovered: (0..count).filter(|one| !covers.contains(one)).collect(),
            covers,
            appended: recorded.appended,
        })
    }

    /// Makes the intent durable, or continues the same intent of the same actor that has
    /// no verdict yet: its process died, or its module failed.
    fn announce(
        &mut self,
        (task, declaration): (TaskId, EventId),
        body: &CheckRequested,
        asking: Asking,
    ) -> Result<Requested, AppError> {
        let scope = Scope {
            task: Some(task),
            ..Scope::default()
        };
        let actor = self.context.actor.clone();
        let (id, appended) =
            self.appender()
                .decide(task, Lock::WhenMoved, |stamp, _ledger, events| {
                    let standing = events.iter().find(|placed| {
                        matches!(&placed.event.body, Body::CheckRequested(one) if one == body)
                            && placed.event.actor == actor
                            && completion_of(placed.event.id, events).is_none()
                    });
                    if let (Asking::Continue, Some(standing)) = (asking, standing) {
                        return Ok(Proposal::Answer(standing.event.id));
                    }
                    let event = stamp.event(Some(declaration), scope, body.clone())?;
                    let id = event.id;
                    Ok(Proposal::Append(Step::CheckRequested, vec![event], id))
                })?;
        Ok(Requested { id, appended })
    }

    /// Records what a check found; none when another process did so for the same intent.
    fn conclude(
        &mut self,
        task: TaskId,
        requested: Requested,
        answer: &command::Answer,
    ) -> Result<Option<Concluded>, AppError> {
        let (stdout, stderr) = self.keep_streams(answer)?;
        let body = CheckCompleted {
            verdict: answer.verdict,
            exit_code: answer.exit_code,
            stdout: stdout.clone(),
            stderr: stderr.clone(),
            findings: answer.findings.clone(),
        };
        let scope = Scope {
            task: Some(task),
            ..Scope::default()
        };
        let (check, appended) =
            self.appender()
                .decide(task, Lock::WhenMoved, |stamp, _ledger, events| {
                    if completion_of(requested.id, events).is_some() {
                        return Ok(Proposal::Answer(None));
                    }
                    let event = stamp.event(Some(requested.id), scope, Box::new(body.clone()))?;
                    let id = event.id;
                    Ok(Proposal::Append(
                        Step::CheckCompleted,
                        vec![event],
                        Some(id),
                    ))
                })?;
        Ok(check.map(|check| Concluded {
            check,
            requested: requested.id,
            stdout,
            stderr,
            appended: requested.appended + appended,
        }))
    }

    fn ready<'v>(&mut self, verifier: CheckVerifier<'v>) -> Result<Ready<'v>, AppError> {
        match verifier {
            CheckVerifier::Command(argv) => Ok(Ready::Command(argv)),
            CheckVerifier::Module(name, config) => {
                let module = self.load_check(name, config)?;
                module.keep_config(&self.artifacts)?;
                Ok(Ready::Module(Box::new(module)))
            }
        }
    }

    /// Runs a verifier. A module that fails or refuses has no verdict: that is told as
    /// every failure of a module, and the check stays without completion.
    fn ask(
        &self,
        ready: &Ready<'_>,
        options: &CheckOptions<'_>,
        (bytes, output, covers): (&VerifiedBytes, &TaskOutput, &[u64]),
    ) -> Result<command::Answer, AppError> {
        match ready {
            Ready::Command(argv) => command::Question {
                argv,
                artifact: bytes.as_slice(),
                sha256: options.artifact,
                output: options.output,
                criteria: &output.criteria,
                covers,
                timeout: Duration::from_secs(options.timeout_s),
                environment: self.environment(),
            }
            .ask(),
            Ready::Module(module) => module
                .check(&output.criteria, bytes.as_slice())
                .map(|report| command::Answer::of(report, covers)),
        }
    }

    fn environment(&self) -> Vec<(&'static str, std::ffi::OsString)> {
        let known = |name| (self.context.variable)(name).map(|value| (name, value));
        ENVIRONMENT.into_iter().filter_map(known).collect()
    }

    /// Makes what a verifier printed durable; nothing printed is no artifact.
    fn keep_streams(
        &self,
        answer: &command::Answer,
    ) -> Result<(Option<ArtifactRef>, Option<ArtifactRef>), AppError> {
        let keep = |bytes: &[u8]| {
            if bytes.is_empty() {
                return Ok(None);
            }
            Ok::<_, AppError>(Some(ArtifactRef {
                sha256: self.artifacts.put(bytes)?,
                length: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
                media_type: "application/octet-stream".to_owned(),
                preservation: Preservation::Keep,
            }))
        };
        let faults = self.context.faults.as_ref();
        fault::around(faults, Step::CheckStreams, || {
            Ok((keep(&answer.stdout)?, keep(&answer.stderr)?))
        })
    }

    /// Returns an output of a task with the event that declared it.
    fn declared_output(&self, task: TaskId, name: &str) -> Result<DeclaredOutput, AppError> {
        let declaration = self.declared(task)?.declaration;
        let placed = self.ledger.reader().by_id(declaration)?;
        let outputs = placed.map(|placed| placed.event.body);
        let Some(Body::TaskCreated(created)) = outputs else {
            return Err(AppError::Damage(format!("{declaration} declares no task")));
        };
        let found = created.outputs.into_iter().find(|one| one.name == name);
        let output = found.ok_or_else(|| AppError::Unknown {
            what: "output",
            name: name.to_owned(),
        })?;
        Ok(DeclaredOutput {
            declaration,
            output,
        })
    }
}

/// Returns the event that ended a check.
fn completion_of(requested: EventId, events: &[Placed]) -> Option<EventId> {
    let ended = events.iter().find(|placed| {
        placed.event.kind() == Kind::CheckCompleted && placed.event.cause == Some(requested)
    });
    ended.map(|placed| placed.event.id)
}

impl Ready<'_> {
    fn recorded(&self) -> Verifier {
        match self {
            Self::Command(argv) => Verifier::Command {
                argv: argv.to_vec(),
            },
            Self::Module(module) => Verifier::Module {
                module: module.module.clone(),
                config_sha256: module.config_sha256(),
            },
        }
    }
}

/// An output, and the event that declared it.
struct DeclaredOutput {
    declaration: EventId,
    output: TaskOutput,
}

/// Returns the criteria that a check covers: those named, in order, else all.
fn covered(output: &TaskOutput, named: Option<&[u64]>) -> Result<Vec<u64>, AppError> {
    let count = u64::try_from(output.criteria.len()).unwrap_or(u64::MAX);
    let Some(named) = named else {
        return Ok((0..count).collect());
    };
    let mut covers = named.to_vec();
    covers.sort_unstable();
    covers.dedup();
    match covers.iter().find(|one| **one >= count) {
        Some(beyond) => Err(AppError::Usage(format!(
            "--covers: output {} has {count} criteria, counted from 0; found {beyond}",
            output.name
        ))),
        None => Ok(covers),
    }
}
