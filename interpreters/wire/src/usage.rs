//! Token counts: what was sent, and one normal form.
//!
//! In the normal form the input includes cache reads and writes, and the output
//! includes reasoning. Absent or null is absent, never zero. What a count cannot
//! be taken as, what only bounds it from below, and which counts contradict each
//! other is said beside it, by component.

use alloc::vec;
use alloc::vec::Vec;

use crate::Dialect;
use crate::json::{Cite, Cited, Kind, Reader, Result};

/// No count passes this: 2^53 - 1.
pub const TOKENS_MAX: u64 = (1 << 53) - 1;

/// One count as sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Count<'a> {
    /// There is no such member.
    #[default]
    Absent,
    /// It is null.
    Null,
    /// It is a whole number.
    Tokens(u64, Cited<'a>),
    /// It is something else, and why it cannot be taken.
    Invalid(&'static str),
}

impl Count<'_> {
    /// Returns the number, if there is one.
    pub const fn tokens(&self) -> Option<u64> {
        match self {
            Self::Tokens(tokens, _) => Some(*tokens),
            Self::Absent | Self::Null | Self::Invalid(_) => None,
        }
    }

    const fn is_invalid(&self) -> bool {
        matches!(self, Self::Invalid(_))
    }
}

/// What counts stand in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Container {
    /// There is none.
    #[default]
    Absent,
    /// There is something in its place that has no members.
    Misshapen,
    /// It is there.
    Present,
}

/// The counts as sent, under common names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts<'a> {
    /// What the counts stood in.
    pub container: Container,
    /// The prompt, as the provider counts it.
    pub input: Count<'a>,
    /// What was generated, as the provider counts it.
    pub output: Count<'a>,
    /// Read from a cache.
    pub cached_input: Count<'a>,
    /// Written to a cache.
    pub cache_write: Count<'a>,
    /// Reasoning.
    pub reasoning: Count<'a>,
    /// Results of tools that the provider put into the prompt.
    pub tool_input: Count<'a>,
    /// The provider's own total.
    pub total: Count<'a>,
}

impl Counts<'_> {
    pub(crate) const NONE: Self = Self {
        container: Container::Absent,
        input: Count::Absent,
        output: Count::Absent,
        cached_input: Count::Absent,
        cache_write: Count::Absent,
        reasoning: Count::Absent,
        tool_input: Count::Absent,
        total: Count::Absent,
    };
}

/// Where a part is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the larger count.
    Included,
    /// Beside it.
    Beside,
}

/// How a dialect's counts relate to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relations {
    /// Where what was read from and written to a cache is: in the input or not.
    pub cache: Place,
    /// Where reasoning is: in the output or not.
    pub reasoning: Place,
    /// Whether zero counts are left out of the wire.
    pub zeros_are_left_out: bool,
}

impl Relations {
    /// Returns the relations of a dialect.
    pub const fn of(dialect: Dialect) -> Self {
        let inclusive = Self {
            cache: Place::Included,
            reasoning: Place::Included,
            zeros_are_left_out: false,
        };
        match dialect {
            Dialect::AnthropicMessages
            | Dialect::AnthropicComplete
            | Dialect::BedrockConverse
            | Dialect::BedrockInvoke => Self {
                cache: Place::Beside,
                ..inclusive
            },
            Dialect::GeminiGenerateContent => Self {
                reasoning: Place::Beside,
                zeros_are_left_out: true,
                ..inclusive
            },
            Dialect::OpenaiChat
            | Dialect::OpenaiResponses
            | Dialect::OpenaiCompletions
            | Dialect::MistralChat
            | Dialect::CohereV1Chat
            | Dialect::CohereV2Chat
            | Dialect::OllamaChat
            | Dialect::OllamaGenerate => inclusive,
        }
    }
}

/// One component of the normal form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Component {
    /// The number of tokens.
    pub tokens: Option<u64>,
    /// The numbers that it was made from.
    pub cites: Vec<Cite>,
}

/// Token counts in the normal form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    /// The whole prompt.
    pub input: Component,
    /// All that was generated.
    pub output: Component,
    /// A part of the input.
    pub cached_input: Component,
    /// A part of the input.
    pub cache_write: Component,
    /// A part of the output.
    pub reasoning: Component,
    /// The provider's own total.
    pub total: Component,
    /// What is to be known about the components: name and finding.
    pub diagnostics: Vec<(&'static str, &'static str)>,
}

/// A cache count that is not reported bounds the input from below.
pub const CACHE_NOT_REPORTED: &str = "lower_bound:cache_not_reported";
/// A part of the output is not reported.
pub const PART_NOT_REPORTED: &str = "lower_bound:part_not_reported";

impl Component {
    fn of(name: &'static str, count: &Count<'_>, usage: &mut Diagnostics) -> Self {
        match count {
            Count::Absent => Self::default(),
            Count::Null => {
                usage.push((name, "null_value"));
                Self::default()
            }
            Count::Invalid(why) => {
                usage.push((name, why));
                Self::default()
            }
            Count::Tokens(tokens, cited) => Self {
                tokens: Some(*tokens),
                cites: vec![cited.cite.clone()],
            },
        }
    }

    /// Adds a part; without a number of its own it stays without.
    fn add(&mut self, part: &Self) {
        if let (Some(tokens), Some(more)) = (self.tokens, part.tokens) {
            self.tokens = tokens.checked_add(more).filter(|sum| *sum <= TOKENS_MAX);
            self.cites.extend(part.cites.iter().cloned());
        }
    }
}

type Diagnostics = Vec<(&'static str, &'static str)>;

/// Returns the normal form. `reasoned` is whether the body has reasoning in it.
pub fn normal(relations: Relations, counts: &Counts<'_>, reasoned: bool) -> Usage {
    let mut found = Diagnostics::new();
    let missing = match counts.container {
        Container::Present => None,
        Container::Misshapen => Some("not_an_object"),
        Container::Absent => Some("not_reported"),
    };
    if let Some(why) = missing {
        found.push(("usage", why));
        return Usage {
            diagnostics: found,
            ..Usage::default()
        };
    }
    let mut usage = Usage {
        input: Component::of("input", &counts.input, &mut found),
        output: Component::of("output", &counts.output, &mut found),
        cached_input: Component::of("cached_input", &counts.cached_input, &mut found),
        cache_write: Component::of("cache_write", &counts.cache_write, &mut found),
        reasoning: Component::of("reasoning", &counts.reasoning, &mut found),
        total: Component::of("total", &counts.total, &mut found),
        diagnostics: Vec::new(),
    };
    let tools = Component::of("tool_input", &counts.tool_input, &mut found);
    usage.input.add(&tools);
    let proven = relations.zeros_are_left_out && adds_up(&usage);
    if relations.cache == Place::Beside {
        with_cache(&mut usage, counts, &mut found);
    }
    with_reasoning(relations, &mut usage, proven, &mut found);
    conflicts(&usage, reasoned, &mut found);
    usage.diagnostics = found;
    usage
}

/// Returns whether the reported total is the sum of the reported parts, which
/// shows that the parts that are left out are zero.
fn adds_up(usage: &Usage) -> bool {
    let parts = [&usage.input, &usage.output, &usage.reasoning];
    let sum: u64 = parts.iter().filter_map(|part| part.tokens).sum();
    usage.total.tokens == Some(sum)
}

fn with_cache(usage: &mut Usage, counts: &Counts<'_>, found: &mut Diagnostics) {
    if counts.cached_input.is_invalid() || counts.cache_write.is_invalid() {
        found.push(("input", "cache_count_unusable"));
        usage.input = Component::default();
        return;
    }
    let parts = [&usage.cached_input, &usage.cache_write];
    if usage.input.tokens.is_some() && parts.iter().any(|part| part.tokens.is_none()) {
        found.push(("input", CACHE_NOT_REPORTED));
    }
    let (read, written) = (usage.cached_input.clone(), usage.cache_write.clone());
    usage.input.add(&read);
    usage.input.add(&written);
}

fn with_reasoning(relations: Relations, usage: &mut Usage, proven: bool, found: &mut Diagnostics) {
    let reasoning = usage.reasoning.clone();
    if relations.reasoning == Place::Included {
        // One server on this wire leaves reasoning out; its total tells.
        let sum = [&usage.input, &usage.output, &reasoning]
            .iter()
            .map(|part| part.tokens)
            .try_fold(0_u64, |sum, part| sum.checked_add(part?));
        if sum.is_some() && sum == usage.total.tokens && reasoning.tokens != Some(0) {
            usage.output.add(&reasoning);
            found.push(("output", "reasoning_added_as_total_tells"));
        }
        return;
    }
    match (usage.output.tokens, reasoning.tokens) {
        (Some(_), Some(_)) => usage.output.add(&reasoning),
        (None, Some(_)) => {
            usage.output = reasoning;
            if !proven {
                found.push(("output", PART_NOT_REPORTED));
            }
        }
        (Some(_), None) if !proven => found.push(("output", PART_NOT_REPORTED)),
        (_, None) => {}
    }
}

fn conflicts(usage: &Usage, reasoned: bool, found: &mut Diagnostics) {
    let cache = [&usage.cached_input, &usage.cache_write];
    let cache: u64 = cache.iter().filter_map(|part| part.tokens).sum();
    if usage.input.tokens.is_some_and(|input| cache > input) {
        found.push(("cached_input", "cache_components_exceed_input"));
    }
    let reasoning = usage.reasoning.tokens;
    if let (Some(reasoning), Some(output)) = (reasoning, usage.output.tokens)
        && reasoning > output
    {
        found.push(("reasoning", "reasoning_exceeds_output"));
    }
    if let (Some(input), Some(output), Some(total)) =
        (usage.input.tokens, usage.output.tokens, usage.total.tokens)
        && input.checked_add(output) != Some(total)
    {
        found.push(("total", "reported_total_differs_from_derived"));
    }
    match reasoning {
        None if reasoned => found.push(("reasoning", "not_reported_with_reasoning_content")),
        Some(0) if reasoned => found.push(("reasoning", "zero_with_reasoning_content")),
        None | Some(_) => {}
    }
}

/// Reads one count. Whole numbers may be written with a fraction of zeros.
fn count<'a>(reader: &mut Reader<'a>) -> Result<Count<'a>> {
    let kind = reader.kind()?;
    if kind != Kind::Number {
        reader.skip()?;
        return Ok(match kind {
            Kind::Null => Count::Null,
            Kind::True | Kind::False => Count::Invalid("invalid_value:boolean"),
            Kind::Object | Kind::Array | Kind::Text | Kind::Number => {
                Count::Invalid("invalid_value:not_a_number")
            }
        });
    }
    let cited = reader.source_text()?;
    Ok(match number(&cited.text) {
        Ok(tokens) => Count::Tokens(tokens, cited),
        Err(why) => Count::Invalid(why),
    })
}

fn number(text: &str) -> core::result::Result<u64, &'static str> {
    let digits = match text.split_once('.') {
        Some((digits, zeros)) if zeros.bytes().all(|byte| byte == b'0') => digits,
        Some(_) => return Err("invalid_value:fractional"),
        None => text,
    };
    if digits.starts_with('-') {
        return Err("invalid_value:negative");
    }
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("invalid_value:not_whole");
    }
    let tokens = digits.parse().ok().filter(|tokens| *tokens <= TOKENS_MAX);
    tokens.ok_or("invalid_value:too_large")
}

/// Keeps what was read unless it says nothing and something is there already:
/// running totals replace each other, member by member.
fn overlay<'a>(place: &mut Count<'a>, reader: &mut Reader<'a>) -> Result<()> {
    let read = count(reader)?;
    let silent = matches!(read, Count::Absent | Count::Null);
    if !silent || *place == Count::Absent {
        *place = read;
    }
    Ok(())
}

impl<'a> Counts<'a> {
    /// Reads a container of counts by the names of a dialect.
    pub(crate) fn read(
        &mut self,
        reader: &mut Reader<'a>,
        member: fn(&mut Self, &mut Reader<'a>, &str) -> Result<()>,
    ) -> Result<()> {
        match reader.kind()? {
            Kind::Object => {
                self.container = Container::Present;
                reader.object(|reader, name| member(self, reader, name))
            }
            Kind::Null => reader.skip().map(drop),
            Kind::Array | Kind::Text | Kind::Number | Kind::True | Kind::False => {
                if self.container == Container::Absent {
                    self.container = Container::Misshapen;
                }
                reader.skip().map(drop)
            }
        }
    }

    /// `usage` of `OpenAI`'s chat and completions, and of servers after them.
    pub(crate) fn chat(&mut self, reader: &mut Reader<'a>, name: &str) -> Result<()> {
        match name {
            "prompt_tokens" => overlay(&mut self.input, reader),
            "completion_tokens" => overlay(&mut self.output, reader),
            "total_tokens" => overlay(&mut self.total, reader),
            "prompt_tokens_details" => self.input_details(reader),
            "completion_tokens_details" => self.output_details(reader),
            // DeepSeek; Together.
            "prompt_cache_hit_tokens" | "cached_tokens" => overlay(&mut self.cached_input, reader),
            _ => reader.skip().map(drop),
        }
    }

    /// `usage` of `OpenAI`'s responses.
    pub(crate) fn responses(&mut self, reader: &mut Reader<'a>, name: &str) -> Result<()> {
        match name {
            "input_tokens" => overlay(&mut self.input, reader),
            "output_tokens" => overlay(&mut self.output, reader),
            "total_tokens" => overlay(&mut self.total, reader),
            "input_tokens_details" => self.input_details(reader),
            "output_tokens_details" => self.output_details(reader),
            _ => reader.skip().map(drop),
        }
    }

    fn input_details(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        reader.members(|reader, name| match name {
            "cached_tokens" => overlay(&mut self.cached_input, reader),
            "cache_write_tokens" => overlay(&mut self.cache_write, reader),
            _ => reader.skip().map(drop),
        })
    }

    fn output_details(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        reader.members(|reader, name| match name {
            "reasoning_tokens" | "thinking_tokens" => overlay(&mut self.reasoning, reader),
            _ => reader.skip().map(drop),
        })
    }

    /// `usage` of Anthropic.
    pub(crate) fn messages(&mut self, reader: &mut Reader<'a>, name: &str) -> Result<()> {
        match name {
            "input_tokens" => overlay(&mut self.input, reader),
            "output_tokens" => overlay(&mut self.output, reader),
            "cache_read_input_tokens" => overlay(&mut self.cached_input, reader),
            "cache_creation_input_tokens" => overlay(&mut self.cache_write, reader),
            "output_tokens_details" => self.output_details(reader),
            _ => reader.skip().map(drop),
        }
    }

    /// `usageMetadata` of Gemini.
    pub(crate) fn gemini(&mut self, reader: &mut Reader<'a>, name: &str) -> Result<()> {
        match name {
            "promptTokenCount" => overlay(&mut self.input, reader),
            "candidatesTokenCount" => overlay(&mut self.output, reader),
            "thoughtsTokenCount" => overlay(&mut self.reasoning, reader),
            "cachedContentTokenCount" => overlay(&mut self.cached_input, reader),
            "toolUsePromptTokenCount" => overlay(&mut self.tool_input, reader),
            "totalTokenCount" => overlay(&mut self.total, reader),
            _ => reader.skip().map(drop),
        }
    }

    /// `usage` of Converse.
    pub(crate) fn converse(&mut self, reader: &mut Reader<'a>, name: &str) -> Result<()> {
        match name {
            "inputTokens" => overlay(&mut self.input, reader),
            "outputTokens" => overlay(&mut self.output, reader),
            "totalTokens" => overlay(&mut self.total, reader),
            "cacheReadInputTokens" | "cacheReadInputTokenCount" => {
                overlay(&mut self.cached_input, reader)
            }
            "cacheWriteInputTokens" | "cacheWriteInputTokenCount" => {
                overlay(&mut self.cache_write, reader)
            }
            _ => reader.skip().map(drop),
        }
    }

    /// `usage` and `meta` of Cohere. What is billed is another count and is left
    /// out.
    pub(crate) fn cohere(&mut self, reader: &mut Reader<'a>, name: &str) -> Result<()> {
        match name {
            "tokens" => reader.members(|reader, name| match name {
                "input_tokens" => overlay(&mut self.input, reader),
                "output_tokens" => overlay(&mut self.output, reader),
                _ => reader.skip().map(drop),
            }),
            "cached_tokens" => overlay(&mut self.cached_input, reader),
            _ => reader.skip().map(drop),
        }
    }

    /// The prompt's count where it stands beside the answer.
    pub(crate) fn take_input(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        self.container = Container::Present;
        overlay(&mut self.input, reader)
    }

    /// The answer's count where it stands beside the answer.
    pub(crate) fn take_output(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        self.container = Container::Present;
        overlay(&mut self.output, reader)
    }
}
