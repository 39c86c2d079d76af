//! A process that dies at any system call of a call loses nothing and repeats nothing.
//!
//! The fault points stand between the steps; here SIGKILL comes inside of them, at the
//! entry of each call that writes, syncs, names or sends.

use std::process::Command;

use crate::crashes::settle::Settled;
use crate::faults::Scene;
use crate::support::long;

/// What changes a file, a folder or the network.
const CALLS: [&str; 12] = [
    "write",
    "pwrite64",
    "writev",
    "fsync",
    "fdatasync",
    "ftruncate",
    "renameat2",
    "unlink",
    "unlinkat",
    "mkdirat",
    "sendto",
    "connect",
];

/// Runs a call under strace, which writes what it sees to a file.
fn traced(scene: &Scene, what: &[&str]) -> (Option<i32>, String) {
    use std::os::unix::process::ExitStatusExt as _;
    let call = scene.call(&[]);
    let out = scene.home.path().with_file_name("strace");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o"]).arg(&out).args(what);
    command.arg(call.get_program()).args(call.get_args());
    let status = command
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap()
        .status;
    (status.signal(), std::fs::read_to_string(out).unwrap())
}

fn strace_is_here() -> bool {
    let here = Command::new("strace").arg("-V").output().is_ok();
    if !here {
        println!("skipped 1 test: strace is not here");
    }
    here
}

#[test]
fn a_call_killed_at_any_system_call_is_recovered() {
    if !long("the kill at every system call of a call") || !strace_is_here() {
        return;
    }
    let scene = Scene::answering();
    let (_, trace) = traced(&scene, &["-e", &format!("trace={}", CALLS.join(","))]);
    let (mut killed, mut unknown) = (0, 0);
    for name in CALLS {
        let needle = format!(" {name}(");
        let count = trace.lines().filter(|line| line.contains(&needle)).count();
        for time in 1..=count {
            let scene = Scene::answering();
            let trace = format!("trace={name}");
            let inject = format!("inject={name}:signal=SIGKILL:when={time}");
            let (signal, _) = traced(&scene, &["-e", &trace, "-e", &inject]);
            // Threads share the count of a name, so a late one is not always reached.
            if signal != Some(9) {
                continue;
            }
            killed += 1;
            let point = format!("syscall {name} {time}");
            let settled = Settled::of_call(&scene, &point, || scene.call(&[]));
            settled.holds_between(&point, 1);
            unknown += usize::from(settled.unknown.is_some());
        }
    }
    println!(
        "call run: {killed} points killed, 0 of {killed} lost or repeated anything; {unknown} \
         refused until a second effect was accepted"
    );
    assert!(killed > 60, "only {killed} points were reached");
}
