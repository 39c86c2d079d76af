//! The glue between the contracts and `attempt`, written once.
//!
//! The bindings are generated inside each shim, because a component exports what
//! its own crate defines; so the glue is a macro for each world. It translates
//! and decides nothing. The rest is what a component needs to run at all.

#![no_std]

pub use attempt;

#[cfg(target_arch = "wasm32")]
mod machine;

mod interpreter;
mod policy;
