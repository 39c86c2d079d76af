//! Recording costs: the table first, then every cost that does not stand yet.

use model::EventId;
use model::event::{Body, Placed, Scope};
use store::ledger::ScopeKey;

use super::Costed;
use super::plan::{CallPlan, Planned, standing};
use crate::context::{Session, Stamp};
use crate::error::AppError;
use crate::fault::{self, Edge, Step};
use crate::module::LoadedPricing;
use crate::projecting;

impl Session {
    /// Makes the table durable, then appends what is missing of some calls in one
    /// transaction. A cost depends on nothing that may have moved meanwhile; whether
    /// it stands is looked for again while the write lock is held.
    pub(super) fn append_costs(
        &mut self,
        pricing: &LoadedPricing,
        plans: Vec<CallPlan>,
    ) -> Result<Vec<Vec<Costed>>, AppError> {
        let is_missing = |planned: &Planned| planned.standing.is_none();
        if !plans.iter().any(|plan| plan.costs.iter().any(is_missing)) {
            let told = |plan: &CallPlan| {
                let costs = plan.costs.iter();
                costs.map(|one| plan.told(one, one.standing)).collect()
            };
            return Ok(plans.iter().map(told).collect());
        }
        let faults = self.context.faults.as_ref();
        fault::around(faults, Step::ConfigArtifacts, || {
            pricing.keep_table(&self.artifacts)
        })?;
        let stamp = Stamp::new(&self.context, self.ledger_id);
        fault::reach(faults, Edge::Before, Step::CostComputed)?;
        let mut writer = self.ledger.writer()?;
        let mut done = Vec::with_capacity(plans.len());
        for plan in plans {
            let events = writer.reader().of_scope(ScopeKey::Call(plan.call))?;
            let mut moving = Moving {
                events,
                appended: 0,
            };
            let mut costs = Vec::with_capacity(plan.costs.len());
            for planned in &plan.costs {
                let before = moving.appended;
                let id = moving.record(&plan, planned, &stamp, &mut writer)?;
                let appended = moving.appended - before;
                costs.push(Costed {
                    appended,
                    ..plan.told(planned, Some(id))
                });
            }
            if moving.appended > 0 {
                projecting::cache(&writer, &moving.events)?;
            }
            done.push(costs);
        }
        projecting::commit(writer)?;
        fault::reach(faults, Edge::After, Step::CostComputed)?;
        Ok(done)
    }
}

/// The events of a call while more are appended.
struct Moving {
    events: Vec<Placed>,
    appended: u64,
}

impl Moving {
    fn record(
        &mut self,
        plan: &CallPlan,
        planned: &Planned,
        stamp: &Stamp<'_>,
        writer: &mut store::Writer<'_>,
    ) -> Result<EventId, AppError> {
        let computed = &planned.computed;
        let by = (computed.module.sha256, computed.config_sha256);
        if let Some((id, _)) = standing(&self.events, planned.target.reading, by) {
            return Ok(id);
        }
        let scope = Scope {
            attempt: Some(planned.target.attempt),
            ..plan.scope
        };
        let body = Body::CostComputed(computed.clone());
        let event = stamp.event(Some(planned.target.reading), scope, body)?;
        let id = event.id;
        let seq = writer.append(&event)?;
        self.events.push(Placed { seq, event });
        self.appended += 1;
        Ok(id)
    }
}
