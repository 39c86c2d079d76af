//! Projections: what events amount to. Nothing here is ever stored as truth;
//! the same events always give the same projection.

pub mod adopted;
pub mod call;
pub mod impact;
pub mod index;
pub mod supersession;
pub mod task;

pub use adopted::{Adopted, adopted};
pub use call::{CallState, Operation, Stage};
pub use impact::{Moved, impact};
pub use index::IndexColumns;
pub use supersession::Supersession;
pub use task::{TaskState, TaskStatus};
