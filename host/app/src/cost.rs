//! `cost`: what responses cost, by a pricing module and a table of prices.
//!
//! A cost is a fact about a reading, a module and a table: it is recorded once, beside
//! those of other tables, and is never edited. The counts come from the reading; what
//! was said of them does not stand in its event, so the reading is made again from the
//! preserved bytes, and refused when they are gone. No provider is asked.

mod all;
mod appending;
mod plan;
mod sum;

use std::path::Path;

use model::event::call::CostComputed;
use model::event::{Body, Placed};
use model::name::Mod;
use model::projection::adopted::adopted;
use model::{AttemptId, CallId, Digest, EventId};
use serde::Serialize;

pub use all::{CostItem, CostSummary};
pub use sum::Total;

use crate::context::Session;
use crate::error::AppError;
use crate::evidence::Evidence;
use plan::Target;
pub(crate) use plan::{Interpreters, Planner};
use sum::Totals;

/// How to compute costs.
#[derive(Debug, Clone, Copy)]
pub struct CostOptions<'a> {
    /// The pricing module, by label or hash.
    pub module: &'a str,
    /// The price table; it is kept as an artifact.
    pub prices: &'a Path,
    /// Compute and show, append nothing.
    pub dry_run: bool,
}

/// A cost that is recorded now, or was before.
#[derive(Debug, Clone, Serialize)]
pub struct Costed {
    /// The name that the source of an import gives.
    pub external_id: Option<String>,
    /// The attempt.
    pub attempt: AttemptId,
    /// Its call.
    pub call: CallId,
    /// The cost's id; none in a dry run that would append it.
    pub cost: Option<EventId>,
    /// The reading whose counts are priced.
    pub interpretation: EventId,
    /// What was found.
    #[serde(flatten)]
    pub computed: CostComputed,
    /// How many events were appended.
    pub appended: u64,
    /// How many a run without `--dry-run` would append.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would_append: Option<u64>,
}

/// The costs of one call.
#[derive(Debug, Clone, Serialize)]
pub struct CallCosted {
    /// One for each attempt whose reading counts, in order.
    pub costs: Vec<Costed>,
    /// Their sum.
    pub summary: CostSummary,
}

/// A recorded cost of a reading that the adopted status of a call rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StandingCost {
    /// The cost's id.
    pub cost: EventId,
    /// The attempt.
    pub attempt: Option<AttemptId>,
    /// The reading.
    pub interpretation: EventId,
    /// The pricing module.
    pub module: Mod,
    /// The price table.
    pub config_sha256: Digest,
    /// A decimal number; null when it is not known.
    pub amount: Option<String>,
    /// The currency.
    pub currency: String,
    /// A decimal number that the cost is at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_bound: Option<String>,
}

impl Session {
    /// Prices the reading of one attempt that its call's adopted status rests on, or
    /// another reading of it, once for each module and table.
    pub fn cost_attempt(
        &mut self,
        attempt: AttemptId,
        reading: Option<EventId>,
        options: CostOptions<'_>,
    ) -> Result<Costed, AppError> {
        let events = self.events_of_attempt(attempt)?;
        let target = Target::of_attempt(&events, attempt, reading)?;
        let mut costs = self.cost(&events, &[target], options)?;
        costs.pop().ok_or(AppError::Unobserved(attempt))
    }

    /// Prices every reading that the adopted status of a call rests on. What cannot be
    /// read refuses them all.
    pub fn cost_call(
        &mut self,
        call: CallId,
        options: CostOptions<'_>,
    ) -> Result<CallCosted, AppError> {
        let events = self.ledger.reader().of_call(call)?;
        if events.is_empty() {
            return Err(AppError::Unknown {
                what: "call",
                name: call.to_string(),
            });
        }
        let targets = Target::adopted(&events, call)?;
        let costs = self.cost(&events, &targets, options)?;
        let mut summary = CostSummary::new(options.dry_run);
        let mut totals = Totals::default();
        summary.count_call(&costs, &mut totals)?;
        summary.totals = totals.finish();
        Ok(CallCosted { costs, summary })
    }

    fn cost(
        &mut self,
        events: &[Placed],
        targets: &[Target],
        options: CostOptions<'_>,
    ) -> Result<Vec<Costed>, AppError> {
        let pricing = self.load_pricing(options.module, options.prices)?;
        let mut interpreters = Interpreters::default();
        interpreters.load(self, events, targets, &pricing)?;
        let evidence = Evidence::new(self.artifacts.clone(), self.ledger.reader())?;
        let planner = Planner {
            pricing: &pricing,
            interpreters: &interpreters,
            evidence: &evidence,
        };
        let plans = vec![planner.plan(events, targets)?];
        let mut done = if options.dry_run {
            plan::shown(&plans)
        } else {
            self.append_costs(&pricing, plans)?
        };
        Ok(done.pop().unwrap_or_default())
    }

    /// Returns the recorded costs of the readings that count for a call, in order.
    pub fn standing_costs(&self, call: CallId) -> Result<Vec<StandingCost>, AppError> {
        let events = self.ledger.reader().of_call(call)?;
        let readings = adopted(events.iter()).map(|adopted| adopted.interpretations);
        let readings = readings.unwrap_or_default();
        let standing = events.iter().filter_map(|placed| {
            let Body::CostComputed(body) = &placed.event.body else {
                return None;
            };
            let interpretation = placed.event.cause?;
            readings.contains(&interpretation).then(|| StandingCost {
                cost: placed.event.id,
                attempt: placed.event.scope.attempt,
                interpretation,
                module: body.module.clone(),
                config_sha256: body.config_sha256,
                amount: body.amount.clone(),
                currency: body.currency.clone(),
                lower_bound: body.lower_bound.clone(),
            })
        });
        Ok(standing.collect())
    }
}
