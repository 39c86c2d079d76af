//! `reinterpret call`: every attempt read again, the call decided again.

use model::decision::CallStatus;
use model::event::{Body, Placed};
use model::projection::adopted::adopted;
use model::reading::GenerationState;
use model::{CallId, EventId};
use serde::Serialize;
use store::Writer;
use store::ledger::ScopeKey;

use super::ReinterpretOptions;
use super::plan::{Missing, Plan, Planner, adopted_state, adopted_status};
use crate::appending::LOCKED_ROUND;
use crate::context::{Session, Stamp};
use crate::error::AppError;
use crate::evidence::Evidence;
use crate::interpret::external_id;
use crate::projecting;

/// What a reinterpretation of a call came to.
#[derive(Debug, Clone, Serialize)]
pub struct CallReinterpretation {
    /// The call.
    pub call: CallId,
    /// The name that the source of an import gives.
    pub external_id: Option<String>,
    /// What became of the call.
    pub status: CallStatus,
    /// Why.
    pub reason: String,
    /// Which rules the status rests on.
    pub status_basis: String,
    /// The record that holds it; none in a dry run that would append it.
    pub record: Option<EventId>,
    /// The status before.
    pub prior_status: Option<CallStatus>,
    /// What became of the output, as the reading before says.
    pub prior_state: Option<GenerationState>,
    /// What became of the output, as the final reading says.
    pub generation_state: Option<GenerationState>,
    /// The readings it rests on.
    pub interpretations: Vec<EventId>,
    /// Always false: no provider was asked.
    pub provider_effect: bool,
    /// How many events were appended.
    pub appended: u64,
    /// How many a run without `--dry-run` would append.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would_append: Option<u64>,
}

impl CallReinterpretation {
    pub(super) fn of(call: CallId, events: &[Placed], plan: &Plan, dry_run: bool) -> Self {
        let common = |status, reason, status_basis| Self {
            call,
            external_id: external_id(events),
            status,
            reason,
            status_basis,
            record: None,
            prior_status: adopted_status(events),
            prior_state: adopted_state(events),
            generation_state: None,
            interpretations: Vec::new(),
            provider_effect: false,
            appended: 0,
            would_append: dry_run.then_some(0),
        };
        match plan {
            Plan::Adopted(current) => Self {
                record: Some(current.record),
                generation_state: adopted_state(events),
                interpretations: current.interpretations.clone(),
                ..common(
                    current.status,
                    current.reason.clone(),
                    current.status_basis(),
                )
            },
            Plan::Append(missing) => {
                let count = u64::try_from(missing.readings.len()).unwrap_or(0) + 1;
                let basis = record_basis(missing);
                let decision = &missing.decision;
                let shown = common(decision.status, decision.reason.clone(), basis);
                Self {
                    record: (!dry_run).then_some(missing.record.id),
                    generation_state: missing.states.last().copied(),
                    interpretations: match (&missing.record.body, dry_run) {
                        (Body::CallReinterpreted(body), false) => body.interpretations.clone(),
                        _ => Vec::new(),
                    },
                    appended: if dry_run { 0 } else { count },
                    would_append: dry_run.then_some(count),
                    ..shown
                }
            }
        }
    }
}

fn record_basis(missing: &Missing) -> String {
    let placed = Placed {
        seq: 0,
        event: missing.record.clone(),
    };
    adopted([placed].iter())
        .map(|adopted| adopted.status_basis())
        .unwrap_or_default()
}

impl Missing {
    /// Appends the unit after the events that are there: the missing readings, then
    /// the status.
    pub(super) fn append(
        &self,
        mut events: Vec<Placed>,
        writer: &mut Writer<'_>,
    ) -> Result<(), AppError> {
        for event in self.readings.iter().chain([&self.record]) {
            events.push(Placed {
                seq: writer.append(event)?,
                event: event.clone(),
            });
        }
        projecting::cache(writer, &events)
    }
}

impl Session {
    /// Reads every attempt of a call and decides it again; appends what is missing
    /// in one transaction, once per pair.
    pub fn reinterpret_call(
        &mut self,
        call: CallId,
        options: &ReinterpretOptions<'_>,
    ) -> Result<CallReinterpretation, AppError> {
        let allow_older = options.reason()?;
        let rules = self.load_rules(options.names)?;
        let evidence = Evidence::new(self.artifacts.clone(), self.ledger.reader())?;
        let planner = Planner {
            rules: &rules,
            evidence: &evidence,
            stamp: Stamp::new(&self.context, self.ledger_id),
            allow_older,
        };
        let scope = ScopeKey::Call(call);
        for round in 1.. {
            let mut events = events_of(call, self.ledger.reader())?;
            let mut plan = planner.plan(call, &events)?;
            if options.dry_run || matches!(plan, Plan::Adopted(_)) {
                return Ok(CallReinterpretation::of(
                    call,
                    &events,
                    &plan,
                    options.dry_run,
                ));
            }
            rules.interpreter.keep_config(&self.artifacts)?;
            rules.policy.keep_config(&self.artifacts)?;
            let mut writer = self.ledger.writer()?;
            if round >= LOCKED_ROUND {
                events = events_of(call, writer.reader())?;
                plan = planner.plan(call, &events)?;
            }
            let head = events.last().map_or(0, |placed| placed.seq);
            if writer.reader().head(scope)? != head {
                continue;
            }
            let done = CallReinterpretation::of(call, &events, &plan, false);
            if let Plan::Append(missing) = plan {
                missing.append(events, &mut writer)?;
                projecting::commit(writer)?;
            }
            return Ok(done);
        }
        Err(AppError::Damage(
            "the rounds of an append came to an end".to_owned(),
        ))
    }
}

fn events_of(call: CallId, reader: store::Reader<'_>) -> Result<Vec<Placed>, AppError> {
    let events = reader.of_call(call)?;
    if events.is_empty() {
        return Err(AppError::Unknown {
            what: "call",
            name: call.to_string(),
        });
    }
    Ok(events)
}
