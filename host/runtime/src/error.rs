//! Why a run ended without a result.
//!
//! Every limit that can end a run is deterministic: the same module, input and
//! limits end the same way. [`RunError::Host`] alone is about this machine.

use std::fmt;

use model::name::Mod;

use crate::contract::Contract;

/// Why one run of a module gave no result. Nothing of it is ever recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The module says, as its contract lets it, that it does not answer.
    #[error("module refuses with code {code}: {}", Shown(detail))]
    Refused {
        /// Of `a-z`, `0-9` and `_`.
        code: String,
        /// The module's words.
        detail: String,
    },
    /// What would be handed to the module is too large; it did not run.
    #[error("input is {found} bytes (limit {limit})")]
    InputTooLarge {
        /// Bodies, headers, names and configuration, in bytes.
        found: usize,
        /// In bytes.
        limit: usize,
    },
    /// The run used up its fuel.
    #[error("module ran out of fuel after {limit} units (limit {limit})")]
    OutOfFuel {
        /// In units of fuel.
        limit: u64,
    },
    /// The module asked for more memory than it may have.
    #[error("module asked for {wanted} bytes of memory (limit {limit})")]
    MemoryLimit {
        /// In bytes, over all memories.
        wanted: usize,
        /// In bytes.
        limit: usize,
    },
    /// The module asked for a larger table than it may have.
    #[error("module asked for a table of {wanted} elements (limit {limit})")]
    TableLimit {
        /// In elements.
        wanted: usize,
        /// In elements.
        limit: usize,
    },
    /// The module's calls nested too deeply.
    #[error("module overflowed its stack (limit {limit} bytes)")]
    StackOverflow {
        /// In bytes.
        limit: usize,
    },
    /// The module stopped itself, or did what the engine forbids.
    #[error("module trapped: {0}")]
    Trap(String),
    /// The result is larger than the host copies out.
    #[error("result is too large (limit {limit} bytes)")]
    ResultTooLarge {
        /// In bytes.
        limit: usize,
    },
    /// The module broke the rules by which values cross its border, for example
    /// with a pointer outside of its memory.
    #[error("module broke the component model's calling rules: {0}")]
    BrokenAbi(String),
    /// The result breaks the contract.
    #[error(transparent)]
    InvalidResult(#[from] InvalidResult),
    /// This machine could not give what the run was promised. It says nothing
    /// about the module.
    #[error("host could not run the module: {0}")]
    Host(String),
}

/// Where a result breaks its contract.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("result field `{field}`: expected {expected}, found {found}")]
pub struct InvalidResult {
    /// The field, such as `facts[3].name`.
    pub field: String,
    /// What the contract says.
    pub expected: String,
    /// What the module gave, shortened.
    pub found: String,
}

/// A [`RunError`] with the module that it happened in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("module {module}: {cause}")]
pub struct ModuleRunError {
    /// The label and the hash.
    pub module: Mod,
    /// What happened.
    #[source]
    pub cause: RunError,
}

impl RunError {
    /// Names the module that this happened in.
    #[must_use]
    pub fn of(self, module: &Mod) -> ModuleRunError {
        ModuleRunError {
            module: module.clone(),
            cause: self,
        }
    }

    /// Returns whether a limit of the profile ended the run, so that larger
    /// limits could end it otherwise.
    pub const fn is_limit(&self) -> bool {
        match self {
            Self::InputTooLarge { .. }
            | Self::OutOfFuel { .. }
            | Self::MemoryLimit { .. }
            | Self::TableLimit { .. }
            | Self::StackOverflow { .. }
            | Self::ResultTooLarge { .. } => true,
            Self::Refused { .. }
            | Self::Trap(_)
            | Self::BrokenAbi(_)
            | Self::InvalidResult(_)
            | Self::Host(_) => false,
        }
    }
}

/// Why compiled code could not be made into a module that runs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The module is of another world.
    #[error("expected a module of world {expected}, found one that exports {found}")]
    World {
        /// The world that was asked for.
        expected: crate::contract::World,
        /// The contract of the module.
        found: Contract,
    },
    /// The module exports the right name with other types.
    #[error("function `{function}` of {contract} has other types than the contract: {detail}")]
    Types {
        /// The contract that the module claims.
        contract: Contract,
        /// Such as `interpret`.
        function: &'static str,
        /// What the engine says.
        detail: String,
    },
    /// The engine does not take the code.
    #[error("engine refuses the compiled code: {0}")]
    Engine(String),
    /// The module could not say what it is.
    #[error("module could not describe itself: {0}")]
    Describe(#[source] RunError),
}

/// Shows the words of a module: shortened, and with nothing that could steer a
/// terminal.
pub(crate) struct Shown<'a>(pub(crate) &'a str);

/// Characters of a module's own words that a message shows.
const SHOWN_CHARACTERS_MAX: usize = 256;

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars().take(SHOWN_CHARACTERS_MAX) {
            if character.is_control() {
                write!(f, "{}", character.escape_default())?;
            } else {
                write!(f, "{character}")?;
            }
        }
        if self.0.chars().nth(SHOWN_CHARACTERS_MAX).is_some() {
            f.write_str("…")?;
        }
        Ok(())
    }
}
