//! `init`: a new home with the released modules in it.

use model::event::Scope;
use model::event::home::{Defaults, FORMAT, HomeCreated, Program};
use model::id::LedgerId;
use model::name::Mod;
use serde::Serialize;
use store::{Artifacts, Ledger};

use crate::checkpoint::LogKey;
use crate::config::Config;
use crate::context::{Context, Stamp, random};
use crate::error::AppError;
use crate::module::{self, Compiler, RELEASED};

/// What `init` made.
#[derive(Debug, Clone, Serialize)]
pub struct Created {
    /// The folder.
    pub home: String,
    /// The ledger's id.
    pub ledger: LedgerId,
    /// The key that checkpoints are signed with, for those who verify them.
    pub log_key: String,
    /// What was registered.
    pub modules: Vec<Mod>,
}

/// Creates a home in a missing or an empty folder: whole, or not at all.
pub fn init(context: &Context, program: Program) -> Result<Created, AppError> {
    context.home.create_folders()?;
    fill(context, program).inspect_err(|_error| context.home.remove_unfinished())
}

fn fill(context: &Context, program: Program) -> Result<Created, AppError> {
    let home = &context.home;
    let (artifacts, _) = Artifacts::open(home.artifacts())?;
    let bytes: Vec<_> = RELEASED.iter().map(|module| module.bytes).collect();
    artifacts.put_all(&bytes)?;
    let defaults = Defaults {
        interpreter: module::label(module::DEFAULT_INTERPRETER)?,
        policy: module::label(module::DEFAULT_POLICY)?,
    };
    home.write_file(&home.config(), Config::text(&defaults).as_bytes())?;
    let log_key = LogKey::create(home)?;
    module::create_cache_key(home)?;
    let ledger_id = LedgerId::new(context.clock.now(), random()?);
    let stamp = Stamp::new(context, ledger_id);
    let sandbox = module::sandbox()?;
    let compiler = Compiler {
        home,
        program: &context.program,
    };
    let registered: Vec<_> = RELEASED
        .iter()
        .map(|released| released.registration(&sandbox, compiler))
        .collect::<Result<_, AppError>>()?;
    let modules = registered.iter().map(|body| body.module.clone()).collect();
    // The ledger comes last and whole: a folder without one is not a home.
    Ledger::create::<AppError>(&home.ledger(), |writer| {
        let created = HomeCreated {
            format: FORMAT.to_owned(),
            program,
            defaults,
        };
        writer.append(&stamp.event(None, Scope::default(), created)?)?;
        for body in registered {
            writer.append(&stamp.event(None, Scope::default(), body)?)?;
        }
        Ok(())
    })?;
    Ok(Created {
        home: home.folder().display().to_string(),
        ledger: ledger_id,
        log_key: log_key.verifier(ledger_id),
        modules,
    })
}
