//! The world `policy`, for the third version.

/// Makes the crate that calls it the component of version 3.
#[macro_export]
macro_rules! policy {
    () => {
        wit_bindgen::generate!({
            path: "../../wit/v1/policy.wit",
            world: "policy",
        });

        extern crate alloc;
        use alloc::vec::Vec;
        use exports::reread::policy::decider as wit;
        use $crate::attempt_v3::policy;

        struct Component;

        export!(Component);

        impl wit::Guest for Component {
            fn describe() -> wit::ModuleInfo {
                wit::ModuleInfo {
                    label: policy::LABEL.into(),
                    summary: policy::SUMMARY.into(),
                    accepts_vocabulary: policy::VOCABULARIES.into(),
                    supersedes: ["attempt-policy-v1", "attempt-policy-v2"].map(Into::into).into(),
                }
            }

            fn decide_attempt(
                attempt: wit::Attempt,
                _configuration: Option<Vec<u8>>,
            ) -> Result<wit::AttemptDecision, wit::Refusal> {
                let decision = policy::decide_attempt(&facts(&attempt));
                Ok(wit::AttemptDecision {
                    disposition: match decision.disposition {
                        policy::Disposition::Accept => wit::Disposition::Accept,
                        policy::Disposition::Retry => wit::Disposition::Retry,
                        policy::Disposition::Terminal => wit::Disposition::Terminal,
                    },
                    reason: decision.reason,
                })
            }

            fn decide_call(
                mut attempts: Vec<(wit::Attempt, wit::AttemptDecision)>,
                occasion: wit::Occasion,
                _configuration: Option<Vec<u8>>,
            ) -> Result<wit::CallDecision, wit::Refusal> {
                let occasion = match occasion {
                    wit::Occasion::Execution => policy::Occasion::Execution,
                    wit::Occasion::Reinterpretation => policy::Occasion::Reinterpretation,
                };
                let last = attempts
                    .pop()
                    .map(|(attempt, decision)| (attempt, decided(decision)));
                let last_facts = last.as_ref().map(|(attempt, _)| facts(attempt));
                let pair = last_facts.as_ref().zip(last.as_ref().map(|(_, decision)| decision));
                let decision = policy::decide_call(pair, occasion);
                Ok(wit::CallDecision {
                    status: match decision.status {
                        policy::CallStatus::Succeeded => wit::CallStatus::Succeeded,
                        policy::CallStatus::Failed => wit::CallStatus::Failed,
                        policy::CallStatus::Unresolved => wit::CallStatus::Unresolved,
                    },
                    reason: decision.reason,
                })
            }
        }

        fn facts(attempt: &wit::Attempt) -> policy::Facts<'_> {
            policy::Facts {
                generation_state: &attempt.reading.generation_state,
                error_class: attempt.reading.error_class.as_deref(),
                structured_output: &attempt.reading.structured_output,
                retry_after: attempt.reading.retry_after.as_deref(),
            }
        }

        fn decided(decision: wit::AttemptDecision) -> policy::AttemptDecision {
            policy::AttemptDecision {
                disposition: match decision.disposition {
                    wit::Disposition::Accept => policy::Disposition::Accept,
                    wit::Disposition::Retry => policy::Disposition::Retry,
                    wit::Disposition::Terminal => policy::Disposition::Terminal,
                },
                reason: decision.reason,
            }
        }
    };
}
