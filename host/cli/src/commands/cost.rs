//! `cost`.

use app::Session;
use app::cost::{CostItem, CostOptions, CostSummary, Costed, Total};
use app::interpret::Refused;

use super::bulk::{StrictCodes, appended};
use super::{parse, printed};
use crate::args::{CostCommand, PricesArgs};
use crate::exit;
use crate::printer::Printer;
use crate::progress::Bar;

pub(super) fn run(
    command: &CostCommand,
    session: &mut Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    match command {
        CostCommand::Attempt {
            attempt,
            prices,
            reading,
        } => {
            let reading = reading.as_deref();
            let reading = reading.map(|id| parse(id, "reading")).transpose()?;
            let attempt = parse(attempt, "attempt")?;
            let cost = session.cost_attempt(attempt, reading, options(prices))?;
            line(&cost, printer)?;
            if !printer.is_json() {
                printer.line(appended(cost.appended, cost.would_append))?;
            }
            Ok(exit::DONE)
        }
        CostCommand::Call { call, prices } => {
            let done = session.cost_call(parse(call, "call")?, options(prices))?;
            for cost in &done.costs {
                line(cost, printer)?;
            }
            summary(&done.summary, printer)?;
            Ok(exit::DONE)
        }
        CostCommand::All {
            prices,
            filters,
            strict,
        } => {
            let mut codes = StrictCodes::default();
            let mut bar = Bar::new(printer.is_quiet());
            let filters = filters.filters()?;
            let done = session.cost_all(&filters, options(prices), &mut bar, |item| {
                if let CostItem::Refused { refused, .. } = &item {
                    codes.count(&refused.code);
                }
                printed(item_line(&item, printer))
            })?;
            summary(&done, printer)?;
            Ok(codes.exit_code(*strict))
        }
    }
}

fn options(args: &PricesArgs) -> CostOptions<'_> {
    CostOptions {
        module: &args.module,
        prices: &args.prices,
        dry_run: args.dry_run,
    }
}

fn item_line(item: &CostItem, printer: &mut Printer) -> anyhow::Result<()> {
    match item {
        CostItem::Done(cost) => line(cost, printer),
        CostItem::Refused { .. } if printer.is_json() => printer.document(item),
        CostItem::Refused {
            call,
            external_id,
            refused: Refused { code, detail },
        } => {
            let name = external_id.as_deref().unwrap_or("-");
            printer.line(format!("call {call} {name} refused ({code}): {detail}"))
        }
    }
}

fn line(cost: &Costed, printer: &mut Printer) -> anyhow::Result<()> {
    if printer.is_json() {
        return printer.document(cost);
    }
    let computed = &cost.computed;
    let why = computed.why.as_deref().map(|why| format!(" ({why})"));
    printer.line(format!(
        "attempt {} {:>20} {} {}{}",
        cost.attempt,
        number(computed.amount.as_deref(), computed.lower_bound.as_deref()),
        computed.currency,
        cost.external_id.as_deref().unwrap_or("-"),
        why.unwrap_or_default(),
    ))
}

/// Returns an amount, or what it is at least.
pub(super) fn number(amount: Option<&str>, lower_bound: Option<&str>) -> String {
    match (amount, lower_bound) {
        (Some(amount), _) => amount.to_owned(),
        (None, Some(least)) => format!("unknown, >= {least}"),
        (None, None) => "unknown".to_owned(),
    }
}

fn summary(summary: &CostSummary, printer: &mut Printer) -> anyhow::Result<()> {
    if printer.is_json() {
        return printer.document(&serde_json::json!({ "summary": summary }));
    }
    printer.line(format!(
        "{} calls: {} attempts priced now, {} before, {} calls refused; {}",
        summary.calls,
        summary.computed,
        summary.unchanged,
        summary.refused,
        appended(summary.appended, summary.would_append),
    ))?;
    summary.totals.iter().try_for_each(|total| {
        let Total {
            currency,
            amount,
            lower_bound,
            attempts,
            unknown,
        } = total;
        let amount = amount.as_ref().map(model::pricing::Decimal::as_str);
        let least = lower_bound.as_ref().map(model::pricing::Decimal::as_str);
        printer.line(format!(
            "total {} {currency} ({attempts} attempts, {unknown} unknown)",
            number(amount, least)
        ))
    })
}
