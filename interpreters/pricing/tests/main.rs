//! The rules of the pricing module, by what they claim.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says what went wrong by failing"
)]

mod common;
mod costs;
mod matching;
mod properties;
mod tables;
mod unknowns;
