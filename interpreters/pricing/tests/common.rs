//! What the tests share.

use pricing::{Amount, Price, Refusal, Request, Usage};

/// A table of one row for every model.
pub(crate) fn table(rates: &str) -> String {
    format!(r#"{{"currency":"USD","unit":1000000,"prices":[{{"models":["*"],{rates}}}]}}"#)
}

/// Rates as a provider without a price for cache writes has them.
pub(crate) const CHAT: &str = r#""input":"2.50","output":"10.00","cached_input":"1.25""#;

/// Rates as a provider with prices for both has them.
pub(crate) const MESSAGES: &str =
    r#""input":"3","output":"15","cached_input":"0.30","cache_write":"3.75""#;

/// A request of one model at one time.
pub(crate) fn request(usage: Usage<'_>) -> Request<'_> {
    Request {
        usage,
        model: Some("kestrel-2"),
        provider: Some("kestrel"),
        dialect: "openai.chat",
        time: "2026-06-15T12:00:00.000Z",
    }
}

/// Counts in the order input, output, cached input, cache write, reasoning.
pub(crate) fn usage(counts: [Option<u64>; 5]) -> Usage<'static> {
    let [input, output, cached_input, cache_write, reasoning] = counts;
    Usage {
        input,
        output,
        cached_input,
        cache_write,
        reasoning,
        total: None,
        diagnostics: &[],
    }
}

pub(crate) fn priced(usage: Usage<'_>, rates: &str) -> Result<Price, Refusal> {
    pricing::price(&request(usage), table(rates).as_bytes())
}

/// The amount of counts that are known to the end.
pub(crate) fn known(usage: Usage<'_>, rates: &str) -> String {
    match priced(usage, rates).unwrap().amount {
        Amount::Known(amount) => amount,
        Amount::Unknown { why, .. } => panic!("{why}"),
    }
}

/// The lower bound and the reason of counts that are not.
pub(crate) fn unknown(usage: Usage<'_>, rates: &str) -> (Option<String>, String) {
    match priced(usage, rates).unwrap().amount {
        Amount::Known(amount) => panic!("{amount}"),
        Amount::Unknown { lower_bound, why } => (lower_bound, why),
    }
}

/// An expected lower bound and reason.
pub(crate) fn least(bound: &str, why: &str) -> (Option<String>, String) {
    let bound = (!bound.is_empty()).then(|| bound.to_owned());
    (bound, why.to_owned())
}
