//! What a store may allocate, and which bound a run met.

use wasmtime::ResourceLimiter;

use crate::error::RunError;
use crate::profile::Limits;

/// The data of a store.
#[derive(Debug)]
pub(crate) struct Limiter {
    memory_bytes: usize,
    memory_bytes_max: usize,
    table_elements_max: usize,
    instances: usize,
    tables: usize,
    memories: usize,
    hit: Option<RunError>,
}

impl Limiter {
    pub(crate) const fn new(limits: &Limits) -> Self {
        Self {
            memory_bytes: 0,
            memory_bytes_max: limits.memory_bytes,
            table_elements_max: limits.table_elements,
            instances: limits.instances,
            tables: limits.tables,
            memories: limits.memories,
            hit: None,
        }
    }

    /// Returns the bound that ended the run, if one did.
    pub(crate) const fn hit(&self) -> Option<&RunError> {
        self.hit.as_ref()
    }

    /// Ends the run. A growth that merely failed would let a module answer
    /// otherwise under other limits.
    fn stop(&mut self, hit: RunError) -> wasmtime::Result<bool> {
        self.hit = Some(hit);
        Err(wasmtime::Error::msg("a limit of the sandbox was met"))
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let wanted = self
            .memory_bytes
            .saturating_add(desired.saturating_sub(current));
        if wanted > self.memory_bytes_max {
            let limit = self.memory_bytes_max;
            return self.stop(RunError::MemoryLimit { wanted, limit });
        }
        // The module's own maximum: here the standard's answer, -1, is right.
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        self.memory_bytes = wanted;
        Ok(true)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        self.stop(RunError::Host(format!("{error:#}"))).map(drop)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > self.table_elements_max {
            let limit = self.table_elements_max;
            return self.stop(RunError::TableLimit {
                wanted: desired,
                limit,
            });
        }
        Ok(maximum.is_none_or(|maximum| desired <= maximum))
    }

    fn table_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        self.stop(RunError::Host(format!("{error:#}"))).map(drop)
    }

    fn instances(&self) -> usize {
        self.instances
    }

    fn tables(&self) -> usize {
        self.tables
    }

    fn memories(&self) -> usize {
        self.memories
    }
}
