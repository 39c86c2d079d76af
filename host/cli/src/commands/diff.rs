//! `diff`: two versions of the rules side by side.

use app::Session;
use app::diff::{
    AttemptDiff, AttemptRefused, CallDiff, CitedBytes, Decided, DiffItem, DiffSummary, Effect,
    Found, Pair,
};
use serde_json::json;

use super::bulk::StrictCodes;
use super::{printed, table};
use crate::args::DiffArgs;
use crate::exit;
use crate::printer::Printer;
use crate::progress::Bar;

pub(super) fn run(
    args: &DiffArgs,
    session: &mut Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    let filters = args.filters.filters()?;
    let mut codes = StrictCodes::default();
    let mut bar = Bar::new(printer.is_quiet());
    let what = (&filters, args.fail_on.as_slice());
    let (summary, found) = session.diff(&args.sides(), what, &mut bar, |item| {
        if let DiffItem::Refused(refused) = &item {
            codes.count(&refused.refused.code);
        }
        printed(line(&item, printer))
    })?;
    if printer.is_json() {
        printer.document(&json!({ "summary": summary, "fail_on": found }))?;
    } else {
        summary_lines(&summary, &found, printer)?;
    }
    if found.iter().any(|found| found.attempts > 0) {
        return Ok(exit::DAMAGE);
    }
    Ok(codes.exit_code(args.strict))
}

fn line(item: &DiffItem, printer: &mut Printer) -> anyhow::Result<()> {
    if printer.is_json() {
        return printer.document(item);
    }
    match item {
        DiffItem::Changed(diff) => changed(diff, printer),
        DiffItem::Refused(refused) => refused_line(refused, printer),
    }
}

fn refused_line(refused: &AttemptRefused, printer: &mut Printer) -> anyhow::Result<()> {
    let name = refused.external_id.as_deref().unwrap_or("-");
    let what = match refused.attempt {
        Some(attempt) => format!("attempt {attempt}"),
        None => format!("call {}", refused.call),
    };
    printer.line(format!(
        "{what} {name} refused ({}, {}): {}",
        refused.side, refused.refused.code, refused.refused.detail
    ))
}

fn changed(diff: &CallDiff, printer: &mut Printer) -> anyhow::Result<()> {
    let name = diff.external_id.as_deref().unwrap_or("-");
    printer.line(format!("call {} {name}", diff.call))?;
    if let Some(Pair { from, to }) = diff.status.as_ref().filter(|pair| pair.from != pair.to) {
        printer.line(format!("  status {} -> {}", decided(from), decided(to)))?;
    }
    for attempt in &diff.attempts {
        attempt_lines(attempt, printer)?;
    }
    match &diff.effect {
        Some(effect) => effect_lines(effect, printer),
        None => Ok(()),
    }
}

fn decided(decided: &Decided) -> String {
    format!("{} ({})", decided.status.as_str(), decided.reason)
}

fn attempt_lines(attempt: &AttemptDiff, printer: &mut Printer) -> anyhow::Result<()> {
    printer.line(format!("  attempt {}", attempt.attempt))?;
    for field in &attempt.changed {
        printer.line(format!(
            "    {} {} -> {}",
            field.field, field.from, field.to
        ))?;
    }
    for (side, cited) in [("from", &attempt.cited.from), ("to", &attempt.cited.to)] {
        for one in cited {
            printer.line(format!("    {side} cites {}", citation(one)))?;
        }
    }
    Ok(())
}

fn citation(cited: &CitedBytes) -> String {
    let bytes = match (&cited.text, &cited.base64) {
        (Some(text), _) => format!("{text:?}"),
        (None, Some(base64)) => format!("base64 {base64}"),
        (None, None) => String::new(),
    };
    let more = cited
        .more
        .map_or_else(String::new, |more| format!(" and {more} more"));
    let CitedBytes {
        field,
        pointer,
        start,
        end,
        ..
    } = cited;
    format!("{field} at {pointer} [{start}, {end}): {bytes}{more}")
}

fn effect_lines(effect: &Effect, printer: &mut Printer) -> anyhow::Result<()> {
    let Pair { from, to } = &effect.next;
    printer.line(format!(
        "  next {} -> {} ({})",
        from.operation.as_str(),
        to.operation.as_str(),
        to.reason
    ))?;
    for (side, moved) in [("from", &effect.moved.from), ("to", &effect.moved.to)] {
        for one in moved {
            let output = one.output.as_deref().unwrap_or("-");
            printer.line(format!(
                "  {side} moves {} {} of output {output} ({})",
                one.kind.as_str(),
                one.record,
                one.moved.as_str()
            ))?;
        }
    }
    Ok(())
}

fn summary_lines(
    summary: &DiffSummary,
    found: &[Found],
    printer: &mut Printer,
) -> anyhow::Result<()> {
    let (from, to) = (&summary.from, &summary.to);
    printer.line(format!(
        "{} calls: {} changed; {} attempts read by both: {} changed; {} refused",
        summary.calls,
        summary.changed_calls,
        summary.attempts,
        summary.changed_attempts,
        summary.refused
    ))?;
    printer.line(format!("from {} with {}", from.interpreter, from.policy))?;
    printer.line(format!("to {} with {}", to.interpreter, to.policy))?;
    let states = summary.matrix.iter().map(|cell| {
        let name = |state: model::reading::GenerationState| (state, state.as_str());
        (name(cell.from), name(cell.to), cell.attempts)
    });
    for line in table("from\\to", &states.collect::<Vec<_>>()) {
        printer.line(line)?;
    }
    let statuses = summary.statuses.iter().map(|cell| {
        let name = |status: model::decision::CallStatus| (status, status.as_str());
        (name(cell.from), name(cell.to), cell.calls)
    });
    for line in table("from\\to", &statuses.collect::<Vec<_>>()) {
        printer.line(line)?;
    }
    for one in found.iter().filter(|found| found.attempts > 0) {
        let first: Vec<_> = one.first.iter().map(ToString::to_string).collect();
        printer.line(format!(
            "{} fits {} attempts, first {}",
            one.pattern,
            one.attempts,
            first.join(", ")
        ))?;
    }
    match summary.diff_sha256 {
        Some(digest) => printer.line(format!("diff {digest}")),
        None => Ok(()),
    }
}
