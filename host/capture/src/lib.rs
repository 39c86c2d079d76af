//! Capture turns what passed between a client and a provider into exchanges.
//!
//! It produces exchanges and records nothing itself: it knows no ledger, no
//! store and no module, and it never says what bytes mean. Invariant: the bytes
//! of a body leave this crate as they were given, and of everything else only
//! what cannot carry a credential leaves it.

pub mod client;
pub mod dialects;
pub mod endpoint;
pub mod exchange;
pub mod headers;
pub mod media_type;
pub mod provider;
pub mod recording;
pub mod target;

pub use exchange::{Exchange, LineError, parse_line};
