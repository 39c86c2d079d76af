//! The price table: `{"currency":"USD","unit":1000000,"prices":[…]}`.
//!
//! Nothing in it is passed over: what this version does not know could be what
//! the author relies on.

use alloc::borrow::{Cow, ToOwned as _};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use wire::json::{Fault, Kind, Reader, Result, Span};

use crate::cost::shortened;
use crate::date;
use crate::decimal::{Decimal, Overflow};

/// A whole table.
pub(crate) struct Table<'a> {
    /// Three letters.
    pub(crate) currency: String,
    /// The unit is ten to this power.
    pub(crate) unit_digits: u32,
    pub(crate) rows: Vec<Row<'a>>,
}

/// Prices, and where they apply.
pub(crate) struct Row<'a> {
    /// Exact names, and starts of names with a `*` behind.
    pub(crate) models: Vec<Cow<'a, str>>,
    pub(crate) provider: Option<Cow<'a, str>>,
    pub(crate) dialect: Option<Cow<'a, str>>,
    /// The first day.
    pub(crate) from: Option<Cow<'a, str>>,
    /// The day after the last one.
    pub(crate) until: Option<Cow<'a, str>>,
    pub(crate) rates: Rates,
    /// The rates where the input has more tokens than this.
    pub(crate) above: Option<(u64, Rates)>,
}

/// What a unit of each component costs. Never negative.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rates {
    pub(crate) input: Decimal,
    pub(crate) output: Decimal,
    pub(crate) cached_input: Decimal,
    pub(crate) cache_write: Decimal,
    pub(crate) reasoning: Decimal,
}

impl Rates {
    /// Returns the lowest of them.
    pub(crate) fn lowest(&self) -> core::result::Result<Decimal, Overflow> {
        let others = [
            self.output,
            self.cached_input,
            self.cache_write,
            self.reasoning,
        ];
        others.into_iter().try_fold(self.input, Decimal::min)
    }
}

/// Reads a table, or returns what is wrong with it and where.
pub(crate) fn read(bytes: &[u8]) -> core::result::Result<Table<'_>, String> {
    let mut complaint = Complaint(None);
    document(bytes, &mut complaint).map_err(|fault| {
        complaint.0.unwrap_or_else(|| {
            match fault {
                Fault::Ended => "the table: expected JSON, found text that ends too early",
                Fault::Syntax => "the table: expected JSON, found something else",
                Fault::TooDeep => "the table: expected prices, found values nested too deeply",
            }
            .to_owned()
        })
    })
}

/// What is wrong, where the grammar alone does not say it.
struct Complaint(Option<String>);

impl Complaint {
    /// Keeps the first complaint, with the place that it is about, and returns the
    /// error that stops the reader.
    fn at(&mut self, reader: &Reader<'_>, what: &str) -> Fault {
        let place = reader.cite(Span::default()).pointer;
        let place = if place.is_empty() {
            "the table".to_owned()
        } else {
            shortened(&place)
        };
        self.0.get_or_insert_with(|| format!("{place}: {what}"));
        Fault::Syntax
    }

    /// Keeps a value where there is none yet.
    fn once<T>(&mut self, reader: &Reader<'_>, place: &mut Option<T>, value: T) -> Result<()> {
        if place.is_some() {
            return Err(self.at(reader, "expected it once, found it again"));
        }
        *place = Some(value);
        Ok(())
    }
}

const UNKNOWN: &str = "it is not known to this version";

fn document<'a>(bytes: &'a [u8], complaint: &mut Complaint) -> Result<Table<'a>> {
    let mut reader = Reader::of_body(bytes);
    expect(&mut reader, Kind::Object, complaint)?;
    let (mut currency, mut unit, mut rows) = (None, None, None);
    reader.object(|reader, name| match name {
        "currency" => {
            let text = text(reader, complaint)?;
            if text.len() != 3 || !text.bytes().all(|byte| byte.is_ascii_uppercase()) {
                return Err(complaint.at(reader, "expected three letters A-Z, such as \"USD\""));
            }
            complaint.once(reader, &mut currency, text.into_owned())
        }
        "unit" => {
            let digits = unit_digits(reader, complaint)?;
            complaint.once(reader, &mut unit, digits)
        }
        "prices" => {
            let list = prices(reader, complaint)?;
            complaint.once(reader, &mut rows, list)
        }
        _ => Err(complaint.at(reader, UNKNOWN)),
    })?;
    if !reader.at_end() {
        return Err(complaint.at(
            &reader,
            "expected one JSON object, found something behind it",
        ));
    }
    match (currency, unit, rows) {
        (Some(currency), Some(unit_digits), Some(rows)) => Ok(Table {
            currency,
            unit_digits,
            rows,
        }),
        (_, _, _) => Err(complaint.at(&reader, "expected `currency`, `unit` and `prices`")),
    }
}

fn prices<'a>(reader: &mut Reader<'a>, complaint: &mut Complaint) -> Result<Vec<Row<'a>>> {
    expect(reader, Kind::Array, complaint)?;
    let mut rows = Vec::new();
    reader.array(|reader, _position| {
        rows.push(row(reader, complaint)?);
        Ok(())
    })?;
    Ok(rows)
}

fn row<'a>(reader: &mut Reader<'a>, complaint: &mut Complaint) -> Result<Row<'a>> {
    expect(reader, Kind::Object, complaint)?;
    let (mut models, mut provider, mut dialect) = (None, None, None);
    let (mut from, mut until, mut above) = (None, None, None);
    let mut draft = Draft::default();
    reader.object(|reader, name| match name {
        "models" => {
            let list = patterns(reader, complaint)?;
            complaint.once(reader, &mut models, list)
        }
        "provider" => {
            let text = text(reader, complaint)?;
            complaint.once(reader, &mut provider, text)
        }
        "dialect" => {
            let text = text(reader, complaint)?;
            complaint.once(reader, &mut dialect, text)
        }
        "from" => {
            let day = day(reader, complaint)?;
            complaint.once(reader, &mut from, day)
        }
        "until" => {
            let day = day(reader, complaint)?;
            complaint.once(reader, &mut until, day)
        }
        "above" => {
            let rates = larger(reader, complaint)?;
            complaint.once(reader, &mut above, rates)
        }
        _ => draft.member(reader, name, complaint),
    })?;
    if let (Some(from), Some(until)) = (&from, &until)
        && from >= until
    {
        return Err(complaint.at(reader, "expected `from` before `until`"));
    }
    let Some(models) = models else {
        return Err(complaint.at(reader, "expected `models`, `input` and `output`"));
    };
    Ok(Row {
        models,
        provider,
        dialect,
        from,
        until,
        rates: draft.finish(reader, complaint)?,
        above,
    })
}

/// Reads the rates of large inputs: all of the input, not only what is above.
fn larger(reader: &mut Reader<'_>, complaint: &mut Complaint) -> Result<(u64, Rates)> {
    expect(reader, Kind::Object, complaint)?;
    let mut tokens = None;
    let mut draft = Draft::default();
    reader.object(|reader, name| {
        if name != "tokens" {
            return draft.member(reader, name, complaint);
        }
        let Ok(number) = reader.source_text()?.text.parse::<u64>() else {
            return Err(complaint.at(reader, "expected a whole number of tokens"));
        };
        complaint.once(reader, &mut tokens, number)
    })?;
    let rates = draft.finish(reader, complaint)?;
    let tokens = tokens.ok_or_else(|| complaint.at(reader, "expected `tokens`"))?;
    Ok((tokens, rates))
}

/// Rates of which not all are read yet.
#[derive(Default)]
struct Draft {
    input: Option<Decimal>,
    output: Option<Decimal>,
    cached_input: Option<Decimal>,
    cache_write: Option<Decimal>,
    reasoning: Option<Decimal>,
}

impl Draft {
    fn member(
        &mut self,
        reader: &mut Reader<'_>,
        name: &str,
        complaint: &mut Complaint,
    ) -> Result<()> {
        let place = match name {
            "input" => &mut self.input,
            "output" => &mut self.output,
            "cached_input" => &mut self.cached_input,
            "cache_write" => &mut self.cache_write,
            "reasoning" => &mut self.reasoning,
            _ => return Err(complaint.at(reader, UNKNOWN)),
        };
        let text = text(reader, complaint)?;
        let Some(price) = Decimal::parse(&text) else {
            return Err(complaint.at(reader, PRICE));
        };
        complaint.once(reader, place, price)
    }

    fn finish(self, reader: &Reader<'_>, complaint: &mut Complaint) -> Result<Rates> {
        let (Some(input), Some(output)) = (self.input, self.output) else {
            return Err(complaint.at(reader, "expected `input` and `output`"));
        };
        Ok(Rates {
            input,
            output,
            cached_input: self.cached_input.unwrap_or(input),
            cache_write: self.cache_write.unwrap_or(input),
            reasoning: self.reasoning.unwrap_or(output),
        })
    }
}

/// What is expected of a price.
const PRICE: &str = "expected a decimal number that is not negative, such as \"2.50\", with at most \
                     18 digits behind the point and 30 bytes in all";

/// Reads the patterns of a row, each once.
fn patterns<'a>(reader: &mut Reader<'a>, complaint: &mut Complaint) -> Result<Vec<Cow<'a, str>>> {
    expect(reader, Kind::Array, complaint)?;
    let mut list: Vec<Cow<'a, str>> = Vec::new();
    reader.array(|reader, _position| {
        let pattern = text(reader, complaint)?;
        let start = pattern.strip_suffix('*').unwrap_or(&pattern);
        if start.contains('*') {
            return Err(complaint.at(reader, "expected a `*` at the end alone"));
        }
        if list.contains(&pattern) {
            return Err(complaint.at(reader, "expected each name once, found it again"));
        }
        list.push(pattern);
        Ok(())
    })?;
    if list.is_empty() {
        return Err(complaint.at(reader, "expected at least one name"));
    }
    Ok(list)
}

/// Reads a text of at least one byte.
fn text<'a>(reader: &mut Reader<'a>, complaint: &mut Complaint) -> Result<Cow<'a, str>> {
    expect(reader, Kind::Text, complaint)?;
    let replaced = reader.notes.lossy;
    let text = reader.filled()?.map(|cited| cited.text);
    match text {
        Some(text) if reader.notes.lossy == replaced => Ok(text),
        Some(_) | None => Err(complaint.at(reader, "expected text of at least one character")),
    }
}

fn day<'a>(reader: &mut Reader<'a>, complaint: &mut Complaint) -> Result<Cow<'a, str>> {
    let text = text(reader, complaint)?;
    if date::is_day(&text) {
        return Ok(text);
    }
    Err(complaint.at(
        reader,
        "expected a day of the calendar, such as \"2026-01-31\"",
    ))
}

/// Reads the unit and returns the power of ten that it is.
fn unit_digits(reader: &mut Reader<'_>, complaint: &mut Complaint) -> Result<u32> {
    let number: Option<u64> = reader.source_text()?.text.parse().ok();
    let power = (0..=9).find(|digits| number == 10_u64.checked_pow(*digits));
    power.ok_or_else(|| complaint.at(reader, "expected a power of ten from 1 to 1000000000"))
}

fn expect(reader: &mut Reader<'_>, kind: Kind, complaint: &mut Complaint) -> Result<()> {
    let found = reader.kind()?;
    if found == kind {
        return Ok(());
    }
    let named = |kind| match kind {
        Kind::Object => "an object",
        Kind::Array => "an array",
        Kind::Text => "text",
        Kind::Number => "a number",
        Kind::True | Kind::False => "a truth value",
        Kind::Null => "null",
    };
    let what = format!("expected {}, found {}", named(kind), named(found));
    Err(complaint.at(reader, &what))
}
