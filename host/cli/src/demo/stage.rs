//! The stage: child processes of this program over homes in one folder.

use std::fs;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::Value;

/// The variable that holds the demo's key, and a key that is easy to look for.
pub(super) const KEY_VARIABLE: &str = "REREAD_DEMO_KEY";
pub(super) const KEY: &str = "demo-key-that-no-file-may-hold";

/// Runs this program over homes below one folder.
pub(super) struct Stage {
    folder: PathBuf,
    program: PathBuf,
}

/// What one process did.
pub(super) struct Ran {
    pub(super) code: i32,
    pub(super) lines: Vec<Value>,
    pub(super) stderr: String,
}

impl Stage {
    pub(super) fn new(folder: &Path) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("finding this program's own file")?;
        Ok(Self {
            folder: folder.to_owned(),
            program,
        })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns this program's file.
    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    fn command(&self, home: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg("--home")
            .arg(self.path(home))
            .arg("--json")
            .args(arguments)
            .env(KEY_VARIABLE, KEY);
        command
    }

    /// Runs one command that is killed at a fault point, and returns the signal that
    /// ended it. The point is armed by a socket that only the child inherits.
    pub(super) fn killed_at(
        &self,
        home: &str,
        arguments: &[&str],
        point: &str,
    ) -> anyhow::Result<Option<i32>> {
        let (mut ours, theirs) = UnixStream::pair().context("making a pair of sockets")?;
        let script = format!("{}kill {point} 1\nend\n", crate::faults::MAGIC);
        ours.write_all(script.as_bytes())
            .context("arming a fault point")?;
        let output = self
            .command(home, arguments)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .output()
            .with_context(|| format!("starting reread {}", arguments.join(" ")))?;
        Ok(output.status.signal())
    }

    /// Runs one command in a process of its own, and reads its JSON lines.
    pub(super) fn run(&self, home: &str, arguments: &[&str]) -> anyhow::Result<Ran> {
        let output = self
            .command(home, arguments)
            .output()
            .with_context(|| format!("starting reread {}", arguments.join(" ")))?;
        let text = String::from_utf8(output.stdout).context("reading what the process printed")?;
        let lines = text
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()
            .with_context(|| format!("reading the JSON of reread {}", arguments.join(" ")))?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Ok(Ran {
            code: output.status.code().unwrap_or(-1),
            lines,
            stderr,
        })
    }

    /// Runs a command that must succeed.
    pub(super) fn must(&self, home: &str, arguments: &[&str]) -> anyhow::Result<Vec<Value>> {
        let ran = self.run(home, arguments)?;
        let what = arguments.join(" ");
        ensure!(
            ran.code == 0,
            "reread {what} ended with {}: {}",
            ran.code,
            ran.stderr.trim()
        );
        Ok(ran.lines)
    }

    /// Copies a home that no process has open.
    pub(super) fn copy(&self, from: &str, to: &str) -> anyhow::Result<()> {
        copy_folder(&self.path(from), &self.path(to))
            .with_context(|| format!("copying {from} to {to}"))
    }

    /// Returns the file of an artifact.
    pub(super) fn artifact(&self, home: &str, sha256: &str) -> anyhow::Result<PathBuf> {
        let hex = sha256.strip_prefix("sha256:").unwrap_or(sha256);
        ensure!(hex.len() == 64 && hex.is_ascii(), "{sha256} is no hash");
        let (folder, file) = hex.split_at(2);
        Ok(self
            .path(home)
            .join("artifacts")
            .join("sha256")
            .join(folder)
            .join(file))
    }
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir(to)?;
    fs::set_permissions(to, fs::metadata(from)?.permissions())?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Finds a text in a document.
pub(super) fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or("")
}

/// Finds a number in a document.
pub(super) fn number(value: &Value, pointer: &str) -> u64 {
    value
        .pointer(pointer)
        .and_then(Value::as_u64)
        .unwrap_or(u64::MAX)
}
