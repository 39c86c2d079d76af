//! The world `acceptance`.

/// Makes the crate that calls it a component of the world `acceptance`.
#[macro_export]
macro_rules! acceptance {
    ($version:expr) => {
        wit_bindgen::generate!({
            path: "../../wit/v1/acceptance.wit",
            world: "acceptance",
        });

        extern crate alloc;
        use alloc::string::String;
        use alloc::vec::Vec;
        use exports::reread::acceptance::judge as wit;
        use $crate::acceptance::{self, facts as found};

        const VERSION: acceptance::Acceptance = $version;

        struct Component;

        export!(Component);

        impl wit::Guest for Component {
            fn describe() -> wit::ModuleInfo {
                wit::ModuleInfo {
                    label: VERSION.label().into(),
                    summary: VERSION.summary().into(),
                    supersedes: VERSION.supersedes().iter().copied().map(Into::into).collect(),
                }
            }

            fn decide(
                request: wit::Request,
                facts: wit::Facts,
                _configuration: Option<Vec<u8>>,
            ) -> Result<Vec<String>, wit::Refusal> {
                let request = found::Request {
                    actor: &request.actor,
                    artifact_sha256: &request.artifact_sha256,
                    criteria_sha256: &request.criteria_sha256,
                    check_count: request.check_count,
                };
                let facts = found::Facts {
                    task: task(&facts.task),
                    prior: match facts.prior {
                        wit::Prior::None => found::Prior::None,
                        wit::Prior::Identical => found::Prior::Identical,
                        wit::Prior::Different => found::Prior::Different,
                    },
                    source: source(&facts.source),
                    checks: facts.checks.iter().map(check).collect(),
                };
                acceptance::decide(VERSION, &request, &facts).map_err(|refusal| wit::Refusal {
                    code: refusal.code.into(),
                    detail: refusal.detail,
                })
            }
        }

        fn task(task: &wit::Task) -> found::Task<'_> {
            found::Task {
                definitions: task.definitions,
                criteria_sha256: task.criteria_sha256.as_deref(),
                criteria_count: task.criteria_count,
                capabilities: task.capabilities.iter().map(String::as_str).collect(),
            }
        }

        fn source(source: &wit::Source) -> found::Source<'_> {
            found::Source {
                call: source.call.as_ref().map(|call| found::Call {
                    of_task: call.of_task,
                    status: call.status.as_deref(),
                }),
                attempt_of_call: source.attempt_of_call,
                attempt_is_final: source.attempt_is_final,
                interpretation: source.interpretation.as_ref().map(interpretation),
                producer: &source.producer,
                output: match &source.output {
                    wit::SourceOutput::Text(sha256) => found::Output::Text(sha256),
                    wit::SourceOutput::NoText => found::Output::NoText,
                    wit::SourceOutput::Unavailable(_) => found::Output::Unavailable,
                },
                artifact: match source.artifact {
                    wit::ArtifactState::Kept => found::Artifact::Kept,
                    wit::ArtifactState::Corrupt => found::Artifact::Corrupt,
                    wit::ArtifactState::Missing
                    | wit::ArtifactState::Withheld
                    | wit::ArtifactState::Erased => found::Artifact::Gone,
                },
                derivations: source.derivations.iter().map(derivation).collect(),
            }
        }

        fn interpretation(reading: &wit::Interpretation) -> found::Interpretation<'_> {
            found::Interpretation {
                of_call: reading.of_call,
                of_attempt: reading.of_attempt,
                is_decision_basis: reading.is_decision_basis,
                generation_state: &reading.generation_state,
            }
        }

        fn derivation(step: &wit::Derivation) -> found::Derivation<'_> {
            found::Derivation {
                from_sha256: &step.from_sha256,
                to_sha256: &step.to_sha256,
                actor: &step.actor,
            }
        }

        fn check(check: &wit::Check) -> found::Check<'_> {
            found::Check {
                id: &check.id,
                found: check.found.then(|| found::Found {
                    linked: check.linked,
                    completions: check.completions,
                    of_task: check.of_task,
                    of_output: check.of_output,
                    artifact_sha256: check.artifact_sha256.as_deref(),
                    criteria_sha256: check.criteria_sha256.as_deref(),
                    verdict: &check.verdict,
                    covers: &check.covers,
                }),
            }
        }
    };
}
