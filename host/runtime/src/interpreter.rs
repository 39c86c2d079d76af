//! A module of the world `interpreter`.

use model::exchange::Observation;
use model::name::{Label, Mod};
use model::reading::Reading;

use crate::compile::Compiled;
use crate::contract::World;
use crate::contract::interpreter_0_0_1::{self as adapter, wit};
use crate::error::{LoadError, RunError};
use crate::function::{Exports, Function};
use crate::sandbox::{Program, Sandbox};

/// What an interpreter says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterpreterInfo {
    /// Its name, which stands in the hashed bytes.
    pub label: Label,
    /// One sentence for people.
    pub summary: String,
    /// The dialects it reads; empty means any.
    pub dialects: Vec<String>,
    /// Which words its readings use.
    pub vocabulary: u32,
    /// Labels it supersedes.
    pub supersedes: Vec<Label>,
}

/// The result of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome<T> {
    /// What the module says.
    pub value: T,
    /// The fuel that the run took: the same wherever it runs.
    pub fuel: u64,
}

/// An interpreter that is ready to run.
#[derive(Debug, Clone)]
pub struct Interpreter {
    program: Program,
    interpret: Function,
    decode: Function,
    info: InterpreterInfo,
    module: Mod,
}

type Interpret<'a> = (wit::Observation<'a>, Option<&'a [u8]>);
type Read = (Result<wit::Reading, wit::Refusal>,);
type Decode<'a> = (wit::Observation<'a>,);
type Decoded = (Result<Vec<u8>, wit::Refusal>,);
type Described = (wit::ModuleInfo,);

impl Sandbox {
    /// Loads an interpreter, and asks it once what it is.
    pub fn interpreter(&self, compiled: &Compiled) -> Result<Interpreter, LoadError> {
        let program = self.load(compiled, World::Interpreter)?;
        let exports = Exports::of(&program, compiled.contract())?;
        let describe = exports.function("describe")?;
        let interpret = exports.function("interpret")?;
        let decode = exports.function("decode")?;
        let described = program.run(|store, instance| {
            let checked = exports
                .check::<(), Described>(store, instance, &describe)
                .and_then(|()| exports.check::<Interpret<'_>, Read>(store, instance, &interpret))
                .and_then(|()| exports.check::<Decode<'_>, Decoded>(store, instance, &decode));
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
        Ok(Interpreter {
            program,
            interpret,
            decode,
            info,
            module,
        })
    }
}

impl Interpreter {
    /// Returns what the module says of itself.
    pub const fn info(&self) -> &InterpreterInfo {
        &self.info
    }

    /// Returns the label and the hash.
    pub const fn module(&self) -> &Mod {
        &self.module
    }

    /// Reads one observation in a fresh sandbox.
    pub fn interpret(
        &self,
        observation: &Observation<'_>,
        configuration: Option<&[u8]>,
    ) -> Result<Outcome<Reading>, RunError> {
        self.check_input(observation, configuration)?;
        let headers = adapter::headers(observation);
        let input = (adapter::observation(observation, &headers), configuration);
        let ((result,), fuel): (Read, u64) = self
            .program
            .run(|store, instance| self.interpret.call(store, instance, input))?;
        let reading = result.map_err(adapter::refusal)?;
        Ok(Outcome {
            value: adapter::reading(self.info.vocabulary, reading)?,
            fuel,
        })
    }

    /// Returns the response body with its content-coding removed, as the module
    /// sees it. Citations count in these bytes.
    pub fn decode(&self, observation: &Observation<'_>) -> Result<Outcome<Vec<u8>>, RunError> {
        self.check_input(observation, None)?;
        let headers = adapter::headers(observation);
        let input = (adapter::observation(observation, &headers),);
        let ((result,), fuel): (Decoded, u64) = self
            .program
            .run(|store, instance| self.decode.call(store, instance, input))?;
        let value = result.map_err(adapter::refusal)?;
        Ok(Outcome { value, fuel })
    }

    fn check_input(
        &self,
        observation: &Observation<'_>,
        configuration: Option<&[u8]>,
    ) -> Result<(), RunError> {
        let headers = observation
            .headers
            .iter()
            .map(|(name, value)| name.len().saturating_add(value.len()));
        let found = [
            observation.dialect.len(),
            observation.endpoint.len(),
            observation.response_body.map_or(0, <[u8]>::len),
            observation.request_body.map_or(0, <[u8]>::len),
            configuration.map_or(0, <[u8]>::len),
        ]
        .into_iter()
        .chain(headers)
        .fold(0, usize::saturating_add);
        let limit = self.program.limits().input_bytes;
        if found > limit {
            return Err(RunError::InputTooLarge { found, limit });
        }
        Ok(())
    }
}
