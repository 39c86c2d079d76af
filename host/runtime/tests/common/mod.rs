//! What the tests of this crate share.

pub(crate) mod abi;
pub(crate) mod fixture;
pub(crate) mod types;

use std::num::NonZeroU32;

use model::acceptance::{
    AcceptanceFacts, AcceptanceRequest, ArtifactState, CallFacts, CheckFacts, CitedCheck,
    InterpretationFacts, PriorAcceptance, SourceFacts, SourceOutput, TaskFacts,
};
use model::decision::{AttemptDecision, AttemptFacts, CallStatus, Disposition, ReadingFacts};
use model::event::task::Verdict;
use model::exchange::{Observation, TransportOutcome};
use model::pricing::PriceRequest;
use model::reading::{GenerationState, StructuredWord, Usage};
use model::{Digest, Timestamp};
use runtime::{Acceptance, Check, Interpreter, Limits, Policy, Pricing, Sandbox, compile};

/// Fuel for tests: plenty for a fixture, used up in a few milliseconds.
pub(crate) const FUEL: u64 = 10_000_000;

pub(crate) fn limits() -> Limits {
    Limits::P1.with_fuel(FUEL)
}

pub(crate) fn sandbox(limits: Limits) -> Sandbox {
    Sandbox::new(limits, NonZeroU32::new(2).unwrap()).unwrap()
}

pub(crate) fn interpreter(fixture: &fixture::Fixture) -> Interpreter {
    let compiled = compile(&fixture.build()).unwrap();
    sandbox(limits()).interpreter(&compiled).unwrap()
}

pub(crate) fn observation(body: &[u8]) -> Observation<'_> {
    Observation {
        dialect: "openai.chat",
        endpoint: "/v1/chat/completions",
        outcome: TransportOutcome::ResponseReceived,
        status: Some(200),
        headers: &[],
        exception_type: None,
        response_body: Some(body),
        request_body: None,
    }
}

pub(crate) fn policy(fixture: &fixture::Fixture) -> Policy {
    let compiled = compile(&fixture.build()).unwrap();
    sandbox(limits()).policy(&compiled).unwrap()
}

/// One attempt, and what was decided about it.
pub(crate) fn attempt() -> (AttemptFacts, AttemptDecision) {
    let reading = ReadingFacts {
        vocabulary: 1,
        generation_state: GenerationState::Complete,
        provider_reason: Some("stop".to_owned()),
        error_class: None,
        has_output_text: true,
        has_refusal: false,
        tool_calls: 0,
        structured_output: StructuredWord::NotRequested,
        transport_outcome: TransportOutcome::ResponseReceived,
        status: Some(200),
        exception_type: None,
        retry_after: None,
    };
    let facts = AttemptFacts {
        index: 1,
        max_attempts: 3,
        elapsed_ms: Some(812),
        reading,
    };
    let decision = AttemptDecision {
        disposition: Disposition::Accept,
        reason: "accepted".to_owned(),
    };
    (facts, decision)
}

pub(crate) fn acceptance(fixture: &fixture::Fixture) -> Acceptance {
    let compiled = compile(&fixture.build()).unwrap();
    sandbox(limits()).acceptance(&compiled).unwrap()
}

pub(crate) fn check(fixture: &fixture::Fixture) -> Check {
    let compiled = compile(&fixture.build()).unwrap();
    sandbox(limits()).check(&compiled).unwrap()
}

pub(crate) fn pricing(fixture: &fixture::Fixture) -> Pricing {
    let compiled = compile(&fixture.build()).unwrap();
    sandbox(limits()).pricing(&compiled).unwrap()
}

/// A response to be priced.
pub(crate) fn priced(usage: &Usage) -> PriceRequest<'_> {
    PriceRequest {
        usage,
        model: Some("kestrel-2"),
        provider: Some("kestrel"),
        dialect: "openai.chat",
        time: Timestamp::from_millisecond(1_780_000_000_000),
    }
}

/// An acceptance that no rule is against.
pub(crate) fn accepted() -> (AcceptanceRequest, AcceptanceFacts) {
    let (artifact, criteria) = (Digest::of(b"artifact"), Digest::of(b"criteria"));
    let request = AcceptanceRequest {
        actor: Some("reviewer".parse().unwrap()),
        artifact_sha256: artifact,
        criteria_sha256: criteria,
    };
    let facts = AcceptanceFacts {
        task: TaskFacts {
            definitions: 1,
            criteria_sha256: Some(criteria),
            criteria_count: 1,
            capabilities: vec!["accept".to_owned()],
        },
        prior: PriorAcceptance::None,
        source: SourceFacts {
            call: Some(CallFacts {
                of_task: true,
                status: Some(CallStatus::Succeeded),
            }),
            attempt_of_call: true,
            attempt_is_final: true,
            interpretation: Some(InterpretationFacts {
                of_call: true,
                of_attempt: true,
                is_decision_basis: true,
                generation_state: GenerationState::Complete,
            }),
            producer: Some("writer".parse().unwrap()),
            output: SourceOutput::Text(artifact),
            artifact: ArtifactState::Kept,
            derivations: Vec::new(),
        },
        checks: vec![CitedCheck {
            id: CHECK.parse().unwrap(),
            found: Some(CheckFacts {
                linked: true,
                completions: 1,
                of_task: true,
                of_output: true,
                artifact_sha256: Some(artifact),
                criteria_sha256: Some(criteria),
                verdict: Verdict::Pass,
                covers: vec![0],
            }),
        }],
    };
    (request, facts)
}

/// The check that [`accepted`] cites.
pub(crate) const CHECK: &str = "0190a6c2-7c00-7000-8000-000000000001";
