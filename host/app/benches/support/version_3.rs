//! The native function of the third version.

use std::hint::black_box;

use attempt_v3::reading::{self as native, State, StructuredOutput as Structured};
use attempt_v3::{Observation as Seen, Outcome};
use model::Reading;
use model::exchange::{ExceptionType, Observation, TransportOutcome};
use model::reading::{
    Basis, Choice, Citation, Fact, GenerationState, ProviderError, StructuredOutput, TokenCounts,
    ToolCall, Usage,
};

/// An event stream of about this many bytes, with a few words in each event.
pub(crate) fn stream_body(bytes: usize) -> String {
    let event = |delta: &str, reason: &str| {
        format!(
            "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\
             \"created\":1790000001,\"model\":\"kestrel-2\",\"choices\":[{{\"index\":0,\
             \"delta\":{delta},\"finish_reason\":{reason}}}]}}\n\n"
        )
    };
    let piece = event("{\"content\":\" what was kept\"}", "null");
    let end = event("{}", "\"stop\"") + "data: [DONE]\n\n";
    piece.repeat(bytes.saturating_sub(end.len()) / piece.len()) + &end
}

/// Reads an observation with the native function that the module is made from.
pub(crate) fn read_natively(observation: &Observation<'_>) -> Reading {
    let outcome = match observation.outcome {
        TransportOutcome::ResponseReceived => Outcome::ResponseReceived,
        TransportOutcome::HttpError => Outcome::HttpError,
        TransportOutcome::NoResponse => Outcome::NoResponse,
        TransportOutcome::Interrupted => Outcome::Interrupted,
    };
    let seen = Seen {
        dialect: observation.dialect,
        outcome,
        status: observation.status,
        headers: &[],
        exception_type: observation.exception_type.map(ExceptionType::as_str),
        response_body: observation.response_body,
        request_body: observation.request_body,
    };
    let opened = attempt_v3::open(&seen).unwrap();
    black_box(convert(attempt_v3::interpret(&seen, &opened)))
}

const fn state(state: State) -> GenerationState {
    match state {
        State::Complete => GenerationState::Complete,
        State::ToolCall => GenerationState::ToolCall,
        State::Truncated => GenerationState::Truncated,
        State::Refused => GenerationState::Refused,
        State::Filtered => GenerationState::Filtered,
        State::Empty => GenerationState::Empty,
        State::Paused => GenerationState::Paused,
        State::Pending => GenerationState::Pending,
        State::Error => GenerationState::Error,
        State::Unknown => GenerationState::Unknown,
    }
}

fn convert(reading: native::Reading<'_>) -> Reading {
    let usage = &reading.usage;
    let counts = TokenCounts {
        input: usage.input.tokens,
        output: usage.output.tokens,
        cached_input: usage.cached_input.tokens,
        cache_write: usage.cache_write.tokens,
        reasoning: usage.reasoning.tokens,
        total: usage.total.tokens,
    };
    let named = |(component, why): &(&str, &str)| ((*component).to_owned(), (*why).to_owned());
    let diagnostics = usage.diagnostics.iter().map(named).collect();
    Reading {
        vocabulary: native::VOCABULARY,
        generation_state: state(reading.state),
        provider_reason: reading.provider_reason.map(Into::into),
        provider_reason_source: reading.provider_reason_source,
        basis: Basis {
            kind: reading.basis.kind.to_owned(),
            detail: reading.basis.detail.to_owned(),
        },
        output_text: reading.output_text.map(Into::into),
        tool_calls: reading.tool_calls.into_iter().map(tool_call).collect(),
        refusal: reading.refusal.map(Into::into),
        structured_output: match reading.structured_output {
            Structured::NotRequested => StructuredOutput::NotRequested,
            Structured::Valid => StructuredOutput::Valid,
            Structured::Invalid(why) => StructuredOutput::Invalid(why),
        },
        usage: Usage {
            counts,
            diagnostics,
        },
        model: reading.model.map(Into::into),
        response_id: reading.response_id.map(Into::into),
        error: reading.error.map(|error| ProviderError {
            class: error.class.as_str().to_owned(),
            code: error.code.map(Into::into),
            message: error.message.map(Into::into),
        }),
        choices: reading.choices.into_iter().map(choice).collect(),
        facts: reading.facts.into_iter().map(fact).collect(),
        citations: reading.citations.into_iter().map(citation).collect(),
    }
}

fn tool_call(call: native::ToolCall<'_>) -> ToolCall {
    ToolCall {
        id: call.id.map(Into::into),
        name: call.name.into(),
        arguments: call.arguments.into(),
    }
}

fn choice(choice: native::Choice<'_>) -> Choice {
    Choice {
        index: choice.index,
        generation_state: state(choice.state),
        provider_reason: choice.provider_reason.map(Into::into),
        output_text: choice.output_text.map(Into::into),
    }
}

fn fact((name, fact): (&'static str, native::Fact)) -> (String, Fact) {
    let fact = match fact {
        native::Fact::Flag(flag) => Fact::Flag(flag),
        native::Fact::Count(count) => Fact::Count(count),
        native::Fact::Word(word) => Fact::Word(word),
    };
    (name.to_owned(), fact)
}

fn citation(citation: native::Citation) -> Citation {
    let position = |position: usize| u64::try_from(position).unwrap();
    Citation {
        field: citation.field,
        pointer: citation.pointer,
        start: position(citation.start),
        end: position(citation.end),
    }
}
