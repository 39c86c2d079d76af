//! Recorded readings, run again: a module is a function, so the result must be
//! the one that is recorded.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use model::Digest;
use model::event::Body;
use model::event::attempt::AttemptInterpreted;
use runtime::profile;

use super::Findings;
use crate::context::Session;
use crate::error::{AppError, Class};
use crate::evidence::{Evidence, Observed};
use crate::interpret::FreshReading;
use crate::module::LoadedInterpreter;
use crate::progress::Progress;

/// How many events are read at a time.
const PAGE: u32 = 1000;

/// What was run again.
#[derive(Debug, Default)]
pub(super) struct Replayed {
    pub(super) run: u64,
    pub(super) not_comparable: u64,
}

type Key = (Digest, Option<Digest>);

pub(super) fn walk(
    session: &mut Session,
    progress: &mut dyn Progress,
    findings: &mut Findings<'_>,
) -> Result<Replayed, AppError> {
    let evidence = Evidence::new(session.artifacts.clone(), session.ledger.reader())?;
    let mut loaded: BTreeMap<Key, Option<LoadedInterpreter>> = BTreeMap::new();
    let mut replayed = Replayed::default();
    progress.begin(
        "replaying readings",
        Some(session.ledger.reader().last_seq()?),
    );
    let mut seq = 0;
    loop {
        let page = match session.ledger.reader().after(seq, PAGE) {
            Ok(page) => page,
            // Damaged entries are reported by the walk over the events; what is
            // behind them cannot be replayed one by one.
            Err(error) => {
                findings.add("replay", "stopped", error.to_string())?;
                break;
            }
        };
        let Some(last) = page.last() else { break };
        let steps = last.seq - seq;
        seq = last.seq;
        for placed in &page {
            let Body::AttemptInterpreted(body) = &placed.event.body else {
                continue;
            };
            let key = (body.module.sha256, body.config_sha256);
            let interpreter = match loaded.entry(key) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(load(session, body, findings)?),
            };
            let observation = match session.ledger.reader().by_id(body.inputs.observation) {
                Ok(observation) => observation,
                Err(error) => match AppError::from(error) {
                    // It is reported by the walk over the events.
                    error if error.class() == Class::Damage => None,
                    error => return Err(error),
                },
            };
            let observed = observation.as_ref().and_then(Observed::of);
            let (Some(interpreter), Some(observed)) = (interpreter, observed) else {
                replayed.not_comparable += 1;
                continue;
            };
            let fresh = interpreter.read(&evidence, observed);
            match compare(body, fresh)? {
                Outcome::Same => replayed.run += 1,
                Outcome::NotComparable => replayed.not_comparable += 1,
                Outcome::Different(detail) => {
                    replayed.run += 1;
                    findings.add(format!("event {}", placed.seq), "not_reproduced", detail)?;
                }
            }
        }
        progress.advance(steps);
    }
    progress.end();
    Ok(replayed)
}

enum Outcome {
    Same,
    Different(String),
    NotComparable,
}

fn load(
    session: &mut Session,
    body: &AttemptInterpreted,
    findings: &mut Findings<'_>,
) -> Result<Option<LoadedInterpreter>, AppError> {
    match session.load_recorded_interpreter(&body.module, body.config_sha256) {
        Ok(interpreter) => Ok(Some(interpreter)),
        Err(error) if [Class::Refused, Class::Module, Class::Usage].contains(&error.class()) => {
            findings.add(
                format!("module {}", body.module),
                "module",
                error.to_string(),
            )?;
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn compare(
    body: &AttemptInterpreted,
    fresh: Result<FreshReading, AppError>,
) -> Result<Outcome, AppError> {
    match fresh {
        Ok(fresh) if fresh.result_sha256 == body.result_sha256 => Ok(Outcome::Same),
        Ok(fresh) => Ok(Outcome::Different(format!(
            "records result {}, but {} now gives {}",
            body.result_sha256, body.module, fresh.result_sha256
        ))),
        // Missing bytes are reported with the artifacts; a limit that is passed
        // under another profile says nothing about this one.
        Err(AppError::Observation(_)) => Ok(Outcome::NotComparable),
        Err(AppError::Module(_)) if body.engine_profile != profile::NAME => {
            Ok(Outcome::NotComparable)
        }
        Err(AppError::Module(error)) => Ok(Outcome::Different(error.to_string())),
        Err(error) => Err(error),
    }
}
