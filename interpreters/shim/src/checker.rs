//! The world `check`.

/// Makes the crate that calls it the component of the world `check` that this
/// workspace has.
#[macro_export]
macro_rules! check {
    () => {
        wit_bindgen::generate!({
            path: "../../wit/v1/check.wit",
            world: "check",
        });

        extern crate alloc;
        use alloc::string::String;
        use alloc::vec::Vec;
        use exports::reread::check::checker as wit;
        use $crate::text_check;

        struct Component;

        export!(Component);

        impl wit::Guest for Component {
            fn describe() -> wit::ModuleInfo {
                wit::ModuleInfo {
                    label: text_check::LABEL.into(),
                    summary: text_check::SUMMARY.into(),
                    supersedes: Vec::new(),
                }
            }

            fn check(
                criteria: Vec<String>,
                artifact: Vec<u8>,
                configuration: Option<Vec<u8>>,
            ) -> Result<wit::Report, wit::Refusal> {
                let report = text_check::check(criteria.len(), &artifact, configuration.as_deref());
                match report {
                    Ok(report) => Ok(wit::Report {
                        verdict: verdict(report.verdict),
                        findings: report.findings.into_iter().map(finding).collect(),
                    }),
                    Err(refusal) => Err(wit::Refusal {
                        code: refusal.code.into(),
                        detail: refusal.detail,
                    }),
                }
            }
        }

        fn finding(finding: text_check::Finding) -> wit::Finding {
            wit::Finding {
                criterion: finding.criterion,
                verdict: verdict(finding.verdict),
                note: finding.note,
            }
        }

        fn verdict(verdict: text_check::Verdict) -> wit::Verdict {
            match verdict {
                text_check::Verdict::Pass => wit::Verdict::Pass,
                text_check::Verdict::Fail => wit::Verdict::Fail,
                text_check::Verdict::Inconclusive => wit::Verdict::Inconclusive,
            }
        }
    };
}
