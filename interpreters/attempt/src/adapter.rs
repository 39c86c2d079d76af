//! What the versions made of an adapter's own words, at the time of a call.
//!
//! The runtime of that time passed an adapter's prose beside the bytes. It was
//! never preserved, so no observation leads here, and no module calls it: this
//! is kept so that the whole of both versions can be tested.

use crate::completion;
use crate::errors::{self, ErrorBody, TIMEOUT_TYPES};
use crate::interpretation::{Interpreter, blank, failure};
use crate::reading::{Basis, BasisKind, ErrorClass, Fact, GenerationState, Reading};

/// What an adapter reported without preserving a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report<'a> {
    /// It had no credentials and sent nothing.
    MissingCredentials,
    /// The request failed without a response.
    Exception {
        /// The name of the exception.
        exception_type: &'a str,
        /// What the adapter wrote about it.
        message: &'a str,
    },
    /// The provider answered with a failure whose body was not kept.
    HttpError {
        /// The HTTP status.
        status: u16,
        /// What the adapter wrote about it.
        message: &'a str,
    },
    /// An adapter that contacts no provider returned this text.
    FakeSuccess(&'a str),
}

/// Reads what an adapter reported.
pub fn interpret_report<'a>(interpreter: Interpreter, report: &Report<'a>) -> Reading<'a> {
    match *report {
        Report::MissingCredentials => failure(
            ErrorClass::MissingCredentials,
            Basis {
                kind: BasisKind::Configuration,
                detail: "missing_credentials",
            },
            ErrorBody::default(),
        ),
        Report::Exception {
            exception_type,
            message,
        } => exception(interpreter, exception_type, message),
        Report::HttpError { status, message } => http_error(interpreter, status, message),
        Report::FakeSuccess(text) => fake_success(interpreter, text),
    }
}

/// Version 1 believes the message, version 2 the type alone.
fn exception<'a>(interpreter: Interpreter, exception_type: &str, message: &str) -> Reading<'a> {
    let lower = message.to_ascii_lowercase();
    let told = lower.contains("timeout") || lower.contains("timed out");
    let (class, kind, detail) = match interpreter {
        Interpreter::V1 if told => (
            ErrorClass::Timeout,
            BasisKind::AdapterReported,
            "timeout_message",
        ),
        Interpreter::V2 if TIMEOUT_TYPES.contains(&exception_type) => (
            ErrorClass::Timeout,
            BasisKind::ExceptionType,
            "timeout_type",
        ),
        Interpreter::V1 => (
            ErrorClass::ProviderError,
            BasisKind::ExceptionType,
            "no_timeout_message",
        ),
        Interpreter::V2 => (
            ErrorClass::ProviderError,
            BasisKind::ExceptionType,
            "other_type",
        ),
    };
    failure(class, Basis { kind, detail }, ErrorBody::default())
}

fn http_error<'a>(interpreter: Interpreter, status: u16, message: &str) -> Reading<'a> {
    let (class, basis) = match interpreter {
        Interpreter::V1 => errors::classify_v1(status),
        Interpreter::V2 => errors::classify_v2(status, message.as_bytes()),
    };
    let mut reading = failure(class, basis, ErrorBody::default());
    if interpreter == Interpreter::V2 && basis.kind == BasisKind::BodySignature {
        let fact = Fact::Word("adapter_error_text");
        reading.facts.push(("evidence_source", fact));
    }
    reading
}

/// There is no provider, so there is no word that version 2 could trust.
fn fake_success(interpreter: Interpreter, text: &str) -> Reading<'_> {
    let has_text = !text.is_empty();
    let state = match interpreter {
        Interpreter::V1 => completion::legacy(has_text).0,
        Interpreter::V2 => GenerationState::Unknown,
    };
    let kind = BasisKind::AdapterReported;
    let detail = "fake_adapter";
    let basis = Basis { kind, detail };
    let mut reading = if state == GenerationState::Empty {
        Reading {
            generation_state: state,
            ..failure(ErrorClass::EmptyOutput, basis, ErrorBody::default())
        }
    } else {
        blank(state, basis)
    };
    reading.output_text = (!text.is_empty()).then_some(text.into());
    reading
}
