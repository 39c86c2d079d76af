//! Commands that read records and bytes: `log`, `output`, `artifact`, `who-read`,
//! `reads-of`.

use app::Session;
use app::log::{EventView, LogFilter};
use model::Placed;

use super::{digest, parse, printed};
use crate::args::{ArtifactCommand, LogArgs, OutputArgs};
use crate::exit;
use crate::printer::Printer;

pub(super) fn log(args: &LogArgs, session: &Session, printer: &mut Printer) -> anyhow::Result<u8> {
    let filter = LogFilter {
        task: args
            .task
            .as_deref()
            .map(|task| parse(task, "task"))
            .transpose()?,
        call: args
            .call
            .as_deref()
            .map(|call| parse(call, "call"))
            .transpose()?,
        after: args.after,
        limit: args.limit,
    };
    session.log(filter, |placed| {
        if printer.is_json() {
            let view = EventView::of(placed)?;
            return printed(printer.document(&view));
        }
        printed(printer.line(event_line(placed)))
    })?;
    Ok(exit::DONE)
}

pub(super) fn event_line(placed: &Placed) -> String {
    let event = &placed.event;
    let scope = match (event.scope.attempt, event.scope.call, event.scope.task) {
        (Some(attempt), ..) => format!("attempt {attempt}"),
        (None, Some(call), _) => format!("call {call}"),
        (None, None, Some(task)) => format!("task {task}"),
        (None, None, None) => String::new(),
    };
    let kind = event.kind().as_str();
    format!(
        "{:>8} {} {kind:<22} {} {scope}",
        placed.seq, event.at, event.id
    )
    .trim_end()
    .to_owned()
}

pub(super) fn output(
    args: &OutputArgs,
    session: &mut Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    let output = session.output(
        parse(&args.attempt, "attempt")?,
        args.interpreter.as_deref(),
        args.interpreter_config.as_deref(),
        args.store,
    )?;
    if printer.is_json() {
        printer.document(&output)?;
        return Ok(exit::DONE);
    }
    match (&output.output_text, output.stored, output.sha256) {
        (Some(_), true, Some(sha256)) => printer.line(sha256.to_string())?,
        (Some(text), ..) => printer.bytes(text.as_bytes())?,
        (None, ..) => {
            printer.say(format!(
                "the reading by {} has no output text",
                output.module.label
            ))?;
        }
    }
    Ok(exit::DONE)
}

pub(super) fn artifact(
    command: &ArtifactCommand,
    session: &Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    let ArtifactCommand::Cat { sha } = command;
    let bytes = session.artifact(digest(sha)?)?;
    if printer.is_json() {
        // Bytes that are no text cannot stand in JSON as they are.
        let text = std::str::from_utf8(bytes.as_slice()).ok();
        printer.document(&serde_json::json!({
            "sha256": bytes.digest(),
            "length": bytes.as_slice().len(),
            "body_utf8": text,
            "body_b64": app::output::base64(bytes.as_slice()),
        }))?;
    } else {
        printer.bytes(bytes.as_slice())?;
    }
    Ok(exit::DONE)
}

pub(super) fn who_read(sha: &str, session: &Session, printer: &mut Printer) -> anyhow::Result<u8> {
    let readings = session.who_read(digest(sha)?)?;
    if printer.is_json() {
        printer.document(&readings)?;
        return Ok(exit::DONE);
    }
    for reading in &readings.read_by {
        let attempt = reading
            .attempt
            .map(|attempt| attempt.to_string())
            .unwrap_or_default();
        printer.line(format!(
            "{:>8} {} attempt {attempt} by {}",
            reading.seq, reading.interpretation, reading.module
        ))?;
    }
    printer.say(format!(
        "{} readings of bytes that {} observations name",
        readings.read_by.len(),
        readings.observed_by.len()
    ))?;
    Ok(exit::DONE)
}

pub(super) fn reads_of(
    module: &str,
    session: &Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    let mut count: u64 = 0;
    session.reads_of(module, |read| {
        count += 1;
        if printer.is_json() {
            return printed(printer.document(&read));
        }
        let body = read
            .response_sha256
            .map_or_else(|| "-".to_owned(), |sha| sha.to_string());
        printed(printer.line(format!("{:>8} {} {body}", read.seq, read.interpretation)))
    })?;
    printer.say(format!("{count} readings"))?;
    Ok(exit::DONE)
}
