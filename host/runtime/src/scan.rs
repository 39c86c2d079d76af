//! The look at a module before anything is compiled: is it a component of a
//! contract that this version knows, within the profile, importing nothing, and
//! small enough in every dimension that compiling it could depend on.
//!
//! Invariant: a module that is refused here has cost time and memory in
//! proportion to its bytes, and no code of it has run.

use std::fmt;

use wasmparser::ComponentExternalKind;

use crate::contract::Contract;
use crate::error::Shown;
use crate::profile::{self, Limits};

pub mod bounds;
mod count;
mod function;
mod walk;

pub use count::Counts;

/// What a scan found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scan {
    /// The contract of the one export.
    pub contract: Contract,
    /// The size of the module, in bytes.
    pub bytes: usize,
    /// How much of everything there is.
    pub counts: Counts,
    /// What the module says it was made with: (field, name, version). For
    /// people; nothing rests on it.
    pub producers: Vec<(String, String, String)>,
}

/// Why bytes are not a module that may run here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModuleError {
    /// There are no bytes.
    #[error("module is empty, expected a component")]
    Empty,
    /// There are too many bytes.
    #[error("module is {found} bytes (limit {limit})")]
    TooLarge {
        /// In bytes.
        found: usize,
        /// In bytes.
        limit: usize,
    },
    /// The bytes are not WebAssembly.
    #[error("module does not start with the WebAssembly header, expected a component")]
    NotWasm,
    /// The bytes are a core module.
    #[error("module is a core module, expected a component")]
    CoreModule,
    /// The bytes use a proposal that the profile leaves out.
    #[error(
        "component uses {proposal}, which profile {} does not allow: {detail} (offset {offset})",
        profile::NAME
    )]
    Proposal {
        /// Such as `simd`.
        proposal: String,
        /// What the validator says.
        detail: String,
        /// Where in the bytes.
        offset: usize,
    },
    /// The component is not valid.
    #[error("component does not validate: {detail} (offset {offset})")]
    Invalid {
        /// What the validator says.
        detail: String,
        /// Where in the bytes.
        offset: usize,
    },
    /// There is more of something than a module may have.
    #[error("component has {found} {what} (limit {limit})")]
    Bound {
        /// Such as `functions`.
        what: &'static str,
        /// How many there are, at least.
        found: u64,
        /// How many there may be.
        limit: u64,
    },
    /// The component imports something.
    #[error("component imports {}, but a module imports nothing", Names(names))]
    Imports {
        /// What it imports.
        names: Vec<String>,
    },
    /// The component exports another version of a contract that is known.
    #[error("component exports {found}, but this version knows {expected}")]
    Version {
        /// The nearest contract.
        expected: Contract,
        /// The exported name.
        found: String,
    },
    /// The exports are not exactly one known contract.
    #[error(
        "component exports {}, expected exactly one of {}, {}, {}, {} and {}",
        Names(names),
        Contract::InterpreterV0_0_1,
        Contract::PolicyV0_0_1,
        Contract::AcceptanceV0_0_1,
        Contract::CheckV0_0_1,
        Contract::PricingV0_0_1
    )]
    Exports {
        /// What it exports.
        names: Vec<String>,
    },
    /// The export has the right name and is not an instance.
    #[error("component exports {contract} as {found}, expected an instance")]
    ExportKind {
        /// The claimed contract.
        contract: Contract,
        /// Such as `func`.
        found: String,
    },
    /// The compiler refuses a component that validates.
    #[error("compiler refuses the component: {0}")]
    Compiler(String),
}

impl ModuleError {
    pub(crate) fn invalid(error: &wasmparser::Error) -> Self {
        let detail = Shown(error.message()).to_string();
        let offset = error.offset();
        match error.missing_wasm_feature() {
            Some(features) => Self::Proposal {
                proposal: features
                    .iter_names()
                    .map(|(name, _)| name.to_lowercase())
                    .collect::<Vec<_>>()
                    .join(" and "),
                detail,
                offset,
            },
            None => Self::Invalid { detail, offset },
        }
    }
}

/// Names that a message lists.
const NAMES_SHOWN_MAX: usize = 8;

/// Shows the names of imports or exports.
struct Names<'a>(&'a [String]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("nothing");
        }
        for (index, name) in self.0.iter().take(NAMES_SHOWN_MAX).enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{}", Shown(name))?;
        }
        match self.0.len().saturating_sub(NAMES_SHOWN_MAX) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// Looks at a module's bytes. The limits say how much memory and how large a
/// table it may start with.
pub fn scan(module: &[u8], limits: &Limits) -> Result<Scan, ModuleError> {
    if module.is_empty() {
        return Err(ModuleError::Empty);
    }
    if module.len() > bounds::MODULE_BYTES_MAX {
        return Err(ModuleError::TooLarge {
            found: module.len(),
            limit: bounds::MODULE_BYTES_MAX,
        });
    }
    if !wasmparser::Parser::is_component(module) {
        return Err(if wasmparser::Parser::is_core_wasm(module) {
            ModuleError::CoreModule
        } else {
            ModuleError::NotWasm
        });
    }
    let walked = walk::walk(module, limits)?;
    if !walked.imports.is_empty() {
        let names = walked.imports;
        return Err(ModuleError::Imports { names });
    }
    let contract = contract(&walked.exports)?;
    Ok(Scan {
        contract,
        bytes: module.len(),
        counts: walked.counts,
        producers: walked.producers,
    })
}

/// Returns the contract of exports that are exactly one known instance.
fn contract(exports: &[walk::Export]) -> Result<Contract, ModuleError> {
    let names = || ModuleError::Exports {
        names: exports.iter().map(|export| export.name.clone()).collect(),
    };
    let [export] = exports else {
        return Err(names());
    };
    let Some(contract) = Contract::of_export(&export.name) else {
        return Err(neighbour(&export.name).unwrap_or_else(names));
    };
    if export.kind != ComponentExternalKind::Instance {
        let found = format!("{:?}", export.kind).to_lowercase();
        return Err(ModuleError::ExportKind { contract, found });
    }
    Ok(contract)
}

/// Returns the error for another version of a contract that is known.
fn neighbour(name: &str) -> Option<ModuleError> {
    let (interface, _) = name.split_once('@')?;
    let expected = Contract::ALL.into_iter().find(|contract| {
        contract
            .export()
            .split_once('@')
            .is_some_and(|(known, _)| known == interface)
    })?;
    Some(ModuleError::Version {
        expected,
        found: name.to_owned(),
    })
}

/// Returns a size as the type that counts have.
fn size(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
