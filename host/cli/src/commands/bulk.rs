//! Commands that go over many exchanges: `interpret`, `reinterpret`.

use app::Session;
use app::interpret::{Interpreted, ReadingOutcome};
use app::reinterpret::{
    AttemptReinterpreted, BulkItem, CallReinterpretation, Filters, MatrixCell, ReinterpretOptions,
    ReinterpretSummary,
};
use model::reading::GenerationState;

use super::{parse, printed};
use crate::args::{InterpretArgs, ReinterpretCommand, RulesArgs};
use crate::exit;
use crate::printer::Printer;
use crate::progress::Bar;

pub(super) fn interpret(
    args: &InterpretArgs,
    session: &mut Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    let (name, config) = (
        args.interpreter.as_deref(),
        args.interpreter_config.as_deref(),
    );
    if args.attempt != "all" {
        let attempt = parse(&args.attempt, "attempt")?;
        let interpreted = session.interpret(attempt, name, config)?;
        interpreted_line(&interpreted, printer)?;
        return Ok(exit::DONE);
    }
    let mut codes = StrictCodes::default();
    let mut bar = Bar::new(printer.is_quiet());
    let summary = session.interpret_all(name, config, &mut bar, |interpreted| {
        if let ReadingOutcome::Refused(refused) = &interpreted.outcome {
            codes.count(&refused.code);
        }
        printed(interpreted_line(&interpreted, printer))
    })?;
    printer.say(format!(
        "{} read, {} refused",
        summary.read, summary.refused
    ))?;
    Ok(codes.exit_code(args.strict))
}

fn interpreted_line(interpreted: &Interpreted, printer: &mut Printer) -> anyhow::Result<()> {
    if printer.is_json() {
        return printer.document(interpreted);
    }
    let name = interpreted.external_id.as_deref().unwrap_or("-");
    let attempt = interpreted.attempt;
    match &interpreted.outcome {
        ReadingOutcome::Reading(reading) => printer.line(format!(
            "{attempt} {name} {} reason {} error {} by {}",
            reading.generation_state.as_str(),
            reading.provider_reason.as_deref().unwrap_or("-"),
            reading
                .error
                .as_ref()
                .map_or("-", |error| error.class.as_str()),
            interpreted.module.label,
        )),
        ReadingOutcome::Refused(refused) => printer.line(format!(
            "{attempt} {name} refused ({}): {}",
            refused.code, refused.detail
        )),
    }
}

pub(super) fn reinterpret(
    command: &ReinterpretCommand,
    session: &mut Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    match command {
        ReinterpretCommand::Attempt {
            attempt,
            interpreter,
            interpreter_config,
            dry_run,
        } => {
            let options = ReinterpretOptions {
                names: app::module::RuleNames {
                    interpreter: interpreter.as_deref(),
                    interpreter_config: interpreter_config.as_deref(),
                    policy: None,
                    policy_config: None,
                },
                dry_run: *dry_run,
                allow_older: None,
            };
            let done = session.reinterpret_attempt(parse(attempt, "attempt")?, &options)?;
            attempt_done(&done, printer)?;
            Ok(exit::DONE)
        }
        ReinterpretCommand::Call { call, rules } => {
            let done = session.reinterpret_call(parse(call, "call")?, &options(rules))?;
            call_done(&done, printer)?;
            Ok(exit::DONE)
        }
        ReinterpretCommand::All {
            rules,
            filters,
            strict,
        } => reinterpret_all(
            &filters.filters()?,
            &options(rules),
            *strict,
            session,
            printer,
        ),
    }
}

fn options(rules: &RulesArgs) -> ReinterpretOptions<'_> {
    ReinterpretOptions {
        names: rules.pair.names(),
        dry_run: rules.dry_run,
        allow_older: rules.allow_older.clone(),
    }
}

fn attempt_done(done: &AttemptReinterpreted, printer: &mut Printer) -> anyhow::Result<()> {
    if printer.is_json() {
        return printer.document(done);
    }
    printer.line(format!(
        "attempt {} reads {} under {}: {}",
        done.attempt,
        done.generation_state.as_str(),
        done.module.label,
        appended(done.appended, done.would_append),
    ))?;
    match done.interpretation {
        Some(interpretation) => printer.line(format!("interpretation {interpretation}")),
        None => Ok(()),
    }
}

fn call_done(done: &CallReinterpretation, printer: &mut Printer) -> anyhow::Result<()> {
    if printer.is_json() {
        return printer.document(done);
    }
    let prior = done
        .prior_status
        .map_or("none", model::decision::CallStatus::as_str);
    printer.line(format!(
        "call {} is {} ({}), before: {prior}",
        done.call,
        done.status.as_str(),
        done.reason
    ))?;
    printer.line(format!("basis {}", done.status_basis))?;
    printer.line(appended(done.appended, done.would_append))?;
    match done.record {
        Some(record) => printer.line(format!("record {record}")),
        None => Ok(()),
    }
}

pub(super) fn appended(appended: u64, would_append: Option<u64>) -> String {
    match would_append {
        Some(count) => format!("{count} events would be appended"),
        None => format!("{appended} events appended"),
    }
}

fn reinterpret_all(
    filters: &Filters,
    options: &ReinterpretOptions<'_>,
    strict: bool,
    session: &mut Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    let mut codes = StrictCodes::default();
    let mut bar = Bar::new(printer.is_quiet());
    let summary = session.reinterpret_all(filters, options, &mut bar, |item| {
        if let BulkItem::Refused { refused, .. } = &item {
            codes.count(&refused.code);
        }
        printed(bulk_line(&item, printer))
    })?;
    if printer.is_json() {
        printer.document(&serde_json::json!({ "summary": summary }))?;
    } else {
        summary_lines(&summary, printer)?;
    }
    Ok(codes.exit_code(strict))
}

fn bulk_line(item: &BulkItem, printer: &mut Printer) -> anyhow::Result<()> {
    if printer.is_json() {
        return printer.document(item);
    }
    match item {
        BulkItem::Refused {
            call,
            external_id,
            refused,
        } => printer.line(format!(
            "call {call} {} refused ({}): {}",
            external_id.as_deref().unwrap_or("-"),
            refused.code,
            refused.detail
        )),
        BulkItem::Done(_) => Ok(()),
    }
}

fn summary_lines(summary: &ReinterpretSummary, printer: &mut Printer) -> anyhow::Result<()> {
    printer.line(format!(
        "{} calls: {} reinterpreted, {} unchanged, {} refused; {}",
        summary.calls,
        summary.reinterpreted,
        summary.unchanged,
        summary.refused,
        appended(summary.appended, summary.would_append),
    ))?;
    for line in matrix(&summary.matrix) {
        printer.line(line)?;
    }
    Ok(())
}

/// Returns the lines of a table: a row per state before, a column per state now.
fn matrix(cells: &[MatrixCell]) -> Vec<String> {
    let name = |state: Option<GenerationState>| state.map_or("-", GenerationState::as_str);
    let cells: Vec<_> = cells
        .iter()
        .map(|cell| {
            (
                (cell.from, name(cell.from)),
                (cell.to, name(cell.to)),
                cell.calls,
            )
        })
        .collect();
    super::table("before\\now", &cells)
}

/// What a strict run exits with: the class of the refusals.
#[derive(Debug, Default)]
pub(super) struct StrictCodes {
    evidence: u64,
    module: u64,
}

impl StrictCodes {
    pub(super) fn count(&mut self, code: &str) {
        if code == "module_failed" || code == "wrong_world" {
            self.module += 1;
        } else {
            self.evidence += 1;
        }
    }

    pub(super) const fn exit_code(&self, strict: bool) -> u8 {
        match (strict, self.evidence, self.module) {
            (false, ..) | (true, 0, 0) => exit::DONE,
            (true, 0, _) => exit::MODULE,
            (true, ..) => exit::REFUSED,
        }
    }
}
