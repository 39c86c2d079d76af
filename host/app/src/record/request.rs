//! `call run`: a new intent, and everything up to its end.

use model::bounds::{ATTEMPTS_MAX, REQUEST_BYTES_MAX};
use model::event::call::{CallPreparationFailed, CallReplayed, CallRequested};
use model::event::{ArtifactRef, Event, Placed, Preservation, Scope};
use model::{CallId, EventId};

use super::keys::{Answer, Standing, standing};
use super::route::{Route, Unprepared, request_ref, requested_model};
use super::steps::Recorder;
use super::{CallAdvanced, CallOptions, Refusal, SecondEffect};
use crate::appending::{Lock, Proposal};
use crate::config::Config;
use crate::context::{Session, Stamp};
use crate::error::AppError;
use crate::evidence::{Evidence, Observed, naming};
use crate::fault::{self, Step};
use crate::module::Rules;
use crate::{files, names};

/// An intent that is not yet recorded.
pub(super) struct Intent {
    pub(super) scope: Scope,
    pub(super) cause: Option<EventId>,
    pub(super) body: CallRequested,
}

impl CallOptions<'_> {
    fn check(&self) -> Result<(), AppError> {
        if !(1..=ATTEMPTS_MAX).contains(&self.max_attempts) {
            return Err(AppError::Usage(format!(
                "--max-attempts: expected 1 to {ATTEMPTS_MAX}, found {}",
                self.max_attempts
            )));
        }
        if let Some(key) = self.idempotency_key {
            names::check("--idempotency-key", key)?;
        }
        names::check("--provider", self.provider)
    }
}

/// What recording an intent came to.
enum Outcome {
    /// The call can be made.
    Intended,
    /// A completed call answers for it.
    Replayed,
    /// It cannot be made.
    Unprepared,
}

impl Session {
    /// Asks a provider and records everything: intent before the request leaves,
    /// bytes before what was seen, what was seen before what it means.
    pub fn call(&mut self, options: CallOptions<'_>) -> Result<CallAdvanced, AppError> {
        options.check()?;
        let task = options.task.map(|task| self.declared(task)).transpose()?;
        let rules = self.load_rules(options.names)?;
        let second_effect = options.second_effect;
        let provider = Config::load(&self.context.home)?
            .provider(options.provider)?
            .clone();
        let dialect = provider.dialect(options.provider)?;
        let read = files::read(options.request, REQUEST_BYTES_MAX);
        let pair = rules.pair();
        let call = self.stamp().call_id()?;
        let intent = Intent {
            scope: Scope {
                task: task.map(|task| task.task),
                call: Some(call),
                attempt: None,
            },
            cause: task.map(|task| task.declaration),
            body: CallRequested {
                provider: options.provider.to_owned(),
                dialect: dialect.to_owned(),
                endpoint: provider.endpoint(dialect),
                request: read.as_ref().ok().map(|body| request_ref(body)),
                requested_model: read.as_ref().ok().and_then(|body| requested_model(body)),
                idempotency_key: options.idempotency_key.map(str::to_owned),
                interpreter: pair.interpreter,
                policy: pair.policy,
                interpreter_config_sha256: pair.interpreter_config,
                policy_config_sha256: pair.policy_config,
                preservation: Preservation::Keep,
                max_attempts: options.max_attempts,
            },
        };
        // What will be refused leaves no artifact behind; it is asked again below,
        // where nobody can come between.
        intent.allowed(self.ledger.reader(), call, second_effect)?;
        let route = match read {
            Ok(body) => {
                self.keep_request(&body)?;
                Route::prepare(&self.context, &provider, dialect, body)
            }
            Err(error) => Err(Unprepared::request_file(error)),
        };
        self.keep_configs(&rules)?;
        let (outcome, appended) =
            self.intend(&intent, call, route.as_ref().err(), second_effect)?;
        match (outcome, route) {
            (Outcome::Replayed, _) => self.advanced(call, appended, None),
            (Outcome::Intended, Ok(route)) => {
                let mut recorder =
                    Recorder::new(self, call, intent.body, (rules.interpreter, rules.policy));
                recorder.route = Some(route);
                recorder.second_effect = second_effect;
                recorder.appended = appended;
                recorder.drive()?;
                let appended = recorder.appended;
                self.advanced(call, appended, None)
            }
            (_, Err(Unprepared { stage, detail })) => Err(AppError::Preparation {
                call,
                stage,
                detail,
            }),
            (Outcome::Unprepared, Ok(_)) => Err(AppError::Damage(
                "a prepared call was recorded as unprepared".to_owned(),
            )),
        }
    }

    /// Makes a request durable, before anything names it.
    pub(super) fn keep_request(&self, body: &[u8]) -> Result<(), AppError> {
        let faults = self.context.faults.as_ref();
        fault::around(faults, Step::RequestArtifact, || {
            self.artifacts.put(body)?;
            Ok(())
        })
    }

    fn keep_configs(&self, rules: &Rules) -> Result<(), AppError> {
        let faults = self.context.faults.as_ref();
        fault::around(faults, Step::ConfigArtifacts, || {
            rules.interpreter.keep_config(&self.artifacts)?;
            rules.policy.keep_config(&self.artifacts)
        })
    }

    /// Records an intent, unless a completed call of its key answers for it or
    /// another one forbids it.
    fn intend(
        &mut self,
        intent: &Intent,
        call: CallId,
        unprepared: Option<&Unprepared>,
        second_effect: SecondEffect,
    ) -> Result<(Outcome, u64), AppError> {
        let evidence = Evidence::new(self.artifacts.clone(), self.ledger.reader())?;
        self.appender()
            .decide(call, Lock::Always, |stamp, reader, _events| {
                let requested = intent.event(stamp)?;
                if let Some(answer) = intent.allowed(reader, call, second_effect)? {
                    let replayed = answer.event(&evidence, &requested, stamp)?;
                    let events = vec![requested, replayed];
                    return Ok(Proposal::Append(Step::Replayed, events, Outcome::Replayed));
                }
                let Some(unprepared) = unprepared else {
                    let events = vec![requested];
                    return Ok(Proposal::Append(Step::Requested, events, Outcome::Intended));
                };
                let failed = unprepared.event(&requested, stamp)?;
                let events = vec![requested, failed];
                let outcome = Outcome::Unprepared;
                Ok(Proposal::Append(Step::PreparationFailed, events, outcome))
            })
    }
}

/// Returns whether the caller took the risk that a refusal is about.
pub(super) const fn excused(refusal: &Refusal, second_effect: SecondEffect) -> bool {
    matches!(refusal, Refusal::KeyInUse { .. }) && matches!(second_effect, SecondEffect::Accepted)
}

impl Intent {
    /// Looks at the other calls of the key. What could not be read is equal to
    /// nothing, and cannot be sent either.
    fn allowed(
        &self,
        reader: store::Reader<'_>,
        call: CallId,
        second_effect: SecondEffect,
    ) -> Result<Option<Box<Answer>>, AppError> {
        if self.body.request.is_none() {
            return Ok(None);
        }
        match standing(reader, &self.body, call)? {
            Standing::Forbidden(refusal) if !excused(&refusal, second_effect) => {
                Err(refusal.into())
            }
            Standing::Answered(answer) => Ok(Some(answer)),
            Standing::Free | Standing::Forbidden(_) => Ok(None),
        }
    }

    pub(super) fn event(&self, stamp: &Stamp<'_>) -> Result<Event, AppError> {
        stamp.event(self.cause, self.scope, self.body.clone())
    }
}

impl Unprepared {
    fn event(&self, requested: &Event, stamp: &Stamp<'_>) -> Result<Event, AppError> {
        let body = CallPreparationFailed {
            stage: self.stage.to_owned(),
            detail: self.detail.clone(),
        };
        stamp.event(Some(requested.id), requested.scope, body)
    }
}

impl Answer {
    /// Makes the event that says that this call answers. A recorded answer is given
    /// only while the bytes that it rests on can be read.
    pub(super) fn event(
        &self,
        evidence: &Evidence,
        requested: &Event,
        stamp: &Stamp<'_>,
    ) -> Result<Event, AppError> {
        let record = model::projection::adopted::adopted(self.events.iter());
        let observed: Vec<_> = self.events.iter().filter_map(Observed::of).collect();
        for one in &observed {
            evidence.bytes(*one).map_err(|error| match &record {
                Some(record) => naming(error, record.record),
                None => error,
            })?;
        }
        let body = CallReplayed {
            original_call: self.call,
            original_attempts: observed.iter().map(|one| one.attempt).collect(),
            original_status: self.status,
            reason: "a completed call of the same idempotency key answers for it".to_owned(),
        };
        stamp.event(Some(requested.id), requested.scope, body)
    }
}

/// Returns the request that a call's manifest names.
pub(super) fn recorded_request(events: &[Placed]) -> Option<(EventId, &ArtifactRef)> {
    events.iter().find_map(|placed| {
        let model::Body::CallManifest(body) = &placed.event.body else {
            return None;
        };
        Some((placed.event.id, &body.request))
    })
}
