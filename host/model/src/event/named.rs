//! What an event names beside other events: artifacts and modules.

use super::{ArtifactRef, Body, Preservation};
use crate::digest::Digest;
use crate::event::task::Verifier;
use crate::name::Mod;

impl Body {
    /// Returns the artifacts that must be kept because this event names them.
    pub fn artifacts(&self) -> Vec<Digest> {
        let kept = |artifact: &Option<ArtifactRef>| {
            artifact
                .as_ref()
                .filter(|artifact| artifact.preservation != Preservation::Withhold)
                .map(|artifact| artifact.sha256)
        };
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the other kinds name no bytes"
        )]
        let named = match self {
            Self::ModuleRegistered(body) => vec![Some(body.module.sha256)],
            Self::CallRequested(body) => vec![
                kept(&body.request),
                body.interpreter_config_sha256,
                body.policy_config_sha256,
            ],
            Self::CallManifest(body) => vec![kept(&Some(body.request.clone()))],
            Self::AttemptStarted(body) => vec![kept(&Some(body.request.clone()))],
            Self::AttemptObserved(body) => vec![
                kept(&body.request_body_artifact),
                kept(&body.response_body_artifact),
            ],
            Self::AttemptInterpreted(body) => vec![body.config_sha256],
            Self::AttemptRetryDecided(body) => vec![body.policy_config_sha256],
            Self::CallStatusDecided(body) => {
                vec![body.interpreter_config_sha256, body.policy_config_sha256]
            }
            Self::CallReinterpreted(body) => {
                vec![body.interpreter_config_sha256, body.policy_config_sha256]
            }
            Self::CostComputed(body) => vec![Some(body.config_sha256)],
            Self::ArtifactDerived(body) => {
                vec![Some(body.from_sha256), Some(body.to_sha256)]
            }
            Self::CheckCompleted(body) => vec![kept(&body.stdout), kept(&body.stderr)],
            Self::TaskAccepted(body) => vec![Some(body.artifact_sha256)],
            _ => Vec::new(),
        };
        named.into_iter().flatten().collect()
    }

    /// Returns the modules that this event rests on; each must be registered before.
    pub fn modules(&self) -> Vec<&Mod> {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the other kinds rest on no module"
        )]
        match self {
            Self::ModuleRetired(body) => vec![&body.module],
            Self::CallRequested(body) => vec![&body.interpreter, &body.policy],
            Self::AttemptInterpreted(body) => vec![&body.module],
            Self::AttemptRetryDecided(body) => vec![&body.policy],
            Self::CallStatusDecided(body) => vec![&body.interpreter, &body.policy],
            Self::CallReinterpreted(body) => vec![&body.interpreter, &body.policy],
            Self::CostComputed(body) => vec![&body.module],
            Self::CheckRequested(body) => match &body.verifier {
                Verifier::Module { module, .. } => vec![module],
                Verifier::Command { .. } => Vec::new(),
            },
            Self::TaskAccepted(body) => vec![&body.policy],
            Self::TaskAcceptanceRejected(body) => vec![&body.policy],
            _ => Vec::new(),
        }
    }
}
