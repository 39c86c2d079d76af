//! Fault points: where a test may stop this process, hold it, or make a step fail.
//!
//! Whoever runs a use case hands in what happens at a point; in normal use that is
//! nothing ([`NoFaults`]). The points stand before and after each step that leaves
//! something durable, and around the exchange with a provider. Bytes that pass through
//! memory between two steps can be altered there.

use std::fmt;

use crate::error::AppError;

/// On which side of a step a point stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edge {
    /// Nothing of the step is done.
    Before,
    /// The step is durable.
    After,
}

/// A step that leaves something durable, and the exchange itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// The configurations of the modules become artifacts.
    ConfigArtifacts,
    /// The request becomes an artifact.
    RequestArtifact,
    /// The intent.
    Requested,
    /// The intent, and that it could not be prepared.
    PreparationFailed,
    /// The intent, and that a completed call answers for it.
    Replayed,
    /// An older call is continued as a new intent.
    Resumed,
    /// What will be sent.
    Manifest,
    /// An attempt begins.
    Started,
    /// The request leaves and the response comes; nothing of it is durable.
    Exchange,
    /// The response becomes an artifact.
    ResponseArtifact,
    /// What the transport saw.
    Observed,
    /// What the interpreter says.
    Interpreted,
    /// What the policy says of the attempt.
    RetryDecided,
    /// What became of the call.
    StatusDecided,
    /// A check is about to run.
    CheckRequested,
    /// What a verifier printed becomes artifacts.
    CheckStreams,
    /// What a check found.
    CheckCompleted,
    /// The bytes of a derivation become artifacts.
    DerivedArtifacts,
    /// One artifact was made from another.
    Derived,
    /// An output is accepted.
    Accepted,
    /// An accepted output is completed.
    TaskCompleted,
    /// An acceptance is refused.
    AcceptanceRejected,
    /// What responses cost.
    CostComputed,
}

impl Step {
    /// Every step, in the order in which a call reaches them.
    pub const ALL: [Self; 23] = [
        Self::ConfigArtifacts,
        Self::RequestArtifact,
        Self::Requested,
        Self::PreparationFailed,
        Self::Replayed,
        Self::Resumed,
        Self::Manifest,
        Self::Started,
        Self::Exchange,
        Self::ResponseArtifact,
        Self::Observed,
        Self::Interpreted,
        Self::RetryDecided,
        Self::StatusDecided,
        Self::CheckRequested,
        Self::CheckStreams,
        Self::CheckCompleted,
        Self::DerivedArtifacts,
        Self::Derived,
        Self::Accepted,
        Self::TaskCompleted,
        Self::AcceptanceRejected,
        Self::CostComputed,
    ];

    /// Returns the step's name: the first event it appends, or what else it does.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ConfigArtifacts => "config_artifacts",
            Self::RequestArtifact => "request_artifact",
            Self::Requested => "call.requested",
            Self::PreparationFailed => "call.preparation_failed",
            Self::Replayed => "call.replayed",
            Self::Resumed => "call.resumed",
            Self::Manifest => "call.manifest",
            Self::Started => "attempt.started",
            Self::Exchange => "exchange",
            Self::ResponseArtifact => "response_artifact",
            Self::Observed => "attempt.observed",
            Self::Interpreted => "attempt.interpreted",
            Self::RetryDecided => "attempt.retry_decided",
            Self::StatusDecided => "call.status_decided",
            Self::CheckRequested => "check.requested",
            Self::CheckStreams => "check_streams",
            Self::CheckCompleted => "check.completed",
            Self::DerivedArtifacts => "derived_artifacts",
            Self::Derived => "artifact.derived",
            Self::Accepted => "task.accepted",
            Self::TaskCompleted => "task.completed",
            Self::AcceptanceRejected => "task.acceptance_rejected",
            Self::CostComputed => "cost.computed",
        }
    }
}

/// A point: a side of a step, written as `before:call.manifest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    /// The side.
    pub edge: Edge,
    /// The step.
    pub step: Step,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let edge = match self.edge {
            Edge::Before => "before",
            Edge::After => "after",
        };
        write!(f, "{edge}:{}", self.step.as_str())
    }
}

/// Bytes in memory between two steps that each look after their own: no hash is over
/// them yet, or none any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Buffer {
    /// The response, from the network and not yet hashed.
    Received,
    /// The text that a reading yields, on its way to the artifacts.
    OutputText,
}

impl Buffer {
    /// Returns the name by which it is asked for.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::OutputText => "output_text",
        }
    }
}

/// What happens at the points.
pub trait Faults {
    /// Is called when a point is reached. It may never return; an error fails the
    /// use case there, as a full disk would.
    fn reach(&self, point: Point) -> Result<(), Injected>;

    /// Is called with bytes that pass through memory. It may alter them, as a bad
    /// memory would.
    fn pass(&self, _buffer: Buffer, _bytes: &mut [u8]) {}
}

/// A failure that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Injected;

/// Nothing happens at any point.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFaults;

impl Faults for NoFaults {
    fn reach(&self, _point: Point) -> Result<(), Injected> {
        Ok(())
    }
}

/// Reaches one point.
pub(crate) fn reach(faults: &dyn Faults, edge: Edge, step: Step) -> Result<(), AppError> {
    let point = Point { edge, step };
    faults
        .reach(point)
        .map_err(|Injected| AppError::Injected(point))
}

/// Does a step between its two points.
pub(crate) fn around<T>(
    faults: &dyn Faults,
    step: Step,
    work: impl FnOnce() -> Result<T, AppError>,
) -> Result<T, AppError> {
    reach(faults, Edge::Before, step)?;
    let done = work()?;
    reach(faults, Edge::After, step)?;
    Ok(done)
}
