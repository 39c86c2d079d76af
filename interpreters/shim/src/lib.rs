//! The glue between the contracts and `attempt`, written once.
//!
//! The bindings are generated inside each shim, because a component exports what
//! its own crate defines; so the glue is a macro for each world. It translates
//! and decides nothing.

#![no_std]
#![forbid(unsafe_code)]

pub use attempt;

mod interpreter;
mod policy;
