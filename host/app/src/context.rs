//! What every use case stands on: an open home, and what the world gives it.

use std::ffi::OsString;
use std::path::PathBuf;

use model::event::home::FORMAT;
use model::event::{Body, Event, Scope};
use model::id::LedgerId;
use model::name::Actor;
use model::time::{Clock, Timestamp};
use model::{AttemptId, CallId, EventId, TaskId};
use runtime::Sandbox;
use store::{Artifacts, Home, Ledger};

use crate::appending::Appender;
use crate::config::{Config, ConfigDefaults};
use crate::error::{AppError, Class};
use crate::fault::Faults;
use crate::module::{Catalog, Compiler};

/// What the world gives a use case. The command line makes one.
pub struct Context {
    /// The home.
    pub home: Home,
    /// Who acts: a name, not a proof of identity.
    pub actor: Actor,
    /// The present time.
    pub clock: Box<dyn Clock + Send + Sync>,
    /// This program, which compiles unknown modules as a child of itself.
    pub program: PathBuf,
    /// Finds a variable of the environment, such as one that holds a provider's key.
    pub variable: fn(&str) -> Option<OsString>,
    /// What happens at fault points.
    pub faults: Box<dyn Faults + Send + Sync>,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("home", &self.home)
            .field("actor", &self.actor)
            .finish_non_exhaustive()
    }
}

/// Makes the names and times of new events.
pub(crate) struct Stamp<'a> {
    clock: &'a (dyn Clock + Send + Sync),
    ledger: LedgerId,
    actor: Actor,
}

impl<'a> Stamp<'a> {
    pub(crate) fn new(context: &'a Context, ledger: LedgerId) -> Self {
        Self {
            clock: context.clock.as_ref(),
            ledger,
            actor: context.actor.clone(),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn event_id(&self) -> Result<EventId, AppError> {
        random().map(|random| EventId::new(self.now(), random))
    }

    pub(crate) fn call_id(&self) -> Result<CallId, AppError> {
        random().map(|random| CallId::new(self.now(), random))
    }

    pub(crate) fn attempt_id(&self) -> Result<AttemptId, AppError> {
        random().map(|random| AttemptId::new(self.now(), random))
    }

    pub(crate) fn task_id(&self) -> Result<TaskId, AppError> {
        random().map(|random| TaskId::new(self.now(), random))
    }

    /// Makes an event that happens now.
    pub(crate) fn event(
        &self,
        cause: Option<EventId>,
        scope: Scope,
        body: impl Into<Body>,
    ) -> Result<Event, AppError> {
        Ok(Event {
            ledger: self.ledger,
            id: self.event_id()?,
            at: self.now(),
            actor: self.actor.clone(),
            cause,
            scope,
            body: body.into(),
            sig: None,
        })
    }
}

pub(crate) fn random<const N: usize>() -> Result<[u8; N], AppError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| AppError::Random(error.to_string()))?;
    Ok(bytes)
}

/// An open home.
pub struct Session {
    pub(crate) context: Context,
    pub(crate) ledger: Ledger,
    pub(crate) ledger_id: LedgerId,
    pub(crate) artifacts: Artifacts,
    pub(crate) catalog: Catalog,
    pub(crate) swept: usize,
    pub(crate) notices: Vec<String>,
    sandbox: Option<Sandbox>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}

impl Session {
    /// Opens the home and sweeps what an interrupted put left behind.
    pub fn open(context: Context) -> Result<Self, AppError> {
        context.home.require()?;
        let ledger = Ledger::open(&context.home.ledger())?;
        let ledger_id = Self::check_format(&ledger)?;
        let catalog = Catalog::load(ledger.reader())?;
        Self::with(context, ledger, ledger_id, catalog)
    }

    /// Opens a home to look for damage. Events that opening rests on may be damaged
    /// themselves: then the ledger's id is taken from the first event that can be
    /// believed, and no module is known.
    pub fn open_damaged(context: Context) -> Result<Self, AppError> {
        context.home.require()?;
        let ledger = Ledger::open(&context.home.ledger())?;
        let ledger_id = match Self::check_format(&ledger) {
            Err(error) if error.class() == Class::Damage => {
                Self::first_believed(&ledger)?.ok_or(error)?
            }
            other => other?,
        };
        let catalog = match Catalog::load(ledger.reader()) {
            Err(error) if error.class() == Class::Damage => Catalog::default(),
            other => other?,
        };
        Self::with(context, ledger, ledger_id, catalog)
    }

    fn with(
        context: Context,
        ledger: Ledger,
        ledger_id: LedgerId,
        catalog: Catalog,
    ) -> Result<Self, AppError> {
        let (artifacts, swept) = Artifacts::open(context.home.artifacts())?;
        Ok(Self {
            context,
            ledger,
            ledger_id,
            artifacts,
            catalog,
            swept,
            notices: Vec::new(),
            sandbox: None,
        })
    }

    fn first_believed(ledger: &Ledger) -> Result<Option<LedgerId>, AppError> {
        let reader = ledger.reader();
        let mut believed = (1..=reader.last_seq()?).filter_map(|seq| reader.at(seq).ok().flatten());
        Ok(believed.next().map(|placed| placed.event.ledger))
    }

    fn check_format(ledger: &Ledger) -> Result<LedgerId, AppError> {
        let first = ledger
            .reader()
            .at(1)?
            .ok_or_else(|| AppError::Damage("the ledger holds no event 1".to_owned()))?;
        let kind = first.event.kind().as_str();
        let Body::HomeCreated(body) = first.event.body else {
            return Err(AppError::Damage(format!(
                "event 1: expected home.created, found {kind}"
            )));
        };
        if body.format != FORMAT {
            return Err(AppError::Format {
                expected: FORMAT,
                found: body.format,
            });
        }
        Ok(first.event.ledger)
    }

    /// Returns what runs when nothing else is named. Whoever names everything, or
    /// only looks, needs no configuration.
    pub(crate) fn defaults(&self) -> Result<ConfigDefaults, AppError> {
        Config::load(&self.context.home).map(|config| config.defaults)
    }

    pub(crate) fn stamp(&self) -> Stamp<'_> {
        Stamp::new(&self.context, self.ledger_id)
    }

    /// Returns what decided events are appended with.
    pub(crate) fn appender(&mut self) -> Appender<'_> {
        Appender {
            stamp: Stamp::new(&self.context, self.ledger_id),
            faults: self.context.faults.as_ref(),
            ledger: &mut self.ledger,
        }
    }

    /// Returns the sandbox, made when it is first needed.
    pub(crate) fn sandbox(&mut self) -> Result<&Sandbox, AppError> {
        if self.sandbox.is_none() {
            self.sandbox = Some(crate::module::sandbox()?);
        }
        self.sandbox
            .as_ref()
            .ok_or_else(|| AppError::Engine("the engine is gone".to_owned()))
    }

    pub(crate) fn compiler(&self) -> Compiler<'_> {
        Compiler {
            home: &self.context.home,
            program: &self.context.program,
        }
    }

    /// Returns what people should know although nothing failed, once.
    pub fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// Returns the home.
    pub const fn home(&self) -> &Home {
        &self.context.home
    }

    /// Returns the ledger's id.
    pub const fn ledger_id(&self) -> LedgerId {
        self.ledger_id
    }
}
