//! What the ledger and the artifacts say about an acceptance: every reference is
//! resolved here, and every byte read again. Nothing the acceptor says is believed.

use model::acceptance::{
    AcceptanceFacts, ArtifactState, CallFacts, CheckFacts, CitedCheck, InterpretationFacts,
    PriorAcceptance, SourceFacts, SourceOutput, TaskFacts,
};
use model::event::task::{TaskAccepted, TaskCreated};
use model::event::{Body, Kind, Placed};
use model::name::Actor;
use model::projection::adopted::{Adopted, adopted};
use model::projection::call::Unavailable;
use model::{AttemptId, CallId, Digest, EventId};
use store::Reader;

use super::Acceptance;
use super::derivations::derivations;
use crate::error::AppError;
use crate::evidence::{Evidence, Observed};
use crate::module::LoadedInterpreter;

/// What the facts of one acceptance are found with.
pub(super) struct Finder<'a> {
    pub(super) asked: &'a Acceptance<'a>,
    pub(super) actor: &'a Actor,
    pub(super) evidence: &'a Evidence,
    /// The interpreter of the adopted status of the cited call, with that status'
    /// record; none where nothing is adopted.
    pub(super) adopted_reader: Option<&'a (EventId, LoadedInterpreter)>,
}

/// The facts, and what is recorded beside a decision.
pub(super) struct Found {
    pub(super) facts: AcceptanceFacts,
    pub(super) standing: Option<(EventId, TaskAccepted)>,
    pub(super) declaration: EventId,
    /// The adopted status of the call is another one than the interpreter is of.
    pub(super) moved: bool,
}

impl Finder<'_> {
    /// Finds everything that the module is told, from the task's events in order.
    pub(super) fn find(&self, reader: Reader<'_>, events: &[Placed]) -> Result<Found, AppError> {
        let declared: Vec<_> = events
            .iter()
            .filter_map(|placed| {
                let Body::TaskCreated(body) = &placed.event.body else {
                    return None;
                };
                Some((placed.event.id, body))
            })
            .collect();
        let (declaration, created) = *declared.first().ok_or_else(|| AppError::Unjudged {
            reason: "unknown_task",
            detail: format!("no task {} is declared", self.asked.task),
        })?;
        let standing = self.standing(events);
        let current = match self.asked.call {
            Some(call) => adopted(reader.of_call(call)?.iter()).map(|adopted| adopted.record),
            None => None,
        };
        let definitions = u32::try_from(declared.len()).unwrap_or(u32::MAX);
        let facts = AcceptanceFacts {
            task: self.task(created, definitions),
            prior: self.prior(reader, standing.as_ref(), events)?,
            source: self.source(reader)?,
            checks: self.checks(reader, events)?,
        };
        Ok(Found {
            facts,
            standing,
            declaration,
            moved: current != self.adopted_reader.map(|(record, _)| *record),
        })
    }

    fn task(&self, created: &TaskCreated, definitions: u32) -> TaskFacts {
        let output = created
            .outputs
            .iter()
            .find(|output| output.name == self.asked.output);
        let count = output.map_or(0, |output| output.criteria.len());
        TaskFacts {
            definitions,
            criteria_sha256: output.map(|output| output.criteria_sha256),
            criteria_count: u32::try_from(count).unwrap_or(u32::MAX),
            capabilities: created.grants.get(self.actor).cloned().unwrap_or_default(),
        }
    }

    fn standing(&self, events: &[Placed]) -> Option<(EventId, TaskAccepted)> {
        events.iter().find_map(|placed| {
            let Body::TaskAccepted(body) = &placed.event.body else {
                return None;
            };
            (body.output == self.asked.output).then(|| (placed.event.id, body.as_ref().clone()))
        })
    }

    /// An acceptance is the same when everything but its name is. Which call and attempt
    /// it cited is what its reading is of.
    fn prior(
        &self,
        reader: Reader<'_>,
        standing: Option<&(EventId, TaskAccepted)>,
        events: &[Placed],
    ) -> Result<PriorAcceptance, AppError> {
        let Some((id, accepted)) = standing else {
            return Ok(PriorAcceptance::None);
        };
        let by = events.iter().find(|placed| placed.event.id == *id);
        let read = reader.by_id(accepted.interpretation)?;
        let asked = self.asked;
        let same = by.is_some_and(|placed| placed.event.actor == *self.actor)
            && read.is_some_and(|read| {
                let scope = read.event.scope;
                (scope.call, scope.attempt) == (asked.call, asked.attempt)
            })
            && accepted.policy == asked.policy
            && accepted.artifact_sha256 == asked.artifact
            && accepted.criteria_sha256 == asked.criteria
            && Some(accepted.interpretation) == asked.interpretation
            && sorted(&accepted.checks) == sorted(&asked.checks);
        Ok(if same {
            PriorAcceptance::Identical
        } else {
            PriorAcceptance::Different
        })
    }

    fn source(&self, reader: Reader<'_>) -> Result<SourceFacts, AppError> {
        let artifact = match self.evidence.state(self.asked.artifact)? {
            None => ArtifactState::Kept,
            Some(word) => ArtifactState::Unavailable(word),
        };
        let mut facts = SourceFacts {
            call: None,
            attempt_of_call: false,
            attempt_is_final: false,
            interpretation: None,
            producer: None,
            output: SourceOutput::NoText,
            artifact,
            derivations: Vec::new(),
        };
        let Some(call) = self.asked.call else {
            return Ok(facts);
        };
        let events = reader.of_call(call)?;
        let opening = [Kind::CallRequested, Kind::CallImported];
        let Some(first) = events
            .iter()
            .find(|one| opening.contains(&one.event.kind()))
        else {
            return Ok(facts);
        };
        let status = adopted(events.iter());
        facts.call = Some(CallFacts {
            of_task: first.event.scope.task == Some(self.asked.task),
            status: status.as_ref().map(|adopted| adopted.status),
        });
        facts.producer = Some(first.event.actor.clone());
        let attempts: Vec<_> = attempts_of(&events);
        facts.attempt_of_call = self
            .asked
            .attempt
            .is_some_and(|one| attempts.contains(&one));
        facts.attempt_is_final =
            self.asked.attempt.is_some() && attempts.last() == self.asked.attempt.as_ref();
        facts.interpretation = self.interpretation(reader, call, status.as_ref())?;
        facts.output = self.output(&events)?;
        if let SourceOutput::Text(text) = facts.output
            && text != self.asked.artifact
        {
            let way = (text, self.asked.artifact);
            facts.derivations = derivations(reader, way, self.actor)?;
        }
        Ok(facts)
    }

    fn interpretation(
        &self,
        reader: Reader<'_>,
        call: CallId,
        status: Option<&Adopted>,
    ) -> Result<Option<InterpretationFacts>, AppError> {
        let Some(id) = self.asked.interpretation else {
            return Ok(None);
        };
        let Some(placed) = reader.by_id(id)? else {
            return Ok(None);
        };
        let Body::AttemptInterpreted(body) = &placed.event.body else {
            return Ok(None);
        };
        let scope = placed.event.scope;
        Ok(Some(InterpretationFacts {
            of_call: scope.call == Some(call),
            of_attempt: scope.attempt.is_some() && scope.attempt == self.asked.attempt,
            is_decision_basis: status.and_then(Adopted::decision_basis) == Some(id),
            generation_state: body.reading.generation_state,
        }))
    }

    /// Makes the text again by the adopted interpreter: of the cited attempt where the
    /// call has it, else of the last one.
    fn output(&self, events: &[Placed]) -> Result<SourceOutput, AppError> {
        let Some((_, interpreter)) = self.adopted_reader else {
            return Ok(SourceOutput::NoText);
        };
        let observed: Vec<_> = events.iter().filter_map(Observed::of).collect();
        let cited = observed
            .iter()
            .find(|one| Some(one.attempt) == self.asked.attempt)
            .or(observed.last());
        let Some(observed) = cited else {
            return Ok(SourceOutput::NoText);
        };
        match interpreter.read(self.evidence, *observed) {
            Ok(read) => Ok(match read.reading.output_text {
                Some(text) => SourceOutput::Text(Digest::of(text.as_bytes())),
                None => SourceOutput::NoText,
            }),
            Err(AppError::Observation(unavailable)) => {
                Ok(SourceOutput::Unavailable(unavailable.word))
            }
            Err(error) => Err(error),
        }
    }

    fn checks(&self, reader: Reader<'_>, events: &[Placed]) -> Result<Vec<CitedCheck>, AppError> {
        let mut cited = Vec::new();
        for id in &self.asked.checks {
            let found = match reader.by_id(*id)? {
                Some(placed) => self.check(reader, &placed, events)?,
                None => None,
            };
            cited.push(CitedCheck { id: *id, found });
        }
        Ok(cited)
    }

    fn check(
        &self,
        reader: Reader<'_>,
        placed: &Placed,
        events: &[Placed],
    ) -> Result<Option<CheckFacts>, AppError> {
        let Body::CheckCompleted(completed) = &placed.event.body else {
            return Ok(None);
        };
        let request = match placed.event.cause {
            Some(cause) => reader.by_id(cause)?,
            None => None,
        };
        let requested = request.as_ref().and_then(|placed| {
            let Body::CheckRequested(body) = &placed.event.body else {
                return None;
            };
            Some(body)
        });
        let completions = events.iter().filter(|one| {
            one.event.kind() == Kind::CheckCompleted && one.event.cause == placed.event.cause
        });
        let target = requested.and_then(|body| body.target.strip_prefix("artifact:"));
        Ok(Some(CheckFacts {
            linked: requested.is_some(),
            completions: u32::try_from(completions.count()).unwrap_or(u32::MAX),
            of_task: placed.event.scope.task == Some(self.asked.task),
            of_output: requested.is_some_and(|body| body.output == self.asked.output),
            artifact_sha256: target.and_then(|digest| digest.parse().ok()),
            criteria_sha256: requested.map(|body| body.criteria_sha256),
            verdict: completed.verdict,
            covers: requested
                .into_iter()
                .flat_map(|body| &body.covers)
                .filter_map(|criterion| u32::try_from(*criterion).ok())
                .collect(),
        }))
    }
}

fn sorted(checks: &[EventId]) -> Vec<EventId> {
    let mut checks = checks.to_vec();
    checks.sort_unstable();
    checks
}

/// Returns the attempts of a call in the order in which they began.
fn attempts_of(events: &[Placed]) -> Vec<AttemptId> {
    let mut attempts: Vec<AttemptId> = Vec::new();
    for placed in events {
        if let Some(attempt) = placed.event.scope.attempt
            && !attempts.contains(&attempt)
        {
            attempts.push(attempt);
        }
    }
    attempts
}

/// Returns the word by which bytes are told to be gone, for people.
pub(super) const fn gone(state: ArtifactState) -> Option<Unavailable> {
    match state {
        ArtifactState::Kept => None,
        ArtifactState::Unavailable(word) => Some(word),
    }
}
