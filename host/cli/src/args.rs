//! The command line.

mod call;
mod cost;
mod diff;
mod evidence;
mod import;
mod work;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use call::{
    CallCommand, CallRunArgs, DecideArgs, OlderArgs, RecoverArgs, ResumeArgs, SendingArgs,
};
pub(crate) use cost::{CostCommand, PricesArgs};
pub(crate) use diff::DiffArgs;
pub(crate) use evidence::{AcceptArgs, CheckCommand, CheckRunArgs, DeriveArgs};
pub(crate) use import::{ChoiceArgs, ImportArgs, ImportCommand};
pub(crate) use work::{
    ArtifactCommand, InterpretArgs, LogArgs, ModuleCommand, OutputArgs, ReinterpretCommand,
    RulesArgs, StateCommand, TaskCommand, VerifyArgs,
};

const AFTER_HELP: &str = "\
Exit codes: 0 done, 1 unexpected, 2 usage or unknown name, 3 damage or a finding, 4 refused, \
5 not accepted, 6 busy, 7 module invalid or failed, 130 interrupted.
What is not promised: reread limits";

/// Keep the exact bytes that model providers sent, and change your mind about
/// what they mean.
#[derive(Debug, Parser)]
#[command(name = "reread", version, after_help = AFTER_HELP, disable_help_subcommand = true)]
#[command(arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten, next_help_heading = "Options of every command")]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Global {
    /// Use the home in this folder [default: `REREAD_HOME`, else the platform's data folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Print JSON: one document on one line, or one line per item
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print data and errors only
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
    /// Record this name as the actor (a name, not a proof of identity)
    #[arg(long, global = true, value_name = "NAME", default_value = "operator")]
    pub(crate) actor: String,
}

/// Where the homes of a demo go.
#[derive(Debug, Args)]
pub(crate) struct DemoKeep {
    /// Keep the homes of the story in this folder, which must be missing or empty
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// Another story than that of the three days.
#[derive(Debug, Subcommand)]
pub(crate) enum Story {
    /// Finished work, and twelve ways in which it is not finished
    Acceptance(DemoKeep),
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create a home in a missing or empty folder, with the released modules
    Init,
    /// Run the three-day story with a provider of its own, and print every claim
    #[command(args_conflicts_with_subcommands = true)]
    Demo {
        /// Another story
        #[command(subcommand)]
        story: Option<Story>,
        #[command(flatten)]
        keep: DemoKeep,
    },
    /// Fix what is expected, by its hash, before anything runs
    Preregister {
        /// The file of expected results; keep it, only its hash is recorded
        file: PathBuf,
        /// Say what it is
        #[arg(long, value_name = "TEXT", default_value = "expected results")]
        note: String,
    },
    /// Declare work, and look at it
    #[command(subcommand)]
    Task(TaskCommand),
    /// Ask a provider, and record the call
    #[command(subcommand)]
    Call(CallCommand),
    /// Continue a call of which no attempt was started, as a new call
    #[command(after_help = call::RESUME_HELP)]
    Resume(ResumeArgs),
    /// Decide the last attempt of a call by the pair that the call names; ask nobody
    Redecide(DecideArgs),
    /// Decide the status of a call whose last attempt is decided; ask nobody
    Finalize(DecideArgs),
    /// Do what the state of a call asks for, as far as it is safe
    #[command(after_help = call::RECOVER_HELP)]
    Recover(RecoverArgs),
    /// Produce evidence about exact bytes
    #[command(subcommand)]
    Check(CheckCommand),
    /// Record that one artifact was made from another, by whom and with what
    Derive(DeriveArgs),
    /// Accept exact bytes as an output of a task, on evidence
    #[command(after_help = evidence::ACCEPT_HELP)]
    Accept(AcceptArgs),
    /// Bring recorded exchanges in
    #[command(subcommand)]
    Import(ImportCommand),
    /// Read preserved bytes with a module, and record nothing
    Interpret(InterpretArgs),
    /// Read preserved bytes again, decide again, and record it beside what is there
    #[command(subcommand)]
    Reinterpret(ReinterpretCommand),
    /// Compare two versions of the rules over everything that is kept; record nothing
    #[command(after_help = diff::DIFF_HELP)]
    Diff(DiffArgs),
    /// Compute what responses cost by a table of prices, and record it, once per table
    #[command(subcommand, after_help = cost::COST_HELP)]
    Cost(CostCommand),
    /// Show what counts now and why; append nothing
    State {
        #[command(subcommand)]
        of: Option<StateCommand>,
    },
    /// Name each decision, acceptance and completion whose basis moved; undo nothing
    #[command(after_help = evidence::IMPACT_HELP)]
    Impact {
        /// Only what moved after this event, named by its id or its place
        #[arg(long, value_name = "EVENT")]
        since: Option<String>,
    },
    /// Show one record: an event, call, attempt, task, module or artifact
    Show {
        /// Its id, label or hash
        id: String,
    },
    /// Show history in order
    Log(LogArgs),
    /// Print the text that a reading yields, made again from the preserved bytes
    Output(OutputArgs),
    /// Work with exact bytes
    #[command(subcommand)]
    Artifact(ArtifactCommand),
    /// Work with modules
    #[command(subcommand)]
    Module(ModuleCommand),
    /// Show which modules read these bytes
    WhoRead {
        /// The hash of the bytes
        sha: String,
    },
    /// Show which bytes this module read
    ReadsOf {
        /// The module's label or hash
        module: String,
    },
    /// Check every entry and artifact, and report all damage
    Verify(VerifyArgs),
    /// Print a signed checkpoint of the ledger, to be kept elsewhere
    Checkpoint {
        /// Print the public key that checkpoints are verified with instead
        #[arg(long)]
        key: bool,
    },
    /// Make the cached projections again
    Rebuild,
    /// Check that this home is fit for work
    Doctor,
    /// State what is not promised
    Limits,
    /// Print a completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages into a folder
    Man {
        /// The folder, which must exist
        dir: PathBuf,
    },
    /// Compile a module from standard input to standard output (the program's own child)
    #[command(hide = true)]
    CompileModule,
    /// Append a completion that no acceptance caused (the demo's own child)
    #[command(hide = true)]
    DemoForge {
        /// The task
        #[arg(long, value_name = "TASK")]
        task: String,
        /// The output
        #[arg(long, value_name = "NAME")]
        output: String,
        /// The bytes, by their hash
        #[arg(long, value_name = "SHA")]
        artifact: String,
    },
    /// Answer every request with one fixed response, on loopback, until standard input
    /// ends (the demo's own child)
    #[command(hide = true)]
    DemoProvider {
        /// Answer with the bytes of this file
        #[arg(long, value_name = "FILE")]
        body: PathBuf,
        /// Append a line to this file for each request, durable before the answer
        #[arg(long, value_name = "FILE")]
        receipts: PathBuf,
    },
}
