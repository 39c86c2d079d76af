//! What version 3 concludes and decides.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::print_stdout,
    reason = "tests fail by panicking, and say what they skipped"
)]

mod common;

mod cases;
mod citations;
mod codings;
mod endings;
mod failures;
mod mutations;
mod policies;
mod recordings;
mod streams;
mod structured;
mod usage;
