//! One function: validated and counted in one pass over its operators.

use wasmparser::{
    FuncToValidate, FuncValidator, FuncValidatorAllocations, FunctionBody, ValidatorResources,
};

use super::count::{Counts, FUNCTION_BYTES, LOCALS, NESTING, OPERANDS};
use super::{ModuleError, size};
use crate::profile;

/// Validates the functions of a component, one after the other.
#[derive(Default)]
pub(super) struct Functions(FuncValidatorAllocations);

impl Functions {
    /// Validates one function, stopping at the first bound that it passes.
    pub(super) fn validate(
        &mut self,
        function: FuncToValidate<ValidatorResources>,
        body: &FunctionBody<'_>,
        counts: &mut Counts,
    ) -> Result<(), ModuleError> {
        counts.raise(&FUNCTION_BYTES, size(body.range().len()))?;
        let mut validator = function.into_validator(std::mem::take(&mut self.0));
        operators(&mut validator, body, counts)?;
        self.0 = validator.into_allocations();
        Ok(())
    }
}

fn operators(
    validator: &mut FuncValidator<ValidatorResources>,
    body: &FunctionBody<'_>,
    counts: &mut Counts,
) -> Result<(), ModuleError> {
    let invalid = |error: wasmparser::Error| ModuleError::invalid(&error);
    let mut reader = body.get_binary_reader();
    validator.read_locals(&mut reader).map_err(invalid)?;
    reader.set_features(profile::FEATURES);
    counts.raise(&LOCALS, u64::from(validator.len_locals()))?;
    while !reader.eof() {
        let position = reader.original_position();
        reader
            .visit_operator(&mut validator.visitor(position))
            .and_then(|valid| valid)
            .map_err(invalid)?;
        counts.raise(&NESTING, u64::from(validator.control_stack_height()))?;
        counts.raise(&OPERANDS, u64::from(validator.operand_stack_height()))?;
    }
    reader
        .finish_expression(&validator.visitor(reader.original_position()))
        .map_err(invalid)
}
