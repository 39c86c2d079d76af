//! The rules of `text-check-v1`, natively.
#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

mod configuration;
mod rules;
