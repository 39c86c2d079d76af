//! From a module's bytes to code that can be loaded.
//!
//! Compiling has no bound of its own: half a megabyte can take minutes. So only
//! modules that are known by their hash are compiled in this process
//! ([`compile`]); every other one is compiled by a [`CompilerCommand`].

use std::fmt;

use model::Digest;

use crate::contract::Contract;
use crate::profile::{self, Limits};
use crate::scan::{ModuleError, scan};

mod child;
mod command;
mod frame;

pub use child::{ServeError, serve_compile};
pub use command::{CompileError, CompileLimits, CompilerCommand};

/// Compiled code with the module that it comes from.
///
/// It has no constructor outside of this crate: whatever holds one holds code
/// that this program's own compiler wrote.
#[derive(Clone)]
pub struct Compiled {
    module: Digest,
    contract: Contract,
    bytes: Vec<u8>,
    /// Where the code starts in `bytes`: a cache entry keeps its header, so that
    /// opening it copies nothing.
    start: usize,
}

impl Compiled {
    fn new(module: Digest, contract: Contract, code: Vec<u8>) -> Self {
        Self::within(module, contract, code, 0)
    }

    /// Wraps code that starts somewhere in `bytes`.
    pub(crate) const fn within(
        module: Digest,
        contract: Contract,
        bytes: Vec<u8>,
        start: usize,
    ) -> Self {
        Self {
            module,
            contract,
            bytes,
            start,
        }
    }

    /// Returns the hash of the module's bytes.
    pub const fn module(&self) -> Digest {
        self.module
    }

    /// Returns the contract that the module was found to export.
    pub const fn contract(&self) -> Contract {
        self.contract
    }

    pub(crate) fn code(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }
}

impl PartialEq for Compiled {
    fn eq(&self, other: &Self) -> bool {
        (self.module, self.contract, self.code()) == (other.module, other.contract, other.code())
    }
}

impl Eq for Compiled {}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiled")
            .field("module", &self.module)
            .field("contract", &self.contract)
            .field("code_bytes", &self.code().len())
            .finish_non_exhaustive()
    }
}

/// Scans and compiles a module in this process. Only for modules whose hash is
/// known: nothing bounds the time and the memory that it takes.
pub fn compile(module: &[u8]) -> Result<Compiled, ModuleError> {
    let scanned = scan(module, &Limits::P1)?;
    let code = profile::compiling_engine()
        .and_then(|engine| engine.precompile_component(module))
        .map_err(|error| ModuleError::Compiler(format!("{error:#}")))?;
    Ok(Compiled::new(Digest::of(module), scanned.contract, code))
}
