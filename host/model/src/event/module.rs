//! Events about modules; they stand outside of a task's count.

use serde::{Deserialize, Serialize};

use crate::name::{Label, Mod};

/// A label was bound to bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModuleRegistered {
    /// The label and the hash.
    pub module: Mod,
    /// `interpreter`, `policy`, …
    pub world: String,
    /// The bytes of the module.
    pub length: u64,
    /// What the module says of itself.
    pub summary: String,
    /// The dialects it reads; empty means any.
    pub dialects: Vec<String>,
    /// The words that its readings use; null for worlds that read nothing.
    pub vocabulary: Option<u32>,
    /// The vocabularies that it accepts; empty for worlds that decide nothing.
    pub accepts_vocabulary: Vec<u32>,
    /// The labels that it supersedes.
    pub supersedes: Vec<Label>,
    /// Where the bytes came from: `released` or `added`.
    pub source: String,
}

/// A module is not to be used for new recordings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModuleRetired {
    /// The label and the hash.
    pub module: Mod,
    /// Why.
    pub reason: String,
}
