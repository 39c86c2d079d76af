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
\"note\": \"…\"}]}, in the order of the criteria; findings of another form are ERROR. A verifier \
whose check is interrupted from outside is not ended.
A module takes its rules from its configuration: text-check-v1 from {\"rules\": \
[{\"criterion\": 0, \"contains\": \"…\"}, …]}, with contains, absent, count, max_bytes and \
no_digits_before.
A check decides nothing: an acceptance cites it. A check that was asked for and has no verdict, \
since its process died, is continued by the same command of the same actor. The exit code of this command is 0 whatever the \
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
    /// Check with this module of the world `check`, by label or hash
    #[arg(long, value_name = "LABEL", conflicts_with = "argv")]
    pub(crate) module: Option<String>,
    /// Give the module this configuration; it is kept as an artifact
    #[arg(long, value_name = "FILE", requires = "module")]
    pub(crate) module_config: Option<PathBuf>,
    /// The verifier and its arguments
    #[arg(
        last = true,
        required_unless_present = "module",
        value_name = "PROGRAM"
    )]
    pub(crate) argv: Vec<String>,
}

/// `accept …`
#[derive(Debug, Args)]
pub(crate) struct AcceptArgs {
    /// The task
    #[arg(long, value_name = "TASK")]
    pub(crate) task: String,
    /// The output
    #[arg(long, value_name = "NAME")]
    pub(crate) output: String,
    /// The bytes, by their hash
    #[arg(long, value_name = "SHA")]
    pub(crate) artifact: String,
    /// The reading that yields them
    #[arg(long, value_name = "ID")]
    pub(crate) interpretation: Option<String>,
    /// Cite a completed check (repeatable)
    #[arg(long, value_name = "ID")]
    pub(crate) check: Vec<String>,
    /// The call [default: that of the reading]
    #[arg(long, value_name = "CALL")]
    pub(crate) call: Option<String>,
    /// The attempt [default: that of the reading]
    #[arg(long, value_name = "ATTEMPT")]
    pub(crate) attempt: Option<String>,
    /// The criteria that are meant, by their hash [default: as declared]
    #[arg(long, value_name = "SHA")]
    pub(crate) criteria_sha256: Option<String>,
    /// Judge by these rules, by label or hash [default: task-acceptance-v2]
    #[arg(long, value_name = "LABEL")]
    pub(crate) policy: Option<String>,
}

pub(crate) const ACCEPT_HELP: &str = "\
Every reference is resolved from the ledger, and the output is made again from the preserved bytes \
by the adopted interpreter; nothing that is given here is believed. The actor (--actor) must be \
granted `accept` by the task and must not be the producer. An actor is a name, not authentication.
Accepted: exit code 0, with the completion that follows. Refused: exit code 5, with every reason; \
an actor without the grant, or an output that is accepted otherwise already, is refused for that \
alone. An unknown task or policy is such a refusal, too. An identical repeat appends only what is missing.";

pub(crate) const IMPACT_HELP: &str = "\
A record rests on the status that its call had when it was made, or at --since if that is later. It \
is named when another status counts now and differs in a field: status, interpretation, generation \
state, output text, interpreter, policy or their configurations. `status`, `output` or `rules` says \
how far it moved; `rules` alone means that other modules say the same.
Nothing is undone: a completed task stays completed, and is shown as `completed, basis moved`. \
Work that lost its ground is done again as a new task. The exit code is 0 whatever moved.";

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
