//! Failures: by status, by what a body says, and without any response.

use alloc::borrow::Cow;

use wire::class::{self, Class, Classified, Evidence};
use wire::complaint::{self, Complaint};
use wire::framing::Form;
use wire::json::{Cite, Reader};
use wire::transcript::Transcript;

use crate::observation::{Observation, Outcome};
use crate::reading::{Basis, State};

/// The header in which AWS names the type of an error.
const ERROR_TYPE: &str = "x-amzn-errortype";

/// What was concluded of a failure.
#[derive(Debug, Clone)]
pub(crate) struct Failed<'c> {
    pub(crate) state: State,
    pub(crate) class: Class,
    pub(crate) basis: Basis,
    pub(crate) place: Option<&'c Cite>,
}

/// Concludes about an error that a body reports. `status` is the HTTP status
/// unless it is one of success.
pub(crate) fn of_complaint<'c>(
    observation: &Observation<'_>,
    complaint: &'c Complaint<'_>,
    status: Option<u16>,
) -> Failed<'c> {
    let header = observation.header(ERROR_TYPE).next();
    let Classified {
        mut class,
        evidence,
        place,
    } = class::of_failure(complaint, header, status);
    let mut detail = evidence.as_str();
    // The request was good enough to begin with, so what failed is the server.
    if evidence == Evidence::None && complaint.document > 0 {
        class = Class::ServerError;
        detail = "failed_after_start";
    }
    let declined = place.is_some_and(|place| place.text == "refusal");
    let state = if class != Class::ContentFilter {
        State::Error
    } else if declined {
        State::Refused
    } else {
        State::Filtered
    };
    let kind = match (evidence, status) {
        (Evidence::Status, _) => "http_status",
        (_, Some(_)) => "http_error",
        (_, None) => "error_reported",
    };
    Failed {
        state,
        class,
        basis: Basis { kind, detail },
        place: place.map(|place| &place.cite),
    }
}

/// Reads what the body of a failed request says, whatever its dialect.
pub(crate) fn said<'a>(
    body: &'a [u8],
    transcript: Option<&Transcript<'a>>,
) -> Option<Complaint<'a>> {
    let streamed = transcript.filter(|transcript| transcript.form.is_stream());
    if let Some(complaint) = streamed.and_then(|transcript| transcript.complaint.clone()) {
        return Some(complaint);
    }
    let whole = transcript.is_none_or(|transcript| match transcript.form {
        Form::Json | Form::JsonLines | Form::JsonArray => true,
        Form::Sse | Form::EventStream | Form::Empty | Form::Other => false,
    });
    if !whole {
        return None;
    }
    let mut reader = Reader::of_body(body);
    complaint::of_failure(&mut reader).ok().flatten()
}

/// Concludes about an exchange without a whole response.
pub(crate) fn of_transport<'c>(observation: &Observation<'_>) -> Failed<'c> {
    let (class, detail) = match observation.exception_type {
        Some("Timeout" | "ConnectTimeout" | "ReadTimeout" | "TimeoutError" | "TimeoutExpired") => {
            (Class::Timeout, "timeout")
        }
        Some("ClientGone") => (Class::Cancelled, "client_gone"),
        Some(_) | None if observation.outcome == Outcome::NoResponse => {
            (Class::TransportCut, "no_response")
        }
        Some(_) | None => (Class::TransportCut, "interrupted"),
    };
    Failed {
        state: State::Error,
        class,
        basis: Basis {
            kind: "transport",
            detail,
        },
        place: None,
    }
}

/// Returns the provider's own word for an error: its code, else its type, else
/// its status.
pub(crate) fn word<'a, 'c>(complaint: &'c Complaint<'a>) -> Option<(&'c Cow<'a, str>, &'c Cite)> {
    let code = complaint.code.as_ref();
    let word = code
        .or(complaint.kind.as_ref())
        .or(complaint.status.as_ref())
        .or(complaint.detail.as_ref())?;
    Some((&word.text, &word.cite))
}
