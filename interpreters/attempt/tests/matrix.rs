//! The historical corpus of 21 cases, which is data for other tests too.

use std::collections::BTreeSet;

use attempt::adapter::{Report, interpret_report};
use attempt::{Interpreter, Observation, Outcome, Reading, interpret};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    dialect: String,
    status: Option<u16>,
    outcome: String,
    exception_type: Option<String>,
    #[expect(dead_code, reason = "versions 1 and 2 read no headers")]
    headers: Vec<(String, String)>,
    body: Option<String>,
    native_only: bool,
    report: Option<AdapterReport>,
    expected: ByVersion,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AdapterReport {
    kind: String,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ByVersion {
    v1: Expected,
    v2: Expected,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    error_class: Option<String>,
    generation_state: String,
    basis_kind: String,
    provider_reason: Option<String>,
    provider_reason_source: Option<String>,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("matrix.json")).unwrap()
}

fn interpreted(version: Interpreter, case: &Case) -> Reading<'_> {
    if let Some(report) = &case.report {
        return interpret_report(version, &adapter_report(case, report));
    }
    let observation = Observation {
        dialect: &case.dialect,
        outcome: match case.outcome.as_str() {
            "response_received" => Outcome::ResponseReceived,
            "http_error" => Outcome::HttpError,
            "no_response" => Outcome::NoResponse,
            other => panic!("unknown outcome {other}"),
        },
        status: case.status,
        exception_type: case.exception_type.as_deref(),
        response_body: case.body.as_deref().map(str::as_bytes),
    };
    interpret(version, &observation)
}

fn adapter_report<'a>(case: &'a Case, report: &'a AdapterReport) -> Report<'a> {
    match report.kind.as_str() {
        "missing_credentials" => Report::MissingCredentials,
        "fake_success" => Report::FakeSuccess(&report.message),
        "exception" => Report::Exception {
            exception_type: case.exception_type.as_deref().unwrap(),
            message: &report.message,
        },
        other => panic!("unknown report {other}"),
    }
}

fn found(reading: &Reading<'_>) -> Expected {
    Expected {
        error_class: reading
            .error
            .as_ref()
            .map(|error| error.class.as_str().to_owned()),
        generation_state: reading.generation_state.as_str().to_owned(),
        basis_kind: reading.basis.kind.as_str().to_owned(),
        provider_reason: reading.provider_reason.as_deref().map(str::to_owned),
        provider_reason_source: reading.provider_reason_source.map(str::to_owned),
    }
}

#[test]
fn version_1_reads_every_case_as_it_did() {
    for case in cases() {
        let reading = interpreted(Interpreter::V1, &case);
        assert_eq!(found(&reading), case.expected.v1, "{}", case.name);
    }
}

#[test]
fn version_2_reads_every_case_as_it_did() {
    for case in cases() {
        let reading = interpreted(Interpreter::V2, &case);
        assert_eq!(found(&reading), case.expected.v2, "{}", case.name);
    }
}

#[test]
fn there_are_21_cases_of_different_names_and_4_of_them_are_native_only() {
    let cases = cases();
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    let native_only = cases.iter().filter(|case| case.native_only).count();
    assert_eq!((cases.len(), names.len(), native_only), (21, 21, 4));
}

#[test]
fn exactly_the_native_only_cases_have_a_report() {
    for case in cases() {
        assert_eq!(case.native_only, case.report.is_some(), "{}", case.name);
    }
}
