//! `reinterpret attempt`: one more reading of one observation.

use model::event::attempt::RecordedBy;
use model::event::{Placed, Scope};
use model::name::Mod;
use model::reading::GenerationState;
use model::{AttemptId, CallId, Digest, EventId, Reading};
use serde::Serialize;
use store::Reader;
use store::ledger::ScopeKey;

use super::ReinterpretOptions;
use crate::appending::LOCKED_ROUND;
use crate::context::{Session, Stamp};
use crate::error::AppError;
use crate::evidence::{Evidence, Observed, naming};
use crate::interpret::response_sha256;
use crate::module::LoadedInterpreter;
use crate::projecting;
use crate::readings::{reading_event, recorded_reading, same_result, task_of};

/// A reading that is recorded now, or was before.
#[derive(Debug, Clone, Serialize)]
pub struct AttemptReinterpreted {
    /// The attempt.
    pub attempt: AttemptId,
    /// Its call.
    pub call: CallId,
    /// The reading's id; none in a dry run that would append it.
    pub interpretation: Option<EventId>,
    /// Who read.
    pub module: Mod,
    /// The response's bytes.
    pub body_sha256: Option<Digest>,
    /// What became of the output.
    pub generation_state: GenerationState,
    /// The full result.
    pub reading: Reading,
    /// How many events were appended.
    pub appended: u64,
    /// How many a run without `--dry-run` would append.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would_append: Option<u64>,
}

struct Fresh {
    result: AttemptReinterpreted,
    event: Option<model::Event>,
    head: u64,
}

/// What a reading of one attempt is made with.
struct Preparation<'a> {
    call: CallId,
    attempt: AttemptId,
    interpreter: &'a LoadedInterpreter,
    evidence: &'a Evidence,
    stamp: Stamp<'a>,
}

impl Session {
    /// Reads an attempt's preserved bytes with a module and records the reading,
    /// once per module and configuration. It needs no completion record.
    pub fn reinterpret_attempt(
        &mut self,
        attempt: AttemptId,
        options: &ReinterpretOptions<'_>,
    ) -> Result<AttemptReinterpreted, AppError> {
        let names = options.names;
        let interpreter = self.load_interpreter(names.interpreter, names.interpreter_config)?;
        let evidence = Evidence::new(self.artifacts.clone(), self.ledger.reader())?;
        let call = self
            .ledger
            .reader()
            .call_of(attempt)?
            .ok_or_else(|| AppError::Unknown {
                what: "attempt",
                name: attempt.to_string(),
            })?;
        let preparation = Preparation {
            call,
            attempt,
            interpreter: &interpreter,
            evidence: &evidence,
            stamp: Stamp::new(&self.context, self.ledger_id),
        };
        for round in 1.. {
            let mut fresh = preparation.prepare(self.ledger.reader())?;
            if options.dry_run && fresh.event.is_some() {
                fresh.result.interpretation = None;
                fresh.result.would_append = Some(1);
                return Ok(fresh.result);
            }
            if fresh.event.is_none() {
                return Ok(fresh.result);
            }
            interpreter.keep_config(&self.artifacts)?;
            let mut writer = self.ledger.writer()?;
            if round >= LOCKED_ROUND {
                fresh = preparation.prepare(writer.reader())?;
            }
            let Some(event) = fresh.event else {
                return Ok(fresh.result);
            };
            if writer.reader().head(ScopeKey::Call(call))? != fresh.head {
                continue;
            }
            let mut events = writer.reader().of_call(call)?;
            events.push(Placed {
                seq: writer.append(&event)?,
                event,
            });
            projecting::cache(&writer, &events)?;
            projecting::commit(writer)?;
            fresh.result.appended = 1;
            return Ok(fresh.result);
        }
        Err(AppError::Damage(
            "the rounds of an append came to an end".to_owned(),
        ))
    }
}

impl Preparation<'_> {
    fn prepare(&self, reader: Reader<'_>) -> Result<Fresh, AppError> {
        let Self {
            call,
            attempt,
            interpreter,
            ..
        } = *self;
        let events = reader.of_call(call)?;
        let head = events.last().map_or(0, |placed| placed.seq);
        let observed = events
            .iter()
            .filter_map(Observed::of)
            .find(|observed| observed.attempt == attempt)
            .ok_or(AppError::Unobserved(attempt))?;
        let existing = recorded_reading(&events, attempt, interpreter);
        let fresh = interpreter
            .read(self.evidence, observed)
            .map_err(|error| match existing {
                Some((id, _)) => naming(error, id),
                None => error,
            })?;
        let event = if let Some((id, recorded)) = existing {
            same_result(id, recorded, &fresh, interpreter)?;
            None
        } else {
            let scope = Scope {
                task: task_of(&events),
                call: Some(call),
                attempt: Some(attempt),
            };
            let occasion = (scope, RecordedBy::Reinterpretation);
            Some(reading_event(interpreter, &fresh, occasion, &self.stamp)?)
        };
        let interpretation = existing
            .map(|(id, _)| id)
            .or(event.as_ref().map(|event| event.id));
        let result = AttemptReinterpreted {
            attempt,
            call,
            interpretation,
            module: interpreter.module.clone(),
            body_sha256: response_sha256(observed),
            generation_state: fresh.reading.generation_state,
            reading: fresh.reading,
            appended: 0,
            would_append: None,
        };
        Ok(Fresh {
            result,
            event,
            head,
        })
    }
}
