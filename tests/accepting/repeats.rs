//! What is the same acceptance, and what is another one.

use serde_json::{Value, json};

use super::support::{FIRST, Work};
use crate::support::{Ran, V2, text};

#[test]
fn the_same_acceptance_in_other_words_is_the_same() {
    let work = Work::new("stop", &V2);
    let other = work.checked("true");
    let cited = [&work.cited()[..], &["--check", &other]].concat();
    let done = work.accepted("ada", &cited);
    let turned = [&work.citing(&other)[..], &["--check", &work.check]].concat();
    let named = [&work.source.cited()[..], &cited[2..]].concat();
    let rules = text(&done["policy"], "sha256").to_owned();
    let by_hash = [&cited[..], &["--policy", &rules]].concat();
    let label = text(&done["policy"], "label").to_owned();
    let by_label = [&cited[..], &["--policy", &label]].concat();
    let events = work.log();
    for same in [cited, turned, named, by_hash, by_label] {
        let again = work.accepted("ada", &same);
        for name in ["acceptance", "completion", "policy"] {
            assert_eq!(again[name], done[name], "{same:?}");
        }
        assert_eq!(again["appended"], 0, "{same:?}");
    }
    assert_eq!(work.log(), events);
}

#[test]
fn an_acceptance_stands_whatever_is_read_and_checked_afterwards() {
    let work = Work::new("length", &crate::support::V1);
    let done = work.accepted("ada", &work.cited());
    work.source.read(&work.home, "operator", &V2);
    work.checked("false");
    let again = work.accepted("ada", &work.cited());
    assert_eq!(
        (&again["acceptance"], &again["appended"]),
        (&done["acceptance"], &json!(0))
    );
    let state = work.home.must(&["state", "task", &work.task]).document();
    assert_eq!(state["task_standing"], "completed, basis moved");
}

#[test]
fn questions_that_take_turns_are_each_refused_once() {
    let work = Work::new("stop", &V2);
    let reading = work.cited()[..2].to_vec();
    let cited = work.cited().to_vec();
    let first = [&reading[..], &FIRST].concat();
    let questions = [
        ("ada", reading.clone()),
        ("eve", reading),
        ("operator", cited.clone()),
        ("eve", cited),
        ("ada", first),
    ];
    let ask = |wanted: u64| -> Vec<Value> {
        let asked = questions.iter().map(|(actor, cited)| {
            let (code, done) = work.accept(actor, cited);
            assert_eq!((code, &done["appended"]), (5, &json!(wanted)), "{done}");
            done["rejection"].clone()
        });
        asked.collect()
    };
    let refused = ask(1);
    for _ in 0..2 {
        assert_eq!(ask(0), refused);
    }
    assert_eq!(work.count("task.acceptance_rejected"), questions.len());
}

#[test]
fn what_was_refused_is_accepted_once_its_evidence_is_there() {
    let work = Work::new("stop", &V2);
    let reading = &work.cited()[..2];
    let second = ["missing_check", "criterion_not_covered:0"];
    work.refused("ada", reading, &second);
    let done = work.accepted("ada", &work.cited());
    assert_eq!(done["appended"], 2);
    work.rejected("ada", reading, &["conflicting_acceptance"]);
    work.home.must(&["verify"]);
}

#[test]
fn as_many_reasons_as_there_is_room_for_are_recorded_and_more_are_none() {
    let work = Work::new("stop", &V2);
    let unknown = |number| format!("01890000-0000-7000-8000-{number:012x}");
    let ids: Vec<String> = (0..257).map(unknown).collect();
    let citing = |count: usize| {
        let checks = ids[..count].iter();
        let checks = checks.flat_map(|id| ["--check", id.as_str()]);
        let cited: Vec<_> = work.cited().into_iter().chain(checks).collect();
        work.command("ada", &cited)
    };
    let before = work.log().len();
    let ran = Ran::from(citing(257).output().unwrap());
    let (code, message) = ran.refused(7);
    assert_eq!(code, "module_failed");
    let end = "refuses with code too_many_reasons: expected at most 256 reasons against, found \
               more";
    assert!(message.ends_with(end), "{message}");
    assert_eq!(work.log().len(), before);
    let ran = Ran::from(citing(256).output().unwrap());
    let reasons: Vec<_> = ids[..256]
        .iter()
        .map(|id| format!("check_not_found:{id}"))
        .collect();
    assert_eq!((ran.code, &ran.document()["reasons"]), (5, &json!(reasons)));
    assert_eq!(work.log().len(), before + 1);
    work.home.must(&["verify"]);
}
