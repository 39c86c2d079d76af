//! The glue between the contracts and the logic crates, written once.
//!
//! The bindings are generated inside each shim, because a component exports what
//! its own crate defines; so the glue is a macro for each world. It translates
//! and decides nothing. The rest is what a component needs to run at all.

#![no_std]

pub use ::acceptance;
pub use attempt;
pub use text_check;

#[cfg(target_arch = "wasm32")]
mod machine;

mod checker;
mod interpreter;
mod judge;
mod policy;
