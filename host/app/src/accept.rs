//! `accept`: a decision by another actor about exact bytes, with everything it rests
//! on. Completion is derived from it and from nothing else.

mod derivations;
mod facts;

use model::acceptance::{AcceptanceRequest, PriorAcceptance, SourceOutput};
use model::bounds::CHECKS_MAX;
use model::event::task::{TaskAcceptanceRejected, TaskAccepted, TaskCompleted};
use model::event::{Body, Event, Kind, Placed, Scope};
use model::name::Mod;
use model::projection::adopted::adopted;
use model::{AttemptId, CallId, Digest, EventId, TaskId};
use serde::Serialize;
use store::ArtifactError;

use crate::appending::{Lock, Proposal};
use crate::context::{Session, Stamp};
use crate::error::AppError;
use crate::evidence::Evidence;
use crate::fault::Step;
use crate::module::{LoadedAcceptance, LoadedInterpreter};
use facts::{Finder, Found};

/// The rules by which outputs are accepted when none are named.
pub const DEFAULT_ACCEPTANCE: &str = "task-acceptance-v2";

/// The capability that the declaration of a task grants to whoever may accept.
const ACCEPT: &str = "accept";

/// What an actor wants to accept, and what it cites.
#[derive(Debug, Clone)]
pub struct AcceptOptions<'a> {
    /// The task.
    pub task: TaskId,
    /// The output.
    pub output: &'a str,
    /// The bytes.
    pub artifact: Digest,
    /// The criteria that the actor means; those declared when none is given.
    pub criteria: Option<Digest>,
    /// The call; that of the reading when none is given.
    pub call: Option<CallId>,
    /// The attempt; that of the reading when none is given.
    pub attempt: Option<AttemptId>,
    /// The reading that yields the bytes.
    pub interpretation: Option<EventId>,
    /// The `check.completed` events.
    pub checks: Vec<EventId>,
    /// The rules, by label or hash.
    pub policy: Option<&'a str>,
}

/// What is asked for, with every reference filled in.
struct Acceptance<'a> {
    task: TaskId,
    output: &'a str,
    artifact: Digest,
    criteria: Digest,
    call: Option<CallId>,
    attempt: Option<AttemptId>,
    interpretation: Option<EventId>,
    checks: Vec<EventId>,
    policy: Mod,
}

/// What became of an acceptance.
#[derive(Debug, Clone, Serialize)]
pub struct AcceptDone {
    /// The task.
    pub task: TaskId,
    /// The output.
    pub output: String,
    /// The bytes.
    pub artifact_sha256: Digest,
    /// Whether they are accepted.
    pub accepted: bool,
    /// Every reason against, in a stable order.
    pub reasons: Vec<String>,
    /// The acceptance.
    pub acceptance: Option<EventId>,
    /// The completion that follows from it.
    pub completion: Option<EventId>,
    /// The rejection.
    pub rejection: Option<EventId>,
    /// The rules.
    pub policy: Mod,
    /// How many events were appended.
    pub appended: u64,
}

/// What a round of judging came to.
enum Judged {
    Accepted(EventId),
    Standing(EventId),
    Rejected {
        event: EventId,
        reasons: Vec<String>,
    },
    /// The call was reinterpreted meanwhile: another interpreter makes its text.
    Moved,
}

/// How often another process may reinterpret the call while it is judged.
const ROUNDS_MAX: u32 = 16;

impl Session {
    /// Judges an acceptance by every reference it cites, and records what came of it:
    /// an acceptance and the completion that follows, or one rejection with every
    /// reason. An identical repeat appends what is missing and nothing else.
    pub fn accept(&mut self, options: &AcceptOptions<'_>) -> Result<AcceptDone, AppError> {
        self.accepted(options).map_err(unjudged)
    }

    fn accepted(&mut self, options: &AcceptOptions<'_>) -> Result<AcceptDone, AppError> {
        let asked = self.asked(options)?;
        let rules = self.load_acceptance(asked.policy.label.as_str())?;
        let mut appended = 0;
        let mut judged = Judged::Moved;
        for _ in 0..ROUNDS_MAX {
            if !matches!(judged, Judged::Moved) {
                break;
            }
            (judged, appended) = self.judge(&asked, &rules)?;
        }
        let acceptance = match judged {
            Judged::Accepted(id) | Judged::Standing(id) => id,
            Judged::Rejected { event, reasons } => {
                return Ok(asked.done(false, reasons, (None, None, Some(event)), appended));
            }
            Judged::Moved => {
                return Err(AppError::Forbidden(
                    "the call is reinterpreted again and again: nothing was recorded".to_owned(),
                ));
            }
        };
        let (completion, more) = self.complete(&asked, acceptance)?;
        appended += more;
        let ids = (Some(acceptance), Some(completion), None);
        Ok(asked.done(true, Vec::new(), ids, appended))
    }

    /// Judges once, by the interpreter that is adopted now.
    fn judge(
        &mut self,
        asked: &Acceptance<'_>,
        rules: &LoadedAcceptance,
    ) -> Result<(Judged, u64), AppError> {
        let reader = self.adopted_interpreter(asked.call)?;
        let evidence = Evidence::new(self.artifacts.clone(), self.ledger.reader())?;
        let actor = self.context.actor.clone();
        let finder = Finder {
            asked,
            actor: &actor,
            evidence: &evidence,
            adopted_reader: reader.as_ref(),
        };
        let request = AcceptanceRequest {
            actor: Some(actor.clone()),
            artifact_sha256: asked.artifact,
            criteria_sha256: asked.criteria,
        };
        let scope = Scope {
            task: Some(asked.task),
            ..Scope::default()
        };
        self.appender()
            .decide(asked.task, Lock::WhenMoved, |stamp, ledger, events| {
                let found = finder.find(ledger, events)?;
                if found.moved {
                    return Ok(Proposal::Answer(Judged::Moved));
                }
                let reasons = rules.decide(&request, &found.facts)?;
                if reasons.is_empty() && found.facts.prior == PriorAcceptance::Identical {
                    confirm(&found, asked)?;
                    let standing = found.standing.map(|(id, _)| id);
                    let standing = standing.ok_or_else(|| impossible(asked))?;
                    return Ok(Proposal::Answer(Judged::Standing(standing)));
                }
                asked.proposal(&found, reasons, (stamp, scope), events)
            })
    }

    /// Appends the completion that follows from an acceptance, where it is missing.
    fn complete(
        &mut self,
        asked: &Acceptance<'_>,
        acceptance: EventId,
    ) -> Result<(EventId, u64), AppError> {
        self.appender()
            .decide(asked.task, Lock::WhenMoved, |stamp, _ledger, events| {
                let standing = events.iter().find(|placed| {
                    placed.event.kind() == Kind::TaskCompleted
                        && placed.event.cause == Some(acceptance)
                });
                if let Some(standing) = standing {
                    return Ok(Proposal::Answer(standing.event.id));
                }
                let body = TaskCompleted {
                    output: asked.output.to_owned(),
                    artifact_sha256: asked.artifact,
                    acceptance,
                };
                let scope = Scope {
                    task: Some(asked.task),
                    ..Scope::default()
                };
                let event = stamp.event(Some(acceptance), scope, body)?;
                let id = event.id;
                Ok(Proposal::Append(Step::TaskCompleted, vec![event], id))
            })
    }

    /// Fills in what was left out.
    fn asked<'a>(&mut self, options: &AcceptOptions<'a>) -> Result<Acceptance<'a>, AppError> {
        let reader = self.ledger.reader();
        let events = reader.of_task(options.task)?;
        let declared = events.iter().find_map(|placed| {
            let Body::TaskCreated(body) = &placed.event.body else {
                return None;
            };
            Some(body)
        });
        let declared = declared.ok_or_else(|| AppError::Unjudged {
            reason: "unknown_task",
            detail: format!("no task {} is declared", options.task),
        })?;
        let mut checks: Vec<EventId> = Vec::new();
        for check in &options.checks {
            if !checks.contains(check) {
                checks.push(*check);
            }
        }
        if checks.len() > CHECKS_MAX {
            return Err(AppError::Usage(format!(
                "expected at most {CHECKS_MAX} checks, found {}",
                checks.len()
            )));
        }
        let output = declared
            .outputs
            .iter()
            .find(|one| one.name == options.output);
        let criteria = options.criteria.or(output.map(|one| one.criteria_sha256));
        let criteria = criteria.ok_or_else(|| AppError::Unknown {
            what: "output",
            name: options.output.to_owned(),
        })?;
        let named = match options.interpretation {
            Some(id) => reader.by_id(id)?.map(|placed| placed.event.scope),
            None => None,
        };
        let policy = options.policy.unwrap_or(DEFAULT_ACCEPTANCE);
        let registered = self
            .catalog
            .find(policy)
            .ok()
            .filter(|one| one.world == "acceptance");
        let policy = registered.ok_or_else(|| AppError::Unjudged {
            reason: "unknown_policy",
            detail: format!("{policy} is no registered module of world acceptance"),
        })?;
        Ok(Acceptance {
            task: options.task,
            output: options.output,
            artifact: options.artifact,
            criteria,
            call: options.call.or(named.and_then(|scope| scope.call)),
            attempt: options.attempt.or(named.and_then(|scope| scope.attempt)),
            interpretation: options.interpretation,
            checks,
            policy: policy.module.clone(),
        })
    }

    /// Returns the interpreter of a call's adopted status, with that status' record.
    fn adopted_interpreter(
        &mut self,
        call: Option<CallId>,
    ) -> Result<Option<(EventId, LoadedInterpreter)>, AppError> {
        let Some(call) = call else { return Ok(None) };
        let events = self.ledger.reader().of_call(call)?;
        let Some(adopted) = adopted(events.iter()) else {
            return Ok(None);
        };
        let pair = adopted.pair;
        let loaded = self.load_recorded_interpreter(&pair.interpreter, pair.interpreter_config)?;
        Ok(Some((adopted.record, loaded)))
    }
}

impl Acceptance<'_> {
    fn proposal(
        &self,
        found: &Found,
        reasons: Vec<String>,
        (stamp, scope): (&Stamp<'_>, Scope),
        events: &[Placed],
    ) -> Result<Proposal<Judged>, AppError> {
        let granted = found
            .facts
            .task
            .capabilities
            .iter()
            .any(|one| one == ACCEPT);
        let authority = granted.then(|| format!("task.created grants {ACCEPT}"));
        if let (true, Some(authority), Some(interpretation)) =
            (reasons.is_empty(), authority.clone(), self.interpretation)
        {
            let accepted = TaskAccepted {
                policy: self.policy.clone(),
                output: self.output.to_owned(),
                artifact_sha256: self.artifact,
                criteria_sha256: self.criteria,
                interpretation,
                checks: self.checks.clone(),
                authority,
            };
            let cause = self.checks.last().copied();
            let event = stamp.event(cause, scope, Box::new(accepted))?;
            let id = event.id;
            return Ok(Proposal::Append(
                Step::Accepted,
                vec![event],
                Judged::Accepted(id),
            ));
        }
        if reasons.is_empty() {
            return Err(impossible(self));
        }
        let body = TaskAcceptanceRejected {
            policy: self.policy.clone(),
            output: self.output.to_owned(),
            artifact_sha256: self.artifact,
            criteria_sha256: self.criteria,
            interpretation: self.interpretation,
            checks: self.checks.clone(),
            authority,
            reasons: reasons.clone(),
        };
        let event = stamp.event(Some(found.declaration), scope, Box::new(body))?;
        // The same answer to the same question is recorded once.
        if let Some(recorded) = recorded_rejection(events, &event) {
            let event = recorded;
            return Ok(Proposal::Answer(Judged::Rejected { event, reasons }));
        }
        let id = event.id;
        let judged = Judged::Rejected { event: id, reasons };
        Ok(Proposal::Append(
            Step::AcceptanceRejected,
            vec![event],
            judged,
        ))
    }

    fn done(
        &self,
        accepted: bool,
        reasons: Vec<String>,
        (acceptance, completion, rejection): (Option<EventId>, Option<EventId>, Option<EventId>),
        appended: u64,
    ) -> AcceptDone {
        AcceptDone {
            task: self.task,
            output: self.output.to_owned(),
            artifact_sha256: self.artifact,
            accepted,
            reasons,
            acceptance,
            completion,
            rejection,
            policy: self.policy.clone(),
            appended,
        }
    }
}

/// Turns the failure of the artifact store into the answer that an acceptance gives to
/// it: nothing is judged, nothing is recorded. Other errors stay what they are.
pub fn unjudged(error: AppError) -> AppError {
    if let AppError::Artifact(source @ ArtifactError::Io { .. }) = error {
        return AppError::Unjudged {
            reason: "artifact_store_unavailable",
            detail: source.to_string(),
        };
    }
    error
}

/// A recorded acceptance is confirmed only while everything it rests on can be read.
fn confirm(found: &Found, asked: &Acceptance<'_>) -> Result<(), AppError> {
    let source = &found.facts.source;
    let word = match source.output {
        SourceOutput::Unavailable(word) => Some(word),
        SourceOutput::Text(_) | SourceOutput::NoText => None,
    };
    let Some(word) = facts::gone(source.artifact).or(word) else {
        return Ok(());
    };
    let recorded = found.standing.as_ref().map(|(id, _)| id.to_string());
    Err(AppError::Forbidden(format!(
        "acceptance {} of {} cannot be confirmed: bytes that it rests on are {word}",
        recorded.unwrap_or_default(),
        asked.artifact
    )))
}

fn impossible(asked: &Acceptance<'_>) -> AppError {
    AppError::Damage(format!(
        "{} accepts what has no authority, reading or standing acceptance",
        asked.policy
    ))
}

/// Returns the rejection that says the same of the same, by the same actor.
fn recorded_rejection(events: &[Placed], event: &Event) -> Option<EventId> {
    let same =
        |placed: &&Placed| placed.event.actor == event.actor && placed.event.body == event.body;
    events.iter().rev().find(same).map(|placed| placed.event.id)
}
