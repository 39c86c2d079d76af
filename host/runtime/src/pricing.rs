//! A module of the world `pricing`.

use model::name::{Label, Mod};
use model::pricing::{Cost, PriceRequest};

use crate::compile::Compiled;
use crate::contract::World;
use crate::contract::pricing_0_0_1::{self as adapter, wit};
use crate::error::{LoadError, RunError};
use crate::function::{Exports, Function};
use crate::interpreter::Outcome;
use crate::sandbox::{Program, Sandbox};

/// What a pricing module says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PricingInfo {
    /// Its name, which stands in the hashed bytes.
    pub label: Label,
    /// One sentence for people.
    pub summary: String,
    /// Labels it supersedes.
    pub supersedes: Vec<Label>,
}

/// A pricing module that is ready to run.
#[derive(Debug, Clone)]
pub struct Pricing {
    program: Program,
    function: Function,
    info: PricingInfo,
    module: Mod,
}

type Described = (wit::ModuleInfo,);
type Input<'a> = (&'a wit::Request, &'a [u8]);
type Priced = (Result<wit::Cost, wit::Refusal>,);

impl Sandbox {
    /// Loads a pricing module, and asks it once what it is.
    pub fn pricing(&self, compiled: &Compiled) -> Result<Pricing, LoadError> {
        let program = self.load(compiled, World::Pricing)?;
        let exports = Exports::of(&program, compiled.contract())?;
        let describe = exports.function("describe")?;
        let function = exports.function("price")?;
        let described = program.run(|store, instance| {
            let checked = exports
                .check::<(), Described>(store, instance, &describe)
                .and_then(|()| exports.check::<Input<'_>, Priced>(store, instance, &function));
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
        Ok(Pricing {
            program,
            function,
            info,
            module,
        })
    }
}

impl Pricing {
    /// Returns what the module says of itself.
    pub const fn info(&self) -> &PricingInfo {
        &self.info
    }

    /// Returns the label and the hash.
    pub const fn module(&self) -> &Mod {
        &self.module
    }

    /// Prices one response by a table in a fresh sandbox.
    pub fn price(
        &self,
        request: &PriceRequest<'_>,
        table: &[u8],
    ) -> Result<Outcome<Cost>, RunError> {
        self.check_input(request, table)?;
        let request = adapter::request(request);
        let input: Input<'_> = (&request, table);
        let ((result,), fuel): (Priced, u64) = self
            .program
            .run(|store, instance| self.function.call(store, instance, input))?;
        let cost = result.map_err(adapter::refusal)?;
        Ok(Outcome {
            value: adapter::cost(cost)?,
            fuel,
        })
    }

    fn check_input(&self, request: &PriceRequest<'_>, table: &[u8]) -> Result<(), RunError> {
        let words = request.usage.diagnostics.iter();
        let words = words.flat_map(|(component, word)| [component.len(), word.len()]);
        let names = [
            request.model.map_or(0, str::len),
            request.provider.map_or(0, str::len),
            request.dialect.len(),
            table.len(),
        ];
        let found = words.chain(names).fold(0, usize::saturating_add);
        let limit = self.program.limits().input_bytes;
        if found > limit {
            return Err(RunError::InputTooLarge { found, limit });
        }
        Ok(())
    }
}
