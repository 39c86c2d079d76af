//! `reinterpret all`: the corrected rule, applied to everything.

use std::collections::BTreeMap;

use model::decision::CallStatus;
use model::event::{Body, Placed};
use model::reading::GenerationState;
use model::{CallId, TaskId};
use serde::Serialize;
use store::ledger::ScopeKey;
use store::{Ledger, Reader};

use super::ReinterpretOptions;
use super::call::CallReinterpretation;
use super::plan::{Plan, Planner, adopted_status};
use crate::context::{Session, Stamp};
use crate::error::AppError;
use crate::evidence::Evidence;
use crate::interpret::{Refused, external_id, refused};
use crate::parallel;
use crate::progress::Progress;
use crate::projecting;

/// How many calls are computed between two transactions: enough to make the cost
/// of one fsync small, few enough to keep memory flat.
const PAGE: u32 = 512;

/// Which calls to reinterpret; every filter that is given must fit.
#[derive(Debug, Clone, Default)]
pub struct Filters {
    /// Of this dialect.
    pub dialect: Option<String>,
    /// Of this provider.
    pub provider: Option<String>,
    /// Of this task.
    pub task: Option<TaskId>,
    /// Whose adopted status is this.
    pub status: Option<CallStatus>,
    /// Under this name.
    pub external_id: Option<String>,
}

/// How many calls moved from one state to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MatrixCell {
    /// The state before; null where no status was adopted.
    pub from: Option<GenerationState>,
    /// The state now.
    pub to: Option<GenerationState>,
    /// How many calls.
    pub calls: u64,
}

/// A finished bulk run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ReinterpretSummary {
    /// Calls that the filters let through.
    pub calls: u64,
    /// Calls whose status is newly adopted.
    pub reinterpreted: u64,
    /// Calls that already rested on this pair.
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
    /// States before and now.
    pub matrix: Vec<MatrixCell>,
}

/// One call of a bulk run.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum BulkItem {
    /// It was reinterpreted, or already rested on the pair.
    Done(Box<CallReinterpretation>),
    /// It was refused.
    Refused {
        /// The call.
        call: CallId,
        /// The name that the source of an import gives.
        external_id: Option<String>,
        /// Why.
        refused: Refused,
    },
}

type Matrix = BTreeMap<(Option<GenerationState>, Option<GenerationState>), u64>;

impl Session {
    /// Reinterprets every call that the filters let through. What cannot be read
    /// is reported and counted; the run goes on.
    pub fn reinterpret_all(
        &mut self,
        filters: &Filters,
        options: &ReinterpretOptions<'_>,
        progress: &mut dyn Progress,
        mut report: impl FnMut(BulkItem) -> Result<(), AppError>,
    ) -> Result<ReinterpretSummary, AppError> {
        let allow_older = options.reason()?;
        if let Some(task) = filters.task {
            self.require_task(task)?;
        }
        let rules = self.load_rules(options.names)?;
        if !options.dry_run {
            rules.interpreter.keep_config(&self.artifacts)?;
            rules.policy.keep_config(&self.artifacts)?;
        }
        let evidence = Evidence::new(self.artifacts.clone(), self.ledger.reader())?;
        progress.begin("reinterpreting", Some(self.count_calls()?));
        let planner = Planner {
            rules: &rules,
            evidence: &evidence,
            stamp: Stamp::new(&self.context, self.ledger_id),
            allow_older,
        };
        let mut tally = Tally::new(options.dry_run);
        let mut seq = 0;
        let mut planned: Option<Page> = None;
        loop {
            let next = Page::after(&mut seq, filters, self.ledger.reader())?;
            let Some(mut next) = next else { break };
            // While the workers compute this page, the one before it is appended.
            let ledger = &mut self.ledger;
            let finish = || match planned.take() {
                Some(page) => page.finish(ledger, &planner, options.dry_run).map(Some),
                None => Ok(None),
            };
            // Reading bytes, hashing and running modules need no lock.
            let plan = |(call, events): &(CallId, Vec<Placed>)| planner.plan(*call, events);
            let (plans, finished) = parallel::map_and(&next.work, plan, |error| error, finish);
            next.plans = plans;
            planned = Some(next);
            if let Some(finished) = finished? {
                tally.add(finished, progress, &mut report)?;
            }
        }
        if let Some(page) = planned {
            let finished = page.finish(&mut self.ledger, &planner, options.dry_run)?;
            tally.add(finished, progress, &mut report)?;
        }
        progress.end();
        Ok(tally.finish())
    }
}

type Work = Vec<(CallId, Vec<Placed>)>;
type Planned = Result<Plan, AppError>;

/// Some calls with their events, and what they come to.
struct Page {
    work: Work,
    plans: Vec<Planned>,
    /// How many calls were looked at, filtered or not.
    steps: u64,
}

/// What became of a page.
struct Finished {
    items: Vec<BulkItem>,
    steps: u64,
}

impl Page {
    /// Reads the calls after a place and moves it.
    fn after(
        seq: &mut u64,
        filters: &Filters,
        reader: Reader<'_>,
    ) -> Result<Option<Self>, AppError> {
        let page = reader.calls_after(*seq, PAGE)?;
        let Some((last, _)) = page.last() else {
            return Ok(None);
        };
        *seq = *last;
        let steps = u64::try_from(page.len()).unwrap_or(0);
        let mut work = Vec::new();
        for (_, call) in page {
            let events = reader.of_call(call)?;
            if filters.let_through(&events) {
                work.push((call, events));
            }
        }
        Ok(Some(Self {
            work,
            plans: Vec::new(),
            steps,
        }))
    }

    fn finish(
        self,
        ledger: &mut Ledger,
        planner: &Planner<'_>,
        dry_run: bool,
    ) -> Result<Finished, AppError> {
        let items = if dry_run {
            items(&self.work, self.plans, true)?
        } else {
            append_all(ledger, planner, self.work, self.plans)?
        };
        Ok(Finished {
            items,
            steps: self.steps,
        })
    }
}

/// Counts what became of the calls.
struct Tally {
    summary: ReinterpretSummary,
    matrix: Matrix,
}

impl Tally {
    fn new(dry_run: bool) -> Self {
        let summary = ReinterpretSummary {
            would_append: dry_run.then_some(0),
            ..ReinterpretSummary::default()
        };
        Self {
            summary,
            matrix: Matrix::new(),
        }
    }

    fn add(
        &mut self,
        finished: Finished,
        progress: &mut dyn Progress,
        report: &mut impl FnMut(BulkItem) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        for item in finished.items {
            self.summary.count(&item, &mut self.matrix);
            report(item)?;
        }
        progress.advance(finished.steps);
        Ok(())
    }

    fn finish(self) -> ReinterpretSummary {
        let cell = |((from, to), calls)| MatrixCell { from, to, calls };
        ReinterpretSummary {
            matrix: self.matrix.into_iter().map(cell).collect(),
            ..self.summary
        }
    }
}

fn items(work: &Work, plans: Vec<Planned>, dry_run: bool) -> Result<Vec<BulkItem>, AppError> {
    work.iter()
        .zip(plans)
        .map(|((call, events), plan)| item(*call, events, plan, dry_run))
        .collect()
}

/// Appends the units of a page in one transaction. A call whose history moved
/// since it was read is computed again, now that the lock is held.
fn append_all(
    ledger: &mut Ledger,
    planner: &Planner<'_>,
    work: Work,
    plans: Vec<Planned>,
) -> Result<Vec<BulkItem>, AppError> {
    let nothing_to_append = !plans.iter().any(|plan| matches!(plan, Ok(Plan::Append(_))));
    if nothing_to_append {
        return items(&work, plans, false);
    }
    let mut writer = ledger.writer()?;
    let mut items = Vec::new();
    for ((call, mut events), mut plan) in work.into_iter().zip(plans) {
        let head = events.last().map_or(0, |placed| placed.seq);
        if writer.reader().head(ScopeKey::Call(call))? != head {
            events = writer.reader().of_call(call)?;
            plan = planner.plan(call, &events);
        }
        match plan {
            Ok(plan @ Plan::Append(_)) => {
                let done = CallReinterpretation::of(call, &events, &plan, false);
                if let Plan::Append(missing) = plan {
                    missing.append(events, &mut writer)?;
                }
                items.push(BulkItem::Done(Box::new(done)));
            }
            other => items.push(item(call, &events, other, false)?),
        }
    }
    projecting::commit(writer)?;
    Ok(items)
}

fn item(call: CallId, events: &[Placed], plan: Planned, dry: bool) -> Result<BulkItem, AppError> {
    match plan {
        Ok(plan) => Ok(BulkItem::Done(Box::new(CallReinterpretation::of(
            call, events, &plan, dry,
        )))),
        Err(error) => Ok(BulkItem::Refused {
            call,
            external_id: external_id(events),
            refused: refused(error)?,
        }),
    }
}

impl Filters {
    /// Returns the filters that are given, by name.
    pub(crate) fn named(&self) -> BTreeMap<&'static str, String> {
        let given = [
            ("dialect", self.dialect.clone()),
            ("provider", self.provider.clone()),
            ("task", self.task.map(|task| task.to_string())),
            (
                "status",
                self.status.map(|status| status.as_str().to_owned()),
            ),
            ("external_id", self.external_id.clone()),
        ];
        let given = given.into_iter();
        given
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }

    pub(crate) fn let_through(&self, events: &[Placed]) -> bool {
        let wanted = |filter: &Option<String>, found: Option<&str>| {
            filter.as_deref().is_none_or(|filter| found == Some(filter))
        };
        let opening = events.iter().find_map(|placed| {
            if let Body::CallImported(body) = &placed.event.body {
                let external_id = body.external_id.as_deref();
                Some((body.dialect.as_str(), body.provider.as_deref(), external_id))
            } else if let Body::CallRequested(body) = &placed.event.body {
                Some((body.dialect.as_str(), Some(body.provider.as_str()), None))
            } else {
                None
            }
        });
        let Some((dialect, provider, external_id)) = opening else {
            return false;
        };
        let task = events.iter().find_map(|placed| placed.event.scope.task);
        wanted(&self.dialect, Some(dialect))
            && wanted(&self.provider, provider)
            && wanted(&self.external_id, external_id)
            && self.task.is_none_or(|wanted| task == Some(wanted))
            && self
                .status
                .is_none_or(|wanted| adopted_status(events) == Some(wanted))
    }
}

impl ReinterpretSummary {
    fn count(&mut self, item: &BulkItem, matrix: &mut Matrix) {
        self.calls += 1;
        match item {
            BulkItem::Done(done) => {
                let would = done.would_append.unwrap_or(0);
                if done.appended + would == 0 {
                    self.unchanged += 1;
                } else {
                    self.reinterpreted += 1;
                }
                self.appended += done.appended;
                if let Some(total) = &mut self.would_append {
                    *total += would;
                }
                *matrix
                    .entry((done.prior_state, done.generation_state))
                    .or_default() += 1;
            }
            BulkItem::Refused { refused, .. } => {
                self.refused += 1;
                *self.refusals.entry(refused.code.clone()).or_default() += 1;
            }
        }
    }
}
