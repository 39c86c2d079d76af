//! The rule: what the counts cost at the rates of a row.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;

use crate::counts::Trust;
use crate::decimal::{Decimal, Overflow};
use crate::table::{Rates, Row};
use crate::{Amount, Refusal, Usage};

/// Why an amount is not known, in bytes.
const WHY_BYTES_MAX: usize = 256;

/// Text of others that a message repeats, in bytes.
const SHORTENED_BYTES_MAX: usize = 64;

/// What ends a list of reasons that is too long.
const MORE: &str = "; …";

/// Why an amount is not known.
#[derive(Debug, Default)]
pub(crate) struct Reasons {
    text: String,
    full: bool,
}

impl Reasons {
    /// Adds a reason, once and as far as there is room.
    pub(crate) fn add(&mut self, reason: &str) {
        if self.full || self.text.split("; ").any(|known| known == reason) {
            return;
        }
        let separator = if self.text.is_empty() { "" } else { "; " };
        let length = self.text.len() + separator.len() + reason.len();
        if length + MORE.len() > WHY_BYTES_MAX {
            self.full = true;
            self.text.push_str(MORE);
            return;
        }
        self.text.push_str(separator);
        self.text.push_str(reason);
    }

    const fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// Returns an amount that is not known.
pub(crate) fn unknown(lower_bound: Option<Decimal>, reasons: Reasons) -> Amount {
    Amount::Unknown {
        lower_bound: lower_bound.map(Decimal::text),
        why: reasons.text,
    }
}

/// Returns the start of a text of others, without characters that move a cursor.
pub(crate) fn shortened(text: &str) -> String {
    let mut short = String::new();
    for character in text.chars() {
        let character = if character.is_control() {
            '?'
        } else {
            character
        };
        if short.len() + character.len_utf8() > SHORTENED_BYTES_MAX {
            break;
        }
        short.push(character);
    }
    short
}

impl From<Overflow> for Refusal {
    fn from(_overflow: Overflow) -> Self {
        Self {
            code: "overflow",
            detail: "the cost does not fit into 128 bits: expected lower prices".to_owned(),
        }
    }
}

/// Prices the counts by a row.
pub(crate) fn of(usage: &Usage<'_>, row: &Row<'_>, unit_digits: u32) -> Result<Amount, Refusal> {
    let mut reasons = Reasons::default();
    if usage.is_empty() {
        reasons.add("the response reports no usage");
        return Ok(unknown(None, reasons));
    }
    for (component, word) in usage.doubts() {
        reasons.add(&format!("{}: {}", shortened(component), shortened(word)));
    }
    for (component, count) in [("input", usage.input), ("output", usage.output)] {
        if count.is_none() && !usage.is_doubted(component) {
            reasons.add(&format!("{component} is not reported"));
        }
    }
    let mut least = None;
    for rates in rates(usage, row).into_iter().flatten() {
        unknown_parts(usage, rates, &mut reasons)?;
        let bound = bound(usage, rates)?;
        least = match (least, bound) {
            // What one of the rates leaves open is open.
            (Some(None), _) | (_, None) => Some(None),
            (None, Some(bound)) => Some(Some(bound)),
            (Some(Some(least)), Some(bound)) => Some(Some(bound.min(least)?)),
        };
    }
    let least = least.flatten().map(|least| least.shifted(unit_digits));
    match least {
        Some(amount) if reasons.is_empty() => Ok(Amount::Known(amount.text())),
        _ => Ok(unknown(least, reasons)),
    }
}

/// Returns the rates that may apply: two where the size of the input decides and is
/// not known.
fn rates<'r>(usage: &Usage<'_>, row: &'r Row<'_>) -> [Option<&'r Rates>; 2] {
    let Some((tokens, above)) = &row.above else {
        return [Some(&row.rates), None];
    };
    let large = usage.input.is_some_and(|input| input > *tokens);
    match (usage.input, usage.input_trust(), large) {
        (Some(_), Trust::Sound | Trust::AtLeast, true) => [Some(above), None],
        (Some(_), Trust::Sound, false) => [Some(&row.rates), None],
        (None, _, _) | (Some(_), Trust::AtLeast | Trust::Contradictory, _) => {
            [Some(&row.rates), Some(above)]
        }
    }
}

/// Adds the parts that are not reported and have a price of their own.
fn unknown_parts(usage: &Usage<'_>, rates: &Rates, reasons: &mut Reasons) -> Result<(), Overflow> {
    let parts = [
        ("cached_input", usage.cached_input, rates.cached_input),
        ("cache_write", usage.cache_write, rates.cache_write),
    ];
    if fresh(usage) != Some(0) && !usage.cache_is_beside() {
        for (name, count, rate) in parts {
            if count.is_none() && !rate.equals(rates.input)? {
                reasons.add(&not_reported(name));
            }
        }
    }
    let distinct = !rates.reasoning.equals(rates.output)?;
    if distinct && usage.reasoning_is_zero_and_there() {
        reasons.add("reasoning is reported as 0, and there is reasoning");
    } else if distinct
        && usage.reasoning.is_none()
        && usage.output != Some(0)
        && !usage.part_is_beside()
    {
        reasons.add(&not_reported("reasoning"));
    }
    Ok(())
}

fn not_reported(part: &str) -> String {
    format!("{part} is not reported, and has a price of its own")
}

/// Returns what is left of the input without the parts that are reported.
fn fresh(usage: &Usage<'_>) -> Option<u64> {
    let rest = usage.input?.checked_sub(usage.cached_input.unwrap_or(0))?;
    rest.checked_sub(usage.cache_write.unwrap_or(0))
}

/// Returns what the counts cost at least; exactly, if nothing speaks against them.
/// None where nothing is known.
fn bound(usage: &Usage<'_>, rates: &Rates) -> Result<Option<Decimal>, Overflow> {
    let sum = match (input_bound(usage, rates)?, output_bound(usage, rates)?) {
        (None, None) => return Ok(None),
        (input, output) => input
            .unwrap_or(Decimal::ZERO)
            .plus(output.unwrap_or(Decimal::ZERO))?,
    };
    match usage.smaller_total() {
        Some(total) => rates.lowest()?.times(total)?.min(sum).map(Some),
        None => Ok(Some(sum)),
    }
}

fn input_bound(usage: &Usage<'_>, rates: &Rates) -> Result<Option<Decimal>, Overflow> {
    if usage.input_trust() == Trust::Contradictory {
        return Ok(None);
    }
    let parts = [
        (usage.cached_input, rates.cached_input),
        (usage.cache_write, rates.cache_write),
    ];
    let mut sum = None;
    // What may be a part that is not reported costs at least the cheaper way.
    let mut rate = rates.input;
    for (count, of_part) in parts {
        match count {
            Some(count) => sum = Some(sum.unwrap_or(Decimal::ZERO).plus(of_part.times(count)?)?),
            None if !usage.cache_is_beside() => rate = rate.min(of_part)?,
            None => {}
        }
    }
    match fresh(usage) {
        Some(rest) => sum
            .unwrap_or(Decimal::ZERO)
            .plus(rate.times(rest)?)
            .map(Some),
        None => Ok(sum),
    }
}

fn output_bound(usage: &Usage<'_>, rates: &Rates) -> Result<Option<Decimal>, Overflow> {
    if usage.output_trust() == Trust::Contradictory {
        return Ok(None);
    }
    let cheaper = rates.output.min(rates.reasoning)?;
    let split = !usage.reasoning_is_zero_and_there();
    match (usage.output, usage.reasoning) {
        (Some(output), Some(reasoning)) if split => {
            let visible = output.saturating_sub(reasoning);
            let visible = rates.output.times(visible)?;
            visible.plus(rates.reasoning.times(reasoning)?).map(Some)
        }
        (Some(output), None) if usage.part_is_beside() => rates.output.times(output).map(Some),
        (Some(output), _) => cheaper.times(output).map(Some),
        (None, Some(reasoning)) => rates.reasoning.times(reasoning).map(Some),
        (None, None) => Ok(None),
    }
}
