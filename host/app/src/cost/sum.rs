//! Sums of costs: exact, and null as soon as one of them is not known.

use std::collections::BTreeMap;

use model::event::call::CostComputed;
use model::pricing::Decimal;
use serde::Serialize;

use crate::error::AppError;

/// The sum of all costs in one currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Total {
    /// Three letters.
    pub currency: String,
    /// The exact sum; null when an amount is not known.
    pub amount: Option<Decimal>,
    /// What the sum is at least, where it is not known: known amounts and lower bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_bound: Option<Decimal>,
    /// Attempts that are priced in this currency.
    pub attempts: u64,
    /// Attempts of which the amount is not known.
    pub unknown: u64,
}

/// Sums by currency, while they grow.
#[derive(Debug, Default)]
pub(super) struct Totals {
    by_currency: BTreeMap<String, Growing>,
    /// Attempts or calls that were refused: what they cost is not known in any
    /// currency.
    refused: u64,
}

#[derive(Debug)]
struct Growing {
    least: Decimal,
    attempts: u64,
    unknown: u64,
}

impl Totals {
    pub(super) fn add(&mut self, cost: &CostComputed) -> Result<(), AppError> {
        let total = self
            .by_currency
            .entry(cost.currency.clone())
            .or_insert_with(|| Growing {
                least: Decimal::zero(),
                attempts: 0,
                unknown: 0,
            });
        total.attempts += 1;
        total.unknown += u64::from(cost.amount.is_none());
        if let Some(known) = cost.amount.as_ref().or(cost.lower_bound.as_ref()) {
            let known: Decimal = known.parse().map_err(|error| {
                AppError::Damage(format!("a recorded cost is {known:?}: {error}"))
            })?;
            total.least = total.least.plus(&known);
        }
        Ok(())
    }

    pub(super) const fn refuse(&mut self) {
        self.refused += 1;
    }

    pub(super) fn finish(self) -> Vec<Total> {
        let refused = self.refused;
        let totals = self.by_currency.into_iter().map(|(currency, total)| {
            let known = total.unknown == 0 && refused == 0;
            let (amount, lower_bound) = if known {
                (Some(total.least), None)
            } else {
                (None, Some(total.least))
            };
            Total {
                currency,
                amount,
                lower_bound,
                attempts: total.attempts,
                unknown: total.unknown,
            }
        });
        totals.collect()
    }
}
