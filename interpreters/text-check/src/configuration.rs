//! The configuration: `{"rules":[{"criterion":0,"contains":"…"},…]}`.
//!
//! Nothing in it is passed over: what this version does not know could be what
//! the author relies on.

use alloc::borrow::{Cow, ToOwned as _};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::{Kind, Malformed, Reader};
use crate::rule::{Condition, Rule};

/// Reads the rules for so many criteria, or returns what is wrong with them.
pub(crate) fn read(bytes: Option<&[u8]>, criteria: usize) -> Result<Vec<Rule<'_>>, String> {
    let Some(bytes) = bytes else {
        return Err("expected rules, found no configuration".to_owned());
    };
    let mut complaint = Complaint(None);
    let rules = match document(bytes, &mut complaint) {
        Ok(rules) => rules,
        Err(malformed) => return Err(complaint.0.unwrap_or_else(|| said(malformed).to_owned())),
    };
    let known = |rule: &Rule<'_>| usize::try_from(rule.criterion).is_ok_and(|at| at < criteria);
    match rules.iter().position(|rule| !known(rule)) {
        None => Ok(rules),
        Some(position) => Err(format!(
            "rule {position}: expected a criterion below {criteria}, the number of criteria"
        )),
    }
}

/// What is wrong, where the grammar alone does not say it.
struct Complaint(Option<String>);

impl Complaint {
    /// Keeps the first complaint, and returns the error that stops the reader.
    fn of(&mut self, what: impl FnOnce() -> String) -> Malformed {
        self.0.get_or_insert_with(what);
        Malformed::NotJson
    }
}

const fn said(malformed: Malformed) -> &'static str {
    match malformed {
        Malformed::Empty => "expected rules, found nothing",
        Malformed::NotUtf8 => "expected JSON, found bytes that are not UTF-8",
        Malformed::NotJson => "expected JSON of the form {\"rules\":[…]}",
        Malformed::NotAnObject => "expected a JSON object",
        Malformed::TrailingBytes => "expected one JSON object, found something behind it",
        Malformed::TooDeep => "expected rules, found values nested too deeply",
    }
}

fn document<'a>(bytes: &'a [u8], complaint: &mut Complaint) -> Result<Vec<Rule<'a>>, Malformed> {
    let mut reader = Reader::of_bytes(bytes)?;
    if reader.kind()? != Kind::Object {
        return Err(Malformed::NotAnObject);
    }
    let mut rules = None;
    reader.object(|reader, name| {
        if name != "rules" || rules.is_some() {
            return Err(complaint.of(|| "expected the one member `rules`".to_owned()));
        }
        let mut list = Vec::new();
        reader.array(|reader, position| {
            list.push(rule(reader, position, complaint)?);
            Ok(())
        })?;
        rules = Some(list);
        Ok(())
    })?;
    reader.end()?;
    rules.ok_or_else(|| complaint.of(|| "expected the one member `rules`".to_owned()))
}

fn rule<'a>(
    reader: &mut Reader<'a>,
    position: usize,
    complaint: &mut Complaint,
) -> Result<Rule<'a>, Malformed> {
    let mut criterion = None;
    let mut found = None;
    reader
        .object(|reader, name| {
            if name == "criterion" {
                let number = number(reader)?;
                return once(&mut criterion, number);
            }
            let condition = match name {
                "contains" => Condition::Contains(pattern(reader)?),
                "absent" => Condition::Absent(pattern(reader)?),
                "count" => count(reader)?,
                "max_bytes" => Condition::MaxBytes(number(reader)?),
                "no_digits_before" => Condition::NoDigitsBefore(pattern(reader)?),
                _ => return Err(complaint.of(|| format!("rule {position}: it is not known"))),
            };
            once(&mut found, condition)
        })
        .map_err(|malformed| {
            complaint.of(|| match malformed {
                Malformed::NotJson => format!("rule {position}: {FORM}"),
                Malformed::Empty
                | Malformed::NotUtf8
                | Malformed::NotAnObject
                | Malformed::TrailingBytes
                | Malformed::TooDeep => said(malformed).to_owned(),
            })
        })?;
    let criterion = criterion.and_then(|criterion| u32::try_from(criterion).ok());
    match (criterion, found) {
        (Some(criterion), Some(condition)) => Ok(Rule {
            criterion,
            condition,
        }),
        (_, _) => Err(complaint.of(|| format!("rule {position}: {FORM}"))),
    }
}

/// What is expected of a rule.
const FORM: &str = "expected an object with `criterion` and one condition, each once and of its \
                    type";

fn count<'a>(reader: &mut Reader<'a>) -> Result<Condition<'a>, Malformed> {
    let mut text = None;
    let mut is = None;
    reader.object(|reader, name| match name {
        "text" => {
            let pattern = pattern(reader)?;
            once(&mut text, pattern)
        }
        "is" => {
            let number = number(reader)?;
            once(&mut is, number)
        }
        _ => Err(Malformed::NotJson),
    })?;
    match (text, is) {
        (Some(text), Some(is)) => Ok(Condition::Count(text, is)),
        (_, _) => Err(Malformed::NotJson),
    }
}

/// Sets what is not set yet.
fn once<T>(place: &mut Option<T>, value: T) -> Result<(), Malformed> {
    if place.is_some() {
        return Err(Malformed::NotJson);
    }
    *place = Some(value);
    Ok(())
}

/// Reads a text to look for. An empty one is everywhere, and one with a lone
/// surrogate nowhere: neither can be what is meant.
fn pattern<'a>(reader: &mut Reader<'a>) -> Result<Cow<'a, str>, Malformed> {
    let text = reader.text()?;
    if text.lossy || text.decoded.is_empty() {
        return Err(Malformed::NotJson);
    }
    Ok(text.decoded)
}

/// Reads a whole number that is not negative.
fn number(reader: &mut Reader<'_>) -> Result<u64, Malformed> {
    reader
        .raw()?
        .parse()
        .map_err(|_not_whole| Malformed::NotJson)
}
