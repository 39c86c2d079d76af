//! References to bytes, and recorded derivations.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// What happens to the bytes that a reference names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preservation {
    /// Kept as they are.
    Keep,
    /// Kept encrypted; destroying the key erases them.
    Sealed,
    /// Never kept: hash and length only.
    Withhold,
}

/// A reference to exact bytes; null stands where there was no body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArtifactRef {
    /// The name of the bytes.
    pub sha256: Digest,
    /// In bytes.
    pub length: u64,
    /// Such as `application/json`.
    pub media_type: String,
    /// What happens to the bytes.
    pub preservation: Preservation,
}

/// One artifact was made from another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArtifactDerived {
    /// From these bytes.
    pub from_sha256: Digest,
    /// To these bytes.
    pub to_sha256: Digest,
    /// With what.
    pub tool: String,
    /// Why.
    pub note: String,
    /// The difference.
    pub diff_sha256: Option<Digest>,
}
