//! Only the process that starts this one can arm its fault points.

use std::fs::{self, File};
use std::io::{Seek as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use crate::faults::{Scene, killed, script};
use crate::recording_support::REQUEST;
use crate::support::Ran;

/// Kills wherever a call comes by.
fn deadly() -> String {
    script(&[
        "kill before:request_artifact 1",
        "kill before:exchange 1",
        "trace",
    ])
}

/// Asserts that a call with this standard input is made as if there were no script.
fn is_not_armed(stdin: impl Into<Stdio>) {
    let scene = Scene::answering();
    completes(&scene, scene.call(&[]).stdin(stdin));
}

fn completes(scene: &Scene, command: &mut Command) {
    let ran: Ran = command.output().unwrap().into();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.document()["stage"], "completed", "{ran:?}");
    assert_eq!(scene.receipts(), 1);
}

#[test]
fn a_pair_of_the_parent_arms() {
    let scene = Scene::answering();
    killed(scene.call(&[]), "before:request_artifact 1");
    assert_eq!(scene.receipts(), 0);
}

#[test]
fn a_pipe_does_not_arm() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(deadly().as_bytes()).unwrap();
    is_not_armed(reader);
}

#[test]
fn a_file_does_not_arm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script");
    fs::write(&path, deadly()).unwrap();
    is_not_armed(File::open(&path).unwrap());
}

#[test]
fn an_unlinked_file_does_not_arm() {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(deadly().as_bytes()).unwrap();
    file.rewind().unwrap();
    is_not_armed(file);
}

#[test]
fn a_pair_of_tcp_sockets_does_not_arm() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let theirs = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut ours, _) = listener.accept().unwrap();
    ours.write_all(deadly().as_bytes()).unwrap();
    is_not_armed(OwnedFd::from(theirs));
}

#[test]
fn a_named_socket_does_not_arm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let theirs = UnixStream::connect(&path).unwrap();
    let (mut ours, _) = listener.accept().unwrap();
    ours.write_all(deadly().as_bytes()).unwrap();
    is_not_armed(OwnedFd::from(theirs));
}

/// Makes a `call run` in a shell, with a pair that this process made.
fn in_shell(scene: &Scene, line: &str) -> (Command, UnixStream) {
    let request = scene.home.write("request.json", REQUEST);
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    ours.write_all(deadly().as_bytes()).unwrap();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", line, "sh"])
        .arg(env!("CARGO_BIN_EXE_reread"))
        .arg("--home")
        .arg(scene.home.path())
        .args(["--json", "call", "run", "--provider", "kestrel"])
        .arg("--request")
        .arg(request)
        .stdin(OwnedFd::from(theirs));
    (shell, ours)
}

#[cfg(target_os = "linux")]
#[test]
fn a_pair_of_the_grandparent_does_not_arm() {
    let scene = Scene::answering();
    let (mut shell, _ours) = in_shell(&scene, "\"$@\"; code=$?; exit $code");
    completes(&scene, &mut shell);

    // The same shell gives way to the program: now the pair is the parent's.
    let scene = Scene::answering();
    let (mut shell, _ours) = in_shell(&scene, "exec \"$@\"");
    let output = shell.output().unwrap();
    assert_eq!(output.status.signal(), Some(9), "{output:?}");
    assert_eq!(scene.receipts(), 0);
}

#[test]
fn no_variable_arms() {
    let scene = Scene::answering();
    let mut command = scene.call(&[]);
    for name in ["REREAD_FAULTS", "REREAD_FAULT", "REREAD_TEST", "FAULTS"] {
        command.env(name, deadly());
    }
    completes(&scene, &mut command);
}

#[test]
fn a_pair_without_a_script_is_left_as_it_is() {
    let scene = Scene::answering();
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    ours.write_all(b"reread-faults-1\nkill before:exchange 1\n")
        .unwrap();
    completes(&scene, scene.call(&[]).stdin(OwnedFd::from(theirs)));
}
