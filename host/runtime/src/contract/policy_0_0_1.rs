//! `reread:policy/decider@0.0.1`: the types of the contract, as they stand in
//! `wit/v1`, and their way from and into the model.

use model::decision::{
    AttemptDecision, AttemptFacts, CallDecision, CallStatus, Disposition, Occasion,
};

use super::check;
use crate::error::{InvalidResult, RunError};
use crate::policy::PolicyInfo;

mod generated {
    //! Only the types are used: functions are looked up once for all calls.
    wasmtime::component::bindgen!({
        path: "../../wit/v1/policy.wit",
        world: "policy",
        ownership: Borrowing { duplicate_if_necessary: true },
    });
}

pub(crate) use generated::exports::reread::policy::decider as wit;

/// The reason of a decision, in bytes.
const REASON_BYTES_MAX: usize = 256;

/// Returns the attempt as the contract takes it; nothing is copied.
pub(crate) fn attempt(attempt: &AttemptFacts) -> wit::Attempt<'_> {
    let reading = &attempt.reading;
    wit::Attempt {
        index: attempt.index,
        max_attempts: attempt.max_attempts,
        elapsed_ms: attempt.elapsed_ms,
        reading: wit::ReadingFacts {
            vocabulary: reading.vocabulary,
            generation_state: reading.generation_state.as_str(),
            provider_reason: reading.provider_reason.as_deref(),
            error_class: reading.error_class.as_deref(),
            has_output_text: reading.has_output_text,
            has_refusal: reading.has_refusal,
            tool_calls: reading.tool_calls,
            structured_output: reading.structured_output.as_str(),
            transport_outcome: reading.transport_outcome.as_str(),
            status: reading.status,
            exception_type: reading.exception_type.as_deref(),
            retry_after: reading.retry_after.as_deref(),
        },
    }
}

/// Returns an earlier decision as the contract takes it.
pub(crate) fn decided(decision: &AttemptDecision) -> wit::AttemptDecisionParam<'_> {
    wit::AttemptDecisionParam {
        disposition: match decision.disposition {
            Disposition::Accept => wit::Disposition::Accept,
            Disposition::Retry => wit::Disposition::Retry,
            Disposition::Terminal => wit::Disposition::Terminal,
        },
        reason: &decision.reason,
    }
}

/// Returns the occasion as the contract takes it.
pub(crate) const fn occasion(occasion: Occasion) -> wit::Occasion {
    match occasion {
        Occasion::Execution => wit::Occasion::Execution,
        Occasion::Reinterpretation => wit::Occasion::Reinterpretation,
    }
}

/// Returns what the module says of itself.
pub(crate) fn info(info: wit::ModuleInfo) -> Result<PolicyInfo, InvalidResult> {
    Ok(PolicyInfo {
        label: check::label("label", &info.label)?,
        summary: check::summary(info.summary)?,
        accepts_vocabulary: check::listed(
            "accepts_vocabulary",
            info.accepts_vocabulary,
            |_, vocabulary| Ok(vocabulary),
        )?,
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

/// Returns the decision about one attempt.
pub(crate) fn attempt_decision(
    decision: wit::AttemptDecisionResult,
) -> Result<AttemptDecision, InvalidResult> {
    Ok(AttemptDecision {
        disposition: match decision.disposition {
            wit::Disposition::Accept => Disposition::Accept,
            wit::Disposition::Retry => Disposition::Retry,
            wit::Disposition::Terminal => Disposition::Terminal,
        },
        reason: check::short("reason", decision.reason, REASON_BYTES_MAX)?,
    })
}

/// Returns the decision about a call.
pub(crate) fn call_decision(decision: wit::CallDecision) -> Result<CallDecision, InvalidResult> {
    Ok(CallDecision {
        status: match decision.status {
            wit::CallStatus::Succeeded => CallStatus::Succeeded,
            wit::CallStatus::Failed => CallStatus::Failed,
            wit::CallStatus::Unresolved => CallStatus::Unresolved,
        },
        reason: check::short("reason", decision.reason, REASON_BYTES_MAX)?,
    })
}
