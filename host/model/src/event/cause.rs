//! Which kinds of events may cause which.

use super::{Body, Kind, Placed};

impl Kind {
    /// Returns the kinds of which one causes an event of this kind; none for kinds that
    /// nothing causes.
    pub const fn causes(self) -> &'static [Self] {
        match self {
            Self::HomeCreated
            | Self::HomePreregistered
            | Self::HomeErased
            | Self::ModuleRegistered
            | Self::TaskCreated
            | Self::ArtifactDerived => &[],
            Self::ModuleRetired => &[Self::ModuleRegistered],
            Self::CallRequested
            | Self::CallImported
            | Self::CheckRequested
            | Self::TaskAcceptanceRejected => &[Self::TaskCreated],
            Self::CallManifest
            | Self::CallPreparationFailed
            | Self::CallResumed
            | Self::CallReplayed => &[Self::CallRequested],
            Self::AttemptStarted => &[Self::CallManifest],
            Self::AttemptObserved => &[Self::AttemptStarted, Self::CallImported],
            Self::AttemptInterpreted => &[Self::AttemptObserved],
            Self::AttemptRetryDecided | Self::CostComputed => &[Self::AttemptInterpreted],
            Self::AttemptCompleted | Self::CallStatusDecided => &[Self::AttemptRetryDecided],
            Self::CallCompleted => &[Self::CallStatusDecided],
            Self::CallReinterpreted => &[
                Self::CallStatusDecided,
                Self::CallReinterpreted,
                Self::AttemptObserved,
            ],
            Self::CheckCompleted => &[Self::CheckRequested],
            Self::TaskAccepted => &[Self::CheckCompleted],
            Self::TaskCompleted => &[Self::TaskAccepted],
        }
    }

    /// Returns whether an event of this kind may stand without a cause.
    pub const fn may_have_no_cause(self) -> bool {
        self.causes().is_empty() || matches!(self, Self::CallRequested | Self::CallImported)
    }
}

impl Placed {
    /// Returns what contradicts the event that is its cause, in words.
    pub fn contradicts(&self, cause: &Self) -> Option<String> {
        let (kind, caused_by) = (self.event.kind(), cause.event.kind());
        if !kind.causes().contains(&caused_by) {
            let name = kind.as_str();
            return Some(format!("{name} is caused by {}", caused_by.as_str()));
        }
        // What a cause is about, its effect is about too.
        let (own, of_cause) = (self.event.scope, cause.event.scope);
        let same_call = of_cause.call.is_none() || own.call == of_cause.call;
        if !same_call || own.task != of_cause.task {
            return Some("it is about another call or task than its cause".to_owned());
        }
        if own.attempt.is_some() && of_cause.attempt.is_some() && own.attempt != of_cause.attempt {
            return Some("it is about another attempt than its cause".to_owned());
        }
        let (Body::CallCompleted(completed), Body::CallStatusDecided(decided)) =
            (&self.event.body, &cause.event.body)
        else {
            return None;
        };
        let basis = decided.interpretations.last().copied();
        (completed.status != decided.status || completed.decision_basis != basis)
            .then(|| "its status or basis is not the one decided".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_but_the_first_ones_goes_back_to_one_without_a_cause() {
        for kind in Kind::ALL.iter().copied() {
            let mut seen = vec![kind];
            let mut open = vec![kind];
            while let Some(next) = open.pop() {
                for cause in next.causes() {
                    if !seen.contains(cause) {
                        seen.push(*cause);
                        open.push(*cause);
                    }
                }
            }
            assert!(
                seen.iter().any(|one| one.may_have_no_cause()),
                "{}",
                kind.as_str()
            );
        }
    }
}
