//! The recorded way from a text to an artifact.

use std::collections::{BTreeMap, VecDeque};

use model::Digest;
use model::acceptance::Derivation;
use model::event::Body;
use model::name::Actor;
use store::Reader;

use crate::error::AppError;

/// The most artifacts that are looked at on the way back from one.
const ARTIFACTS_MAX: usize = 4096;

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
    let reached = ways.reached_from(text);
    let own = ways.steps.iter().find(|step| {
        let begins = step.from_sha256 == text || reached.contains_key(&step.from_sha256);
        // A way ends at the artifact and does not come back to the text.
        let between = step.to_sha256 != text && step.from_sha256 != artifact;
        step.actor == *actor && begins && between
    });
    let Some(own) = own else {
        return Ok(ways.onward(text).unwrap_or_default());
    };
    let mut way = Vec::new();
    let mut place = own.from_sha256;
    while place != text {
        let Some(step) = reached.get(&place) else {
            return Ok(Vec::new());
        };
        place = step.from_sha256;
        way.push((*step).clone());
    }
    way.reverse();
    way.push(own.clone());
    way.extend(ways.onward(own.to_sha256).unwrap_or_default());
    Ok(way)
}

/// Every recorded step that leads to an artifact in the end.
struct Ways {
    artifact: Digest,
    steps: Vec<Derivation>,
    /// By what is left behind, the step that is nearest to the artifact.
    toward: BTreeMap<Digest, Derivation>,
}

impl Ways {
    /// Follows what is recorded back from an artifact.
    fn to(reader: Reader<'_>, artifact: Digest) -> Result<Self, AppError> {
        let mut ways = Self {
            artifact,
            steps: Vec::new(),
            toward: BTreeMap::new(),
        };
        let mut waiting = VecDeque::from([artifact]);
        while let Some(made) = waiting.pop_front() {
            for placed in reader.observing(made)? {
                let Body::ArtifactDerived(body) = placed.event.body else {
                    continue;
                };
                if body.to_sha256 != made {
                    continue;
                }
                let from = body.from_sha256;
                let step = Derivation {
                    from_sha256: from,
                    to_sha256: made,
                    actor: placed.event.actor,
                };
                let known = from == artifact || ways.toward.contains_key(&from);
                if !known && ways.toward.len() < ARTIFACTS_MAX {
                    ways.toward.insert(from, step.clone());
                    waiting.push_back(from);
                }
                ways.steps.push(step);
            }
        }
        Ok(ways)
    }

    /// Returns the shortest way on to the artifact.
    fn onward(&self, from: Digest) -> Option<Vec<Derivation>> {
        let mut way = Vec::new();
        let mut place = from;
        while place != self.artifact {
            let step = self.toward.get(&place)?;
            place = step.to_sha256;
            way.push(step.clone());
        }
        Some(way)
    }

    /// Returns what can be reached from a text, each with the step that first leads there.
    fn reached_from(&self, text: Digest) -> BTreeMap<Digest, &Derivation> {
        let mut reached: BTreeMap<Digest, &Derivation> = BTreeMap::new();
        let mut waiting = VecDeque::from([text]);
        while let Some(place) = waiting.pop_front() {
            for step in self.steps.iter().filter(|step| step.from_sha256 == place) {
                let made = step.to_sha256;
                if made != text && !reached.contains_key(&made) {
                    reached.insert(made, step);
                    waiting.push_back(made);
                }
            }
        }
        reached
    }
}
