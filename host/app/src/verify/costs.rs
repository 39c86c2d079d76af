//! Recorded costs, computed again: a pricing module is a function of a reading and a
//! table, so the cost must be the one that is recorded.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use model::Digest;
use model::event::call::CostComputed;
use model::event::{Body, Kind};

use super::Findings;
use super::replay::Replayed;
use crate::context::Session;
use crate::cost::{Interpreters, Planner};
use crate::error::{AppError, Class};
use crate::evidence::Evidence;
use crate::module::LoadedPricing;
use crate::progress::Progress;

/// How many events are read at a time.
const PAGE: u32 = 1000;

/// What costs are computed again with.
#[derive(Default)]
struct Tools {
    interpreters: Interpreters,
    pricings: BTreeMap<(Digest, Digest), Option<LoadedPricing>>,
}

pub(super) fn walk(
    session: &mut Session,
    progress: &mut dyn Progress,
    findings: &mut Findings<'_>,
) -> Result<Replayed, AppError> {
    let mut replayed = Replayed::default();
    let reader = session.ledger.reader();
    if reader.count_of_kind(Kind::CostComputed)? == 0 {
        return Ok(replayed);
    }
    let evidence = Evidence::new(session.artifacts.clone(), reader)?;
    progress.begin("replaying costs", Some(reader.last_seq()?));
    let mut tools = Tools::default();
    let mut seq = 0;
    // Where an entry is damaged the walk over the readings has said so.
    while let Ok(page) = session.ledger.reader().after(seq, PAGE) {
        let Some(last) = page.last() else { break };
        let steps = last.seq - seq;
        seq = last.seq;
        for placed in &page {
            let Body::CostComputed(body) = &placed.event.body else {
                continue;
            };
            let object = format!("event {}", placed.seq);
            match again(session, &mut tools, &evidence, (body, &placed.event))? {
                Again::Same => replayed.run += 1,
                Again::NotComparable => replayed.not_comparable += 1,
                Again::Different(detail) => {
                    replayed.run += 1;
                    findings.add(object, "not_reproduced", detail)?;
                }
            }
        }
        progress.advance(steps);
    }
    progress.end();
    Ok(replayed)
}

enum Again {
    Same,
    Different(String),
    NotComparable,
}

fn again(
    session: &mut Session,
    tools: &mut Tools,
    evidence: &Evidence,
    (body, event): (&CostComputed, &model::Event),
) -> Result<Again, AppError> {
    match computed(session, tools, evidence, (body, event)) {
        Ok(None) => Ok(Again::NotComparable),
        Ok(Some(found)) if found == *body => Ok(Again::Same),
        Ok(Some(found)) => Ok(Again::Different(format!(
            "records {}, but {} now gives {}",
            told(body),
            body.module,
            told(&found)
        ))),
        Err(error) => match error.class() {
            Class::Module => Ok(Again::Different(error.to_string())),
            // Bytes, modules and readings are reported where they are damaged.
            Class::Refused | Class::Damage | Class::Usage => Ok(Again::NotComparable),
            Class::Unexpected | Class::Busy | Class::NotAccepted => Err(error),
        },
    }
}

/// Computes a cost again; none where what it names is not there.
fn computed(
    session: &mut Session,
    tools: &mut Tools,
    evidence: &Evidence,
    (body, event): (&CostComputed, &model::Event),
) -> Result<Option<CostComputed>, AppError> {
    let (Some(call), Some(reading)) = (event.scope.call, event.cause) else {
        return Ok(None);
    };
    let events = session.ledger.reader().of_call(call)?;
    tools.interpreters.load_one(session, &events, reading)?;
    let key = (body.module.sha256, body.config_sha256);
    let pricing = match tools.pricings.entry(key) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(new) => {
            let loaded = session.load_recorded_pricing(&body.module, body.config_sha256);
            new.insert(match loaded {
                Ok(loaded) => Some(loaded),
                Err(error) if error.class() == Class::Refused => None,
                Err(error) => return Err(error),
            })
        }
    };
    let Some(pricing) = pricing else {
        return Ok(None);
    };
    let planner = Planner {
        pricing,
        interpreters: &tools.interpreters,
        evidence,
    };
    planner.compute(&events, reading).map(Some)
}

/// Returns a cost in words.
fn told(cost: &CostComputed) -> String {
    let currency = &cost.currency;
    match (&cost.amount, &cost.lower_bound) {
        (Some(amount), _) => format!("{amount} {currency}"),
        (None, Some(least)) => format!("at least {least} {currency}"),
        (None, None) => format!("an unknown amount of {currency}"),
    }
}
