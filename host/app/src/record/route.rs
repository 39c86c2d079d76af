//! What will be sent, and where: prepared from the configuration, the environment
//! and the request, and held against what was recorded before.

use std::fmt;
use std::time::Duration;

use capture::client::{Client, Outgoing, Received, Timeouts};
use capture::provider::{Prepared, ProviderError};
use model::Digest;
use model::bounds::{BODY_BYTES_MAX, PROVIDER_WORD_BYTES_MAX};
use model::event::call::CallManifest;
use model::event::{ArtifactRef, Preservation};
use serde::Deserialize;

use super::differing;
use crate::config::Provider;
use crate::context::Context;
use crate::files;

/// How every request is labelled: the three dialects send JSON.
const REQUEST_MEDIA_TYPE: &str = "application/json";

/// Why a call could not be prepared.
#[derive(Debug)]
pub(super) struct Unprepared {
    /// `config`, `key` or `request_file`.
    pub(super) stage: &'static str,
    /// What is wrong, without any secret.
    pub(super) detail: String,
}

impl Unprepared {
    fn new(stage: &'static str, detail: impl fmt::Display) -> Self {
        let detail = detail.to_string();
        Self { stage, detail }
    }

    pub(super) fn request_file(detail: impl fmt::Display) -> Self {
        Self::new("request_file", detail)
    }
}

/// A prepared request. It may hold a credential, so nothing prints it.
pub(super) struct Route {
    prepared: Prepared,
    body: Vec<u8>,
    client: Client,
    timeouts: Timeouts,
    retry_wait_max: Duration,
}

impl Route {
    /// Prepares a request to a provider.
    pub(super) fn prepare(
        context: &Context,
        provider: &Provider,
        dialect: &'static str,
        body: Vec<u8>,
    ) -> Result<Self, Unprepared> {
        let roots = match provider.ca_file(&context.home) {
            Some(path) => {
                let read = files::read(&path, BODY_BYTES_MAX);
                Some(read.map_err(|error| Unprepared::new("config", format!("ca_file: {error}")))?)
            }
            None => None,
        };
        let client = Client::new(roots.as_deref())
            .map_err(|error| Unprepared::new("config", format!("ca_file: {error}")))?;
        let settings = provider.settings(dialect);
        // What is wrong without the key is wrong with the configuration.
        settings
            .prepare(body.len(), None)
            .map_err(|error| Unprepared::new("config", error))?;
        let key = match provider.key_env() {
            Some(name) => Some(key(context, name)?),
            None => None,
        };
        let prepared = settings
            .prepare(body.len(), key.as_deref())
            .map_err(|error| match (error, provider.key_env()) {
                (ProviderError::Key, Some(name)) => {
                    Unprepared::new("key", format!("variable {name}: {}", ProviderError::Key))
                }
                (error, _) => Unprepared::new("config", error),
            })?;
        Ok(Self {
            prepared,
            body,
            client,
            timeouts: provider.timeouts(),
            retry_wait_max: provider.retry_wait_max(),
        })
    }

    /// Returns what is recorded of the request before it is sent.
    pub(super) fn manifest(&self) -> CallManifest {
        CallManifest {
            request: request_ref(&self.body),
            method: Prepared::METHOD.to_owned(),
            url: self.prepared.target().redacted(),
            header_names: self.prepared.header_names(),
            requested_model: requested_model(&self.body),
        }
    }

    /// Returns the path that requests go to.
    pub(super) fn endpoint(&self) -> String {
        self.prepared.target().endpoint()
    }

    /// Returns the request's body.
    pub(super) fn body(&self) -> &[u8] {
        &self.body
    }

    /// Makes one exchange.
    pub(super) fn exchange(&self) -> Received {
        let outgoing = Outgoing {
            method: Prepared::METHOD,
            target: self.prepared.target(),
            headers: self.prepared.headers(),
            body: &self.body,
        };
        let mut received = self.client.exchange(&outgoing, self.timeouts);
        received.headers.drop_holding(&self.prepared.secrets());
        received
    }

    /// Returns how long to wait before the attempt after `index`: what the provider
    /// asks for, else twice as long each time, and never longer than configured.
    pub(super) fn wait(&self, index: u32, retry_after: Option<&str>) -> Duration {
        let asked = retry_after.and_then(|text| text.trim().parse().ok());
        let growing = Duration::from_secs(1_u64 << index.saturating_sub(1).min(16));
        let wait = asked.map_or(growing, Duration::from_secs);
        wait.min(self.retry_wait_max)
    }
}

fn key(context: &Context, name: &str) -> Result<String, Unprepared> {
    let wrong = |what: &str| Unprepared::new("key", format!("variable {name} {what}"));
    match (context.variable)(name) {
        None => Err(wrong("is not set")),
        Some(value) => value.into_string().map_err(|_value| wrong("is not text")),
    }
}

/// Returns the reference of a request's bytes.
pub(super) fn request_ref(body: &[u8]) -> ArtifactRef {
    ArtifactRef {
        sha256: Digest::of(body),
        length: u64::try_from(body.len()).unwrap_or(u64::MAX),
        media_type: REQUEST_MEDIA_TYPE.to_owned(),
        preservation: Preservation::Keep,
    }
}

/// Returns the model that a request names, where it does so in a short text.
pub(super) fn requested_model(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Request {
        model: Option<serde_json::Value>,
    }
    let request: Request = serde_json::from_slice(body).ok()?;
    let model = request.model?.as_str()?.to_owned();
    (model.len() <= PROVIDER_WORD_BYTES_MAX).then_some(model)
}

/// Returns what differs between the request that was recorded and the one that would
/// be sent, by the names of the record.
pub(super) fn drift(recorded: &CallManifest, now: &CallManifest) -> Vec<&'static str> {
    differing([
        (
            "request_sha256",
            recorded.request.sha256 != now.request.sha256,
        ),
        ("method", recorded.method != now.method),
        ("url", recorded.url != now.url),
        ("header_names", recorded.header_names != now.header_names),
        (
            "requested_model",
            recorded.requested_model != now.requested_model,
        ),
    ])
}
