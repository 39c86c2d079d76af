//! Why a use case failed, and which class of failure that is.

use std::path::PathBuf;

use model::digest::DigestError;
use model::event::EventError;
use model::name::{Label, Mod};
use model::projection::call::Unavailable;
use model::{AttemptId, CallId, Digest, EventId};
use store::{ArtifactError, HomeError, LedgerError};

use crate::fault::Point;
use crate::record::Refusal;

/// The classes that the command line turns into exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Something that no rule foresees.
    Unexpected,
    /// The question is malformed, or names something that is not there.
    Usage,
    /// What is recorded is damaged.
    Damage,
    /// Evidence or module bytes are unavailable, or a rule forbids it.
    Refused,
    /// Another process holds the lock.
    Busy,
    /// A module is invalid, failed, passed a limit or refused.
    Module,
    /// An output was not accepted.
    NotAccepted,
}

/// Why a use case failed.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// A name that nothing has.
    #[error("unknown {what}: {name}")]
    Unknown {
        /// What was looked for.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A question that cannot be answered as it is asked.
    #[error("{0}")]
    Usage(String),
    /// The bytes that an observation names cannot be read.
    #[error(transparent)]
    Observation(#[from] Box<ObservationUnavailable>),
    /// An attempt was started and nothing was observed.
    #[error("attempt {0} has no observation: nothing was preserved to interpret")]
    Unobserved(AttemptId),
    /// A call has no attempt to read.
    #[error("the call has no recorded attempts")]
    NoAttempts,
    /// No reading of a call counts yet, or none of this attempt.
    #[error("call {0} has no adopted status that rests on a reading of it: nothing counts yet")]
    NotAdopted(CallId),
    /// The bytes of a module cannot be read.
    #[error("module {module} is unavailable: {source}")]
    ModuleUnavailable {
        /// The module.
        module: Mod,
        /// What is wrong with its bytes.
        source: ArtifactError,
    },
    /// A label is bound to other bytes.
    #[error("label {label} is bound to {bound}; it cannot be bound to {found} as well")]
    LabelBound {
        /// The label.
        label: Label,
        /// The hash that it is bound to.
        bound: Digest,
        /// The hash that was offered.
        found: Digest,
    },
    /// A module of another world was named.
    #[error("module {module} is of world {found}, but world {expected} is needed")]
    World {
        /// The module.
        module: Mod,
        /// The world that is needed.
        expected: &'static str,
        /// Its world.
        found: String,
    },
    /// A policy does not accept the words that an interpreter uses.
    #[error(
        "policy {policy} accepts readings of vocabulary {accepts:?}, but interpreter \
         {interpreter} uses vocabulary {vocabulary}"
    )]
    Vocabulary {
        /// The policy.
        policy: Label,
        /// The interpreter.
        interpreter: Label,
        /// What the policy accepts.
        accepts: Vec<u32>,
        /// What the interpreter uses.
        vocabulary: u32,
    },
    /// An older module is wanted where a newer one is adopted.
    #[error(
        "{newer} is adopted and supersedes {older}: stepping back needs --allow-older \
         (adopted record {record})"
    )]
    StepBack {
        /// What is adopted.
        newer: Label,
        /// What is wanted.
        older: Label,
        /// The record that holds the adopted status.
        record: EventId,
    },
    /// A module gave another result than the one recorded of the same inputs.
    #[error(
        "reading {interpretation} records result {recorded}, but {module} now gives {found} for \
         the same inputs"
    )]
    NotReproduced {
        /// The recorded reading.
        interpretation: EventId,
        /// The module.
        module: Mod,
        /// The result recorded.
        recorded: Digest,
        /// The result found.
        found: Digest,
    },
    /// A module is invalid, failed, passed a limit or refused.
    #[error(transparent)]
    Module(#[from] Box<ModuleFailure>),
    /// The home is made in another format.
    #[error(
        "the home's format is {found:?}, but this program reads {expected:?}: use the program \
         that wrote it, or export and import"
    )]
    Format {
        /// The format that this program reads.
        expected: &'static str,
        /// The home's.
        found: String,
    },
    /// Lines of an exchange file are malformed.
    #[error("{}", malformed(.0))]
    Malformed(Vec<MalformedLine>),
    /// A source changed while it was read.
    #[error(
        "{} changed while it was imported: line {line} is not what it was a moment ago",
        path.display()
    )]
    SourceChanged {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
    },
    /// A call could not be prepared; nothing was sent.
    #[error("call {call} could not be prepared ({stage}): {detail}")]
    Preparation {
        /// The call.
        call: CallId,
        /// `config`, `key` or `request_file`.
        stage: &'static str,
        /// What is wrong.
        detail: String,
    },
    /// A rule forbids to make or to continue a call.
    #[error(transparent)]
    Call(#[from] Box<Refusal>),
    /// A call could not be led to its end; what is recorded of it stands.
    #[error("call {call}: {source}")]
    Stopped {
        /// The call.
        call: CallId,
        /// Why.
        source: Box<Self>,
    },
    /// A response arrived and could not be recorded.
    #[error(
        "call {call}: the response to attempt {index} arrived ({seen}) and could not be recorded: \
         {source}"
    )]
    ResponseLost {
        /// The call.
        call: CallId,
        /// The attempt, from 1.
        index: u32,
        /// What arrived, in words.
        seen: String,
        /// Why it is lost.
        source: Box<Self>,
    },
    /// An acceptance cannot be judged; nothing was recorded.
    #[error("not accepted: {reason}: {detail}")]
    Unjudged {
        /// `missing_actor`, `unknown_task`, `unknown_policy` or
        /// `artifact_store_unavailable`.
        reason: &'static str,
        /// In words.
        detail: String,
    },
    /// A failure that a test asked for.
    #[error("a failure was asked for at {0}")]
    Injected(Point),
    /// Recorded history contradicts itself.
    #[error("{0}")]
    Damage(String),
    /// A rule forbids it.
    #[error("{0}")]
    Forbidden(String),
    /// The home's folder.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The artifacts.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// An event.
    #[error(transparent)]
    Event(#[from] EventError),
    /// A text that should be a digest.
    #[error("not a digest: {0}")]
    Digest(#[from] DigestError),
    /// A file of the user's.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The system gave no random bytes.
    #[error("the system gave no random bytes: {0}")]
    Random(String),
    /// The engine that runs modules could not be set up.
    #[error("{0}")]
    Engine(String),
    /// A result could not be handed on.
    #[error("printing: {0}")]
    Print(#[source] std::io::Error),
}

/// One line, or entry of a recording, that is not an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MalformedLine {
    /// The file.
    pub path: PathBuf,
    /// Where in it, such as `:3` or `: entry 3`; empty where all of it is meant.
    pub place: String,
    /// What is wrong, without any value of the line.
    pub detail: String,
}

fn malformed(lines: &[MalformedLine]) -> String {
    const SHOWN: usize = 20;
    let mut text: Vec<_> = lines
        .iter()
        .take(SHOWN)
        .map(|line| format!("{}{}: {}", line.path.display(), line.place, line.detail))
        .collect();
    if lines.len() > SHOWN {
        text.push(format!("and {} more malformed lines", lines.len() - SHOWN));
    }
    text.push("nothing was imported".to_owned());
    text.join("\n")
}

/// The bytes that an observation names cannot be read. Nothing else stands in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("ObservationUnavailable: {word}: {sentence} (attempt {attempt}, {artifact}{})",
    recorded.map(|event| format!(", recorded reading or status {event}")).unwrap_or_default())]
pub struct ObservationUnavailable {
    /// The attempt.
    pub attempt: AttemptId,
    /// The bytes.
    pub artifact: Digest,
    /// Why, in a word.
    pub word: Unavailable,
    /// Why, in a sentence.
    pub sentence: String,
    /// The recorded answer that cannot be confirmed, for a repeat.
    pub recorded: Option<EventId>,
}

/// A module is invalid, failed, passed a limit or refused.
#[derive(Debug, thiserror::Error)]
pub enum ModuleFailure {
    /// The bytes are not a module that may run here.
    #[error("module {name}: {source}")]
    Invalid {
        /// The label or the file.
        name: String,
        /// Why.
        source: runtime::ModuleError,
    },
    /// The bytes could not be compiled within bounds.
    #[error("module {name}: {source}")]
    Compile {
        /// The label or the file.
        name: String,
        /// Why.
        source: runtime::CompileError,
    },
    /// The module could not be loaded, or cannot say what it is.
    #[error("module {name}: {source}")]
    Load {
        /// The label or the file.
        name: String,
        /// Why.
        source: runtime::LoadError,
    },
    /// A run failed.
    #[error("module {module}: {source}")]
    Run {
        /// The module.
        module: Mod,
        /// Why.
        source: runtime::RunError,
    },
}

impl AppError {
    /// Returns the class, which decides the exit code.
    pub fn class(&self) -> Class {
        match self {
            Self::Unknown { .. }
            | Self::Usage(_)
            | Self::Malformed(_)
            | Self::Preparation { .. }
            | Self::Digest(_) => Class::Usage,
            Self::Stopped { source, .. } | Self::ResponseLost { source, .. } => source.class(),
            Self::Observation(_)
            | Self::Unobserved(_)
            | Self::NoAttempts
            | Self::NotAdopted(_)
            | Self::ModuleUnavailable { .. }
            | Self::LabelBound { .. }
            | Self::Vocabulary { .. }
            | Self::StepBack { .. }
            | Self::Format { .. }
            | Self::Call(_)
            | Self::Forbidden(_)
            | Self::Artifact(ArtifactError::Missing(_) | ArtifactError::Corrupt { .. }) => {
                Class::Refused
            }
            Self::Unjudged { .. } => Class::NotAccepted,
            Self::NotReproduced { .. }
            | Self::Damage(_)
            | Self::Artifact(ArtifactError::NotAFile(_)) => Class::Damage,
            Self::Module(_) | Self::World { .. } => Class::Module,
            Self::Home(error) => match error {
                HomeError::Absent(_) | HomeError::NotEmpty(_) | HomeError::NotAFolder(_) => {
                    Class::Usage
                }
                HomeError::Io { .. } => Class::Unexpected,
            },
            Self::Ledger(error) => of_ledger(error),
            Self::Artifact(ArtifactError::TooLarge { .. } | ArtifactError::Io { .. })
            | Self::Event(_)
            | Self::SourceChanged { .. }
            | Self::Random(_)
            | Self::Engine(_)
            | Self::Injected(_)
            | Self::Print(_) => Class::Unexpected,
            // A file that the caller named and that is not there is a wrong name.
            Self::File { source, .. } => {
                use std::io::ErrorKind::{InvalidFilename, IsADirectory, NotADirectory, NotFound};
                let names = [NotFound, IsADirectory, NotADirectory, InvalidFilename];
                if names.contains(&source.kind()) {
                    Class::Usage
                } else {
                    Class::Unexpected
                }
            }
        }
    }

    /// Returns a short stable name of the failure, for machines.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "unknown_name",
            Self::Usage(_) | Self::Digest(_) => "usage",
            Self::Observation(_) => "observation_unavailable",
            Self::Unobserved(_) => "no_observation",
            Self::NoAttempts => "no_attempts",
            Self::NotAdopted(_) => "not_adopted",
            Self::ModuleUnavailable { .. } => "module_unavailable",
            Self::LabelBound { .. } => "label_bound",
            Self::World { .. } => "wrong_world",
            Self::Vocabulary { .. } => "vocabulary_not_accepted",
            Self::StepBack { .. } => "step_back",
            Self::NotReproduced { .. } => "not_reproduced",
            Self::Module(_) => "module_failed",
            Self::Format { .. } => "format",
            Self::Malformed(_) => "malformed_exchange",
            Self::SourceChanged { .. } => "source_changed",
            Self::Preparation { .. } => "preparation_failed",
            Self::Call(refusal) => refusal.code(),
            Self::Stopped { source, .. } => source.code(),
            Self::ResponseLost { .. } => "response_lost",
            Self::Unjudged { reason, .. } => reason,
            Self::Injected(_) => "injected_failure",
            Self::Damage(_) => "damage",
            Self::Forbidden(_) => "forbidden",
            Self::Home(_) => "home",
            Self::Ledger(LedgerError::Busy { .. }) => "busy",
            Self::Event(_) | Self::Ledger(LedgerError::Event(_)) => "event",
            Self::Ledger(_) => "ledger",
            Self::Artifact(_) => "artifact",
            Self::File { .. } => "file",
            Self::Random(_) => "random",
            Self::Engine(_) => "engine",
            Self::Print(_) => "print",
        }
    }
}

const fn of_ledger(error: &LedgerError) -> Class {
    match error {
        LedgerError::Busy { .. } => Class::Busy,
        LedgerError::Newer { .. } | LedgerError::Erased { .. } => Class::Refused,
        // What people chose does not fit into an event; the rest is bounded before.
        LedgerError::Event(EventError::TooLarge { .. } | EventError::Bound { .. }) => Class::Usage,
        LedgerError::NotALedger { .. }
        | LedgerError::Leaf { .. }
        | LedgerError::Entry { .. }
        | LedgerError::Index { .. }
        | LedgerError::Tree { .. }
        | LedgerError::Malformed { .. } => Class::Damage,
        LedgerError::Full { .. }
        | LedgerError::ReadOnly { .. }
        | LedgerError::Duplicate { .. }
        | LedgerError::Event(_)
        | LedgerError::SqliteTooOld(_)
        | LedgerError::Sqlite { .. }
        | LedgerError::Io { .. } => Class::Unexpected,
    }
}
