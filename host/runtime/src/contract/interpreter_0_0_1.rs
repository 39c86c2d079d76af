//! `reread:interpreter/reader@0.0.1`: the types of the contract, as they stand
//! in `wit/v1`, and their way into the model.

use std::collections::{BTreeMap, BTreeSet};

use model::exchange::{ExceptionType, Observation, TransportOutcome};
use model::reading::{
    Basis, Choice, Citation, Fact, GenerationState, ProviderError, Reading, StructuredOutput,
    TokenCounts, ToolCall, Usage,
};

use super::check::{self, Place, invalid};
use crate::error::{InvalidResult, RunError};
use crate::interpreter::InterpreterInfo;

mod generated {
    //! Only the types are used: functions are looked up once for all calls.
    wasmtime::component::bindgen!({
        path: "../../wit/v1/interpreter.wit",
        world: "interpreter",
        ownership: Borrowing { duplicate_if_necessary: true },
    });
}

pub(crate) use generated::exports::reread::interpreter::reader as wit;

/// The detail of a basis, in bytes.
const BASIS_DETAIL_BYTES_MAX: usize = 256;

/// The place where a reason was read, in bytes. It stands in an event as it is.
const REASON_SOURCE_BYTES_MAX: usize = 256;

/// Facts of one reading.
const FACTS_MAX: usize = 64;

/// The word of a fact, in bytes.
const FACT_WORD_BYTES_MAX: usize = 128;

/// The one fact that only the host writes.
const OVERSIZED: &str = "oversized";

/// Returns the headers as the contract takes them.
pub(crate) fn headers<'a>(observation: &Observation<'a>) -> Vec<(&'a str, &'a str)> {
    observation
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect()
}

/// Returns the observation as the contract takes it; nothing is copied.
pub(crate) fn observation<'a>(
    observation: &Observation<'a>,
    headers: &'a [(&'a str, &'a str)],
) -> wit::Observation<'a> {
    wit::Observation {
        dialect: observation.dialect,
        endpoint: observation.endpoint,
        outcome: match observation.outcome {
            TransportOutcome::ResponseReceived => wit::TransportOutcome::ResponseReceived,
            TransportOutcome::HttpError => wit::TransportOutcome::HttpError,
            TransportOutcome::NoResponse => wit::TransportOutcome::NoResponse,
            TransportOutcome::Interrupted => wit::TransportOutcome::Interrupted,
        },
        status: observation.status,
        headers,
        exception_type: observation.exception_type.map(ExceptionType::as_str),
        response_body: observation.response_body,
        request_body: observation.request_body,
    }
}

/// Returns what the module says of itself.
pub(crate) fn info(info: wit::ModuleInfo) -> Result<InterpreterInfo, InvalidResult> {
    if info.vocabulary == 0 {
        return Err(invalid("vocabulary", "at least 1", "0"));
    }
    Ok(InterpreterInfo {
        label: check::label("label", &info.label)?,
        summary: check::summary(info.summary)?,
        // A dialect is written like a label; which ones are known is not the
        // sandbox's business.
        dialects: check::listed("dialects", info.dialects, |place, dialect| {
            check::label(place, &dialect).map(|_| dialect)
        })?,
        vocabulary: info.vocabulary,
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

/// Returns the reading, which is wholly within the contract.
pub(crate) fn reading(vocabulary: u32, reading: wit::Reading) -> Result<Reading, InvalidResult> {
    Ok(Reading {
        vocabulary,
        generation_state: generation_state(reading.generation_state),
        provider_reason: reading.provider_reason,
        provider_reason_source: reading
            .provider_reason_source
            .map(|text| check::short("provider_reason_source", text, REASON_SOURCE_BYTES_MAX))
            .transpose()?,
        basis: Basis {
            kind: check::name("basis.kind", reading.basis.kind)?,
            detail: check::short("basis.detail", reading.basis.detail, BASIS_DETAIL_BYTES_MAX)?,
        },
        output_text: check::optional_utf8("output_text", reading.output_text)?,
        tool_calls: tool_calls(reading.tool_calls)?,
        refusal: check::optional_utf8("refusal", reading.refusal)?,
        structured_output: match reading.structured_output {
            wit::StructuredOutput::NotRequested => StructuredOutput::NotRequested,
            wit::StructuredOutput::Valid => StructuredOutput::Valid,
            wit::StructuredOutput::Invalid(why) => StructuredOutput::Invalid(why),
        },
        usage: usage(reading.usage)?,
        model: reading.model,
        response_id: reading.response_id,
        error: reading.error.map(provider_error).transpose()?,
        choices: choices(reading.choices)?,
        facts: facts(reading.facts)?,
        citations: citations(reading.citations)?,
    })
}

const fn generation_state(state: wit::GenerationState) -> GenerationState {
    match state {
        wit::GenerationState::Complete => GenerationState::Complete,
        wit::GenerationState::ToolCall => GenerationState::ToolCall,
        wit::GenerationState::Truncated => GenerationState::Truncated,
        wit::GenerationState::Refused => GenerationState::Refused,
        wit::GenerationState::Filtered => GenerationState::Filtered,
        wit::GenerationState::Empty => GenerationState::Empty,
        wit::GenerationState::Paused => GenerationState::Paused,
        wit::GenerationState::Pending => GenerationState::Pending,
        wit::GenerationState::Error => GenerationState::Error,
        wit::GenerationState::Unknown => GenerationState::Unknown,
    }
}

fn places<T>(field: &'static str, values: Vec<T>) -> impl Iterator<Item = (Place, T)> {
    values
        .into_iter()
        .enumerate()
        .map(move |(index, value)| (Place { field, index }, value))
}

fn tool_calls(calls: Vec<wit::ToolCall>) -> Result<Vec<ToolCall>, InvalidResult> {
    places("tool_calls", calls)
        .map(|(place, call)| {
            let arguments = check::utf8(place.member("arguments"), call.arguments)?;
            Ok(ToolCall {
                id: call.id,
                name: call.name,
                arguments,
            })
        })
        .collect()
}

fn usage(usage: wit::Usage) -> Result<Usage, InvalidResult> {
    let tokens = |name: &str, value: Option<u64>| {
        value
            .map(|value| check::count(format_args!("usage.{name}"), value))
            .transpose()
    };
    Ok(Usage {
        counts: TokenCounts {
            input: tokens("input", usage.input)?,
            output: tokens("output", usage.output)?,
            cached_input: tokens("cached_input", usage.cached_input)?,
            cache_write: tokens("cache_write", usage.cache_write)?,
            reasoning: tokens("reasoning", usage.reasoning)?,
            total: tokens("total", usage.total)?,
        },
        diagnostics: usage.diagnostics,
    })
}

fn provider_error(error: wit::ProviderError) -> Result<ProviderError, InvalidResult> {
    Ok(ProviderError {
        class: check::name("error.class", error.class)?,
        code: error.code,
        message: check::optional_utf8("error.message", error.message)?,
    })
}

fn choices(choices: Vec<wit::Choice>) -> Result<Vec<Choice>, InvalidResult> {
    let mut indexes = BTreeSet::new();
    places("choices", choices)
        .map(|(place, choice)| {
            if !indexes.insert(choice.index) {
                let found = format!("{} twice", choice.index);
                return Err(invalid(place.member("index"), "each index once", found));
            }
            let text = choice.output_text;
            Ok(Choice {
                index: choice.index,
                generation_state: generation_state(choice.generation_state),
                provider_reason: choice.provider_reason,
                output_text: check::optional_utf8(place.member("output_text"), text)?,
            })
        })
        .collect()
}

fn facts(facts: Vec<(String, wit::FactValue)>) -> Result<BTreeMap<String, Fact>, InvalidResult> {
    check::at_most("facts", facts.len(), FACTS_MAX)?;
    let mut map = BTreeMap::new();
    for (place, (name, value)) in places("facts", facts) {
        let name = check::name(place.member("name"), name)?;
        if name == OVERSIZED {
            let expected = "a name other than `oversized`, which only the host writes";
            return Err(invalid(place.member("name"), expected, "`oversized`"));
        }
        let value = match value {
            wit::FactValue::Flag(flag) => Fact::Flag(flag),
            wit::FactValue::Count(number) => {
                Fact::Count(check::count(place.member("value"), number)?)
            }
            wit::FactValue::Word(word) => Fact::Word(check::short(
                place.member("value"),
                word,
                FACT_WORD_BYTES_MAX,
            )?),
        };
        if map.contains_key(&name) {
            let found = format!("`{name}` twice");
            return Err(invalid(place.member("name"), "each name once", found));
        }
        map.insert(name, value);
    }
    Ok(map)
}

fn citations(citations: Vec<wit::Citation>) -> Result<Vec<Citation>, InvalidResult> {
    places("citations", citations)
        .map(|(place, citation)| {
            let end = check::count(place.member("end"), citation.end)?;
            if citation.start > end {
                let expected = format!("at most its end, {end}");
                let found = citation.start.to_string();
                return Err(invalid(place.member("start"), expected, found));
            }
            Ok(Citation {
                field: citation.field,
                pointer: citation.pointer,
                start: citation.start,
                end,
            })
        })
        .collect()
}
