//! `cost all`: what everything cost.

use std::collections::BTreeMap;

use model::CallId;
use model::event::Placed;
use serde::Serialize;
use store::Reader;

use super::plan::{CallPlan, Interpreters, Planner, Target, shown};
use super::sum::{Total, Totals};
use super::{CostOptions, Costed};
use crate::context::Session;
use crate::error::AppError;
use crate::evidence::Evidence;
use crate::interpret::{Refused, external_id, refused};
use crate::module::LoadedPricing;
use crate::parallel;
use crate::progress::Progress;
use crate::reinterpret::Filters;

/// How many calls are priced between two transactions: enough to make the cost of one
/// fsync small, few enough to keep memory flat.
const PAGE: u32 = 512;

/// One attempt of a bulk run, or a call that was refused.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum CostItem {
    /// It is priced, now or before.
    Done(Box<Costed>),
    /// No attempt of the call is priced.
    Refused {
        /// The call.
        call: CallId,
        /// The name that the source of an import gives.
        external_id: Option<String>,
        /// Why.
        refused: Refused,
    },
}

/// A finished run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CostSummary {
    /// Calls that were looked at.
    pub calls: u64,
    /// Attempts that are priced.
    pub attempts: u64,
    /// Attempts whose cost is recorded now, or would be.
    pub computed: u64,
    /// Attempts whose cost was recorded before.
    pub unchanged: u64,
    /// Calls that were refused.
    pub refused: u64,
    /// How many events were appended.
    pub appended: u64,
    /// How many a run without `--dry-run` would append.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would_append: Option<u64>,
    /// Refusals by code.
    pub refusals: BTreeMap<String, u64>,
    /// Sums by currency.
    pub totals: Vec<Total>,
}

impl CostSummary {
    pub(super) fn new(dry_run: bool) -> Self {
        Self {
            would_append: dry_run.then_some(0),
            ..Self::default()
        }
    }

    /// Counts the costs of one call.
    pub(super) fn count_call(
        &mut self,
        costs: &[Costed],
        totals: &mut Totals,
    ) -> Result<(), AppError> {
        self.calls += 1;
        for cost in costs {
            let would = cost.would_append.unwrap_or(0);
            self.attempts += 1;
            if cost.appended + would == 0 {
                self.unchanged += 1;
            } else {
                self.computed += 1;
            }
            self.appended += cost.appended;
            if let Some(total) = &mut self.would_append {
                *total += would;
            }
            totals.add(&cost.computed)?;
        }
        Ok(())
    }

    fn count_refusal(&mut self, refused: &Refused, totals: &mut Totals) {
        self.calls += 1;
        self.refused += 1;
        *self.refusals.entry(refused.code.clone()).or_default() += 1;
        totals.refuse();
    }
}

/// A call, what is to be priced of it, and its events.
struct Work {
    call: CallId,
    events: Vec<Placed>,
    targets: Result<Vec<Target>, Refused>,
}

impl Session {
    /// Prices every reading that counts, of the calls that the filters let through.
    /// What cannot be priced is reported and counted; the run goes on.
    pub fn cost_all(
        &mut self,
        filters: &Filters,
        options: CostOptions<'_>,
        progress: &mut dyn Progress,
        mut report: impl FnMut(CostItem) -> Result<(), AppError>,
    ) -> Result<CostSummary, AppError> {
        if let Some(task) = filters.task {
            self.require_task(task)?;
        }
        let pricing = self.load_pricing(options.module, options.prices)?;
        let evidence = Evidence::new(self.artifacts.clone(), self.ledger.reader())?;
        let mut interpreters = Interpreters::default();
        let mut summary = CostSummary::new(options.dry_run);
        let mut totals = Totals::default();
        progress.begin("pricing", Some(self.count_calls()?));
        let mut seq = 0;
        loop {
            let reader = self.ledger.reader();
            let page = reader.calls_after(seq, PAGE)?;
            let Some((last, _)) = page.last() else { break };
            seq = *last;
            let steps = u64::try_from(page.len()).unwrap_or(0);
            let mut work = chosen(&page, filters, reader)?;
            for one in &mut work {
                self.ready_to_price(one, &mut interpreters, &pricing)?;
            }
            let planner = Planner {
                pricing: &pricing,
                interpreters: &interpreters,
                evidence: &evidence,
            };
            let plans = plan_all(&planner, &work);
            for item in self.settle_costs(&pricing, (work, plans), options.dry_run)? {
                match &item {
                    Settled::Done(costs) => summary.count_call(costs, &mut totals)?,
                    Settled::Refused { refused, .. } => summary.count_refusal(refused, &mut totals),
                }
                item.report(&mut report)?;
            }
            progress.advance(steps);
        }
        progress.end();
        summary.totals = totals.finish();
        Ok(summary)
    }

    /// Makes the interpreters of a call's readings ready.
    fn ready_to_price(
        &mut self,
        work: &mut Work,
        interpreters: &mut Interpreters,
        pricing: &LoadedPricing,
    ) -> Result<(), AppError> {
        let Ok(targets) = &work.targets else {
            return Ok(());
        };
        if let Err(error) = interpreters.load(self, &work.events, targets, pricing) {
            work.targets = Err(refused(error)?);
        }
        Ok(())
    }

    /// Records what was planned, and returns what became of each call, in order.
    fn settle_costs(
        &mut self,
        pricing: &LoadedPricing,
        (work, plans): (Vec<Work>, Vec<Planned>),
        dry_run: bool,
    ) -> Result<Vec<Settled>, AppError> {
        let mut settled = Vec::with_capacity(work.len());
        let mut kept = Vec::new();
        for (one, plan) in work.into_iter().zip(plans) {
            let why = match plan {
                Ok(plan) => {
                    kept.push(plan);
                    settled.push(Settled::Done(Vec::new()));
                    continue;
                }
                Err(Stopped::Refused(why)) => why,
                Err(Stopped::Failed(error)) => refused(error)?,
            };
            settled.push(Settled::Refused {
                call: one.call,
                external_id: external_id(&one.events),
                refused: why,
            });
        }
        let done = if dry_run {
            shown(&kept)
        } else {
            self.append_costs(pricing, kept)?
        };
        let mut done = done.into_iter();
        for one in &mut settled {
            if let Settled::Done(costs) = one {
                *costs = done.next().unwrap_or_default();
            }
        }
        Ok(settled)
    }
}

/// Why a call is not planned.
enum Stopped {
    Refused(Refused),
    Failed(AppError),
}

type Planned = Result<CallPlan, Stopped>;

/// What became of a call.
enum Settled {
    Done(Vec<Costed>),
    Refused {
        call: CallId,
        external_id: Option<String>,
        refused: Refused,
    },
}

impl Settled {
    fn report(
        self,
        report: &mut impl FnMut(CostItem) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        match self {
            Self::Done(costs) => {
                let mut costs = costs.into_iter();
                costs.try_for_each(|cost| report(CostItem::Done(Box::new(cost))))
            }
            Self::Refused {
                call,
                external_id,
                refused,
            } => report(CostItem::Refused {
                call,
                external_id,
                refused,
            }),
        }
    }
}

/// Reads the calls of a page that the filters let through.
fn chosen(
    page: &[(u64, CallId)],
    filters: &Filters,
    reader: Reader<'_>,
) -> Result<Vec<Work>, AppError> {
    let mut work = Vec::new();
    for (_, call) in page {
        let events = reader.of_call(*call)?;
        if !filters.let_through(&events) {
            continue;
        }
        let targets = match Target::adopted(&events, *call) {
            Ok(targets) => Ok(targets),
            Err(error) => Err(refused(error)?),
        };
        work.push(Work {
            call: *call,
            events,
            targets,
        });
    }
    Ok(work)
}

/// Computes the costs of a page on every core: reading bytes, hashing and running
/// modules need no lock.
fn plan_all(planner: &Planner<'_>, work: &[Work]) -> Vec<Planned> {
    let plan = |one: &Work| match &one.targets {
        Ok(targets) => planner.plan(&one.events, targets).map_err(Stopped::Failed),
        Err(refused) => Err(Stopped::Refused(refused.clone())),
    };
    parallel::map(work, plan, Stopped::Failed)
}
