//! A pricing module and its table, ready to run.

use std::path::Path;

use model::Digest;
use model::name::Mod;
use model::pricing::{Cost, PriceRequest};
use runtime::{Compiled, Pricing, World};
use store::Artifacts;

use super::rules::{Configuration, failed, keep};
use crate::context::Session;
use crate::error::AppError;

/// A module that prices responses by a table.
pub(crate) struct LoadedPricing {
    pub(crate) module: Mod,
    table: Configuration,
    program: Pricing,
}

impl LoadedPricing {
    pub(crate) const fn table_sha256(&self) -> Digest {
        self.table.sha256
    }

    /// Makes the table durable, before an event names it.
    pub(crate) fn keep_table(&self, artifacts: &Artifacts) -> Result<(), AppError> {
        keep(Some(&self.table), artifacts)
    }

    /// Prices one response.
    pub(crate) fn price(&self, request: &PriceRequest<'_>) -> Result<Cost, AppError> {
        self.program
            .price(request, &self.table.bytes)
            .map(|outcome| outcome.value)
            .map_err(|source| failed(&self.module, source))
    }
}

impl Session {
    /// Makes a module of the world `pricing` ready, with its table.
    pub(crate) fn load_pricing(
        &mut self,
        name: &str,
        table: &Path,
    ) -> Result<LoadedPricing, AppError> {
        let (module, compiled) = self.load_of_world(name, World::Pricing)?;
        let table = Configuration::load(table)?;
        self.ready_pricing(module, table, &compiled)
    }

    /// Makes the module of a recorded cost ready, with the table that it names.
    pub(crate) fn load_recorded_pricing(
        &mut self,
        module: &Mod,
        table: Digest,
    ) -> Result<LoadedPricing, AppError> {
        let bytes = self.artifacts.get(table)?.as_slice().to_vec();
        let table = Configuration {
            sha256: table,
            bytes,
        };
        let compiled = self.load_compiled(module)?;
        self.ready_pricing(module.clone(), table, &compiled)
    }

    fn ready_pricing(
        &mut self,
        module: Mod,
        table: Configuration,
        compiled: &Compiled,
    ) -> Result<LoadedPricing, AppError> {
        let program = self
            .sandbox()?
            .pricing(compiled)
            .map_err(|error| super::unloadable(module.label.as_str(), error))?;
        Ok(LoadedPricing {
            module,
            table,
            program,
        })
    }
}
