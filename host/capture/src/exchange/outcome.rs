//! How an exchange ended: the given word must agree with the response.

use model::exchange::TransportOutcome::{
    self, HttpError, Interrupted, NoResponse, ResponseReceived,
};
use model::exchange::{ExceptionType, TransportOutcome as Outcome};

use super::Response;
use super::error::LineError;
use super::exception::exception_type;
use super::json::Member;

const OUTCOMES: [Outcome; 4] = [ResponseReceived, HttpError, NoResponse, Interrupted];

/// A word of a closed list is short; what is longer need not be read.
const WORD_BYTES_MAX: usize = 128;

/// Returns the given outcome if it agrees with the response, else the one that
/// follows from it.
pub(super) fn read(member: Member<'_>, response: &Response) -> Result<Outcome, LineError> {
    let word = member.string("a string or null", WORD_BYTES_MAX)?;
    let Some(word) = word else {
        return derived(response);
    };
    let given = OUTCOMES
        .into_iter()
        .find(|outcome| outcome.as_str() == word);
    let outcome = given.ok_or_else(|| LineError::UnknownWord {
        field: member.field,
        accepted: OUTCOMES.map(TransportOutcome::as_str).to_vec(),
    })?;
    match disagreement(outcome, response) {
        None => Ok(outcome),
        Some((expected, found)) => Err(LineError::OutcomeDisagrees {
            outcome,
            expected,
            found,
        }),
    }
}

/// Returns why no whole response arrived, which only some outcomes can have.
pub(super) fn read_exception(
    member: Member<'_>,
    outcome: Outcome,
) -> Result<Option<ExceptionType>, LineError> {
    let Some(name) = member.string("a string or null", WORD_BYTES_MAX)? else {
        return Ok(None);
    };
    let word = exception_type(&name).ok_or_else(|| LineError::UnknownWord {
        field: member.field,
        accepted: ExceptionType::ALL.map(ExceptionType::as_str).to_vec(),
    })?;
    match outcome {
        NoResponse | Interrupted => Ok(Some(word)),
        ResponseReceived | HttpError => Err(LineError::ExceptionDisagrees { outcome }),
    }
}

fn derived(response: &Response) -> Result<Outcome, LineError> {
    match response.status {
        Some(400..) => Ok(HttpError),
        Some(_) => Ok(ResponseReceived),
        None if response.body.is_some() => Err(LineError::BodyWithoutStatus),
        None => match disagreement(NoResponse, response) {
            None => Ok(NoResponse),
            Some((expected, found)) => Err(LineError::OutcomeDisagrees {
                outcome: NoResponse,
                expected,
                found,
            }),
        },
    }
}

/// Returns what the outcome expects and what the response has instead.
fn disagreement(outcome: Outcome, response: &Response) -> Option<(&'static str, &'static str)> {
    let nothing = "neither a status nor headers nor a body";
    let fine = "a status below 400";
    let bad = "a status of 400 or above";
    match (outcome, response.status) {
        (NoResponse, Some(_)) => Some((nothing, "a status")),
        (NoResponse, None) if response.body.is_some() => Some((nothing, "a body")),
        (NoResponse, None) if response.header_count > 0 => Some((nothing, "headers")),
        (ResponseReceived, None) => Some((fine, "none")),
        (ResponseReceived, Some(400..)) => Some((fine, "one of 400 or above")),
        (HttpError, None) => Some((bad, "none")),
        (HttpError, Some(..400)) => Some((bad, "one below 400")),
        (NoResponse | ResponseReceived | HttpError | Interrupted, _) => None,
    }
}
