//! The arguments of `diff`.

use std::path::PathBuf;

use app::diff::{Change, Pair, SideNames};
use clap::Args;

use super::work::FilterArgs;

pub(super) const DIFF_HELP: &str = "\
A reading differs in what it says, not in how it came to it: basis and facts are left out.
Text is given by its hash and its length; the bytes that each side cites stand beside it, at \
most 120 of each and three for a field.
The next step and what would move are told for each changed call as if it alone were adopted.
The diff has a hash over its lines and its summary: the same home and the same modules give the \
same hash.";

/// `diff …`
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The interpreter to compare, by label or hash
    #[arg(long, value_name = "LABEL")]
    pub(crate) from: String,
    /// The interpreter to compare it with, by label or hash
    #[arg(long, value_name = "LABEL")]
    pub(crate) to: String,
    /// Give the first interpreter this configuration
    #[arg(long, value_name = "FILE")]
    pub(crate) from_config: Option<PathBuf>,
    /// Give the second interpreter this configuration
    #[arg(long, value_name = "FILE")]
    pub(crate) to_config: Option<PathBuf>,
    /// Decide with this policy after the first interpreter [default: the one of
    /// config.toml, or else the last by label, that accepts its readings]
    #[arg(long, value_name = "LABEL")]
    pub(crate) from_policy: Option<String>,
    /// Decide with this policy after the second interpreter [default: likewise]
    #[arg(long, value_name = "LABEL")]
    pub(crate) to_policy: Option<String>,
    /// Give the first policy this configuration
    #[arg(long, value_name = "FILE")]
    pub(crate) from_policy_config: Option<PathBuf>,
    /// Give the second policy this configuration
    #[arg(long, value_name = "FILE")]
    pub(crate) to_policy_config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) filters: FilterArgs,
    /// Exit with 3 when a state changes so: FROM->TO, where * is any (repeatable)
    #[arg(long, value_name = "FROM->TO")]
    pub(crate) fail_on: Vec<Change>,
    /// Exit with 4 or 7 when something was refused
    #[arg(long)]
    pub(crate) strict: bool,
}

impl DiffArgs {
    /// Returns both sides as the application takes them.
    pub(crate) fn sides(&self) -> Pair<SideNames<'_>> {
        Pair {
            from: SideNames {
                interpreter: &self.from,
                interpreter_config: self.from_config.as_deref(),
                policy: self.from_policy.as_deref(),
                policy_config: self.from_policy_config.as_deref(),
            },
            to: SideNames {
                interpreter: &self.to,
                interpreter_config: self.to_config.as_deref(),
                policy: self.to_policy.as_deref(),
                policy_config: self.to_policy_config.as_deref(),
            },
        }
    }
}
