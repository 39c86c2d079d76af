//! Commands that produce evidence about bytes: `check run`, `derive`.

use app::Session;
use app::accept::{AcceptDone, AcceptOptions};
use app::check::{CheckDone, CheckOptions, CheckVerifier};
use app::derive::DeriveOptions;

use super::{digest, parse};
use crate::args::{AcceptArgs, CheckRunArgs, DeriveArgs};
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
        artifact: digest(&args.artifact)?,
        verifier: match &args.module {
            Some(module) => CheckVerifier::Module(module, args.module_config.as_deref()),
            None => CheckVerifier::Command(&args.argv),
        },
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
    if done.appended == 1 {
        printer.line(format!(
            "  continues {}, which had no verdict",
            done.requested
        ))?;
    }
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
        from: digest(&args.from)?,
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
        let before = if derived.appended == 0 {
            " (recorded before)"
        } else {
            ""
        };
        printer.line(format!("  event {}{before}", derived.event))?;
    }
    Ok(exit::DONE)
}

pub(super) fn accept(
    args: &AcceptArgs,
    session: &mut Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    let checks = args.check.iter().map(|check| parse(check, "check"));
    let done = session.accept(&AcceptOptions {
        task: parse(&args.task, "task")?,
        output: &args.output,
        artifact: digest(&args.artifact)?,
        criteria: args.criteria_sha256.as_deref().map(digest).transpose()?,
        call: optional(args.call.as_deref(), "call")?,
        attempt: optional(args.attempt.as_deref(), "attempt")?,
        interpretation: optional(args.interpretation.as_deref(), "interpretation")?,
        checks: checks.collect::<Result<_, _>>()?,
        policy: args.policy.as_deref(),
    })?;
    if printer.is_json() {
        printer.document(&done)?;
    } else {
        judged(&done, printer)?;
    }
    Ok(if done.accepted {
        exit::DONE
    } else {
        exit::NOT_ACCEPTED
    })
}

fn optional<T: std::str::FromStr>(
    text: Option<&str>,
    what: &'static str,
) -> Result<Option<T>, app::AppError>
where
    T::Err: std::fmt::Display,
{
    text.map(|text| parse(text, what)).transpose()
}

fn judged(done: &AcceptDone, printer: &mut Printer) -> anyhow::Result<()> {
    let word = if done.accepted {
        "accepted"
    } else {
        "not accepted"
    };
    printer.line(format!(
        "output {} of task {} {word}: {} by {}",
        done.output, done.task, done.artifact_sha256, done.policy.label
    ))?;
    for reason in &done.reasons {
        printer.line(format!("  {reason}"))?;
    }
    for (name, id) in [
        ("acceptance", done.acceptance),
        ("completion", done.completion),
        ("rejection", done.rejection),
    ] {
        if let Some(id) = id {
            printer.line(format!("  {name} {id}"))?;
        }
    }
    printer.line(format!("  {} events appended", done.appended))
}
