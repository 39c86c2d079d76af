//! What the tests of this crate share.

pub(crate) mod abi;
pub(crate) mod fixture;
pub(crate) mod types;

use std::num::NonZeroU32;

use model::decision::{AttemptDecision, AttemptFacts, Disposition, ReadingFacts};
use model::exchange::{Observation, TransportOutcome};
use model::reading::{GenerationState, StructuredWord};
use runtime::{Interpreter, Limits, Policy, Sandbox, compile};

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
