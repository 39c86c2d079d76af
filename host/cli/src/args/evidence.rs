//! The arguments of the commands that produce evidence about bytes.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `check …`
#[derive(Debug, Subcommand)]
pub(crate) enum CheckCommand {
    /// Run a verifier over exact bytes and record what it says
    #[command(after_help = RUN_HELP)]
    Run(CheckRunArgs),
}

const RUN_HELP: &str = "\
The program runs in a process of its own. Its standard input is a private copy of the bytes, \
hashed before it starts and again when it ended; REREAD_ARTIFACT names it (/dev/stdin), \
REREAD_ARTIFACT_SHA256 its hash, REREAD_OUTPUT the output, REREAD_CRITERIA the criteria as a \
JSON array, REREAD_COVERS the covered ones, from 0, with commas. Of the environment it gets PATH, \
HOME, LANG, LC_ALL, TMPDIR and USER.
Exit code 0 is PASS, 1 is FAIL, 2 is INCONCLUSIVE; another code, a signal, a passed limit (time, \
1 MiB of output) or a program that cannot start is ERROR. Both streams are kept as artifacts. \
Standard output may be one JSON object {\"findings\": [{\"criterion\": N, \"verdict\": \"PASS\", \
\"note\": \"…\"}]}, in the order of the criteria.
A check decides nothing: an acceptance cites it. The exit code of this command is 0 whatever the \
verdict is.";

/// `check run …`
#[derive(Debug, Args)]
pub(crate) struct CheckRunArgs {
    /// The task
    #[arg(long, value_name = "TASK")]
    pub(crate) task: String,
    /// The output that the bytes are meant to be
    #[arg(long, value_name = "NAME")]
    pub(crate) output: String,
    /// The bytes, by their hash
    #[arg(long, value_name = "SHA")]
    pub(crate) artifact: String,
    /// Say which criterion the verifier covers, from 0 (repeatable) [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) covers: Vec<u64>,
    /// End the verifier after so many seconds
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub(crate) timeout_s: u64,
    /// The verifier and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub(crate) argv: Vec<String>,
}

/// `derive …`
#[derive(Debug, Args)]
pub(crate) struct DeriveArgs {
    /// The file that was made; its bytes are kept
    pub(crate) file: PathBuf,
    /// The bytes that it was made from, by their hash
    #[arg(long, value_name = "SHA")]
    pub(crate) from: String,
    /// Say with what it was made
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: String,
    /// Say why
    #[arg(long, value_name = "TEXT", default_value = "no note given")]
    pub(crate) note: String,
    /// Keep this file as the difference
    #[arg(long, value_name = "FILE")]
    pub(crate) diff: Option<PathBuf>,
}
