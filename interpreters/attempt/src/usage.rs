//! Token counts in one normal form.

use alloc::vec;
use alloc::vec::Vec;

use crate::body::members;
use crate::json::{Kind, Malformed, Reader};
use crate::reading::Usage;

/// No count passes this: 2^53 - 1.
const TOKENS_MAX: u64 = (1 << 53) - 1;

/// What a dialect calls the counts.
pub(crate) struct Names {
    pub(crate) input: &'static str,
    pub(crate) output: &'static str,
    /// Where `cached_tokens` is; the empty string where there is no such object.
    pub(crate) input_details: &'static str,
    pub(crate) output_details: &'static str,
    pub(crate) reasoning: &'static str,
    /// Whether the input leaves cache reads and writes out, which then have
    /// members of their own.
    pub(crate) input_excludes_cache: bool,
}

/// One count as sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Count {
    #[default]
    Absent,
    Tokens(u64),
    Unusable(&'static str),
}

/// The counts as sent.
#[derive(Default)]
struct Sent {
    input: Count,
    output: Count,
    cached_input: Count,
    cache_write: Count,
    reasoning: Count,
    total: Count,
}

/// Reads the value of a `usage` member.
pub(crate) fn read(reader: &mut Reader<'_>, names: &Names) -> Result<Usage, Malformed> {
    match reader.kind()? {
        Kind::Object => {}
        Kind::Null => {
            reader.skip()?;
            return Ok(Usage::default());
        }
        Kind::Array | Kind::Text | Kind::Number | Kind::True | Kind::False => {
            reader.skip()?;
            return Ok(Usage {
                diagnostics: vec![("usage", "not_an_object")],
                ..Usage::default()
            });
        }
    }
    let mut sent = Sent::default();
    reader.object(|reader, name| {
        if name == names.input {
            sent.input = count(reader)?;
        } else if name == names.output {
            sent.output = count(reader)?;
        } else if name == "total_tokens" {
            sent.total = count(reader)?;
        } else if name == names.output_details {
            sent.reasoning = detail(reader, names.reasoning)?;
        } else if names.input_excludes_cache && name == "cache_read_input_tokens" {
            sent.cached_input = count(reader)?;
        } else if names.input_excludes_cache && name == "cache_creation_input_tokens" {
            sent.cache_write = count(reader)?;
        } else if !names.input_excludes_cache && name == names.input_details {
            sent.cached_input = detail(reader, "cached_tokens")?;
        } else {
            reader.skip()?;
        }
        Ok(())
    })?;
    if names.input_excludes_cache {
        sent.input = with_cache(&sent);
    }
    Ok(sent.normal())
}

fn detail(reader: &mut Reader<'_>, wanted: &str) -> Result<Count, Malformed> {
    let mut found = match reader.kind()? {
        Kind::Object | Kind::Null => Count::Absent,
        Kind::Array | Kind::Text | Kind::Number | Kind::True | Kind::False => {
            Count::Unusable("details_not_an_object")
        }
    };
    members(reader, |reader, name| {
        if name == wanted {
            found = count(reader)?;
            return Ok(());
        }
        reader.skip().map(drop)
    })?;
    Ok(found)
}

fn count(reader: &mut Reader<'_>) -> Result<Count, Malformed> {
    let kind = reader.kind()?;
    let raw = reader.raw()?;
    Ok(match kind {
        Kind::Null => Count::Absent,
        Kind::Number => number(raw),
        Kind::True | Kind::False => Count::Unusable("boolean"),
        Kind::Object | Kind::Array | Kind::Text => Count::Unusable("not_a_number"),
    })
}

/// Takes whole numbers only: `10.0` and `1e3` are written as fractions, and what
/// they were meant to count is not ours to guess.
fn number(raw: &str) -> Count {
    if raw.starts_with('-') {
        return Count::Unusable("negative");
    }
    if !raw.bytes().all(|byte| byte.is_ascii_digit()) {
        return Count::Unusable("fractional");
    }
    raw.parse().map_or(Count::Unusable("too_large"), limited)
}

const fn limited(tokens: u64) -> Count {
    if tokens <= TOKENS_MAX {
        Count::Tokens(tokens)
    } else {
        Count::Unusable("too_large")
    }
}

/// Returns the whole input: what is sent as input leaves the cache out. An
/// absent cache count adds nothing; an unusable one makes the sum unusable.
fn with_cache(sent: &Sent) -> Count {
    let Count::Tokens(mut sum) = sent.input else {
        return sent.input;
    };
    for part in [sent.cached_input, sent.cache_write] {
        match part {
            Count::Absent => {}
            // Two counts of at most 2^53 - 1 do not overflow.
            Count::Tokens(tokens) => sum += tokens,
            Count::Unusable(_) => return Count::Unusable("cache_count_unusable"),
        }
    }
    limited(sum)
}

impl Sent {
    fn normal(self) -> Usage {
        let mut diagnostics = Vec::new();
        let mut take = |component, count| match count {
            Count::Tokens(tokens) => Some(tokens),
            Count::Absent => None,
            Count::Unusable(why) => {
                diagnostics.push((component, why));
                None
            }
        };
        let usage = Usage {
            input: take("input", self.input),
            output: take("output", self.output),
            cached_input: take("cached_input", self.cached_input),
            cache_write: take("cache_write", self.cache_write),
            reasoning: take("reasoning", self.reasoning),
            total: take("total", self.total),
            diagnostics: Vec::new(),
        };
        Usage {
            diagnostics,
            ..usage
        }
    }
}
