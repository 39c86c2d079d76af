//! One reading in a fresh sandbox against the same function natively, in one run.
//!
//! `cargo bench -p app --bench reading`
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark says what went wrong by failing, and prints what it measured"
)]

mod support;

use std::num::NonZeroU32;
use std::time::Duration;

use runtime::{Limits, Sandbox};
use support::{chat_body, now, observation, read_natively};

const MODULE: &[u8] =
    include_bytes!("../../../interpreters/released/attempt-interpretation-v2.wasm");

fn main() {
    let sandbox = Sandbox::new(Limits::P1, NonZeroU32::MIN).unwrap();
    let compiled = runtime::compile(MODULE).unwrap();
    let interpreter = sandbox.interpreter(&compiled).unwrap();
    println!("one reading, fresh sandbox against native, median of each in this run");
    println!(
        "{:>9} {:>12} {:>12} {:>7} {:>12}",
        "body", "native us", "sandbox us", "ratio", "fuel"
    );
    for (name, bytes) in [
        ("1 KB", 1 << 10),
        ("4 KB", 4 << 10),
        ("64 KB", 64 << 10),
        ("1 MB", 1 << 20),
    ] {
        let body = chat_body(bytes, 1);
        let input = observation(body.as_bytes());
        let outcome = interpreter.interpret(&input, None).unwrap();
        assert_eq!(outcome.value, read_natively(&input), "both read the same");
        let least = Duration::from_secs(2);
        let native = median(least, || drop(read_natively(&input)));
        let sandboxed = median(least, || drop(interpreter.interpret(&input, None).unwrap()));
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        println!(
            "{name:>9} {:>12.1} {:>12.1} {:>7.2} {:>12}",
            micros(native),
            micros(sandboxed),
            micros(sandboxed) / micros(native),
            outcome.fuel,
        );
    }
}

/// Returns the median time of one run, over at least so much time altogether.
fn median(least: Duration, mut run: impl FnMut()) -> Duration {
    for _ in 0..3 {
        run();
    }
    let mut times = Vec::new();
    let began = now();
    while began.elapsed() < least || times.len() < 15 {
        let start = now();
        run();
        times.push(start.elapsed());
    }
    times.sort_unstable();
    times[times.len() / 2]
}
