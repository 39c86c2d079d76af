//! A module of the world `check`.

use model::checking::CheckReport;
use model::name::{Label, Mod};

use crate::compile::Compiled;
use crate::contract::World;
use crate::contract::check_0_0_1::{self as adapter, wit};
use crate::error::{LoadError, RunError};
use crate::function::{Exports, Function};
use crate::interpreter::Outcome;
use crate::sandbox::{Program, Sandbox};

/// What a check module says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckInfo {
    /// Its name, which stands in the hashed bytes.
    pub label: Label,
    /// One sentence for people.
    pub summary: String,
    /// Labels it supersedes.
    pub supersedes: Vec<Label>,
}

/// A check module that is ready to run.
#[derive(Debug, Clone)]
pub struct Check {
    program: Program,
    function: Function,
    info: CheckInfo,
    module: Mod,
}

type Described = (wit::ModuleInfo,);
type Input<'a> = (&'a [String], &'a [u8], Option<&'a [u8]>);
type Checked = (Result<wit::Report, wit::Refusal>,);

impl Sandbox {
    /// Loads a check module, and asks it once what it is.
    pub fn check(&self, compiled: &Compiled) -> Result<Check, LoadError> {
        let program = self.load(compiled, World::Check)?;
        let exports = Exports::of(&program, compiled.contract())?;
        let describe = exports.function("describe")?;
        let function = exports.function("check")?;
        let described = program.run(|store, instance| {
            let checked = exports
                .check::<(), Described>(store, instance, &describe)
                .and_then(|()| exports.check::<Input<'_>, Checked>(store, instance, &function));
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
        Ok(Check {
            program,
            function,
            info,
            module,
        })
    }
}

impl Check {
    /// Returns what the module says of itself.
    pub const fn info(&self) -> &CheckInfo {
        &self.info
    }

    /// Returns the label and the hash.
    pub const fn module(&self) -> &Mod {
        &self.module
    }

    /// Checks bytes against criteria in a fresh sandbox.
    pub fn check(
        &self,
        criteria: &[String],
        artifact: &[u8],
        configuration: Option<&[u8]>,
    ) -> Result<Outcome<CheckReport>, RunError> {
        self.check_input(criteria, artifact, configuration)?;
        let input: Input<'_> = (criteria, artifact, configuration);
        let ((result,), fuel): (Checked, u64) = self
            .program
            .run(|store, instance| self.function.call(store, instance, input))?;
        let report = result.map_err(adapter::refusal)?;
        Ok(Outcome {
            value: adapter::report(report, criteria.len())?,
            fuel,
        })
    }

    fn check_input(
        &self,
        criteria: &[String],
        artifact: &[u8],
        configuration: Option<&[u8]>,
    ) -> Result<(), RunError> {
        let given = [artifact.len(), configuration.map_or(0, <[u8]>::len)];
        let found = criteria
            .iter()
            .map(String::len)
            .chain(given)
            .fold(0, usize::saturating_add);
        let limit = self.program.limits().input_bytes;
        if found > limit {
            return Err(RunError::InputTooLarge { found, limit });
        }
        Ok(())
    }
}
