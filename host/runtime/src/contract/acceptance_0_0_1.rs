//! `reread:acceptance/judge@0.0.1`: the types of the contract, as they stand in
//! `wit/v1`, and their way from and into the model.

use std::collections::BTreeSet;

use model::Digest;
use model::acceptance::{
    AcceptanceFacts, AcceptanceRequest, ArtifactState, CallFacts, CitedCheck, Derivation,
    InterpretationFacts, PriorAcceptance, SourceFacts, SourceOutput, TaskFacts,
};
use model::bounds::REASONS_MAX;
use model::decision::CallStatus;
use model::event::task::Verdict;
use model::name::Actor;
use model::projection::call::Unavailable;

use super::check::{self, Place, invalid};
use crate::acceptance::AcceptanceInfo;
use crate::error::{InvalidResult, RunError};

mod generated {
    //! Only the types are used: functions are looked up once for all calls. They
    //! own what they hold: facts are a few words, written out for one call.
    wasmtime::component::bindgen!({
        path: "../../wit/v1/acceptance.wit",
        world: "acceptance",
    });
}

pub(crate) use generated::exports::reread::acceptance::judge as wit;

/// One reason, in bytes.
const REASON_BYTES_MAX: usize = 128;

/// Returns what is asked for, as the contract takes it.
pub(crate) fn request(request: &AcceptanceRequest, facts: &AcceptanceFacts) -> wit::Request {
    wit::Request {
        actor: name(request.actor.as_ref()),
        artifact_sha256: request.artifact_sha256.to_string(),
        criteria_sha256: request.criteria_sha256.to_string(),
        check_count: u32::try_from(facts.checks.len()).unwrap_or(u32::MAX),
    }
}

/// Returns what was found, as the contract takes it.
pub(crate) fn facts(facts: &AcceptanceFacts) -> wit::Facts {
    wit::Facts {
        task: task(&facts.task),
        prior: match facts.prior {
            PriorAcceptance::None => wit::Prior::None,
            PriorAcceptance::Identical => wit::Prior::Identical,
            PriorAcceptance::Different => wit::Prior::Different,
        },
        source: source(&facts.source),
        checks: facts.checks.iter().map(cited).collect(),
    }
}

fn task(task: &TaskFacts) -> wit::Task {
    wit::Task {
        definitions: task.definitions,
        criteria_sha256: hash(task.criteria_sha256),
        criteria_count: task.criteria_count,
        capabilities: task.capabilities.clone(),
    }
}

fn source(source: &SourceFacts) -> wit::Source {
    wit::Source {
        call: source.call.map(call),
        attempt_of_call: source.attempt_of_call,
        attempt_is_final: source.attempt_is_final,
        interpretation: source.interpretation.map(interpretation),
        producer: name(source.producer.as_ref()),
        output: match source.output {
            SourceOutput::Text(sha256) => wit::SourceOutput::Text(sha256.to_string()),
            SourceOutput::NoText => wit::SourceOutput::NoText,
            SourceOutput::Unavailable(why) => {
                wit::SourceOutput::Unavailable(why.as_str().to_owned())
            }
        },
        artifact: match source.artifact {
            ArtifactState::Kept => wit::ArtifactState::Kept,
            ArtifactState::Unavailable(Unavailable::Missing) => wit::ArtifactState::Missing,
            ArtifactState::Unavailable(Unavailable::Corrupt) => wit::ArtifactState::Corrupt,
            ArtifactState::Unavailable(Unavailable::Withheld) => wit::ArtifactState::Withheld,
            ArtifactState::Unavailable(Unavailable::Erased) => wit::ArtifactState::Erased,
        },
        derivations: source.derivations.iter().map(derivation).collect(),
    }
}

fn call(call: CallFacts) -> wit::Call {
    wit::Call {
        of_task: call.of_task,
        status: call.status.map(CallStatus::as_str).map(str::to_owned),
    }
}

fn interpretation(interpretation: InterpretationFacts) -> wit::Interpretation {
    wit::Interpretation {
        of_call: interpretation.of_call,
        of_attempt: interpretation.of_attempt,
        is_decision_basis: interpretation.is_decision_basis,
        generation_state: interpretation.generation_state.as_str().to_owned(),
    }
}

fn derivation(derivation: &Derivation) -> wit::Derivation {
    wit::Derivation {
        from_sha256: derivation.from_sha256.to_string(),
        to_sha256: derivation.to_sha256.to_string(),
        actor: derivation.actor.as_str().to_owned(),
    }
}

/// Of a check that is not recorded, only the id says anything.
fn cited(check: &CitedCheck) -> wit::Check {
    let id = check.id.to_string();
    match &check.found {
        Some(found) => wit::Check {
            id,
            found: true,
            linked: found.linked,
            completions: found.completions,
            of_task: found.of_task,
            of_output: found.of_output,
            artifact_sha256: hash(found.artifact_sha256),
            criteria_sha256: hash(found.criteria_sha256),
            verdict: word(found.verdict).to_owned(),
            covers: found.covers.clone(),
        },
        None => wit::Check {
            id,
            found: false,
            linked: false,
            completions: 0,
            of_task: false,
            of_output: false,
            artifact_sha256: None,
            criteria_sha256: None,
            verdict: String::new(),
            covers: Vec::new(),
        },
    }
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "PASS",
        Verdict::Fail => "FAIL",
        Verdict::Inconclusive => "INCONCLUSIVE",
        Verdict::Error => "ERROR",
    }
}

fn name(actor: Option<&Actor>) -> String {
    actor.map_or_else(String::new, |actor| actor.as_str().to_owned())
}

fn hash(sha256: Option<Digest>) -> Option<String> {
    sha256.map(|sha256| sha256.to_string())
}

/// Returns what the module says of itself.
pub(crate) fn info(info: wit::ModuleInfo) -> Result<AcceptanceInfo, InvalidResult> {
    Ok(AcceptanceInfo {
        label: check::label("label", &info.label)?,
        summary: check::summary(info.summary)?,
        supersedes: check::listed("supersedes", info.supersedes, |place, label| {
            check::label(place, &label)
        })?,
    })
}

/// Returns the refusal of a module.
pub(crate) fn refusal(refusal: wit::Refusal) -> RunError {
    match check::name("refusal.code", refusal.code) {
        Ok(code) => RunError::Refused {
            code,
            detail: refusal.detail,
        },
        Err(invalid) => invalid.into(),
    }
}

/// Returns every reason against, which are wholly within the contract.
pub(crate) fn reasons(reasons: Vec<String>) -> Result<Vec<String>, InvalidResult> {
    const FIELD: &str = "reasons";
    check::at_most(FIELD, reasons.len(), REASONS_MAX)?;
    let printable = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
    let mut seen = BTreeSet::new();
    for (index, reason) in reasons.iter().enumerate() {
        let place = Place {
            field: FIELD,
            index,
        };
        if !(1..=REASON_BYTES_MAX).contains(&reason.len()) || !reason.bytes().all(printable) {
            let expected = format!("1 to {REASON_BYTES_MAX} bytes of printable ASCII");
            return Err(invalid(place, expected, check::quoted(reason)));
        }
        if !seen.insert(reason) {
            let found = format!("{} twice", check::quoted(reason));
            return Err(invalid(place, "each reason once", found));
        }
    }
    Ok(reasons)
}
