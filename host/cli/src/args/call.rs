//! The arguments of the commands that make and continue calls.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::work::PairArgs;

/// `call …`
#[derive(Debug, Subcommand)]
pub(crate) enum CallCommand {
    /// Send a request to a provider of config.toml and record what comes back
    #[command(after_help = RUN_HELP)]
    Run(CallRunArgs),
}

const RUN_HELP: &str = "\
The request's file is sent exactly as it is; the response is kept exactly as it came. An HTTP \
error, no response and an interrupted one are recorded too: the exit code is 0 when the call \
came to its end, whatever its status.
config.toml names the providers:
  [providers.NAME]
  base_url = \"https://api.example.com/v1\"   # paths go after it: /chat/completions, /responses,
                                             # or /v1/messages
  dialect = \"openai.chat\"                   # openai.responses, anthropic.messages; others with
                                             # a path of their own
  key_env = \"NAME_API_KEY\"                  # the variable that holds the key
Further keys: key_header, path, headers = { name = \"value\" }, ca_file, connect_timeout_ms \
[10000], read_timeout_ms [300000], timeout_ms [900000], retry_wait_max_ms [60000].
No redirect is followed, nothing is decompressed, and no proxy of the environment is used.";

/// `call run …`
#[derive(Debug, Args)]
pub(crate) struct CallRunArgs {
    /// Ask this provider of config.toml
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: String,
    /// Send the bytes of this file
    #[arg(long, value_name = "FILE")]
    pub(crate) request: PathBuf,
    /// Record the call as part of this task
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,
    #[command(flatten)]
    pub(crate) pair: PairArgs,
    /// Make so many attempts at most, where the policy decides to retry
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) max_attempts: u32,
    /// Never send the request of this key again once it is answered
    #[arg(long, value_name = "KEY")]
    pub(crate) idempotency_key: Option<String>,
    /// Send although another call of the key may have reached the provider
    #[arg(long)]
    pub(crate) accept_duplicate_effect: bool,
}

/// `resume …`
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The call
    pub(crate) call: String,
    #[command(flatten)]
    pub(crate) sending: SendingArgs,
}

/// `redecide …`, `finalize …`
#[derive(Debug, Args)]
pub(crate) struct DecideArgs {
    /// The call
    pub(crate) call: String,
    #[command(flatten)]
    pub(crate) older: OlderArgs,
}

/// `recover …`
#[derive(Debug, Args)]
pub(crate) struct RecoverArgs {
    /// The call
    pub(crate) call: String,
    #[command(flatten)]
    pub(crate) sending: SendingArgs,
    #[command(flatten)]
    pub(crate) older: OlderArgs,
}

/// How a request is sent again.
#[derive(Debug, Args)]
pub(crate) struct SendingArgs {
    /// Give the request's bytes again; they must be the recorded ones
    #[arg(long, value_name = "FILE")]
    pub(crate) request: Option<PathBuf>,
    /// Send although the provider may have served the request before
    #[arg(long)]
    pub(crate) accept_duplicate_effect: bool,
}

/// Whether a step back is meant.
#[derive(Debug, Args)]
pub(crate) struct OlderArgs {
    /// Decide by the pair of the call although a newer one is adopted; only a
    /// reinterpretation records the reason
    #[arg(long, value_name = "REASON", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "no reason given")]
    pub(crate) allow_older: Option<String>,
}

pub(crate) const RESUME_HELP: &str = "\
What would be sent must be what was recorded. With --accept-duplicate-effect, a call that may have \
been served is continued too.";

pub(crate) const RECOVER_HELP: &str = "\
By state: start_call resumes as a new call; reinterpret, redecide and finalize_call read and \
decide what is recorded, without a provider; start_next_attempt makes the attempt that was \
decided; reconcile_effect is refused unless a second effect is accepted.";
