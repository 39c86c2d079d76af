//! The modules that are released with this program.

use std::fs;
use std::path::Path;

use runtime::{Limits, RunError, World, compile, scan};

use model::reading::Usage;

use crate::common::{accepted, attempt, observation, priced, sandbox};

#[test]
fn every_released_module_loads_under_its_own_label_and_answers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../interpreters/released");
    let sandbox = sandbox(Limits::P1);
    let mut loaded = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "wasm") {
            continue;
        }
        let label = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let bytes = fs::read(&path).unwrap();
        assert_eq!(scan(&bytes, &Limits::P1).unwrap().bytes, bytes.len());
        let compiled = compile(&bytes).unwrap();
        match compiled.contract().world() {
            World::Interpreter => {
                let module = sandbox.interpreter(&compiled).unwrap();
                assert_eq!(module.info().label.as_str(), label);
                let outcome = module.interpret(&observation(b"{}"), None).unwrap();
                assert_eq!(outcome.value.vocabulary, module.info().vocabulary);
                assert!(outcome.fuel < 1_000_000, "{label}: {}", outcome.fuel);
            }
            World::Policy => {
                let module = sandbox.policy(&compiled).unwrap();
                assert_eq!(module.info().label.as_str(), label);
                assert!(module.decide_attempt(&attempt().0, None).is_ok());
            }
            World::Acceptance => {
                let module = sandbox.acceptance(&compiled).unwrap();
                assert_eq!(module.info().label.as_str(), label);
                let (request, facts) = accepted();
                let reasons = module.decide(&request, &facts, None).unwrap().value;
                assert!(reasons.is_empty(), "{label}: {reasons:?}");
            }
            World::Check => {
                let module = sandbox.check(&compiled).unwrap();
                assert_eq!(module.info().label.as_str(), label);
                // What it is configured with is its own; that it refuses is an answer.
                let refused = module.check(&[], b"text", None);
                assert!(matches!(refused, Err(RunError::Refused { .. })), "{label}");
            }
            World::Pricing => {
                let module = sandbox.pricing(&compiled).unwrap();
                assert_eq!(module.info().label.as_str(), label);
                let usage = Usage::default();
                let refused = module.price(&priced(&usage), b"no table");
                assert!(matches!(refused, Err(RunError::Refused { .. })), "{label}");
            }
        }
        loaded += 1;
    }
    assert!(loaded >= 7, "{loaded} modules in {}", folder.display());
}
