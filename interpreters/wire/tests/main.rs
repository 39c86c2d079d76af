//! The parts that have rules of their own: JSON, server-sent events, codings.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says what went wrong by failing"
)]

mod events;
mod json;
