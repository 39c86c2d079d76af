//! `impact`: what rests on evidence that moved.

use app::Session;
use app::impact::{ImpactCounts, Impacted};
use model::projection::impact::Basis;
use serde_json::json;

use super::printed;
use crate::exit;
use crate::printer::Printer;

pub(super) fn run(
    since: Option<&str>,
    session: &Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    let counts = session.impact(since, |one| {
        if printer.is_json() {
            return printed(printer.document(&one));
        }
        printed(lines(&one, printer))
    })?;
    summary(&counts, printer)?;
    Ok(exit::DONE)
}

fn lines(one: &Impacted, printer: &mut Printer) -> anyhow::Result<()> {
    let moved = &one.moved;
    printer.line(format!(
        "{} {} {} ({} moved)",
        moved.kind.as_str(),
        moved.record,
        moved.standing,
        moved.moved.as_str()
    ))?;
    if let (Some(output), Some(artifact)) = (&moved.output, moved.artifact_sha256) {
        printer.line(format!("  output {output} {artifact}"))?;
    }
    if let Some(task) = moved.task {
        printer.line(format!("  task {task}"))?;
    }
    printer.line(format!("  call {}", moved.call))?;
    for field in &moved.changed {
        let (old, new) = (value(&moved.old, field), value(&moved.new, field));
        printer.line(format!("  {field} {old} -> {new}"))?;
    }
    for attempt in &moved.attempts {
        let word =
            |one: Option<model::decision::Disposition>| one.map_or("none", |one| one.as_str());
        printer.line(format!(
            "  attempt {} {} -> {}",
            attempt.attempt,
            word(attempt.old),
            word(attempt.new)
        ))?;
    }
    printer.line(format!("  by {}", moved.new.record))?;
    printer.line(format!(
        "  next {} ({})",
        one.next_operation.as_str(),
        one.next_reason
    ))
}

/// Returns one field of a basis as people read it.
fn value(basis: &Basis, field: &str) -> String {
    let text = |text: Option<String>| text.unwrap_or_else(|| "none".to_owned());
    match field {
        "status" => basis.status.as_str().to_owned(),
        "interpretation" => text(basis.interpretation.map(|id| id.to_string())),
        "generation_state" => text(
            basis
                .generation_state
                .map(|state| state.as_str().to_owned()),
        ),
        "output_text" => text(basis.output_text.map(|digest| digest.to_string())),
        "interpreter" => basis.interpreter.to_string(),
        "interpreter_config_sha256" => {
            text(basis.interpreter_config_sha256.map(|one| one.to_string()))
        }
        "policy" => basis.policy.to_string(),
        "policy_config_sha256" => text(basis.policy_config_sha256.map(|one| one.to_string())),
        other => other.to_owned(),
    }
}

fn summary(counts: &ImpactCounts, printer: &mut Printer) -> anyhow::Result<()> {
    if printer.is_json() {
        return printer.document(&json!({ "impact": counts }));
    }
    if counts.calls == 0 {
        return printer.line("nothing moved");
    }
    let list = |counts: &std::collections::BTreeMap<&str, u64>| {
        let parts: Vec<_> = counts
            .iter()
            .map(|(name, n)| format!("{n} {name}"))
            .collect();
        parts.join(", ")
    };
    printer.line(format!(
        "{} calls moved: {} ({})",
        counts.calls,
        list(&counts.kinds),
        list(&counts.moves)
    ))
}
