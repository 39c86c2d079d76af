//! Data to standard output, talk to standard error.

use std::borrow::Cow;
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

/// What to do when nobody reads standard output any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WhenClosed {
    /// Go on: something is done, or the exit code says something.
    GoOn,
    /// Stop: there is nothing but what is printed.
    Stop,
}

/// Prints what a command found.
#[derive(Debug)]
pub(crate) struct Printer {
    form: Form,
    talk: Talk,
    when_closed: WhenClosed,
    closed: bool,
    out: BufWriter<StdoutLock<'static>>,
}

impl Printer {
    pub(crate) fn new(form: Form, talk: Talk) -> Self {
        Self {
            form,
            talk,
            when_closed: WhenClosed::GoOn,
            closed: false,
            out: BufWriter::new(io::stdout().lock()),
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.form == Form::Json
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.talk == Talk::Quiet
    }

    /// Lets a closed standard output end the command, which does nothing but print.
    pub(crate) fn stop_when_closed(&mut self) {
        self.when_closed = WhenClosed::Stop;
    }

    /// Prints one JSON document on one line.
    pub(crate) fn document<T: Serialize>(&mut self, value: &T) -> anyhow::Result<()> {
        self.write(|out| {
            // The kind of the failure survives, so that a closed pipe is known as one.
            serde_json::to_writer(&mut *out, value).map_err(io::Error::from)?;
            out.write_all(b"\n")
        })
    }

    /// Prints a line for people. What providers and modules say may stand in it, so
    /// it stays one line and moves no cursor.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) -> anyhow::Result<()> {
        let text = visible(text.as_ref());
        self.write(|out| {
            out.write_all(text.as_bytes())?;
            out.write_all(b"\n")
        })
    }

    /// Prints exact bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.write(|out| out.write_all(bytes))
    }

    /// Says something that is no data, unless asked to be quiet.
    pub(crate) fn say(&mut self, text: impl AsRef<str>) -> anyhow::Result<()> {
        self.finish()?;
        if !self.is_quiet() {
            // Nothing is left to do when not even this can be printed.
            writeln!(io::stderr().lock(), "{}", visible(text.as_ref())).ok();
        }
        Ok(())
    }

    /// Makes sure that everything printed is out.
    pub(crate) fn finish(&mut self) -> anyhow::Result<()> {
        self.write(io::Write::flush)
    }

    fn write(
        &mut self,
        print: impl FnOnce(&mut BufWriter<StdoutLock<'static>>) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        if self.closed {
            return Ok(());
        }
        match print(&mut self.out) {
            Err(error)
                if error.kind() == io::ErrorKind::BrokenPipe
                    && self.when_closed == WhenClosed::GoOn =>
            {
                self.closed = true;
                Ok(())
            }
            printed => Ok(printed?),
        }
    }
}

/// Returns a text with its control characters written out.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let written = |character: char| {
        if character.is_control() {
            character.escape_default().to_string()
        } else {
            character.to_string()
        }
    };
    Cow::Owned(text.chars().map(written).collect())
}
