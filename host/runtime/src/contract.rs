//! The contracts that this version knows, one adapter file per version.
//!
//! An adapter turns what a module says into the model's types, totally: either
//! everything it said is within the contract, or none of it reaches a caller.

use std::fmt;

pub(crate) mod acceptance_0_0_1;
mod check;
pub(crate) mod check_0_0_1;
pub(crate) mod interpreter_0_0_1;
pub(crate) mod policy_0_0_1;
pub(crate) mod pricing_0_0_1;

/// What a module is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum World {
    /// Reads observations.
    Interpreter,
    /// Decides about readings.
    Policy,
    /// Decides whether bytes may stand as an output.
    Acceptance,
    /// Checks bytes against criteria.
    Check,
    /// Says what a response cost.
    Pricing,
}

impl World {
    /// Returns the name of the world.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Interpreter => "interpreter",
            Self::Policy => "policy",
            Self::Acceptance => "acceptance",
            Self::Check => "check",
            Self::Pricing => "pricing",
        }
    }
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One version of one world's contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Contract {
    /// `reread:interpreter/reader@0.0.1`.
    InterpreterV0_0_1,
    /// `reread:policy/decider@0.0.1`.
    PolicyV0_0_1,
    /// `reread:acceptance/judge@0.0.1`.
    AcceptanceV0_0_1,
    /// `reread:check/checker@0.0.1`.
    CheckV0_0_1,
    /// `reread:pricing/pricer@0.0.1`.
    PricingV0_0_1,
}

impl Contract {
    /// Every contract that this version knows.
    pub const ALL: [Self; 5] = [
        Self::InterpreterV0_0_1,
        Self::PolicyV0_0_1,
        Self::AcceptanceV0_0_1,
        Self::CheckV0_0_1,
        Self::PricingV0_0_1,
    ];

    /// Returns the name of the one export that makes a module of this contract.
    pub const fn export(self) -> &'static str {
        match self {
            Self::InterpreterV0_0_1 => "reread:interpreter/reader@0.0.1",
            Self::PolicyV0_0_1 => "reread:policy/decider@0.0.1",
            Self::AcceptanceV0_0_1 => "reread:acceptance/judge@0.0.1",
            Self::CheckV0_0_1 => "reread:check/checker@0.0.1",
            Self::PricingV0_0_1 => "reread:pricing/pricer@0.0.1",
        }
    }

    /// Returns the world.
    pub const fn world(self) -> World {
        match self {
            Self::InterpreterV0_0_1 => World::Interpreter,
            Self::PolicyV0_0_1 => World::Policy,
            Self::AcceptanceV0_0_1 => World::Acceptance,
            Self::CheckV0_0_1 => World::Check,
            Self::PricingV0_0_1 => World::Pricing,
        }
    }

    /// Returns the contract of an export, by its exact name: the engine itself
    /// would also accept a neighbouring version.
    pub fn of_export(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|contract| contract.export() == name)
    }
}

impl fmt::Display for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.export())
    }
}
