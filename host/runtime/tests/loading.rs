//! From code to a module that runs: its world, its functions and their types.

use model::decision::{AttemptDecision, CallDecision, CallStatus, Disposition, Occasion};
use model::name::Mod;
use runtime::{Contract, Limits, LoadError, RunError, World, compile, scan};

use crate::common::abi::Ty;
use crate::common::fixture::Fixture;
use crate::common::{attempt, interpreter, limits, observation, policy, sandbox, types};

#[test]
fn an_interpreter_says_what_it_is() {
    let fixture = Fixture::interpreter();
    let loaded = interpreter(&fixture);
    let info = loaded.info();
    assert_eq!(info.label.as_str(), "fixture-v1");
    assert_eq!(info.summary, "Reads nothing.");
    assert_eq!(info.dialects, ["openai.chat"]);
    assert_eq!(info.vocabulary, 1);
    assert_eq!(info.supersedes, ["fixture-v0".parse().unwrap()]);
    let module = Mod {
        label: info.label.clone(),
        sha256: model::Digest::of(&fixture.build()),
    };
    assert_eq!(loaded.module(), &module);
    let error = RunError::OutOfFuel { limit: 5 }.of(&module);
    assert_eq!(
        error.to_string(),
        format!(
            "module fixture-v1 ({}): module ran out of fuel after 5 units (limit 5)",
            module.sha256
        )
    );
}

#[test]
fn a_policy_says_what_it_is_and_decides() {
    let loaded = policy(&Fixture::policy());
    let info = loaded.info();
    assert_eq!(info.label.as_str(), "fixture-policy-v1");
    assert_eq!(info.accepts_vocabulary, [1, 2]);
    assert_eq!(info.supersedes, ["fixture-policy-v0".parse().unwrap()]);
    let (facts, _) = attempt();
    let decision = AttemptDecision {
        disposition: Disposition::Accept,
        reason: "accepted".to_owned(),
    };
    let decided = loaded.decide_attempt(&facts, Some(b"{}")).unwrap();
    assert_eq!(decided.value, decision);
    let calls = [(facts, decision)];
    for occasion in [Occasion::Execution, Occasion::Reinterpretation] {
        let decided = loaded.decide_call(&calls, occasion, None).unwrap();
        let failed = CallDecision {
            status: CallStatus::Failed,
            reason: "why not".to_owned(),
        };
        assert_eq!(decided.value, failed);
    }
}

#[test]
fn a_module_of_the_other_world_does_not_load() {
    let compiled = compile(&Fixture::policy().build()).unwrap();
    assert_eq!(compiled.contract().world(), World::Policy);
    let error = sandbox(limits())
        .interpreter(&compiled)
        .map(drop)
        .unwrap_err();
    let expected = World::Interpreter;
    let found = Contract::PolicyV0_0_1;
    assert_eq!(error, LoadError::World { expected, found });
    assert_eq!(
        error.to_string(),
        "expected a module of world interpreter, found one that exports \
         reread:policy/decider@0.0.1"
    );
    let compiled = compile(&Fixture::interpreter().build()).unwrap();
    let error = sandbox(limits()).policy(&compiled).map(drop).unwrap_err();
    let expected = World::Policy;
    let found = Contract::InterpreterV0_0_1;
    assert_eq!(error, LoadError::World { expected, found });
}

/// Asserts that an interpreter does not load because of one function's types.
fn mistyped(fixture: &Fixture, function: &str, words: &str) {
    let compiled = compile(&fixture.build()).unwrap();
    let error = sandbox(limits())
        .interpreter(&compiled)
        .map(drop)
        .unwrap_err();
    let LoadError::Types {
        contract,
        function: named,
        detail,
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!(*contract, Contract::InterpreterV0_0_1);
    assert_eq!(*named, function);
    assert_eq!(detail, words);
    let message = format!(
        "function `{function}` of reread:interpreter/reader@0.0.1 has other types than the \
         contract: {words}"
    );
    assert_eq!(error.to_string(), message);
}

#[test]
fn an_export_of_the_right_name_with_other_types_does_not_load() {
    let mut fixture = Fixture::interpreter();
    fixture.retypes("decode", types::outcome(Ty::Str));
    mistyped(
        &fixture,
        "decode",
        "failed to convert function to given type: type mismatch with results: expected `list` found `string`",
    );
    let mut fixture = Fixture::interpreter();
    let Ty::Record(name, mut fields) = types::reading() else {
        panic!("not a record");
    };
    fields[0].0 = "state";
    fixture.retypes("interpret", types::outcome(Ty::Record(name, fields)));
    mistyped(
        &fixture,
        "interpret",
        "failed to convert function to given type: type mismatch with results: expected record field named generation-state, found state",
    );
}

#[test]
fn an_interface_that_lacks_a_function_does_not_load() {
    let mut fixture = Fixture::interpreter();
    fixture.without = Some("decode");
    mistyped(&fixture, "decode", "the function is not exported");
}

#[test]
fn a_module_is_given_the_exact_bytes_and_only_those() {
    // `decode` returns the response body that it was given: the pointer and the
    // length stand in the observation, after seven other fields.
    let mut fixture = Fixture::interpreter();
    fixture.does(
        "decode",
        "(i32.store8 (i32.const 512) (i32.const 0))
         (i32.store (i32.const 516) (i32.load (i32.add (local.get 0) (i32.const 48))))
         (i32.store (i32.const 520) (i32.load (i32.add (local.get 0) (i32.const 52))))
         i32.const 512",
    );
    let loaded = interpreter(&fixture);
    for body in [&b""[..], b"{}", &[0, 159, 146, 150], &vec![7; 1 << 20]] {
        let decoded = loaded.decode(&observation(body)).unwrap();
        assert_eq!(decoded.value, body);
    }
}

#[test]
fn loaded_modules_are_used_from_several_threads() {
    let loaded = interpreter(&Fixture::interpreter());
    let fuel: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let runs = (0..50).map(|_| loaded.interpret(&observation(b"{}"), None));
                    runs.map(|outcome| outcome.unwrap().fuel).max().unwrap()
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert!(fuel.iter().all(|used| *used == fuel[0]), "{fuel:?}");
}

#[test]
fn an_altered_component_that_passes_the_scan_gives_a_result_or_an_error() {
    let bytes = Fixture::interpreter().build();
    let sandbox = sandbox(limits().with_fuel(100_000));
    let (mut passed, mut loaded, mut answered) = (0, 0, 0);
    for position in 8..bytes.len() {
        let mut altered = bytes.clone();
        altered[position] ^= 1 << (position % 8);
        if scan(&altered, &Limits::P1).is_err() {
            continue;
        }
        passed += 1;
        // One in eight: compiling is what takes the time.
        if passed % 8 != 0 {
            continue;
        }
        let compiled = compile(&altered).unwrap();
        if let Ok(module) = sandbox.interpreter(&compiled) {
            loaded += 1;
            answered += u32::from(module.interpret(&observation(b"{}"), None).is_ok());
        }
    }
    println!("{passed} pass the scan; of one in eight, {loaded} load and {answered} answer");
    assert!(passed > 400 && loaded > 20 && answered > 10);
}
