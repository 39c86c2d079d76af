//! What is asked for and what was found, in the words of the contract.

use alloc::vec::Vec;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// Who wants to accept; empty when nobody is named.
    pub actor: &'a str,
    /// The bytes.
    pub artifact_sha256: &'a str,
    /// The criteria that the actor means.
    pub criteria_sha256: &'a str,
    /// How many checks are cited.
    pub check_count: u32,
}

/// Everything that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts<'a> {
    /// What the task declares.
    pub task: Task<'a>,
    /// Whether an acceptance of the output stands already.
    pub prior: Prior,
    /// Where the bytes come from.
    pub source: Source<'a>,
    /// One entry for each check that is cited.
    pub checks: Vec<Check<'a>>,
}

/// What the task declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task<'a> {
    /// How many declarations of the task there are.
    pub definitions: u32,
    /// The hash of the criteria as declared; none without an output of the name.
    pub criteria_sha256: Option<&'a str>,
    /// How many criteria the output has.
    pub criteria_count: u32,
    /// What is granted to the actor.
    pub capabilities: Vec<&'a str>,
}

/// An acceptance of the same output that stands already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prior {
    /// There is none.
    None,
    /// It accepts the same.
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
pub struct Source<'a> {
    /// None when no such call is recorded; then the rest but the artifact says
    /// nothing.
    pub call: Option<Call<'a>>,
    /// The cited attempt belongs to the call.
    pub attempt_of_call: bool,
    /// No attempt of the call came after it.
    pub attempt_is_final: bool,
    /// None when no such reading is recorded.
    pub interpretation: Option<Interpretation<'a>>,
    /// Who asked for the call.
    pub producer: &'a str,
    /// The text that the adopted reading yields.
    pub output: Output<'a>,
    /// How the artifact's own bytes were found.
    pub artifact: Artifact,
    /// The recorded way from the text to the artifact, in order.
    pub derivations: Vec<Derivation<'a>>,
}

/// The call that is cited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call<'a> {
    /// It belongs to the task.
    pub of_task: bool,
    /// Its adopted status.
    pub status: Option<&'a str>,
}

/// The reading that is cited.
#[expect(
    clippy::struct_excessive_bools,
    reason = "the contract names these three facts"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interpretation<'a> {
    /// It reads an attempt of the call.
    pub of_call: bool,
    /// It reads the cited attempt.
    pub of_attempt: bool,
    /// The adopted status rests on it.
    pub is_decision_basis: bool,
    /// What it says became of the output.
    pub generation_state: &'a str,
}

/// The text that the adopted reading yields, made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output<'a> {
    /// There is text, of this hash.
    Text(&'a str),
    /// The reading yields none.
    NoText,
    /// The bytes cannot be read.
    Unavailable,
}

/// How the artifact's own bytes were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Artifact {
    /// They are there and hash to their name.
    Kept,
    /// They are not there, whether lost, withheld or erased.
    Gone,
    /// They do not hash to their name.
    Corrupt,
}

/// One recorded derivation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Derivation<'a> {
    /// The bytes before.
    pub from_sha256: &'a str,
    /// The bytes after.
    pub to_sha256: &'a str,
    /// Who made it.
    pub actor: &'a str,
}

/// A check that is cited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check<'a> {
    /// As it is cited.
    pub id: &'a str,
    /// None when no completed check of this id is recorded.
    pub found: Option<Found<'a>>,
}

/// What is recorded of a check.
#[expect(
    clippy::struct_excessive_bools,
    reason = "the contract names these three facts"
)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<'a> {
    /// Its cause is a recorded request.
    pub linked: bool,
    /// How many completions its request has.
    pub completions: u32,
    /// It was asked for in the task.
    pub of_task: bool,
    /// It is about the output.
    pub of_output: bool,
    /// The bytes it looked at; none when that cannot be told.
    pub artifact_sha256: Option<&'a str>,
    /// The criteria it was asked about.
    pub criteria_sha256: Option<&'a str>,
    /// What was found.
    pub verdict: &'a str,
    /// The criteria it covers, from 0.
    pub covers: &'a [u32],
}
