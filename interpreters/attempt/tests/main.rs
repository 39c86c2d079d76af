//! The rules of both interpreters and both policies, natively.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says what went wrong by failing"
)]

mod bodies;
mod common;
mod completion;
mod dialects;
mod hostile;
mod matrix;
mod policies;
mod transport;
mod usage;
