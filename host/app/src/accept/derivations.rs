//! The recorded way from a text to an artifact.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use model::Digest;
use model::acceptance::Derivation;
use model::event::Body;
use model::name::Actor;
use store::Reader;

use crate::error::AppError;

/// The most recorded steps that may lead to one artifact.
const STEPS_MAX: usize = 8192;

/// How many turns are taken to find a way that comes to no artifact twice.
const LOOKED_MAX: u32 = 2_000;

/// Returns a recorded way from a text to an artifact, in order; empty where there is
/// none. Of several the shortest, and at each step what was recorded first; but one
/// on which an actor made a step goes before all others, since whoever made the bytes in
/// any recorded way made them.
pub(super) fn derivations(
    reader: Reader<'_>,
    (text, artifact): (Digest, Digest),
    actor: &Actor,
) -> Result<Vec<Derivation>, AppError> {
    let ways = Ways::to(reader, artifact)?;
    let mut looked = 0;
    for own in ways.steps.iter().filter(|step| step.actor == *actor) {
        if let Some(way) = ways.through(text, own, &mut looked) {
            return Ok(way);
        }
    }
    Ok(ways.onward(text, &BTreeSet::new()).unwrap_or_default())
}

/// Every recorded step that leads to an artifact in the end.
struct Ways {
    artifact: Digest,
    steps: Vec<Derivation>,
    /// By what was made, the places of its steps.
    into: BTreeMap<Digest, Vec<usize>>,
}

impl Ways {
    /// Follows what is recorded back from an artifact. Refuses when that is too much to
    /// look at: a part of it could hide who made the bytes.
    fn to(reader: Reader<'_>, artifact: Digest) -> Result<Self, AppError> {
        let mut steps = Vec::new();
        let mut into: BTreeMap<Digest, Vec<usize>> = BTreeMap::new();
        let mut known = BTreeSet::from([artifact]);
        let mut waiting = VecDeque::from([artifact]);
        while let Some(made) = waiting.pop_front() {
            for placed in reader.observing(made)? {
                let Body::ArtifactDerived(body) = placed.event.body else {
                    continue;
                };
                if body.to_sha256 != made {
                    continue;
                }
                if known.insert(body.from_sha256) {
                    waiting.push_back(body.from_sha256);
                }
                into.entry(made).or_default().push(steps.len());
                steps.push(Derivation {
                    from_sha256: body.from_sha256,
                    to_sha256: made,
                    actor: placed.event.actor,
                });
            }
            if steps.len() > STEPS_MAX {
                return Err(AppError::Forbidden(format!(
                    "{artifact} cannot be judged: expected at most {STEPS_MAX} recorded steps that \
                     lead to it, found more"
                )));
            }
        }
        Ok(Self {
            artifact,
            steps,
            into,
        })
    }

    /// Returns a way from a text by one step on to the artifact that comes to no artifact
    /// twice. When that cannot be told within a bound, a way that may do so is returned:
    /// whoever may have made the bytes is not the one to accept them.
    fn through(&self, text: Digest, own: &Derivation, looked: &mut u32) -> Option<Vec<Derivation>> {
        if own.to_sha256 == text || own.from_sha256 == self.artifact {
            return None;
        }
        let mut way = Vec::new();
        let mut passed = BTreeSet::from([text]);
        self.search((text, own), &mut way, &mut passed, looked)
            .then_some(way)
    }

    /// Goes on from a place to the step, by every way in turn, and from there on to the
    /// artifact.
    fn search(
        &self,
        (place, own): (Digest, &Derivation),
        way: &mut Vec<Derivation>,
        passed: &mut BTreeSet<Digest>,
        looked: &mut u32,
    ) -> bool {
        *looked += 1;
        let patient = *looked < LOOKED_MAX;
        if place == own.from_sha256 {
            let avoided = if patient {
                passed
            } else {
                &mut BTreeSet::new()
            };
            if avoided.contains(&own.to_sha256) {
                return false;
            }
            let Some(onward) = self.onward(own.to_sha256, avoided) else {
                return false;
            };
            way.push(own.clone());
            way.extend(onward);
            return true;
        }
        for step in self.steps.iter().filter(|step| step.from_sha256 == place) {
            let next = step.to_sha256;
            if next == self.artifact || !passed.insert(next) {
                continue;
            }
            way.push(step.clone());
            if self.search((next, own), way, passed, looked) {
                return true;
            }
            way.pop();
            if patient {
                passed.remove(&next);
            }
        }
        false
    }

    /// Returns the shortest way on to the artifact that comes to none of some artifacts.
    fn onward(&self, from: Digest, avoided: &BTreeSet<Digest>) -> Option<Vec<Derivation>> {
        let mut toward: BTreeMap<Digest, &Derivation> = BTreeMap::new();
        let mut waiting = VecDeque::from([self.artifact]);
        while let Some(place) = waiting.pop_front() {
            let before = self.into.get(&place).into_iter().flatten();
            for step in before.filter_map(|at| self.steps.get(*at)) {
                let before = step.from_sha256;
                let free = before != self.artifact && !avoided.contains(&before);
                if free && !toward.contains_key(&before) {
                    toward.insert(before, step);
                    waiting.push_back(before);
                }
            }
        }
        let mut way = Vec::new();
        let mut place = from;
        while place != self.artifact {
            let step = toward.get(&place)?;
            place = step.to_sha256;
            way.push((*step).clone());
        }
        Some(way)
    }
}
