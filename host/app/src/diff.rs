//! `diff`: how readings, statuses and next steps would change from one version of the
//! rules to another. It records nothing, and has a hash.

use std::collections::BTreeMap;
use std::path::Path;

use model::digest::Hasher;
use model::event::Placed;
use model::name::Mod;
use model::reading::GenerationState;
use model::{AttemptId, CallId, Digest, TaskId, canonical};
use serde::Serialize;

use crate::context::{Session, Stamp};
use crate::error::AppError;
use crate::evidence::Evidence;
use crate::interpret::Refused;
use crate::module::{RuleNames, Rules};
use crate::parallel;
use crate::progress::Progress;
use crate::reinterpret::{Filters, Planner};

mod cites;
mod compare;
mod effect;
mod pattern;

pub use cites::CitedBytes;
pub use compare::{AttemptDiff, FieldDiff};
pub use effect::{Effect, MovedRecord, NextStep};
pub use pattern::Change;

/// How many calls are compared between two looks at the ledger.
const PAGE: u32 = 512;

/// Attempts that a pattern names.
const NAMED_MAX: usize = 5;

/// One side of a comparison, as the caller names it.
#[derive(Debug, Clone, Copy)]
pub struct SideNames<'a> {
    /// The interpreter's label or hash.
    pub interpreter: &'a str,
    /// Its configuration.
    pub interpreter_config: Option<&'a Path>,
    /// The policy's label or hash; none means the home's default where it accepts the
    /// interpreter's words, else the last by label that does.
    pub policy: Option<&'a str>,
    /// Its configuration.
    pub policy_config: Option<&'a Path>,
}

/// The rules of one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Who reads.
    pub interpreter: Mod,
    /// With which configuration.
    pub interpreter_config_sha256: Option<Digest>,
    /// Who decides.
    pub policy: Mod,
    /// With which configuration.
    pub policy_config_sha256: Option<Digest>,
}

/// A value of each side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pair<T> {
    /// By the rules that are compared.
    pub from: T,
    /// By the rules that they are compared with.
    pub to: T,
}

/// The status that a side decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decided {
    /// What became of the call.
    pub status: model::decision::CallStatus,
    /// Why.
    pub reason: String,
}

/// A call of which something changes.
#[derive(Debug, Clone, Serialize)]
pub struct CallDiff {
    /// The call.
    pub call: CallId,
    /// The name that the source of an import gives.
    pub external_id: Option<String>,
    /// Its task.
    pub task: Option<TaskId>,
    /// The attempts whose readings differ.
    pub attempts: Vec<AttemptDiff>,
    /// What each side decides; null where a side refuses an attempt.
    pub status: Option<Pair<Decided>>,
    /// What adopting each side would come to; null where the status stays.
    pub effect: Option<Effect>,
}

/// An attempt that a side does not read.
#[derive(Debug, Clone, Serialize)]
pub struct AttemptRefused {
    /// The call.
    pub call: CallId,
    /// The name that the source of an import gives.
    pub external_id: Option<String>,
    /// The attempt; null where the call itself cannot be compared.
    pub attempt: Option<AttemptId>,
    /// Which side: `from` or `to`.
    pub side: &'static str,
    /// Why.
    pub refused: Refused,
}

/// One line of a comparison.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum DiffItem {
    /// Something changes.
    Changed(Box<CallDiff>),
    /// Something cannot be compared.
    Refused(Box<AttemptRefused>),
}

/// How many attempts go from one state to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StateCell {
    /// The state by the one side.
    pub from: GenerationState,
    /// The state by the other.
    pub to: GenerationState,
    /// How many attempts.
    pub attempts: u64,
}

/// How many calls go from one status to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatusCell {
    /// The status by the one side.
    pub from: model::decision::CallStatus,
    /// The status by the other.
    pub to: model::decision::CallStatus,
    /// How many calls.
    pub calls: u64,
}

/// A finished comparison.
#[derive(Debug, Clone, Serialize)]
pub struct DiffSummary {
    /// The rules that are compared.
    pub from: Side,
    /// The rules that they are compared with.
    pub to: Side,
    /// The filters that were given, by name.
    pub filters: BTreeMap<&'static str, String>,
    /// Calls that the filters let through.
    pub calls: u64,
    /// Calls of which something changes.
    pub changed_calls: u64,
    /// Attempts that both sides read.
    pub attempts: u64,
    /// Attempts whose readings differ.
    pub changed_attempts: u64,
    /// Refusals of attempts, of both sides.
    pub refused: u64,
    /// The same by code.
    pub refusals: BTreeMap<String, u64>,
    /// Attempts by the fields that differ.
    pub fields: BTreeMap<&'static str, u64>,
    /// States by both sides.
    pub matrix: Vec<StateCell>,
    /// Statuses by both sides.
    pub statuses: Vec<StatusCell>,
    /// The hash of all lines and of this summary without it.
    pub diff_sha256: Option<Digest>,
}

/// What a pattern found.
#[derive(Debug, Clone, Serialize)]
pub struct Found {
    /// The pattern.
    pub pattern: String,
    /// How many attempts it fits.
    pub attempts: u64,
    /// The first of them.
    pub first: Vec<AttemptId>,
}

/// Both sides, ready to run.
pub(crate) struct Comparison<'a> {
    pub(crate) from: Planner<'a>,
    pub(crate) to: Planner<'a>,
}

/// What came of one call.
pub(crate) struct Compared {
    pub(crate) refused: Vec<AttemptRefused>,
    pub(crate) states: Vec<(AttemptId, GenerationState, GenerationState)>,
    pub(crate) diff: Option<CallDiff>,
    pub(crate) status: Option<Pair<Decided>>,
}

impl Session {
    /// Compares two sides over every call that the filters let through. Each changed
    /// call and each refusal is reported, in the order of the ledger; the patterns are
    /// held against the states.
    pub fn diff(
        &mut self,
        sides: &Pair<SideNames<'_>>,
        (filters, patterns): (&Filters, &[Change]),
        progress: &mut dyn Progress,
        mut report: impl FnMut(DiffItem) -> Result<(), AppError>,
    ) -> Result<(DiffSummary, Vec<Found>), AppError> {
        if let Some(task) = filters.task {
            self.require_task(task)?;
        }
        let from = self.load_side(&sides.from)?;
        let to = self.load_side(&sides.to)?;
        let evidence = Evidence::new(self.artifacts.clone(), self.ledger.reader())?;
        let planner = |rules| Planner {
            rules,
            evidence: &evidence,
            stamp: Stamp::new(&self.context, self.ledger_id),
            // Nothing is recorded, so no step back needs a reason of anybody's.
            allow_older: Some("compared"),
        };
        let comparison = Comparison {
            from: planner(&from),
            to: planner(&to),
        };
        let mut tally = Tally::new(side(&from), side(&to), filters, patterns);
        let last = self.ledger.reader().last_seq()?;
        progress.begin("comparing", Some(self.count_calls()?));
        let mut seq = 0;
        loop {
            let page = self.ledger.reader().calls_after(seq, PAGE)?;
            let Some((end, _)) = page.last() else { break };
            seq = *end;
            let steps = u64::try_from(page.len()).unwrap_or(0);
            let mut work: Vec<(CallId, Vec<Placed>)> = Vec::new();
            for (_, call) in page {
                let events = self.ledger.reader().of_call(call)?;
                if filters.let_through(&events) {
                    work.push((call, events));
                }
            }
            let compare = |(call, events): &(CallId, Vec<Placed>)| comparison.call(*call, events);
            let compared = parallel::map(&work, compare, |error| error);
            for ((call, events), compared) in work.iter().zip(compared) {
                let mut compared = compared?;
                if let Some(diff) = &mut compared.diff {
                    diff.effect = self.effect(&comparison, (*call, events), diff, last)?;
                }
                tally.add(compared, &mut report)?;
            }
            progress.advance(steps);
        }
        progress.end();
        tally.finish()
    }

    fn load_side(&mut self, names: &SideNames<'_>) -> Result<Rules, AppError> {
        self.load_rules(RuleNames {
            interpreter: Some(names.interpreter),
            interpreter_config: names.interpreter_config,
            policy: names.policy,
            policy_config: names.policy_config,
        })
    }
}

fn side(rules: &Rules) -> Side {
    let pair = rules.pair();
    Side {
        interpreter: pair.interpreter,
        interpreter_config_sha256: pair.interpreter_config,
        policy: pair.policy,
        policy_config_sha256: pair.policy_config,
    }
}

type States = BTreeMap<(GenerationState, GenerationState), u64>;

/// Counts what came of the calls, and hashes what is reported.
struct Tally<'p> {
    summary: DiffSummary,
    states: States,
    statuses: BTreeMap<(model::decision::CallStatus, model::decision::CallStatus), u64>,
    found: Vec<(&'p Change, Found)>,
    hasher: Hasher,
}

impl<'p> Tally<'p> {
    fn new(from: Side, to: Side, filters: &Filters, patterns: &'p [Change]) -> Self {
        let found = |pattern: &'p Change| {
            let found = Found {
                pattern: pattern.to_string(),
                attempts: 0,
                first: Vec::new(),
            };
            (pattern, found)
        };
        Self {
            summary: DiffSummary {
                from,
                to,
                filters: filters.named(),
                calls: 0,
                changed_calls: 0,
                attempts: 0,
                changed_attempts: 0,
                refused: 0,
                refusals: BTreeMap::new(),
                fields: BTreeMap::new(),
                matrix: Vec::new(),
                statuses: Vec::new(),
                diff_sha256: None,
            },
            states: States::new(),
            statuses: BTreeMap::new(),
            found: patterns.iter().map(found).collect(),
            hasher: Hasher::default(),
        }
    }

    fn add(
        &mut self,
        compared: Compared,
        report: &mut impl FnMut(DiffItem) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        self.summary.calls += 1;
        for (attempt, from, to) in compared.states {
            self.summary.attempts += 1;
            *self.states.entry((from, to)).or_default() += 1;
            for (pattern, found) in &mut self.found {
                if pattern.fits(from, to) {
                    found.attempts += 1;
                    if found.first.len() < NAMED_MAX {
                        found.first.push(attempt);
                    }
                }
            }
        }
        if let Some(status) = compared.status {
            let cell = (status.from.status, status.to.status);
            *self.statuses.entry(cell).or_default() += 1;
        }
        for refused in compared.refused {
            self.summary.refused += 1;
            let code = refused.refused.code.clone();
            *self.summary.refusals.entry(code).or_default() += 1;
            self.report(DiffItem::Refused(Box::new(refused)), report)?;
        }
        if let Some(diff) = compared.diff {
            self.summary.changed_calls += 1;
            for attempt in &diff.attempts {
                self.summary.changed_attempts += 1;
                for field in &attempt.changed {
                    *self.summary.fields.entry(field.field).or_default() += 1;
                }
            }
            self.report(DiffItem::Changed(Box::new(diff)), report)?;
        }
        Ok(())
    }

    fn report(
        &mut self,
        item: DiffItem,
        report: &mut impl FnMut(DiffItem) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        self.hash(&item)?;
        report(item)
    }

    fn hash<T: Serialize>(&mut self, line: &T) -> Result<(), AppError> {
        let bytes = canonical::to_bytes(line)
            .map_err(|error| AppError::Damage(format!("a line of a diff: {error}")))?;
        self.hasher.update(&bytes);
        self.hasher.update(b"\n");
        Ok(())
    }

    fn finish(mut self) -> Result<(DiffSummary, Vec<Found>), AppError> {
        let states = std::mem::take(&mut self.states);
        self.summary.matrix = states
            .into_iter()
            .map(|((from, to), attempts)| StateCell { from, to, attempts })
            .collect();
        let statuses = std::mem::take(&mut self.statuses);
        self.summary.statuses = statuses
            .into_iter()
            .map(|((from, to), calls)| StatusCell { from, to, calls })
            .collect();
        let summary = self.summary.clone();
        self.hash(&summary)?;
        let found = self.found.into_iter().map(|(_, found)| found).collect();
        let summary = DiffSummary {
            diff_sha256: Some(self.hasher.finish()),
            ..summary
        };
        Ok((summary, found))
    }
}
