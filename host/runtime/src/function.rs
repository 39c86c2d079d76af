//! The functions of a module: found and checked once, called many times.

use wasmtime::Store;
use wasmtime::component::{ComponentExportIndex, ComponentNamedList, Instance, Lift, Lower};

use crate::contract::Contract;
use crate::error::LoadError;
use crate::sandbox::{Limiter, Program};

/// The exported interface of a module.
pub(crate) struct Exports<'a> {
    program: &'a Program,
    contract: Contract,
    interface: ComponentExportIndex,
}

impl<'a> Exports<'a> {
    pub(crate) fn of(program: &'a Program, contract: Contract) -> Result<Self, LoadError> {
        let name = contract.export();
        let interface = program
            .component()
            .get_export_index(None, name)
            .ok_or_else(|| LoadError::Engine(format!("the code has no export {name}")))?;
        Ok(Self {
            program,
            contract,
            interface,
        })
    }

    /// Finds a function by its name.
    pub(crate) fn function(&self, name: &'static str) -> Result<Function, LoadError> {
        let index = self
            .program
            .component()
            .get_export_index(Some(&self.interface), name)
            .ok_or_else(|| self.types(name, "the function is not exported".to_owned()))?;
        Ok(Function { name, index })
    }

    /// Checks that a function takes and returns what the contract says.
    pub(crate) fn check<P, R>(
        &self,
        store: &mut Store<Limiter>,
        instance: &Instance,
        function: &Function,
    ) -> Result<(), LoadError>
    where
        P: ComponentNamedList + Lower,
        R: ComponentNamedList + Lift,
    {
        instance
            .get_typed_func::<P, R>(store, &function.index)
            .map(drop)
            .map_err(|error| self.types(function.name, format!("{error:#}")))
    }

    fn types(&self, function: &'static str, detail: String) -> LoadError {
        LoadError::Types {
            contract: self.contract,
            function,
            detail,
        }
    }
}

/// A function of a module, wherever the module is instantiated.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    name: &'static str,
    index: ComponentExportIndex,
}

impl Function {
    /// Calls the function of one instance.
    pub(crate) fn call<P, R>(
        &self,
        store: &mut Store<Limiter>,
        instance: &Instance,
        parameters: P,
    ) -> wasmtime::Result<R>
    where
        P: ComponentNamedList + Lower,
        R: ComponentNamedList + Lift,
    {
        instance
            .get_typed_func::<P, R>(&mut *store, &self.index)?
            .call(store, parameters)
    }
}
