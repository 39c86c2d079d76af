//! `preregister`: what is expected, fixed by its hash before anything runs.

use std::path::Path;

use model::bounds::BODY_BYTES_MAX;
use model::event::Scope;
use model::event::home::HomePreregistered;
use model::{Digest, EventId};
use serde::Serialize;

use crate::context::Session;
use crate::error::AppError;
use crate::{files, names, projecting};

/// What was fixed.
#[derive(Debug, Clone, Serialize)]
pub struct Preregistered {
    /// The event.
    pub event: EventId,
    /// Its place; whatever it is about comes later.
    pub seq: u64,
    /// The hash of what is expected.
    pub expected_sha256: Digest,
    /// What it is.
    pub note: String,
}

impl Session {
    /// Records the hash of a file of expected results. The file itself is not kept:
    /// whoever wants to hold the results against it keeps it.
    pub fn preregister(&mut self, file: &Path, note: &str) -> Result<Preregistered, AppError> {
        names::check("--note", note)?;
        let expected_sha256 = Digest::of(&files::read(file, BODY_BYTES_MAX)?);
        let body = HomePreregistered {
            expected_sha256,
            note: note.to_owned(),
        };
        let event = self.stamp().event(None, Scope::default(), body)?;
        let mut writer = self.ledger.writer()?;
        let seq = writer.append(&event)?;
        projecting::commit(writer)?;
        Ok(Preregistered {
            event: event.id,
            seq,
            expected_sha256,
            note: note.to_owned(),
        })
    }
}
