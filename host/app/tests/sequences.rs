//! Every command sent twice, and repeats in any order, end in the same state as once: a
//! repeat is answered as the first time.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test says what went wrong by failing"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use app::accept::AcceptOptions;
use app::check::{CheckOptions, CheckVerifier};
use app::derive::DeriveOptions;
use app::import::{ImportOptions, LineOutcome};
use app::module::RuleNames;
use app::progress::Silent;
use app::reinterpret::ReinterpretOptions;
use app::task::TaskDeclaration;
use app::verify::VerifyOptions;
use app::{Context, Session};
use model::{AttemptId, CallId, Digest, EventId, TaskId};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{context, init};

/// What the output says.
const SAID: &str = "Two herons.";

/// One recorded exchange.
const LINE: &str = concat!(
    r#"{"id":"one","dialect":"openai.chat","provider":"kestrel","#,
    r#""request":{"method":"POST","path":"/v1/chat/completions"},"response":{"status":200,"#,
    r#""headers":{"content-type":"application/json"},"body_utf8":"{\"model\":\"m\",\"choices\":"#,
    r#"[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"Two herons.\"},"#,
    r#"\"finish_reason\":\"stop\"}]}"}}"#
);

/// The commands, in the order in which they are first possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Import,
    Reread,
    Keep,
    Check,
    Derive,
    AcceptBare,
    AcceptUnauthorized,
    Accept,
}

const STEPS: [Step; 8] = [
    Step::Import,
    Step::Reread,
    Step::Keep,
    Step::Check,
    Step::Derive,
    Step::AcceptBare,
    Step::AcceptUnauthorized,
    Step::Accept,
];

/// A home, what the commands need, and what they answered the first time.
struct World {
    folder: tempfile::TempDir,
    task: TaskId,
    call: Option<CallId>,
    attempt: Option<AttemptId>,
    reading: Option<EventId>,
    check: Option<EventId>,
}

fn init_once() -> &'static Path {
    static HOME: OnceLock<tempfile::TempDir> = OnceLock::new();
    HOME.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        init(&folder.path().join("home"));
        folder
    })
    .path()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else if fs::hard_link(entry.path(), &target).is_err() || !is_cache(&entry.path()) {
            fs::remove_file(&target).ok();
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}

/// Compiled modules are large and never written again.
fn is_cache(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "cache")
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy(init_once(), folder.path());
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("line.jsonl", LINE);
        write("criteria", "names herons\n");
        write("edited.txt", "Two herons, at dawn.");
        write(
            "rules.json",
            r#"{"rules":[{"criterion":0,"contains":"herons"}]}"#,
        );
        let mut session = Session::open(context(&folder.path().join("home"))).unwrap();
        let declared = session
            .create_task(TaskDeclaration {
                title: "t".to_owned(),
                run: None,
                outputs: vec![("report".to_owned(), folder.path().join("criteria"))],
                grants: vec![("ada".parse().unwrap(), "accept".to_owned())],
            })
            .unwrap();
        Self {
            folder,
            task: declared.task,
            call: None,
            attempt: None,
            reading: None,
            check: None,
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn session(&self, actor: &str) -> Session {
        let context = Context {
            actor: actor.parse().unwrap(),
            ..context(&self.file("home"))
        };
        Session::open(context).unwrap()
    }

    fn events(&self) -> u64 {
        self.session("ada").home_state().unwrap().ledger_event_count
    }

    /// Takes a step; returns what was answered and how many events were appended.
    fn take(&mut self, step: Step) -> (Value, u64) {
        let before = self.events();
        let answer = match step {
            Step::Import => self.import(),
            Step::Reread => self.reread(),
            Step::Keep => {
                let mut session = self.session("operator");
                let kept = session.output(self.attempt.unwrap(), None, None, true);
                json!(kept.unwrap().sha256)
            }
            Step::Check => self.check(),
            Step::Derive => {
                let derived = self.session("editor").derive(DeriveOptions {
                    from: Digest::of(SAID.as_bytes()),
                    to: &self.file("edited.txt"),
                    tool: "by hand",
                    note: "at dawn",
                    diff: None,
                });
                json!(derived.unwrap().event)
            }
            Step::AcceptBare => self.accept("ada", &[]),
            Step::AcceptUnauthorized => self.accept("eve", &[self.check.unwrap()]),
            Step::Accept => self.accept("ada", &[self.check.unwrap()]),
        };
        (answer, self.events() - before)
    }

    fn import(&mut self) -> Value {
        let mut found = Vec::new();
        let mut session = self.session("writer");
        let options = ImportOptions {
            task: Some(self.task),
            keep_going: false,
        };
        session
            .import_exchanges(&[self.file("line.jsonl")], options, &mut Silent, |line| {
                if let LineOutcome::Imported { call, attempt }
                | LineOutcome::Duplicate { call, attempt } = line.outcome
                {
                    found.push((call, attempt));
                }
                Ok(())
            })
            .unwrap();
        let (call, attempt) = found[0];
        self.call = Some(call);
        self.attempt = Some(attempt);
        json!([call, attempt])
    }

    fn reread(&mut self) -> Value {
        let options = ReinterpretOptions {
            names: RuleNames {
                interpreter: Some("attempt-interpretation-v2"),
                interpreter_config: None,
                policy: Some("attempt-policy-v2"),
                policy_config: None,
            },
            dry_run: false,
            allow_older: None,
        };
        let mut session = self.session("operator");
        let read = session.reinterpret_call(self.call.unwrap(), &options);
        let read = serde_json::to_value(read.unwrap()).unwrap();
        let reading = read["interpretations"][0].as_str().unwrap();
        self.reading = Some(reading.parse().unwrap());
        json!([read["record"], reading])
    }

    /// A repeated check is a check of its own; the first one is cited.
    fn check(&mut self) -> Value {
        let rules = self.file("rules.json");
        let done = self.session("checker").check(CheckOptions {
            task: self.task,
            output: "report",
            artifact: Digest::of(SAID.as_bytes()),
            verifier: CheckVerifier::Module("text-check-v1", Some(&rules)),
            covers: None,
            timeout_s: 60,
        });
        let done = done.unwrap();
        self.check = self.check.or(Some(done.check));
        json!([done.verdict, done.findings])
    }

    fn accept(&self, actor: &str, checks: &[EventId]) -> Value {
        let done = self.session(actor).accept(&AcceptOptions {
            task: self.task,
            output: "report",
            artifact: Digest::of(SAID.as_bytes()),
            criteria: None,
            call: None,
            attempt: None,
            interpretation: self.reading,
            checks: checks.to_vec(),
            policy: Some("task-acceptance-v1"),
        });
        let done = done.unwrap();
        json!([
            done.reasons,
            done.acceptance,
            done.completion,
            done.rejection
        ])
    }

    /// What the task amounts to, but for the names that differ from home to home.
    fn outcome(&self) -> Value {
        let state = self.session("ada").task_state(self.task).unwrap();
        let mut state = serde_json::to_value(state).unwrap();
        let output = &mut state["outputs"][0];
        output["acceptance"] = json!(output["acceptance"].is_string());
        let call = &state["calls"][0];
        json!([
            state["task_standing"],
            state["outputs"],
            state["checks_without_verdict"],
            call["stage"],
            call["call_status"],
            call["status_basis"],
            call["attempt_count"],
        ])
    }

    fn damage(&self) -> u64 {
        let options = VerifyOptions {
            against: None,
            log_key: None,
            replay: false,
        };
        let mut session = self.session("ada");
        let verified = session.verify(&options, &mut Silent, &mut |_finding| Ok(()));
        verified.unwrap().findings
    }
}

/// How many events a step appends the first time.
const fn first_time(step: Step) -> u64 {
    match step {
        Step::Keep => 0,
        Step::Derive | Step::AcceptBare | Step::AcceptUnauthorized => 1,
        Step::Import | Step::Reread | Step::Check | Step::Accept => 2,
    }
}

/// What a world answered, by step; an acceptance without a check is answered anew once
/// another acceptance stands.
#[derive(Default)]
struct Answers {
    known: Vec<(Step, bool, Value)>,
}

impl Answers {
    /// Asserts that a step answers as the first time, and appends what it should.
    fn hold(&mut self, world: &mut World, step: Step, accepted: bool) -> Result<(), TestCaseError> {
        let (answer, appended) = world.take(step);
        let stands = accepted && step == Step::AcceptBare;
        let known = self
            .known
            .iter()
            .find(|(one, stood, _)| (*one, *stood) == (step, stands));
        if let Some((_, _, first)) = known {
            let more = if step == Step::Check { 2 } else { 0 };
            prop_assert_eq!(appended, more, "{:?}", step);
            prop_assert_eq!(&answer, first, "{:?}", step);
            return Ok(());
        }
        prop_assert_eq!(appended, first_time(step), "{:?}", step);
        let reasons = match (step, stands) {
            (Step::AcceptBare, false) => json!(["missing_check"]),
            (Step::AcceptBare, true) => json!(["conflicting_acceptance"]),
            (Step::AcceptUnauthorized, _) => json!(["unauthorized"]),
            (Step::Accept, _) => json!([]),
            (Step::Import | Step::Reread | Step::Keep | Step::Check | Step::Derive, _) => {
                answer[0].clone()
            }
        };
        prop_assert_eq!(&answer[0], &reasons, "{:?}", step);
        self.known.push((step, stands, answer));
        Ok(())
    }
}

/// Takes every step once in order, with the drawn repeats in between and behind.
fn run(draws: &[u8]) -> Result<World, TestCaseError> {
    let mut world = World::new();
    let mut answers = Answers::default();
    let mut taken = 0;
    for draw in draws {
        let forward = taken == 0 || (*draw < 85 && taken < STEPS.len());
        let place = if forward {
            taken += 1;
            taken - 1
        } else {
            usize::from(*draw) % taken
        };
        let accepted = taken == STEPS.len() && !(forward && place + 1 == STEPS.len());
        answers.hold(&mut world, STEPS[place], accepted)?;
    }
    for step in &STEPS[taken..] {
        answers.hold(&mut world, *step, false)?;
    }
    Ok(world)
}

#[test]
fn every_command_sent_twice_ends_in_the_same_state_as_once() {
    let once = run(&[]).unwrap();
    let mut world = World::new();
    let mut answers = Answers::default();
    for (place, step) in STEPS.iter().enumerate() {
        answers.hold(&mut world, *step, false).unwrap();
        let accepted = place + 1 == STEPS.len();
        answers.hold(&mut world, *step, accepted).unwrap();
    }
    assert_eq!(world.outcome(), once.outcome());
    assert_eq!(once.outcome()[0], "completed");
    assert_eq!((world.damage(), once.damage()), (0, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn repeats_in_any_order_end_in_the_same_state_as_once(
        draws in prop::collection::vec(any::<u8>(), 8..40),
    ) {
        static ONCE: OnceLock<Value> = OnceLock::new();
        let once = ONCE.get_or_init(|| run(&[]).unwrap().outcome());
        let world = run(&draws)?;
        prop_assert_eq!(&world.outcome(), once);
        prop_assert_eq!(world.damage(), 0);
    }
}
