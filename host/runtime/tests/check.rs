//! The world `check`: what a module is given, and what it may say.

use std::fs;
use std::path::Path;

use model::checking::CheckReport;
use model::event::task::{Finding, Verdict};
use runtime::{Check, Contract, InvalidResult, Limits, LoadError, RunError, World, compile, scan};

use crate::common::abi::{Value, text};
use crate::common::fixture::{Fixture, ok, refused};
use crate::common::{check, limits, sandbox, types};

const PASS: u8 = 0;
const FAIL: u8 = 1;
const INCONCLUSIVE: u8 = 2;

fn criteria(count: usize) -> Vec<String> {
    (0..count).map(|each| format!("criterion {each}")).collect()
}

fn run(module: &Check) -> Result<CheckReport, RunError> {
    let outcome = module.check(&criteria(3), b"text", None);
    outcome.map(|outcome| outcome.value)
}

/// Runs a check of three criteria that finds this.
fn finding(verdict: u8, findings: &[(u32, u8, &str)]) -> Result<CheckReport, RunError> {
    let found = findings.iter().map(|(criterion, verdict, note)| {
        Value::Fields(vec![
            Value::U32(*criterion),
            Value::Case(*verdict, None),
            text(note),
        ])
    });
    let report = Value::Fields(vec![
        Value::Case(verdict, None),
        Value::List(found.collect()),
    ]);
    let mut fixture = Fixture::check();
    fixture.returns("check", &ok(report));
    run(&check(&fixture))
}

fn invalid(field: &str, expected: &str, found: &str) -> RunError {
    RunError::InvalidResult(InvalidResult {
        field: field.to_owned(),
        expected: expected.to_owned(),
        found: found.to_owned(),
    })
}

#[test]
fn a_check_says_what_it_is_and_checks() {
    let fixture = Fixture::check();
    let scanned = scan(&fixture.build(), &Limits::P1).unwrap();
    assert_eq!(scanned.contract, Contract::CheckV0_0_1);
    let module = check(&fixture);
    let info = module.info();
    assert_eq!(info.label.as_str(), "fixture-check-v1");
    assert_eq!(info.summary, "Judges nothing.");
    assert_eq!(info.supersedes, ["fixture-v0".parse().unwrap()]);
    assert_eq!(module.module().label, info.label);
    let expected = CheckReport {
        verdict: Verdict::Pass,
        findings: Vec::new(),
    };
    let first = module.check(&[], b"", Some(b"{}")).unwrap();
    assert_eq!(first.value, expected);
    assert_eq!(module.check(&[], b"", Some(b"{}")).unwrap(), first);
}

#[test]
fn a_module_of_another_world_is_no_check() {
    let compiled = compile(&Fixture::acceptance().build()).unwrap();
    let error = sandbox(limits()).check(&compiled).unwrap_err();
    let expected = World::Check;
    let found = Contract::AcceptanceV0_0_1;
    assert_eq!(error, LoadError::World { expected, found });
}

#[test]
fn other_types_than_those_of_the_contract_do_not_load() {
    let mut fixture = Fixture::check();
    fixture.retypes("check", types::outcome(types::plain_info()));
    let compiled = compile(&fixture.build()).unwrap();
    let error = sandbox(limits()).check(&compiled).unwrap_err();
    let LoadError::Types { function, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(function, "check");
}

#[test]
fn a_report_comes_as_it_was_said() {
    let found = |criterion, verdict, note: &str| Finding {
        criterion,
        verdict,
        note: note.to_owned(),
    };
    let expected = CheckReport {
        verdict: Verdict::Fail,
        findings: vec![
            found(0, Verdict::Pass, ""),
            found(1, Verdict::Inconclusive, "é"),
            found(2, Verdict::Fail, "two"),
        ],
    };
    let findings = [(0, PASS, ""), (1, INCONCLUSIVE, "é"), (2, FAIL, "two")];
    assert_eq!(finding(FAIL, &findings), Ok(expected));
    // Not every criterion needs a finding.
    let report = finding(INCONCLUSIVE, &[(1, PASS, "")]).unwrap();
    assert_eq!(report.verdict, Verdict::Inconclusive);
    assert_eq!(report.findings.len(), 1);
}

#[test]
fn a_criterion_is_one_of_those_that_were_given() {
    for criterion in [3, u32::MAX] {
        assert_eq!(
            finding(FAIL, &[(0, PASS, ""), (criterion, PASS, "")]),
            Err(invalid(
                "findings[1].criterion",
                "less than 3, the number of criteria",
                &criterion.to_string()
            ))
        );
    }
}

#[test]
fn findings_are_in_order_and_one_for_each_criterion() {
    let refused = |found: &str| {
        let expected = "more than 1, the one before it";
        Err(invalid("findings[1].criterion", expected, found))
    };
    assert_eq!(finding(FAIL, &[(1, FAIL, ""), (0, PASS, "")]), refused("0"));
    assert_eq!(finding(FAIL, &[(1, FAIL, ""), (1, PASS, "")]), refused("1"));
    assert_eq!(
        finding(FAIL, &[(0, FAIL, ""); 4]),
        Err(invalid("findings", "at most 3 entries", "4 entries"))
    );
}

#[test]
fn a_note_is_at_most_256_bytes() {
    assert!(finding(PASS, &[(0, PASS, &"n".repeat(256))]).is_ok());
    assert_eq!(
        finding(PASS, &[(0, PASS, &"n".repeat(257))]),
        Err(invalid(
            "findings[0].note",
            "at most 256 bytes",
            "257 bytes"
        ))
    );
}

#[test]
fn nothing_passes_while_a_criterion_does_not() {
    for verdict in [FAIL, INCONCLUSIVE] {
        assert_eq!(
            finding(PASS, &[(0, PASS, ""), (2, verdict, "")]),
            Err(invalid(
                "verdict",
                "pass only if every finding is",
                "pass, while criterion 2 does not"
            ))
        );
    }
}

#[test]
fn a_refusal_is_typed() {
    let mut fixture = Fixture::check();
    fixture.returns("check", &refused("configuration", "why"));
    let error = RunError::Refused {
        code: "configuration".to_owned(),
        detail: "why".to_owned(),
    };
    assert_eq!(run(&check(&fixture)), Err(error));
}

#[test]
fn a_trap_and_a_loop_end_the_check() {
    let mut fixture = Fixture::check();
    fixture.does("check", "unreachable");
    assert!(matches!(run(&check(&fixture)), Err(RunError::Trap(_))));
    fixture.does("check", "(loop br 0) unreachable");
    assert!(matches!(
        run(&check(&fixture)),
        Err(RunError::OutOfFuel { .. })
    ));
}

#[test]
fn too_much_input_is_refused_before_the_module_runs() {
    let small = Limits {
        input_bytes: 16,
        ..limits()
    };
    let compiled = compile(&Fixture::check().build()).unwrap();
    let module = sandbox(small).check(&compiled).unwrap();
    // 11 bytes of criteria, 3 of the artifact, 2 of the configuration.
    let fits = module.check(&criteria(1), b"123", Some(b"{}"));
    assert!(fits.is_ok(), "{fits:?}");
    for (artifact, configuration) in [("1234", "{}"), ("123", "{ }")] {
        let error = RunError::InputTooLarge {
            found: 17,
            limit: 16,
        };
        let configuration = Some(configuration.as_bytes());
        let refused = module.check(&criteria(1), artifact.as_bytes(), configuration);
        assert_eq!(refused.unwrap_err(), error);
    }
}

#[test]
fn the_released_check_reads_criteria_bytes_and_configuration() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../interpreters/released");
    let bytes = fs::read(folder.join("text-check-v1.wasm")).unwrap();
    let compiled = compile(&bytes).unwrap();
    let module = sandbox(Limits::P1).check(&compiled).unwrap();
    let rules = br#"{"rules":[{"criterion":0,"contains":"text"},{"criterion":2,"max_bytes":3}]}"#;
    let report = module.check(&criteria(3), b"text", Some(rules)).unwrap();
    assert_eq!(report.value.verdict, Verdict::Fail);
    let verdicts: Vec<Verdict> = report
        .value
        .findings
        .iter()
        .map(|found| found.verdict)
        .collect();
    assert_eq!(
        verdicts,
        [Verdict::Pass, Verdict::Inconclusive, Verdict::Fail]
    );
    let note = "rule 1: expected at most 3 bytes, found 4";
    assert_eq!(report.value.findings[2].note, note);
    let refused = module.check(&criteria(2), b"text", Some(rules));
    let error = RunError::Refused {
        code: "configuration".to_owned(),
        detail: "rule 1: expected a criterion below 2, the number of criteria".to_owned(),
    };
    assert_eq!(refused.unwrap_err(), error);
}
