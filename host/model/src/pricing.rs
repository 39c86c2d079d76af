//! What a pricing module is asked, what it answers, and the exact decimals of both.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::reading::Usage;
use crate::time::Timestamp;

/// A decimal number of one module, in bytes.
const DECIMAL_BYTES_MAX: usize = 64;

/// A decimal number that is not negative: digits without leading zeros, then perhaps a
/// point and digits without trailing zeros. One number has one text.
///
/// A sum may be longer than what is parsed; nothing is ever rounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal(String);

/// Why a text is not a decimal number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a decimal number such as 0.25, without sign, exponent, and zeros that say nothing, \
     in at most {DECIMAL_BYTES_MAX} bytes"
)]
pub struct DecimalError;

impl Decimal {
    /// Returns 0.
    pub fn zero() -> Self {
        Self("0".to_owned())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn halves(&self) -> (&str, &str) {
        self.0.split_once('.').unwrap_or((&self.0, ""))
    }

    /// Returns the exact sum, digit by digit: no width limits it.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let ((own, own_part), (others, others_part)) = (self.halves(), other.halves());
        let whole = own.len().max(others.len());
        let part = own_part.len().max(others_part.len());
        let aligned = |digits: &str, behind: &str| format!("{digits:0>whole$}{behind:0<part$}");
        let pairs = aligned(own, own_part)
            .into_bytes()
            .into_iter()
            .zip(aligned(others, others_part).into_bytes());
        let mut carry = 0;
        let mut reversed = Vec::with_capacity(whole + part + 1);
        for (one, two) in pairs.rev() {
            let sum = (one - b'0') + (two - b'0') + carry;
            reversed.push(char::from(b'0' + sum % 10));
            carry = sum / 10;
        }
        if carry > 0 {
            reversed.push('1');
        }
        let digits: String = reversed.into_iter().rev().collect();
        let (whole, behind) = digits.split_at(digits.len() - part);
        let behind = behind.trim_end_matches('0');
        if behind.is_empty() {
            Self(whole.to_owned())
        } else {
            Self(format!("{whole}.{behind}"))
        }
    }
}

impl FromStr for Decimal {
    type Err = DecimalError;

    fn from_str(text: &str) -> Result<Self, DecimalError> {
        let digits =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let (whole, behind) = match text.split_once('.') {
            Some((whole, behind)) => (whole, Some(behind)),
            None => (text, None),
        };
        let leading = whole.len() > 1 && whole.starts_with('0');
        let plain = behind.is_none_or(|behind| digits(behind) && !behind.ends_with('0'));
        if digits(whole) && !leading && plain && text.len() <= DECIMAL_BYTES_MAX {
            return Ok(Self(text.to_owned()));
        }
        Err(DecimalError)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Returns whether a text names a currency: three letters `A-Z`.
pub fn is_currency(text: &str) -> bool {
    text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// One response, as a pricing module is asked about it.
#[derive(Debug, Clone, Copy)]
pub struct PriceRequest<'a> {
    /// What was counted.
    pub usage: &'a Usage,
    /// As the response's body names it.
    pub model: Option<&'a str>,
    /// As the call or the source of an import names it.
    pub provider: Option<&'a str>,
    /// The wire dialect.
    pub dialect: &'a str,
    /// When the response came.
    pub time: Timestamp,
}

/// How much, or why that is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Amount {
    /// Exactly so much.
    Known(Decimal),
    /// It is not known.
    Unknown {
        /// At least so much; none where nothing is known.
        lower_bound: Option<Decimal>,
        /// In words, 1 to 256 bytes.
        why: String,
    },
}

/// What a response cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cost {
    /// How much.
    pub amount: Amount,
    /// Three letters `A-Z`.
    pub currency: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn one_number_has_one_text() {
        for text in [
            "0",
            "1",
            "10",
            "0.1",
            "0.01",
            "12345678901234567890.000000001",
        ] {
            assert_eq!(decimal(text).to_string(), text);
        }
        let long = "1".repeat(DECIMAL_BYTES_MAX);
        assert_eq!(decimal(&long).as_str(), long);
        let longer = "1".repeat(DECIMAL_BYTES_MAX + 1);
        for text in [
            "", ".", "1.", ".1", "01", "00", "0.10", "1.0", "-1", "+1", "1e3", "1,5", " 1", "٣",
            &longer,
        ] {
            assert_eq!(text.parse::<Decimal>(), Err(DecimalError), "{text}");
        }
    }

    #[test]
    fn sums_are_exact() {
        for (one, two, sum) in [
            ("0.1", "0.2", "0.3"),
            ("0", "0", "0"),
            ("0.5", "0.5", "1"),
            ("9.99", "0.01", "10"),
            ("999", "1", "1000"),
            (
                "0.000000000000000000000001",
                "1",
                "1.000000000000000000000001",
            ),
            ("10", "0.1", "10.1"),
        ] {
            assert_eq!(decimal(one).plus(&decimal(two)).as_str(), sum);
            assert_eq!(decimal(two).plus(&decimal(one)).as_str(), sum);
        }
        let largest = decimal(&"9".repeat(DECIMAL_BYTES_MAX));
        let more = largest.plus(&decimal("0.1")).plus(&decimal("0.9"));
        assert_eq!(more.as_str(), format!("1{}", "0".repeat(DECIMAL_BYTES_MAX)));
    }

    #[test]
    fn a_currency_is_three_upper_case_letters() {
        assert!(is_currency("EUR"));
        for text in ["", "EU", "EURO", "eur", "E1R", "ÄÖÜ"] {
            assert!(!is_currency(text), "{text}");
        }
    }
}
