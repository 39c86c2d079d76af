//! An interpreter and a policy, ready to run.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use model::acceptance::{AcceptanceFacts, AcceptanceRequest};
use model::bounds::BODY_BYTES_MAX;
use model::checking::CheckReport;
use model::decision::{AttemptDecision, AttemptFacts, CallDecision, Occasion};
use model::event::module::ModuleRegistered;
use model::name::Mod;
use model::projection::Supersession;
use model::projection::adopted::Pair;
use model::{Digest, Reading};
use runtime::{Acceptance, Check, Compiled, Interpreter, Policy, World};
use store::Artifacts;

use crate::context::Session;
use crate::error::{AppError, ModuleFailure};
use crate::evidence::{Observed, ObservedBytes};
use crate::files;
use crate::interpret::FreshReading;

/// A configuration artifact that the caller named.
#[derive(Debug, Clone)]
pub(crate) struct Configuration {
    pub(super) sha256: Digest,
    pub(super) bytes: Vec<u8>,
}

impl Configuration {
    pub(super) fn load(path: &Path) -> Result<Self, AppError> {
        let bytes = files::read(path, BODY_BYTES_MAX)?;
        Ok(Self {
            sha256: Digest::of(&bytes),
            bytes,
        })
    }
}

/// An interpreter, ready to read.
pub(crate) struct LoadedInterpreter {
    pub(crate) module: Mod,
    pub(crate) vocabulary: u32,
    config: Option<Configuration>,
    program: Interpreter,
}

/// A policy, ready to decide.
pub(crate) struct LoadedPolicy {
    pub(crate) module: Mod,
    accepts_vocabulary: Vec<u32>,
    config: Option<Configuration>,
    program: Policy,
    memory: Mutex<Decisions>,
}

/// Decisions made in this process. A policy is a pure function, and most calls
/// of a bulk run ask it the same few questions.
#[derive(Debug, Default)]
struct Decisions {
    attempts: BTreeMap<AttemptFacts, AttemptDecision>,
    calls: BTreeMap<CallQuestion, CallDecision>,
}

type CallQuestion = (Vec<(AttemptFacts, AttemptDecision)>, bool);

/// How many different questions are remembered; then all are forgotten.
const DECISIONS_MAX: usize = 4096;

/// An interpreter and a policy that may be used together.
pub(crate) struct Rules {
    pub(crate) interpreter: LoadedInterpreter,
    pub(crate) policy: LoadedPolicy,
    pub(crate) supersession: Supersession,
}

impl LoadedInterpreter {
    pub(crate) fn config_sha256(&self) -> Option<Digest> {
        self.config.as_ref().map(|config| config.sha256)
    }

    pub(crate) fn read_bytes(
        &self,
        observed: Observed<'_>,
        bytes: &ObservedBytes,
    ) -> Result<FreshReading, AppError> {
        let config = self.config.as_ref().map(|config| config.bytes.as_slice());
        let outcome = self
            .program
            .interpret(&observed.input(bytes), config)
            .map_err(|source| failed(&self.module, source))?;
        let reading: Reading = outcome.value;
        let result_sha256 = reading
            .result_sha256()
            .map_err(|error| AppError::Damage(format!("reading of {}: {error}", self.module)))?;
        Ok(FreshReading {
            reading,
            result_sha256,
            fuel: outcome.fuel,
            request_sha256: bytes.request.as_ref().map(store::VerifiedBytes::digest),
            response_sha256: bytes.response.as_ref().map(store::VerifiedBytes::digest),
            observation: observed.event,
        })
    }

    /// Returns the response's body as this module decodes it; citations count in it.
    pub(crate) fn decode_bytes(
        &self,
        observed: Observed<'_>,
        bytes: &ObservedBytes,
    ) -> Result<Vec<u8>, AppError> {
        let decoded = self.program.decode(&observed.input(bytes));
        let decoded = decoded.map_err(|source| failed(&self.module, source))?;
        Ok(decoded.value)
    }

    /// Makes the configuration durable, before an event names it.
    pub(crate) fn keep_config(&self, artifacts: &Artifacts) -> Result<(), AppError> {
        keep(self.config.as_ref(), artifacts)
    }
}

impl LoadedPolicy {
    pub(crate) fn config_sha256(&self) -> Option<Digest> {
        self.config.as_ref().map(|config| config.sha256)
    }

    pub(crate) fn decide_attempt(&self, facts: &AttemptFacts) -> Result<AttemptDecision, AppError> {
        if let Some(known) = self.remembered().attempts.get(facts) {
            return Ok(known.clone());
        }
        let config = self.config.as_ref().map(|config| config.bytes.as_slice());
        let decision = self
            .program
            .decide_attempt(facts, config)
            .map_err(|source| failed(&self.module, source))?
            .value;
        let mut memory = self.remembered();
        if memory.attempts.len() >= DECISIONS_MAX {
            memory.attempts.clear();
        }
        memory.attempts.insert(facts.clone(), decision.clone());
        Ok(decision)
    }

    pub(crate) fn decide_call(
        &self,
        attempts: &[(AttemptFacts, AttemptDecision)],
        occasion: Occasion,
    ) -> Result<CallDecision, AppError> {
        let question = (attempts.to_vec(), occasion == Occasion::Reinterpretation);
        if let Some(known) = self.remembered().calls.get(&question) {
            return Ok(known.clone());
        }
        let config = self.config.as_ref().map(|config| config.bytes.as_slice());
        let decision = self
            .program
            .decide_call(attempts, occasion, config)
            .map_err(|source| failed(&self.module, source))?
            .value;
        let mut memory = self.remembered();
        if memory.calls.len() >= DECISIONS_MAX {
            memory.calls.clear();
        }
        memory.calls.insert(question, decision.clone());
        Ok(decision)
    }

    fn remembered(&self) -> std::sync::MutexGuard<'_, Decisions> {
        // A thread that died while holding it can only have left whole entries.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the configuration durable, before an event names it.
    pub(crate) fn keep_config(&self, artifacts: &Artifacts) -> Result<(), AppError> {
        keep(self.config.as_ref(), artifacts)
    }
}

impl Rules {
    /// Returns the pair as a status record names it.
    pub(crate) fn pair(&self) -> Pair {
        Pair {
            interpreter: self.interpreter.module.clone(),
            policy: self.policy.module.clone(),
            interpreter_config: self.interpreter.config_sha256(),
            policy_config: self.policy.config_sha256(),
        }
    }
}

pub(super) fn keep(config: Option<&Configuration>, artifacts: &Artifacts) -> Result<(), AppError> {
    if let Some(config) = config {
        artifacts.put(&config.bytes)?;
    }
    Ok(())
}

pub(super) fn failed(module: &Mod, source: runtime::RunError) -> AppError {
    Box::new(ModuleFailure::Run {
        module: module.clone(),
        source,
    })
    .into()
}

/// Which modules to use, as the caller names them; none means the home's default.
#[derive(Debug, Clone, Copy, Default)]
pub struct RuleNames<'a> {
    /// The interpreter's label or hash.
    pub interpreter: Option<&'a str>,
    /// The interpreter's configuration.
    pub interpreter_config: Option<&'a Path>,
    /// The policy's label or hash.
    pub policy: Option<&'a str>,
    /// The policy's configuration.
    pub policy_config: Option<&'a Path>,
}

impl Session {
    /// Makes an interpreter ready; its bytes are verified first.
    pub(crate) fn load_interpreter(
        &mut self,
        name: Option<&str>,
        config: Option<&Path>,
    ) -> Result<LoadedInterpreter, AppError> {
        let registered = match name {
            Some(name) => self.catalog.find(name)?,
            None => self.catalog.find(self.defaults()?.interpreter.as_str())?,
        };
        let registered = registered.clone();
        let module = registered.module;
        require_world(&module, &registered.world, World::Interpreter)?;
        let config = config.map(Configuration::load).transpose()?;
        self.ready_interpreter(module, config)
    }

    /// Makes the interpreter of a recorded reading ready, with the configuration
    /// that the record names.
    pub(crate) fn load_recorded_interpreter(
        &mut self,
        module: &Mod,
        config: Option<Digest>,
    ) -> Result<LoadedInterpreter, AppError> {
        let config = self.recorded_config(config)?;
        self.ready_interpreter(module.clone(), config)
    }

    /// Makes the policy of a recorded call ready, with the configuration that the
    /// record names.
    pub(crate) fn load_recorded_policy(
        &mut self,
        module: &Mod,
        config: Option<Digest>,
    ) -> Result<LoadedPolicy, AppError> {
        let config = self.recorded_config(config)?;
        self.ready_policy(module.clone(), config)
    }

    fn recorded_config(&self, config: Option<Digest>) -> Result<Option<Configuration>, AppError> {
        let load = |sha256| {
            let bytes = self.artifacts.get(sha256)?.as_slice().to_vec();
            Ok(Configuration { sha256, bytes })
        };
        config.map(load).transpose()
    }

    fn ready_interpreter(
        &mut self,
        module: Mod,
        config: Option<Configuration>,
    ) -> Result<LoadedInterpreter, AppError> {
        let compiled = self.load_compiled(&module)?;
        let program = self
            .sandbox()?
            .interpreter(&compiled)
            .map_err(|error| super::unloadable(module.label.as_str(), error))?;
        Ok(LoadedInterpreter {
            vocabulary: program.info().vocabulary,
            module,
            config,
            program,
        })
    }

    /// Loads a module of any world, to see that it can be.
    pub(crate) fn load_any(&mut self, module: &Mod) -> Result<(), AppError> {
        let compiled = self.load_compiled(module)?;
        let loaded = match compiled.contract().world() {
            World::Interpreter => self.sandbox()?.interpreter(&compiled).map(drop),
            World::Policy => self.sandbox()?.policy(&compiled).map(drop),
            World::Acceptance => self.sandbox()?.acceptance(&compiled).map(drop),
            World::Check => self.sandbox()?.check(&compiled).map(drop),
            World::Pricing => self.sandbox()?.pricing(&compiled).map(drop),
        };
        loaded.map_err(|error| super::unloadable(module.label.as_str(), error))
    }

    /// Returns the policy for an interpreter's words when none is named: the home's
    /// default where it accepts them, else the last by label that does.
    fn policy_for(&self, vocabulary: u32) -> Result<String, AppError> {
        let default = self.defaults()?.policy.to_string();
        let default = self.catalog.find(&default)?.clone();
        let registered: Vec<_> = self.catalog.all().cloned().collect();
        let accepts = |policy: &&ModuleRegistered| policy.accepts_vocabulary.contains(&vocabulary);
        let found = [&default]
            .into_iter()
            .chain(registered.iter().rev())
            .find(accepts);
        // Where none does, the default is refused with what it accepts.
        Ok(found.unwrap_or(&default).module.label.to_string())
    }

    fn load_policy(&mut self, name: &str, config: Option<&Path>) -> Result<LoadedPolicy, AppError> {
        let registered = self.catalog.find(name)?.clone();
        let module = registered.module;
        require_world(&module, &registered.world, World::Policy)?;
        let config = config.map(Configuration::load).transpose()?;
        self.ready_policy(module, config)
    }

    fn ready_policy(
        &mut self,
        module: Mod,
        config: Option<Configuration>,
    ) -> Result<LoadedPolicy, AppError> {
        let compiled = self.load_compiled(&module)?;
        let program = self
            .sandbox()?
            .policy(&compiled)
            .map_err(|error| super::unloadable(module.label.as_str(), error))?;
        Ok(LoadedPolicy {
            accepts_vocabulary: program.info().accepts_vocabulary.clone(),
            module,
            config,
            program,
            memory: Mutex::default(),
        })
    }

    /// Makes a pair ready; a policy that does not accept the interpreter's words
    /// is refused before either runs.
    pub(crate) fn load_rules(&mut self, names: RuleNames<'_>) -> Result<Rules, AppError> {
        let interpreter = self.load_interpreter(names.interpreter, names.interpreter_config)?;
        let policy = match names.policy {
            Some(name) => name.to_owned(),
            None => self.policy_for(interpreter.vocabulary)?,
        };
        let policy = self.load_policy(&policy, names.policy_config)?;
        if !policy.accepts_vocabulary.contains(&interpreter.vocabulary) {
            return Err(AppError::Vocabulary {
                policy: policy.module.label,
                interpreter: interpreter.module.label,
                accepts: policy.accepts_vocabulary,
                vocabulary: interpreter.vocabulary,
            });
        }
        Ok(Rules {
            interpreter,
            policy,
            supersession: self.catalog.supersession(),
        })
    }

    pub(super) fn load_compiled(&mut self, module: &Mod) -> Result<Compiled, AppError> {
        let bytes = self.module_bytes(module)?;
        let label = module.label.as_str();
        let (compiled, notice) = self.compiler().load(label, module.sha256, &bytes)?;
        self.notices.extend(notice);
        Ok(compiled)
    }
}

/// A module that decides about acceptances, ready to run.
pub(crate) struct LoadedAcceptance {
    pub(crate) module: Mod,
    program: Acceptance,
}

/// A module that checks bytes, ready to run.
pub(crate) struct LoadedCheck {
    pub(crate) module: Mod,
    config: Option<Configuration>,
    program: Check,
}

impl LoadedAcceptance {
    /// Returns every reason against; none accepts.
    pub(crate) fn decide(
        &self,
        request: &AcceptanceRequest,
        facts: &AcceptanceFacts,
    ) -> Result<Vec<String>, AppError> {
        self.program
            .decide(request, facts, None)
            .map(|outcome| outcome.value)
            .map_err(|source| failed(&self.module, source))
    }
}

impl LoadedCheck {
    pub(crate) fn config_sha256(&self) -> Option<Digest> {
        self.config.as_ref().map(|config| config.sha256)
    }

    /// Makes the configuration durable, before an event names it.
    pub(crate) fn keep_config(&self, artifacts: &Artifacts) -> Result<(), AppError> {
        keep(self.config.as_ref(), artifacts)
    }

    /// Checks bytes against criteria.
    pub(crate) fn check(
        &self,
        criteria: &[String],
        artifact: &[u8],
    ) -> Result<CheckReport, AppError> {
        let config = self.config.as_ref().map(|config| config.bytes.as_slice());
        self.program
            .check(criteria, artifact, config)
            .map(|outcome| outcome.value)
            .map_err(|source| failed(&self.module, source))
    }
}

impl Session {
    /// Makes a module of the world `acceptance` ready.
    pub(crate) fn load_acceptance(&mut self, name: &str) -> Result<LoadedAcceptance, AppError> {
        let (module, compiled) = self.load_of_world(name, World::Acceptance)?;
        let program = self
            .sandbox()?
            .acceptance(&compiled)
            .map_err(|error| super::unloadable(module.label.as_str(), error))?;
        Ok(LoadedAcceptance { module, program })
    }

    /// Makes a module of the world `check` ready.
    pub(crate) fn load_check(
        &mut self,
        name: &str,
        config: Option<&Path>,
    ) -> Result<LoadedCheck, AppError> {
        let (module, compiled) = self.load_of_world(name, World::Check)?;
        let program = self
            .sandbox()?
            .check(&compiled)
            .map_err(|error| super::unloadable(module.label.as_str(), error))?;
        Ok(LoadedCheck {
            module,
            config: config.map(Configuration::load).transpose()?,
            program,
        })
    }

    pub(super) fn load_of_world(
        &mut self,
        name: &str,
        world: World,
    ) -> Result<(Mod, Compiled), AppError> {
        let registered = self.catalog.find(name)?.clone();
        require_world(&registered.module, &registered.world, world)?;
        let compiled = self.load_compiled(&registered.module)?;
        Ok((registered.module, compiled))
    }
}

fn require_world(module: &Mod, found: &str, expected: World) -> Result<(), AppError> {
    if found == expected.as_str() {
        return Ok(());
    }
    let (module, found) = (module.clone(), found.to_owned());
    Err(AppError::World {
        module,
        expected: expected.as_str(),
        found,
    })
}
