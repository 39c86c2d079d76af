//! Which labels supersede which, so that nobody steps back in silence.

use std::collections::{BTreeMap, BTreeSet};

use super::adopted::Pair;
use crate::event::module::ModuleRegistered;
use crate::name::Label;

/// The declared order of labels, followed through any number of steps.
#[derive(Debug, Clone, Default)]
pub struct Supersession {
    direct: BTreeMap<Label, Vec<Label>>,
}

impl Supersession {
    /// Collects what the registered modules declare.
    pub fn of<'a>(modules: impl IntoIterator<Item = &'a ModuleRegistered>) -> Self {
        let direct = modules
            .into_iter()
            .map(|module| (module.module.label.clone(), module.supersedes.clone()))
            .collect();
        Self { direct }
    }

    /// Returns whether `newer` supersedes `older`, directly or through others.
    pub fn supersedes(&self, newer: &Label, older: &Label) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![newer];
        while let Some(label) = open.pop() {
            for next in self.direct.get(label).into_iter().flatten() {
                if next == older {
                    return true;
                }
                // A circle of declarations must not keep us here.
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        false
    }

    /// Returns the older and the newer label when adopting `wanted` after
    /// `adopted` would be a step back.
    pub fn step_back<'a>(&self, adopted: &'a Pair, wanted: &'a Pair) -> Option<StepBack<'a>> {
        [
            (&adopted.interpreter.label, &wanted.interpreter.label),
            (&adopted.policy.label, &wanted.policy.label),
        ]
        .into_iter()
        .find(|(newer, older)| self.supersedes(newer, older))
        .map(|(newer, older)| StepBack { newer, older })
    }
}

/// An older module is wanted where a newer one is adopted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepBack<'a> {
    /// The label that is adopted.
    pub newer: &'a Label,
    /// The label that is wanted, which the adopted one supersedes.
    pub older: &'a Label,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;
    use crate::name::Mod;

    fn label(text: &str) -> Label {
        text.parse().unwrap()
    }

    fn module(name: &str, supersedes: &[&str]) -> ModuleRegistered {
        ModuleRegistered {
            module: Mod {
                label: label(name),
                sha256: Digest::of(name.as_bytes()),
            },
            world: "interpreter".into(),
            length: 1,
            summary: String::new(),
            dialects: Vec::new(),
            vocabulary: Some(1),
            accepts_vocabulary: Vec::new(),
            supersedes: supersedes.iter().map(|text| label(text)).collect(),
            source: "added".into(),
        }
    }

    #[test]
    fn supersession_follows_any_number_of_steps_and_survives_a_circle() {
        let modules = [
            module("c", &["b"]),
            module("b", &["a"]),
            module("a", &["c"]),
        ];
        let order = Supersession::of(&modules);
        assert!(order.supersedes(&label("c"), &label("a")));
        assert!(
            order.supersedes(&label("a"), &label("b")),
            "the circle was declared"
        );
        assert!(!order.supersedes(&label("c"), &label("d")));
    }

    #[test]
    fn a_step_back_of_either_half_of_the_pair_is_named() {
        let modules = [module("i2", &["i1"]), module("p2", &["p1"])];
        let order = Supersession::of(&modules);
        let pair = |interpreter: &str, policy: &str| Pair {
            interpreter: Mod {
                label: label(interpreter),
                sha256: Digest::of(b"i"),
            },
            policy: Mod {
                label: label(policy),
                sha256: Digest::of(b"p"),
            },
            interpreter_config: None,
            policy_config: None,
        };
        let (newer, older) = (pair("i2", "p2"), pair("i1", "p2"));
        let step = order.step_back(&newer, &older).unwrap();
        assert_eq!((step.newer, step.older), (&label("i2"), &label("i1")));
        let older = pair("i2", "p1");
        let step = order.step_back(&newer, &older).unwrap();
        assert_eq!((step.newer, step.older), (&label("p2"), &label("p1")));
        assert_eq!(order.step_back(&older, &newer), None);
        assert_eq!(order.step_back(&newer, &pair("other", "p2")), None);
    }
}
