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
#[path = "support/version_3.rs"]
mod version_3;

use std::num::NonZeroU32;
use std::time::Duration;

use model::Reading;
use model::exchange::Observation;
use runtime::{Interpreter, Limits, Sandbox};
use support::{chat_body, now, observation, read_natively};

const VERSION_2: &[u8] =
    include_bytes!("../../../interpreters/released/attempt-interpretation-v2.wasm");
const VERSION_3: &[u8] =
    include_bytes!("../../../interpreters/released/attempt-interpretation-v3.wasm");

const SIZES: [(&str, usize); 4] = [
    ("1 KB", 1 << 10),
    ("4 KB", 4 << 10),
    ("64 KB", 64 << 10),
    ("1 MB", 1 << 20),
];

fn main() {
    let sandbox = Sandbox::new(Limits::P1, NonZeroU32::MIN).unwrap();
    println!("one reading, fresh sandbox against native, median of each in this run");
    println!(
        "{:>12} {:>9} {:>12} {:>12} {:>7} {:>12} {:>9}",
        "module", "body", "native us", "sandbox us", "ratio", "fuel", "fuel/byte"
    );
    let load = |module| {
        let compiled = runtime::compile(module).unwrap();
        sandbox.interpreter(&compiled).unwrap()
    };
    let (second, third) = (load(VERSION_2), load(VERSION_3));
    for (name, bytes) in SIZES {
        let body = chat_body(bytes, 1);
        measure("v2", name, &body, (&second, read_natively));
        measure("v3", name, &body, (&third, version_3::read_natively));
    }
    for (name, bytes) in SIZES {
        let body = version_3::stream_body(bytes);
        measure("v3 stream", name, &body, (&third, version_3::read_natively));
    }
}

type Native = fn(&Observation<'_>) -> Reading;

fn measure(module: &str, size: &str, body: &str, (guest, native): (&Interpreter, Native)) {
    let input = observation(body.as_bytes());
    let outcome = guest.interpret(&input, None).unwrap();
    assert_eq!(outcome.value, native(&input), "both read the same");
    let least = Duration::from_secs(2);
    let natively = median(least, || drop(native(&input)));
    let sandboxed = median(least, || drop(guest.interpret(&input, None).unwrap()));
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let bytes = u64::try_from(body.len()).unwrap();
    println!(
        "{module:>12} {size:>9} {:>12.1} {:>12.1} {:>7.2} {:>12} {:>9}",
        micros(natively),
        micros(sandboxed),
        micros(sandboxed) / micros(natively),
        outcome.fuel,
        outcome.fuel / bytes,
    );
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
