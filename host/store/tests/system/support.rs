//! The probe, the tracer and small file systems.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{LazyLock, PoisonError, RwLock, RwLockWriteGuard};

use model::event::home::HomePreregistered;
use model::event::{Event, Scope};
use model::merkle::{self, Edge};
use model::{Digest, EventId, LedgerId, Timestamp};
use store::{Artifacts, Ledger, LedgerError};

/// Returns the example that `cargo test` builds beside the tests. An old one would
/// test what is no more, so it is refused.
pub(crate) fn probe() -> &'static Path {
    static PROBE: LazyLock<PathBuf> = LazyLock::new(|| {
        let test = std::env::current_exe().unwrap();
        let probe = test
            .parent()
            .unwrap()
            .with_file_name("examples")
            .join("store_probe");
        assert!(
            is_new(&probe),
            "{} is missing or old: `cargo test -p store` without the name of a test builds it",
            probe.display()
        );
        probe
    });
    &PROBE
}

/// Returns whether a program is as new as what it was made of, which cargo lists.
fn is_new(program: &Path) -> bool {
    let changed = |path: &Path| {
        path.metadata()
            .and_then(|metadata| metadata.modified())
            .ok()
    };
    let sources = std::fs::read_to_string(program.with_extension("d")).unwrap_or_default();
    let built = changed(program);
    let mut sources = sources.split_whitespace().skip(1);
    built.is_some() && sources.all(|source| changed(Path::new(source)) <= built)
}

pub(crate) fn body(number: usize) -> Vec<u8> {
    format!("body {number}").into_bytes()
}

pub(crate) fn note(number: u64) -> Event {
    let at = Timestamp::from_millisecond(1_700_000_000_000);
    let mut random = [0; 10];
    random[..8].copy_from_slice(&number.to_be_bytes());
    let body = HomePreregistered {
        expected_sha256: Digest::of(&number.to_be_bytes()),
        note: "n".repeat(500),
    };
    Event {
        ledger: LedgerId::new(at, [7; 10]),
        id: EventId::new(at, random),
        at,
        actor: "operator".parse().unwrap(),
        cause: None,
        scope: Scope::default(),
        body: body.into(),
        sig: None,
    }
}

pub(crate) fn empty_ledger(path: &Path) -> Ledger {
    Ledger::create::<LedgerError>(path, |_| Ok(())).unwrap()
}

/// Checks a ledger from the outside: places without gaps, every entry its leaf's, the
/// tree of all of them. Returns the events.
pub(crate) fn check_ledger(path: &Path) -> Vec<Event> {
    let mut ledger = Ledger::open(path).unwrap();
    let rows = ledger.reader().raw_after(0, u32::MAX).unwrap();
    let mut edge = Edge::default();
    let mut events = Vec::new();
    for (row, seq) in rows.iter().zip(1_u64..) {
        assert_eq!(row.seq, seq);
        let (salt, bytes) = (row.salt.as_ref().unwrap(), row.bytes.as_ref().unwrap());
        assert_eq!(merkle::leaf(salt, bytes).as_bytes().as_slice(), row.leaf);
        edge.push(merkle::leaf(salt, bytes));
        let event = Event::parse_exact(bytes).unwrap();
        assert_eq!(row.index_findings(&event), []);
        events.push(event);
    }
    assert_eq!(ledger.reader().edge().unwrap(), edge);
    assert_eq!(
        ledger.reader().integrity_check().unwrap(),
        Vec::<String>::new()
    );
    ledger.writer().unwrap().commit().unwrap();
    events
}

/// Checks artifacts from the outside: every file under its hash, nothing half-made.
/// Returns what is kept.
pub(crate) fn check_artifacts(root: &Path) -> Vec<Digest> {
    let (artifacts, _) = Artifacts::open(root).unwrap();
    let kept: Vec<_> = artifacts
        .list()
        .unwrap()
        .into_iter()
        .map(|found| match found {
            store::artifacts::Found::Artifact(digest) => digest,
            store::artifacts::Found::Stray(path) => panic!("stray {}", path.display()),
        })
        .collect();
    for digest in &kept {
        artifacts.get(*digest).unwrap();
    }
    check_swept(root);
    kept
}

/// Checks that no temporary file is left, before an opening could sweep it.
pub(crate) fn check_swept(root: &Path) {
    let left: Vec<_> = root.join("tmp").read_dir().unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

/// Says why a test did not run.
pub(crate) fn skipped(test: &str, why: &str) {
    println!("skipped {test}: {why}");
}

/// Until a new process runs its own program, it keeps open what this one had open, so
/// that a removed file still takes room. Whoever counts on the room keeps others from
/// starting processes.
static STARTING: RwLock<()> = RwLock::new(());

/// Keeps processes from being started.
pub(crate) fn no_new_processes() -> RwLockWriteGuard<'static, ()> {
    STARTING.write().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a process; what it prints can be read.
pub(crate) fn start(command: &mut Command) -> io::Result<Child> {
    let _starting = STARTING.read().unwrap_or_else(PoisonError::into_inner);
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// Runs a process to its end.
pub(crate) fn run(command: &mut Command) -> Output {
    start(command).and_then(Child::wait_with_output).unwrap()
}

fn succeeds(command: &mut Command) -> bool {
    let ended = start(command).and_then(Child::wait_with_output);
    ended.is_ok_and(|output| output.status.success())
}

/// Returns whether processes can be traced here.
pub(crate) fn can_trace() -> bool {
    succeeds(Command::new("strace").args(["-o", "/dev/null", "true"]))
}

/// One system call of a trace, at the place where it ended.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// The arguments, descriptors with their paths.
    pub(crate) arguments: String,
    pub(crate) result: String,
}

impl Call {
    pub(crate) fn failed(&self) -> bool {
        self.result.starts_with('-')
    }
}

/// Runs the probe under the tracer with more options of the tracer's.
pub(crate) fn trace<A: AsRef<OsStr>>(options: &[&str], arguments: &[A]) -> (Output, Vec<Call>) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-y", "-s", "4096", "-o"])
        .arg(file.path());
    strace.args(options).arg(probe()).args(arguments);
    let output = run(&mut strace);
    (
        output,
        calls(&std::fs::read_to_string(file.path()).unwrap()),
    )
}

/// Reads lines such as `812 fsync(3</a/b>) = 0`; a call that another thread's
/// interrupts in the trace stands in two of them.
fn calls(text: &str) -> Vec<Call> {
    let mut unfinished: BTreeMap<&str, &str> = BTreeMap::new();
    let mut calls = Vec::new();
    for line in text.lines() {
        let Some((thread, line)) = line.split_once(' ') else {
            continue;
        };
        let line = line.trim_start();
        if let Some(begun) = line.strip_suffix(" <unfinished ...>") {
            unfinished.insert(thread, begun);
        } else if let Some((_, rest)) = line.split_once(" resumed>") {
            let begun = unfinished.remove(thread).unwrap_or_default();
            calls.extend(call(&format!("{begun}{rest}")));
        } else {
            calls.extend(call(line));
        }
    }
    calls
}

fn call(line: &str) -> Option<Call> {
    let (name, rest) = line.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    Some(Call {
        name: name.to_owned(),
        arguments: arguments.trim_end().trim_end_matches(')').to_owned(),
        result: result.to_owned(),
    })
}

/// A file system in memory; only root can mount one.
pub(crate) struct Tmpfs {
    folder: tempfile::TempDir,
}

impl Tmpfs {
    pub(crate) fn mount(test: &str, options: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = mount(&["-t", "tmpfs", "-o", options, "tmpfs"], folder.path());
        if !mounted {
            skipped(test, "no file system can be mounted here (it takes root)");
        }
        mounted.then(|| Self { folder })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn make_read_only(&self) {
        assert!(mount(&["-o", "remount,ro"], self.path()));
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        assert!(succeeds(Command::new("umount").arg("-l").arg(self.path())));
    }
}

fn mount(arguments: &[&str], folder: &Path) -> bool {
    succeeds(Command::new("mount").args(arguments).arg(folder))
}
