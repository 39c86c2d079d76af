//! Commands that produce evidence about bytes: `check run`, `derive`.

use app::Session;
use app::check::{CheckDone, CheckOptions};
use app::derive::DeriveOptions;

use super::parse;
use crate::args::{CheckRunArgs, DeriveArgs};
use crate::exit;
use crate::printer::Printer;

pub(super) fn check(
    args: &CheckRunArgs,
    session: &mut Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    let done = session.check(CheckOptions {
        task: parse(&args.task, "task")?,
        output: &args.output,
        artifact: parse(&args.artifact, "hash")?,
        argv: &args.argv,
        covers: (!args.covers.is_empty()).then_some(&args.covers),
        timeout_s: args.timeout_s,
    })?;
    if printer.is_json() {
        printer.document(&done)?;
    } else {
        lines(&done, printer)?;
    }
    Ok(exit::DONE)
}

fn lines(done: &CheckDone, printer: &mut Printer) -> anyhow::Result<()> {
    printer.line(format!("check {} {}", done.check, done.verdict.as_str()))?;
    printer.line(format!(
        "  output {} of task {}, bytes {}",
        done.output, done.task, done.artifact_sha256
    ))?;
    if let Some(why) = &done.why {
        printer.line(format!("  {why}"))?;
    }
    for finding in &done.findings {
        printer.line(format!(
            "  criterion {} {} {}",
            finding.criterion,
            finding.verdict.as_str(),
            finding.note
        ))?;
    }
    for (name, stream) in [("stdout", &done.stdout), ("stderr", &done.stderr)] {
        if let Some(stream) = stream {
            printer.line(format!(
                "  {name} {} bytes {}",
                stream.length, stream.sha256
            ))?;
        }
    }
    let uncovered: Vec<_> = done.uncovered.iter().map(ToString::to_string).collect();
    if !uncovered.is_empty() {
        printer.line(format!("  not covered: criterion {}", uncovered.join(", ")))?;
    }
    Ok(())
}

pub(super) fn derive(
    args: &DeriveArgs,
    session: &mut Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    let derived = session.derive(DeriveOptions {
        from: parse(&args.from, "hash")?,
        to: &args.file,
        tool: &args.tool,
        note: &args.note,
        diff: args.diff.as_deref(),
    })?;
    if printer.is_json() {
        printer.document(&derived)?;
    } else {
        printer.line(format!(
            "derived {} from {}",
            derived.to_sha256, derived.from_sha256
        ))?;
        printer.line(format!("  event {}", derived.event))?;
    }
    Ok(exit::DONE)
}
