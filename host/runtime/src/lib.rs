//! The runtime: bytes in, outcome out. It never opens a file or a socket.
//!
//! A module's bytes go through [`scan()`], are compiled ([`compile()`] in this
//! process, or a [`CompilerCommand`] in one of its own), perhaps kept ([`cache`]),
//! and are loaded into a [`Sandbox`], which runs each call in a store of its own
//! under the [`profile`].
//!
//! Invariant: what a module gives is either wholly within its contract, or it is
//! an error; nothing of it is repaired or cut.

pub mod acceptance;
pub mod cache;
pub mod check;
pub mod compile;
pub mod contract;
pub mod error;
mod function;
pub mod interpreter;
pub mod policy;
pub mod pricing;
pub mod profile;
pub mod sandbox;
pub mod scan;

pub use acceptance::{Acceptance, AcceptanceInfo};
pub use cache::{CacheError, CacheKey};
pub use check::{Check, CheckInfo};
pub use compile::{CompileError, Compiled, CompilerCommand, compile};
pub use contract::{Contract, World};
pub use error::{InvalidResult, LoadError, ModuleRunError, RunError};
pub use interpreter::{Interpreter, InterpreterInfo, Outcome};
pub use policy::{Policy, PolicyInfo};
pub use pricing::{Pricing, PricingInfo};
pub use profile::Limits;
pub use sandbox::{Sandbox, SandboxError};
pub use scan::{ModuleError, Scan, scan};
