//! The world `interpreter`, for the third version.

/// Makes the crate that calls it the component of version 3.
#[macro_export]
macro_rules! interpreter {
    () => {
        wit_bindgen::generate!({
            path: "../../wit/v1/interpreter.wit",
            world: "interpreter",
        });

        extern crate alloc;
        use alloc::borrow::Cow;
        use alloc::string::String;
        use alloc::vec::Vec;
        use exports::reread::interpreter::reader as wit;
        use $crate::attempt_v3::{self, reading};
        use $crate::wire;

        struct Component;

        export!(Component);

        impl wit::Guest for Component {
            fn describe() -> wit::ModuleInfo {
                let mut dialects: Vec<String> =
                    wire::Dialect::ALL.map(|dialect| dialect.as_str().into()).into();
                dialects.extend(["chat_completions", "responses", "messages"].map(Into::into));
                wit::ModuleInfo {
                    label: reading::LABEL.into(),
                    summary: reading::SUMMARY.into(),
                    dialects,
                    vocabulary: reading::VOCABULARY,
                    supersedes: ["attempt-interpretation-v1", "attempt-interpretation-v2"]
                        .map(Into::into)
                        .into(),
                }
            }

            fn interpret(
                observation: wit::Observation,
                _configuration: Option<Vec<u8>>,
            ) -> Result<wit::Reading, wit::Refusal> {
                let headers = headers(&observation);
                let seen = seen(&observation, &headers);
                let opened = attempt_v3::open(&seen).map_err(refused)?;
                Ok(translated(attempt_v3::interpret(&seen, &opened)))
            }

            fn decode(observation: wit::Observation) -> Result<Vec<u8>, wit::Refusal> {
                let headers = headers(&observation);
                let decoded = attempt_v3::interpretation::decode(&seen(&observation, &headers));
                let decoded = decoded.map_err(refused)?;
                Ok(decoded.bytes.into_owned())
            }
        }

        fn headers(observation: &wit::Observation) -> Vec<(&str, &str)> {
            observation
                .headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect()
        }

        fn seen<'a>(
            observation: &'a wit::Observation,
            headers: &'a [(&'a str, &'a str)],
        ) -> attempt_v3::Observation<'a> {
            attempt_v3::Observation {
                dialect: &observation.dialect,
                outcome: match observation.outcome {
                    wit::TransportOutcome::ResponseReceived => {
                        attempt_v3::Outcome::ResponseReceived
                    }
                    wit::TransportOutcome::HttpError => attempt_v3::Outcome::HttpError,
                    wit::TransportOutcome::NoResponse => attempt_v3::Outcome::NoResponse,
                    wit::TransportOutcome::Interrupted => attempt_v3::Outcome::Interrupted,
                },
                status: observation.status,
                headers,
                exception_type: observation.exception_type.as_deref(),
                response_body: observation.response_body.as_deref(),
                request_body: observation.request_body.as_deref(),
            }
        }

        fn refused(refusal: attempt_v3::Refusal) -> wit::Refusal {
            wit::Refusal {
                code: refusal.code.into(),
                detail: refusal.detail,
            }
        }

        fn owned(text: Cow<'_, str>) -> String {
            text.into_owned()
        }

        fn bytes(text: Cow<'_, str>) -> Vec<u8> {
            text.into_owned().into_bytes()
        }

        fn translated(reading: attempt_v3::Reading<'_>) -> wit::Reading {
            wit::Reading {
                generation_state: state(reading.state),
                provider_reason: reading.provider_reason.map(owned),
                provider_reason_source: reading.provider_reason_source,
                basis: wit::Basis {
                    kind: reading.basis.kind.into(),
                    detail: reading.basis.detail.into(),
                },
                output_text: reading.output_text.map(bytes),
                tool_calls: reading.tool_calls.into_iter().map(tool_call).collect(),
                refusal: reading.refusal.map(bytes),
                structured_output: match reading.structured_output {
                    reading::StructuredOutput::NotRequested => {
                        wit::StructuredOutput::NotRequested
                    }
                    reading::StructuredOutput::Valid => wit::StructuredOutput::Valid,
                    reading::StructuredOutput::Invalid(why) => wit::StructuredOutput::Invalid(why),
                },
                usage: usage(reading.usage),
                model: reading.model.map(owned),
                response_id: reading.response_id.map(owned),
                error: reading.error.map(|error| wit::ProviderError {
                    class: error.class.as_str().into(),
                    code: error.code.map(owned),
                    message: error.message.map(bytes),
                }),
                choices: reading.choices.into_iter().map(choice).collect(),
                facts: reading
                    .facts
                    .into_iter()
                    .map(|(name, fact)| (name.into(), value(fact)))
                    .collect(),
                citations: reading.citations.into_iter().map(citation).collect(),
            }
        }

        fn tool_call(call: reading::ToolCall<'_>) -> wit::ToolCall {
            wit::ToolCall {
                id: call.id.map(owned),
                name: owned(call.name),
                arguments: bytes(call.arguments),
            }
        }

        fn choice(choice: reading::Choice<'_>) -> wit::Choice {
            wit::Choice {
                index: choice.index,
                generation_state: state(choice.state),
                provider_reason: choice.provider_reason.map(owned),
                output_text: choice.output_text.map(bytes),
            }
        }

        fn citation(citation: reading::Citation) -> wit::Citation {
            let position = |position: usize| u64::try_from(position).unwrap_or(u64::MAX);
            wit::Citation {
                field: citation.field,
                pointer: citation.pointer,
                start: position(citation.start),
                end: position(citation.end),
            }
        }

        fn usage(usage: wire::usage::Usage) -> wit::Usage {
            wit::Usage {
                input: usage.input.tokens,
                output: usage.output.tokens,
                cached_input: usage.cached_input.tokens,
                cache_write: usage.cache_write.tokens,
                reasoning: usage.reasoning.tokens,
                total: usage.total.tokens,
                diagnostics: usage
                    .diagnostics
                    .into_iter()
                    .map(|(component, why)| (component.into(), why.into()))
                    .collect(),
            }
        }

        fn state(state: reading::State) -> wit::GenerationState {
            match state {
                reading::State::Complete => wit::GenerationState::Complete,
                reading::State::ToolCall => wit::GenerationState::ToolCall,
                reading::State::Truncated => wit::GenerationState::Truncated,
                reading::State::Refused => wit::GenerationState::Refused,
                reading::State::Filtered => wit::GenerationState::Filtered,
                reading::State::Empty => wit::GenerationState::Empty,
                reading::State::Paused => wit::GenerationState::Paused,
                reading::State::Pending => wit::GenerationState::Pending,
                reading::State::Error => wit::GenerationState::Error,
                reading::State::Unknown => wit::GenerationState::Unknown,
            }
        }

        fn value(fact: reading::Fact) -> wit::FactValue {
            match fact {
                reading::Fact::Flag(flag) => wit::FactValue::Flag(flag),
                reading::Fact::Count(count) => wit::FactValue::Count(count),
                reading::Fact::Word(word) => wit::FactValue::Word(word),
            }
        }
    };
}
