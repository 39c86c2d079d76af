//! A home for tests of the use cases, without the command line.

use std::path::{Path, PathBuf};

use app::{Context, Home};
use model::Timestamp;
use model::event::home::Program;
use model::time::Clock;

/// A clock that stands still.
#[derive(Debug)]
pub(crate) struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(1_790_000_000_000)
    }
}

/// What a use case stands on.
pub(crate) fn context(home: &Path) -> Context {
    Context {
        home: Home::at(home),
        actor: "operator".parse().unwrap(),
        clock: Box::new(Fixed),
        program: PathBuf::from("none"),
        variable: |_| None,
        faults: Box::new(app::fault::NoFaults),
    }
}

/// Makes a home with the released modules.
pub(crate) fn init(home: &Path) {
    let program = Program {
        version: "0.0.0".to_owned(),
        commit: None,
        dirty: None,
    };
    app::init::init(&context(home), program).unwrap();
}
