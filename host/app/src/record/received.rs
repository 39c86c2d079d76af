//! What came back: made durable, and then recorded as it was seen.

use capture::client::Received;
use model::event::attempt::AttemptObserved;
use model::event::{ArtifactRef, Body, Placed, Preservation, Scope};
use model::{AttemptId, Digest, EventId};

use super::steps::Recorder;
use crate::error::AppError;
use crate::fault::{self, Buffer, Edge, Point, Step};
use crate::readings::task_of;

/// An attempt that was started.
pub(super) struct Started {
    pub(super) attempt: AttemptId,
    pub(super) index: u32,
    pub(super) event: EventId,
    pub(super) request: ArtifactRef,
}

impl Recorder<'_> {
    /// Makes what was received durable: its bytes, then what was seen. It cannot be had
    /// again, so whoever cannot keep it is told what is lost.
    pub(super) fn keep(
        &mut self,
        mut received: Received,
        started: Started,
        events: &[Placed],
    ) -> Result<(), AppError> {
        let (call, index) = (self.call, started.index);
        let seen = in_words(&received);
        let lost = |source| {
            let (edge, step) = (Edge::After, Step::Observed);
            if matches!(&source, AppError::Injected(point) if *point == Point { edge, step }) {
                return source;
            }
            AppError::ResponseLost {
                call,
                index,
                seen: seen.clone(),
                source: Box::new(source),
            }
        };
        let artifacts = &self.session.artifacts;
        let faults = self.session.context.faults.as_ref();
        if let Some(body) = &mut received.body {
            faults.pass(Buffer::Received, body);
        }
        if let Some(body) = &received.body {
            fault::around(faults, Step::ResponseArtifact, || {
                artifacts.put(body)?;
                Ok(())
            })
            .map_err(lost)?;
        }
        let scope = Scope {
            task: task_of(events),
            call: Some(call),
            attempt: Some(started.attempt),
        };
        let cause = Some(started.event);
        let body = Body::from(Box::new(self.observation(received, started)));
        let mut appender = self.session.appender();
        let mut event = appender.stamp.event(cause, scope, body)?;
        // Whoever leads the call on, its producer is whoever asked.
        if let Some(requested) = events.first() {
            event.actor = requested.event.actor.clone();
        }
        appender.observe(&event).map_err(lost)?;
        self.appended += 1;
        Ok(())
    }

    /// Returns what is recorded of an exchange.
    fn observation(&self, received: Received, started: Started) -> AttemptObserved {
        let response = received.body.as_ref().map(|body| ArtifactRef {
            sha256: Digest::of(body),
            length: u64::try_from(body.len()).unwrap_or(u64::MAX),
            media_type: received.media_type,
            preservation: Preservation::Keep,
        });
        AttemptObserved {
            index: started.index,
            provider: Some(self.request.provider.clone()),
            dialect: self.request.dialect.clone(),
            endpoint: self.request.endpoint.clone(),
            transport_outcome: received.outcome,
            http_status: received.status,
            headers: received.headers.headers,
            headers_dropped: received.headers.dropped,
            exception_type: received.exception_type,
            request_body_artifact: Some(started.request),
            response_body_artifact: response,
        }
    }
}

/// Returns what was received, in a few words.
fn in_words(received: &Received) -> String {
    match (received.status, &received.body, received.exception_type) {
        (Some(status), Some(body), _) => format!("HTTP {status}, {} bytes", body.len()),
        (_, _, Some(exception)) => format!("no response, {}", exception.as_str()),
        _ => "no response".to_owned(),
    }
}
