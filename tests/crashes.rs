//! A process that dies at any fault point loses nothing and repeats nothing.
//!
//! The points are those that a run tells of. Each is tried in a home of its own, with
//! a provider of its own that counts what reaches it.

mod arming;
mod exchange;
mod intent;
mod settle;
mod syscalls;

use std::process::Command;

use crate::crashes::settle::Settled;
use crate::faults::{Scene, failed, killed, traced};

/// A command, and where the call stands that it is tried on.
struct Plan {
    /// How many attempts the policy wants.
    attempts: usize,
    /// Where the call was killed that the command continues; none for `call run`.
    begun: Option<&'static str>,
    /// The command's name and, after the call, its flags.
    command: &'static [&'static str],
}

/// What is done at a point.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blow {
    Kill,
    Fail,
}

const RUN: Option<&str> = None;

impl Plan {
    fn new(attempts: usize, begun: Option<&'static str>, command: &'static [&'static str]) -> Self {
        Self {
            attempts,
            begun,
            command,
        }
    }

    fn scene(&self) -> Scene {
        match self.attempts {
            1 => Scene::answering(),
            _ => Scene::overloaded_once(),
        }
    }

    fn call(&self, scene: &Scene) -> Command {
        scene.call(&["--max-attempts", &self.attempts.to_string()])
    }

    /// Makes the command, not yet started, and what has to be there before it.
    fn command(&self, scene: &Scene) -> Command {
        let (Some(point), [name, flags @ ..]) = (self.begun, self.command) else {
            return self.call(scene);
        };
        killed(self.call(scene), point);
        let call = scene.calls().remove(0).id;
        scene.command(&[&[*name, &call], flags].concat())
    }

    /// Strikes at every point that the command reaches.
    fn strike(&self, blow: Blow) {
        let scene = self.scene();
        let (ran, points) = traced(self.command(&scene));
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(points.len() >= 2, "{points:?}");
        let wanted = Settled::of(&scene, "end").receipts;
        let mut settled = Vec::new();
        for point in &points {
            let scene = self.scene();
            let command = self.command(&scene);
            match blow {
                Blow::Kill => killed(command, point),
                Blow::Fail => fails(&scene, command, point),
            }
            let one = Settled::of_call(&scene, point, || self.call(&scene));
            one.holds(point, wanted);
            settled.push(one);
        }
        let unknown = settled.iter().filter(|one| one.unknown.is_some()).count();
        let name = self.command.first().unwrap_or(&"call run");
        println!(
            "{name} ({} wanted): {} points {}, 0 of {} lost or repeated anything; {unknown} refused \
             until a second effect was accepted",
            self.attempts,
            points.len(),
            if blow == Blow::Kill {
                "killed"
            } else {
                "failed"
            },
            points.len(),
        );
    }
}

/// Fails a command at a point, and asserts what it says.
fn fails(scene: &Scene, command: Command, point: &str) {
    let (code, message) = failed(command, point).refused(1);
    let (name, _) = point.split_once(' ').unwrap();
    let plain = format!("a failure was asked for at {name}");
    let after_the_answer = [
        "before:response_artifact",
        "after:response_artifact",
        "before:attempt.observed",
    ];
    let calls = scene.calls();
    if after_the_answer.contains(&name) {
        // What cannot be had again is named, not the step alone.
        assert_eq!(code, "response_lost");
        let (call, started) = (calls.last().unwrap(), "attempt.started");
        let attempts = call.kinds().iter().filter(|kind| *kind == started).count();
        let start = format!(
            "call {}: the response to attempt {attempts} arrived (HTTP ",
            call.id
        );
        let end = format!(" bytes) and could not be recorded: {plain}");
        assert!(
            message.starts_with(&start) && message.ends_with(&end),
            "{message}"
        );
        return;
    }
    let mut of_calls = calls
        .iter()
        .map(|call| format!("call {}: {plain}", call.id));
    assert_eq!(code, "injected_failure");
    assert!(
        message == plain || of_calls.any(|one| one == message),
        "{message}"
    );
}

#[test]
fn a_call_killed_at_any_point_is_recovered() {
    Plan::new(1, RUN, &[]).strike(Blow::Kill);
}

#[test]
fn a_call_that_retries_killed_at_any_point_is_recovered() {
    Plan::new(2, RUN, &[]).strike(Blow::Kill);
}

#[test]
fn a_resume_killed_at_any_point_is_recovered() {
    Plan::new(1, Some("after:call.manifest 1"), &["resume"]).strike(Blow::Kill);
}

#[test]
fn a_redecide_killed_at_any_point_is_recovered() {
    Plan::new(1, Some("after:attempt.observed 1"), &["redecide"]).strike(Blow::Kill);
}

#[test]
fn a_finalize_killed_at_any_point_is_recovered() {
    Plan::new(1, Some("after:attempt.retry_decided 1"), &["finalize"]).strike(Blow::Kill);
}

#[test]
fn a_recovery_from_the_intent_killed_at_any_point_is_recovered() {
    Plan::new(2, Some("after:call.requested 1"), &["recover"]).strike(Blow::Kill);
}

#[test]
fn a_recovery_from_the_bytes_killed_at_any_point_is_recovered() {
    Plan::new(2, Some("after:attempt.observed 1"), &["recover"]).strike(Blow::Kill);
}

#[test]
fn a_recovery_from_a_decided_attempt_killed_at_any_point_is_recovered() {
    Plan::new(2, Some("after:attempt.retry_decided 1"), &["recover"]).strike(Blow::Kill);
}

#[test]
fn a_recovery_that_accepts_a_second_effect_killed_at_any_point_is_recovered() {
    let command = &["recover", "--accept-duplicate-effect"];
    Plan::new(1, Some("after:exchange 1"), command).strike(Blow::Kill);
}

#[test]
fn a_call_that_fails_at_any_point_is_recovered() {
    Plan::new(2, RUN, &[]).strike(Blow::Fail);
}

#[test]
fn a_command_that_continues_and_fails_at_any_point_is_recovered() {
    Plan::new(1, Some("after:call.manifest 1"), &["resume"]).strike(Blow::Fail);
    Plan::new(1, Some("after:attempt.observed 1"), &["redecide"]).strike(Blow::Fail);
    Plan::new(1, Some("after:attempt.retry_decided 1"), &["finalize"]).strike(Blow::Fail);
    Plan::new(2, Some("after:attempt.retry_decided 1"), &["recover"]).strike(Blow::Fail);
    let command = &["recover", "--accept-duplicate-effect"];
    Plan::new(1, Some("after:exchange 1"), command).strike(Blow::Fail);
}
