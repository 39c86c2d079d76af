//! `reread:pricing/pricer@0.0.1`: the types of the contract, as they stand in
//! `wit/v1`, and their way into and out of the model.

use std::fmt;

use model::pricing::{Amount, Cost, Decimal, PriceRequest, is_currency};

use super::check::{self, invalid, quoted};
use crate::error::{InvalidResult, RunError};
use crate::pricing::PricingInfo;

mod generated {
    //! Only the types are used: functions are looked up once for all calls.
    wasmtime::component::bindgen!({
        path: "../../wit/v1/pricing.wit",
        world: "pricing",
        ownership: Owning,
    });
}

pub(crate) use generated::exports::reread::pricing::pricer as wit;

/// Why an amount is not known, in bytes.
const WHY_BYTES_MAX: usize = 256;

/// Returns what the module says of itself.
pub(crate) fn info(info: wit::ModuleInfo) -> Result<PricingInfo, InvalidResult> {
    Ok(PricingInfo {
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

/// Returns what a module is asked.
pub(crate) fn request(request: &PriceRequest<'_>) -> wit::Request {
    let counts = &request.usage.counts;
    wit::Request {
        usage: wit::Usage {
            input: counts.input,
            output: counts.output,
            cached_input: counts.cached_input,
            cache_write: counts.cache_write,
            reasoning: counts.reasoning,
            total: counts.total,
            diagnostics: request.usage.diagnostics.clone(),
        },
        model: request.model.map(str::to_owned),
        provider: request.provider.map(str::to_owned),
        dialect: request.dialect.to_owned(),
        time: request.time.to_string(),
    }
}

/// Returns the cost, which is wholly within the contract.
pub(crate) fn cost(cost: wit::Cost) -> Result<Cost, InvalidResult> {
    let amount = match cost.amount {
        wit::Amount::Known(amount) => Amount::Known(decimal("amount.known", &amount)?),
        wit::Amount::Unknown(unknown) => {
            let bound = unknown.lower_bound.as_deref();
            Amount::Unknown {
                lower_bound: bound
                    .map(|bound| decimal("amount.unknown.lower-bound", bound))
                    .transpose()?,
                why: reason(unknown.why)?,
            }
        }
    };
    if !is_currency(&cost.currency) {
        let found = quoted(&cost.currency);
        return Err(invalid("currency", "three letters A-Z", found));
    }
    Ok(Cost {
        amount,
        currency: cost.currency,
    })
}

fn decimal(field: impl fmt::Display, text: &str) -> Result<Decimal, InvalidResult> {
    text.parse().map_err(|_not_a_decimal| {
        let expected = "a decimal number without sign, exponent, and zeros that say nothing, in at \
                        most 64 bytes";
        invalid(field, expected, quoted(text))
    })
}

fn reason(why: String) -> Result<String, InvalidResult> {
    const FIELD: &str = "amount.unknown.why";
    if why.is_empty() {
        return Err(invalid(FIELD, "at least one byte", "none"));
    }
    if why.chars().any(char::is_control) {
        return Err(invalid(FIELD, "no control characters", quoted(&why)));
    }
    check::short(FIELD, why, WHY_BYTES_MAX)
}
