//! The rules of both acceptance modules, natively.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test says what went wrong by failing"
)]

mod common;
mod faults;
mod version_1;
mod version_2;
