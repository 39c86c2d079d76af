//! The same module, input and limits give the same result, wherever and however
//! often it is run.

use std::num::NonZeroU32;

use runtime::{CacheKey, Compiled, Interpreter, Limits, RunError, Sandbox, compile};

use crate::common::abi::Value;
use crate::common::fixture::{Field, Fixture, ok, reading_with};
use crate::common::{FUEL, interpreter, limits, observation};

/// A module whose work depends on the length of the body.
fn busy() -> Fixture {
    let mut fixture = Fixture::interpreter();
    let address = fixture.address_of("interpret");
    fixture.does(
        "interpret",
        &format!(
            "(local $left i32)
             (local.set $left (i32.load (i32.add (local.get 0) (i32.const 52))))
             (block (loop
               (br_if 1 (i32.eqz (local.get $left)))
               (local.set $left (i32.sub (local.get $left) (i32.const 1)))
               (br 0)))
             i32.const {address}"
        ),
    );
    fixture
}

fn load(limits: Limits, at_once: u32) -> Interpreter {
    let sandbox = Sandbox::new(limits, NonZeroU32::new(at_once).unwrap()).unwrap();
    sandbox
        .interpreter(&compile(&busy().build()).unwrap())
        .unwrap()
}

#[test]
fn a_thousand_runs_give_one_result_and_one_amount_of_fuel() {
    let loaded = interpreter(&busy());
    let body = vec![b'x'; 500];
    let first = loaded.interpret(&observation(&body), None).unwrap();
    for _ in 0..1_000 {
        assert_eq!(
            loaded.interpret(&observation(&body), None).as_ref(),
            Ok(&first)
        );
    }
}

#[test]
fn fuel_depends_on_the_input_and_on_nothing_else() {
    let used = |loaded: &Interpreter, length: usize| {
        let body = vec![b'x'; length];
        loaded.interpret(&observation(&body), None).unwrap().fuel
    };
    let (one, four) = (load(limits(), 1), load(limits(), 4));
    let rich = load(Limits::P1, 1);
    for length in [0, 1, 100, 1000] {
        let fuel = used(&one, length);
        assert_eq!(used(&four, length), fuel);
        assert_eq!(used(&rich, length), fuel);
    }
    assert_eq!(
        used(&one, 100) - used(&one, 0),
        100 * (used(&one, 1) - used(&one, 0))
    );
}

#[test]
fn code_from_the_cache_uses_the_same_fuel() {
    let compiled = compile(&busy().build()).unwrap();
    let key = CacheKey::from_bytes([1; 32]);
    let entry = compiled.seal(&key).unwrap();
    let opened = Compiled::open(entry, &key, compiled.module()).unwrap();
    let sandbox = Sandbox::new(limits(), NonZeroU32::MIN).unwrap();
    let run = |compiled: &Compiled| {
        let loaded = sandbox.interpreter(compiled).unwrap();
        loaded.interpret(&observation(b"{}"), None).unwrap()
    };
    assert_eq!(run(&compiled), run(&opened));
}

#[test]
fn a_run_ends_exactly_where_its_fuel_does() {
    let body = vec![b'x'; 2_000];
    let used = load(limits(), 1)
        .interpret(&observation(&body), None)
        .unwrap()
        .fuel;
    for _ in 0..20 {
        let enough = load(limits().with_fuel(used + 1), 2);
        let outcome = enough.interpret(&observation(&body), None).unwrap();
        assert_eq!(outcome.fuel, used);
        for limit in [used, used - 1, used / 2] {
            let short = load(limits().with_fuel(limit), 2);
            let error = short.interpret(&observation(&body), None).unwrap_err();
            assert_eq!(error, RunError::OutOfFuel { limit });
        }
    }
}

#[test]
fn limits_that_are_not_met_change_nothing() {
    let small = Limits {
        memory_bytes: 1 << 20,
        table_elements: 10,
        stack_bytes: 128 << 10,
        result_bytes: 1 << 16,
        ..limits()
    };
    let (small, large) = (load(small, 1), load(limits(), 1));
    let run = |loaded: &Interpreter| loaded.interpret(&observation(b"{}"), None).unwrap();
    assert_eq!(run(&small), run(&large));
}

#[test]
fn every_nan_is_the_canonical_one() {
    // A NaN with a payload and a sign, through one addition.
    let mut fixture = Fixture::interpreter();
    fixture.does(
        "decode",
        "(i64.store (i32.const 528) (i64.reinterpret_f64 (f64.add
             (f64.reinterpret_i64 (i64.const 0xfff4000000000123)) (f64.const 1))))
         (i32.store (i32.const 536) (i32.reinterpret_f32 (f32.div
             (f32.const -0) (f32.const 0))))
         (i32.store (i32.const 516) (i32.const 528))
         (i32.store (i32.const 520) (i32.const 12))
         i32.const 512",
    );
    let decoded = interpreter(&fixture).decode(&observation(b"{}")).unwrap();
    let (double, single) = (0x7ff8_0000_0000_0000_u64, 0x7fc0_0000_u32);
    let expected = [&double.to_le_bytes()[..], &single.to_le_bytes()].concat();
    assert_eq!(decoded.value, expected);
}

#[test]
fn a_result_that_is_refused_is_refused_the_same_way_each_time() {
    let mut fixture = Fixture::interpreter();
    let text = Value::Case(1, Some(Box::new(Value::Pointer(4, u32::MAX))));
    fixture.returns("interpret", &ok(reading_with(Field::OutputText, text)));
    let loaded = interpreter(&fixture);
    let words = "list pointer/length out of bounds of memory".to_owned();
    for _ in 0..100 {
        let error = loaded.interpret(&observation(b"{}"), None).unwrap_err();
        assert_eq!(error, RunError::BrokenAbi(words.clone()));
    }
    const { assert!(FUEL > 1_000_000, "no run of this file comes near its limit") };
}
