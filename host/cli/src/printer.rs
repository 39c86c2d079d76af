//! Data to standard output, talk to standard error.

use std::io::{self, BufWriter, StdoutLock, Write as _};

use serde::Serialize;

/// How data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// For people.
    Text,
    /// For machines.
    Json,
}

/// What is said beside data and errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Talk {
    /// What people may want to know.
    Normal,
    /// Nothing.
    Quiet,
}

/// Prints what a command found.
#[derive(Debug)]
pub(crate) struct Printer {
    form: Form,
    talk: Talk,
    out: BufWriter<StdoutLock<'static>>,
}

impl Printer {
    pub(crate) fn new(form: Form, talk: Talk) -> Self {
        Self {
            form,
            talk,
            out: BufWriter::new(io::stdout().lock()),
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.form == Form::Json
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.talk == Talk::Quiet
    }

    /// Prints one JSON document on one line.
    pub(crate) fn document<T: Serialize>(&mut self, value: &T) -> anyhow::Result<()> {
        // The kind of the failure survives, so that a closed pipe is known as one.
        serde_json::to_writer(&mut self.out, value).map_err(io::Error::from)?;
        self.out.write_all(b"\n")?;
        Ok(())
    }

    /// Prints a line for people.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) -> anyhow::Result<()> {
        self.out.write_all(text.as_ref().as_bytes())?;
        self.out.write_all(b"\n")?;
        Ok(())
    }

    /// Prints exact bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.out.write_all(bytes)?;
        Ok(())
    }

    /// Says something that is no data, unless asked to be quiet.
    pub(crate) fn say(&mut self, text: impl AsRef<str>) -> anyhow::Result<()> {
        self.out.flush()?;
        if !self.is_quiet() {
            writeln!(io::stderr().lock(), "{}", text.as_ref())?;
        }
        Ok(())
    }

    /// Makes sure that everything printed is out.
    pub(crate) fn finish(&mut self) -> anyhow::Result<()> {
        self.out.flush()?;
        Ok(())
    }
}
