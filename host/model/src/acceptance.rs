//! What an acceptance module is given: what is asked for, and what was found.
//!
//! The types mirror `wit/v1/acceptance.wit`. Whoever fills them in resolves every
//! reference from the ledger and reads every byte again; a module decides from
//! these facts alone.

use crate::decision::CallStatus;
use crate::digest::Digest;
use crate::event::task::Verdict;
use crate::id::EventId;
use crate::name::Actor;
use crate::projection::call::Unavailable;
use crate::reading::GenerationState;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptanceRequest {
    /// Who wants to accept.
    pub actor: Option<Actor>,
    /// The bytes.
    pub artifact_sha256: Digest,
    /// The criteria that the actor means.
    pub criteria_sha256: Digest,
}

/// Everything that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptanceFacts {
    /// What the task declares.
    pub task: TaskFacts,
    /// Whether an acceptance of the output stands already.
    pub prior: PriorAcceptance,
    /// Where the bytes come from.
    pub source: SourceFacts,
    /// The checks that are cited, in the order in which they are cited.
    pub checks: Vec<CitedCheck>,
}

/// What the task declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskFacts {
    /// How many declarations of the task there are.
    pub definitions: u32,
    /// The hash of the output's criteria as declared; none when the task has no
    /// output of the name.
    pub criteria_sha256: Option<Digest>,
    /// How many criteria the output has.
    pub criteria_count: u32,
    /// What the declaration grants to the actor.
    pub capabilities: Vec<String>,
}

/// An acceptance of the same output that stands already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriorAcceptance {
    /// There is none.
    None,
    /// It accepts the same, by the same references.
    Identical,
    /// It accepts something else.
    Different,
}

/// Where the bytes come from.
#[expect(
    clippy::struct_excessive_bools,
    reason = "the contract names these two facts"
)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFacts {
    /// The call; none when no such call is recorded, and then the rest but the
    /// artifact says nothing.
    pub call: Option<CallFacts>,
    /// The cited attempt belongs to the call.
    pub attempt_of_call: bool,
    /// No attempt of the call came after it.
    pub attempt_is_final: bool,
    /// The cited reading; none when no such reading is recorded.
    pub interpretation: Option<InterpretationFacts>,
    /// Who asked for the call.
    pub producer: Option<Actor>,
    /// The text that the adopted reading yields, made again.
    pub output: SourceOutput,
    /// How the artifact's own bytes were found.
    pub artifact: ArtifactState,
    /// The recorded way from the text to the artifact, in order; empty when there
    /// is none, or when the artifact is the text itself.
    pub derivations: Vec<Derivation>,
}

/// The call that is cited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallFacts {
    /// It belongs to the task.
    pub of_task: bool,
    /// Its adopted status.
    pub status: Option<CallStatus>,
}

/// The reading that is cited.
#[expect(
    clippy::struct_excessive_bools,
    reason = "the contract names these three facts"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterpretationFacts {
    /// It reads an attempt of the call.
    pub of_call: bool,
    /// It reads the cited attempt.
    pub of_attempt: bool,
    /// The adopted status rests on it.
    pub is_decision_basis: bool,
    /// What it says became of the output.
    pub generation_state: GenerationState,
}

/// The text that the adopted reading yields, made again from the preserved bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceOutput {
    /// There is text, of this hash.
    Text(Digest),
    /// The reading yields no text.
    NoText,
    /// The bytes cannot be read.
    Unavailable(Unavailable),
}

/// How the artifact's own bytes were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArtifactState {
    /// They are there and hash to their name.
    Kept,
    /// They cannot be read.
    Unavailable(Unavailable),
}

/// One recorded derivation on the way from the source's text to the artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Derivation {
    /// The bytes before.
    pub from_sha256: Digest,
    /// The bytes after.
    pub to_sha256: Digest,
    /// Who made it.
    pub actor: Actor,
}

/// A check that is cited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitedCheck {
    /// The `check.completed` event that is cited.
    pub id: EventId,
    /// What is recorded of it; none when no completed check of this id is recorded.
    pub found: Option<CheckFacts>,
}

/// What is recorded of a check.
#[expect(
    clippy::struct_excessive_bools,
    reason = "the contract names these three facts"
)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckFacts {
    /// Its cause is a recorded request.
    pub linked: bool,
    /// How many completions its request has.
    pub completions: u32,
    /// It was asked for in the task.
    pub of_task: bool,
    /// It is about the output.
    pub of_output: bool,
    /// The bytes it looked at; none when that cannot be told.
    pub artifact_sha256: Option<Digest>,
    /// The criteria it was asked about.
    pub criteria_sha256: Option<Digest>,
    /// What was found.
    pub verdict: Verdict,
    /// The criteria it covers, from 0.
    pub covers: Vec<u32>,
}
