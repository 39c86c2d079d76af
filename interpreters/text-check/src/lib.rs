//! What the check of texts finds: whether bytes fulfil criteria, by rules that the
//! configuration gives for them.
//!
//! This crate owns the rules of `text-check-v1`. It knows nothing of WebAssembly:
//! the shim beside it translates between these types and the contract. Every
//! function is pure and total.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod configuration;
#[expect(
    dead_code,
    reason = "the reader of `attempt`, of which this crate needs less: the same file, because \
              moving it into a crate of both would change released bytes"
)]
#[path = "../../attempt/src/json.rs"]
mod json;
mod rule;

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use rule::Rule;

/// The label.
pub const LABEL: &str = "text-check-v1";

/// One sentence for people.
pub const SUMMARY: &str = "Checks a text by the rules that its configuration gives for each \
                           criterion; a criterion without a rule is inconclusive.";

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Pass,
    /// It does not.
    Fail,
    /// The configuration does not say.
    Inconclusive,
}

/// What was found of one criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// From 0.
    pub criterion: u32,
    /// What was found.
    pub verdict: Verdict,
    /// A rule and numbers, never text of the artifact.
    pub note: String,
}

/// What was found of all criteria.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Of all together.
    pub verdict: Verdict,
    /// One for each criterion.
    pub findings: Vec<Finding>,
}

/// Why nothing is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// A word for programs.
    pub code: &'static str,
    /// For people.
    pub detail: String,
}

/// Checks bytes against so many criteria.
pub fn check(
    criteria: usize,
    artifact: &[u8],
    configuration: Option<&[u8]>,
) -> Result<Report, Refusal> {
    let rules = configuration::read(configuration, criteria).map_err(|detail| Refusal {
        code: "configuration",
        detail,
    })?;
    let text = str::from_utf8(artifact).ok();
    let findings: Vec<Finding> = (0..u32::MAX)
        .take(criteria)
        .map(|criterion| finding(criterion, &rules, text))
        .collect();
    let any = |verdict| findings.iter().any(|finding| finding.verdict == verdict);
    let verdict = if any(Verdict::Fail) {
        Verdict::Fail
    } else if any(Verdict::Inconclusive) {
        Verdict::Inconclusive
    } else {
        Verdict::Pass
    };
    Ok(Report { verdict, findings })
}

/// Applies every rule of a criterion; the first that fails is named. A text is
/// none where the artifact is not UTF-8, and then every rule fails.
fn finding(criterion: u32, rules: &[Rule<'_>], text: Option<&str>) -> Finding {
    let mut verdict = Verdict::Inconclusive;
    let mut note = "no rule".to_owned();
    let of_criterion = rules.iter().enumerate();
    for (position, rule) in of_criterion.filter(|(_, rule)| rule.criterion == criterion) {
        let against = match text {
            Some(text) => rule.condition.against(text),
            None => Some("the artifact is not UTF-8".to_owned()),
        };
        if let Some(why) = against {
            return Finding {
                criterion,
                verdict: Verdict::Fail,
                note: format!("rule {position}: {why}"),
            };
        }
        verdict = Verdict::Pass;
        "every rule holds".clone_into(&mut note);
    }
    Finding {
        criterion,
        verdict,
        note,
    }
}
