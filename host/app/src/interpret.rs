//! `interpret`: counterfactual readings. They record nothing.

use std::path::Path;

use model::event::Placed;
use model::name::Mod;
use model::{AttemptId, Digest, EventId, Reading};
use serde::Serialize;

use crate::context::Session;
use crate::error::AppError;
use crate::evidence::{Evidence, Observed};
use crate::module::LoadedInterpreter;
use crate::progress::Progress;

/// How many attempts are read between two looks at the ledger.
const PAGE: u32 = 256;

/// What one module says of one attempt, recorded nowhere.
#[derive(Debug, Clone, Serialize)]
pub struct Interpreted {
    /// The name that the source of an import gives.
    pub external_id: Option<String>,
    /// The attempt.
    pub attempt: AttemptId,
    /// The response's bytes; null where there were none.
    pub body_sha256: Option<Digest>,
    /// Who read.
    pub module: Mod,
    /// What it says, or why nothing was read.
    #[serde(flatten)]
    pub outcome: ReadingOutcome,
}

/// A reading, or why there is none.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadingOutcome {
    /// What the module says.
    Reading(Box<Reading>),
    /// Why it says nothing.
    Refused(Refused),
}

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// A short stable name.
    pub code: String,
    /// In words.
    pub detail: String,
}

impl Refused {
    pub(crate) fn of(error: &AppError) -> Self {
        Self {
            code: error.code().to_owned(),
            detail: error.to_string(),
        }
    }
}

/// A finished run of `interpret all`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct InterpretSummary {
    /// Attempts that were read.
    pub read: u64,
    /// Attempts that were refused.
    pub refused: u64,
}

impl Session {
    /// Reads one attempt with a module and records nothing.
    pub fn interpret(
        &mut self,
        attempt: AttemptId,
        interpreter: Option<&str>,
        config: Option<&Path>,
    ) -> Result<Interpreted, AppError> {
        let interpreter = self.load_interpreter(interpreter, config)?;
        let evidence = Evidence::new(self.artifacts.clone(), self.ledger.reader())?;
        let events = self.events_of_attempt(attempt)?;
        let observed = Observed::all(&events)?
            .into_iter()
            .find(|observed| observed.attempt == attempt)
            .ok_or(AppError::Unobserved(attempt))?;
        let reading = interpreter.read(&evidence, observed)?.reading;
        Ok(Interpreted {
            external_id: external_id(&events),
            attempt,
            body_sha256: response_sha256(observed),
            module: interpreter.module.clone(),
            outcome: ReadingOutcome::Reading(Box::new(reading)),
        })
    }

    /// Reads every attempt with a module and records nothing. What cannot be read
    /// is reported and counted.
    pub fn interpret_all(
        &mut self,
        interpreter: Option<&str>,
        config: Option<&Path>,
        progress: &mut dyn Progress,
        mut report: impl FnMut(Interpreted) -> Result<(), AppError>,
    ) -> Result<InterpretSummary, AppError> {
        let interpreter = self.load_interpreter(interpreter, config)?;
        let reader = self.ledger.reader();
        let evidence = Evidence::new(self.artifacts.clone(), reader)?;
        let mut summary = InterpretSummary::default();
        progress.begin("interpreting", Some(self.count_calls()?));
        let mut seq = 0;
        loop {
            let page = reader.calls_after(seq, PAGE)?;
            let Some((last, _)) = page.last() else { break };
            seq = *last;
            for (_, call) in &page {
                let events = reader.of_call(*call)?;
                for observed in events.iter().filter_map(Observed::of) {
                    let outcome = match interpreter.read(&evidence, observed) {
                        Ok(read) => {
                            summary.read += 1;
                            ReadingOutcome::Reading(Box::new(read.reading))
                        }
                        Err(error) => {
                            summary.refused += 1;
                            ReadingOutcome::Refused(refused(error)?)
                        }
                    };
                    report(Interpreted {
                        external_id: external_id(&events),
                        attempt: observed.attempt,
                        body_sha256: response_sha256(observed),
                        module: interpreter.module.clone(),
                        outcome,
                    })?;
                }
                progress.advance(1);
            }
        }
        progress.end();
        Ok(summary)
    }

    /// Returns the events of the call that an attempt belongs to.
    pub(crate) fn events_of_attempt(&self, attempt: AttemptId) -> Result<Vec<Placed>, AppError> {
        let reader = self.ledger.reader();
        let call = reader.call_of(attempt)?.ok_or_else(|| AppError::Unknown {
            what: "attempt",
            name: attempt.to_string(),
        })?;
        Ok(reader.of_call(call)?)
    }

    /// Returns how many calls are recorded or imported.
    pub(crate) fn count_calls(&self) -> Result<u64, AppError> {
        use model::Kind;
        let reader = self.ledger.reader();
        Ok(
            reader.count_of_kind(Kind::CallRequested)?
                + reader.count_of_kind(Kind::CallImported)?,
        )
    }
}

/// Decides which failures a bulk run reports and which end it.
pub(crate) fn refused(error: AppError) -> Result<Refused, AppError> {
    use crate::error::Class;
    match error.class() {
        Class::Refused | Class::Module => Ok(Refused::of(&error)),
        Class::Unexpected | Class::Usage | Class::Damage | Class::Busy | Class::NotAccepted => {
            Err(error)
        }
    }
}

pub(crate) fn external_id(events: &[Placed]) -> Option<String> {
    events.iter().find_map(|placed| {
        let model::Body::CallImported(body) = &placed.event.body else {
            return None;
        };
        body.external_id.clone()
    })
}

pub(crate) fn response_sha256(observed: Observed<'_>) -> Option<Digest> {
    observed
        .body
        .response_body_artifact
        .as_ref()
        .map(|artifact| artifact.sha256)
}

/// A reading made now, with what is recorded beside it.
#[derive(Debug, Clone)]
pub(crate) struct FreshReading {
    pub(crate) reading: Reading,
    pub(crate) result_sha256: Digest,
    pub(crate) fuel: u64,
    pub(crate) request_sha256: Option<Digest>,
    pub(crate) response_sha256: Option<Digest>,
    pub(crate) observation: EventId,
}

impl LoadedInterpreter {
    /// Reads one observation's bytes in a fresh sandbox.
    pub(crate) fn read(
        &self,
        evidence: &Evidence,
        observed: Observed<'_>,
    ) -> Result<FreshReading, AppError> {
        let bytes = evidence.bytes(observed)?;
        self.read_bytes(observed, &bytes)
    }
}
