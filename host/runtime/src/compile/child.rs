//! The compiling process: it limits itself first, then compiles one module.

use std::io::{self, Read, Write};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::frame::{Answer, JobHeader};
use crate::profile;

/// Why a compiling process could not do its job.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The job could not be read.
    #[error("job could not be read: {0}")]
    Job(#[source] io::Error),
    /// A limit could not be set; nothing was compiled.
    #[error("limit {what} could not be set: {source}")]
    Limit {
        /// Such as `memory`.
        what: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// The answer could not be written.
    #[error("answer could not be written: {0}")]
    Answer(#[source] io::Error),
}

/// Does the one job that comes in through `input`, and answers on `output`.
///
/// This is the whole of a compiling process: call it from the program that a
/// [`CompilerCommand`](super::CompilerCommand) names, before anything else is
/// done there, with its standard input and output. It lowers the limits of the
/// process for good.
pub fn serve_compile(mut input: impl Read, mut output: impl Write) -> Result<(), ServeError> {
    let header = JobHeader::read(&mut input).map_err(ServeError::Job)?;
    limit(Resource::Core, "core dump", 0, 0)?;
    limit(Resource::As, "memory", header.memory_bytes, 0)?;
    // One second more until the signal that cannot be told from others.
    limit(Resource::Cpu, "processor time", header.cpu_seconds, 1)?;
    end_with_parent();
    let module = header.read_module(&mut input).map_err(ServeError::Job)?;
    drop(input);
    answer(&module)
        .write(&mut output)
        .map_err(ServeError::Answer)
}

fn answer(module: &[u8]) -> Answer {
    match profile::compiling_engine().and_then(|engine| engine.precompile_component(module)) {
        Ok(code) => Answer::Code(code),
        Err(error) if error.downcast_ref::<wasmtime::OutOfMemory>().is_some() => Answer::Memory,
        Err(error) => Answer::Refused(format!("{error:#}")),
    }
}

/// Lowers one limit of this process; a lower one that is already there stays.
fn limit(resource: Resource, what: &'static str, soft: u64, spare: u64) -> Result<(), ServeError> {
    let most = getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let rlimit = Rlimit {
        current: Some(soft.min(most)),
        maximum: Some(soft.saturating_add(spare).min(most)),
    };
    setrlimit(resource, rlimit).map_err(|errno| ServeError::Limit {
        what,
        source: errno.into(),
    })
}

/// Asks the system to end this process with its parent. Without it, the limit on
/// processor time does so later.
fn end_with_parent() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        // Refused only by systems that do not know it.
        let _known = set_parent_process_death_signal(Some(Signal::KILL));
    }
}
