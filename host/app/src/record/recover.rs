//! `resume`, `redecide`, `finalize`, `recover`: continuing a call, only as far as is
//! safe. What may have had an effect is never repeated unless that is asked for.

use std::path::Path;

use model::bounds::REQUEST_BYTES_MAX;
use model::event::call::{CallRequested, CallResumed};
use model::event::{Body, Placed, Scope};
use model::projection::adopted::adopted;
use model::projection::{CallState, Operation, Stage};
use model::{CallId, EventId};

use super::attempts::reinterpreted;
use super::keys::{Standing, standing};
use super::prepare::{manifest_of, prepare_again, request_bytes};
use super::request::{Intent, excused};
use super::route::Route;
use super::steps::{Recorder, standing_at};
use super::{CallAdvanced, Refusal, SecondEffect, not_next};
use crate::appending::{Lock, Proposal};
use crate::context::Session;
use crate::error::AppError;
use crate::evidence::Evidence;
use crate::fault::Step;
use crate::files;
use crate::state::call_state;

/// How to continue a call.
#[derive(Debug, Clone, Copy, Default)]
pub struct ContinueOptions<'a> {
    /// The request's bytes, given again; they must be those that were recorded.
    pub request: Option<&'a Path>,
    /// Whether to send although the request may have been served before.
    pub second_effect: SecondEffect,
    /// Decide by the pair of the call although a newer one is adopted.
    pub allow_older: bool,
}

/// The intent of a call as it is recorded.
struct Recorded {
    events: Vec<Placed>,
    requested: EventId,
    scope: Scope,
    cause: Option<EventId>,
    request: CallRequested,
    state: CallState,
}

impl Session {
    /// Continues a call of which no attempt was started, as a new call.
    pub fn resume(
        &mut self,
        call: CallId,
        options: ContinueOptions<'_>,
    ) -> Result<CallAdvanced, AppError> {
        let old = self.recorded(call, "resume")?;
        self.resume_recorded(&old, options)
    }

    fn resume_recorded(
        &mut self,
        old: &Recorded,
        options: ContinueOptions<'_>,
    ) -> Result<CallAdvanced, AppError> {
        let second_effect = options.second_effect;
        resumable(&old.state, second_effect)?;
        let given = options
            .request
            .map(|path| files::read(path, REQUEST_BYTES_MAX));
        let body = request_bytes(self, old.state.call, &old.request, given.transpose()?)?;
        let route = self.route_of(old, body)?;
        let stamp = self.stamp();
        let call = stamp.call_id()?;
        let intent = Intent {
            scope: Scope {
                call: Some(call),
                ..old.scope
            },
            cause: old.cause,
            body: CallRequested {
                endpoint: route.endpoint(),
                ..old.request.clone()
            },
        };
        let loaded = self.load_recorded_pair(&old.request)?;
        self.keep_request(route.body())?;
        let ((), appended) =
            self.appender()
                .decide(old.state.call, Lock::Always, |stamp, reader, events| {
                    let state = standing_at(reader, events, old.state.call)?;
                    resumable(&state, second_effect)?;
                    if let Standing::Forbidden(refusal) =
                        standing(reader, &intent.body, old.state.call)?
                        && !excused(&refusal, second_effect)
                    {
                        return Err(refusal.into());
                    }
                    let body = CallResumed {
                        to_call: call,
                        prior_stage: state.stage.as_str().to_owned(),
                        basis: basis(state.stage).to_owned(),
                    };
                    let resumed = stamp.event(Some(old.requested), old.scope, body)?;
                    let events = vec![resumed, intent.event(stamp)?];
                    Ok(Proposal::Append(Step::Resumed, events, ()))
                })?;
        let mut recorder = Recorder::new(self, call, intent.body, loaded);
        recorder.route = Some(route);
        recorder.second_effect = second_effect;
        recorder.appended = appended;
        recorder.drive()?;
        let appended = recorder.appended;
        self.advanced(call, appended, Some(old.state.call))
    }

    /// Decides the last attempt of a call by the pair that the call names; the
    /// reading is made first where it is missing. Asks no provider.
    pub fn redecide(
        &mut self,
        call: CallId,
        options: ContinueOptions<'_>,
    ) -> Result<CallAdvanced, AppError> {
        let old = self.recorded(call, "redecide")?;
        let decided = [Stage::RetryDecided, Stage::Decided, Stage::Completed];
        if decided.contains(&old.state.stage) {
            return self.advanced(call, 0, None);
        }
        let ready = [Stage::Observed, Stage::Interpreted].contains(&old.state.stage);
        self.permit("redecide", &old, ready, options)?;
        let loaded = self.load_recorded_pair(&old.request)?;
        let mut recorder = Recorder::new(self, call, old.request, loaded);
        recorder.allow_older = options.allow_older;
        recorder.read()?;
        recorder.decide()?;
        let appended = recorder.appended;
        self.advanced(call, appended, None)
    }

    /// Decides the status of a call whose last attempt is decided. Asks no provider.
    pub fn finalize(
        &mut self,
        call: CallId,
        options: ContinueOptions<'_>,
    ) -> Result<CallAdvanced, AppError> {
        let old = self.recorded(call, "finalize")?;
        if old.state.stage == Stage::Completed {
            return self.advanced(call, 0, None);
        }
        let ready = old.state.stage == Stage::Decided;
        self.permit("finalize", &old, ready, options)?;
        let loaded = self.load_recorded_pair(&old.request)?;
        let mut recorder = Recorder::new(self, call, old.request, loaded);
        recorder.allow_older = options.allow_older;
        recorder.finalize()?;
        let appended = recorder.appended;
        self.advanced(call, appended, None)
    }

    /// Does what the work state of a call asks for, until it is completed or until
    /// nothing more is safe.
    pub fn recover(
        &mut self,
        call: CallId,
        options: ContinueOptions<'_>,
    ) -> Result<CallAdvanced, AppError> {
        let old = self.recorded(call, "recover")?;
        let reinterpreted = reinterpreted(&old.events);
        match old.state.next_operation {
            Operation::StartCall | Operation::ReconcileEffect => {
                return self.resume_recorded(&old, options);
            }
            Operation::FixInputs => return Err(not_next("recover", &old.state)),
            // What cannot be read is told as by every other reading.
            Operation::None if old.state.stage == Stage::Observed && !reinterpreted => {}
            Operation::None if !(reinterpreted && options.allow_older) => {
                return self.advanced(call, 0, None);
            }
            Operation::None
            | Operation::Reinterpret
            | Operation::Redecide
            | Operation::StartNextAttempt
            | Operation::FinalizeCall
            | Operation::CheckAndAccept
            | Operation::RepeatAcceptance => {}
        }
        let given = options
            .request
            .map(|path| files::read(path, REQUEST_BYTES_MAX));
        let given = given.transpose()?;
        let loaded = self.load_recorded_pair(&old.request)?;
        let mut recorder = Recorder::new(self, call, old.request, loaded);
        recorder.second_effect = options.second_effect;
        recorder.allow_older = reinterpreted && options.allow_older;
        recorder.given = given;
        recorder.drive()?;
        let appended = recorder.appended;
        self.advanced(call, appended, None)
    }

    /// Refuses what the work state does not ask for. A call that was reinterpreted
    /// before it was decided has its status from there: going back to the pair of the
    /// call is a step that must be asked for.
    fn permit(
        &self,
        operation: &'static str,
        old: &Recorded,
        ready: bool,
        options: ContinueOptions<'_>,
    ) -> Result<(), AppError> {
        if !ready {
            return Err(not_next(operation, &old.state));
        }
        let Some(adopted) = adopted(old.events.iter()).filter(|_| !options.allow_older) else {
            return Ok(());
        };
        let supersession = self.catalog.supersession();
        let pair = old.pair();
        match supersession.step_back(&adopted.pair, &pair) {
            Some(step) => Err(AppError::StepBack {
                newer: step.newer.clone(),
                older: step.older.clone(),
                record: adopted.record,
            }),
            None => Err(not_next(operation, &old.state)),
        }
    }

    fn recorded(&self, call: CallId, operation: &'static str) -> Result<Recorded, AppError> {
        let reader = self.ledger.reader();
        let evidence = Evidence::new(self.artifacts.clone(), reader)?;
        let events = reader.of_call(call)?;
        let Some(state) = call_state(reader, &evidence, &events)? else {
            return Err(AppError::Unknown {
                what: "call",
                name: call.to_string(),
            });
        };
        let intent = events.iter().find_map(|placed| {
            let Body::CallRequested(body) = &placed.event.body else {
                return None;
            };
            Some((&placed.event, body.clone()))
        });
        let Some((event, request)) = intent else {
            return Err(Refusal::Imported { operation, call }.into());
        };
        Ok(Recorded {
            requested: event.id,
            scope: event.scope,
            cause: event.cause,
            request,
            state,
            events,
        })
    }

    /// Prepares the request again and holds it against what was recorded.
    fn route_of(&self, old: &Recorded, body: Vec<u8>) -> Result<Route, AppError> {
        let manifest = old.events.iter().find_map(manifest_of);
        prepare_again(self, old.state.call, &old.request, (manifest, body))
    }

    fn load_recorded_pair(
        &mut self,
        request: &CallRequested,
    ) -> Result<
        (
            crate::module::LoadedInterpreter,
            crate::module::LoadedPolicy,
        ),
        AppError,
    > {
        let interpreter = self
            .load_recorded_interpreter(&request.interpreter, request.interpreter_config_sha256)?;
        let policy = self.load_recorded_policy(&request.policy, request.policy_config_sha256)?;
        Ok((interpreter, policy))
    }
}

impl Recorded {
    fn pair(&self) -> model::projection::adopted::Pair {
        model::projection::adopted::Pair {
            interpreter: self.request.interpreter.clone(),
            policy: self.request.policy.clone(),
            interpreter_config: self.request.interpreter_config_sha256,
            policy_config: self.request.policy_config_sha256,
        }
    }
}

/// Refuses to resume where an effect is possible and the risk was not taken.
fn resumable(state: &CallState, second_effect: SecondEffect) -> Result<(), AppError> {
    match state.next_operation {
        Operation::StartCall => Ok(()),
        Operation::ReconcileEffect if second_effect == SecondEffect::Accepted => Ok(()),
        Operation::ReconcileEffect => Err(Refusal::EffectUnknown { call: state.call }.into()),
        Operation::None
        | Operation::Reinterpret
        | Operation::Redecide
        | Operation::StartNextAttempt
        | Operation::FinalizeCall
        | Operation::FixInputs
        | Operation::CheckAndAccept
        | Operation::RepeatAcceptance => Err(not_next("resume", state)),
    }
}

const fn basis(stage: Stage) -> &'static str {
    if matches!(stage, Stage::EffectUnknown) {
        "a second effect was accepted"
    } else {
        "no attempt was started"
    }
}
