//! The store keeps bytes and their order. It does not know what an event means.
//!
//! The ledger is one SQLite file (see [`ledger`]); the artifacts are files named
//! by their hash (see [`artifacts`]). Invariant: bytes are durable before an event
//! that names them, and an event is durable before anyone is told of it.

pub mod artifacts;
pub mod home;
pub mod ledger;
mod syncing;

pub use artifacts::{ArtifactError, Artifacts, VerifiedBytes};
pub use home::{Home, HomeError};
pub use ledger::{Ledger, LedgerError, Reader, Writer};
