//! The evidence of a call: its observations and the bytes they name.
//!
//! Every reading of bytes goes through here, and every byte is hashed on the way.
//! What cannot be read is refused; nothing derived ever stands in.

use std::collections::BTreeSet;

use model::event::attempt::AttemptObserved;
use model::event::home::ErasureTarget;
use model::event::{ArtifactRef, Body, Kind, Placed, Preservation};
use model::exchange::Observation;
use model::projection::call::Unavailable;
use model::{AttemptId, Digest, EventId};
use store::{ArtifactError, Artifacts, Reader, VerifiedBytes};

use crate::error::{AppError, ObservationUnavailable};

/// Where preserved bytes are read.
#[derive(Debug, Clone)]
pub(crate) struct Evidence {
    artifacts: Artifacts,
    erased: BTreeSet<Digest>,
}

/// One observed attempt of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Observed<'a> {
    pub(crate) attempt: AttemptId,
    pub(crate) event: EventId,
    pub(crate) body: &'a AttemptObserved,
}

/// The bytes of one observation, each hashed in this process.
#[derive(Debug, Clone)]
pub(crate) struct ObservedBytes {
    pub(crate) request: Option<VerifiedBytes>,
    pub(crate) response: Option<VerifiedBytes>,
}

impl Evidence {
    pub(crate) fn new(artifacts: Artifacts, reader: Reader<'_>) -> Result<Self, AppError> {
        let erased = reader
            .of_kind(Kind::HomeErased)?
            .into_iter()
            .filter_map(|placed| {
                let Body::HomeErased(body) = placed.event.body else {
                    return None;
                };
                Some(body.targets)
            })
            .flatten()
            .filter_map(|target| match target {
                ErasureTarget::Artifact { sha256 } => Some(sha256),
                ErasureTarget::Event { .. } => None,
            })
            .collect();
        Ok(Self { artifacts, erased })
    }

    /// Reads and hashes the bytes that an observation names.
    pub(crate) fn bytes(&self, observed: Observed<'_>) -> Result<ObservedBytes, AppError> {
        let response = self.read(
            observed.attempt,
            "response body",
            observed.body.response_body_artifact.as_ref(),
        )?;
        let request = self.read(
            observed.attempt,
            "request body",
            observed.body.request_body_artifact.as_ref(),
        )?;
        Ok(ObservedBytes { request, response })
    }

    /// Returns why an observation's bytes cannot be read, without keeping them.
    pub(crate) fn unavailable(
        &self,
        body: &AttemptObserved,
    ) -> Result<Option<Unavailable>, AppError> {
        for artifact in [&body.response_body_artifact, &body.request_body_artifact]
            .into_iter()
            .flatten()
        {
            if artifact.preservation == Preservation::Withhold {
                return Ok(Some(Unavailable::Withheld));
            }
            if let Err(error) = self.artifacts.check(artifact.sha256) {
                return self.word(artifact.sha256, error).map(Some);
            }
        }
        Ok(None)
    }

    /// Returns why bytes of this name cannot be read; none when they can.
    pub(crate) fn state(&self, sha256: Digest) -> Result<Option<Unavailable>, AppError> {
        match self.artifacts.check(sha256) {
            Ok(_) => Ok(None),
            Err(error) => self.word(sha256, error).map(Some),
        }
    }

    fn read(
        &self,
        attempt: AttemptId,
        what: &str,
        artifact: Option<&ArtifactRef>,
    ) -> Result<Option<VerifiedBytes>, AppError> {
        let Some(artifact) = artifact else {
            return Ok(None);
        };
        let word = if artifact.preservation == Preservation::Withhold {
            Unavailable::Withheld
        } else {
            match self.artifacts.get(artifact.sha256) {
                Ok(bytes) => return Ok(Some(bytes)),
                Err(error) => self.word(artifact.sha256, error)?,
            }
        };
        let sentence = match word {
            Unavailable::Missing => format!("{what} bytes are missing"),
            Unavailable::Corrupt => {
                format!("{what} bytes do not match their recorded sha256")
            }
            Unavailable::Withheld => format!("{what} bytes were never kept"),
            Unavailable::Erased => format!("{what} bytes were erased"),
        };
        Err(Box::new(ObservationUnavailable {
            attempt,
            artifact: artifact.sha256,
            word,
            sentence,
            recorded: None,
        })
        .into())
    }

    fn word(&self, digest: Digest, error: ArtifactError) -> Result<Unavailable, AppError> {
        match error {
            ArtifactError::Missing(_) if self.erased.contains(&digest) => Ok(Unavailable::Erased),
            ArtifactError::Missing(_) => Ok(Unavailable::Missing),
            ArtifactError::Corrupt { .. }
            | ArtifactError::NotAFile(_)
            | ArtifactError::TooLarge { .. } => Ok(Unavailable::Corrupt),
            error @ ArtifactError::Io { .. } => Err(error.into()),
        }
    }
}

impl<'a> Observed<'a> {
    /// Returns the observation that an event holds.
    pub(crate) fn of(placed: &'a Placed) -> Option<Self> {
        let Body::AttemptObserved(body) = &placed.event.body else {
            return None;
        };
        Some(Self {
            attempt: placed.event.scope.attempt?,
            event: placed.event.id,
            body,
        })
    }

    /// Returns the observations of a call in order; an attempt that was started
    /// and not observed refuses them all.
    pub(crate) fn all(events: &'a [Placed]) -> Result<Vec<Self>, AppError> {
        let observed: Vec<_> = events.iter().filter_map(Self::of).collect();
        for placed in events {
            let started = placed.event.kind() == Kind::AttemptStarted;
            if let (true, Some(attempt)) = (started, placed.event.scope.attempt)
                && !observed.iter().any(|one| one.attempt == attempt)
            {
                return Err(AppError::Unobserved(attempt));
            }
        }
        if observed.is_empty() {
            Err(AppError::NoAttempts)
        } else {
            Ok(observed)
        }
    }

    /// Returns the value of the `retry-after` header.
    pub(crate) fn retry_after(&self) -> Option<&'a str> {
        let mut headers = self.body.headers.iter();
        headers
            .find(|(name, _)| name == "retry-after")
            .map(|(_, value)| value.as_str())
    }

    /// Returns the module's input.
    pub(crate) fn input<'b>(&'b self, bytes: &'b ObservedBytes) -> Observation<'b> {
        Observation {
            dialect: &self.body.dialect,
            endpoint: &self.body.endpoint,
            outcome: self.body.transport_outcome,
            status: self.body.http_status,
            headers: &self.body.headers,
            exception_type: self.body.exception_type,
            response_body: bytes.response.as_ref().map(VerifiedBytes::as_slice),
            request_body: bytes.request.as_ref().map(VerifiedBytes::as_slice),
        }
    }
}

/// Names the recorded answer that can no longer be confirmed.
pub(crate) fn naming(error: AppError, recorded: EventId) -> AppError {
    if let AppError::Observation(mut unavailable) = error {
        unavailable.recorded = Some(recorded);
        return AppError::Observation(unavailable);
    }
    error
}
