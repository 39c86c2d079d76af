//! The use cases: the only place where effects meet rules.
//!
//! Observe, record, derive, decide, record. Nothing derived is ever stored as
//! truth, nothing recorded is ever edited, and only [`record`] can reach a provider.

pub mod accept;
mod appending;
pub mod check;
pub mod checkpoint;
pub mod config;
pub mod context;
pub mod cost;
pub mod derive;
pub mod diff;
pub mod doctor;
pub mod error;
pub mod evidence;
pub mod fault;
mod files;
pub mod forge;
pub mod impact;
pub mod import;
pub mod init;
pub mod interpret;
pub mod log;
pub mod module;
mod names;
pub mod output;
mod parallel;
pub mod preregister;
pub mod progress;
mod projecting;
mod readings;
pub mod rebuild;
pub mod record;
pub mod reinterpret;
pub mod show;
pub mod state;
pub mod task;
pub mod trace;
pub mod verify;

pub use context::{Context, Session};
pub use error::{AppError, Class};
pub use progress::Progress;
pub use store::{Home, HomeError, LedgerError};
