//! Bytes that were derived from the text in steps, under the second rules.

use std::fs;

use model::Digest;

use super::support::{FIRST, SAID, Work};
use crate::support::V2;

/// The text, and what is made of it step by step.
const STEPS: [&str; 3] = [SAID, "Two herons, at dawn.", "Two grey herons, at dawn."];

fn sha256(said: &str) -> String {
    Digest::of(said.as_bytes()).to_string()
}

/// Derives one step from another as an actor.
fn derive(work: &Work, actor: &str, from: usize, to: usize) {
    let file = work.home.write("made.txt", STEPS[to].as_bytes());
    let from = sha256(STEPS[from]);
    let command = ["--actor", actor, "derive", file.to_str().unwrap(), "--from"];
    let tool = [from.as_str(), "--tool", "by hand"];
    work.home.must(&[&command[..], &tool].concat());
}

/// Work on the last step, which `first` and `second` made one after the other.
fn by_two(first: &str, second: &str) -> Work {
    let mut work = Work::new("stop", &V2);
    derive(&work, first, 0, 1);
    derive(&work, second, 1, 2);
    work.artifact = sha256(STEPS[2]);
    work.check = work.checked("true");
    work
}

#[test]
fn bytes_derived_in_two_steps_are_accepted_by_whoever_made_neither() {
    let work = by_two("editor", "bob");
    let first = ["artifact_not_source_output"];
    work.refused("ada", &[&work.cited()[..], &FIRST].concat(), &first);
    work.refused("bob", &work.cited(), &["self_acceptance"]);
    work.refused("operator", &work.cited(), &["self_acceptance"]);
    work.accepted("ada", &work.cited());
    work.home.must(&["verify"]);
}

#[test]
fn whoever_made_an_earlier_step_made_the_bytes_too() {
    let work = by_two("bob", "editor");
    work.refused("bob", &work.cited(), &["self_acceptance"]);
    work.accepted("ada", &work.cited());
}

#[test]
fn a_way_with_a_step_that_is_not_recorded_is_none() {
    let mut work = Work::new("stop", &V2);
    let other = work.another(&[], STEPS[1]).stored(&work.home);
    assert_eq!(other, sha256(STEPS[1]));
    derive(&work, "editor", 1, 2);
    work.artifact = sha256(STEPS[2]);
    work.check = work.checked("true");
    let (first, second) = (["artifact_not_source_output"], ["derivation_not_recorded"]);
    work.both_refuse(&work.cited(), &first, &second);
    derive(&work, "editor", 0, 1);
    work.accepted("ada", &work.cited());
}

#[test]
fn ways_in_a_circle_end() {
    let mut work = Work::new("stop", &V2);
    let other = work.another(&[], STEPS[1]).stored(&work.home);
    derive(&work, "editor", 1, 2);
    derive(&work, "editor", 2, 1);
    work.artifact = other;
    work.check = work.checked("true");
    let (first, second) = (["artifact_not_source_output"], ["derivation_not_recorded"]);
    work.both_refuse(&work.cited(), &first, &second);
}

#[test]
fn derived_bytes_that_are_lost_or_changed_are_not_accepted() {
    let work = by_two("editor", "editor");
    let file = work.home.artifact(&work.artifact);
    let bytes = fs::read(&file).unwrap();
    let first = ["artifact_not_source_output", "artifact_not_preserved"];
    fs::remove_file(&file).unwrap();
    work.both_refuse(&work.cited(), &first, &first[1..]);
    fs::write(&file, b"other").unwrap();
    let first = ["artifact_not_source_output", "artifact_corrupted"];
    work.both_refuse(&work.cited(), &first, &first[1..]);
    fs::write(&file, bytes).unwrap();
    work.accepted("ada", &work.cited());
}

#[test]
fn a_step_that_leads_nowhere_hides_no_way() {
    let mut work = Work::new("stop", &V2);
    work.another(&[], STEPS[1]).stored(&work.home);
    // Recorded first, and from bytes that do not come from the text.
    derive(&work, "eve", 1, 2);
    derive(&work, "editor", 0, 2);
    work.artifact = sha256(STEPS[2]);
    work.check = work.checked("true");
    // Whoever made the step that leads nowhere made nothing of it.
    work.accepted("ada", &work.cited());
    work.home.must(&["verify"]);
}

#[test]
fn whoever_made_the_bytes_in_any_recorded_way_made_them() {
    let mut work = Work::new("stop", &V2);
    derive(&work, "editor", 0, 1);
    derive(&work, "editor", 1, 2);
    derive(&work, "bob", 0, 2);
    derive(&work, "ada", 1, 0);
    work.artifact = sha256(STEPS[2]);
    work.check = work.checked("true");
    work.refused("bob", &work.cited(), &["self_acceptance"]);
    let copy = work.copy();
    derive(&copy, "ada", 1, 2);
    copy.refused("ada", &copy.cited(), &["self_acceptance"]);
    // What leads back to the text made nothing of it.
    work.accepted("ada", &work.cited());
}

#[test]
fn a_loop_that_others_record_makes_nobody_the_maker_of_what_it_does_not_touch() {
    let mut work = Work::new("stop", &V2);
    derive(&work, "editor", 0, 1);
    // Ada made something else of the text, and somebody leads it back to the text.
    derive(&work, "ada", 0, 2);
    derive(&work, "eve", 2, 0);
    work.artifact = sha256(STEPS[1]);
    work.check = work.checked("true");
    work.accepted("ada", &work.cited());
}
