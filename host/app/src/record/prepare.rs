//! Preparing a recorded request again, exactly as it was recorded.

use model::CallId;
use model::event::call::{CallManifest, CallRequested};
use model::event::{Body, Placed};

use super::Refusal;
use super::route::{Route, drift};
use super::steps::Recorder;
use crate::config::Config;
use crate::context::Session;
use crate::error::AppError;

impl Recorder<'_> {
    /// Makes sure that the request is ready to be sent, as it was recorded.
    pub(super) fn prepare(&mut self, events: &[Placed]) -> Result<(), AppError> {
        if self.route.is_some() {
            return Ok(());
        }
        let manifest = events.iter().find_map(manifest_of);
        let given = self.given.take();
        let again = given.is_some();
        let body = request_bytes(self.session, self.call, &self.request, given)?;
        let route = prepare_again(self.session, self.call, &self.request, (manifest, body))?;
        if again {
            self.session.keep_request(route.body())?;
        }
        self.route = Some(route);
        Ok(())
    }
}

/// Returns the request's bytes: those given again, else those that were kept.
pub(super) fn request_bytes(
    session: &Session,
    call: CallId,
    request: &CallRequested,
    given: Option<Vec<u8>>,
) -> Result<Vec<u8>, AppError> {
    if let Some(given) = given {
        return Ok(given);
    }
    let Some(recorded) = &request.request else {
        return Err(AppError::Forbidden(format!(
            "call {call} names no request: give it with --request FILE"
        )));
    };
    let sha256 = recorded.sha256;
    match session.artifacts.get(sha256) {
        Ok(bytes) => Ok(bytes.as_slice().to_vec()),
        Err(error) => Err(Refusal::RequestUnavailable {
            call,
            sha256,
            detail: error.to_string(),
        }
        .into()),
    }
}

/// Prepares a request again and refuses what is not as it was recorded: in the
/// manifest where there is one, else in the intent.
pub(super) fn prepare_again(
    session: &Session,
    call: CallId,
    request: &CallRequested,
    (manifest, body): (Option<&CallManifest>, Vec<u8>),
) -> Result<Route, AppError> {
    let config = Config::load(&session.context.home)?;
    let provider = config.provider(&request.provider)?;
    let dialect = provider.dialect(&request.provider)?;
    let route =
        Route::prepare(&session.context, provider, dialect, body).map_err(|unprepared| {
            AppError::Preparation {
                call,
                stage: unprepared.stage,
                detail: unprepared.detail,
            }
        })?;
    let now = route.manifest();
    let mut fields = Vec::new();
    if dialect != request.dialect {
        fields.push("dialect");
    }
    if manifest.is_none() && route.endpoint() != request.endpoint {
        fields.push("endpoint");
    }
    fields.extend(match manifest {
        Some(manifest) => drift(manifest, &now),
        None => drift(&as_intended(request, &now), &now),
    });
    if fields.is_empty() {
        Ok(route)
    } else {
        Err(Refusal::Drift { call, fields }.into())
    }
}

/// Returns a manifest with what an intent alone fixes: the bytes and their model.
pub(super) fn as_intended(request: &CallRequested, now: &CallManifest) -> CallManifest {
    CallManifest {
        request: request
            .request
            .clone()
            .unwrap_or_else(|| now.request.clone()),
        requested_model: request.requested_model.clone(),
        ..now.clone()
    }
}

pub(super) fn manifest_of(placed: &Placed) -> Option<&CallManifest> {
    let Body::CallManifest(body) = &placed.event.body else {
        return None;
    };
    Some(body)
}
