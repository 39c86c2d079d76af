//! A module of the world `policy`.

use model::decision::{AttemptDecision, AttemptFacts, CallDecision, Occasion};
use model::name::{Label, Mod};

use crate::compile::Compiled;
use crate::contract::World;
use crate::contract::policy_0_0_1::{self as adapter, wit};
use crate::error::{LoadError, RunError};
use crate::function::{Exports, Function};
use crate::interpreter::Outcome;
use crate::sandbox::{Program, Sandbox};

/// What a policy says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyInfo {
    /// Its name, which stands in the hashed bytes.
    pub label: Label,
    /// One sentence for people.
    pub summary: String,
    /// The vocabularies of readings that it accepts.
    pub accepts_vocabulary: Vec<u32>,
    /// Labels it supersedes.
    pub supersedes: Vec<Label>,
}

/// A policy that is ready to run.
#[derive(Debug, Clone)]
pub struct Policy {
    program: Program,
    decide_attempt: Function,
    decide_call: Function,
    info: PolicyInfo,
    module: Mod,
}

type Described = (wit::ModuleInfo,);
type Attempt<'a> = (wit::Attempt<'a>, Option<&'a [u8]>);
type AttemptDecided = (Result<wit::AttemptDecisionResult, wit::Refusal>,);
type Decided<'a> = (wit::Attempt<'a>, wit::AttemptDecisionParam<'a>);
type Call<'a> = (&'a [Decided<'a>], wit::Occasion, Option<&'a [u8]>);
type CallDecided = (Result<wit::CallDecision, wit::Refusal>,);

impl Sandbox {
    /// Loads a policy, and asks it once what it is.
    pub fn policy(&self, compiled: &Compiled) -> Result<Policy, LoadError> {
        let program = self.load(compiled, World::Policy)?;
        let exports = Exports::of(&program, compiled.contract())?;
        let describe = exports.function("describe")?;
        let decide_attempt = exports.function("decide-attempt")?;
        let decide_call = exports.function("decide-call")?;
        let described = program.run(|store, instance| {
            let checked = exports
                .check::<(), Described>(store, instance, &describe)
                .and_then(|()| {
                    exports.check::<Attempt<'_>, AttemptDecided>(store, instance, &decide_attempt)
                })
                .and_then(|()| {
                    exports.check::<Call<'_>, CallDecided>(store, instance, &decide_call)
                });
            if let Err(error) = checked {
                return Ok(Err(error));
            }
            describe.call(store, instance, ()).map(Ok)
        });
        let (info,): Described = described.map_err(LoadError::Describe)?.0?;
        let info = adapter::info(info).map_err(|invalid| LoadError::Describe(invalid.into()))?;
        let module = Mod {
            label: info.label.clone(),
            sha256: compiled.module(),
        };
        Ok(Policy {
            program,
            decide_attempt,
            decide_call,
            info,
            module,
        })
    }
}

impl Policy {
    /// Returns what the module says of itself.
    pub const fn info(&self) -> &PolicyInfo {
        &self.info
    }

    /// Returns the label and the hash.
    pub const fn module(&self) -> &Mod {
        &self.module
    }

    /// Decides about one attempt in a fresh sandbox.
    pub fn decide_attempt(
        &self,
        attempt: &AttemptFacts,
        configuration: Option<&[u8]>,
    ) -> Result<Outcome<AttemptDecision>, RunError> {
        self.check_input(configuration)?;
        let input = (adapter::attempt(attempt), configuration);
        let ((result,), fuel): (AttemptDecided, u64) = self
            .program
            .run(|store, instance| self.decide_attempt.call(store, instance, input))?;
        let decision = result.map_err(adapter::refusal)?;
        Ok(Outcome {
            value: adapter::attempt_decision(decision)?,
            fuel,
        })
    }

    /// Decides about a call in a fresh sandbox, from all its attempts in order.
    pub fn decide_call(
        &self,
        attempts: &[(AttemptFacts, AttemptDecision)],
        occasion: Occasion,
        configuration: Option<&[u8]>,
    ) -> Result<Outcome<CallDecision>, RunError> {
        self.check_input(configuration)?;
        let attempts: Vec<Decided<'_>> = attempts
            .iter()
            .map(|(attempt, decision)| (adapter::attempt(attempt), adapter::decided(decision)))
            .collect();
        let input: Call<'_> = (&attempts, adapter::occasion(occasion), configuration);
        let ((result,), fuel): (CallDecided, u64) = self
            .program
            .run(|store, instance| self.decide_call.call(store, instance, input))?;
        let decision = result.map_err(adapter::refusal)?;
        Ok(Outcome {
            value: adapter::call_decision(decision)?,
            fuel,
        })
    }

    /// The facts are words that are already bounded; only a configuration can
    /// be large.
    fn check_input(&self, configuration: Option<&[u8]>) -> Result<(), RunError> {
        let found = configuration.map_or(0, <[u8]>::len);
        let limit = self.program.limits().input_bytes;
        if found > limit {
            return Err(RunError::InputTooLarge { found, limit });
        }
        Ok(())
    }
}
