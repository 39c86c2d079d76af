//! The arguments of `cost`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::work::FilterArgs;

/// What stands behind the help of `cost`.
pub(super) const COST_HELP: &str = "\
A table is JSON: {\"currency\": \"USD\", \"unit\": 1000000, \"prices\": [{\"models\": [\"a-*\"], \
\"input\": \"2.50\", \"output\": \"10\"}]}, with cached_input, cache_write, reasoning, provider, dialect, \
from, until and above where a row has them. An amount that is not known is null, never 0.";

/// `cost …`
#[derive(Debug, Subcommand)]
pub(crate) enum CostCommand {
    /// Price the reading of one attempt that counts
    Attempt {
        /// The attempt
        attempt: String,
        #[command(flatten)]
        prices: PricesArgs,
        /// Price this reading of the attempt instead, named by its event
        #[arg(long, value_name = "ID")]
        reading: Option<String>,
    },
    /// Price every reading that a call's adopted status rests on
    Call {
        /// The call
        call: String,
        #[command(flatten)]
        prices: PricesArgs,
    },
    /// Do so for every call that the filters let through
    All {
        #[command(flatten)]
        prices: PricesArgs,
        #[command(flatten)]
        filters: FilterArgs,
        /// Exit with 4 or 7 when a call was refused
        #[arg(long)]
        strict: bool,
    },
}

/// By what to price.
#[derive(Debug, Args)]
pub(crate) struct PricesArgs {
    /// Price by this table; it is kept as an artifact
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: PathBuf,
    /// Price with this module, by label or hash
    #[arg(long, value_name = "LABEL", default_value = "token-pricing-v1")]
    pub(crate) module: String,
    /// Compute and show, append nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
