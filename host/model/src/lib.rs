//! The model owns the words of Reread: digests, events, readings, the Merkle
//! tree and the projections that are derived from events.
//!
//! It is pure: no input or output, no clock, no randomness, no SQL, no sandbox.
//! Invariant: the bytes of an event are made here and nowhere else, and the
//! same event always gives the same bytes.

pub mod acceptance;
pub mod bounds;
pub mod canonical;
pub mod checking;
pub mod decision;
pub mod digest;
pub mod event;
pub mod exchange;
pub mod id;
pub mod merkle;
pub mod name;
pub mod pricing;
pub mod projection;
pub mod reading;
pub mod time;

pub use digest::Digest;
pub use event::{Body, Event, Kind, Placed};
pub use id::{AttemptId, CallId, EventId, LedgerId, TaskId};
pub use reading::Reading;
pub use time::Timestamp;
