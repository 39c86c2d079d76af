//! The arguments of the commands that do the work.

use std::path::PathBuf;

use app::AppError;
use app::module::RuleNames;
use app::reinterpret::Filters;
use clap::{Args, Subcommand, ValueEnum};

use crate::commands::{known_dialect, parse};

/// `task …`
#[derive(Debug, Subcommand)]
pub(crate) enum TaskCommand {
    /// Declare a task
    Create {
        /// What it is
        title: String,
        /// Name an output; each needs its --criteria (repeatable, in the same order)
        #[arg(long, value_name = "NAME", required = true)]
        output: Vec<String>,
        /// Read the output's criteria from this file, one per line (repeatable)
        #[arg(long, value_name = "FILE", required = true)]
        criteria: Vec<PathBuf>,
        /// Allow an actor something (repeatable)
        #[arg(long, value_name = "ACTOR=CAPABILITY")]
        grant: Vec<String>,
        /// Name the run that it belongs to
        #[arg(long, value_name = "NAME")]
        run: Option<String>,
    },
    /// Show a task, its outputs and its calls
    Show {
        /// The task
        task: String,
    },
    /// List tasks with their derived status
    List {
        /// Only tasks of this run
        #[arg(long, value_name = "NAME")]
        run: Option<String>,
    },
}

/// Which modules to use.
#[derive(Debug, Args)]
pub(crate) struct PairArgs {
    /// Read with this interpreter, by label or hash [default: config.toml]
    #[arg(long, value_name = "LABEL")]
    pub(crate) interpreter: Option<String>,
    /// Give the interpreter this configuration; it is kept as an artifact
    #[arg(long, value_name = "FILE")]
    pub(crate) interpreter_config: Option<PathBuf>,
    /// Decide with this policy, by label or hash [default: that of config.toml, or
    /// else the last by label, that accepts the interpreter's readings]
    #[arg(long, value_name = "LABEL")]
    pub(crate) policy: Option<String>,
    /// Give the policy this configuration; it is kept as an artifact
    #[arg(long, value_name = "FILE")]
    pub(crate) policy_config: Option<PathBuf>,
}

impl PairArgs {
    /// Returns the names as the application takes them.
    pub(crate) fn names(&self) -> RuleNames<'_> {
        RuleNames {
            interpreter: self.interpreter.as_deref(),
            interpreter_config: self.interpreter_config.as_deref(),
            policy: self.policy.as_deref(),
            policy_config: self.policy_config.as_deref(),
        }
    }
}

/// How to read and decide again.
#[derive(Debug, Args)]
pub(crate) struct RulesArgs {
    #[command(flatten)]
    pub(crate) pair: PairArgs,
    /// Compute and show, append nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Adopt a pair that the adopted one supersedes; the reason is recorded
    #[arg(long, value_name = "REASON", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "no reason given")]
    pub(crate) allow_older: Option<String>,
}

/// `interpret …`
#[derive(Debug, Args)]
pub(crate) struct InterpretArgs {
    /// The attempt, or `all`
    #[arg(value_name = "ATTEMPT|all")]
    pub(crate) attempt: String,
    /// Read with this interpreter, by label or hash [default: config.toml]
    #[arg(long, value_name = "LABEL")]
    pub(crate) interpreter: Option<String>,
    /// Give the interpreter this configuration
    #[arg(long, value_name = "FILE")]
    pub(crate) interpreter_config: Option<PathBuf>,
    /// With `all`: exit with 4 or 7 when something was refused
    #[arg(long)]
    pub(crate) strict: bool,
}

/// `reinterpret …`
#[derive(Debug, Subcommand)]
pub(crate) enum ReinterpretCommand {
    /// Read one attempt again and record the reading, once per module
    Attempt {
        /// The attempt
        attempt: String,
        /// Read with this interpreter, by label or hash [default: config.toml]
        #[arg(long, value_name = "LABEL")]
        interpreter: Option<String>,
        /// Give the interpreter this configuration; it is kept as an artifact
        #[arg(long, value_name = "FILE")]
        interpreter_config: Option<PathBuf>,
        /// Compute and show, append nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Read every attempt of a call again, decide again and adopt the result
    Call {
        /// The call
        call: String,
        #[command(flatten)]
        rules: RulesArgs,
    },
    /// Do so for every call that the filters let through
    All {
        #[command(flatten)]
        rules: RulesArgs,
        #[command(flatten)]
        filters: FilterArgs,
        /// Exit with 4 or 7 when a call was refused
        #[arg(long)]
        strict: bool,
    },
}

/// Which calls; every filter that is given must fit.
#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    /// Only calls of this dialect
    #[arg(long, value_name = "DIALECT")]
    pub(crate) dialect: Option<String>,
    /// Only calls of this provider
    #[arg(long, value_name = "PROVIDER")]
    pub(crate) provider: Option<String>,
    /// Only calls of this task
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// Only calls whose adopted status is this
    #[arg(long, value_name = "STATUS")]
    pub(crate) status: Option<StatusArg>,
    /// Only calls imported under this name
    #[arg(long, value_name = "ID")]
    pub(crate) external_id: Option<String>,
}

impl FilterArgs {
    /// Returns the filters as the application takes them.
    pub(crate) fn filters(&self) -> Result<Filters, AppError> {
        let task = self.task.as_deref();
        Ok(Filters {
            dialect: self.dialect.as_deref().map(known_dialect).transpose()?,
            provider: self.provider.clone(),
            task: task.map(|task| parse(task, "task")).transpose()?,
            status: self.status.map(Into::into),
            external_id: self.external_id.clone(),
        })
    }
}

/// An adopted status.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum StatusArg {
    /// The final attempt was accepted
    Succeeded,
    /// The call failed
    Failed,
    /// It can be called neither
    Unresolved,
}

impl From<StatusArg> for model::decision::CallStatus {
    fn from(status: StatusArg) -> Self {
        match status {
            StatusArg::Succeeded => Self::Succeeded,
            StatusArg::Failed => Self::Failed,
            StatusArg::Unresolved => Self::Unresolved,
        }
    }
}

/// `state …`
#[derive(Debug, Subcommand)]
pub(crate) enum StateCommand {
    /// Show the work state of a task and its calls
    Task {
        /// The task
        task: String,
    },
    /// List the calls that have something left to do
    Open,
    /// Show the work state of a call
    Call {
        /// The call
        call: String,
    },
}

/// `log …`
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Only events of this task
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// Only events of this call
    #[arg(long, value_name = "CALL")]
    pub(crate) call: Option<String>,
    /// Only events after this place
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    pub(crate) after: u64,
    /// At most so many events
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
}

/// `output …`
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// The attempt
    pub(crate) attempt: String,
    /// Read with this interpreter [default: the adopted one, else the home's]
    #[arg(long, value_name = "LABEL")]
    pub(crate) interpreter: Option<String>,
    /// Give the interpreter this configuration
    #[arg(long, value_name = "FILE")]
    pub(crate) interpreter_config: Option<PathBuf>,
    /// Put the text among the artifacts and print its hash
    #[arg(long)]
    pub(crate) store: bool,
}

/// `artifact …`
#[derive(Debug, Subcommand)]
pub(crate) enum ArtifactCommand {
    /// Print exact bytes, verified against their hash
    Cat {
        /// `sha256:` and 64 hex digits, or the digits alone
        sha: String,
    },
}

/// `module …`
#[derive(Debug, Subcommand)]
pub(crate) enum ModuleCommand {
    /// Validate a component, register it and bind its label to its hash
    Add {
        /// The component
        file: PathBuf,
    },
    /// List the registered modules
    List,
    /// Show one module
    Show {
        /// Its label or hash
        module: String,
    },
}

/// `verify …`
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Prove that this older checkpoint is a prefix of the ledger
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Option<PathBuf>,
    /// Verify the checkpoint with this public key [default: the home's own]
    #[arg(long, value_name = "KEY", requires = "against")]
    pub(crate) log_key: Option<String>,
    /// Run every recorded reading again and compare the results
    #[arg(long)]
    pub(crate) replay: bool,
}
