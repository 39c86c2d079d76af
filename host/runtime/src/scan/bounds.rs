//! How much of everything a module may have.
//!
//! Each bound stands well above what the largest honest modules have (a
//! JavaScript component of 12 MB and a Python component of 18 MB; the larger of
//! their two figures is given) and low enough that no part of a scan or a load
//! takes time or memory out of proportion to the bytes. Compiling has bounds of
//! its own, those of its process; the ones on functions here only spare it the
//! known bombs.

/// Bytes of a module. Honest: 18 million.
pub const MODULE_BYTES_MAX: usize = 64 << 20;

/// Core modules, over all components. Honest: 38.
pub const CORE_MODULES_MAX: u64 = 200;

/// Components inside of the component. Honest: 2.
pub const COMPONENTS_MAX: u64 = 32;

/// Components and modules inside of each other, the outermost included. Honest:
/// 3. A component that instantiates another twice, which instantiates another
/// twice, and so on, doubles its work at each level.
pub const DEPTH_MAX: u64 = 6;

/// Instances, of core modules and components, where they are declared.
/// Honest: 109.
pub const INSTANCES_MAX: u64 = 500;

/// Functions, over all core modules. Honest: 13,482. Each costs compiling time
/// that its size does not show: 131,072 empty ones took 35 seconds.
pub const FUNCTIONS_MAX: u64 = 65_536;

/// Entries of all sections together, other than functions: types, imports,
/// exports, globals, segments, aliases. Honest: 12,604. Validation keeps a record
/// of each, many times larger than its bytes.
pub const ITEMS_MAX: u64 = 100_000;

/// Bytes of component types, whose declarations nest. Honest: 4,193.
pub const TYPE_BYTES_MAX: u64 = 1 << 20;

/// Bytes of one function. Honest: 426,843. A straight line of 1.2 MB took 0.5 GB
/// to compile, and 1,000 loops that each set 1,000 locals, in 2.5 MB, did not
/// compile in 40 seconds.
pub const FUNCTION_BYTES_MAX: u64 = 1 << 20;

/// Locals of one function. Honest: 273.
pub const LOCALS_MAX: u64 = 10_000;

/// Blocks inside of each other in one function. Honest: 782.
pub const NESTING_MAX: u64 = 5_000;

/// Values on the operand stack of one function at a time. Honest: 64. A call
/// whose result stays there must be kept over every later call: 87,000 of them
/// did not compile in 40 seconds.
pub const OPERANDS_MAX: u64 = 2_000;

/// Statements about its making that a scan repeats.
pub const PRODUCERS_MAX: usize = 32;
