//! The steps of a call, each durable before the next. A call that is made and one
//! that is recovered go through the same loop, which asks the ledger where it stands.

use model::decision::{Disposition, Occasion};
use model::event::attempt::{AttemptCompleted, AttemptRetryDecided, AttemptStarted, RecordedBy};
use model::event::call::{CallCompleted, CallRequested, CallStatusDecided};
use model::event::{Kind, Placed, Scope};
use model::projection::{CallState, Operation, Stage};
use model::{AttemptId, CallId};

use super::attempts::{
    attempt_status, decision_of, judged, last_observed, reading_of, reinterpreted,
};
use super::keys::{Standing, standing};
use super::received::Started;
use super::request::{excused, recorded_request};
use super::route::Route;
use super::{SecondEffect, not_next};
use crate::appending::{Lock, Proposal};
use crate::context::Session;
use crate::error::AppError;
use crate::evidence::{Evidence, Observed};
use crate::fault::{self, Step};
use crate::module::{LoadedInterpreter, LoadedPolicy};
use crate::readings::{attempt_facts, reading_event, recorded_reading, task_of};
use crate::state::{call_state, recorded_state};

/// Leads one call on.
pub(super) struct Recorder<'s> {
    pub(super) session: &'s mut Session,
    pub(super) call: CallId,
    pub(super) request: CallRequested,
    pub(super) interpreter: LoadedInterpreter,
    pub(super) policy: LoadedPolicy,
    /// What is sent; prepared when an attempt is to be made.
    pub(super) route: Option<Route>,
    /// The request's bytes, as the caller gave them again.
    pub(super) given: Option<Vec<u8>>,
    /// Whether to go on although another call of the key may have had its effect.
    pub(super) second_effect: SecondEffect,
    /// Decide although a newer pair was adopted meanwhile.
    pub(super) allow_older: bool,
    /// How many events were appended.
    pub(super) appended: u64,
    latency: Option<(AttemptId, u64)>,
}

impl<'s> Recorder<'s> {
    pub(super) fn new(
        session: &'s mut Session,
        call: CallId,
        request: CallRequested,
        (interpreter, policy): (LoadedInterpreter, LoadedPolicy),
    ) -> Self {
        Self {
            session,
            call,
            request,
            interpreter,
            policy,
            route: None,
            given: None,
            second_effect: SecondEffect::Refused,
            allow_older: false,
            appended: 0,
            latency: None,
        }
    }

    /// Returns the call's events and where it stands.
    pub(super) fn look(&self) -> Result<(Vec<Placed>, CallState), AppError> {
        let reader = self.session.ledger.reader();
        let evidence = Evidence::new(self.session.artifacts.clone(), reader)?;
        let events = reader.of_call(self.call)?;
        let state = call_state(reader, &evidence, &events)?.ok_or_else(|| AppError::Unknown {
            what: "call",
            name: self.call.to_string(),
        })?;
        Ok((events, state))
    }

    /// Goes on until the call is completed, or until nothing is safe to do.
    pub(super) fn drive(&mut self) -> Result<(), AppError> {
        let call = self.call;
        self.steps().map_err(|source| {
            if names_its_call(&source) {
                return source;
            }
            let source = Box::new(source);
            AppError::Stopped { call, source }
        })
    }

    fn steps(&mut self) -> Result<(), AppError> {
        loop {
            let (events, state) = self.look()?;
            if state.next_operation == Operation::None && !self.allow_older {
                match state.stage {
                    // The bytes cannot be read, and reading them says why.
                    Stage::Observed if !reinterpreted(&events) => self.read()?,
                    Stage::Requested | Stage::ManifestRecorded => self.answered(&state)?,
                    Stage::Replayed
                    | Stage::Completed
                    | Stage::PreparationFailed
                    | Stage::EffectUnknown
                    | Stage::Observed
                    | Stage::Interpreted
                    | Stage::RetryDecided
                    | Stage::Decided => return Ok(()),
                }
                continue;
            }
            match state.stage {
                Stage::Requested => self.manifest()?,
                Stage::ManifestRecorded | Stage::RetryDecided => self.attempt(&events)?,
                Stage::Observed => self.read()?,
                Stage::Interpreted => {
                    self.read()?;
                    self.decide()?;
                }
                Stage::Decided => self.finalize()?,
                Stage::Replayed
                | Stage::Completed
                | Stage::PreparationFailed
                | Stage::EffectUnknown => return Ok(()),
            }
        }
    }

    /// Records what will be sent.
    fn manifest(&mut self) -> Result<(), AppError> {
        let call = self.call;
        let body = self.route()?.manifest();
        let ((), appended) =
            self.session
                .appender()
                .decide(call, Lock::WhenMoved, |stamp, reader, events| {
                    let state = standing_at(reader, events, call)?;
                    let (true, Some(first)) = (
                        state.stage == Stage::Requested,
                        events.first().filter(|_| startable(&state)),
                    ) else {
                        return Err(not_next("the manifest", &state));
                    };
                    let event =
                        stamp.event(Some(first.event.id), first.event.scope, body.clone())?;
                    Ok(Proposal::Append(Step::Manifest, vec![event], ()))
                })?;
        self.appended += appended;
        Ok(())
    }

    /// Lets another call of the key answer that was completed meanwhile.
    fn answered(&mut self, state: &CallState) -> Result<(), AppError> {
        let evidence = Evidence::new(self.session.artifacts.clone(), self.session.ledger.reader())?;
        let Self {
            session,
            call,
            request,
            ..
        } = self;
        let ((), appended) =
            session
                .appender()
                .decide(*call, Lock::Always, |stamp, reader, events| {
                    match (standing(reader, request, *call)?, events.first()) {
                        (Standing::Answered(answer), Some(requested)) => {
                            let event = answer.event(&evidence, &requested.event, stamp)?;
                            Ok(Proposal::Append(Step::Replayed, vec![event], ()))
                        }
                        (Standing::Forbidden(refusal), _) => Err(refusal.into()),
                        _ => Err(not_next("an attempt", state)),
                    }
                })?;
        self.appended += appended;
        Ok(())
    }

    /// Makes one attempt: that it starts is durable before the request leaves.
    fn attempt(&mut self, events: &[Placed]) -> Result<(), AppError> {
        self.prepare(events)?;
        if let Some(last) = events.iter().rev().find_map(Observed::of) {
            std::thread::sleep(self.route()?.wait(last.body.index, last.retry_after()));
        }
        let started = self.start()?;
        let route = self.route()?;
        let faults = self.session.context.faults.as_ref();
        let received = fault::around(faults, Step::Exchange, || Ok(route.exchange()))?;
        let latency = u64::try_from(received.latency.as_millis()).unwrap_or(u64::MAX);
        let (index, attempt) = (started.index, started.attempt);
        let notice = received.detail.clone();
        self.latency = Some((attempt, latency));
        self.keep(received, started, events)?;
        let notices = &mut self.session.notices;
        notices.extend(notice.map(|detail| format!("attempt {index}: {detail}")));
        Ok(())
    }

    fn route(&self) -> Result<&Route, AppError> {
        let unprepared = || AppError::Damage("nothing is prepared to send".to_owned());
        self.route.as_ref().ok_or_else(unprepared)
    }

    /// Records that an attempt starts, unless the call or its key moved.
    fn start(&mut self) -> Result<Started, AppError> {
        let Self {
            session,
            call,
            request,
            second_effect,
            ..
        } = self;
        let (started, appended) =
            session
                .appender()
                .decide(*call, Lock::Always, |stamp, reader, events| {
                    let state = standing_at(reader, events, *call)?;
                    if !startable(&state) {
                        return Err(not_next("an attempt", &state));
                    }
                    if let Standing::Forbidden(refusal) = standing(reader, request, *call)?
                        && !excused(&refusal, *second_effect)
                    {
                        return Err(refusal.into());
                    }
                    let (manifest, recorded) = recorded_request(events)
                        .ok_or_else(|| AppError::Damage(format!("call {call} has no manifest")))?;
                    let attempt = stamp.attempt_id()?;
                    let index = state.attempt_count + 1;
                    let scope = Scope {
                        task: task_of(events),
                        call: Some(*call),
                        attempt: Some(attempt),
                    };
                    let body = AttemptStarted {
                        index,
                        request: recorded.clone(),
                    };
                    let event = stamp.event(Some(manifest), scope, body)?;
                    let started = Started {
                        attempt,
                        index,
                        event: event.id,
                        request: recorded.clone(),
                    };
                    Ok(Proposal::Append(Step::Started, vec![event], started))
                })?;
        self.appended += appended;
        Ok(started)
    }

    /// Records the reading of the last observation by the interpreter that the call
    /// names, where it is missing.
    pub(super) fn read(&mut self) -> Result<(), AppError> {
        let evidence = Evidence::new(self.session.artifacts.clone(), self.session.ledger.reader())?;
        let Self {
            session,
            call,
            interpreter,
            ..
        } = self;
        let ((), appended) =
            session
                .appender()
                .decide(*call, Lock::WhenMoved, |stamp, _reader, events| {
                    let observed = last_observed(events)?;
                    if recorded_reading(events, observed.attempt, interpreter).is_some() {
                        return Ok(Proposal::Answer(()));
                    }
                    let fresh = interpreter.read(&evidence, observed)?;
                    let scope = Scope {
                        task: task_of(events),
                        call: Some(*call),
                        attempt: Some(observed.attempt),
                    };
                    let occasion = (scope, RecordedBy::Execution);
                    let event = reading_event(interpreter, &fresh, occasion, stamp)?;
                    Ok(Proposal::Append(Step::Interpreted, vec![event], ()))
                })?;
        self.appended += appended;
        Ok(())
    }

    /// Records what the policy says of the last attempt, where that is missing.
    pub(super) fn decide(&mut self) -> Result<(), AppError> {
        let Self {
            session,
            call,
            request,
            interpreter,
            policy,
            latency,
            allow_older,
            ..
        } = self;
        let ((), appended) =
            session
                .appender()
                .decide(*call, Lock::WhenMoved, |stamp, _reader, events| {
                    let observed = last_observed(events)?;
                    let attempt = observed.attempt;
                    if decision_of(events, attempt).is_some() || overtaken(events, *allow_older) {
                        return Ok(Proposal::Answer(()));
                    }
                    let (interpretation, recorded) = reading_of(events, attempt, interpreter)?;
                    let elapsed = latency.and_then(|(of, ms)| (of == attempt).then_some(ms));
                    let reading = &recorded.reading;
                    let facts = attempt_facts(observed, reading, request.max_attempts, elapsed);
                    let decision = policy.decide_attempt(&facts)?;
                    let scope = Scope {
                        task: task_of(events),
                        call: Some(*call),
                        attempt: Some(attempt),
                    };
                    let retries = decision.disposition == Disposition::Retry;
                    let decided = AttemptRetryDecided {
                        policy: request.policy.clone(),
                        policy_config_sha256: request.policy_config_sha256,
                        decision: decision.disposition,
                        reason: decision.reason,
                        executed: retries && facts.index < facts.max_attempts,
                    };
                    let decided = stamp.event(Some(interpretation), scope, decided)?;
                    let completed = AttemptCompleted {
                        index: facts.index,
                        status: attempt_status(decision.disposition),
                        error_class: reading.error_class.clone(),
                        latency_ms: elapsed,
                    };
                    let completed = stamp.event(Some(decided.id), scope, completed)?;
                    let events = vec![decided, completed];
                    Ok(Proposal::Append(Step::RetryDecided, events, ()))
                })?;
        self.appended += appended;
        Ok(())
    }

    /// Records what became of the call, where that is missing.
    pub(super) fn finalize(&mut self) -> Result<(), AppError> {
        let Self {
            session,
            call,
            request,
            interpreter,
            policy,
            allow_older,
            ..
        } = self;
        let ((), appended) =
            session
                .appender()
                .decide(*call, Lock::WhenMoved, |stamp, _reader, events| {
                    let completed = events
                        .iter()
                        .any(|one| one.event.kind() == Kind::CallCompleted);
                    if completed || overtaken(events, *allow_older) {
                        return Ok(Proposal::Answer(()));
                    }
                    let (judged, interpretations) = judged(events, interpreter, request)?;
                    let decision = policy.decide_call(&judged, Occasion::Execution)?;
                    let scope = Scope {
                        task: task_of(events),
                        call: Some(*call),
                        attempt: None,
                    };
                    let cause = events
                        .iter()
                        .rev()
                        .find(|one| one.event.kind() == Kind::AttemptRetryDecided)
                        .map(|one| one.event.id);
                    let decided = CallStatusDecided {
                        interpreter: request.interpreter.clone(),
                        policy: request.policy.clone(),
                        interpreter_config_sha256: request.interpreter_config_sha256,
                        policy_config_sha256: request.policy_config_sha256,
                        status: decision.status,
                        reason: decision.reason,
                        interpretations: interpretations.clone(),
                    };
                    let decided = stamp.event(cause, scope, decided)?;
                    let completed = CallCompleted {
                        status: decision.status,
                        attempts: u32::try_from(judged.len()).unwrap_or(u32::MAX),
                        decision_basis: interpretations.last().copied(),
                    };
                    let completed = stamp.event(Some(decided.id), scope, completed)?;
                    let events = vec![decided, completed];
                    Ok(Proposal::Append(Step::StatusDecided, events, ()))
                })?;
        self.appended += appended;
        Ok(())
    }
}

/// Returns whether a message says already which call or attempt it is about.
const fn names_its_call(error: &AppError) -> bool {
    if let AppError::Call(refusal) = error {
        return refusal.names_its_call();
    }
    matches!(
        error,
        AppError::Preparation { .. } | AppError::Observation(_) | AppError::ResponseLost { .. }
    )
}

/// Returns whether another process reinterpreted the call meanwhile: its status is
/// adopted from there, and nobody steps back from it unasked.
fn overtaken(events: &[Placed], allow_older: bool) -> bool {
    !allow_older && reinterpreted(events)
}

/// Returns where the call stands, from what is recorded.
pub(super) fn standing_at(
    reader: store::Reader<'_>,
    events: &[Placed],
    call: CallId,
) -> Result<CallState, AppError> {
    recorded_state(reader, events)?.ok_or_else(|| AppError::Unknown {
        what: "call",
        name: call.to_string(),
    })
}

/// Returns whether an attempt of the call may start.
const fn startable(state: &CallState) -> bool {
    matches!(
        state.next_operation,
        Operation::StartCall | Operation::StartNextAttempt
    )
}
