//! The tests of the sandbox, by behaviour. Hostile components are written as
//! text next to the claim that they are about.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "helpers of tests fail by panicking"
)]

mod common;

mod acceptance;
mod bounds;
mod cache;
mod check;
mod determinism;
mod golden;
mod limits;
mod loading;
mod mutations;
mod pricing;
mod released;
mod results;
mod scan;
