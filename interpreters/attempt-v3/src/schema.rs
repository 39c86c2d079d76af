//! The part of JSON Schema that providers take for structured output.
//!
//! Held against a text: `type`, `enum`, `const`, `properties`, `required`,
//! `additionalProperties`, `items`, `prefixItems`, `minItems`, `maxItems`,
//! `minLength`, `maxLength`, `minimum`, `maximum`, `exclusiveMinimum`,
//! `exclusiveMaximum`, `anyOf`, `oneOf`, `allOf`, `not`, local `$ref`, and `nullable`
//! with upper-case types as Gemini has them. A keyword that asserts something else
//! is not looked at, and it is said that there was one.

use alloc::format;
use alloc::string::String;

use wire::json::Reader;

mod value;

use value::Value;

/// The longest schema and the longest text that are held in memory, in bytes.
const BYTES_MAX: usize = 1 << 20;

/// Steps of one validation.
const STEPS_MAX: u32 = 1_000_000;

/// Schemas inside of each other, references included.
const DEPTH_MAX: u32 = 128;

/// Keywords that assert something and are not looked at.
const NOT_CHECKED: [&str; 13] = [
    "pattern",
    "patternProperties",
    "propertyNames",
    "multipleOf",
    "uniqueItems",
    "contains",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
    "unevaluatedItems",
    "if",
];

/// What validating gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Everything that was looked at holds.
    Valid,
    /// Something does not: the rule, and where.
    Invalid(String),
    /// Schema or text pass a bound, or the schema is none.
    NotChecked,
}

/// A finding, and whether something was not looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) verdict: Verdict,
    pub(crate) partial: bool,
}

/// Holds a text, which is JSON, against a schema.
pub(crate) fn validate(schema: &[u8], text: &str) -> Report {
    let not_checked = Report {
        verdict: Verdict::NotChecked,
        partial: true,
    };
    if schema.len() > BYTES_MAX || text.len() > BYTES_MAX {
        return not_checked;
    }
    let schema = Value::read(&mut Reader::of_body(schema));
    let text = Value::read(&mut Reader::of_body(text.as_bytes()));
    let (Ok(schema), Ok(text)) = (schema, text) else {
        return not_checked;
    };
    let mut run = Run {
        root: &schema,
        steps: 0,
        partial: false,
    };
    let verdict = match run.check(&schema, &text, &Place::Root, 0) {
        Ok(()) => Verdict::Valid,
        Err(Stop::Violation(why)) => Verdict::Invalid(why),
        Err(Stop::Bound) => return not_checked,
    };
    Report {
        verdict,
        partial: run.partial,
    }
}

/// Why a check ends early.
enum Stop {
    Violation(String),
    Bound,
}

type Checked = Result<(), Stop>;

/// Where in the text a value stands.
enum Place<'p> {
    Root,
    Name(&'p Self, &'p str),
    Index(&'p Self, usize),
}

impl Place<'_> {
    /// The longest pointer that a reason has, in bytes.
    const POINTER_BYTES_MAX: usize = 160;

    fn pointer(&self) -> String {
        let mut pointer = match self {
            Self::Root => return String::new(),
            Self::Name(outer, name) => {
                let name = name.replace('~', "~0").replace('/', "~1");
                format!("{}/{name}", outer.pointer())
            }
            Self::Index(outer, index) => format!("{}/{index}", outer.pointer()),
        };
        let end = pointer.floor_char_boundary(Self::POINTER_BYTES_MAX);
        pointer.truncate(end);
        pointer
    }

    fn violates(&self, rule: &str) -> Checked {
        Err(Stop::Violation(format!(
            "at \"{}\": {rule}",
            self.pointer()
        )))
    }
}

struct Run<'s, 'a> {
    root: &'s Value<'a>,
    steps: u32,
    partial: bool,
}

impl<'s, 'a> Run<'s, 'a> {
    fn check(
        &mut self,
        schema: &'s Value<'a>,
        value: &Value<'_>,
        place: &Place<'_>,
        depth: u32,
    ) -> Checked {
        self.steps += 1;
        if self.steps > STEPS_MAX || depth > DEPTH_MAX {
            return Err(Stop::Bound);
        }
        let Value::Object(keywords) = schema else {
            return match schema {
                Value::Flag(false) => place.violates("no value is allowed here"),
                Value::Null
                | Value::Flag(true)
                | Value::Number(_)
                | Value::Text(_)
                | Value::Array(_)
                | Value::Object(_) => Ok(()),
            };
        };
        let nullable = matches!(schema.member("nullable"), Some(Value::Flag(true)));
        if nullable && matches!(value, Value::Null) {
            return Ok(());
        }
        for (keyword, rule) in keywords {
            match &**keyword {
                "type" => check_type(rule, value, place)?,
                "enum"
                    if !rule
                        .entries()
                        .is_none_or(|any| any.iter().any(|v| v.equals(value))) =>
                {
                    return place.violates("enum");
                }
                "const" if !rule.equals(value) => return place.violates("const"),
                "$ref" => {
                    if let Some(target) = self.target(rule) {
                        self.check(target, value, place, depth + 1)?;
                    }
                }
                "anyOf" | "oneOf" | "allOf" | "not" => {
                    self.combined(keyword, rule, (value, place), depth + 1)?;
                }
                other => self.partial |= NOT_CHECKED.contains(&other),
            }
        }
        match value {
            Value::Object(_) => self.check_object(schema, value, place, depth + 1),
            Value::Array(entries) => self.check_array(schema, entries, place, depth + 1),
            Value::Text(text) => check_length(schema, text, place),
            Value::Number(_) => check_range(schema, value, place),
            Value::Null | Value::Flag(_) => Ok(()),
        }
    }

    /// Finds what a local reference points at.
    fn target(&mut self, reference: &Value<'_>) -> Option<&'s Value<'a>> {
        let path = reference.text().and_then(|text| text.strip_prefix('#'));
        let found = path.and_then(|path| {
            path.split('/').skip(1).try_fold(self.root, |value, step| {
                let name = step.replace("~1", "/").replace("~0", "~");
                match value.entries() {
                    Some(entries) => entries.get(name.parse::<usize>().ok()?),
                    None => value.member(&name),
                }
            })
        });
        self.partial |= found.is_none();
        found
    }

    fn combined(
        &mut self,
        keyword: &str,
        rule: &'s Value<'a>,
        (value, place): (&Value<'_>, &Place<'_>),
        depth: u32,
    ) -> Checked {
        if keyword == "not" {
            return match self.check(rule, value, place, depth) {
                Ok(()) => place.violates("not"),
                Err(Stop::Violation(_)) => Ok(()),
                Err(Stop::Bound) => Err(Stop::Bound),
            };
        }
        let mut holds = 0_usize;
        let schemas = rule.entries().unwrap_or_default();
        for schema in schemas {
            match self.check(schema, value, place, depth) {
                Ok(()) => holds += 1,
                Err(Stop::Violation(why)) if keyword == "allOf" => {
                    return Err(Stop::Violation(why));
                }
                Err(Stop::Violation(_)) => {}
                Err(Stop::Bound) => return Err(Stop::Bound),
            }
        }
        match keyword {
            "anyOf" if holds == 0 && !schemas.is_empty() => place.violates("anyOf"),
            "oneOf" if holds != 1 && !schemas.is_empty() => place.violates("oneOf"),
            _ => Ok(()),
        }
    }

    fn check_object(
        &mut self,
        schema: &'s Value<'a>,
        value: &Value<'_>,
        place: &Place<'_>,
        depth: u32,
    ) -> Checked {
        let required = schema.member("required").and_then(Value::entries);
        for name in required.unwrap_or_default().iter().filter_map(Value::text) {
            if value.member(name).is_none() {
                return place.violates(&format!("required member {name:?} is missing"));
            }
        }
        let Value::Object(members) = value else {
            return Ok(());
        };
        let properties = schema.member("properties");
        let additional = schema.member("additionalProperties");
        // Which names a pattern covers is not looked at, so none is additional.
        let patterns = schema.member("patternProperties").is_some();
        for (name, member) in members {
            let place = Place::Name(place, name);
            match properties.and_then(|properties| properties.member(name)) {
                Some(schema) => self.check(schema, member, &place, depth)?,
                None if patterns => {}
                None => {
                    if let Some(schema) = additional {
                        self.check(schema, member, &place, depth)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn check_array(
        &mut self,
        schema: &'s Value<'a>,
        entries: &[Value<'_>],
        place: &Place<'_>,
        depth: u32,
    ) -> Checked {
        check_count(schema, ("minItems", "maxItems"), entries.len(), place)?;
        let prefix = schema.member("prefixItems").and_then(Value::entries);
        let prefix = prefix.unwrap_or_default();
        let items = schema.member("items");
        for (index, entry) in entries.iter().enumerate() {
            let place = Place::Index(place, index);
            if let Some(schema) = prefix.get(index).or(items) {
                self.check(schema, entry, &place, depth)?;
            }
        }
        Ok(())
    }
}

fn check_type(rule: &Value<'_>, value: &Value<'_>, place: &Place<'_>) -> Checked {
    let found = value.type_name();
    let fits = |wanted: &str| {
        wanted.eq_ignore_ascii_case(found)
            || (wanted.eq_ignore_ascii_case("number") && found == "integer")
    };
    let holds = match rule.entries() {
        Some(types) => types.iter().filter_map(Value::text).any(fits),
        None => rule.text().is_none_or(fits),
    };
    if holds {
        return Ok(());
    }
    place.violates(&format!("type is {found}"))
}

fn check_length(schema: &Value<'_>, text: &str, place: &Place<'_>) -> Checked {
    let length = text.chars().count();
    check_count(schema, ("minLength", "maxLength"), length, place)
}

fn check_count(
    schema: &Value<'_>,
    (least, most): (&'static str, &'static str),
    count: usize,
    place: &Place<'_>,
) -> Checked {
    let count = u32::try_from(count).map_or(f64::INFINITY, f64::from);
    let bound = |keyword| schema.member(keyword).and_then(Value::number);
    if bound(least).is_some_and(|least| count < least) {
        return place.violates(least);
    }
    if bound(most).is_some_and(|most| count > most) {
        return place.violates(most);
    }
    Ok(())
}

/// Whether a number keeps to a bound.
type Holds = fn(f64, f64) -> bool;

fn check_range(schema: &Value<'_>, value: &Value<'_>, place: &Place<'_>) -> Checked {
    let Some(number) = value.number() else {
        return Ok(());
    };
    let holds: [(&str, Holds); 4] = [
        ("minimum", |number, bound| number >= bound),
        ("maximum", |number, bound| number <= bound),
        ("exclusiveMinimum", |number, bound| number > bound),
        ("exclusiveMaximum", |number, bound| number < bound),
    ];
    for (keyword, holds) in holds {
        let bound = schema.member(keyword).and_then(Value::number);
        if bound.is_some_and(|bound| !holds(number, bound)) {
            return place.violates(keyword);
        }
    }
    Ok(())
}
