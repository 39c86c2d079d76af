//! `show`: one record, whatever its id names.

use model::event::attempt::AttemptInterpreted;
use model::event::{ArtifactRef, Body, Kind};
use model::projection::{CallState, TaskState};
use model::reading::GenerationState;
use model::{AttemptId, CallId, Digest, EventId};
use serde::Serialize;

use crate::context::Session;
use crate::error::AppError;
use crate::evidence::{Evidence, Observed};
use crate::log::EventView;
use crate::module::ModuleDetail;
use crate::trace::{ReadBy, ReadingsOf};

/// One record.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    /// An event.
    Event(EventView),
    /// A call with its history.
    Call {
        /// What counts now.
        state: Box<CallState>,
        /// Its events.
        events: Vec<EventView>,
    },
    /// An attempt.
    Attempt(Box<AttemptView>),
    /// A task.
    Task(Box<TaskState>),
    /// A module.
    Module(Box<ModuleDetail>),
    /// An artifact.
    Artifact(ArtifactView),
}

/// An attempt: what was observed, what was read, and whether it still can be.
#[derive(Debug, Clone, Serialize)]
pub struct AttemptView {
    /// The attempt.
    pub attempt: AttemptId,
    /// Its call.
    pub call: CallId,
    /// The observation; it stays when the bytes are gone.
    pub observation: Option<EventView>,
    /// The response's bytes.
    pub response: Option<ArtifactRef>,
    /// `available`, or why the bytes cannot be read.
    pub bytes: &'static str,
    /// What was read of it.
    pub readings: Vec<ReadingView>,
}

/// One recorded reading in short.
#[derive(Debug, Clone, Serialize)]
pub struct ReadingView {
    /// The reading's id.
    pub interpretation: EventId,
    /// Its place.
    pub seq: u64,
    /// The module's label.
    pub module: String,
    /// The module's hash.
    pub module_sha256: Digest,
    /// What became of the output.
    pub generation_state: GenerationState,
    /// The provider's reason.
    pub provider_reason: Option<String>,
    /// The hash of the full result.
    pub result_sha256: Digest,
}

impl ReadingView {
    pub(crate) fn of(seq: u64, interpretation: EventId, body: &AttemptInterpreted) -> Self {
        Self {
            interpretation,
            seq,
            module: body.module.label.to_string(),
            module_sha256: body.module.sha256,
            generation_state: body.reading.generation_state,
            provider_reason: body.reading.provider_reason.clone(),
            result_sha256: body.result_sha256,
        }
    }
}

/// An artifact: where it is observed and who read it.
#[derive(Debug, Clone, Serialize)]
pub struct ArtifactView {
    /// Its name.
    pub sha256: Digest,
    /// In bytes; null when they cannot be read.
    pub length: Option<u64>,
    /// `available`, `missing` or `corrupt`.
    pub bytes: &'static str,
    /// Who read it.
    pub read_by: Vec<ReadBy>,
}

impl Session {
    /// Shows the record that an id or a hash names.
    pub fn show(&self, name: &str) -> Result<Record, AppError> {
        if let Ok(digest) = name.parse::<Digest>().or_else(|_| Digest::from_hex(name)) {
            return self.show_digest(digest);
        }
        match self.module(name) {
            Ok(module) => return Ok(Record::Module(Box::new(module))),
            // What names no module may name something else.
            Err(AppError::Unknown { .. }) => {}
            Err(error) => return Err(error),
        }
        let unknown = || AppError::Unknown {
            what: "id",
            name: name.to_owned(),
        };
        let reader = self.ledger.reader();
        let id: EventId = name.parse().map_err(|_error| unknown())?;
        if let Some(placed) = reader.by_id(id)? {
            return EventView::of(&placed).map(Record::Event);
        }
        let bytes = *id.as_bytes();
        let call = CallId::from_bytes(bytes);
        let events = reader.of_call(call)?;
        if !events.is_empty() {
            let views = events.iter().map(EventView::of).collect::<Result<_, _>>()?;
            let state = Box::new(self.call_state(call)?);
            return Ok(Record::Call {
                state,
                events: views,
            });
        }
        let attempt = AttemptId::from_bytes(bytes);
        if reader.call_of(attempt)?.is_some() {
            return self
                .show_attempt(attempt)
                .map(|view| Record::Attempt(Box::new(view)));
        }
        match self.task_state(model::TaskId::from_bytes(bytes)) {
            Ok(task) => Ok(Record::Task(Box::new(task))),
            Err(AppError::Unknown { .. }) => Err(unknown()),
            Err(error) => Err(error),
        }
    }

    fn show_digest(&self, digest: Digest) -> Result<Record, AppError> {
        match self.module(&digest.to_string()) {
            Ok(module) => return Ok(Record::Module(Box::new(module))),
            // A module whose bytes are gone is shown as the artifact that it was.
            Err(AppError::Unknown { .. } | AppError::ModuleUnavailable { .. }) => {}
            Err(error) => return Err(error),
        }
        let ReadingsOf { read_by, .. } = self.who_read(digest)?;
        let (length, bytes) = match self.artifacts.check(digest) {
            Ok(length) => (Some(length), "available"),
            Err(store::ArtifactError::Missing(_)) => (None, "missing"),
            Err(error @ store::ArtifactError::Io { .. }) => return Err(error.into()),
            Err(_) => (None, "corrupt"),
        };
        Ok(Record::Artifact(ArtifactView {
            sha256: digest,
            length,
            bytes,
            read_by,
        }))
    }

    fn show_attempt(&self, attempt: AttemptId) -> Result<AttemptView, AppError> {
        let events = self.events_of_attempt(attempt)?;
        let of_attempt: Vec<_> = events
            .iter()
            .filter(|placed| placed.event.scope.attempt == Some(attempt))
            .collect();
        let call = events
            .iter()
            .find_map(|placed| placed.event.scope.call)
            .ok_or(AppError::Unobserved(attempt))?;
        let observed = of_attempt.iter().find_map(|placed| Observed::of(placed));
        let evidence = Evidence::new(self.artifacts.clone(), self.ledger.reader())?;
        let bytes = match observed {
            Some(observed) => evidence
                .unavailable(observed.body)?
                .map_or("available", model::projection::call::Unavailable::as_str),
            None => "not observed",
        };
        let readings = of_attempt
            .iter()
            .filter_map(|placed| {
                let Body::AttemptInterpreted(body) = &placed.event.body else {
                    return None;
                };
                Some(ReadingView::of(placed.seq, placed.event.id, body))
            })
            .collect();
        let observation = of_attempt
            .iter()
            .find(|placed| placed.event.kind() == Kind::AttemptObserved)
            .map(|placed| EventView::of(placed))
            .transpose()?;
        let response = observed.and_then(|observed| observed.body.response_body_artifact.clone());
        Ok(AttemptView {
            attempt,
            call,
            observation,
            response,
            bytes,
            readings,
        })
    }
}
