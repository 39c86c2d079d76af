//! Two readings of the same bytes, field by field.

use model::decision::{AttemptDecision, AttemptFacts, Occasion};
use model::event::Placed;
use model::reading::{Reading, TextRef};
use model::{AttemptId, CallId, Digest, canonical};
use serde::Serialize;
use serde_json::{Value, json};

use super::cites::{self, CitedBytes};
use super::{AttemptRefused, CallDiff, Compared, Comparison, Decided, Pair};
use crate::error::AppError;
use crate::evidence::{Observed, ObservedBytes};
use crate::interpret::{external_id, refused, response_sha256};
use crate::readings::{attempt_facts, max_attempts, recorded_latency, task_of};
use crate::reinterpret::Planner;

/// A field of a reading that differs. Text is given by its hash and its length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldDiff {
    /// The field.
    pub field: &'static str,
    /// What the one side says.
    pub from: Value,
    /// What the other side says.
    pub to: Value,
}

/// An attempt whose readings differ.
#[derive(Debug, Clone, Serialize)]
pub struct AttemptDiff {
    /// The attempt.
    pub attempt: AttemptId,
    /// The response's bytes; null where there were none.
    pub body_sha256: Option<Digest>,
    /// The fields that differ.
    pub changed: Vec<FieldDiff>,
    /// The bytes that each side cites for them, and for its state.
    pub cited: Pair<Vec<CitedBytes>>,
}

/// A reading that one side made, with the bytes that it made it of.
struct Made {
    reading: Reading,
    bytes: ObservedBytes,
}

/// What both sides say of the attempts of a call so far.
#[derive(Default)]
struct Judged {
    from: Vec<(AttemptFacts, AttemptDecision)>,
    to: Vec<(AttemptFacts, AttemptDecision)>,
}

impl Comparison<'_> {
    /// Compares what both sides say of a call.
    pub(crate) fn call(&self, call: CallId, events: &[Placed]) -> Result<Compared, AppError> {
        let mut compared = Compared {
            refused: Vec::new(),
            states: Vec::new(),
            diff: None,
            status: None,
        };
        let name = external_id(events);
        let refusal = |attempt, side, error| -> Result<AttemptRefused, AppError> {
            Ok(AttemptRefused {
                call,
                external_id: name.clone(),
                attempt,
                side,
                refused: refused(error)?,
            })
        };
        let observed = match Observed::all(events) {
            Ok(observed) => observed,
            Err(error) => {
                compared.refused.push(refusal(None, "from", error)?);
                return Ok(compared);
            }
        };
        let most = max_attempts(events, observed.len());
        let mut judged = Judged::default();
        let mut changed = Vec::new();
        for one in &observed {
            let attempt = Some(one.attempt);
            let (from, to) = (self.from.made(*one), self.to.made(*one));
            let (from, to) = match (from, to) {
                (Ok(from), Ok(to)) => (from, to),
                (from, to) => {
                    for (side, made) in [("from", from), ("to", to)] {
                        if let Err(error) = made {
                            compared.refused.push(refusal(attempt, side, error)?);
                        }
                    }
                    continue;
                }
            };
            let states = (from.reading.generation_state, to.reading.generation_state);
            compared.states.push((one.attempt, states.0, states.1));
            let position = (events, *one, most);
            judged.from.push(self.from.judged(position, &from.reading)?);
            judged.to.push(self.to.judged(position, &to.reading)?);
            changed.extend(self.attempt(*one, &from, &to)?);
        }
        if compared.refused.is_empty() && !observed.is_empty() {
            compared.status = Some(Pair {
                from: self.from.decided(&judged.from)?,
                to: self.to.decided(&judged.to)?,
            });
        }
        let moved = compared.status.as_ref().is_some_and(|status| {
            status.from.status != status.to.status || status.from.reason != status.to.reason
        });
        if moved || !changed.is_empty() {
            compared.diff = Some(CallDiff {
                call,
                external_id: name.clone(),
                task: task_of(events),
                attempts: changed,
                status: compared.status.clone(),
                effect: None,
            });
        }
        Ok(compared)
    }

    fn attempt(
        &self,
        observed: Observed<'_>,
        from: &Made,
        to: &Made,
    ) -> Result<Option<AttemptDiff>, AppError> {
        let changed = differing(&from.reading, &to.reading)?;
        if changed.is_empty() {
            return Ok(None);
        }
        let fields: Vec<_> = changed.iter().map(|one| one.field).collect();
        let cited = |planner: &Planner<'_>, made: &Made| {
            let decoded = planner
                .rules
                .interpreter
                .decode_bytes(observed, &made.bytes)?;
            Ok::<_, AppError>(cites::of(&made.reading, &decoded, &fields))
        };
        Ok(Some(AttemptDiff {
            attempt: observed.attempt,
            body_sha256: response_sha256(observed),
            cited: Pair {
                from: cited(&self.from, from)?,
                to: cited(&self.to, to)?,
            },
            changed,
        }))
    }
}

impl Planner<'_> {
    fn made(&self, observed: Observed<'_>) -> Result<Made, AppError> {
        let bytes = self.evidence.bytes(observed)?;
        let fresh = self.rules.interpreter.read_bytes(observed, &bytes)?;
        Ok(Made {
            reading: fresh.reading,
            bytes,
        })
    }

    fn judged(
        &self,
        (events, observed, most): (&[Placed], Observed<'_>, u32),
        reading: &Reading,
    ) -> Result<(AttemptFacts, AttemptDecision), AppError> {
        let elapsed = recorded_latency(events, observed.attempt);
        let facts = attempt_facts(observed, &reading.recorded(), most, elapsed);
        let decision = self.rules.policy.decide_attempt(&facts)?;
        Ok((facts, decision))
    }

    fn decided(&self, judged: &[(AttemptFacts, AttemptDecision)]) -> Result<Decided, AppError> {
        let decision = self
            .rules
            .policy
            .decide_call(judged, Occasion::Reinterpretation)?;
        Ok(Decided {
            status: decision.status,
            reason: decision.reason,
        })
    }
}

/// Returns the fields that differ. What a conclusion rests on, and facts, are left out:
/// they are how a version works, and differ where nothing else does.
fn differing(from: &Reading, to: &Reading) -> Result<Vec<FieldDiff>, AppError> {
    let (from, to) = (fields(from)?, fields(to)?);
    Ok(from
        .into_iter()
        .zip(to)
        .filter(|((_, from), (_, to))| from != to)
        .map(|((field, from), (_, to))| FieldDiff { field, from, to })
        .collect())
}

fn fields(reading: &Reading) -> Result<Vec<(&'static str, Value)>, AppError> {
    let text = |text: &Option<String>| json!(text.as_deref().map(TextRef::of));
    let error = reading.error.as_ref();
    let mut fields = vec![
        ("generation_state", json!(reading.generation_state)),
        ("provider_reason", json!(reading.provider_reason)),
        ("output_text", text(&reading.output_text)),
        ("tool_calls", list(&reading.tool_calls)?),
        ("refusal", text(&reading.refusal)),
        ("structured_output", json!(reading.structured_output.word())),
        ("model", json!(reading.model)),
        ("response_id", json!(reading.response_id)),
        ("error.class", json!(error.map(|error| &error.class))),
        (
            "error.code",
            json!(error.and_then(|error| error.code.as_ref())),
        ),
        (
            "error.message",
            error.map_or(Value::Null, |error| text(&error.message)),
        ),
        ("choices", list(&reading.choices)?),
    ];
    for (name, count) in reading.usage.counts.named() {
        let field = match name {
            "input" => "usage.input",
            "output" => "usage.output",
            "cached_input" => "usage.cached_input",
            "cache_write" => "usage.cache_write",
            "reasoning" => "usage.reasoning",
            _ => "usage.total",
        };
        fields.push((field, json!(count)));
    }
    Ok(fields)
}

/// A list by its length and the hash of its canonical JSON.
fn list<T: Serialize>(items: &[T]) -> Result<Value, AppError> {
    if items.is_empty() {
        return Ok(Value::Null);
    }
    let bytes = canonical::to_bytes(&items)
        .map_err(|error| AppError::Damage(format!("a list of a reading: {error}")))?;
    Ok(json!({"count": items.len(), "sha256": Digest::of(&bytes)}))
}
