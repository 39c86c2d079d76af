//! The reasons against, in the order in which they are found.

use alloc::string::String;
use alloc::vec::Vec;

/// Reasons that the contract has room for.
pub(crate) const REASONS_MAX: usize = 256;

/// Reasons, each once.
#[derive(Debug, Default)]
pub(crate) struct Reasons(Vec<String>);

impl Reasons {
    /// Adds a reason where something is against.
    pub(crate) fn when(&mut self, against: bool, reason: &str) {
        if against {
            self.add(reason.into());
        }
    }

    /// Adds a reason, unless it is there: a check may be cited twice.
    pub(crate) fn add(&mut self, reason: String) {
        if !self.0.contains(&reason) {
            self.0.push(reason);
        }
    }

    /// Returns whether there are more than the contract has room for.
    pub(crate) const fn overflow(&self) -> bool {
        self.0.len() > REASONS_MAX
    }

    /// Returns the reasons.
    pub(crate) fn into_vec(self) -> Vec<String> {
        self.0
    }
}
