//! How much of everything a component has, checked against the bounds while it
//! is counted.

use super::{ModuleError, bounds};

/// How much of everything a component has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Core modules, over all components.
    pub core_modules: u64,
    /// Components inside of the component.
    pub components: u64,
    /// Components and modules inside of each other, at most.
    pub depth: u64,
    /// Instances, where they are declared.
    pub instances: u64,
    /// Functions, over all core modules.
    pub functions: u64,
    /// Entries of all other sections together.
    pub items: u64,
    /// Bytes of component types.
    pub type_bytes: u64,
    /// Bytes of the largest function.
    pub function_bytes: u64,
    /// Locals of the function that has most.
    pub locals: u64,
    /// Blocks inside of each other, at most.
    pub nesting: u64,
    /// Values on the operand stack, at most.
    pub operands: u64,
}

/// One dimension with its bound.
pub(super) struct Dimension {
    what: &'static str,
    limit: u64,
    counter: fn(&mut Counts) -> &mut u64,
}

macro_rules! dimension {
    ($name:ident, $field:ident, $limit:expr, $what:literal) => {
        pub(super) const $name: Dimension = Dimension {
            what: $what,
            limit: $limit,
            counter: |counts| &mut counts.$field,
        };
    };
}

dimension!(
    CORE_MODULES,
    core_modules,
    bounds::CORE_MODULES_MAX,
    "core modules"
);
dimension!(
    COMPONENTS,
    components,
    bounds::COMPONENTS_MAX,
    "components inside of it"
);
dimension!(
    DEPTH,
    depth,
    bounds::DEPTH_MAX,
    "components and modules inside of each other"
);
dimension!(INSTANCES, instances, bounds::INSTANCES_MAX, "instances");
dimension!(FUNCTIONS, functions, bounds::FUNCTIONS_MAX, "functions");
dimension!(
    ITEMS,
    items,
    bounds::ITEMS_MAX,
    "types, imports, exports and other entries"
);
dimension!(
    TYPE_BYTES,
    type_bytes,
    bounds::TYPE_BYTES_MAX,
    "bytes of component types"
);
dimension!(
    FUNCTION_BYTES,
    function_bytes,
    bounds::FUNCTION_BYTES_MAX,
    "bytes in one function"
);
dimension!(LOCALS, locals, bounds::LOCALS_MAX, "locals in one function");
dimension!(
    NESTING,
    nesting,
    bounds::NESTING_MAX,
    "blocks inside of each other"
);
dimension!(
    OPERANDS,
    operands,
    bounds::OPERANDS_MAX,
    "operands at a time in one function"
);

impl Counts {
    /// Adds to a sum.
    pub(super) fn add(&mut self, dimension: &Dimension, more: u64) -> Result<(), ModuleError> {
        let counter = (dimension.counter)(self);
        *counter = counter.saturating_add(more);
        dimension.check(*counter)
    }

    /// Raises a maximum.
    pub(super) fn raise(&mut self, dimension: &Dimension, found: u64) -> Result<(), ModuleError> {
        let counter = (dimension.counter)(self);
        *counter = (*counter).max(found);
        dimension.check(found)
    }
}

impl Dimension {
    fn check(&self, found: u64) -> Result<(), ModuleError> {
        if found <= self.limit {
            return Ok(());
        }
        Err(ModuleError::Bound {
            what: self.what,
            found,
            limit: self.limit,
        })
    }
}
