//! What a response costs, by a table of prices for tokens.
//!
//! This crate owns the rules of `token-pricing-v1`. It knows nothing of
//! WebAssembly: the shim beside it translates between these types and the
//! contract. Every function is pure and total, and no number is ever rounded.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod cost;
mod counts;
mod date;
mod decimal;
mod matching;
mod table;

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;

use cost::Reasons;
use matching::Choice;

/// The label.
pub const LABEL: &str = "token-pricing-v1";

/// One sentence for people.
pub const SUMMARY: &str = "Prices tokens by a table, in exact decimals: fresh input, cache reads, \
                           cache writes, output and reasoning; what is not known is null with a \
                           lower bound and why, never 0.";

/// Token counts in the normal form, and what was said of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage<'a> {
    /// All prompt-side tokens.
    pub input: Option<u64>,
    /// All generated tokens.
    pub output: Option<u64>,
    /// A part of the input.
    pub cached_input: Option<u64>,
    /// A part of the input.
    pub cache_write: Option<u64>,
    /// A part of the output.
    pub reasoning: Option<u64>,
    /// The provider's own total.
    pub total: Option<u64>,
    /// A component's name and a word about it.
    pub diagnostics: &'a [(&'a str, &'a str)],
}

/// One response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Request<'a> {
    /// What was counted.
    pub usage: Usage<'a>,
    /// As the response's body names it.
    pub model: Option<&'a str>,
    /// As the call names it.
    pub provider: Option<&'a str>,
    /// Such as `openai.chat`.
    pub dialect: &'a str,
    /// RFC 3339 in UTC.
    pub time: &'a str,
}

/// What it costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Amount {
    /// An exact decimal number.
    Known(String),
    /// It cannot be said.
    Unknown {
        /// A decimal number that it is at least; none where nothing is known.
        lower_bound: Option<String>,
        /// For people, at most 256 bytes.
        why: String,
    },
}

/// What it costs, and in which currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Price {
    /// How much.
    pub amount: Amount,
    /// Three letters.
    pub currency: String,
}

/// Why nothing is priced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// `table`, `request`, `ambiguous_price` or `overflow`.
    pub code: &'static str,
    /// For people.
    pub detail: String,
}

/// Prices one response.
pub fn price(request: &Request<'_>, table: &[u8]) -> Result<Price, Refusal> {
    let table = table::read(table).map_err(|detail| Refusal {
        code: "table",
        detail,
    })?;
    let day = date::of_time(request.time).ok_or_else(|| Refusal {
        code: "request",
        detail: "expected a time such as 2026-01-31T23:59:59.000Z, found another text".to_owned(),
    })?;
    let amount = match matching::choose(&table, request, day) {
        Choice::Row(row) => cost::of(&request.usage, row, table.unit_digits)?,
        Choice::None(why) => {
            let mut reasons = Reasons::default();
            reasons.add(&why);
            cost::unknown(None, reasons)
        }
        Choice::Several(first, second) => {
            return Err(Refusal {
                code: "ambiguous_price",
                detail: format!(
                    "/prices/{first} and /prices/{second} apply equally well: expected one"
                ),
            });
        }
    };
    Ok(Price {
        amount,
        currency: table.currency,
    })
}
