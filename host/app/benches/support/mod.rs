//! What both benchmarks share: bodies, timing, and the native functions.

use std::hint::black_box;
use std::time::Instant;

use attempt::{Interpreter, Outcome};
use model::Reading;
use model::exchange::{ExceptionType, Observation, TransportOutcome};
use model::reading::{
    Basis, Choice, Citation, Fact, GenerationState, ProviderError, StructuredOutput, TokenCounts,
    ToolCall, Usage,
};

/// A chat body of about this many bytes.
pub(crate) fn chat_body(bytes: usize, number: u32) -> String {
    let frame = serde_json::json!({
        "id": format!("chatcmpl-{number}"),
        "object": "chat.completion",
        "created": 1_790_000_001,
        "model": "kestrel-2",
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": ""},
            "logprobs": null,
            "finish_reason": if number.is_multiple_of(3) { "length" } else { "stop" },
        }],
        "usage": {"prompt_tokens": 61, "completion_tokens": 256, "total_tokens": 317},
    })
    .to_string();
    let words = "The shelf holds what was kept, and nothing else is read. \\u00e9\\n";
    let room = bytes.saturating_sub(frame.len());
    let text = words.repeat(room / words.len() + 1);
    frame.replace(
        "\"content\":\"\"",
        &format!("\"content\":\"{}\"", text.trim_end_matches('\\')),
    )
}

/// The observation of a body.
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

/// Returns the present moment.
#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark measures the clock itself"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Reads an observation with the native function that the module is made from.
pub(crate) fn read_natively(observation: &Observation<'_>) -> Reading {
    let outcome = match observation.outcome {
        TransportOutcome::ResponseReceived => Outcome::ResponseReceived,
        TransportOutcome::HttpError => Outcome::HttpError,
        TransportOutcome::NoResponse => Outcome::NoResponse,
        TransportOutcome::Interrupted => Outcome::Interrupted,
    };
    let reading = attempt::interpret(
        Interpreter::V2,
        &attempt::Observation {
            dialect: observation.dialect,
            outcome,
            status: observation.status,
            exception_type: observation.exception_type.map(ExceptionType::as_str),
            response_body: observation.response_body,
        },
    );
    black_box(convert(reading))
}

fn state(state: attempt::reading::GenerationState) -> GenerationState {
    use attempt::reading::GenerationState as Native;
    match state {
        Native::Complete => GenerationState::Complete,
        Native::Truncated => GenerationState::Truncated,
        Native::Filtered => GenerationState::Filtered,
        Native::Empty => GenerationState::Empty,
        Native::Unknown => GenerationState::Unknown,
    }
}

fn usage(native: attempt::reading::Usage) -> Usage {
    Usage {
        counts: TokenCounts {
            input: native.input,
            output: native.output,
            cached_input: native.cached_input,
            cache_write: native.cache_write,
            reasoning: native.reasoning,
            total: native.total,
        },
        diagnostics: native
            .diagnostics
            .into_iter()
            .map(|(component, why)| (component.to_owned(), why.to_owned()))
            .collect(),
    }
}

fn convert(native: attempt::Reading<'_>) -> Reading {
    use attempt::reading::Fact as NativeFact;
    Reading {
        vocabulary: Interpreter::V2.vocabulary(),
        generation_state: state(native.generation_state),
        provider_reason: native.provider_reason.map(Into::into),
        provider_reason_source: native.provider_reason_source.map(Into::into),
        basis: Basis {
            kind: native.basis.kind.as_str().to_owned(),
            detail: native.basis.detail.to_owned(),
        },
        output_text: native.output_text.map(Into::into),
        tool_calls: native
            .tool_calls
            .into_iter()
            .map(|call| ToolCall {
                id: call.id.map(Into::into),
                name: call.name.into(),
                arguments: call.arguments.into(),
            })
            .collect(),
        refusal: native.refusal.map(Into::into),
        structured_output: StructuredOutput::NotRequested,
        usage: usage(native.usage),
        model: native.model.map(Into::into),
        response_id: native.response_id.map(Into::into),
        error: native.error.map(|error| ProviderError {
            class: error.class.as_str().to_owned(),
            code: error.code.map(Into::into),
            message: error.message.map(Into::into),
        }),
        choices: native
            .choices
            .into_iter()
            .map(|choice| Choice {
                index: choice.index,
                generation_state: state(choice.generation_state),
                provider_reason: choice.provider_reason.map(Into::into),
                output_text: choice.output_text.map(Into::into),
            })
            .collect(),
        facts: native
            .facts
            .into_iter()
            .map(|(name, fact)| {
                let fact = match fact {
                    NativeFact::Flag(flag) => Fact::Flag(flag),
                    NativeFact::Word(word) => Fact::Word(word.to_owned()),
                };
                (name.to_owned(), fact)
            })
            .collect(),
        citations: native
            .citations
            .into_iter()
            .map(|citation| Citation {
                field: citation.field.to_owned(),
                pointer: citation.pointer.into(),
                start: citation.start,
                end: citation.end,
            })
            .collect(),
    }
}
