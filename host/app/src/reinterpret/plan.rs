//! What a reinterpretation would append, computed before anything is.

use model::decision::{AttemptDecision, AttemptFacts, CallDecision, CallStatus, Occasion};
use model::event::attempt::RecordedBy;
use model::event::call::{
    AllowOlder, AttemptVerdict, CallReinterpreted, ObservedBytes as ObservedSha256,
};
use model::event::{Body, Event, Placed, Scope};
use model::projection::adopted::{Adopted, adopted};
use model::reading::GenerationState;
use model::{AttemptId, CallId, EventId};

use crate::context::Stamp;
use crate::error::AppError;
use crate::evidence::{Evidence, Observed, naming};
use crate::module::Rules;
use crate::readings::{
    attempt_facts, max_attempts, reading_event, recorded_latency, recorded_reading, same_result,
    task_of,
};

/// What a reinterpretation of a call comes to.
#[derive(Debug)]
pub(crate) enum Plan {
    /// The adopted status already rests on this pair.
    Adopted(Box<Adopted>),
    /// These events are missing.
    Append(Box<Missing>),
}

/// Events that a reinterpretation would append.
#[derive(Debug)]
pub(crate) struct Missing {
    pub(crate) readings: Vec<Event>,
    pub(crate) record: Event,
    pub(crate) states: Vec<GenerationState>,
    pub(crate) decision: CallDecision,
}

/// A reading of one attempt: made now, and recorded before or not.
struct Read {
    attempt: AttemptId,
    facts: AttemptFacts,
    interpretation: EventId,
    event: Option<Event>,
    state: GenerationState,
}

/// What was computed of a call's attempts, in their order.
struct Computed<'a> {
    observed: &'a [Observed<'a>],
    reads: &'a [Read],
    judged: &'a [(AttemptFacts, AttemptDecision)],
}

/// Everything that a plan is computed with; shared by the threads of a bulk run.
pub(crate) struct Planner<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) evidence: &'a Evidence,
    pub(crate) stamp: Stamp<'a>,
    pub(crate) allow_older: Option<&'a str>,
}

impl Planner<'_> {
    /// Computes every reading and every decision of a call.
    pub(crate) fn plan(&self, call: CallId, events: &[Placed]) -> Result<Plan, AppError> {
        let observed = Observed::all(events)?;
        let current = adopted(events.iter());
        let pair = self.rules.pair();
        if let Some(current) = &current
            && current.pair == pair
        {
            return self.confirm(&observed, current);
        }
        let step_back = self.step_back(current.as_ref())?;
        let max_attempts = max_attempts(events, observed.len());
        let mut reads = Vec::new();
        for one in &observed {
            reads.push(self.read(call, events, *one, max_attempts)?);
        }
        let mut judged: Vec<(AttemptFacts, AttemptDecision)> = Vec::new();
        for read in &reads {
            let decision = self.rules.policy.decide_attempt(&read.facts)?;
            judged.push((read.facts.clone(), decision));
        }
        let decision = self
            .rules
            .policy
            .decide_call(&judged, Occasion::Reinterpretation)?;
        let computed = Computed {
            observed: &observed,
            reads: &reads,
            judged: &judged,
        };
        let record = self.record(events, &computed, &decision, step_back)?;
        let states = reads.iter().map(|read| read.state).collect();
        let readings = reads.into_iter().filter_map(|read| read.event).collect();
        Ok(Plan::Append(Box::new(Missing {
            readings,
            record,
            states,
            decision,
        })))
    }

    /// A recorded answer is returned only while its bytes can be read.
    fn confirm(&self, observed: &[Observed<'_>], current: &Adopted) -> Result<Plan, AppError> {
        for one in observed {
            self.evidence
                .bytes(*one)
                .map_err(|error| naming(error, current.record))?;
        }
        Ok(Plan::Adopted(Box::new(current.clone())))
    }

    fn step_back(&self, current: Option<&Adopted>) -> Result<Option<AllowOlder>, AppError> {
        let Some(current) = current else {
            return Ok(None);
        };
        let wanted = self.rules.pair();
        let Some(step) = self.rules.supersession.step_back(&current.pair, &wanted) else {
            return Ok(None);
        };
        match self.allow_older {
            Some(reason) => Ok(Some(AllowOlder {
                reason: reason.to_owned(),
            })),
            None => Err(AppError::StepBack {
                newer: step.newer.clone(),
                older: step.older.clone(),
                record: current.record,
            }),
        }
    }

    fn read(
        &self,
        call: CallId,
        events: &[Placed],
        observed: Observed<'_>,
        max_attempts: u32,
    ) -> Result<Read, AppError> {
        let interpreter = &self.rules.interpreter;
        let fresh = interpreter.read(self.evidence, observed)?;
        let state = fresh.reading.generation_state;
        let elapsed_ms = recorded_latency(events, observed.attempt);
        let recorded = fresh.reading.recorded();
        let facts = attempt_facts(observed, &recorded, max_attempts, elapsed_ms);
        let existing = recorded_reading(events, observed.attempt, interpreter);
        let (interpretation, event) = if let Some((id, recorded)) = existing {
            same_result(id, recorded, &fresh, interpreter)?;
            (id, None)
        } else {
            let scope = Scope {
                call: Some(call),
                attempt: Some(observed.attempt),
                task: task_of(events),
            };
            let occasion = (scope, RecordedBy::Reinterpretation);
            let event = reading_event(interpreter, &fresh, occasion, &self.stamp)?;
            (event.id, Some(event))
        };
        Ok(Read {
            attempt: observed.attempt,
            facts,
            interpretation,
            event,
            state,
        })
    }

    fn record(
        &self,
        events: &[Placed],
        computed: &Computed<'_>,
        decision: &CallDecision,
        allow_older: Option<AllowOlder>,
    ) -> Result<Event, AppError> {
        let Computed {
            observed,
            reads,
            judged,
        } = computed;
        let prior = adopted(events.iter());
        let pair = self.rules.pair();
        let final_observation = observed.last().map(|one| one.event);
        let body = CallReinterpreted {
            interpreter: pair.interpreter,
            policy: pair.policy,
            interpreter_config_sha256: pair.interpreter_config,
            policy_config_sha256: pair.policy_config,
            status: decision.status,
            reason: decision.reason.clone(),
            interpretations: reads.iter().map(|read| read.interpretation).collect(),
            decisions: reads
                .iter()
                .zip(*judged)
                .map(|(read, (_, decision))| AttemptVerdict {
                    attempt: read.attempt,
                    interpretation: read.interpretation,
                    decision: decision.disposition,
                    reason: decision.reason.clone(),
                })
                .collect(),
            observations: observed
                .iter()
                .map(|one| ObservedSha256 {
                    attempt: one.attempt,
                    sha256: crate::interpret::response_sha256(*one),
                })
                .collect(),
            prior_status: prior.as_ref().map(|prior| prior.status),
            prior_record_kind: prior.as_ref().map(|prior| prior.record_kind.to_owned()),
            prior_record: prior.as_ref().map(|prior| prior.record),
            allow_older,
            provider_effect: false,
        };
        let cause = prior.map(|prior| prior.record).or(final_observation);
        let call = events.iter().find_map(|placed| placed.event.scope.call);
        let scope = Scope {
            task: task_of(events),
            call,
            attempt: None,
        };
        self.stamp.event(cause, scope, Box::new(body))
    }
}

/// Returns the generation state of the reading that the adopted status rests on.
pub(crate) fn adopted_state(events: &[Placed]) -> Option<GenerationState> {
    let basis = adopted(events.iter())?.decision_basis()?;
    events.iter().find_map(|placed| {
        let Body::AttemptInterpreted(body) = &placed.event.body else {
            return None;
        };
        (placed.event.id == basis).then_some(body.reading.generation_state)
    })
}

/// Returns the adopted status of a call.
pub(crate) fn adopted_status(events: &[Placed]) -> Option<CallStatus> {
    adopted(events.iter()).map(|adopted| adopted.status)
}
