//! One file per group of commands: parse names, call the application, print.

mod bulk;
mod call;
mod check;
mod cost;
mod diff;
mod evidence;
mod impact;
mod import;
mod module;
mod read;
mod view;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use anyhow::Context as _;
use app::{AppError, Context, Home, Session};
use clap::CommandFactory as _;
use etcetera::BaseStrategy as _;
use model::Digest;
use model::event::home::Program;

use crate::args::{CallCommand, CheckCommand, Cli, Command, Global, Story};
use crate::clock::SystemClock;
use crate::printer::Printer;
use crate::{demo, exit, faults, limits};

/// Runs one command and returns its exit code.
pub(crate) fn run(cli: &Cli, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let code = dispatch(cli, printer)?;
    printer.finish()?;
    Ok(ExitCode::from(code))
}

fn dispatch(cli: &Cli, printer: &mut Printer) -> anyhow::Result<u8> {
    let global = &cli.global;
    match &cli.command {
        Command::Init => init(global, printer),
        Command::Demo { story, keep } => match story {
            None => demo::three_days(keep.dir.as_deref(), printer),
            Some(Story::Acceptance(keep)) => demo::finished_work(keep.dir.as_deref(), printer),
        },
        Command::DemoProvider { receipts, body } => demo::serve(receipts, body, printer),
        Command::Limits => text(limits::TEXT, "limits", printer),
        Command::Completions { shell } => completions(*shell, printer),
        Command::Man { dir } => manual_pages(dir, printer),
        Command::CompileModule => module::compile_child(),
        Command::Preregister { .. }
        | Command::Task(_)
        | Command::Call(_)
        | Command::Resume(_)
        | Command::Redecide(_)
        | Command::Finalize(_)
        | Command::Recover(_)
        | Command::Check(_)
        | Command::Derive(_)
        | Command::Accept(_)
        | Command::Import(_)
        | Command::Interpret(_)
        | Command::Reinterpret(_)
        | Command::Cost(_)
        | Command::State { .. }
        | Command::Diff(_)
        | Command::Impact { .. }
        | Command::Show { .. }
        | Command::Log(_)
        | Command::Output(_)
        | Command::Artifact(_)
        | Command::Module(_)
        | Command::WhoRead { .. }
        | Command::ReadsOf { .. }
        | Command::Verify(_)
        | Command::Checkpoint { .. }
        | Command::Rebuild
        | Command::Doctor
        | Command::DemoForge { .. } => with_session(&cli.command, global, printer),
    }
}

fn with_session(command: &Command, global: &Global, printer: &mut Printer) -> anyhow::Result<u8> {
    if matches!(command, Command::Accept(_)) && global.actor.is_empty() {
        return Err(AppError::Unjudged {
            reason: "missing_actor",
            detail: "--actor names nobody".to_owned(),
        }
        .into());
    }
    let context = context(global)?;
    let mut session = if matches!(command, Command::Verify(_)) {
        Session::open_damaged(context)?
    } else if matches!(command, Command::Accept(_)) {
        Session::open(context).map_err(app::accept::unjudged)?
    } else {
        Session::open(context)?
    };
    let code = in_session(command, &mut session, printer)?;
    for notice in session.take_notices() {
        printer.say(format!("note: {notice}"))?;
    }
    Ok(code)
}

fn in_session(
    command: &Command,
    session: &mut Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    match command {
        Command::Preregister { file, note } => {
            check::preregister(&session.preregister(file, note)?, printer)
        }
        Command::Task(command) => view::task_command(command, session, printer),
        Command::Call(CallCommand::Run(args)) => call::run(args, session, printer),
        Command::Resume(args) => call::resume(args, session, printer),
        Command::Redecide(args) => call::redecide(args, session, printer),
        Command::Finalize(args) => call::finalize(args, session, printer),
        Command::Recover(args) => call::recover(args, session, printer),
        Command::Check(CheckCommand::Run(args)) => evidence::check(args, session, printer),
        Command::Derive(args) => evidence::derive(args, session, printer),
        Command::Accept(args) => evidence::accept(args, session, printer),
        Command::Import(command) => import::run(command, session, printer),
        Command::Interpret(args) => {
            if !args.strict {
                printer.stop_when_closed();
            }
            bulk::interpret(args, session, printer)
        }
        Command::Reinterpret(command) => bulk::reinterpret(command, session, printer),
        Command::Diff(args) => diff::run(args, session, printer),
        Command::Cost(command) => cost::run(command, session, printer),
        Command::State { of } => view::state(of.as_ref(), session, printer),
        Command::Impact { since } => {
            printer.stop_when_closed();
            impact::run(since.as_deref(), session, printer)
        }
        Command::Show { id } => view::show(&session.show(id)?, printer),
        Command::Log(args) => {
            printer.stop_when_closed();
            read::log(args, session, printer)
        }
        Command::Output(args) => read::output(args, session, printer),
        Command::Artifact(command) => read::artifact(command, session, printer),
        Command::Module(command) => module::run(command, session, printer),
        Command::WhoRead { sha } => read::who_read(sha, session, printer),
        Command::ReadsOf { module } => {
            printer.stop_when_closed();
            read::reads_of(module, session, printer)
        }
        Command::Verify(args) => check::verify(args, session, printer),
        Command::Checkpoint { key } => check::checkpoint(*key, session, printer),
        Command::Rebuild => check::rebuild(session, printer),
        Command::Doctor => check::doctor(session, printer),
        Command::DemoForge {
            task,
            output,
            artifact,
        } => {
            let event =
                session.forge_completion(parse(task, "task")?, output, digest(artifact)?)?;
            printer.document(&serde_json::json!({ "forged": event }))?;
            Ok(exit::DONE)
        }
        Command::Init
        | Command::Demo { .. }
        | Command::DemoProvider { .. }
        | Command::Limits
        | Command::Completions { .. }
        | Command::Man { .. }
        | Command::CompileModule => {
            Err(AppError::Usage("the command needs no home".to_owned()).into())
        }
    }
}

fn init(global: &Global, printer: &mut Printer) -> anyhow::Result<u8> {
    let created = app::init::init(&context(global)?, program())?;
    if printer.is_json() {
        printer.document(&created)?;
    } else {
        printer.line(format!("home {}", created.home))?;
        printer.line(format!("ledger {}", created.ledger))?;
        printer.line(format!("log key {}", created.log_key))?;
        for module in &created.modules {
            printer.line(format!("module {module}"))?;
        }
    }
    Ok(exit::DONE)
}

/// Returns which build this is.
pub(crate) fn program() -> Program {
    let commit = option_env!("REREAD_COMMIT").filter(|commit| !commit.is_empty());
    Program {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: commit.map(str::to_owned),
        dirty: commit
            .and(option_env!("REREAD_DIRTY"))
            .map(|dirty| dirty == "true"),
    }
}

fn context(global: &Global) -> anyhow::Result<Context> {
    let actor = global
        .actor
        .parse()
        .map_err(|error: model::name::ActorError| AppError::Usage(error.to_string()))?;
    Ok(Context {
        home: Home::at(home_folder(global.home.as_ref())?),
        actor,
        clock: Box::new(SystemClock),
        program: std::env::current_exe().context("finding this program's own file")?,
        variable: |name| std::env::var_os(name),
        faults: faults::inherited(),
    })
}

/// The flag, else `REREAD_HOME`, else the platform's data folder.
fn home_folder(flag: Option<&PathBuf>) -> anyhow::Result<PathBuf> {
    if let Some(flag) = flag {
        return Ok(flag.clone());
    }
    if let Some(named) = std::env::var_os("REREAD_HOME").filter(|named| !named.is_empty()) {
        return Ok(PathBuf::from(named));
    }
    let strategy = etcetera::choose_base_strategy()
        .map_err(|error| AppError::Usage(format!("{error}; name a home with --home DIR")))?;
    Ok(strategy.data_dir().join("reread"))
}

/// Turns a failure to print into one that ends a run of the application.
pub(crate) fn printed(result: anyhow::Result<()>) -> Result<(), AppError> {
    result.map_err(|error| {
        AppError::Print(error.downcast().unwrap_or_else(|other| {
            // What cannot be told apart is at least shown.
            std::io::Error::other(format!("{other:#}"))
        }))
    })
}

/// Parses an id that the caller typed.
pub(crate) fn parse<T: FromStr>(text: &str, what: &'static str) -> Result<T, AppError>
where
    T::Err: std::fmt::Display,
{
    text.parse()
        .map_err(|error: T::Err| AppError::Usage(format!("{what} {text:?}: {error}")))
}

/// Parses a hash that the caller typed, with or without its prefix.
pub(crate) fn digest(text: &str) -> Result<Digest, AppError> {
    let hex = text.strip_prefix("sha256:").unwrap_or(text);
    Digest::from_hex(hex).map_err(AppError::Digest)
}

fn text(text: &str, name: &str, printer: &mut Printer) -> anyhow::Result<u8> {
    if printer.is_json() {
        printer.document(&serde_json::json!({ name: text }))?;
    } else {
        printer.bytes(text.as_bytes())?;
    }
    Ok(exit::DONE)
}

fn manual_pages(dir: &Path, printer: &mut Printer) -> anyhow::Result<u8> {
    clap_mangen::generate_to(Cli::command(), dir).map_err(|source| AppError::File {
        path: dir.to_owned(),
        source,
    })?;
    if printer.is_json() {
        printer.document(&serde_json::json!({ "manual_pages": dir.display().to_string() }))?;
    }
    Ok(exit::DONE)
}

fn completions(shell: clap_complete::Shell, printer: &mut Printer) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "reread", &mut script);
    text(&String::from_utf8_lossy(&script), "completions", printer)
}

/// Returns the name of a dialect that is known.
pub(crate) fn known_dialect(name: &str) -> Result<String, AppError> {
    model::exchange::dialect(name)
        .map(str::to_owned)
        .ok_or_else(|| {
            let known = model::exchange::DIALECTS.join(", ");
            AppError::Usage(format!("dialect {name:?}: expected one of {known}"))
        })
}

/// A value that is sorted by itself and shown by its name.
type Named<'n, T> = (T, &'n str);

/// Returns the lines of a table of counts: a row for each first value, a column for
/// each second one.
fn table<T: Ord + Copy>(corner: &str, cells: &[(Named<'_, T>, Named<'_, T>, u64)]) -> Vec<String> {
    let mut rows: Vec<_> = cells.iter().map(|(row, _, _)| *row).collect();
    let mut columns: Vec<_> = cells.iter().map(|(_, column, _)| *column).collect();
    for names in [&mut rows, &mut columns] {
        names.sort_unstable();
        names.dedup();
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let line = |first: &str, cells: Vec<String>| {
        let cells: Vec<_> = cells.iter().map(|cell| format!("{cell:>11}")).collect();
        format!("{first:<12}{}", cells.concat())
    };
    let header = columns.iter().map(|(_, name)| (*name).to_owned()).collect();
    let mut lines = vec![line(corner, header)];
    for row in rows {
        let counts = columns.iter().map(|column| {
            let cell = cells
                .iter()
                .find(|(of_row, of_column, _)| *of_row == row && of_column == column);
            cell.map_or(0, |(_, _, count)| *count).to_string()
        });
        lines.push(line(row.1, counts.collect()));
    }
    lines
}
