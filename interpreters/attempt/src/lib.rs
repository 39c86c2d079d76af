//! What the attempt interpreters and policies read and decide.
//!
//! This crate owns the rules of `attempt-interpretation-v1` and `-v2` and of
//! `attempt-policy-v1` and `-v2`. It knows nothing of WebAssembly: the shims
//! beside it translate between these types and the contracts. Every function is
//! pure and total: any bytes give a reading, and no bytes stop the program.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod adapter;
pub mod interpretation;
pub mod observation;
pub mod policy;
pub mod reading;

mod body;
mod completion;
mod dialect;
mod errors;
mod json;
mod usage;

pub use interpretation::{Interpreter, interpret};
pub use observation::{Dialect, Observation, Outcome};
pub use policy::Policy;
pub use reading::Reading;
