//! The world `interpreter`.

/// Makes the crate that calls it a component of the world `interpreter`.
#[macro_export]
macro_rules! interpreter {
    ($version:expr) => {
        wit_bindgen::generate!({
            path: "../../wit/v1/interpreter.wit",
            world: "interpreter",
        });

        extern crate alloc;
        use alloc::vec::Vec;
        use exports::reread::interpreter::reader as wit;
        use $crate::attempt;
        use $crate::attempt::reading;

        const VERSION: attempt::Interpreter = $version;

        struct Component;

        export!(Component);

        impl wit::Guest for Component {
            fn describe() -> wit::ModuleInfo {
                wit::ModuleInfo {
                    label: VERSION.label().into(),
                    summary: VERSION.summary().into(),
                    dialects: attempt::observation::DIALECTS.map(Into::into).into(),
                    vocabulary: VERSION.vocabulary(),
                    supersedes: VERSION.supersedes().iter().copied().map(Into::into).collect(),
                }
            }

            fn interpret(
                observation: wit::Observation,
                _configuration: Option<Vec<u8>>,
            ) -> Result<wit::Reading, wit::Refusal> {
                let seen = attempt::Observation {
                    dialect: &observation.dialect,
                    outcome: match observation.outcome {
                        wit::TransportOutcome::ResponseReceived => {
                            attempt::Outcome::ResponseReceived
                        }
                        wit::TransportOutcome::HttpError => attempt::Outcome::HttpError,
                        wit::TransportOutcome::NoResponse => attempt::Outcome::NoResponse,
                        wit::TransportOutcome::Interrupted => attempt::Outcome::Interrupted,
                    },
                    status: observation.status,
                    exception_type: observation.exception_type.as_deref(),
                    response_body: observation.response_body.as_deref(),
                };
                Ok(translated(attempt::interpret(VERSION, &seen)))
            }

            fn decode(observation: wit::Observation) -> Result<Vec<u8>, wit::Refusal> {
                Ok(observation.response_body.unwrap_or_default())
            }
        }

        fn translated(reading: attempt::Reading<'_>) -> wit::Reading {
            let owned = |text: alloc::borrow::Cow<'_, str>| text.into_owned();
            let bytes = |text: alloc::borrow::Cow<'_, str>| text.into_owned().into_bytes();
            wit::Reading {
                generation_state: state(reading.generation_state),
                provider_reason: reading.provider_reason.map(owned),
                provider_reason_source: reading.provider_reason_source.map(Into::into),
                basis: wit::Basis {
                    kind: reading.basis.kind.as_str().into(),
                    detail: reading.basis.detail.into(),
                },
                output_text: reading.output_text.map(bytes),
                tool_calls: reading
                    .tool_calls
                    .into_iter()
                    .map(|call| wit::ToolCall {
                        id: call.id.map(owned),
                        name: owned(call.name),
                        arguments: bytes(call.arguments),
                    })
                    .collect(),
                refusal: reading.refusal.map(bytes),
                structured_output: wit::StructuredOutput::NotRequested,
                usage: usage(reading.usage),
                model: reading.model.map(owned),
                response_id: reading.response_id.map(owned),
                error: reading.error.map(|error| wit::ProviderError {
                    class: error.class.as_str().into(),
                    code: error.code.map(owned),
                    message: error.message.map(bytes),
                }),
                choices: reading
                    .choices
                    .into_iter()
                    .map(|choice| wit::Choice {
                        index: choice.index,
                        generation_state: state(choice.generation_state),
                        provider_reason: choice.provider_reason.map(owned),
                        output_text: choice.output_text.map(bytes),
                    })
                    .collect(),
                facts: reading
                    .facts
                    .into_iter()
                    .map(|(name, fact)| (name.into(), value(fact)))
                    .collect(),
                citations: reading
                    .citations
                    .into_iter()
                    .map(|citation| wit::Citation {
                        field: citation.field.into(),
                        pointer: owned(citation.pointer),
                        start: citation.start,
                        end: citation.end,
                    })
                    .collect(),
            }
        }

        fn usage(usage: reading::Usage) -> wit::Usage {
            wit::Usage {
                input: usage.input,
                output: usage.output,
                cached_input: usage.cached_input,
                cache_write: usage.cache_write,
                reasoning: usage.reasoning,
                total: usage.total,
                diagnostics: usage
                    .diagnostics
                    .into_iter()
                    .map(|(component, why)| (component.into(), why.into()))
                    .collect(),
            }
        }

        fn state(state: reading::GenerationState) -> wit::GenerationState {
            match state {
                reading::GenerationState::Complete => wit::GenerationState::Complete,
                reading::GenerationState::Truncated => wit::GenerationState::Truncated,
                reading::GenerationState::Filtered => wit::GenerationState::Filtered,
                reading::GenerationState::Empty => wit::GenerationState::Empty,
                reading::GenerationState::Unknown => wit::GenerationState::Unknown,
            }
        }

        fn value(fact: reading::Fact) -> wit::FactValue {
            match fact {
                reading::Fact::Flag(flag) => wit::FactValue::Flag(flag),
                reading::Fact::Word(word) => wit::FactValue::Word(word.into()),
            }
        }
    };
}
