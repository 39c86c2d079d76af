//! Tests of the parser: what it accepts, what it refuses and with which words,
//! what holds for any bytes, and the case files.

mod cases;
mod forms;
mod header_refusals;
mod outcomes;
mod properties;
mod refusals;

use serde_json::{Value, json};

use super::{Exchange, LineError, parse_line};

/// Returns a line that is accepted, with the members of `changes` put into it.
/// A member of `request` or `response` is named `request.path`.
fn line_with(changes: &[(&str, Value)]) -> String {
    let mut line = json!({
        "dialect": "openai.chat",
        "request": {"method": "POST", "path": "/v1/chat/completions"},
        "response": {"status": 200, "headers": {"content-type": "application/json"}, "body_utf8": "{}"},
    });
    for (field, value) in changes {
        match field.split_once('.') {
            Some((object, name)) => line[object][name] = value.clone(),
            None => line[field] = value.clone(),
        }
    }
    line.to_string()
}

fn parsed(changes: &[(&str, Value)]) -> Result<Exchange, LineError> {
    parse_line(line_with(changes).as_bytes())
}

fn accepted(changes: &[(&str, Value)]) -> Exchange {
    parsed(changes).unwrap_or_else(|error| panic!("{error}: {changes:?}"))
}

/// Checks the message of a refusal and returns its kind.
fn refused(changes: &[(&str, Value)], message: &str) -> LineError {
    refused_text(&line_with(changes), message)
}

fn refused_text(line: &str, message: &str) -> LineError {
    let error = parse_line(line.as_bytes()).expect_err(message);
    assert_eq!(error.to_string(), message);
    error
}

/// Checks a table of refusals: a field, its JSON value, what is expected and what
/// is found.
fn refused_rows(table: &str) {
    for row in table.trim().lines() {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [field, value, expected, found] = cells.as_slice() else {
            panic!("a row has four cells: {row}");
        };
        let value = serde_json::from_str(value).unwrap();
        let message = format!("`{field}`: {expected}, found {found}");
        refused(&[(field, value)], &message);
    }
}
