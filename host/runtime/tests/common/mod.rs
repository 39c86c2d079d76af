//! What the tests of this crate share.
#![expect(dead_code, reason = "no test uses all of it")]

pub(crate) mod abi;
pub(crate) mod fixture;
pub(crate) mod types;

use std::num::NonZeroU32;

use model::exchange::{Observation, TransportOutcome};
use runtime::{Interpreter, Limits, Sandbox, compile};

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
