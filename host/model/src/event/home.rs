//! Events about the home itself; they stand outside of a task's count.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::name::Label;

/// The format of homes until version 0.1.0.
pub const FORMAT: &str = "draft";

/// Always event 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HomeCreated {
    /// The format of the home.
    pub format: String,
    /// The program that made it.
    pub program: Program,
    /// What runs when nothing else is named.
    pub defaults: Defaults,
}

/// A build of this program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The version.
    pub version: String,
    /// The commit it was built from, where that is known.
    pub commit: Option<String>,
    /// Whether its sources differed from the commit, where that is known.
    pub dirty: Option<bool>,
}

/// The interpreter and the policy that run when nothing else is named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Defaults {
    /// The interpreter.
    pub interpreter: Label,
    /// The policy.
    pub policy: Label,
}

/// A result was promised before it was known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HomePreregistered {
    /// The hash of the expected result.
    pub expected_sha256: Digest,
    /// What it is about.
    pub note: String,
}

/// Bytes were removed; their leaves stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HomeErased {
    /// What was removed.
    pub targets: Vec<ErasureTarget>,
    /// Why.
    pub reason: String,
}

/// One thing that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum ErasureTarget {
    /// The body and salt of an event.
    Event {
        /// Its place.
        seq: u64,
    },
    /// An artifact.
    Artifact {
        /// Its name.
        sha256: Digest,
    },
}
