//! The world `acceptance`: what a module is given, and what it may say.

use std::fs;
use std::path::Path;

use model::Digest;
use model::acceptance::{
    AcceptanceFacts, AcceptanceRequest, ArtifactState, CitedCheck, Derivation, PriorAcceptance,
    SourceOutput,
};
use model::decision::CallStatus;
use model::event::task::Verdict;
use model::projection::call::Unavailable;
use model::reading::GenerationState;
use runtime::{
    Acceptance, Contract, InvalidResult, Limits, LoadError, RunError, World, compile, scan,
};

use crate::common::abi::{Ty, Value, list, text};
use crate::common::fixture::{Fixture, ok, plain_info, refused};
use crate::common::{CHECK, acceptance, accepted, limits, sandbox, types};

fn decide(module: &Acceptance) -> Result<Vec<String>, RunError> {
    let (request, facts) = accepted();
    let outcome = module.decide(&request, &facts, None);
    outcome.map(|outcome| outcome.value)
}

fn saying(reasons: Vec<Value>) -> Result<Vec<String>, RunError> {
    let mut fixture = Fixture::acceptance();
    fixture.returns("decide", &ok(Value::List(reasons)));
    decide(&acceptance(&fixture))
}

fn invalid(field: &str, expected: &str, found: &str) -> RunError {
    RunError::InvalidResult(InvalidResult {
        field: field.to_owned(),
        expected: expected.to_owned(),
        found: found.to_owned(),
    })
}

#[test]
fn an_acceptance_module_says_what_it_is_and_decides() {
    let fixture = Fixture::acceptance();
    let scanned = scan(&fixture.build(), &Limits::P1).unwrap();
    assert_eq!(scanned.contract, Contract::AcceptanceV0_0_1);
    let module = acceptance(&fixture);
    let info = module.info();
    assert_eq!(info.label.as_str(), "fixture-acceptance-v1");
    assert_eq!(info.summary, "Judges nothing.");
    assert_eq!(info.supersedes, ["fixture-v0".parse().unwrap()]);
    assert_eq!(module.module().label, info.label);
    assert_eq!(module.module().sha256, Digest::of(&fixture.build()));
    let (request, facts) = accepted();
    let first = module.decide(&request, &facts, Some(b"{}")).unwrap();
    assert_eq!(first.value, [""; 0]);
    assert_eq!(module.decide(&request, &facts, Some(b"{}")).unwrap(), first);
}

#[test]
fn a_module_of_another_world_is_no_acceptance_module() {
    let compiled = compile(&Fixture::check().build()).unwrap();
    let error = sandbox(limits()).acceptance(&compiled).unwrap_err();
    let expected = World::Acceptance;
    let found = Contract::CheckV0_0_1;
    assert_eq!(error, LoadError::World { expected, found });
}

#[test]
fn other_types_than_those_of_the_contract_do_not_load() {
    let mut fixture = Fixture::acceptance();
    fixture.retypes("decide", types::outcome(list(Ty::U32)));
    let compiled = compile(&fixture.build()).unwrap();
    let error = sandbox(limits()).acceptance(&compiled).unwrap_err();
    let LoadError::Types { function, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(function, "decide");
}

#[test]
fn a_module_that_names_itself_badly_does_not_load() {
    let mut fixture = Fixture::acceptance();
    fixture.returns("describe", &plain_info("Upper"));
    let compiled = compile(&fixture.build()).unwrap();
    let error = sandbox(limits()).acceptance(&compiled).unwrap_err();
    let expected = "1 to 64 bytes of a-z, 0-9, `-`, `_` and `.`, starting with a letter or a \
                    digit";
    let invalid = invalid("label", expected, "`Upper`");
    assert_eq!(error, LoadError::Describe(invalid));
}

#[test]
fn reasons_come_as_they_were_said() {
    let reasons = ["b", "a reason: 73%~", "!"];
    assert_eq!(
        saying(reasons.map(text).to_vec()),
        Ok(reasons.map(str::to_owned).to_vec())
    );
}

#[test]
fn a_reason_is_short_printable_ascii() {
    let place = "reasons[1]";
    let expected = "1 to 128 bytes of printable ASCII";
    for (reason, found) in [
        ("", "``"),
        ("é", "`é`"),
        ("a\nb", "`a\\nb`"),
        ("\u{7f}", "`\\u{7f}`"),
    ] {
        assert_eq!(
            saying(vec![text("a"), text(reason)]),
            Err(invalid(place, expected, found))
        );
    }
    let longest = "x".repeat(128);
    assert_eq!(saying(vec![text(&longest)]), Ok(vec![longest]));
    let found = format!("`{}`…", "x".repeat(80));
    assert_eq!(
        saying(vec![text("a"), text(&"x".repeat(129))]),
        Err(invalid(place, expected, &found))
    );
}

#[test]
fn a_reason_is_said_once() {
    assert_eq!(
        saying(["a", "b", "a"].map(text).to_vec()),
        Err(invalid("reasons[2]", "each reason once", "`a` twice"))
    );
}

#[test]
fn at_most_256_reasons_are_said() {
    let reasons = |count: usize| (0..count).map(|each| text(&each.to_string())).collect();
    assert_eq!(saying(reasons(256)).map(|reasons| reasons.len()), Ok(256));
    assert_eq!(
        saying(reasons(257)),
        Err(invalid("reasons", "at most 256 entries", "257 entries"))
    );
}

#[test]
fn a_refusal_is_typed() {
    let mut fixture = Fixture::acceptance();
    fixture.returns("decide", &refused("malformed_facts", "why"));
    let error = RunError::Refused {
        code: "malformed_facts".to_owned(),
        detail: "why".to_owned(),
    };
    assert_eq!(decide(&acceptance(&fixture)), Err(error));
    fixture.returns("decide", &refused("No", "why"));
    let error = invalid("refusal.code", "1 to 64 bytes of a-z, 0-9 and `_`", "`No`");
    assert_eq!(decide(&acceptance(&fixture)), Err(error));
}

#[test]
fn a_trap_and_a_loop_end_the_decision() {
    let mut fixture = Fixture::acceptance();
    fixture.does("decide", "unreachable");
    assert!(matches!(
        decide(&acceptance(&fixture)),
        Err(RunError::Trap(_))
    ));
    fixture.does("decide", "(loop br 0) unreachable");
    assert!(matches!(
        decide(&acceptance(&fixture)),
        Err(RunError::OutOfFuel { .. })
    ));
}

#[test]
fn too_large_a_configuration_is_refused_before_the_module_runs() {
    let small = Limits {
        input_bytes: 3,
        ..limits()
    };
    let compiled = compile(&Fixture::acceptance().build()).unwrap();
    let module = sandbox(small).acceptance(&compiled).unwrap();
    let (request, facts) = accepted();
    assert!(module.decide(&request, &facts, Some(b"123")).is_ok());
    let error = RunError::InputTooLarge { found: 4, limit: 3 };
    assert_eq!(
        module.decide(&request, &facts, Some(b"1234")).unwrap_err(),
        error
    );
}

/// A released module.
fn released(label: &str) -> Acceptance {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../interpreters/released");
    let bytes = fs::read(folder.join(format!("{label}.wasm"))).unwrap();
    let compiled = compile(&bytes).unwrap();
    sandbox(Limits::P1).acceptance(&compiled).unwrap()
}

type Case = (AcceptanceRequest, AcceptanceFacts);

fn says(module: &Acceptance, spoil: impl FnOnce(&mut Case)) -> Vec<String> {
    let mut case = accepted();
    spoil(&mut case);
    module.decide(&case.0, &case.1, None).unwrap().value
}

/// Makes every fact one that something is against, and none that silences others.
fn spoil_everything((_, facts): &mut Case) {
    let other = Digest::of(b"other");
    facts.task.definitions = 2;
    facts.task.criteria_sha256 = Some(other);
    facts.task.criteria_count = 3;
    let source = &mut facts.source;
    let call = source.call.as_mut().unwrap();
    call.of_task = false;
    call.status = Some(CallStatus::Unresolved);
    source.attempt_is_final = false;
    let reading = source.interpretation.as_mut().unwrap();
    reading.is_decision_basis = false;
    reading.of_call = false;
    reading.generation_state = GenerationState::Truncated;
    source.producer = Some("reviewer".parse().unwrap());
    source.output = SourceOutput::Text(other);
    source.artifact = ArtifactState::Unavailable(Unavailable::Corrupt);
    let check = facts.checks[0].found.as_mut().unwrap();
    check.linked = false;
    check.completions = 2;
    check.of_task = false;
    check.of_output = false;
    check.artifact_sha256 = None;
    check.criteria_sha256 = Some(other);
    check.verdict = Verdict::Inconclusive;
    facts.checks.push(CitedCheck {
        id: "0190a6c2-7c00-7000-8000-000000000002".parse().unwrap(),
        found: None,
    });
}

#[test]
fn every_fact_reaches_the_released_modules() {
    let expected = format!(
        "ambiguous_task_definition criteria_mismatch source_call_wrong_task \
         source_call_not_succeeded source_attempt_not_final interpretation_not_decision_basis \
         interpretation_wrong_call generation_not_complete self_acceptance \
         artifact_not_source_output artifact_corrupted check_ambiguous:{CHECK} \
         check_unlinked:{CHECK} check_wrong_task:{CHECK} check_wrong_artifact:{CHECK} \
         check_not_passed:{CHECK}:INCONCLUSIVE \
         check_not_found:0190a6c2-7c00-7000-8000-000000000002"
    );
    let reasons = says(&released("task-acceptance-v1"), spoil_everything);
    assert_eq!(reasons.join(" "), expected);
    let expected = expected
        .replace("artifact_not_source_output", "derivation_not_recorded")
        .replace(
            &format!("check_wrong_artifact:{CHECK}"),
            &format!(
                "check_wrong_output:{CHECK} check_wrong_artifact:{CHECK} \
                 check_wrong_criteria:{CHECK}"
            ),
        );
    let expected = format!(
        "{expected} criterion_not_covered:0 criterion_not_covered:1 criterion_not_covered:2"
    );
    let reasons = says(&released("task-acceptance-v2"), spoil_everything);
    assert_eq!(reasons.join(" "), expected);
}

#[test]
fn the_facts_that_silence_others_reach_the_released_modules() {
    for label in ["task-acceptance-v1", "task-acceptance-v2"] {
        let module = released(label);
        let nobody = says(&module, |(request, _)| request.actor = None);
        assert_eq!(nobody, ["missing_actor", "unauthorized"]);
        let powerless = says(&module, |(_, facts)| facts.task.capabilities.clear());
        assert_eq!(powerless, ["unauthorized"]);
        let different = says(&module, |(_, facts)| {
            facts.prior = PriorAcceptance::Different;
        });
        assert_eq!(different, ["conflicting_acceptance"]);
        let identical = says(&module, |(_, facts)| {
            facts.prior = PriorAcceptance::Identical;
            facts.source.call = None;
        });
        assert_eq!(identical, [""; 0]);
        let unknown = says(&module, |(_, facts)| facts.source.call = None);
        assert_eq!(unknown, ["source_call_not_found"]);
        let foreign = says(&module, |(_, facts)| {
            facts.source.attempt_of_call = false;
            facts.source.interpretation = None;
            facts.source.output = SourceOutput::Unavailable(Unavailable::Withheld);
            facts.source.artifact = ArtifactState::Unavailable(Unavailable::Erased);
        });
        let expected = [
            "source_attempt_not_in_call",
            "interpretation_not_decision_basis",
            "interpretation_not_found",
            "source_output_not_preserved",
            "artifact_not_preserved",
        ];
        assert_eq!(foreign, expected);
    }
}

#[test]
fn a_recorded_derivation_reaches_version_2() {
    let module = released("task-acceptance-v2");
    let derive = |actor: &'static str| {
        move |(request, facts): &mut Case| {
            let text = Digest::of(b"text");
            facts.source.output = SourceOutput::Text(text);
            facts.source.derivations.push(Derivation {
                from_sha256: text,
                to_sha256: request.artifact_sha256,
                actor: actor.parse().unwrap(),
            });
        }
    };
    assert_eq!(says(&module, derive("editor")), [""; 0]);
    assert_eq!(says(&module, derive("reviewer")), ["self_acceptance"]);
}
