//! Every bound of the scan: with as much a component passes, with one more it is
//! refused.

use runtime::scan::bounds;
use runtime::{Limits, ModuleError, scan};

use crate::common::fixture::Fixture;

/// Asserts that a component passes with a number, and is refused with one more.
fn bounded(what: &'static str, limit: u64, most: u64, build: impl Fn(u64) -> String) {
    let with = |count| {
        let mut fixture = Fixture::interpreter();
        fixture.core = build(count);
        scan(&fixture.build(), &Limits::P1)
    };
    assert!(with(most).is_ok(), "{what}: {:?}", with(most));
    let found = limit + 1;
    assert_eq!(
        with(most + 1),
        Err(ModuleError::Bound { what, found, limit }),
        "{what}"
    );
}

fn times(count: u64, text: &str) -> String {
    text.repeat(usize::try_from(count).unwrap())
}

#[test]
fn functions_are_bounded() {
    let limit = bounds::FUNCTIONS_MAX;
    // The fixture has four of its own.
    bounded("functions", limit, limit - 4, |count| {
        times(count, "(func)")
    });
}

#[test]
fn the_bytes_of_one_function_are_bounded() {
    let limit = bounds::FUNCTION_BYTES_MAX;
    // No locals is one byte, and `end` another.
    let what = "bytes in one function";
    bounded(what, limit, limit - 2, |count| {
        format!("(func {})", times(count, "nop "))
    });
}

#[test]
fn the_locals_of_one_function_are_bounded() {
    let limit = bounds::LOCALS_MAX;
    let what = "locals in one function";
    bounded(what, limit, limit, |count| {
        format!("(func (local {}))", times(count, "i32 "))
    });
}

#[test]
fn blocks_inside_of_each_other_are_bounded() {
    let limit = bounds::NESTING_MAX;
    // The function is a block of its own.
    bounded("blocks inside of each other", limit, limit - 1, |count| {
        format!("(func {} {})", times(count, "block "), times(count, "end "))
    });
}

#[test]
fn the_operands_of_one_function_are_bounded() {
    let limit = bounds::OPERANDS_MAX;
    bounded(
        "operands at a time in one function",
        limit,
        limit,
        |count| {
            format!(
                "(func {} {})",
                times(count, "i32.const 0 "),
                times(count, "drop ")
            )
        },
    );
}

#[test]
fn entries_of_all_sections_are_bounded() {
    let what = "types, imports, exports and other entries";
    let limit = bounds::ITEMS_MAX;
    let of = |count: u64| {
        let mut fixture = Fixture::interpreter();
        fixture.core = times(count, "(global i32 (i32.const 0))");
        scan(&fixture.build(), &Limits::P1)
    };
    let own = of(0).unwrap().counts.items;
    assert!(of(limit - own).is_ok());
    let found = limit + 1;
    assert_eq!(
        of(limit - own + 1),
        Err(ModuleError::Bound { what, found, limit })
    );
}

/// Asserts that components with more text at their start are refused.
fn bounded_outside(what: &'static str, limit: u64, build: impl Fn(u64) -> String) {
    let with = |count| {
        let mut fixture = Fixture::interpreter();
        fixture.before = build(count);
        scan(&fixture.build(), &Limits::P1)
    };
    assert!(with(1).is_ok());
    let error = with(limit + 1).unwrap_err();
    assert!(
        matches!(error, ModuleError::Bound { what: found, limit: bound, .. }
            if found == what && bound == limit),
        "{error}"
    );
}

#[test]
fn core_modules_components_and_instances_are_bounded() {
    bounded_outside("core modules", bounds::CORE_MODULES_MAX, |count| {
        times(count, "(core module)")
    });
    bounded_outside("components inside of it", bounds::COMPONENTS_MAX, |count| {
        times(count, "(component)")
    });
    bounded_outside("instances", bounds::INSTANCES_MAX, |count| {
        format!(
            "(core module $e) {}",
            times(count, "(core instance (instantiate $e))")
        )
    });
}

#[test]
fn components_inside_of_each_other_are_bounded() {
    bounded_outside(
        "components and modules inside of each other",
        bounds::DEPTH_MAX,
        |count| format!("{}{}", times(count, "(component "), times(count, ")")),
    );
}

#[test]
fn the_bytes_of_component_types_are_bounded() {
    let what = "bytes of component types";
    bounded_outside(what, bounds::TYPE_BYTES_MAX, |count| {
        let fields = times(count / 2, "(type u8)");
        format!("(type (component {fields}))")
    });
}
