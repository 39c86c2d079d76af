//! Changes of state that a run is to fail on, such as `complete->*`.

use std::fmt;
use std::str::FromStr;

use model::reading::GenerationState;

/// The states in the order of the format.
const STATES: [GenerationState; 10] = [
    GenerationState::Complete,
    GenerationState::ToolCall,
    GenerationState::Truncated,
    GenerationState::Refused,
    GenerationState::Filtered,
    GenerationState::Empty,
    GenerationState::Paused,
    GenerationState::Pending,
    GenerationState::Error,
    GenerationState::Unknown,
];

/// A change from a state, or from any, to a state, or to any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    from: Option<GenerationState>,
    to: Option<GenerationState>,
}

impl Change {
    /// Returns whether this is such a change. A state that stays is none.
    pub fn fits(self, from: GenerationState, to: GenerationState) -> bool {
        from != to
            && self.from.is_none_or(|wanted| wanted == from)
            && self.to.is_none_or(|wanted| wanted == to)
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |state: Option<GenerationState>| state.map_or("*", GenerationState::as_str);
        write!(f, "{}->{}", name(self.from), name(self.to))
    }
}

impl FromStr for Change {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((from, to)) = text.split_once("->") else {
            return Err("expected FROM->TO, such as complete->*".to_owned());
        };
        Ok(Self {
            from: state(from)?,
            to: state(to)?,
        })
    }
}

fn state(name: &str) -> Result<Option<GenerationState>, String> {
    let name = name.trim();
    if name == "*" {
        return Ok(None);
    }
    let found = STATES.into_iter().find(|state| state.as_str() == name);
    found.map(Some).ok_or_else(|| {
        let known: Vec<_> = STATES.iter().map(|state| state.as_str()).collect();
        format!("state {name:?}: expected * or one of {}", known.join(", "))
    })
}
