//! The arguments of `import`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `import …`
#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// Import exchanges from files of JSON lines
    #[command(after_help = EXCHANGE_HELP)]
    Exchange(ImportArgs),
    /// Import calls from HAR files, as browsers and proxies export them
    #[command(after_help = HAR_HELP)]
    Har(RecordingArgs),
    /// Import calls from cassettes of vcrpy, VCR or go-vcr, in YAML or JSON
    #[command(after_help = VCR_HELP)]
    Vcr(RecordingArgs),
    /// Import calls from the output files of OpenAI's batches
    #[command(after_help = BATCH_HELP)]
    OpenaiBatch(BatchArgs),
}

/// What every import takes.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct ImportArgs {
    /// The files; each is read twice, so it must be a plain file
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Record the calls as part of this task
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// Import the good lines of files that have malformed ones
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Exit with 4 when a line was refused
    #[arg(long)]
    pub(crate) strict: bool,
}

/// What an import of another tool's recordings takes.
#[derive(Debug, Args)]
pub(crate) struct RecordingArgs {
    #[command(flatten)]
    pub(crate) import: ImportArgs,
    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,
}

/// Which entries are calls.
#[derive(Debug, Args)]
pub(crate) struct ChoiceArgs {
    /// Import every entry, in this dialect
    #[arg(long, value_name = "DIALECT")]
    pub(crate) dialect: Option<String>,
    /// Import entries of no known dialect too, as `unknown`
    #[arg(long)]
    pub(crate) all: bool,
}

/// `import openai-batch`
#[derive(Debug, Args)]
pub(crate) struct BatchArgs {
    #[command(flatten)]
    pub(crate) recording: RecordingArgs,
    /// Take requests and dialects from this input file of the batch
    #[arg(long, value_name = "FILE")]
    pub(crate) requests: Option<PathBuf>,
}

const EXCHANGE_HELP: &str = "\
A line is {\"id\"?, \"dialect\", \"provider\"?, \"request\": {\"method\", \"path\", \"body_b64\" | \
\"body_utf8\"}, \"response\": {\"status\", \"headers\", \"body_b64\" | \"body_utf8\" | null}, \
\"outcome\"?, \"exception_type\"?}. Other keys are ignored.
Bodies are kept exactly as the line gives them. Of the headers an allow-list is kept, of the \
path everything before the query; credentials reach no file. The same line is imported once.";

const HAR_HELP: &str = "\
Method, path, status, kept headers and both bodies come in. The dialect is that of the path of \
a POST; entries of no known dialect are skipped and counted.
Bodies are not exact: a HAR file holds decoded content, so each is marked `decoded`, or \
`length_differs` where the file states another size, or `not_preserved` where it holds none. \
content-encoding and content-length are left out where the encoding was undone. Status 0 is a \
request without response. Chunks, timings and cookies do not come in; credentials reach no file. \
A file of at most 256 MiB is read whole. The same entry is imported once.";

const VCR_HELP: &str = "\
Read are vcrpy, VCR for Ruby and go-vcr, in YAML or JSON. The dialect is that of the path of a \
POST; interactions of no known dialect are skipped and counted.
Bodies given as bytes (!!binary, base64_string) are kept exactly, compressed ones included: \
`as_given`. Text is marked `length_matches` where content-length has its length, else \
`length_differs` or `decoded`; a parsed_body is written anew as JSON: `reserialised`. Chunks and \
timing are in no cassette; credentials reach no file. A file of at most 256 MiB is read whole, \
values nest at most 128 levels, and aliases count as what they stand for. The same interaction is \
imported once.";

const BATCH_HELP: &str = "\
Each line of the output is one call; its custom_id is the external id. The dialect is that of \
the request, given with --requests, else that of the body's `object`.
A body is the JSON text of the line, which is not what a server sent: `reserialised`. There are \
no headers. A line with an error in place of a response is a call without response. Requests come \
in with --requests alone. Files are read line by line. The same line is imported once.";
