//! The rules of `attempt-interpretation-v3` and `attempt-policy-v3`.
//!
//! `wire` says what the bytes of a response say; this crate concludes. It knows
//! nothing of WebAssembly: the shims beside it translate between these types and
//! the contracts. Every function is pure and total: any bytes give a reading or a
//! typed refusal, and no bytes stop the program.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod interpretation;
pub mod observation;
pub mod policy;
pub mod reading;

mod cited;
mod conclusion;
mod failure;
mod schema;
mod structured;

pub use interpretation::{Opened, interpret, open};
pub use observation::{Observation, Outcome};
pub use reading::{Reading, Refusal};
