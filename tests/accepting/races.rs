//! Many processes accept one output at once, held together right before they would
//! record it: one is recorded, and each is told how its own question stands.
//!
//! A process that is overtaken computes again and may reach the point again; only the
//! first time is held.

use std::process::Command;

use serde_json::{Value, json};

use super::support::Work;
use crate::faults::{self, Armed};
use crate::support::{Ran, V1, V2, text};

const PROCESSES: usize = 32;

const ACCEPTED: &str = "before:task.accepted 1";

/// Holds every command at a point, lets them all go, and returns what each did.
fn at_once(point: &str, commands: impl Iterator<Item = Command>) -> Vec<Ran> {
    let mut held: Vec<Armed> = commands.map(|command| hold(command, point)).collect();
    for one in &mut held {
        assert_eq!(one.reached(), point);
    }
    for one in &mut held {
        one.go();
    }
    held.into_iter().map(Armed::ran).collect()
}

fn hold(command: Command, point: &str) -> Armed {
    faults::start(command, &[&format!("hold {point}")])
}

/// Asserts that one acceptance stands with its completion, and returns it.
fn one_stands(work: &Work, before: usize) -> Value {
    assert_eq!(work.count("task.accepted"), 1);
    assert_eq!(work.count("task.completed"), 1);
    let log = work.log();
    let added = &log[before..];
    assert_eq!(added[0]["kind"], "task.accepted");
    let completed = added.iter().filter(|one| one["kind"] == "task.completed");
    for one in completed {
        assert_eq!(one["cause"], added[0]["id"]);
    }
    let state = work.home.must(&["state", "task", &work.task]).document();
    assert_eq!(state["task_status"], "completed");
    work.home.must(&["verify"]);
    added[0].clone()
}

/// Asserts that whoever asked what was accepted is told its id, and everybody else
/// that it conflicts.
fn each_is_told(ran: &[Ran], accepted: &Value, same: impl Fn(usize) -> bool) {
    for (place, one) in ran.iter().enumerate() {
        let done = one.document();
        let told = (one.code, &done["reasons"], &done["acceptance"]);
        if same(place) {
            assert_eq!(told, (0, &json!([]), &accepted["id"]), "{place}: {one:?}");
        } else {
            let conflict = json!(["conflicting_acceptance"]);
            assert_eq!(told, (5, &conflict, &Value::Null), "{place}: {one:?}");
        }
    }
    let appended: u64 = ran
        .iter()
        .filter(|one| one.code == 0)
        .map(|one| one.document()["appended"].as_u64().unwrap())
        .sum();
    assert_eq!(appended, 2, "an acceptance and its completion, once");
}

#[test]
fn of_acceptances_at_once_one_stands_and_every_other_check_conflicts() {
    let work = Work::new("stop", &V2);
    let checks = [work.check.clone(), work.checked("true")];
    let before = work.log().len();
    let ran = at_once(
        ACCEPTED,
        (0..PROCESSES).map(|place| work.command("ada", &work.citing(&checks[place % 2]))),
    );
    let accepted = one_stands(&work, before);
    let winner = text(&json!({"id": accepted["body"]["checks"][0]}), "id").to_owned();
    each_is_told(&ran, &accepted, |place| checks[place % 2] == winner);
    // The losing half asked the same, so its refusal is recorded once.
    assert_eq!(work.count("task.acceptance_rejected"), 1);
    assert_eq!(work.log().len(), before + 3);
}

#[test]
fn of_acceptances_by_two_actors_at_once_one_stands_and_the_other_actor_conflicts() {
    let work = Work::new("stop", &V2);
    let actors = ["ada", "bob"];
    let before = work.log().len();
    let ran = at_once(
        ACCEPTED,
        (0..PROCESSES).map(|place| work.command(actors[place % 2], &work.cited())),
    );
    let accepted = one_stands(&work, before);
    let winner = text(&accepted, "actor").to_owned();
    each_is_told(&ran, &accepted, |place| actors[place % 2] == winner);
    let log = work.log();
    let refused = log
        .iter()
        .find(|one| one["kind"] == "task.acceptance_rejected");
    assert_ne!(refused.unwrap()["actor"], accepted["actor"]);
    assert_eq!(log.len(), before + 3);
}

#[test]
fn identical_acceptances_at_once_are_one() {
    let work = Work::new("stop", &V2);
    let before = work.log().len();
    let ran = at_once(
        ACCEPTED,
        (0..PROCESSES / 2).map(|_| work.command("ada", &work.cited())),
    );
    let accepted = one_stands(&work, before);
    each_is_told(&ran, &accepted, |_| true);
    assert_eq!(work.log().len(), before + 2);
}

#[test]
fn identical_refusals_at_once_are_recorded_once() {
    let work = Work::new("stop", &V2);
    let before = work.log().len();
    let refused = (0..PROCESSES / 2).map(|_| work.command("operator", &work.cited()));
    let ran = at_once("before:task.acceptance_rejected 1", refused);
    let log = work.log();
    assert_eq!(log.len(), before + 1);
    for one in &ran {
        let done = one.document();
        assert_eq!((one.code, &done["rejection"]), (5, &log[before]["id"]));
        assert_eq!(done["reasons"], json!(["self_acceptance"]));
    }
    let appended = ran.iter().filter(|one| one.document()["appended"] == 1);
    assert_eq!(appended.count(), 1);
    work.home.must(&["verify"]);
}

#[test]
fn an_acceptance_without_its_completion_is_completed_by_whoever_repeats_it_first() {
    let work = Work::new("stop", &V2);
    let other = work.checked("true");
    let point = "after:task.accepted 1";
    let mut first = hold(work.command("ada", &work.cited()), point);
    assert_eq!(first.reached(), point);
    let conflict = ["conflicting_acceptance"];
    work.refused("ada", &work.citing(&other), &conflict);
    work.refused("bob", &work.cited(), &conflict);
    work.refused("eve", &work.cited(), &["unauthorized"]);
    let state = work.home.must(&["state", "task", &work.task]).document();
    assert_eq!(state["task_next_operation"], "repeat_acceptance");
    let second = work.accepted("ada", &work.cited());
    assert_eq!(second["appended"], 1);
    first.go();
    let first = first.ran().document();
    for name in ["acceptance", "completion"] {
        assert_eq!(first[name], second[name]);
    }
    assert_eq!(first["appended"], 1);
    assert_eq!(work.count("task.completed"), 1);
    work.home.must(&["verify"]);
}

#[test]
fn an_acceptance_is_judged_again_when_the_call_is_read_again_meanwhile() {
    let work = Work::new("length", &V1);
    let mut held = hold(work.command("ada", &work.cited()), ACCEPTED);
    assert_eq!(held.reached(), ACCEPTED);
    work.source.read(&work.home, "bob", &V2);
    held.go();
    let ran = held.ran();
    let reasons = [
        "source_call_not_succeeded",
        "interpretation_not_decision_basis",
    ];
    assert_eq!((ran.code, &ran.document()["reasons"]), (5, &json!(reasons)));
    assert_eq!(work.count("task.accepted"), 0);
    work.home.must(&["verify"]);
}
