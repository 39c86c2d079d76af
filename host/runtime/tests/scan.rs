//! What is refused before anything is compiled, and with which words.

use std::fmt::Write as _;

use runtime::scan::bounds::MODULE_BYTES_MAX;
use runtime::{Contract, Limits, ModuleError, scan};

use crate::common::fixture::Fixture;

/// Asserts the error and its message.
fn refused(module: &[u8], error: &ModuleError, message: &str) {
    assert_eq!(scan(module, &Limits::P1).as_ref(), Err(error));
    assert_eq!(error.to_string(), message);
}

fn refused_text(text: &str, error: &ModuleError, message: &str) {
    refused(&wat::parse_str(text).unwrap(), error, message);
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

#[test]
fn a_module_of_a_known_contract_passes_with_its_counts() {
    let bytes = Fixture::interpreter().build();
    let scanned = scan(&bytes, &Limits::P1).unwrap();
    assert_eq!(scanned.contract, Contract::InterpreterV0_0_1);
    assert_eq!(scanned.bytes, bytes.len());
    assert_eq!(scanned.counts.core_modules, 1);
    assert_eq!(scanned.counts.components, 1);
    assert_eq!(scanned.counts.depth, 2);
    assert_eq!(scanned.counts.instances, 2);
    assert_eq!(scanned.counts.functions, 4);
    assert_eq!(scanned.counts.locals, 6);
    let scanned = scan(&Fixture::policy().build(), &Limits::P1).unwrap();
    assert_eq!(scanned.contract, Contract::PolicyV0_0_1);
}

#[test]
fn nothing_and_garbage_are_not_components() {
    refused(
        b"",
        &ModuleError::Empty,
        "module is empty, expected a component",
    );
    let message = "module does not start with the WebAssembly header, expected a component";
    for garbage in [
        b"\0asm".as_slice(),
        b"{}",
        &[0xff; 4096],
        b"\x7fELF\x02\x01\x01\0",
    ] {
        refused(garbage, &ModuleError::NotWasm, message);
    }
}

#[test]
fn a_core_module_is_not_a_component() {
    refused_text(
        "(module (func (export \"interpret\")))",
        &ModuleError::CoreModule,
        "module is a core module, expected a component",
    );
}

#[test]
fn a_cut_component_is_refused_at_every_length() {
    let bytes = Fixture::interpreter().build();
    let mut passed = Vec::new();
    for length in 8..bytes.len() {
        match scan(&bytes[..length], &Limits::P1) {
            Ok(_) => passed.push(length),
            Err(ModuleError::Invalid { .. } | ModuleError::Exports { .. }) => {}
            Err(other) => panic!("{length}: {other}"),
        }
    }
    // Only the names for debugging come after the export.
    assert_eq!(passed.len(), 1, "{passed:?}");
    assert!(bytes[passed[0]..].starts_with(b"\0"), "a custom section");
}

#[test]
fn no_altered_component_makes_the_scan_panic() {
    let bytes = Fixture::policy().build();
    let mut passed = 0;
    for position in 0..bytes.len() {
        for bit in [0x01, 0x08, 0x80] {
            let mut altered = bytes.clone();
            altered[position] ^= bit;
            passed += u32::from(scan(&altered, &Limits::P1).is_ok());
        }
    }
    // Most bytes are values in data, names that nothing refers to, or constants.
    assert!(passed > 0, "an altered constant is still a component");
}

#[test]
fn a_component_that_imports_anything_is_refused_with_the_names() {
    let mut fixture = Fixture::interpreter();
    fixture.before = r#"(import "wasi:clocks/wall-clock@0.2.6" (instance
        (export "now" (func (result u64)))))"#
        .to_owned();
    refused(
        &fixture.build(),
        &ModuleError::Imports {
            names: names(&["wasi:clocks/wall-clock@0.2.6"]),
        },
        "component imports wasi:clocks/wall-clock@0.2.6, but a module imports nothing",
    );
}

#[test]
fn a_neighbouring_version_of_our_own_package_is_an_import_like_any_other() {
    // The engine would link 0.1.0 to 0.1.1 without a word.
    let mut fixture = Fixture::interpreter();
    fixture.before = r#"(import "reread:interpreter/reader@0.0.2" (instance))
        (import "reread:interpreter/reader@0.1.0" (instance))"#
        .to_owned();
    let imported = [
        "reread:interpreter/reader@0.0.2",
        "reread:interpreter/reader@0.1.0",
    ];
    refused(
        &fixture.build(),
        &ModuleError::Imports {
            names: names(&imported),
        },
        "component imports reread:interpreter/reader@0.0.2, reread:interpreter/reader@0.1.0, but \
         a module imports nothing",
    );
}

#[test]
fn an_imported_type_is_an_import_too() {
    let mut fixture = Fixture::interpreter();
    fixture.before = "(import \"harmless\" (type (sub resource)))".to_owned();
    refused(
        &fixture.build(),
        &ModuleError::Imports {
            names: names(&["harmless"]),
        },
        "component imports harmless, but a module imports nothing",
    );
}

#[test]
fn many_imports_are_named_up_to_eight() {
    let mut fixture = Fixture::interpreter();
    let all: Vec<String> = (0..11).map(|index| format!("i{index}")).collect();
    for name in &all {
        write!(fixture.before, "(import \"{name}\" (func))").unwrap();
    }
    refused(
        &fixture.build(),
        &ModuleError::Imports { names: all },
        "component imports i0, i1, i2, i3, i4, i5, i6, i7 and 3 more, but a module imports nothing",
    );
}

#[test]
fn another_version_of_a_known_contract_is_named_with_the_expected_one() {
    for (found, expected) in [
        (
            "reread:interpreter/reader@0.0.2",
            Contract::InterpreterV0_0_1,
        ),
        (
            "reread:interpreter/reader@0.1.0",
            Contract::InterpreterV0_0_1,
        ),
        (
            "reread:interpreter/reader@1.0.0",
            Contract::InterpreterV0_0_1,
        ),
        (
            "reread:interpreter/reader@0.0.1-rc.1",
            Contract::InterpreterV0_0_1,
        ),
        ("reread:policy/decider@0.0.2", Contract::PolicyV0_0_1),
        ("reread:acceptance/judge@0.0.2", Contract::AcceptanceV0_0_1),
        ("reread:check/checker@1.0.0", Contract::CheckV0_0_1),
        ("reread:pricing/pricer@0.0.2", Contract::PricingV0_0_1),
    ] {
        let mut fixture = Fixture::interpreter();
        fixture.exports_as(found);
        let error = ModuleError::Version {
            expected,
            found: found.to_owned(),
        };
        let message = format!("component exports {found}, but this version knows {expected}");
        refused(&fixture.build(), &error, &message);
    }
}

const EXPECTED: &str = "expected exactly one of reread:interpreter/reader@0.0.1, reread:policy/decider@0.0.1, \
     reread:acceptance/judge@0.0.1, reread:check/checker@0.0.1 and \
     reread:pricing/pricer@0.0.1";

#[test]
fn an_unknown_export_is_refused_with_its_name() {
    for name in [
        "reread:interpreter/writer@0.0.1",
        "reader",
        "other:interpreter/reader@0.0.1",
    ] {
        let mut fixture = Fixture::interpreter();
        fixture.exports_as(name);
        let error = ModuleError::Exports {
            names: names(&[name]),
        };
        refused(
            &fixture.build(),
            &error,
            &format!("component exports {name}, {EXPECTED}"),
        );
    }
}

#[test]
fn one_more_export_is_refused_with_all_names() {
    let mut fixture = Fixture::interpreter();
    fixture.after = "(export \"also\" (instance $exported))".to_owned();
    refused(
        &fixture.build(),
        &ModuleError::Exports {
            names: names(&["reread:interpreter/reader@0.0.1", "also"]),
        },
        &format!("component exports reread:interpreter/reader@0.0.1, also, {EXPECTED}"),
    );
}

#[test]
fn two_contracts_at_once_are_refused() {
    let mut fixture = Fixture::interpreter();
    fixture.after = "(export \"reread:policy/decider@0.0.1\" (instance $exported))".to_owned();
    let both = [
        "reread:interpreter/reader@0.0.1",
        "reread:policy/decider@0.0.1",
    ];
    refused(
        &fixture.build(),
        &ModuleError::Exports {
            names: names(&both),
        },
        &format!("component exports {}, {EXPECTED}", both.join(", ")),
    );
}

#[test]
fn an_export_of_nothing_is_refused() {
    let error = ModuleError::Exports { names: Vec::new() };
    refused_text(
        "(component)",
        &error,
        &format!("component exports nothing, {EXPECTED}"),
    );
}

#[test]
fn the_right_name_on_something_else_is_refused() {
    refused_text(
        r#"(component (component $c) (export "reread:interpreter/reader@0.0.1" (component $c)))"#,
        &ModuleError::ExportKind {
            contract: Contract::InterpreterV0_0_1,
            found: "component".to_owned(),
        },
        "component exports reread:interpreter/reader@0.0.1 as component, expected an instance",
    );
}

/// What a core module holds, the proposal that this is, and what is said of it.
const PROPOSALS: [(&str, &str, &str); 13] = [
    (
        "(func (drop (i32x4.splat (i32.const 1))))",
        "simd",
        "SIMD support is not enabled",
    ),
    (
        "(func (drop (i32x4.relaxed_trunc_f32x4_s (f32x4.splat (f32.const 1)))))",
        "simd",
        "SIMD support is not enabled",
    ),
    (
        "(memory 1 1 shared)",
        "threads",
        "threads must be enabled for shared memories",
    ),
    (
        "(memory 1) (func (drop (i32.atomic.load (i32.const 0))))",
        "threads",
        "threads support is not enabled",
    ),
    (
        "(memory i64 1)",
        "memory64",
        "memory64 must be enabled for 64-bit memories",
    ),
    (
        "(table i64 1 funcref)",
        "memory64",
        "memory64 must be enabled for 64-bit tables",
    ),
    (
        "(func $f (return_call $f))",
        "tail_call",
        "tail calls support is not enabled",
    ),
    (
        "(type (struct))",
        "gc",
        "struct indexed types not supported without the gc feature",
    ),
    (
        "(func (param (ref func)))",
        "function_references",
        "function references required for non-nullable types",
    ),
    (
        "(func (param externref))",
        "gc_types",
        "gc types are disallowed but found type which requires gc",
    ),
    ("(tag)", "exceptions", "exceptions proposal not enabled"),
    (
        "(memory 1 (pagesize 1))",
        "custom_page_sizes",
        "the custom page sizes proposal must be enabled to customize a memory's page size",
    ),
    (
        "(func (param i64) (result i64 i64)
                (i64.mul_wide_s (local.get 0) (local.get 0)))",
        "wide_arithmetic",
        "wide arithmetic support is not enabled",
    ),
];

#[test]
fn a_component_that_uses_a_proposal_outside_of_the_profile_is_refused_by_its_name() {
    for (core, proposal, detail) in PROPOSALS {
        let mut fixture = Fixture::interpreter();
        fixture.before = format!("(core module {core})");
        let error = scan(&fixture.build(), &Limits::P1).unwrap_err();
        let ModuleError::Proposal {
            proposal: named,
            detail: said,
            offset,
        } = &error
        else {
            panic!("{core}: {error}");
        };
        assert_eq!(
            (named.as_str(), said.as_str()),
            (proposal, detail),
            "{core}"
        );
        let message = format!(
            "component uses {proposal}, which profile wasmtime-48.0.8/p1 does not allow: \
             {detail} (offset {offset})"
        );
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_second_memory_is_refused() {
    let mut fixture = Fixture::interpreter();
    fixture.core = "(memory 1)".to_owned();
    let error = scan(&fixture.build(), &Limits::P1).unwrap_err();
    let ModuleError::Invalid { offset, .. } = error else {
        panic!("{error}");
    };
    let message = format!("component does not validate: multiple memories (offset {offset})");
    assert_eq!(error.to_string(), message);
}

#[test]
fn memory_and_tables_that_could_never_be_given_are_refused() {
    let mut fixture = Fixture::interpreter();
    fixture.pages(65_536, None);
    refused(
        &fixture.build(),
        &ModuleError::Bound {
            what: "bytes of initial memory",
            found: 4 << 30,
            limit: 256 << 20,
        },
        "component has 4294967296 bytes of initial memory (limit 268435456)",
    );
    let mut fixture = Fixture::interpreter();
    fixture.core = "(table 20001 funcref)".to_owned();
    refused(
        &fixture.build(),
        &ModuleError::Bound {
            what: "elements in an initial table",
            found: 20_001,
            limit: 20_000,
        },
        "component has 20001 elements in an initial table (limit 20000)",
    );
}

#[test]
fn a_module_over_the_size_is_refused_unread() {
    let found = MODULE_BYTES_MAX + 1;
    let limit = MODULE_BYTES_MAX;
    let message = format!("module is {found} bytes (limit {limit})");
    refused(
        &vec![0; found],
        &ModuleError::TooLarge { found, limit },
        &message,
    );
}
