//! Commands that show state: `state`, `show`, `task`.

use std::path::PathBuf;

use app::cost::StandingCost;
use app::module::ModuleDetail;
use app::show::Record;
use app::state::HomeState;
use app::task::{TaskDeclaration, TaskDeclared, TaskListed};
use app::{AppError, Session};
use model::projection::{CallState, TaskState};
use serde::Serialize;

use super::cost::number;
use super::parse;
use crate::args::{StateCommand, TaskCommand};
use crate::exit;
use crate::printer::Printer;

pub(super) fn task_command(
    command: &TaskCommand,
    session: &mut Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    match command {
        TaskCommand::Create {
            title,
            output,
            criteria,
            grant,
            run,
        } => {
            let declaration = declaration(title, output, criteria, grant, run.as_deref())?;
            let accepts = |(_, capability): &(_, String)| capability == "accept";
            let nobody = !declaration.grants.iter().any(accepts);
            let code = task_created(&session.create_task(declaration)?, printer)?;
            if nobody {
                printer.say("nobody may accept its outputs: --grant ACTOR=accept allows it")?;
            }
            Ok(code)
        }
        TaskCommand::Show { task: name } => {
            task(&session.task_state(parse(name, "task")?)?, printer)
        }
        TaskCommand::List { run } => tasks(&session.tasks(run.as_deref())?, printer),
    }
}

/// Pairs outputs with their criteria, in the order given.
fn declaration(
    title: &str,
    outputs: &[String],
    criteria: &[PathBuf],
    grants: &[String],
    run: Option<&str>,
) -> Result<TaskDeclaration, AppError> {
    if outputs.len() != criteria.len() {
        return Err(AppError::Usage(format!(
            "expected one --criteria for each --output, found {} and {}",
            criteria.len(),
            outputs.len()
        )));
    }
    let grants = grants
        .iter()
        .map(|grant| {
            let (actor, capability) = grant.split_once('=').ok_or_else(|| {
                AppError::Usage(format!("--grant {grant:?}: expected ACTOR=CAPABILITY"))
            })?;
            Ok((parse(actor, "actor")?, capability.to_owned()))
        })
        .collect::<Result<_, AppError>>()?;
    Ok(TaskDeclaration {
        title: title.to_owned(),
        run: run.map(str::to_owned),
        outputs: outputs
            .iter()
            .cloned()
            .zip(criteria.iter().cloned())
            .collect(),
        grants,
    })
}

fn task_created(task: &TaskDeclared, printer: &mut Printer) -> anyhow::Result<u8> {
    if printer.is_json() {
        printer.document(task)?;
    } else {
        printer.line(format!("task {}", task.task))?;
        for output in &task.outputs {
            printer.line(format!(
                "output {} criteria {}",
                output.name, output.criteria_sha256
            ))?;
        }
    }
    Ok(exit::DONE)
}

fn tasks(tasks: &[TaskListed], printer: &mut Printer) -> anyhow::Result<u8> {
    for task in tasks {
        if printer.is_json() {
            printer.document(task)?;
        } else {
            let missing = match task.outputs_missing.as_slice() {
                [] => String::new(),
                missing => format!(" (missing {})", missing.join(", ")),
            };
            printer.line(format!(
                "{} {:<10} next {:<18} {}{missing}",
                task.task, task.task_standing, task.task_next_operation, task.title
            ))?;
        }
    }
    Ok(exit::DONE)
}

pub(super) fn state(
    of: Option<&StateCommand>,
    session: &Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    match of {
        Some(StateCommand::Task { task: name }) => {
            task(&session.task_state(parse(name, "task")?)?, printer)
        }
        Some(StateCommand::Call { call: name }) => {
            let call = parse(name, "call")?;
            let state = session.call_state(call)?;
            priced_call(&state, &session.standing_costs(call)?, printer)?;
            Ok(exit::DONE)
        }
        Some(StateCommand::Open) => {
            session.open_calls(|state| super::printed(open_call(&state, printer)))?;
            Ok(exit::DONE)
        }
        None => home(&session.home_state()?, printer),
    }
}

/// Prints a call with the costs of the readings that count.
fn priced_call(
    state: &CallState,
    costs: &[StandingCost],
    printer: &mut Printer,
) -> anyhow::Result<()> {
    if printer.is_json() {
        return printer.document(&PricedCall { state, costs });
    }
    call_lines(state, printer)?;
    costs.iter().try_for_each(|cost| {
        printer.line(format!(
            "  cost {} {} by {} and {}",
            number(cost.amount.as_deref(), cost.lower_bound.as_deref()),
            cost.currency,
            cost.module.label,
            cost.config_sha256
        ))
    })
}

/// A call as `state call` gives it.
#[derive(Serialize)]
struct PricedCall<'a> {
    #[serde(flatten)]
    state: &'a CallState,
    #[serde(skip_serializing_if = "<[StandingCost]>::is_empty")]
    costs: &'a [StandingCost],
}

/// Prints a call that has something left to do on one line.
fn open_call(state: &CallState, printer: &mut Printer) -> anyhow::Result<()> {
    if printer.is_json() {
        return printer.document(state);
    }
    let name = state
        .idempotency_key
        .as_ref()
        .or(state.external_id.as_ref());
    let line = format!(
        "{} {:<18} next {:<18} {} {}",
        state.call,
        state.stage.as_str(),
        state.next_operation.as_str(),
        state.provider.as_deref().unwrap_or("-"),
        name.map_or("", String::as_str)
    );
    printer.line(line.trim_end())
}

fn home(state: &HomeState, printer: &mut Printer) -> anyhow::Result<u8> {
    if printer.is_json() {
        printer.document(state)?;
        return Ok(exit::DONE);
    }
    printer.line(format!(
        "ledger {} with {} events",
        state.ledger, state.ledger_event_count
    ))?;
    printer.line(format!(
        "{} tasks, {} completed, the basis of {} moved",
        state.tasks, state.tasks_completed, state.tasks_basis_moved
    ))?;
    printer.line(format!("{} calls", state.calls))?;
    for (title, counts) in [
        ("stage", &state.stages),
        ("next", &state.next_operations),
        ("status", &state.statuses),
        ("basis", &state.status_bases),
    ] {
        for (name, count) in counts {
            printer.line(format!("  {title:<7}{name:<60} {count:>9}"))?;
        }
    }
    Ok(exit::DONE)
}

fn task(state: &TaskState, printer: &mut Printer) -> anyhow::Result<u8> {
    if printer.is_json() {
        printer.document(state)?;
        return Ok(exit::DONE);
    }
    let title = state.title.as_deref().unwrap_or("");
    printer.line(format!("task {} {title}", state.task))?;
    printer.line(format!("status {}", state.task_standing))?;
    printer.line(format!(
        "next {} ({})",
        state.task_next_operation.as_str(),
        state.task_reason
    ))?;
    for output in &state.outputs {
        printer.line(format!(
            "output {} {} ({})",
            output.name,
            output.status.as_str(),
            output.basis
        ))?;
        if let Some(record) = output.basis_moved_by {
            printer.line(format!("  basis moved by {record}: see reread impact"))?;
        }
    }
    if !state.outputs_missing.is_empty() {
        printer.line(format!("missing {}", state.outputs_missing.join(", ")))?;
    }
    for check in &state.checks_without_verdict {
        printer.line(format!(
            "check {check} has no verdict: repeat the same check run"
        ))?;
    }
    for call in &state.calls {
        call_lines(call, printer)?;
    }
    Ok(exit::DONE)
}

fn call_lines(state: &CallState, printer: &mut Printer) -> anyhow::Result<()> {
    let name = state.external_id.as_deref().unwrap_or("");
    printer.line(format!("call {} {name}", state.call).trim_end())?;
    printer.line(format!(
        "  stage {} ({})",
        state.stage.as_str(),
        state.reason
    ))?;
    printer.line(format!("  next {}", state.next_operation.as_str()))?;
    match (state.call_status, &state.status_basis) {
        (Some(status), Some(basis)) => {
            let reason = state.status_reason.as_deref().unwrap_or("");
            printer.line(format!("  status {} ({reason})", status.as_str()))?;
            printer.line(format!("  basis {basis}"))
        }
        _ => printer.line("  status none"),
    }
}

pub(super) fn module(detail: &ModuleDetail, printer: &mut Printer) -> anyhow::Result<u8> {
    if printer.is_json() {
        printer.document(detail)?;
        return Ok(exit::DONE);
    }
    let registered = &detail.view.registered;
    let supersedes: Vec<_> = registered
        .supersedes
        .iter()
        .map(ToString::to_string)
        .collect();
    let lines = [
        ("label", registered.module.label.to_string()),
        ("sha256", registered.module.sha256.to_string()),
        ("world", registered.world.clone()),
        ("contract", detail.contract.clone()),
        ("summary", registered.summary.clone()),
        ("dialects", registered.dialects.join(", ")),
        (
            "vocabulary",
            registered
                .vocabulary
                .map(|one| one.to_string())
                .unwrap_or_default(),
        ),
        ("accepts", format!("{:?}", registered.accepts_vocabulary)),
        ("supersedes", supersedes.join(", ")),
        ("imports", "none".to_owned()),
        ("source", registered.source.clone()),
        (
            "bytes",
            format!("{} ({})", registered.length, detail.view.bytes),
        ),
        ("records", detail.records.to_string()),
    ];
    for (name, value) in lines {
        printer.line(format!("{name:<11} {value}").trim_end())?;
    }
    Ok(exit::DONE)
}

pub(super) fn show(record: &Record, printer: &mut Printer) -> anyhow::Result<u8> {
    if printer.is_json() {
        printer.document(record)?;
        return Ok(exit::DONE);
    }
    match record {
        Record::Task(state) => task(state, printer),
        Record::Module(detail) => module(detail, printer),
        Record::Call { state, events } => {
            call_lines(state, printer)?;
            for event in events {
                let field = |name: &str| {
                    event
                        .event
                        .get(name)
                        .and_then(|value| value.as_str())
                        .unwrap_or("")
                };
                let attempt = match field("attempt") {
                    "" => String::new(),
                    attempt => format!(" attempt {attempt}"),
                };
                printer.line(format!(
                    "{:>8} {:<22} {}{attempt}",
                    event.seq,
                    field("kind"),
                    field("id")
                ))?;
            }
            Ok(exit::DONE)
        }
        Record::Event(_) | Record::Attempt(_) | Record::Artifact(_) => {
            // What a record holds is best read as it is written down.
            let pretty = serde_json::to_string_pretty(record)?;
            pretty.lines().try_for_each(|line| printer.line(line))?;
            Ok(exit::DONE)
        }
    }
}
