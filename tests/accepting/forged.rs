//! Reasons that no command can bring about: the events are appended by whoever holds
//! the file, each with a leaf that fits.

use model::event::task::Verdict;
use model::event::{Body, Event};
use model::name::Actor;
use model::projection::IndexColumns;
use model::{EventId, TaskId};

use super::support::{UNKNOWN_ID, Work};
use crate::ledger::{Forger, open};
use crate::support::{TestHome, V2};

/// Returns a recorded event by its id.
fn recorded(home: &TestHome, id: &str) -> Event {
    let id: EventId = id.parse().unwrap();
    let question = "SELECT bytes FROM event WHERE id = ?1";
    let bytes: Vec<u8> = open(home)
        .query_row(question, [id.as_bytes().as_slice()], |row| row.get(0))
        .unwrap();
    Event::parse(&bytes).unwrap()
}

/// Returns an id that nothing has yet.
fn fresh(number: u8) -> EventId {
    let id = format!("01890000-0000-7000-8000-0000000000{number:02x}");
    id.parse().unwrap()
}

/// Appends an event with the columns that it must have, and makes the tree fit.
fn append(home: &TestHome, event: &Event) {
    let columns = IndexColumns::of(event);
    let bytes = event.to_bytes().unwrap();
    let salt = [7_u8; model::bounds::SALT_BYTES];
    let scope = columns.scope;
    let blob = |bytes: &[u8]| bytes.to_vec();
    let insert = "INSERT INTO event SELECT max(seq) + 1, zeroblob(32), ?1, ?2, ?3, ?4, ?5, ?6, \
                  NULL, NULL, NULL, ?7, NULL, NULL, NULL FROM event";
    let values = rusqlite::params![
        salt.as_slice(),
        bytes,
        columns.id.as_bytes().as_slice(),
        columns.kind,
        columns.cause.map(|id| blob(id.as_bytes())),
        scope.task.map(|id| blob(id.as_bytes())),
        columns.name,
    ];
    assert_eq!(open(home).execute(insert, values).unwrap(), 1);
    Forger::open(home).seal();
}

/// Appends what `change` makes of a recorded event, under a new id, and returns that.
fn again(home: &TestHome, id: &str, number: u8, change: impl FnOnce(&mut Event)) -> String {
    let mut event = recorded(home, id);
    event.id = fresh(number);
    change(&mut event);
    append(home, &event);
    event.id.to_string()
}

/// Returns the cause of a recorded event.
fn cause(home: &TestHome, id: &str) -> String {
    recorded(home, id).cause.unwrap().to_string()
}

#[test]
fn a_task_that_is_declared_twice_is_ambiguous_whoever_declared_it_again() {
    let work = Work::new("stop", &V2);
    let log = work.home.must(&["log", "--task", &work.task]).lines();
    let declaration = log[0]["id"].as_str().unwrap();
    again(&work.home, declaration, 1, |_| {});
    work.home.must(&["verify"]);
    let reason = ["ambiguous_task_definition"];
    work.both_refuse(&work.cited(), &reason, &reason);
    // The first declaration alone grants.
    again(&work.home, declaration, 2, |event| {
        let eve: Actor = "eve".parse().unwrap();
        let Body::TaskCreated(body) = &mut event.body else {
            panic!("not a declaration");
        };
        body.grants.insert(eve, vec!["accept".to_owned()]);
    });
    work.refused("eve", &work.cited(), &["unauthorized"]);
}

#[test]
fn a_check_whose_request_is_not_recorded_is_unlinked() {
    let work = Work::new("stop", &V2);
    let unlinked = |number, cause: Option<&str>| {
        again(&work.home, &work.check, number, |event| {
            event.cause = cause.map(|id| id.parse().unwrap());
        })
    };
    let reading = work.source.interpretation.clone();
    for (number, cause) in [
        (1, None),
        (2, Some(UNKNOWN_ID)),
        (3, Some(reading.as_str())),
    ] {
        let check = unlinked(number, cause);
        let of = |reason: &str| format!("{reason}:{check}");
        // What it was about cannot be told either.
        let (unlinked, bytes) = (of("check_unlinked"), of("check_wrong_artifact"));
        let second = [
            &unlinked,
            &of("check_wrong_output"),
            &bytes,
            &of("check_wrong_criteria"),
            "criterion_not_covered:0",
        ];
        work.both_refuse(&work.citing(&check), &[&unlinked, &bytes], &second);
    }
}

#[test]
fn a_request_with_two_verdicts_leaves_both_ambiguous() {
    let work = Work::new("stop", &V2);
    let check = again(&work.home, &work.check, 1, |event| {
        let Body::CheckCompleted(body) = &mut event.body else {
            panic!("not a check");
        };
        body.verdict = Verdict::Fail;
        body.exit_code = Some(1);
    });
    let ambiguous = format!("check_ambiguous:{}", work.check);
    work.both_refuse(&work.cited(), &[&ambiguous], &[&ambiguous]);
    let of = |reason: &str| format!("{reason}:{check}");
    let (ambiguous, failed) = (of("check_ambiguous"), of("check_not_passed") + ":FAIL");
    let first = [ambiguous.as_str(), &failed];
    let second = [&first[..], &["criterion_not_covered:0"]].concat();
    work.both_refuse(&work.citing(&check), &first, &second);
}

#[test]
fn two_verdicts_of_one_request_that_agree_are_ambiguous_too() {
    let work = Work::new("stop", &V2);
    let check = again(&work.home, &work.check, 1, |_| {});
    assert_eq!(cause(&work.home, &check), cause(&work.home, &work.check));
    for check in [&work.check, &check] {
        let ambiguous = format!("check_ambiguous:{check}");
        work.both_refuse(&work.citing(check), &[&ambiguous], &[&ambiguous]);
    }
}

#[test]
fn a_verdict_of_the_same_request_under_another_task_is_of_the_wrong_task() {
    let work = Work::new("stop", &V2);
    let other = super::support::declare(&work.home, &[("report", "names herons\n")]);
    let other: TaskId = other.parse().unwrap();
    let check = again(&work.home, &work.check, 1, |event| {
        event.scope.task = Some(other);
    });
    let wrong_task = format!("check_wrong_task:{check}");
    work.both_refuse(&work.citing(&check), &[&wrong_task], &[&wrong_task]);
}

#[test]
fn a_completion_that_no_acceptance_led_to_completes_nothing() {
    let work = Work::new("stop", &V2);
    let forged = work.copy();
    let done = work.accepted("ada", &work.cited());
    let mut completion = recorded(&work.home, done["completion"].as_str().unwrap());
    completion.cause = None;
    append(&forged.home, &completion);
    let state = forged
        .home
        .must(&["state", "task", &forged.task])
        .document();
    assert_eq!(state["task_status"], "incomplete");
    let accepted = forged.accepted("ada", &forged.cited());
    assert_eq!(accepted["appended"], 2);
    let state = forged
        .home
        .must(&["state", "task", &forged.task])
        .document();
    assert_eq!(state["task_status"], "completed");
}
