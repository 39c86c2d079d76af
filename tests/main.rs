//! Tests of the built binary, in processes of its own.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test says what went wrong by failing"
)]

#[expect(dead_code, reason = "the tests of the sandbox use more of it")]
#[path = "../host/runtime/tests/common"]
mod fixtures {
    //! Components made from text, shared with the tests of the sandbox.
    pub(crate) mod abi;
    pub(crate) mod fixture;
    pub(crate) mod types;
}
mod accepting;
mod artifacts;
mod caches;
mod checkpoints;
mod checks;
mod commands;
mod concurrency;
mod continuing;
mod corpus;
mod costing;
mod crashes;
mod credentials;
mod damage;
mod demo;
mod diffing;
mod disks;
mod exactness;
mod faults;
mod filters;
mod homes;
mod house;
mod impact;
mod importers;
mod importing;
mod ledger;
mod looking;
mod matrix;
mod modules;
mod outside;
mod places;
mod readme;
mod recording_support;
mod rereading;
mod secrets;
mod stages;
mod support;
mod swapped;
mod tasks;
