//! Commands that check a home: `preregister`, `verify`, `checkpoint`, `rebuild`, `doctor`.

use app::Session;
use app::doctor::Health;
use app::preregister::Preregistered;
use app::verify::VerifyOptions;

use crate::args::VerifyArgs;
use crate::exit;
use crate::printer::Printer;
use crate::progress::Bar;

pub(super) fn preregister(
    preregistered: &Preregistered,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    if printer.is_json() {
        printer.document(preregistered)?;
    } else {
        let Preregistered {
            seq,
            expected_sha256,
            note,
            ..
        } = preregistered;
        printer.line(format!("event {seq} fixes {expected_sha256} ({note})"))?;
    }
    Ok(exit::DONE)
}

pub(super) fn verify(
    args: &VerifyArgs,
    session: &mut Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    let options = VerifyOptions {
        against: args.against.clone(),
        log_key: args.log_key.clone(),
        replay: args.replay,
    };
    let mut bar = Bar::new(printer.is_quiet());
    let verified = session.verify(&options, &mut bar, &mut |finding| {
        let printed = if printer.is_json() {
            printer.document(&serde_json::json!({ "finding": finding }))
        } else {
            printer.line(format!(
                "{}: {} ({})",
                finding.object, finding.detail, finding.code
            ))
        };
        super::printed(printed)
    })?;
    if printer.is_json() {
        printer.document(&serde_json::json!({ "verified": verified }))?;
    } else {
        printer.line(format!(
            "{} events ({} erased), root {}",
            verified.events, verified.erased, verified.root
        ))?;
        printer.line(format!(
            "{} artifacts, {} bytes, {} named by no event",
            verified.artifacts, verified.artifact_bytes, verified.orphans
        ))?;
        if args.replay {
            printer.line(format!(
                "{} readings and {} costs run again, {} not comparable",
                verified.replayed, verified.replayed_costs, verified.not_comparable
            ))?;
        }
        if let Some(size) = verified.consistent_with {
            printer.line(format!("the checkpoint of {size} events is a prefix"))?;
        }
        printer.line(format!("{} findings", verified.findings))?;
    }
    Ok(if verified.findings == 0 {
        exit::DONE
    } else {
        exit::DAMAGE
    })
}

pub(super) fn checkpoint(
    key: bool,
    session: &Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    if key {
        let verifier = session.log_verifier()?.to_string();
        if printer.is_json() {
            printer.document(&serde_json::json!({ "log_key": verifier }))?;
        } else {
            printer.line(verifier)?;
        }
        return Ok(exit::DONE);
    }
    let note = session.checkpoint()?;
    if printer.is_json() {
        printer.document(&serde_json::json!({ "checkpoint": note }))?;
    } else {
        printer.bytes(note.as_bytes())?;
        printer.say(
            "note: keep this where this home's owner cannot write; only a checkpoint seen \
             elsewhere catches a rewritten history",
        )?;
    }
    Ok(exit::DONE)
}

pub(super) fn rebuild(session: &mut Session, printer: &mut Printer) -> anyhow::Result<u8> {
    let mut bar = Bar::new(printer.is_quiet());
    let rebuilt = session.rebuild(&mut bar)?;
    if printer.is_json() {
        printer.document(&rebuilt)?;
    } else {
        printer.line(format!(
            "{} calls projected again; {} summaries were missing, {} were different",
            rebuilt.calls, rebuilt.missing, rebuilt.different
        ))?;
    }
    Ok(exit::DONE)
}

pub(super) fn doctor(session: &mut Session, printer: &mut Printer) -> anyhow::Result<u8> {
    let checks = session.doctor()?;
    let mut code = exit::DONE;
    for check in &checks {
        if check.health == Health::Problem {
            code = exit::DAMAGE;
        }
        if printer.is_json() {
            printer.document(check)?;
        } else {
            let mark = match check.health {
                Health::Ok => "ok",
                Health::Note => "note",
                Health::Problem => "PROBLEM",
            };
            printer.line(format!("{mark:<8} {:<16} {}", check.check, check.detail))?;
        }
    }
    Ok(code)
}
