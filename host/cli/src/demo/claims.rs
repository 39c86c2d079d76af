//! Claims, each printed with its evidence the moment it is known.

use std::path::Path;

use serde_json::json;

use crate::printer::Printer;

/// Prints claims and remembers whether all hold.
pub(super) struct Claims<'p> {
    printer: &'p mut Printer,
    held: u64,
    failed: u64,
}

impl<'p> Claims<'p> {
    pub(super) const fn new(printer: &'p mut Printer) -> Self {
        Self {
            printer,
            held: 0,
            failed: 0,
        }
    }

    /// Begins a part of the story.
    pub(super) fn part(&mut self, title: &str) -> anyhow::Result<()> {
        if self.printer.is_json() {
            return Ok(());
        }
        self.printer.line("")?;
        self.printer.line(title)
    }

    /// Prints one claim with what it rests on.
    pub(super) fn claim(
        &mut self,
        holds: bool,
        claim: &str,
        evidence: impl AsRef<str>,
    ) -> anyhow::Result<()> {
        let evidence = evidence.as_ref();
        if holds {
            self.held += 1;
        } else {
            self.failed += 1;
        }
        if self.printer.is_json() {
            let holds = json!({"claim": claim, "holds": holds, "evidence": evidence});
            return self.printer.document(&holds);
        }
        let mark = if holds { "ok  " } else { "FAIL" };
        self.printer.line(format!("  {mark} {claim}"))?;
        for line in evidence.lines() {
            self.printer.line(format!("         {line}"))?;
        }
        Ok(())
    }

    /// Prints the count and returns whether every claim held.
    pub(super) fn finish(self, kept: Option<&Path>) -> anyhow::Result<bool> {
        let holds = self.failed == 0 && self.held > 0;
        if self.printer.is_json() {
            let summary = json!({"claims": self.held + self.failed, "failed": self.failed});
            self.printer.document(&summary)?;
            return Ok(holds);
        }
        self.printer.line("")?;
        self.printer
            .line(format!("{} claims hold, {} do not", self.held, self.failed))?;
        if let Some(kept) = kept {
            self.printer
                .line(format!("the homes stay in {}", kept.display()))?;
        }
        Ok(holds)
    }
}
