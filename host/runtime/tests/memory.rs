//! What a hostile module can make the host hold, measured on this process alone:
//! so this file has one test.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "helpers of tests fail by panicking"
)]

#[expect(dead_code, reason = "the other tests of this crate use the rest")]
mod common;

use std::fs;

use common::abi::{Value, none, some, text};
use common::fixture::{Field, Fixture, ok, reading_with};
use common::{limits, observation, sandbox};
use runtime::{Limits, RunError, compile};

/// What a run may take over the limit that it meets.
const SPARE_BYTES: u64 = 64 << 20;

/// Returns one of the numbers that the system keeps about this process, in bytes.
fn status(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes << 10
}

/// Runs a module and returns its error, and by how much the process grew at most.
fn growth(fixture: &Fixture) -> (RunError, u64) {
    let compiled = compile(&fixture.build()).unwrap();
    let loaded = sandbox(limits().with_fuel(1_000_000_000))
        .interpreter(&compiled)
        .unwrap();
    // Sets the highest size so far back to the present one.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = status("VmRSS");
    let outcome = loaded.interpret(&observation(b"{}"), None).map(drop);
    let error = outcome.unwrap_err();
    (error, status("VmHWM").saturating_sub(before))
}

#[test]
fn no_module_makes_the_host_hold_more_than_its_limits_and_a_little() {
    let (memory, result) = (256 << 20, 64 << 20);
    let mut bombs = Vec::new();

    let mut fills = Fixture::interpreter();
    fills.does(
        "interpret",
        "(local $end i32)
         (loop
           (local.set $end (memory.grow (i32.const 16)))
           (memory.fill (i32.mul (local.get $end) (i32.const 65536)) (i32.const 1)
             (i32.const 1048576))
           (br 0))
         unreachable",
    );
    bombs.push(("fills its memory", fills, memory));

    let call = Value::Fields(vec![none(), Value::Pointer(8 << 20, 1 << 20), text("{}")]);
    let calls = Value::Repeated(Box::new(call), 100_000);
    let mut aliased = Fixture::interpreter();
    aliased.returns("interpret", &ok(reading_with(Field::ToolCalls, calls)));
    aliased.pages(160, None);
    bombs.push(("lists one text again and again", aliased, result));

    let mut long = Fixture::interpreter();
    let value = some(Value::Pointer(0, 200 << 20));
    long.returns("interpret", &ok(reading_with(Field::OutputText, value)));
    long.pages(3_500, None);
    bombs.push(("returns a long text", long, result));

    // All zeros: two million citations of nothing.
    let many = Value::Pointer(1 << 20, 2_000_000);
    let mut entries = Fixture::interpreter();
    entries.returns("interpret", &ok(reading_with(Field::Citations, many)));
    entries.pages(1_000, None);
    bombs.push(("returns many entries", entries, result));

    let mut deep = Fixture::interpreter();
    deep.core = "(func $deep (call $deep))".to_owned();
    deep.does("interpret", "(call $deep) unreachable");
    bombs.push(("nests its calls", deep, 1 << 20));

    for (name, fixture, limit) in bombs {
        let (error, grown) = growth(&fixture);
        println!("{name}: {} MiB, {error}", grown >> 20);
        assert!(error.is_limit(), "{name}: {error}");
        assert!(grown <= limit + SPARE_BYTES, "{name}: {grown} bytes");
    }
    assert_eq!(Limits::P1.memory_bytes, 256 << 20);
}
