//! An acceptance that nothing is against, and ways to spoil it.

use acceptance::facts::{
    Artifact, Call, Check, Facts, Found, Interpretation, Output, Prior, Request, Source, Task,
};
use acceptance::{Acceptance, decide};

pub(crate) const BOTH: [Acceptance; 2] = [Acceptance::V1, Acceptance::V2];

pub(crate) const REVIEWER: &str = "reviewer";
pub(crate) const PRODUCER: &str = "writer";
pub(crate) const ARTIFACT: &str = "sha256:a";
pub(crate) const CRITERIA: &str = "sha256:c";
pub(crate) const OTHER: &str = "sha256:0";

/// What is asked for, and what was found.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) request: Request<'static>,
    pub(crate) facts: Facts<'static>,
}

/// Two criteria, and a check for each.
pub(crate) fn good() -> Case {
    Case {
        request: Request {
            actor: REVIEWER,
            artifact_sha256: ARTIFACT,
            criteria_sha256: CRITERIA,
            check_count: 2,
        },
        facts: Facts {
            task: Task {
                definitions: 1,
                criteria_sha256: Some(CRITERIA),
                criteria_count: 2,
                capabilities: vec!["read", "accept"],
            },
            prior: Prior::None,
            source: Source {
                call: Some(Call {
                    of_task: true,
                    status: Some("succeeded"),
                }),
                attempt_of_call: true,
                attempt_is_final: true,
                interpretation: Some(Interpretation {
                    of_call: true,
                    of_attempt: true,
                    is_decision_basis: true,
                    generation_state: "complete",
                }),
                producer: PRODUCER,
                output: Output::Text(ARTIFACT),
                artifact: Artifact::Kept,
                derivations: Vec::new(),
            },
            checks: vec![passed("one", &[0]), passed("two", &[1])],
        },
    }
}

pub(crate) fn passed(id: &'static str, covers: &'static [u32]) -> Check<'static> {
    Check {
        id,
        found: Some(Found {
            linked: true,
            completions: 1,
            of_task: true,
            of_output: true,
            artifact_sha256: Some(ARTIFACT),
            criteria_sha256: Some(CRITERIA),
            verdict: "PASS",
            covers,
        }),
    }
}

impl Case {
    pub(crate) fn with(mut self, spoil: impl FnOnce(&mut Self)) -> Self {
        spoil(&mut self);
        self
    }

    pub(crate) fn check(&mut self, position: usize) -> &mut Found<'static> {
        self.facts.checks[position].found.as_mut().unwrap()
    }

    pub(crate) fn call(&mut self) -> &mut Call<'static> {
        self.facts.source.call.as_mut().unwrap()
    }

    pub(crate) fn reading(&mut self) -> &mut Interpretation<'static> {
        self.facts.source.interpretation.as_mut().unwrap()
    }

    pub(crate) fn reasons(&self, version: Acceptance) -> Vec<String> {
        decide(version, &self.request, &self.facts).unwrap()
    }
}

/// Asserts what one version says of a good case that was spoilt.
pub(crate) fn says(version: Acceptance, spoil: impl FnOnce(&mut Case), expected: &[&str]) {
    let case = good().with(spoil);
    assert_eq!(case.reasons(version), expected, "{version:?}: {case:?}");
}

/// Asserts what both versions say of a good case that was spoilt.
pub(crate) fn both_say(spoil: impl Fn(&mut Case), expected: &[&str]) {
    for version in BOTH {
        says(version, &spoil, expected);
    }
}
