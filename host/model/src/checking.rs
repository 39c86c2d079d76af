//! What a check module says of bytes.

use crate::event::task::{Finding, Verdict};

/// The report of one check. A module gives every verdict but
/// [`Verdict::Error`], which is for checks that did not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// Of all criteria together.
    pub verdict: Verdict,
    /// At most one for each criterion, in their order.
    pub findings: Vec<Finding>,
}
