//! `output` and `artifact cat`: text made again from the preserved bytes, and the
//! bytes themselves.

use std::path::Path;

use model::event::Placed;
use model::name::Mod;
use model::projection::adopted::adopted;
use model::{AttemptId, Digest};
use serde::Serialize;
use store::VerifiedBytes;

use crate::context::Session;
use crate::error::AppError;
use crate::evidence::{Evidence, Observed};
use crate::fault::Buffer;

/// How many events are read at a time.
const PAGE: u32 = 1000;

/// The text that a reading yields.
#[derive(Debug, Clone, Serialize)]
pub struct Output {
    /// The attempt.
    pub attempt: AttemptId,
    /// Who read.
    pub module: Mod,
    /// The text; null when the reading has none.
    pub output_text: Option<String>,
    /// The name of the text's bytes.
    pub sha256: Option<Digest>,
    /// In bytes.
    pub length: Option<u64>,
    /// Whether it was put among the artifacts now.
    pub stored: bool,
}

impl Session {
    /// Makes the text of an attempt again: with the named interpreter, else with
    /// the one of the adopted status, else with the home's default.
    pub fn output(
        &mut self,
        attempt: AttemptId,
        interpreter: Option<&str>,
        config: Option<&Path>,
        store: bool,
    ) -> Result<Output, AppError> {
        let events = self.events_of_attempt(attempt)?;
        let basis = adopted(events.iter()).map(|adopted| adopted.pair);
        if let (Some(basis), None) = (&basis, interpreter)
            && basis.interpreter_config.is_some()
            && config.is_none()
        {
            return Err(AppError::Usage(format!(
                "the adopted reading used a configuration: name it with --interpreter {} and \
                 --interpreter-config FILE",
                basis.interpreter.label
            )));
        }
        let adopted_name = basis.map(|basis| basis.interpreter.sha256.to_string());
        let interpreter = self.load_interpreter(interpreter.or(adopted_name.as_deref()), config)?;
        let observed = events
            .iter()
            .filter_map(Observed::of)
            .find(|observed| observed.attempt == attempt)
            .ok_or(AppError::Unobserved(attempt))?;
        let evidence = Evidence::new(self.artifacts.clone(), self.ledger.reader())?;
        let reading = interpreter.read(&evidence, observed)?.reading;
        let text = reading.output_text;
        let mut kept = None;
        if store {
            let text = text.as_deref().ok_or_else(|| {
                AppError::Forbidden(format!(
                    "the reading of attempt {attempt} by {} has no output text to store",
                    interpreter.module.label
                ))
            })?;
            let mut bytes = text.as_bytes().to_vec();
            self.context.faults.pass(Buffer::OutputText, &mut bytes);
            kept = Some(self.artifacts.put(&bytes)?);
        }
        Ok(Output {
            attempt,
            module: interpreter.module.clone(),
            sha256: kept.or_else(|| text.as_deref().map(|text| Digest::of(text.as_bytes()))),
            length: text
                .as_deref()
                .and_then(|text| u64::try_from(text.len()).ok()),
            output_text: text,
            stored: store,
        })
    }

    /// Returns exact bytes by their name.
    pub fn artifact(&self, digest: Digest) -> Result<VerifiedBytes, AppError> {
        match self.artifacts.get(digest) {
            Err(store::ArtifactError::Missing(_)) if !self.is_named(digest)? => {
                Err(AppError::Unknown {
                    what: "artifact",
                    name: digest.to_string(),
                })
            }
            other => Ok(other?),
        }
    }

    /// Returns whether an event names these bytes. Only lost bytes and wrong names
    /// are looked for this way, so that every event is read where no index helps.
    fn is_named(&self, digest: Digest) -> Result<bool, AppError> {
        let reader = self.ledger.reader();
        if !reader.observing(digest)?.is_empty() {
            return Ok(true);
        }
        let mut seq = 0;
        loop {
            let page = reader.after(seq, PAGE)?;
            let Some(last) = page.last() else {
                return Ok(false);
            };
            seq = last.seq;
            let names = |placed: &Placed| placed.event.body.artifacts().contains(&digest);
            if page.iter().any(names) {
                return Ok(true);
            }
        }
    }
}

/// Writes bytes as base64, the way `import exchange` reads them.
pub fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
