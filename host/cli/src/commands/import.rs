//! `import …`

use app::import::{
    BatchRequests, Choice, Format, ImportOptions, ImportedLine, LineOutcome, Recordings,
};
use app::{AppError, Session};
use model::exchange::{DIALECTS, dialect};

use super::{parse, printed};
use crate::args::{ChoiceArgs, ImportArgs, ImportCommand};
use crate::exit;
use crate::printer::Printer;
use crate::progress::Bar;

pub(super) fn run(
    command: &ImportCommand,
    session: &mut Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    match command {
        ImportCommand::Exchange(args) => import(args, &Format::Exchange, session, printer),
        ImportCommand::Har(args) => {
            let format = Format::Har(choice(&args.choice)?);
            import(&args.import, &format, session, printer)
        }
        ImportCommand::Vcr(args) => {
            let format = Format::Vcr(choice(&args.choice)?);
            import(&args.import, &format, session, printer)
        }
        ImportCommand::OpenaiBatch(args) => {
            let choice = choice(&args.recording.choice)?;
            let requests = args.requests.as_deref().map(BatchRequests::read);
            let format = Format::OpenaiBatch(choice, requests.transpose()?);
            import(&args.recording.import, &format, session, printer)
        }
    }
}

fn choice(args: &ChoiceArgs) -> Result<Choice, AppError> {
    let named = args.dialect.as_deref().map(|name| {
        dialect(name).ok_or_else(|| {
            AppError::Usage(format!(
                "dialect {name:?}: expected one of {}, found another text",
                DIALECTS.join(", ")
            ))
        })
    });
    Ok(Choice {
        dialect: named.transpose()?,
        all: args.all,
    })
}

fn import(
    args: &ImportArgs,
    format: &Format,
    session: &mut Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    let task = args.task.as_deref().map(|task| parse(task, "task"));
    let options = ImportOptions {
        task: task.transpose()?,
        keep_going: args.keep_going,
    };
    let recordings = Recordings {
        paths: &args.files,
        format,
    };
    let mut bar = Bar::new(printer.is_quiet());
    let summary = session.import_recordings(recordings, options, &mut bar, &mut |line| {
        printed(imported_line(&line, format, printer))
    })?;
    if printer.is_json() {
        printer.document(&serde_json::json!({ "summary": summary }))?;
    } else {
        let skipped = summary.skipped.map(|count| format!(", {count} skipped"));
        printer.line(format!(
            "{} imported, {} duplicates, {} refused{}",
            summary.imported,
            summary.duplicates,
            summary.refused,
            skipped.unwrap_or_default()
        ))?;
    }
    Ok(if args.strict && summary.refused > 0 {
        exit::REFUSED
    } else {
        exit::DONE
    })
}

fn imported_line(
    line: &ImportedLine,
    format: &Format,
    printer: &mut Printer,
) -> anyhow::Result<()> {
    if printer.is_json() {
        return printer.document(line);
    }
    let place = || format!("{}{}", line.file, format.place(line.line));
    match &line.outcome {
        LineOutcome::Refused { code, detail } => {
            printer.line(format!("{}: refused ({code}): {detail}", place()))
        }
        LineOutcome::Skipped { endpoint } => printer.line(format!(
            "{}: skipped, no known dialect: {endpoint}",
            place()
        )),
        LineOutcome::Imported { .. } | LineOutcome::Duplicate { .. } => Ok(()),
    }
}
