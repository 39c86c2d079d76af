//! Modules: which ones are registered, and how their bytes become something that
//! can be run. A module is its hash; a label is a name bound to one hash.

mod compile;
mod pricing;
mod released;
mod rules;

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;

use model::Digest;
use model::bounds::BODY_BYTES_MAX;
use model::event::module::ModuleRegistered;
use model::event::{Body, Kind, Scope};
use model::name::{Label, Mod};
use model::projection::Supersession;
use model::projection::index::UniqueKey;
use runtime::{Limits, Sandbox, World};
use serde::Serialize;
use store::{LedgerError, Reader};

pub use compile::compile_child;
pub(crate) use compile::{Compiler, create_cache_key};
pub(crate) use pricing::LoadedPricing;
pub use released::{DEFAULT_INTERPRETER, DEFAULT_POLICY, RELEASED, ReleasedModule};
pub use rules::RuleNames;
pub(crate) use rules::{LoadedAcceptance, LoadedCheck, LoadedInterpreter, LoadedPolicy, Rules};

use crate::context::Session;
use crate::error::{AppError, ModuleFailure};
use crate::files;

/// Makes the sandbox with the one profile of this version.
pub(crate) fn sandbox() -> Result<Sandbox, AppError> {
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let at_once = NonZeroU32::try_from(threads).unwrap_or(NonZeroU32::MIN);
    Sandbox::new(Limits::P1, at_once).map_err(|error| AppError::Engine(error.to_string()))
}

/// Parses a label.
pub(crate) fn label(text: &str) -> Result<Label, AppError> {
    text.parse()
        .map_err(|error: model::name::LabelError| AppError::Usage(error.to_string()))
}

/// The registered modules of a home.
#[derive(Debug, Clone, Default)]
pub(crate) struct Catalog {
    by_label: BTreeMap<Label, ModuleRegistered>,
}

impl Catalog {
    pub(crate) fn load(reader: Reader<'_>) -> Result<Self, AppError> {
        let by_label = reader
            .of_kind(Kind::ModuleRegistered)?
            .into_iter()
            .filter_map(|placed| {
                let Body::ModuleRegistered(body) = placed.event.body else {
                    return None;
                };
                Some((body.module.label.clone(), body))
            })
            .collect();
        Ok(Self { by_label })
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &ModuleRegistered> {
        self.by_label.values()
    }

    /// Finds a module by its label or its hash.
    pub(crate) fn find(&self, name: &str) -> Result<&ModuleRegistered, AppError> {
        let found = match name.parse::<Digest>() {
            Ok(digest) => self.all().find(|module| module.module.sha256 == digest),
            Err(_) => self
                .all()
                .find(|module| module.module.label.as_str() == name),
        };
        found.ok_or_else(|| AppError::Unknown {
            what: "module",
            name: name.to_owned(),
        })
    }

    pub(crate) fn supersession(&self) -> Supersession {
        Supersession::of(self.all())
    }
}

/// A registered module, as `module list` and `module show` give it.
#[derive(Debug, Clone, Serialize)]
pub struct ModuleView {
    /// What is registered.
    #[serde(flatten)]
    pub registered: ModuleRegistered,
    /// Whether the bytes are there and hash to their name.
    pub bytes: &'static str,
}

/// What the bytes of a module turned out to be.
#[derive(Debug, Clone, Serialize)]
pub struct ModuleDetail {
    /// What is registered.
    #[serde(flatten)]
    pub view: ModuleView,
    /// The contract version, as the export's name gives it.
    pub contract: String,
    /// What it imports: always nothing.
    pub imports: Vec<String>,
    /// Readings, decisions or costs that name it.
    pub records: u64,
}

/// What `module add` did.
#[derive(Debug, Clone, Serialize)]
pub struct Added {
    /// The module.
    pub module: Mod,
    /// Its world.
    pub world: String,
    /// How many events were appended: 0 when it was registered before.
    pub appended: u64,
}

impl Session {
    /// Lists the registered modules.
    pub fn modules(&self) -> Vec<ModuleView> {
        self.catalog.all().map(|module| self.view(module)).collect()
    }

    /// Shows one module, by label or hash.
    pub fn module(&self, name: &str) -> Result<ModuleDetail, AppError> {
        let registered = self.catalog.find(name)?;
        let bytes = self.module_bytes(&registered.module)?;
        let scan = scan(registered.module.label.as_str(), &bytes)?;
        // The registration itself names the module too.
        let named = self
            .ledger
            .reader()
            .count_by_module(registered.module.sha256)?;
        Ok(ModuleDetail {
            view: self.view(registered),
            contract: scan.contract.to_string(),
            imports: Vec::new(),
            records: named.saturating_sub(1),
        })
    }

    fn view(&self, module: &ModuleRegistered) -> ModuleView {
        let bytes = match self.artifacts.check(module.module.sha256) {
            Ok(_) => "present",
            Err(store::ArtifactError::Missing(_)) => "missing",
            Err(_) => "corrupt",
        };
        ModuleView {
            registered: module.clone(),
            bytes,
        }
    }

    /// Returns the verified bytes of a module.
    pub(crate) fn module_bytes(&self, module: &Mod) -> Result<Vec<u8>, AppError> {
        match self.artifacts.get(module.sha256) {
            Ok(bytes) => Ok(bytes.as_slice().to_vec()),
            Err(source) => Err(AppError::ModuleUnavailable {
                module: module.clone(),
                source,
            }),
        }
    }

    /// Validates a component and binds its label to it.
    pub fn add_module(&mut self, path: &Path) -> Result<Added, AppError> {
        let bytes = files::read(path, BODY_BYTES_MAX)?;
        let name = path.display().to_string();
        scan(&name, &bytes)?;
        let sha256 = Digest::of(&bytes);
        let (compiled, notice) = self.compiler().load(&name, sha256, &bytes)?;
        self.notices.extend(notice);
        let body = describe(self.sandbox()?, &name, &bytes, &compiled)?;
        let added = |appended| Added {
            module: body.module.clone(),
            world: body.world.clone(),
            appended,
        };
        if let Some(bound) = self.bound(&body.module)? {
            return self.rebind(&body.module, bound).map(|()| added(0));
        }
        self.artifacts.put(&bytes)?;
        let event = self.stamp().event(None, Scope::default(), body.clone())?;
        let mut writer = self.ledger.writer()?;
        match writer.append(&event) {
            Ok(_) => crate::projecting::commit(writer)?,
            // Another process bound the label between the two looks.
            Err(LedgerError::Duplicate { .. }) => {
                drop(writer);
                if let Some(bound) = self.bound(&body.module)? {
                    return self.rebind(&body.module, bound).map(|()| added(0));
                }
                return Err(AppError::Damage(
                    "a label's key is taken by no label".to_owned(),
                ));
            }
            Err(error) => return Err(error.into()),
        }
        self.catalog = Catalog::load(self.ledger.reader())?;
        Ok(added(1))
    }

    fn bound(&self, module: &Mod) -> Result<Option<Digest>, AppError> {
        let found = self
            .ledger
            .reader()
            .by_key(&UniqueKey::Label(module.label.as_str()))?;
        Ok(found.and_then(|placed| {
            let Body::ModuleRegistered(body) = placed.event.body else {
                return None;
            };
            Some(body.module.sha256)
        }))
    }

    /// A second binding to the same bytes changes nothing; to others it is refused.
    fn rebind(&self, module: &Mod, bound: Digest) -> Result<(), AppError> {
        if bound == module.sha256 {
            return self.module_bytes(module).map(drop);
        }
        let (label, found) = (module.label.clone(), module.sha256);
        Err(AppError::LabelBound {
            label,
            bound,
            found,
        })
    }
}

/// Checks a component's structure before anything of it is compiled.
fn scan(name: &str, bytes: &[u8]) -> Result<runtime::Scan, AppError> {
    runtime::scan(bytes, &Limits::P1).map_err(|source| {
        Box::new(ModuleFailure::Invalid {
            name: name.to_owned(),
            source,
        })
        .into()
    })
}

fn unloadable(name: &str, source: runtime::LoadError) -> AppError {
    Box::new(ModuleFailure::Load {
        name: name.to_owned(),
        source,
    })
    .into()
}

/// Asks a module what it says of itself.
fn describe(
    sandbox: &Sandbox,
    name: &str,
    bytes: &[u8],
    compiled: &runtime::Compiled,
) -> Result<ModuleRegistered, AppError> {
    let sha256 = compiled.module();
    let world = compiled.contract().world();
    let common = |label: &Label, summary: &str, supersedes: &[Label]| ModuleRegistered {
        module: Mod {
            label: label.clone(),
            sha256,
        },
        world: world.to_string(),
        length: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        summary: summary.to_owned(),
        dialects: Vec::new(),
        vocabulary: None,
        accepts_vocabulary: Vec::new(),
        supersedes: supersedes.to_vec(),
        source: released::source_of(sha256).to_owned(),
    };
    match world {
        World::Interpreter => {
            let module = sandbox
                .interpreter(compiled)
                .map_err(|error| unloadable(name, error))?;
            let info = module.info();
            Ok(ModuleRegistered {
                dialects: info.dialects.clone(),
                vocabulary: Some(info.vocabulary),
                ..common(&info.label, &info.summary, &info.supersedes)
            })
        }
        World::Policy => {
            let module = sandbox
                .policy(compiled)
                .map_err(|error| unloadable(name, error))?;
            let info = module.info();
            Ok(ModuleRegistered {
                accepts_vocabulary: info.accepts_vocabulary.clone(),
                ..common(&info.label, &info.summary, &info.supersedes)
            })
        }
        World::Acceptance => {
            let module = sandbox
                .acceptance(compiled)
                .map_err(|error| unloadable(name, error))?;
            let info = module.info();
            Ok(common(&info.label, &info.summary, &info.supersedes))
        }
        World::Pricing => {
            let module = sandbox
                .pricing(compiled)
                .map_err(|error| unloadable(name, error))?;
            let info = module.info();
            Ok(common(&info.label, &info.summary, &info.supersedes))
        }
        World::Check => {
            let module = sandbox
                .check(compiled)
                .map_err(|error| unloadable(name, error))?;
            let info = module.info();
            Ok(common(&info.label, &info.summary, &info.supersedes))
        }
    }
}
