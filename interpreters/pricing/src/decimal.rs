//! Decimal numbers that are not negative, exact or not at all.

use alloc::format;
use alloc::string::String;

/// Digits behind the point that a price may have.
const FRACTION_DIGITS_MAX: u32 = 18;

/// Digits that a price may have at all, so that no table can make a number large.
const DIGITS_MAX: usize = 30;

/// `digits` divided by ten to the power of `fraction`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Decimal {
    digits: u128,
    fraction: u32,
}

/// It does not fit into 128 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overflow;

impl Decimal {
    pub(crate) const ZERO: Self = Self {
        digits: 0,
        fraction: 0,
    };

    /// Reads a number such as `2.50`: digits, perhaps a point and digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = match text.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (text, None),
        };
        let digits =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let leading = whole.len() > 1 && whole.starts_with('0');
        if !digits(whole) || leading || !fraction.is_none_or(digits) || text.len() > DIGITS_MAX {
            return None;
        }
        let fraction = fraction.unwrap_or("");
        let count = u32::try_from(fraction.len()).ok();
        let count = count.filter(|count| *count <= FRACTION_DIGITS_MAX)?;
        let digits = format!("{whole}{fraction}").parse().ok()?;
        Some(Self {
            digits,
            fraction: count,
        })
    }

    /// Returns what so many cost.
    pub(crate) fn times(self, count: u64) -> Result<Self, Overflow> {
        Ok(Self {
            digits: self.digits.checked_mul(u128::from(count)).ok_or(Overflow)?,
            ..self
        })
    }

    pub(crate) fn plus(self, other: Self) -> Result<Self, Overflow> {
        let fraction = self.fraction.max(other.fraction);
        let (own, others) = (self.at(fraction)?, other.at(fraction)?);
        let digits = own.checked_add(others).ok_or(Overflow)?;
        Ok(Self { digits, fraction })
    }

    /// Returns the smaller one.
    pub(crate) fn min(self, other: Self) -> Result<Self, Overflow> {
        let fraction = self.fraction.max(other.fraction);
        let smaller = self.at(fraction)? <= other.at(fraction)?;
        Ok(if smaller { self } else { other })
    }

    pub(crate) fn equals(self, other: Self) -> Result<bool, Overflow> {
        let fraction = self.fraction.max(other.fraction);
        Ok(self.at(fraction)? == other.at(fraction)?)
    }

    /// Divides by a power of ten.
    #[must_use]
    pub(crate) const fn shifted(self, digits: u32) -> Self {
        Self {
            fraction: self.fraction.saturating_add(digits),
            ..self
        }
    }

    /// Returns the digits with so many of them behind the point.
    fn at(self, fraction: u32) -> Result<u128, Overflow> {
        let more = fraction.saturating_sub(self.fraction);
        let factor = 10_u128.checked_pow(more).ok_or(Overflow)?;
        self.digits.checked_mul(factor).ok_or(Overflow)
    }

    /// Writes the number without an exponent and without zeros that say nothing.
    pub(crate) fn text(self) -> String {
        let width = usize::try_from(self.fraction)
            .unwrap_or(usize::MAX)
            .saturating_add(1);
        let digits = format!("{:0>width$}", self.digits);
        let (whole, fraction) = digits.split_at(digits.len().saturating_sub(width - 1));
        let fraction = fraction.trim_end_matches('0');
        if fraction.is_empty() {
            return String::from(whole);
        }
        format!("{whole}.{fraction}")
    }
}
