//! What a reading costs, computed and not yet recorded.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use model::event::attempt::AttemptInterpreted;
use model::event::call::CostComputed;
use model::event::{Body, Placed, Scope};
use model::pricing::{Amount, Cost, PriceRequest};
use model::projection::adopted::adopted;
use model::{AttemptId, CallId, Digest, EventId, Timestamp};

use super::Costed;
use crate::context::Session;
use crate::error::AppError;
use crate::evidence::{Evidence, Observed, naming};
use crate::interpret::external_id;
use crate::module::{LoadedInterpreter, LoadedPricing};
use crate::readings::{same_result, task_of};

/// A reading to be priced.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) attempt: AttemptId,
    pub(super) reading: EventId,
}

impl Target {
    /// Returns the readings that the adopted status of a call rests on.
    pub(super) fn adopted(events: &[Placed], call: CallId) -> Result<Vec<Self>, AppError> {
        let adopted = adopted(events.iter()).ok_or(AppError::NotAdopted(call))?;
        let readings = adopted.interpretations.into_iter();
        readings
            .map(|reading| {
                let attempt = recorded(events, reading).and_then(|(attempt, _)| attempt);
                let attempt = attempt.ok_or_else(|| {
                    AppError::Damage(format!(
                        "call {call} rests on {reading}, which is no reading"
                    ))
                })?;
                Ok(Self { attempt, reading })
            })
            .collect()
    }

    /// Returns the reading of one attempt that its call rests on, or the named one.
    pub(super) fn of_attempt(
        events: &[Placed],
        attempt: AttemptId,
        reading: Option<EventId>,
    ) -> Result<Self, AppError> {
        let Some(reading) = reading else {
            let call = call_of(events).ok_or(AppError::Unobserved(attempt))?;
            let targets = Self::adopted(events, call)?;
            let target = targets.into_iter().find(|one| one.attempt == attempt);
            return target.ok_or(AppError::NotAdopted(call));
        };
        match recorded(events, reading) {
            Some((of, _)) if of == Some(attempt) => Ok(Self { attempt, reading }),
            Some(_) | None => Err(AppError::Unknown {
                what: "reading of this attempt",
                name: reading.to_string(),
            }),
        }
    }
}

/// Returns a recorded reading with its attempt.
fn recorded(events: &[Placed], id: EventId) -> Option<(Option<AttemptId>, &AttemptInterpreted)> {
    events.iter().find_map(|placed| {
        let Body::AttemptInterpreted(body) = &placed.event.body else {
            return None;
        };
        (placed.event.id == id).then_some((placed.event.scope.attempt, body.as_ref()))
    })
}

fn call_of(events: &[Placed]) -> Option<CallId> {
    events.iter().find_map(|placed| placed.event.scope.call)
}

/// Returns the recorded cost of a reading by this module and table.
pub(super) fn standing(
    events: &[Placed],
    reading: EventId,
    (module, table): (Digest, Digest),
) -> Option<(EventId, &CostComputed)> {
    events.iter().find_map(|placed| {
        let Body::CostComputed(body) = &placed.event.body else {
            return None;
        };
        let same = placed.event.cause == Some(reading)
            && body.module.sha256 == module
            && body.config_sha256 == table;
        same.then_some((placed.event.id, body))
    })
}

type Key = (Digest, Option<Digest>);

/// The interpreters that made the readings.
#[derive(Default)]
pub(crate) struct Interpreters(BTreeMap<Key, LoadedInterpreter>);

impl Interpreters {
    /// Makes those ready that are needed to make readings again.
    pub(super) fn load(
        &mut self,
        session: &mut Session,
        events: &[Placed],
        targets: &[Target],
        pricing: &LoadedPricing,
    ) -> Result<(), AppError> {
        let by = (pricing.module.sha256, pricing.table_sha256());
        for target in targets {
            if standing(events, target.reading, by).is_none() {
                self.load_one(session, events, target.reading)?;
            }
        }
        Ok(())
    }

    /// Makes the interpreter of one reading ready.
    pub(crate) fn load_one(
        &mut self,
        session: &mut Session,
        events: &[Placed],
        reading: EventId,
    ) -> Result<(), AppError> {
        let Some((_, body)) = recorded(events, reading) else {
            return Ok(());
        };
        let key = (body.module.sha256, body.config_sha256);
        if let Entry::Vacant(vacant) = self.0.entry(key) {
            vacant.insert(session.load_recorded_interpreter(&body.module, key.1)?);
        }
        Ok(())
    }
}

/// The costs of one call, recorded or not.
pub(super) struct CallPlan {
    pub(super) call: CallId,
    pub(super) scope: Scope,
    pub(super) external_id: Option<String>,
    pub(super) costs: Vec<Planned>,
}

/// One cost.
pub(super) struct Planned {
    pub(super) target: Target,
    /// The event that records it already.
    pub(super) standing: Option<EventId>,
    pub(super) computed: CostComputed,
}

/// What costs are computed with; it is shared by all threads of a bulk run.
pub(crate) struct Planner<'a> {
    pub(crate) pricing: &'a LoadedPricing,
    pub(crate) interpreters: &'a Interpreters,
    pub(crate) evidence: &'a Evidence,
}

impl Planner<'_> {
    /// Computes what is not recorded yet of some readings of a call.
    pub(super) fn plan(&self, events: &[Placed], targets: &[Target]) -> Result<CallPlan, AppError> {
        let call = call_of(events).ok_or(AppError::NoAttempts)?;
        let by = (self.pricing.module.sha256, self.pricing.table_sha256());
        let costs = targets.iter().map(|target| {
            if let Some((id, body)) = standing(events, target.reading, by) {
                return Ok(Planned {
                    target: *target,
                    standing: Some(id),
                    computed: body.clone(),
                });
            }
            Ok(Planned {
                target: *target,
                standing: None,
                computed: self.compute(events, target.reading)?,
            })
        });
        Ok(CallPlan {
            call,
            scope: Scope {
                task: task_of(events),
                call: Some(call),
                attempt: None,
            },
            external_id: external_id(events),
            costs: costs.collect::<Result<_, AppError>>()?,
        })
    }

    /// Makes a reading again from the preserved bytes, and prices it.
    pub(crate) fn compute(
        &self,
        events: &[Placed],
        reading: EventId,
    ) -> Result<CostComputed, AppError> {
        let damaged = |what: &str| AppError::Damage(format!("reading {reading} has no {what}"));
        let (_, body) = recorded(events, reading).ok_or_else(|| damaged("event"))?;
        let observation = body.inputs.observation;
        let placed = events.iter().find(|placed| placed.event.id == observation);
        let placed = placed.ok_or_else(|| damaged("observation"))?;
        let observed = Observed::of(placed).ok_or_else(|| damaged("observation"))?;
        let key = (body.module.sha256, body.config_sha256);
        let interpreter = self.interpreters.0.get(&key);
        let interpreter = interpreter.ok_or_else(|| damaged("interpreter that is ready"))?;
        let fresh = interpreter
            .read(self.evidence, observed)
            .map_err(|error| naming(error, reading))?;
        same_result(reading, body, &fresh, interpreter)?;
        let cost = self.pricing.price(&PriceRequest {
            usage: &fresh.reading.usage,
            model: fresh.reading.model.as_deref(),
            provider: observed.body.provider.as_deref(),
            dialect: &observed.body.dialect,
            time: response_time(events, placed, observed),
        })?;
        Ok(self.computed(cost))
    }

    fn computed(&self, cost: Cost) -> CostComputed {
        let (amount, lower_bound, why) = match cost.amount {
            Amount::Known(amount) => (Some(amount.to_string()), None, None),
            Amount::Unknown { lower_bound, why } => {
                let bound = lower_bound.map(|bound| bound.to_string());
                (None, bound, Some(why))
            }
        };
        CostComputed {
            module: self.pricing.module.clone(),
            config_sha256: self.pricing.table_sha256(),
            amount,
            currency: cost.currency,
            lower_bound,
            why,
        }
    }
}

/// Returns when a response came. Of an imported one the event says when it was
/// imported, so the `date` header counts, where it has one.
fn response_time(events: &[Placed], placed: &Placed, observed: Observed<'_>) -> Timestamp {
    let imported = events
        .iter()
        .any(|placed| matches!(placed.event.body, Body::CallImported(_)));
    let mut headers = observed.body.headers.iter();
    let date = headers.find(|(name, _)| name == "date");
    date.filter(|_| imported)
        .and_then(|(_, value)| Timestamp::of_http_date(value))
        .unwrap_or(placed.event.at)
}

impl CallPlan {
    /// Returns the cost as it is told, with its event if it has one.
    pub(super) fn told(&self, planned: &Planned, cost: Option<EventId>) -> Costed {
        Costed {
            external_id: self.external_id.clone(),
            attempt: planned.target.attempt,
            call: self.call,
            cost,
            interpretation: planned.target.reading,
            computed: planned.computed.clone(),
            appended: 0,
            would_append: None,
        }
    }
}

/// Returns the costs of each call as a dry run tells them.
pub(super) fn shown(plans: &[CallPlan]) -> Vec<Vec<Costed>> {
    let shown = plans.iter().map(|plan| {
        let costs = plan.costs.iter().map(|planned| Costed {
            would_append: Some(u64::from(planned.standing.is_none())),
            ..plan.told(planned, planned.standing)
        });
        costs.collect()
    });
    shown.collect()
}
