//! Days, as text that compares in their order.

/// Returns the day of a time such as `2026-01-31T23:59:59.000Z`.
pub(crate) fn of_time(time: &str) -> Option<&str> {
    let (day, rest) = time.split_once('T')?;
    let clock = rest.strip_suffix('Z')?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut parts = clock.split(':');
    let in_day = [23, 59, 60].into_iter().all(|last| {
        let part = parts.next().and_then(|part| number(part, 2));
        part.is_some_and(|part| part <= last)
    });
    let whole = in_day && parts.next().is_none() && number(fraction, fraction.len()).is_some();
    (whole && is_day(day)).then_some(day)
}

/// Returns whether a text is a day of the calendar, such as `2026-01-31`.
pub(crate) fn is_day(text: &str) -> bool {
    let mut parts = text.split('-');
    let year = parts.next().and_then(|part| number(part, 4));
    let month = parts.next().and_then(|part| number(part, 2));
    let day = parts.next().and_then(|part| number(part, 2));
    let (Some(year), Some(month), Some(day), None) = (year, month, day, parts.next()) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=last).contains(&day)
}

/// Returns a number of exactly so many digits; of more than nine it is 0, which is
/// enough to know that they are digits.
fn number(text: &str, digits: usize) -> Option<u32> {
    let plain = text.len() == digits && digits > 0;
    if !plain || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(text.parse().unwrap_or(0))
}
