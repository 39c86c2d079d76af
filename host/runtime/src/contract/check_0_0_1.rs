//! `reread:check/checker@0.0.1`: the types of the contract, as they stand in
//! `wit/v1`, and their way into the model.

use model::checking::CheckReport;
use model::event::task::{Finding, Verdict};

use super::check::{self, Place, invalid};
use crate::check::CheckInfo;
use crate::error::{InvalidResult, RunError};

mod generated {
    //! Only the types are used: functions are looked up once for all calls.
    wasmtime::component::bindgen!({
        path: "../../wit/v1/check.wit",
        world: "check",
        ownership: Borrowing { duplicate_if_necessary: true },
    });
}

pub(crate) use generated::exports::reread::check::checker as wit;

/// The note of a finding, in bytes.
const NOTE_BYTES_MAX: usize = 256;

/// Returns what the module says of itself.
pub(crate) fn info(info: wit::ModuleInfo) -> Result<CheckInfo, InvalidResult> {
    Ok(CheckInfo {
        label: check::label("label", &info.label)?,
        summary: check::summary(info.summary)?,
        supersedes: check::listed("supersedes", info.supersedes, |place, label| {
            check::label(place, &label)
        })?,
    })
}

/// Returns the refusal of a module.
pub(crate) fn refusal(refusal: wit::Refusal) -> RunError {
    match check::name("refusal.code", refusal.code) {
        Ok(code) => RunError::Refused {
            code,
            detail: refusal.detail,
        },
        Err(invalid) => invalid.into(),
    }
}

/// Returns the report about so many criteria, which is wholly within the contract.
pub(crate) fn report(report: wit::Report, criteria: usize) -> Result<CheckReport, InvalidResult> {
    const FIELD: &str = "findings";
    check::at_most(FIELD, report.findings.len(), criteria)?;
    let verdict = verdict(report.verdict);
    let mut findings: Vec<Finding> = Vec::with_capacity(report.findings.len());
    for (index, found) in report.findings.into_iter().enumerate() {
        let place = Place {
            field: FIELD,
            index,
        };
        let finding = finding(place, found, criteria)?;
        if let Some(before) = findings.last()
            && before.criterion >= finding.criterion
        {
            let expected = format!("more than {}, the one before it", before.criterion);
            let found = finding.criterion.to_string();
            return Err(invalid(place.member("criterion"), expected, found));
        }
        if verdict == Verdict::Pass && finding.verdict != Verdict::Pass {
            let found = format!("pass, while criterion {} does not", finding.criterion);
            return Err(invalid("verdict", "pass only if every finding is", found));
        }
        findings.push(finding);
    }
    Ok(CheckReport { verdict, findings })
}

fn finding(place: Place, found: wit::Finding, criteria: usize) -> Result<Finding, InvalidResult> {
    let criterion = u64::from(found.criterion);
    if usize::try_from(criterion).is_ok_and(|criterion| criterion < criteria) {
        return Ok(Finding {
            criterion,
            verdict: verdict(found.verdict),
            note: check::short(place.member("note"), found.note, NOTE_BYTES_MAX)?,
        });
    }
    let expected = format!("less than {criteria}, the number of criteria");
    Err(invalid(
        place.member("criterion"),
        expected,
        criterion.to_string(),
    ))
}

const fn verdict(verdict: wit::Verdict) -> Verdict {
    match verdict {
        wit::Verdict::Pass => Verdict::Pass,
        wit::Verdict::Fail => Verdict::Fail,
        wit::Verdict::Inconclusive => Verdict::Inconclusive,
    }
}
