//! Exit codes, and how failures are told.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use app::record::Refusal;
use app::{AppError, Class};
use model::projection::{Operation, Stage};

use crate::printer::{Printer, visible};

/// Done.
pub(crate) const DONE: u8 = 0;
/// Something that no rule foresees.
pub(crate) const UNEXPECTED: u8 = 1;
/// The question is malformed, or names something that is not there.
pub(crate) const USAGE: u8 = 2;
/// What is recorded is damaged, or a check found something.
pub(crate) const DAMAGE: u8 = 3;
/// Evidence or module bytes are unavailable, or a rule forbids it.
pub(crate) const REFUSED: u8 = 4;
/// An output was not accepted.
pub(crate) const NOT_ACCEPTED: u8 = 5;
/// Another process holds the lock.
pub(crate) const BUSY: u8 = 6;
/// A module is invalid, failed, passed a limit or refused.
pub(crate) const MODULE: u8 = 7;

const fn of_class(class: Class) -> u8 {
    match class {
        Class::Unexpected => UNEXPECTED,
        Class::Usage => USAGE,
        Class::Damage => DAMAGE,
        Class::Refused => REFUSED,
        Class::NotAccepted => NOT_ACCEPTED,
        Class::Busy => BUSY,
        Class::Module => MODULE,
    }
}

/// Tells why the command line could not be parsed.
pub(crate) fn of_parse(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let json = arguments.iter().any(|argument| argument == "--json");
    if json && error.use_stderr() {
        let text = error.render().to_string();
        let message = text.strip_prefix("error: ").unwrap_or(&text);
        tell_json("usage", message.trim_end(), None, USAGE);
    } else {
        // Nothing is left to do when not even this can be printed.
        error.print().ok();
    }
    ExitCode::from(if error.use_stderr() { USAGE } else { DONE })
}

/// Tells why a command failed and returns its exit code.
pub(crate) fn of_error(error: &anyhow::Error, printer: &Printer) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::from(DONE);
    }
    // What the application says names its cause already; anything else is shown
    // with the chain of what led to it.
    let (code, name, hint, message) = match error.downcast_ref::<AppError>() {
        Some(app) => (
            of_class(app.class()),
            app.code(),
            hint(app),
            app.to_string(),
        ),
        None => (UNEXPECTED, "unexpected", None, format!("{error:#}")),
    };
    if printer.is_json() {
        tell_json(name, &message, hint, code);
    } else {
        let mut stderr = std::io::stderr().lock();
        // Some messages have several lines; none may move the cursor.
        let lines: Vec<_> = message.split('\n').map(visible).collect();
        writeln!(stderr, "error: {}", lines.join("\n")).ok();
        if let Some(hint) = hint {
            writeln!(stderr, "\nhint: {hint}").ok();
        }
    }
    ExitCode::from(code)
}

fn tell_json(name: &str, message: &str, hint: Option<&str>, code: u8) {
    let error = serde_json::json!({
        "error": {"code": name, "message": message, "hint": hint, "exit_code": code}
    });
    writeln!(std::io::stderr().lock(), "{error}").ok();
}

/// A reader that has seen enough is no failure.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

/// Returns what to do next.
fn hint(error: &AppError) -> Option<&'static str> {
    use app::{HomeError, LedgerError};
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the others say it all themselves"
    )]
    match error {
        AppError::Home(HomeError::Absent(_)) => {
            Some("make one with `reread init`, or name another with --home DIR")
        }
        AppError::Home(HomeError::NotEmpty(_)) => {
            Some("name an empty folder; an interrupted `init` can be removed and run again")
        }
        AppError::Observation(_) => Some(
            "the observation still says when a response came and what it hashed to: see `reread \
             show`; restore the file from a copy to read it again",
        ),
        AppError::NotAdopted(_) => {
            Some("`reread reinterpret call` reads the bytes, decides, and adopts the result")
        }
        AppError::StepBack { .. } => {
            Some("add --allow-older=REASON if that is what you want; a reinterpretation records it")
        }
        AppError::Stopped { .. } => Some(
            "what is recorded stands: mend the cause, then `reread recover` continues the call as \
             far as it is safe; do not make it again",
        ),
        AppError::ResponseLost { .. } => Some(
            "the provider has served the request: `reread state call` says effect_unknown, and \
             sending again may have its effect twice",
        ),
        AppError::Preparation { .. } => {
            Some("mend what is named and run the call again; nothing was sent")
        }
        AppError::Call(refusal) => hint_of_refusal(refusal),
        AppError::Unknown { what, .. } => Some(hint_of_unknown(what)),
        AppError::LabelBound { .. } => {
            Some("a label is bound once; give the new module a label of its own")
        }
        AppError::ModuleUnavailable { .. } => {
            Some("`reread verify` names all damage; restore the module's file from a copy")
        }
        AppError::Artifact(_) => Some(
            "`reread verify` names all damage; move a damaged file away and repeat, or restore it \
             from a copy",
        ),
        AppError::NotReproduced { .. }
        | AppError::Damage(_)
        | AppError::Ledger(
            LedgerError::Leaf { .. }
            | LedgerError::Entry { .. }
            | LedgerError::Index { .. }
            | LedgerError::Tree { .. }
            | LedgerError::Malformed { .. },
        ) => Some("run `reread verify` to see all damage"),
        AppError::Malformed(_) => Some("mend the lines, or import the others with --keep-going"),
        AppError::Ledger(LedgerError::Busy { .. }) => {
            Some("try again when the other process is done")
        }
        AppError::Ledger(LedgerError::Full { .. }) => Some("make room and try again"),
        _ => None,
    }
}

fn hint_of_unknown(what: &str) -> &'static str {
    match what {
        "provider" => {
            "config.toml of the home names the providers; `reread call run --help` shows how"
        }
        "module" => "`reread module list` shows the labels; `reread module add FILE` adds one",
        _ => "`reread log` shows what there is, `reread state open` what is left to do",
    }
}

fn hint_of_refusal(refusal: &Refusal) -> Option<&'static str> {
    match refusal {
        Refusal::Drift { .. } => Some(
            "restore the configuration and the request as they were, or make a new call with \
             `reread call run`",
        ),
        Refusal::Conflict { .. } => Some("give another request a key of its own"),
        Refusal::KeyInUse {
            stage: Stage::EffectUnknown,
            ..
        }
        | Refusal::EffectUnknown { .. }
        | Refusal::NotNext {
            next: Operation::ReconcileEffect,
            ..
        } => Some(
            "wait if its process still runs, else ask the provider whether it served the request; \
             --accept-duplicate-effect sends it again as a new call",
        ),
        Refusal::KeyInUse { .. } => Some(
            "`reread recover` continues that call; --accept-duplicate-effect sends all the same",
        ),
        Refusal::NotNext {
            next: Operation::FixInputs,
            ..
        } => Some("`reread show` says what is to be mended; then run the call again"),
        Refusal::NotNext {
            next: Operation::None,
            ..
        } => Some("nothing is left to do; `reread state call` says why"),
        Refusal::NotNext { .. } => Some("`reread recover` does what comes next, where it is safe"),
        Refusal::RequestUnavailable { .. } => {
            Some("restore the file from a copy, or give the same bytes again with --request FILE")
        }
        Refusal::Imported { .. } => None,
    }
}
