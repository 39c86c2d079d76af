//! `reinterpret`: the corrected rule, applied to the bytes of yesterday.
//!
//! Nothing is appended before everything is computed, nothing recorded is edited,
//! and no attempt is ever started: there is no provider in this code.

mod all;
mod attempt;
mod call;
mod plan;

pub use all::{BulkItem, Filters, MatrixCell, ReinterpretSummary};
pub use attempt::AttemptReinterpreted;
pub use call::CallReinterpretation;
pub(crate) use plan::{Plan, Planner};

use crate::error::AppError;
use crate::module::RuleNames;
use crate::names;

/// How to reinterpret.
#[derive(Debug, Clone, Default)]
pub struct ReinterpretOptions<'a> {
    /// Which modules.
    pub names: RuleNames<'a>,
    /// Compute and show, append nothing.
    pub dry_run: bool,
    /// Why an older pair may be adopted again; none forbids it.
    pub allow_older: Option<String>,
}

impl ReinterpretOptions<'_> {
    /// Returns why an older pair may be adopted again, as it may stand in an event.
    fn reason(&self) -> Result<Option<&str>, AppError> {
        if let Some(reason) = &self.allow_older {
            names::check("--allow-older", reason)?;
        }
        Ok(self.allow_older.as_deref())
    }
}
