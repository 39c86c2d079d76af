//! Tests of the ledger.

mod appending;
mod creating;
mod damage;
mod erasing;
mod events;
mod guards;
mod misplaced;
mod opening;
mod plans;
mod property;
mod support;
