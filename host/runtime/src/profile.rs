//! The engine profile: everything about the engine that could change what a
//! module answers, or whether it answers at all, in one place.
//!
//! A profile has a name, and a recorded reading names its profile. Changing a
//! value here without changing the name would make two different things share
//! one name, so a change makes a new profile.

use std::hash::{Hash as _, Hasher};

use model::Digest;
use sha2::{Digest as _, Sha256};
use wasmparser::WasmFeatures;
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig,
    Strategy,
};

/// The name of profile p1 on the engine that is built in.
pub const NAME: &str = "wasmtime-48.0.8/p1";

/// The proposals that profile p1 allows: what Rust's `wasm32-unknown-unknown`,
/// `componentize-js` and `componentize-py` need, and nothing more.
///
/// Off, among others: SIMD and relaxed SIMD (float and vector miscompilations
/// were most of the engine's advisories), threads, tail calls, gc, exceptions,
/// memory64, multiple memories, and every part of the component model beyond
/// values, functions and instances.
pub const FEATURES: WasmFeatures = WasmFeatures::MUTABLE_GLOBAL
    .union(WasmFeatures::SATURATING_FLOAT_TO_INT)
    .union(WasmFeatures::SIGN_EXTENSION)
    .union(WasmFeatures::REFERENCE_TYPES)
    .union(WasmFeatures::MULTI_VALUE)
    .union(WasmFeatures::BULK_MEMORY)
    .union(WasmFeatures::FLOATS)
    .union(WasmFeatures::EXTENDED_CONST)
    .union(WasmFeatures::COMPONENT_MODEL);

/// Host stack that a thread needs when it calls into a module: the guest's
/// [`Limits::stack_bytes`] and as much again for the host's own frames. It is
/// also what `std::thread` gives by default.
pub const THREAD_STACK_BYTES_MIN: usize = 2 << 20;

/// What one run may use. There is no default: a caller names its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Fuel, in the engine's units; about one for each instruction.
    pub fuel: u64,
    /// Linear memory, in bytes, over all memories of the run.
    pub memory_bytes: usize,
    /// The guest's stack, in bytes.
    pub stack_bytes: usize,
    /// Elements of one table.
    pub table_elements: usize,
    /// Tables of one run.
    pub tables: usize,
    /// Memories of one run.
    pub memories: usize,
    /// Core instances of one run.
    pub instances: usize,
    /// Bytes handed to the module: bodies, headers and configuration.
    pub input_bytes: usize,
    /// Bytes that the host copies out of the module for one result.
    pub result_bytes: usize,
}

impl Limits {
    /// The limits of profile p1.
    pub const P1: Self = Self {
        fuel: 10_000_000_000,
        memory_bytes: 256 << 20,
        stack_bytes: 1 << 20,
        table_elements: 20_000,
        tables: 20,
        memories: 2,
        // A Python component links itself from dozens of core modules.
        instances: 500,
        input_bytes: 64 << 20,
        result_bytes: 64 << 20,
    };

    /// Returns these limits with another amount of fuel.
    #[must_use]
    pub const fn with_fuel(self, fuel: u64) -> Self {
        Self { fuel, ..self }
    }
}

/// Returns the configuration that decides how code is compiled. Two engines of
/// this configuration load each other's code.
fn config() -> Config {
    let mut config = Config::new();
    config
        .strategy(Strategy::Cranelift)
        .cranelift_opt_level(OptLevel::Speed)
        .cranelift_nan_canonicalization(true)
        .consume_fuel(true)
        .wasm_features(WasmFeatures::all().difference(FEATURES), false)
        .wasm_features(FEATURES, true)
        .memory_init_cow(true)
        // Traps are reported by name; frames and addresses would only cost
        // load time and bytes.
        .generate_address_map(false)
        .native_unwind_info(false)
        .wasm_backtrace_max_frames(None);
    config
}

/// Returns an engine that compiles. It reserves no memory for instances, so it
/// works inside a process with a small address space.
pub(crate) fn compiling_engine() -> wasmtime::Result<Engine> {
    Engine::new(&config())
}

/// Returns an engine that runs at most `slots` instances at a time.
pub(crate) fn running_engine(limits: &Limits, slots: u32) -> wasmtime::Result<Engine> {
    let per_component = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let total = |count: usize| per_component(count).saturating_mul(slots);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(slots)
        .total_core_instances(total(limits.instances))
        .total_memories(total(limits.memories))
        .total_tables(total(limits.tables))
        .max_core_instances_per_component(per_component(limits.instances))
        .max_memories_per_component(per_component(limits.memories))
        .max_tables_per_component(per_component(limits.tables))
        .max_memories_per_module(per_component(limits.memories))
        .max_tables_per_module(per_component(limits.tables))
        .max_memory_size(limits.memory_bytes)
        .table_elements(limits.table_elements)
        .max_component_instance_size(INSTANCE_BYTES_MAX)
        .max_core_instance_size(INSTANCE_BYTES_MAX)
        .max_unused_warm_slots(slots)
        .linear_memory_keep_resident(memory_resident_bytes())
        .table_keep_resident(TABLE_RESIDENT_BYTES)
        .pagemap_scan(Enabled::Auto);
    let mut config = config();
    config
        .max_wasm_stack(limits.stack_bytes)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Engine::new(&config)
}

/// The engine's own record of one instance, which grows with the number of its
/// functions, globals and imports.
const INSTANCE_BYTES_MAX: usize = 1 << 20;

/// What a pooled table keeps mapped between runs.
const TABLE_RESIDENT_BYTES: usize = 64 << 10;

/// What a pooled memory keeps mapped between runs, where the system can say which
/// pages a run has written: only those are cleared. Fresh pages cost three times
/// as much as the reading itself (1 MB body: 1.4 ms against 0.5 ms).
const WRITTEN_RESIDENT_BYTES: usize = 8 << 20;

/// What a pooled memory keeps mapped between runs otherwise: all of it is cleared
/// each time, and more would cost more than to map it again.
const CLEARED_RESIDENT_BYTES: usize = 64 << 10;

fn memory_resident_bytes() -> usize {
    if PoolingAllocationConfig::is_pagemap_scan_available() {
        WRITTEN_RESIDENT_BYTES
    } else {
        CLEARED_RESIDENT_BYTES
    }
}

/// Returns the identity of everything that decides whether compiled code can be
/// loaded: the profile's name and the engine's own compatibility hash, which
/// covers its version, its settings and the features of this processor.
pub(crate) fn identity(engine: &Engine) -> Digest {
    let mut hasher = Sha256Hasher(Sha256::new());
    NAME.hash(&mut hasher);
    engine.precompile_compatibility_hash().hash(&mut hasher);
    Digest::from_bytes(hasher.0.finalize().into())
}

/// Lets SHA-256 stand where the engine writes its compatibility hash.
struct Sha256Hasher(Sha256);

impl Hasher for Sha256Hasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let digest = self.0.clone().finalize();
        digest
            .iter()
            .take(8)
            .fold(0, |value, byte| (value << 8) | u64::from(*byte))
    }
}
