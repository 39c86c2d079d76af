//! The sandbox: an engine that runs modules, each call in a store of its own.
//!
//! Invariant: nothing that one call leaves behind reaches another. A store, its
//! instance and its memory live for one call.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use wasmtime::component::{Component, Instance, InstancePre, Linker};
use wasmtime::{Engine, Store, Trap};

use crate::compile::Compiled;
use crate::contract::World;
use crate::error::{LoadError, RunError};
use crate::profile::{self, Limits};

mod limiter;
mod slots;

pub(crate) use limiter::Limiter;
use slots::Slots;

/// Runs modules under one set of limits.
///
/// It may be used by several threads; each needs
/// [`THREAD_STACK_BYTES_MIN`](profile::THREAD_STACK_BYTES_MIN) of stack.
#[derive(Clone)]
pub struct Sandbox {
    engine: Engine,
    limits: Limits,
    slots: Arc<Slots>,
}

/// Why the engine could not be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("engine {} could not be set up: {detail}", profile::NAME)]
pub struct SandboxError {
    /// What the engine says.
    pub detail: String,
}

impl Sandbox {
    /// Sets up an engine that runs at most `at_once` calls at a time; further
    /// ones wait. Address space is reserved for each, but no memory.
    pub fn new(limits: Limits, at_once: NonZeroU32) -> Result<Self, SandboxError> {
        let engine =
            profile::running_engine(&limits, at_once.get()).map_err(|error| SandboxError {
                detail: format!("{error:#}"),
            })?;
        Ok(Self {
            engine,
            limits,
            slots: Arc::new(Slots::new(at_once.get())),
        })
    }

    /// Returns the limits of every run.
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Prepares code for running, as far as it can be done once for all calls.
    pub(crate) fn load(&self, compiled: &Compiled, world: World) -> Result<Program, LoadError> {
        let contract = compiled.contract();
        if contract.world() != world {
            return Err(LoadError::World {
                expected: world,
                found: contract,
            });
        }
        let refused = |error: wasmtime::Error| LoadError::Engine(format!("{error:#}"));
        let component = deserialize(&self.engine, compiled).map_err(refused)?;
        // The linker is empty and stays so: a module is given nothing to call.
        let pre = Linker::new(&self.engine)
            .instantiate_pre(&component)
            .map_err(refused)?;
        Ok(Program {
            pre,
            component,
            limits: self.limits,
            slots: Arc::clone(&self.slots),
        })
    }
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox")
            .field("profile", &profile::NAME)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

#[expect(
    unsafe_code,
    reason = "loading code that this program compiled itself has no safe form"
)]
fn deserialize(engine: &Engine, compiled: &Compiled) -> wasmtime::Result<Component> {
    // SAFETY: the bytes must be what the engine's own compiler wrote. A
    // `Compiled` has no public constructor; it is made in three places only: by
    // `compile` from the compiler in this process, by `CompilerCommand` from the
    // answer of a program that its caller chose to run (this one) and whose hash
    // was checked, and by `Compiled::open` from bytes whose HMAC, under a key that
    // only this home has, shows that one of the other two made them. The engine
    // itself then checks version, settings and processor.
    unsafe { Component::deserialize(engine, compiled.code()) }
}

/// A module that is ready to run.
#[derive(Clone)]
pub(crate) struct Program {
    pre: InstancePre<Limiter>,
    component: Component,
    limits: Limits,
    slots: Arc<Slots>,
}

impl Program {
    /// Returns the component, to look up its exports.
    pub(crate) const fn component(&self) -> &Component {
        &self.component
    }

    /// Returns the limits of every run.
    pub(crate) const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Runs one call in a fresh store, and returns its value with the fuel that
    /// instantiation and call took.
    pub(crate) fn run<T>(
        &self,
        call: impl FnOnce(&mut Store<Limiter>, &Instance) -> wasmtime::Result<T>,
    ) -> Result<(T, u64), RunError> {
        let _slot = self.slots.take();
        let mut store = Store::new(self.pre.engine(), Limiter::new(&self.limits));
        store.limiter(|limiter| limiter);
        store.set_hostcall_fuel(self.limits.result_bytes);
        // Before instantiation: a start function is code of the module too.
        store
            .set_fuel(self.limits.fuel)
            .map_err(|error| RunError::Host(format!("{error:#}")))?;
        let instance = match self.pre.instantiate(&mut store) {
            Ok(instance) => instance,
            // What is neither a trap nor a limit here is this machine's: the
            // module has not been asked anything yet.
            Err(error) => return Err(self.explain(&error, store.data(), RunError::Host)),
        };
        match call(&mut store, &instance) {
            // The engine looks at the fuel at loops and calls only, so a run can
            // end with none left. It is judged here by what it used, so that no
            // outcome depends on where the compiler put its checks.
            Ok(value) => match store.get_fuel() {
                Ok(left) if left > 0 => Ok((value, self.limits.fuel.saturating_sub(left))),
                Ok(_) | Err(_) => Err(self.out_of_fuel()),
            },
            Err(error) => Err(self.explain(&error, store.data(), RunError::BrokenAbi)),
        }
    }

    const fn out_of_fuel(&self) -> RunError {
        RunError::OutOfFuel {
            limit: self.limits.fuel,
        }
    }

    /// Names the limit or the rule that ended a run.
    fn explain(
        &self,
        error: &wasmtime::Error,
        limiter: &Limiter,
        otherwise: fn(String) -> RunError,
    ) -> RunError {
        if let Some(hit) = limiter.hit() {
            return hit.clone();
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => return self.out_of_fuel(),
            Some(Trap::StackOverflow) => {
                return RunError::StackOverflow {
                    limit: self.limits.stack_bytes,
                };
            }
            Some(trap) => {
                let name = trap.to_string();
                let name = name.strip_prefix("wasm trap: ").unwrap_or(&name);
                return RunError::Trap(name.to_owned());
            }
            None => {}
        }
        let text = format!("{error:#}");
        if error.is::<wasmtime::OutOfMemory>() {
            RunError::Host(text)
        } else if text.contains(RESULT_TOO_LARGE) {
            RunError::ResultTooLarge {
                limit: self.limits.result_bytes,
            }
        } else {
            otherwise(text)
        }
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").finish_non_exhaustive()
    }
}

/// What the engine says when a result passes the bound; it has no type to match
/// on. `tests/limits.rs` fails if an engine says it in other words.
const RESULT_TOO_LARGE: &str = "fuel allocated for hostcalls has been exhausted";
