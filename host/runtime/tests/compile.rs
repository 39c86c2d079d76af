//! Compiling in a process of its own: what a hostile module or a broken process
//! can do there, and what it is told.
//!
//! This program is also the compiler that its tests start. A test that takes
//! many seconds runs when `REREAD_LONG_TESTS` is set, and is counted as ignored
//! otherwise.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test program of its own"
)]

#[expect(dead_code, reason = "the other tests of this crate use the rest")]
mod common;

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::panic::catch_unwind;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use common::fixture::Fixture;
use runtime::compile::{CompileLimits, serve_compile};
use runtime::scan::bounds;
use runtime::{CompileError, Compiled, CompilerCommand, LoadError, ModuleError, compile};

/// One test: its name, whether it takes long, and what it claims.
type Test = (&'static str, bool, fn());

const TESTS: [Test; 16] = [
    (
        "the_process_gives_the_same_code_as_this_one",
        false,
        same_code,
    ),
    ("a_refused_module_starts_no_process", false, no_process),
    ("a_program_that_is_not_there_is_named", false, not_there),
    ("a_process_sees_no_environment", false, no_environment),
    (
        "a_process_that_says_much_is_not_waited_for_forever",
        false,
        says_much,
    ),
    (
        "a_process_that_ends_early_is_told_by_its_code",
        false,
        ends_early,
    ),
    ("a_process_that_aborts_is_told_by_its_signal", false, aborts),
    ("an_answer_that_is_none_is_refused", false, no_answer),
    ("a_process_that_never_ends_is_ended", false, never_ends),
    ("a_bomb_meets_the_limit_on_time", false, wall_time),
    (
        "a_bomb_meets_the_limit_on_processor_time",
        false,
        processor_time,
    ),
    ("a_bomb_meets_the_limit_on_memory", false, memory),
    (
        "the_known_bombs_are_refused_before_compiling",
        false,
        known_bombs,
    ),
    ("an_answer_without_end_is_refused", true, endless_answer),
    (
        "the_largest_bombs_that_pass_the_scan_stay_within_the_limits",
        true,
        largest_bombs,
    ),
    (
        "a_component_that_doubles_at_each_level_stays_within_the_limits",
        false,
        doubling,
    ),
];

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    match args.next() {
        Some(mode) if mode.starts_with("--act-") => act(&mode),
        filter => run_tests(filter.filter(|text| !text.starts_with("--")).as_deref()),
    }
}

/// Runs the tests, in the way and with the words of the usual harness.
fn run_tests(filter: Option<&str>) -> ExitCode {
    #[expect(clippy::disallowed_methods, reason = "a test program of its own")]
    let long = std::env::var("REREAD_LONG_TESTS").is_ok();
    let chosen = |test: &&Test| filter.is_none_or(|filter| test.0.contains(filter));
    println!("\nrunning {} tests", TESTS.iter().filter(chosen).count());
    let (mut passed, mut failed, mut ignored) = (0, 0, 0);
    for (name, is_long, test) in TESTS.iter().filter(chosen) {
        let (word, counter) = if *is_long && !long {
            ("ignored, takes long", &mut ignored)
        } else if catch_unwind(test).is_ok() {
            ("ok", &mut passed)
        } else {
            ("FAILED", &mut failed)
        };
        *counter += 1;
        println!("test {name} ... {word}");
    }
    let result = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {result}. {passed} passed; {failed} failed; {ignored} ignored; 0 \
         measured; {} filtered out\n",
        TESTS.len() - passed - failed - ignored
    );
    ExitCode::from(u8::from(failed > 0))
}

/// What this program does when a test has started it.
fn act(mode: &str) -> ExitCode {
    match mode {
        "--act-compile" => {}
        "--act-say-much" => {
            let words = "x".repeat(1 << 20);
            for _ in 0..8 {
                eprintln!("{words}");
            }
        }
        "--act-exit" => {
            eprintln!("no\u{1b}[31m");
            return ExitCode::from(3);
        }
        "--act-environment" => {
            eprintln!("{} variables", std::env::vars_os().count());
            return ExitCode::from(5);
        }
        "--act-abort" => std::process::abort(),
        "--act-nothing" => return ExitCode::SUCCESS,
        "--act-garbage" => {
            println!("{}", "compiled! ".repeat(100));
            return ExitCode::SUCCESS;
        }
        "--act-hang" => std::thread::sleep(Duration::from_mins(10)),
        "--act-pour" => {
            let zeros = vec![0; 1 << 16];
            while io::stdout().write_all(&zeros).is_ok() {}
            return ExitCode::SUCCESS;
        }
        other => panic!("{other}"),
    }
    match serve_compile(io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn command(mode: &str, limits: CompileLimits) -> CompilerCommand {
    CompilerCommand {
        program: std::env::current_exe().unwrap(),
        args: vec![mode.into()],
        limits,
    }
}

const TEN_SECONDS: CompileLimits = CompileLimits {
    wall: Duration::from_secs(10),
    ..CompileLimits::STANDARD
};

fn acts(mode: &str) -> Result<Compiled, CompileError> {
    command(mode, TEN_SECONDS).compile(&Fixture::interpreter().build())
}

fn same_code() {
    for module in [Fixture::interpreter().build(), Fixture::policy().build()] {
        let there = command("--act-compile", TEN_SECONDS).compile(&module);
        assert_eq!(there.unwrap(), compile(&module).unwrap());
    }
}

fn no_process() {
    let nowhere = CompilerCommand {
        program: PathBuf::from("/nonexistent/compiler"),
        args: Vec::new(),
        limits: TEN_SECONDS,
    };
    let error = nowhere.compile(b"\0asm\x01\0\0\0").unwrap_err();
    assert_eq!(error, CompileError::Module(ModuleError::CoreModule));
    assert_eq!(
        error.to_string(),
        "module is a core module, expected a component"
    );
}

fn not_there() {
    let program = PathBuf::from("/nonexistent/compiler");
    let nowhere = CompilerCommand {
        program: program.clone(),
        args: Vec::new(),
        limits: TEN_SECONDS,
    };
    let error = nowhere
        .compile(&Fixture::interpreter().build())
        .unwrap_err();
    let detail = "No such file or directory (os error 2)".to_owned();
    assert_eq!(
        error.to_string(),
        format!("compiler process \"/nonexistent/compiler\" could not be started: {detail}")
    );
    assert_eq!(error, CompileError::Start { program, detail });
}

fn no_environment() {
    let words = "0 variables".to_owned();
    assert_eq!(
        acts("--act-environment"),
        Err(CompileError::Exit { code: 5, words })
    );
}

fn says_much() {
    assert!(acts("--act-say-much").is_ok());
}

fn ends_early() {
    let error = acts("--act-exit").unwrap_err();
    let words = "no\u{1b}[31m".to_owned();
    assert_eq!(
        error.to_string(),
        "compiler process ended with code 3: no\\u{1b}[31m"
    );
    assert_eq!(error, CompileError::Exit { code: 3, words });
}

fn aborts() {
    let error = acts("--act-abort").unwrap_err();
    let words = String::new();
    assert_eq!(
        error.to_string(),
        "compiler process was ended by signal 6: "
    );
    assert_eq!(error, CompileError::Signal { signal: 6, words });
}

fn no_answer() {
    let answer = |words: &str| Err(CompileError::Answer(words.to_owned()));
    assert_eq!(acts("--act-nothing"), answer("it has 0 bytes"));
    let error = acts("--act-garbage");
    assert_eq!(error, answer("it does not start as an answer does"));
    assert_eq!(
        error.unwrap_err().to_string(),
        "answer of the compiler process cannot be used: it does not start as an answer does"
    );
}

/// Returns the outcome, and the seconds until it was there.
#[expect(clippy::disallowed_methods, reason = "the test is about time")]
fn timed<T>(action: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let outcome = action();
    (outcome, start.elapsed().as_secs_f64())
}

fn never_ends() {
    let limit = Duration::from_millis(300);
    let limits = CompileLimits {
        wall: limit,
        ..CompileLimits::STANDARD
    };
    let module = Fixture::interpreter().build();
    let (outcome, seconds) = timed(|| command("--act-hang", limits).compile(&module));
    assert_eq!(outcome, Err(CompileError::WallTime { limit }));
    assert_eq!(
        outcome.unwrap_err().to_string(),
        "module did not compile in 0.3 seconds (limit)"
    );
    assert!(seconds < 2.0, "{seconds}");
}

fn of(core: String) -> Vec<u8> {
    let mut fixture = Fixture::interpreter();
    fixture.core = core;
    fixture.build()
}

fn times(count: u64, text: &str) -> String {
    text.repeat(usize::try_from(count).unwrap())
}

/// Loops that each merge many locals, one loop after the other.
fn merging(locals: u64, loops: u64) -> Vec<u8> {
    let mut sets = String::new();
    for index in 1..locals {
        let before = index - 1;
        write!(
            sets,
            "local.get {index} local.get {before} i32.add local.set {index} "
        )
        .unwrap();
    }
    let body = times(loops, &format!("(loop {sets} (br_if 0 (local.get 0)))"));
    of(format!("(func (local {}) {body})", times(locals, "i32 ")))
}

/// As many functions as the scan lets through: seconds of work in few bytes.
fn functions() -> Vec<u8> {
    of(times(bounds::FUNCTIONS_MAX - 4, "(func)"))
}

/// A straight line of arithmetic, three bytes a step.
fn straight(bytes: u64) -> Vec<u8> {
    let steps = times(bytes / 3, "i32.const 3 i32.mul ");
    of(format!(
        "(func (param i32) (result i32) local.get 0 {steps})"
    ))
}

/// Jumps with many targets.
fn tables(bytes: u64) -> Vec<u8> {
    let targets = times(100, "0 1 2 3 4 5 6 7 8 9 ");
    let jump = format!("(block (br_table {targets} (local.get 0)))");
    let jumps = times(bytes / 1_010, &jump);
    let blocks = (times(10, "(block "), times(10, ")"));
    of(format!(
        "(func (param i32) {}{jumps}{})",
        blocks.0, blocks.1
    ))
}

/// Calls whose results are all alive until the end.
fn alive(calls: u64) -> Vec<u8> {
    let (made, used) = (times(calls, "call $one "), times(calls - 1, "i32.add "));
    of(format!(
        "(func $one (result i32) i32.const 1) (func (result i32) {made}{used})"
    ))
}

fn wall_time() {
    let limit = Duration::from_millis(300);
    let limits = CompileLimits {
        wall: limit,
        ..CompileLimits::STANDARD
    };
    let module = functions();
    let (outcome, seconds) = timed(|| command("--act-compile", limits).compile(&module));
    assert_eq!(outcome, Err(CompileError::WallTime { limit }));
    assert!(seconds < 4.0, "{seconds}");
}

fn processor_time() {
    let limits = CompileLimits {
        cpu_seconds: 1,
        ..CompileLimits::STANDARD
    };
    let error = command("--act-compile", limits).compile(&functions());
    assert_eq!(error, Err(CompileError::CpuTime { limit_seconds: 1 }));
    assert_eq!(
        error.unwrap_err().to_string(),
        "module did not compile in 1 seconds of processor time (limit)"
    );
}

fn memory() {
    let limit = 256 << 20;
    let limits = CompileLimits {
        memory_bytes: limit,
        ..CompileLimits::STANDARD
    };
    let error =
        command("--act-compile", limits).compile(&tables(bounds::FUNCTION_BYTES_MAX - 4096));
    assert_eq!(error, Err(CompileError::Memory { limit }));
    assert_eq!(
        error.unwrap_err().to_string(),
        "module did not compile within 268435456 bytes of memory (limit)"
    );
}

fn known_bombs() {
    let bombs = [
        ("functions", of(times(131_072, "(func)"))),
        ("operands at a time in one function", alive(87_000)),
        ("bytes in one function", merging(600, 600)),
        ("bytes in one function", straight(1_258_479)),
    ];
    let limits = TEN_SECONDS;
    for (expected, module) in bombs {
        let (outcome, seconds) = timed(|| command("--act-compile", limits).compile(&module));
        let Err(CompileError::Module(ModuleError::Bound { what, .. })) = outcome else {
            panic!("{expected}: {outcome:?}");
        };
        assert_eq!(what, expected);
        assert!(seconds < 2.0, "{what}: {seconds}");
    }
}

fn endless_answer() {
    let error = acts("--act-pour").unwrap_err();
    assert_eq!(
        error.to_string(),
        "answer of the compiler process cannot be used: it is larger than 268435505 bytes"
    );
}

fn largest_bombs() {
    let bombs = [
        ("functions", functions()),
        ("operands", alive(bounds::OPERANDS_MAX)),
        ("merges", merging(340, 340)),
        ("straight line", straight(bounds::FUNCTION_BYTES_MAX - 4096)),
        ("jumps", tables(bounds::FUNCTION_BYTES_MAX - 4096)),
    ];
    for (name, module) in bombs {
        let standard = CompileLimits::STANDARD;
        let (outcome, seconds) = timed(|| command("--act-compile", standard).compile(&module));
        println!(
            "  {name}: {} bytes, {seconds:.1} s, {}",
            module.len(),
            match &outcome {
                Ok(_) => "compiled".to_owned(),
                Err(error) => error.to_string(),
            }
        );
        assert!(
            matches!(
                outcome,
                Ok(_)
                    | Err(CompileError::WallTime { .. }
                        | CompileError::CpuTime { .. }
                        | CompileError::Memory { .. })
            ),
            "{name}: {outcome:?}"
        );
        assert!(seconds < 62.0, "{name}: {seconds}");
    }
}

/// A component that instantiates another a hundred times, which does so too, and
/// so on: as deep as the scan allows.
fn doubling() {
    let mut level =
        "(component $c (core module $m (func)) (core instance (instantiate $m)))".to_owned();
    for _ in 0..bounds::DEPTH_MAX - 3 {
        level = format!(
            "(component $c {level} {})",
            times(100, "(instance (instantiate $c))")
        );
    }
    let mut fixture = Fixture::interpreter();
    fixture.before = level + "(instance (instantiate $c))";
    let limits = TEN_SECONDS;
    let (outcome, seconds) = timed(|| command("--act-compile", limits).compile(&fixture.build()));
    // A million instances are few bytes of code, so it compiles; the sandbox
    // does not load it.
    let compiled = outcome.unwrap();
    let (loaded, loading) = timed(|| common::sandbox(common::limits()).interpreter(&compiled));
    let words = "The component transitively contains 1000001 core module instances, which exceeds \
                 the configured maximum of 500 in the pooling allocator";
    let error = LoadError::Engine(words.to_owned());
    assert_eq!(loaded.map(drop), Err(error));
    assert!(loading < 5.0, "{loading}");
    assert!(seconds < 12.0, "{seconds}");
}
