//! Commands that make and continue calls: `call run`, `resume`, `redecide`,
//! `finalize`, `recover`.

use app::Session;
use app::record::{AttemptAdvanced, CallAdvanced, CallOptions, ContinueOptions, SecondEffect};

use super::parse;
use crate::args::{CallRunArgs, DecideArgs, OlderArgs, RecoverArgs, ResumeArgs, SendingArgs};
use crate::exit;
use crate::printer::Printer;

pub(super) fn run(
    args: &CallRunArgs,
    session: &mut Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    let task = args.task.as_deref().map(|task| parse(task, "task"));
    let options = CallOptions {
        task: task.transpose()?,
        provider: &args.provider,
        request: &args.request,
        names: args.pair.names(),
        max_attempts: args.max_attempts,
        idempotency_key: args.idempotency_key.as_deref(),
        second_effect: second_effect(args.accept_duplicate_effect),
    };
    advanced(&session.call(options)?, printer)
}

pub(super) fn resume(
    args: &ResumeArgs,
    session: &mut Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    let options = options(Some(&args.sending), None);
    advanced(
        &session.resume(parse(&args.call, "call")?, options)?,
        printer,
    )
}

pub(super) fn redecide(
    args: &DecideArgs,
    session: &mut Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    let options = options(None, Some(&args.older));
    advanced(
        &session.redecide(parse(&args.call, "call")?, options)?,
        printer,
    )
}

pub(super) fn finalize(
    args: &DecideArgs,
    session: &mut Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    let options = options(None, Some(&args.older));
    advanced(
        &session.finalize(parse(&args.call, "call")?, options)?,
        printer,
    )
}

pub(super) fn recover(
    args: &RecoverArgs,
    session: &mut Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    let options = options(Some(&args.sending), Some(&args.older));
    advanced(
        &session.recover(parse(&args.call, "call")?, options)?,
        printer,
    )
}

fn options<'a>(sending: Option<&'a SendingArgs>, older: Option<&OlderArgs>) -> ContinueOptions<'a> {
    ContinueOptions {
        request: sending.and_then(|sending| sending.request.as_deref()),
        second_effect: second_effect(sending.is_some_and(|one| one.accept_duplicate_effect)),
        allow_older: older.is_some_and(|older| older.allow_older.is_some()),
    }
}

const fn second_effect(accepted: bool) -> SecondEffect {
    if accepted {
        SecondEffect::Accepted
    } else {
        SecondEffect::Refused
    }
}

fn advanced(call: &CallAdvanced, printer: &mut Printer) -> anyhow::Result<u8> {
    if printer.is_json() {
        printer.document(call)?;
        return Ok(exit::DONE);
    }
    printer.line(format!("call {}", call.call))?;
    if let Some(old) = call.resumed_from {
        printer.line(format!("  continues {old}"))?;
    }
    for attempt in &call.attempts {
        printer.line(line_of(attempt))?;
    }
    if let Some(original) = call.replayed_from {
        printer.line(format!("  answered by {original}; nothing was sent"))?;
    }
    match call.status {
        Some(status) => {
            let reason = call.reason.as_deref().unwrap_or("");
            printer.line(format!("  status {} ({reason})", status.as_str()).replace(" ()", ""))?;
        }
        None => printer.line("  status none")?,
    }
    printer.line(format!(
        "  stage {}, next {} ({})",
        call.stage.as_str(),
        call.next_operation.as_str(),
        call.stage_reason
    ))?;
    printer.line(format!("  {} events appended", call.appended))?;
    Ok(exit::DONE)
}

fn line_of(attempt: &AttemptAdvanced) -> String {
    let id = attempt.attempt.map(|id| id.to_string()).unwrap_or_default();
    let mut words = vec![format!("  attempt {} {id}", attempt.index)];
    words.extend(attempt.transport_outcome.map(|one| one.as_str().to_owned()));
    words.extend(attempt.http_status.map(|status| status.to_string()));
    words.extend(attempt.exception_type.map(|one| one.as_str().to_owned()));
    words.extend(
        attempt
            .response
            .as_ref()
            .map(|one| format!("{} bytes", one.length)),
    );
    words.extend(attempt.generation_state.map(|one| one.as_str().to_owned()));
    words.extend(attempt.decision.map(|one| one.as_str().to_owned()));
    words.join(" ")
}
