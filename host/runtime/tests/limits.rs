//! What a hostile module may try at run time, and what it is told. Each case
//! ends with the exact error, and the sandbox goes on.

use runtime::{Interpreter, Limits, LoadError, RunError, Sandbox, compile};

use crate::common::abi::{Value, none, some, text};
use crate::common::fixture::{Field, Fixture, interpreter_info, ok, reading_with};
use crate::common::{FUEL, interpreter, limits, observation, sandbox};

fn run(fixture: &Fixture) -> Result<u64, RunError> {
    run_within(fixture, limits())
}

fn run_within(fixture: &Fixture, limits: Limits) -> Result<u64, RunError> {
    let compiled = compile(&fixture.build()).unwrap();
    let loaded = sandbox(limits).interpreter(&compiled).unwrap();
    loaded
        .interpret(&observation(b"{}"), None)
        .map(|outcome| outcome.fuel)
}

/// Asserts how an interpreter ends that does this.
fn ends(body: &str, error: &RunError, message: &str) {
    ends_with("", body, error, message);
}

fn ends_with(core: &str, body: &str, error: &RunError, message: &str) {
    let mut fixture = Fixture::interpreter();
    core.clone_into(&mut fixture.core);
    fixture.does("interpret", body);
    assert_eq!(run(&fixture).as_ref(), Err(error));
    assert_eq!(error.to_string(), message);
}

const OUT_OF_FUEL: RunError = RunError::OutOfFuel { limit: FUEL };

#[test]
fn the_limits_of_profile_p1_are_those_of_the_format() {
    let p1 = Limits::P1;
    assert_eq!(p1.fuel, 10_000_000_000);
    assert_eq!(p1.memory_bytes, 268_435_456);
    assert_eq!(p1.stack_bytes, 1_048_576);
    assert_eq!(p1.table_elements, 20_000);
    assert_eq!(p1.input_bytes, 67_108_864);
    assert_eq!(p1.result_bytes, 67_108_864);
    assert_eq!(runtime::profile::NAME, "wasmtime-48.0.8/p1");
}

#[test]
fn the_name_of_the_profile_names_the_engine_that_is_built_in() {
    let lock = include_str!("../../../Cargo.lock");
    let version = lock
        .split("[[package]]")
        .find(|package| package.contains("name = \"wasmtime\"\n"))
        .and_then(|package| package.split("version = \"").nth(1))
        .and_then(|rest| rest.split('"').next())
        .unwrap();
    assert_eq!(runtime::profile::NAME, format!("wasmtime-{version}/p1"));
}

#[test]
fn an_infinite_loop_runs_out_of_fuel() {
    ends(
        "(loop br 0) unreachable",
        &OUT_OF_FUEL,
        "module ran out of fuel after 10000000 units (limit 10000000)",
    );
}

#[test]
fn a_loop_in_a_start_function_runs_out_of_fuel() {
    let mut fixture = Fixture::interpreter();
    fixture.core = "(func $spin (loop br 0)) (start $spin)".to_owned();
    let compiled = compile(&fixture.build()).unwrap();
    let error = sandbox(limits()).interpreter(&compiled).map(drop);
    assert_eq!(error, Err(LoadError::Describe(OUT_OF_FUEL)));
}

#[test]
fn a_loop_in_the_allocator_or_after_the_result_runs_out_of_fuel() {
    // The host calls the allocator while it hands over the input.
    let mut fixture = Fixture::interpreter();
    fixture.spins_in_realloc();
    assert_eq!(run(&fixture), Err(OUT_OF_FUEL));
    let mut fixture = Fixture::interpreter();
    fixture.does_after("interpret", "(loop br 0)");
    assert_eq!(run(&fixture), Err(OUT_OF_FUEL));
}

#[test]
fn filling_much_memory_at_once_is_charged() {
    let mut fixture = Fixture::interpreter();
    fixture.pages(3_000, None);
    fixture.does(
        "interpret",
        "(memory.fill (i32.const 0) (i32.const 1) (i32.const 190000000)) unreachable",
    );
    assert_eq!(run(&fixture), Err(OUT_OF_FUEL));
}

#[test]
fn asking_for_memory_without_end_meets_the_limit() {
    ends(
        "(loop (drop (memory.grow (i32.const 1))) br 0) unreachable",
        &RunError::MemoryLimit {
            wanted: 268_500_992,
            limit: 268_435_456,
        },
        "module asked for 268500992 bytes of memory (limit 268435456)",
    );
    ends(
        "(drop (memory.grow (i32.const 65000))) unreachable",
        &RunError::MemoryLimit {
            wanted: 65_001 << 16,
            limit: 268_435_456,
        },
        "module asked for 4259905536 bytes of memory (limit 268435456)",
    );
}

#[test]
fn all_memories_of_a_run_share_the_limit() {
    // Two core modules of one page each, and room for one page.
    let mut fixture = Fixture::interpreter();
    fixture.before = "(core module $other (memory 1)) (core instance (instantiate $other))".into();
    let compiled = compile(&fixture.build()).unwrap();
    let small = Limits {
        memory_bytes: 1 << 16,
        ..limits()
    };
    let error = sandbox(small).interpreter(&compiled).map(drop);
    let limit = RunError::MemoryLimit {
        wanted: 2 << 16,
        limit: 1 << 16,
    };
    assert_eq!(error, Err(LoadError::Describe(limit)));
}

#[test]
fn a_module_within_its_own_maximum_of_memory_gets_minus_one() {
    // As the standard says: this is not the host's limit.
    let mut fixture = Fixture::interpreter();
    fixture.pages(1, Some(2));
    let body = "(if (i32.ne (memory.grow (i32.const 2)) (i32.const -1)) (then unreachable))";
    let address = fixture.address_of("interpret");
    fixture.does("interpret", &format!("{body} i32.const {address}"));
    assert!(run(&fixture).is_ok());
}

#[test]
fn asking_for_a_huge_table_meets_the_limit() {
    ends_with(
        "(table $t 0 funcref)",
        "(loop (drop (table.grow $t (ref.null func) (i32.const 1000))) br 0) unreachable",
        &RunError::TableLimit {
            wanted: 21_000,
            limit: 20_000,
        },
        "module asked for a table of 21000 elements (limit 20000)",
    );
}

#[test]
fn calls_that_nest_without_end_overflow_the_stack() {
    ends_with(
        "(func $deep (param i32) (result i32) (i32.add (i32.const 1) (call $deep (local.get 0))))",
        "(call $deep (i32.const 0))",
        &RunError::StackOverflow { limit: 1 << 20 },
        "module overflowed its stack (limit 1048576 bytes)",
    );
}

#[test]
fn what_the_engine_forbids_is_a_trap_with_its_name() {
    let table =
        "(table $t 1 funcref) (type $f (func)) (func $g (param i32)) (elem declare func $g)";
    for (body, trap) in [
        ("unreachable", "wasm `unreachable` instruction executed"),
        (
            "(i32.div_u (i32.const 1) (i32.const 0))",
            "integer divide by zero",
        ),
        ("(i32.load (i32.const -8))", "out of bounds memory access"),
        (
            "(i32.trunc_f32_s (f32.const nan))",
            "invalid conversion to integer",
        ),
        (
            "(call_indirect $t (type $f) (i32.const 0)) unreachable",
            "uninitialized element",
        ),
        (
            "(call_indirect $t (type $f) (i32.const 9)) unreachable",
            "undefined element: out of bounds table access",
        ),
        (
            "(table.set $t (i32.const 0) (ref.func $g))
             (call_indirect $t (type $f) (i32.const 0)) unreachable",
            "indirect call type mismatch",
        ),
    ] {
        let error = RunError::Trap(trap.to_owned());
        ends_with(table, body, &error, &format!("module trapped: {trap}"));
    }
}

fn output_text(value: Value) -> Fixture {
    let mut fixture = Fixture::interpreter();
    fixture.returns(
        "interpret",
        &ok(reading_with(Field::OutputText, some(value))),
    );
    fixture
}

#[test]
fn a_result_over_the_bound_is_not_copied_out() {
    let small = Limits {
        result_bytes: 1 << 20,
        ..limits()
    };
    let too_large = RunError::ResultTooLarge { limit: 1 << 20 };
    assert_eq!(
        too_large.to_string(),
        "result is too large (limit 1048576 bytes)"
    );
    let mut fixture = Fixture::interpreter();
    fixture.pages(40, None);
    let decode = |fixture: &Fixture| -> Result<usize, RunError> {
        let compiled = compile(&fixture.build()).unwrap();
        let loaded = sandbox(small).interpreter(&compiled).unwrap();
        let decoded = loaded.decode(&observation(b"{}"));
        decoded.map(|outcome| outcome.value.len())
    };
    fixture.returns("decode", &ok(Value::Pointer(0, 1 << 20)));
    assert_eq!(decode(&fixture), Ok(1 << 20));
    fixture.returns("decode", &ok(Value::Pointer(0, (1 << 20) + 1)));
    assert_eq!(decode(&fixture), Err(too_large.clone()));
    // Texts count like bytes, and all fields together.
    let mut fixture = Fixture::interpreter();
    fixture.pages(40, None);
    let half = || some(Value::Pointer(1 << 20, 600 << 10));
    let mut reading = reading_with(Field::Model, half());
    if let Value::Fields(fields) = &mut reading {
        fields[1] = half();
    }
    fixture.returns("interpret", &ok(reading));
    assert_eq!(run_within(&fixture, small), Err(too_large));
}

#[test]
fn a_text_of_a_hundred_megabytes_is_refused_under_p1() {
    let mut fixture = output_text(Value::Pointer(0, 100 << 20));
    fixture.pages(1_700, None);
    let limit = 64 << 20;
    assert_eq!(run(&fixture), Err(RunError::ResultTooLarge { limit }));
}

#[test]
fn a_list_of_one_text_again_and_again_is_refused() {
    // A hundred thousand times the same megabyte: small inside, 100 GB outside.
    let call = Value::Fields(vec![none(), Value::Pointer(8 << 20, 1 << 20), text("{}")]);
    let calls = Value::Repeated(Box::new(call), 100_000);
    let mut fixture = Fixture::interpreter();
    fixture.returns("interpret", &ok(reading_with(Field::ToolCalls, calls)));
    fixture.pages(160, None);
    let limit = 64 << 20;
    assert_eq!(run(&fixture), Err(RunError::ResultTooLarge { limit }));
}

fn broken(fixture: &Fixture, words: &str) {
    let error = RunError::BrokenAbi(words.to_owned());
    assert_eq!(run(fixture).as_ref(), Err(&error));
    let message = format!("module broke the component model's calling rules: {words}");
    assert_eq!(error.to_string(), message);
}

#[test]
fn pointers_outside_of_the_memory_break_the_calling_rules() {
    let mut fixture = Fixture::interpreter();
    let model = some(Value::Pointer(16, i32::MAX.unsigned_abs()));
    fixture.returns("interpret", &ok(reading_with(Field::Model, model)));
    broken(&fixture, "string pointer/length out of bounds of memory");
    let bytes = Value::Pointer(u32::MAX - 4, 64);
    broken(
        &output_text(bytes),
        "list pointer/length out of bounds of memory",
    );
    let citations = Value::Pointer(16, u32::MAX);
    let mut fixture = Fixture::interpreter();
    fixture.returns("interpret", &ok(reading_with(Field::Citations, citations)));
    broken(&fixture, "list pointer/length out of bounds of memory");
}

#[test]
fn a_result_that_is_nowhere_breaks_the_calling_rules() {
    let mut fixture = Fixture::interpreter();
    fixture.does("interpret", "i32.const -8");
    broken(&fixture, "pointer out of bounds of memory");
    fixture.does("interpret", "i32.const 1025");
    broken(&fixture, "return pointer not aligned");
    let citations = Value::Pointer(17, 1);
    fixture.returns("interpret", &ok(reading_with(Field::Citations, citations)));
    broken(&fixture, "list pointer is not aligned");
}

#[test]
fn a_case_that_no_type_has_breaks_the_calling_rules() {
    let mut fixture = Fixture::interpreter();
    let state = Value::Case(10, None);
    fixture.returns(
        "interpret",
        &ok(reading_with(Field::GenerationState, state)),
    );
    broken(&fixture, "unexpected discriminant: 10");
    fixture.returns("interpret", &Value::Case(2, None));
    broken(&fixture, "invalid expected discriminant");
    let facts = Value::List(vec![Value::Fields(vec![text("a"), Value::Case(3, None)])]);
    fixture.returns("interpret", &ok(reading_with(Field::Facts, facts)));
    broken(&fixture, "unexpected discriminant: 3");
}

#[test]
fn an_allocator_that_gives_what_is_not_there_breaks_the_calling_rules() {
    let mut fixture = Fixture::interpreter();
    fixture.allocates_at(-16);
    broken(&fixture, "realloc return: beyond end of memory");
    fixture.allocates_at(3);
    broken(&fixture, "realloc return: result not aligned");
}

#[test]
fn too_much_input_is_refused_before_the_module_runs() {
    let loaded = with_small_input(&Fixture::interpreter(), 100);
    let body = vec![b'x'; 100];
    let error = loaded.interpret(&observation(&body), None).unwrap_err();
    let found = 100 + "openai.chat".len() + "/v1/chat/completions".len();
    assert_eq!(error, RunError::InputTooLarge { found, limit: 100 });
    assert_eq!(error.to_string(), "input is 131 bytes (limit 100)");
    assert!(loaded.interpret(&observation(&body[..69]), None).is_ok());
    assert!(
        loaded
            .interpret(&observation(&body[..69]), Some(b"x"))
            .is_err()
    );
    let headers = [("x-a".to_owned(), "b".to_owned())];
    let mut given = observation(&body[..60]);
    given.headers = &headers;
    given.request_body = Some(b"12345");
    assert!(loaded.interpret(&given, None).is_ok());
    given.request_body = Some(b"123456");
    let error = loaded.decode(&given).unwrap_err();
    assert_eq!(
        error,
        RunError::InputTooLarge {
            found: 101,
            limit: 100
        }
    );
}

fn with_small_input(fixture: &Fixture, input_bytes: usize) -> Interpreter {
    let compiled = compile(&fixture.build()).unwrap();
    let small = Limits {
        input_bytes,
        ..limits()
    };
    sandbox(small).interpreter(&compiled).unwrap()
}

#[test]
fn more_instances_or_tables_than_allowed_do_not_load() {
    let refused = |before: &str, limits: Limits, words: &str| {
        let mut fixture = Fixture::interpreter();
        before.clone_into(&mut fixture.before);
        let compiled = compile(&fixture.build()).unwrap();
        let error = sandbox(limits).interpreter(&compiled).map(drop);
        assert_eq!(error, Err(LoadError::Engine(words.to_owned())));
    };
    let few = Limits {
        instances: 3,
        tables: 2,
        ..limits()
    };
    let instances = "(core module $e)".to_owned() + &"(core instance (instantiate $e))".repeat(3);
    refused(
        &instances,
        few,
        "The component transitively contains 4 core module instances, which exceeds the configured maximum of 3 in the pooling allocator",
    );
    let tables = "(core module $t (table 1 funcref) (table 1 funcref) (table 1 funcref))
        (core instance (instantiate $t))";
    refused(
        tables,
        few,
        "module table does not fit in pooling allocator requirements: defined tables count of 3 exceeds the per-instance limit of 2",
    );
}

#[test]
fn a_limit_that_was_met_leaves_nothing_behind() {
    // One sandbox, one slot: the bomb and the honest call take turns.
    let single = Sandbox::new(limits(), std::num::NonZeroU32::MIN).unwrap();
    let mut bomb = Fixture::interpreter();
    bomb.returns("describe", &interpreter_info("bomb"));
    bomb.does(
        "interpret",
        "(loop (drop (memory.grow (i32.const 100))) br 0) unreachable",
    );
    let load = |fixture: &Fixture| {
        let compiled = compile(&fixture.build()).unwrap();
        single.interpreter(&compiled).unwrap()
    };
    let (bomb, honest) = (load(&bomb), load(&Fixture::interpreter()));
    for _ in 0..50 {
        let error = bomb.interpret(&observation(b"{}"), None).unwrap_err();
        assert!(error.is_limit(), "{error}");
        assert!(honest.interpret(&observation(b"{}"), None).is_ok());
    }
}

#[test]
fn one_run_sees_nothing_of_another() {
    // The module adds one to its memory, to a global and to a table, and traps
    // when it finds what an earlier run wrote.
    let mut fixture = Fixture::interpreter();
    fixture.core = "(global $seen (mut i32) (i32.const 0)) (table $t 1 funcref)
        (func $f) (elem declare func $f)"
        .to_owned();
    let address = fixture.address_of("interpret");
    fixture.does(
        "interpret",
        &format!(
            "(if (i32.or (global.get $seen) (i32.or (i32.load (i32.const 40000))
                 (i32.eqz (ref.is_null (table.get $t (i32.const 0))))))
               (then unreachable))
             (global.set $seen (i32.const 1)) (i32.store (i32.const 40000) (i32.const 1))
             (table.set $t (i32.const 0) (ref.func $f))
             i32.const {address}"
        ),
    );
    let loaded = interpreter(&fixture);
    for _ in 0..100 {
        assert!(loaded.interpret(&observation(b"{}"), None).is_ok());
    }
}

#[test]
fn limits_that_no_machine_can_give_are_an_error() {
    let one = std::num::NonZeroU32::MIN;
    let refused = |limits: Limits, at_once: std::num::NonZeroU32, words: &str| {
        let error = Sandbox::new(limits, at_once).map(drop).unwrap_err();
        let start = "engine wasmtime-48.0.8/p1 could not be set up: ";
        assert_eq!(error.to_string(), format!("{start}{words}"));
    };
    let overflow = "total size of memory reservation exceeds addressable memory: byte count \
                    overflow during multiplication";
    refused(limits(), std::num::NonZeroU32::MAX, overflow);
    let with = |change: fn(&mut Limits)| {
        let mut limits = limits();
        change(&mut limits);
        limits
    };
    refused(with(|limits| limits.memories = usize::MAX), one, overflow);
    let words = "maximum memory size of 0xffffffffffffffff bytes exceeds the configured memory \
                 reservation of 0x100000000 bytes";
    refused(with(|limits| limits.memory_bytes = usize::MAX), one, words);
    let words = "max_wasm_stack size cannot exceed the async_stack_size";
    refused(with(|limits| limits.stack_bytes = usize::MAX), one, words);
    let words = "max_wasm_stack size cannot be zero";
    refused(with(|limits| limits.stack_bytes = 0), one, words);
    let words = "table size exceeds addressable memory";
    refused(
        with(|limits| limits.table_elements = usize::MAX),
        one,
        words,
    );
}

#[test]
fn the_least_and_the_most_fuel_are_taken_as_they_are() {
    let compiled = compile(&Fixture::interpreter().build()).unwrap();
    let none = sandbox(limits().with_fuel(0))
        .interpreter(&compiled)
        .map(drop);
    let error = RunError::OutOfFuel { limit: 0 };
    assert_eq!(none, Err(LoadError::Describe(error)));
    let fuel = |limit| run_within(&Fixture::interpreter(), limits().with_fuel(limit));
    assert_eq!(fuel(u64::MAX), fuel(FUEL));
}
