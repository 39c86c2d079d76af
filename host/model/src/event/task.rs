//! Events about tasks, checks and acceptance.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::artifact::ArtifactRef;
use crate::canonical::{self, CanonicalError};
use crate::digest::Digest;
use crate::id::EventId;
use crate::name::{Actor, Mod};

/// Work was declared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskCreated {
    /// What it is.
    pub title: String,
    /// The run that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// What it must produce.
    pub outputs: Vec<TaskOutput>,
    /// Who may do what.
    pub grants: BTreeMap<Actor, Vec<String>>,
}

/// A named thing that a task must produce.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskOutput {
    /// Its name.
    pub name: String,
    /// The written conditions.
    pub criteria: Vec<String>,
    /// The hash of the criteria as declared.
    pub criteria_sha256: Digest,
}

impl TaskOutput {
    /// Declares an output; the criteria are hashed as canonical JSON.
    pub fn declare(name: String, criteria: Vec<String>) -> Result<Self, CanonicalError> {
        let criteria_sha256 = Digest::of(&canonical::to_bytes(&criteria)?);
        Ok(Self {
            name,
            criteria,
            criteria_sha256,
        })
    }
}

/// What runs a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Verifier {
    /// An external program.
    Command {
        /// Its name and arguments.
        argv: Vec<String>,
    },
    /// A component.
    Module {
        /// Which.
        module: Mod,
        /// Its configuration.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        config_sha256: Option<Digest>,
    },
}

/// A check is about to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckRequested {
    /// The output it is about.
    pub output: String,
    /// `artifact:sha256:<hex>`.
    pub target: String,
    /// What runs.
    pub verifier: Verifier,
    /// The criteria that it covers, from 0.
    pub covers: Vec<u64>,
    /// The hash of the criteria as declared.
    pub criteria_sha256: Digest,
    /// In seconds.
    pub timeout_s: u64,
}

/// What a check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// The criteria hold.
    Pass,
    /// They do not.
    Fail,
    /// The check cannot say.
    Inconclusive,
    /// The check did not run.
    Error,
}

impl Verdict {
    /// Returns the name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Inconclusive => "INCONCLUSIVE",
            Self::Error => "ERROR",
        }
    }
}

/// A finding about one criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// From 0.
    pub criterion: u64,
    /// What was found.
    pub verdict: Verdict,
    /// In words.
    pub note: String,
}

/// A check ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckCompleted {
    /// What was found.
    pub verdict: Verdict,
    /// Of the program.
    pub exit_code: Option<i32>,
    /// What it printed.
    pub stdout: Option<ArtifactRef>,
    /// What it complained of.
    pub stderr: Option<ArtifactRef>,
    /// By criterion.
    pub findings: Vec<Finding>,
}

/// Exact bytes were accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskAccepted {
    /// The rules.
    pub policy: Mod,
    /// The output.
    pub output: String,
    /// The bytes.
    pub artifact_sha256: Digest,
    /// The criteria as declared.
    pub criteria_sha256: Digest,
    /// The reading that yields the bytes.
    pub interpretation: EventId,
    /// The `check.completed` events cited.
    pub checks: Vec<EventId>,
    /// What allowed the actor to accept.
    pub authority: String,
}

/// An output is finished. Never set: derived from an acceptance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskCompleted {
    /// The output.
    pub output: String,
    /// The bytes.
    pub artifact_sha256: Digest,
    /// The `task.accepted` event.
    pub acceptance: EventId,
}

/// An acceptance was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskAcceptanceRejected {
    /// The rules.
    pub policy: Mod,
    /// The output.
    pub output: String,
    /// The bytes.
    pub artifact_sha256: Digest,
    /// The criteria that were cited.
    pub criteria_sha256: Digest,
    /// The reading that was cited.
    pub interpretation: Option<EventId>,
    /// The checks that were cited.
    pub checks: Vec<EventId>,
    /// What the actor's authority was found to be.
    pub authority: Option<String>,
    /// Every reason, in a stable order.
    pub reasons: Vec<String>,
}
