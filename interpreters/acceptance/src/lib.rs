//! What the acceptance modules decide: whether exact bytes may stand as an output
//! of a task.
//!
//! This crate owns the rules of `task-acceptance-v1` and `-v2`. It knows nothing
//! of WebAssembly: the shims beside it translate between these types and the
//! contract. Every function is pure and total.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod facts;

mod checks;
mod reasons;
mod rules;
mod source;

pub use facts::{Facts, Request};
pub use rules::{Acceptance, Refusal, decide};
