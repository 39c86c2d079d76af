//! `who-read` and `reads-of`: which module read which bytes.

use model::event::{Body, Placed};
use model::name::Mod;
use model::{AttemptId, CallId, Digest, EventId};
use serde::Serialize;

use crate::context::Session;
use crate::error::AppError;

/// How many events are read at a time.
const PAGE: u32 = 1000;

/// One reading of some bytes.
#[derive(Debug, Clone, Serialize)]
pub struct ReadBy {
    /// Who read.
    pub module: Mod,
    /// With which configuration.
    pub config_sha256: Option<Digest>,
    /// The reading's id.
    pub interpretation: EventId,
    /// Its place.
    pub seq: u64,
    /// The attempt.
    pub attempt: Option<AttemptId>,
    /// Its call.
    pub call: Option<CallId>,
    /// The hash of the full result.
    pub result_sha256: Digest,
}

/// Everyone who read some bytes.
#[derive(Debug, Clone, Serialize)]
pub struct ReadingsOf {
    /// The bytes.
    pub sha256: Digest,
    /// The observations that name them.
    pub observed_by: Vec<EventId>,
    /// The readings.
    pub read_by: Vec<ReadBy>,
}

/// Bytes that a module read.
#[derive(Debug, Clone, Serialize)]
pub struct ReadOf {
    /// The response's bytes; null where there were none.
    pub response_sha256: Option<Digest>,
    /// The request's bytes; null where there were none.
    pub request_sha256: Option<Digest>,
    /// The reading's id.
    pub interpretation: EventId,
    /// Its place.
    pub seq: u64,
    /// The attempt.
    pub attempt: Option<AttemptId>,
    /// Its call.
    pub call: Option<CallId>,
}

impl Session {
    /// Returns which modules read these bytes.
    pub fn who_read(&self, artifact: Digest) -> Result<ReadingsOf, AppError> {
        let reader = self.ledger.reader();
        let mut observing = reader.observing(artifact)?;
        // Derivations name bytes too, and read none.
        observing.retain(|placed| matches!(placed.event.body, Body::AttemptObserved(_)));
        let module = self
            .catalog
            .all()
            .any(|module| module.module.sha256 == artifact);
        if observing.is_empty() && !module && self.artifacts.check(artifact).is_err() {
            return Err(AppError::Unknown {
                what: "artifact",
                name: artifact.to_string(),
            });
        }
        let mut read_by = Vec::new();
        for observation in &observing {
            let Some(call) = observation.event.scope.call else {
                continue;
            };
            let attempt = observation.event.scope.attempt;
            let of_call = reader.of_call(call)?;
            read_by.extend(
                of_call
                    .iter()
                    .filter(|placed| placed.event.scope.attempt == attempt)
                    .filter_map(read_by_event),
            );
        }
        read_by.sort_by_key(|reading| reading.seq);
        let observed_by = observing.iter().map(|placed| placed.event.id).collect();
        Ok(ReadingsOf {
            sha256: artifact,
            observed_by,
            read_by,
        })
    }

    /// Reports which bytes a module read, by its label or hash.
    pub fn reads_of(
        &self,
        name: &str,
        mut report: impl FnMut(ReadOf) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        let module = self.catalog.find(name)?.module.sha256;
        let mut seq = 0;
        loop {
            let page = self.ledger.reader().by_module(module, seq, PAGE)?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            seq = last.seq;
            for placed in &page {
                let Body::AttemptInterpreted(body) = &placed.event.body else {
                    continue;
                };
                report(ReadOf {
                    response_sha256: body.inputs.response_sha256,
                    request_sha256: body.inputs.request_sha256,
                    interpretation: placed.event.id,
                    seq: placed.seq,
                    attempt: placed.event.scope.attempt,
                    call: placed.event.scope.call,
                })?;
            }
        }
    }
}

fn read_by_event(placed: &Placed) -> Option<ReadBy> {
    let Body::AttemptInterpreted(body) = &placed.event.body else {
        return None;
    };
    Some(ReadBy {
        module: body.module.clone(),
        config_sha256: body.config_sha256,
        interpretation: placed.event.id,
        seq: placed.seq,
        attempt: placed.event.scope.attempt,
        call: placed.event.scope.call,
        result_sha256: body.result_sha256,
    })
}
