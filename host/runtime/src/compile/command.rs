//! Compiling in a process of its own, which is stopped when it takes too long.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use model::Digest;

use super::Compiled;
use super::frame::{ANSWER_HEADER_BYTES, Answer, write_job};
use crate::error::Shown;
use crate::profile::Limits;
use crate::scan::{ModuleError, scan};

/// Bytes of compiled code. Honest: 40 MB, of a component of 12 MB.
const CODE_BYTES_MAX: usize = 256 << 20;

/// Bytes kept of what the process says on its standard error.
const WORDS_BYTES_MAX: usize = 4 << 10;

/// How often, and how many times, the end of a process is waited for that has
/// already closed its output.
const END_POLL: Duration = Duration::from_millis(5);
const END_POLLS_MAX: u32 = 1_000;

/// What Rust's own runtime says before it ends a process that cannot have more
/// memory.
const OUT_OF_MEMORY_WORDS: &str = "memory allocation of";

/// The numbers of the two signals that are told apart, the same on every Linux.
const SIGNAL_ABORT: i32 = 6;
const SIGNAL_PROCESSOR_TIME: i32 = 24;

/// What one compiling process may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompileLimits {
    /// From start to end.
    pub wall: Duration,
    /// Processor time, in seconds.
    pub cpu_seconds: u64,
    /// Address space, in bytes.
    pub memory_bytes: u64,
}

impl CompileLimits {
    /// The limits for unknown modules: an honest JavaScript component needs 25
    /// seconds and 0.4 GB.
    pub const STANDARD: Self = Self {
        wall: Duration::from_mins(1),
        cpu_seconds: 60,
        memory_bytes: 1 << 30,
    };
}

/// How to start a compiling process: a program that calls
/// [`serve_compile`](super::serve_compile).
///
/// What it answers is loaded as code, so the program is trusted as this one is.
/// A process that ends early leaves a broken pipe: a program that gives `SIGPIPE`
/// its default action back would end with it.
#[derive(Debug, Clone)]
pub struct CompilerCommand {
    /// The program; usually this one.
    pub program: PathBuf,
    /// What makes it a compiling process.
    pub args: Vec<OsString>,
    /// What it may use.
    pub limits: CompileLimits,
}

/// Why a module could not be compiled in a process of its own.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The module is refused.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// The process could not be started.
    #[error("compiler process {program:?} could not be started: {detail}")]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system says.
        detail: String,
    },
    /// The process took too long.
    #[error("module did not compile in {} seconds (limit)", limit.as_secs_f64())]
    WallTime {
        /// From start to end.
        limit: Duration,
    },
    /// The process used too much of the processor.
    #[error("module did not compile in {limit_seconds} seconds of processor time (limit)")]
    CpuTime {
        /// In seconds.
        limit_seconds: u64,
    },
    /// The process asked for too much memory.
    #[error("module did not compile within {limit} bytes of memory (limit)")]
    Memory {
        /// In bytes.
        limit: u64,
    },
    /// The process was ended by a signal.
    #[error("compiler process was ended by signal {signal}: {}", Shown(words))]
    Signal {
        /// Its number.
        signal: i32,
        /// What the process said.
        words: String,
    },
    /// The process gave up.
    #[error("compiler process ended with code {code}: {}", Shown(words))]
    Exit {
        /// Its exit code.
        code: i32,
        /// What the process said.
        words: String,
    },
    /// The answer cannot be used.
    #[error("answer of the compiler process cannot be used: {0}")]
    Answer(String),
}

impl CompilerCommand {
    /// Scans a module and compiles it in a process of its own.
    pub fn compile(&self, module: &[u8]) -> Result<Compiled, CompileError> {
        let contract = scan(module, &Limits::P1)?.contract;
        match self.answer(module)? {
            Answer::Code(code) => Ok(Compiled::new(Digest::of(module), contract, code)),
            Answer::Refused(words) => Err(ModuleError::Compiler(words).into()),
            Answer::Memory => Err(self.out_of_memory()),
        }
    }

    const fn out_of_memory(&self) -> CompileError {
        CompileError::Memory {
            limit: self.limits.memory_bytes,
        }
    }

    fn answer(&self, module: &[u8]) -> Result<Answer, CompileError> {
        let mut child = Command::new(&self.program)
            .args(&self.args)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| CompileError::Start {
                program: self.program.clone(),
                detail: error.to_string(),
            })?;
        let ended = self.attend(&mut child, module);
        let Ended { status, out, words } = ended?;
        if let Some(signal) = status.signal() {
            return Err(match signal {
                SIGNAL_PROCESSOR_TIME => CompileError::CpuTime {
                    limit_seconds: self.limits.cpu_seconds,
                },
                SIGNAL_ABORT if words.contains(OUT_OF_MEMORY_WORDS) => self.out_of_memory(),
                _ => CompileError::Signal { signal, words },
            });
        }
        if !status.success() {
            let code = status.code().unwrap_or(-1);
            return Err(CompileError::Exit { code, words });
        }
        Answer::parse(out).map_err(CompileError::Answer)
    }

    /// Gives the process its job and waits for its end. When this returns, the
    /// process is gone.
    fn attend(&self, child: &mut Child, module: &[u8]) -> Result<Ended, CompileError> {
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (sender, receiver) = mpsc::channel();
        let limits = self.limits;
        // Each pipe has a thread of its own: a process that fills one while we
        // wait on another would otherwise stop both.
        thread::scope(|scope| {
            scope.spawn(move || {
                // A process that has already ended does not take its job; its
                // status says why.
                stdin.map(|mut stdin| write_job(&mut stdin, &limits, module))
            });
            let words = scope.spawn(move || read_some(stderr, WORDS_BYTES_MAX, AtMost::Cut));
            scope.spawn(move || {
                let most = ANSWER_HEADER_BYTES + CODE_BYTES_MAX;
                sender.send(read_some(stdout, most, AtMost::Refuse))
            });
            let out = receiver.recv_timeout(self.limits.wall);
            let status = match &out {
                Ok(Ok(_)) => wait(child),
                Ok(Err(_)) | Err(_) => end(child),
            };
            let words = words.join().ok().and_then(Result::ok).unwrap_or_default();
            let out = out.map_err(|_timeout| CompileError::WallTime {
                limit: self.limits.wall,
            })?;
            let unusable = |error: io::Error| CompileError::Answer(error.to_string());
            Ok(Ended {
                out: out.map_err(unusable)?,
                status: status.map_err(unusable)?,
                words: String::from_utf8_lossy(&words).trim().to_owned(),
            })
        })
    }
}

/// A process that is gone.
struct Ended {
    status: ExitStatus,
    out: Vec<u8>,
    words: String,
}

/// What to do with more bytes than are wanted.
#[derive(Clone, Copy)]
enum AtMost {
    /// Read and forget them.
    Cut,
    /// Stop.
    Refuse,
}

fn read_some(from: Option<impl Read>, most: usize, more: AtMost) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let Some(from) = from else { return Ok(bytes) };
    let mut limited = from.take(u64::try_from(most).unwrap_or(u64::MAX));
    limited.read_to_end(&mut bytes)?;
    let mut rest = limited.into_inner();
    match more {
        AtMost::Cut => {
            io::copy(&mut rest, &mut io::sink())?;
        }
        AtMost::Refuse => {
            if rest.read(&mut [0])? > 0 {
                return Err(io::Error::other(format!("it is larger than {most} bytes")));
            }
        }
    }
    Ok(bytes)
}

/// Waits for a process that has closed its output, and ends it if it stays.
fn wait(child: &mut Child) -> io::Result<ExitStatus> {
    for _ in 0..END_POLLS_MAX {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(END_POLL);
    }
    end(child)
}

/// Ends a process at once, and waits until it is gone.
fn end(child: &mut Child) -> io::Result<ExitStatus> {
    child.kill()?;
    child.wait()
}
