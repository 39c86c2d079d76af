//! The glue between the contracts and the third version, and the memory that a
//! component runs on.
//!
//! It is a crate of its own because a crate more behind `shim` would change the
//! released bytes of the versions that are there.

#![no_std]

pub use attempt_v3;
/// Has the allocator and the panic handler, which come with being linked.
pub use shim;
pub use wire;

mod interpreter;
mod policy;
