//! `derive`: one artifact was made from another, by whom and with what.

use std::path::Path;

use model::bounds::BODY_BYTES_MAX;
use model::event::artifact::ArtifactDerived;
use model::event::{Placed, Scope};
use model::{Digest, EventId};
use serde::Serialize;

use crate::context::Session;
use crate::error::AppError;
use crate::fault::{self, Step};
use crate::{files, names};

/// What was made from what.
#[derive(Debug, Clone, Copy)]
pub struct DeriveOptions<'a> {
    /// The bytes that it was made from; they must be there.
    pub from: Digest,
    /// The file that was made.
    pub to: &'a Path,
    /// With what.
    pub tool: &'a str,
    /// Why.
    pub note: &'a str,
    /// A file that tells the difference.
    pub diff: Option<&'a Path>,
}

/// A recorded derivation.
#[derive(Debug, Clone, Serialize)]
pub struct Derived {
    /// The event.
    pub event: EventId,
    /// From these bytes.
    pub from_sha256: Digest,
    /// To these bytes, which are kept now.
    pub to_sha256: Digest,
    /// The difference, which is kept now.
    pub diff_sha256: Option<Digest>,
    /// How many events were appended: none when the same was recorded before.
    pub appended: u64,
}

impl Session {
    /// Keeps the bytes of a file and records that they were made from other bytes. The
    /// actor of the record is who made them. The same by the same actor is recorded once.
    pub fn derive(&mut self, options: DeriveOptions<'_>) -> Result<Derived, AppError> {
        names::check("--tool", options.tool)?;
        names::check("--note", options.note)?;
        self.artifacts.get(options.from)?;
        let to = files::read(options.to, BODY_BYTES_MAX)?;
        let diff = options.diff.map(|path| files::read(path, BODY_BYTES_MAX));
        let diff = diff.transpose()?;
        let to_sha256 = Digest::of(&to);
        if to_sha256 == options.from {
            return Err(AppError::Usage(format!(
                "{} holds the bytes it would be made from: expected others",
                options.to.display()
            )));
        }
        let faults = self.context.faults.as_ref();
        fault::around(faults, Step::DerivedArtifacts, || {
            let bytes: Vec<&[u8]> = [Some(to.as_slice()), diff.as_deref()]
                .into_iter()
                .flatten()
                .collect();
            self.artifacts.put_all(&bytes)?;
            Ok(())
        })?;
        let body = ArtifactDerived {
            from_sha256: options.from,
            to_sha256,
            tool: options.tool.to_owned(),
            note: options.note.to_owned(),
            diff_sha256: diff.as_deref().map(Digest::of),
        };
        let diff_sha256 = body.diff_sha256;
        let event = self.stamp().event(None, Scope::default(), body)?;
        let (id, appended) = self
            .appender()
            .record_once(Step::Derived, &event, |ledger| {
                let same = |placed: &Placed| {
                    placed.event.actor == event.actor && placed.event.body == event.body
                };
                let recorded = ledger.observing(to_sha256)?;
                Ok(recorded
                    .into_iter()
                    .find(same)
                    .map(|placed| placed.event.id))
            })?;
        Ok(Derived {
            event: id,
            appended,
            from_sha256: options.from,
            to_sha256,
            diff_sha256,
        })
    }
}
