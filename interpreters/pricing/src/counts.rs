//! What may be believed of the counts.

use crate::Usage;

/// Words that leave a count as it is.
const HARMLESS: [&str; 3] = [
    "null_value",
    "not_reported_with_reasoning_content",
    "reasoning_added_as_total_tells",
];

/// Reasoning is there and is counted as none: its share of the output is not known.
pub(crate) const ZERO_WITH_REASONING: &str = "zero_with_reasoning_content";

/// The cache reads or writes that are not reported stand beside what is counted as
/// input.
const CACHE_BESIDE: (&str, &str) = ("input", "lower_bound:cache_not_reported");

/// The part of the output that is not reported stands beside what is counted.
const PART_BESIDE: (&str, &str) = ("output", "lower_bound:part_not_reported");

/// What an interpreter calls the contradictions that counts can have.
const EXCEED_INPUT: (&str, &str) = ("cached_input", "cache_components_exceed_input");
const EXCEED_OUTPUT: (&str, &str) = ("reasoning", "reasoning_exceeds_output");
const TOTAL_DIFFERS: (&str, &str) = ("total", "reported_total_differs_from_derived");

/// One side of the counts: the input with its parts, or the output with its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Every count is what it says.
    Sound,
    /// The whole is at least what is counted; its parts are what they say.
    AtLeast,
    /// Nothing can be concluded from them, not even a lower bound.
    Contradictory,
}

impl Usage<'_> {
    /// Returns whether nothing at all is counted.
    pub(crate) fn is_empty(&self) -> bool {
        let counts = [
            self.input,
            self.output,
            self.cached_input,
            self.cache_write,
            self.reasoning,
            self.total,
        ];
        counts.iter().all(Option::is_none)
    }

    /// Returns what speaks against the counts: what the interpreter says, then the
    /// contradictions that it does not name.
    pub(crate) fn doubts(&self) -> impl Iterator<Item = (&str, &str)> {
        let said = self.diagnostics.iter().copied();
        let said =
            said.filter(|(_, word)| !HARMLESS.contains(word) && *word != ZERO_WITH_REASONING);
        let found = [
            (self.cache_exceeds_input(), EXCEED_INPUT),
            (self.reasoning_exceeds_output(), EXCEED_OUTPUT),
            (self.total_differs(), TOTAL_DIFFERS),
        ];
        let found = found.into_iter().filter(|(is, _)| *is);
        said.chain(found.map(|(_, doubt)| doubt))
    }

    /// Returns whether a component is doubted.
    pub(crate) fn is_doubted(&self, component: &str) -> bool {
        self.doubts().any(|(name, _)| name == component)
    }

    /// Returns how far the input and its parts can be believed.
    pub(crate) fn input_trust(&self) -> Trust {
        if self.cache_exceeds_input() {
            return Trust::Contradictory;
        }
        let parts = [
            ("cached_input", self.cached_input),
            ("cache_write", self.cache_write),
        ];
        self.trust(("input", self.input), &parts)
    }

    /// Returns how far the output and its part can be believed.
    pub(crate) fn output_trust(&self) -> Trust {
        let parts = [("reasoning", self.reasoning)];
        self.trust(("output", self.output), &parts)
    }

    /// A count that is doubted and not there says nothing wrong. Only of the whole
    /// does a count that is too small leave a bound: more of a part may cost less.
    fn trust(&self, whole: (&str, Option<u64>), parts: &[(&str, Option<u64>)]) -> Trust {
        let mut trust = Trust::Sound;
        for (name, word) in self.doubts() {
            let counted =
                |(component, count): &(&str, Option<u64>)| *component == name && count.is_some();
            if parts.iter().any(counted) {
                return Trust::Contradictory;
            }
            if counted(&whole) {
                if !word.starts_with("lower_bound:") {
                    return Trust::Contradictory;
                }
                trust = Trust::AtLeast;
            }
        }
        trust
    }

    pub(crate) fn cache_is_beside(&self) -> bool {
        self.diagnostics.contains(&CACHE_BESIDE)
    }

    pub(crate) fn part_is_beside(&self) -> bool {
        self.diagnostics.contains(&PART_BESIDE)
    }

    pub(crate) fn reasoning_is_zero_and_there(&self) -> bool {
        let mut words = self.diagnostics.iter();
        words.any(|(_, word)| *word == ZERO_WITH_REASONING)
    }

    fn cache_exceeds_input(&self) -> bool {
        let parts =
            u128::from(self.cached_input.unwrap_or(0)) + u128::from(self.cache_write.unwrap_or(0));
        self.input.is_some_and(|input| parts > u128::from(input))
    }

    fn reasoning_exceeds_output(&self) -> bool {
        let reasoning = self.reasoning.unwrap_or(0);
        self.output.is_some_and(|output| reasoning > output)
    }

    fn total_differs(&self) -> bool {
        self.derived_total()
            .zip(self.total)
            .is_some_and(|(derived, total)| derived != u128::from(total))
    }

    /// Returns the reported total where it is less than its parts.
    pub(crate) fn smaller_total(&self) -> Option<u64> {
        let total = self.total?;
        (u128::from(total) < self.derived_total()?).then_some(total)
    }

    fn derived_total(&self) -> Option<u128> {
        Some(u128::from(self.input?) + u128::from(self.output?))
    }
}
