//! A module of the world `acceptance`.

use model::acceptance::{AcceptanceFacts, AcceptanceRequest};
use model::name::{Label, Mod};

use crate::compile::Compiled;
use crate::contract::World;
use crate::contract::acceptance_0_0_1::{self as adapter, wit};
use crate::error::{LoadError, RunError};
use crate::function::{Exports, Function};
use crate::interpreter::Outcome;
use crate::sandbox::{Program, Sandbox};

/// What an acceptance module says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptanceInfo {
    /// Its name, which stands in the hashed bytes.
    pub label: Label,
    /// One sentence for people.
    pub summary: String,
    /// Labels it supersedes.
    pub supersedes: Vec<Label>,
}

/// An acceptance module that is ready to run.
#[derive(Debug, Clone)]
pub struct Acceptance {
    program: Program,
    decide: Function,
    info: AcceptanceInfo,
    module: Mod,
}

type Described = (wit::ModuleInfo,);
type Decide<'a> = (wit::Request, wit::Facts, Option<&'a [u8]>);
type Decided = (Result<Vec<String>, wit::Refusal>,);

impl Sandbox {
    /// Loads an acceptance module, and asks it once what it is.
    pub fn acceptance(&self, compiled: &Compiled) -> Result<Acceptance, LoadError> {
        let program = self.load(compiled, World::Acceptance)?;
        let exports = Exports::of(&program, compiled.contract())?;
        let describe = exports.function("describe")?;
        let decide = exports.function("decide")?;
        let described = program.run(|store, instance| {
            let checked = exports
                .check::<(), Described>(store, instance, &describe)
                .and_then(|()| exports.check::<Decide<'_>, Decided>(store, instance, &decide));
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
        Ok(Acceptance {
            program,
            decide,
            info,
            module,
        })
    }
}

impl Acceptance {
    /// Returns what the module says of itself.
    pub const fn info(&self) -> &AcceptanceInfo {
        &self.info
    }

    /// Returns the label and the hash.
    pub const fn module(&self) -> &Mod {
        &self.module
    }

    /// Decides in a fresh sandbox whether bytes may stand as an output. Returns
    /// every reason against; none accepts.
    pub fn decide(
        &self,
        request: &AcceptanceRequest,
        facts: &AcceptanceFacts,
        configuration: Option<&[u8]>,
    ) -> Result<Outcome<Vec<String>>, RunError> {
        self.check_input(configuration)?;
        let input: Decide<'_> = (
            adapter::request(request, facts),
            adapter::facts(facts),
            configuration,
        );
        let ((result,), fuel): (Decided, u64) = self
            .program
            .run(|store, instance| self.decide.call(store, instance, input))?;
        let reasons = result.map_err(adapter::refusal)?;
        Ok(Outcome {
            value: adapter::reasons(reasons)?,
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
