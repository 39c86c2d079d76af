//! `doctor`: is this home fit for work?

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::Serialize;
use store::artifacts::Found;

use crate::config::Config;
use crate::context::Session;
use crate::error::AppError;
use crate::progress::Silent;
use crate::record::{self, Unfit};
use crate::verify::VerifyOptions;

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// As it should be.
    Ok,
    /// Worth knowing.
    Note,
    /// To be mended.
    Problem,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at.
    pub check: &'static str,
    /// How it ended.
    pub health: Health,
    /// What was found.
    pub detail: String,
}

impl Session {
    /// Looks at everything that work depends on. It changes nothing but caches.
    pub fn doctor(&mut self) -> Result<Vec<Check>, AppError> {
        let mut checks = vec![
            ok("home", format!("{}", self.context.home.folder().display())),
            ok(
                "ledger",
                format!("{} events", self.ledger.reader().last_seq()?),
            ),
            match self.log_verifier() {
                Ok(key) => ok("log key", key.to_string()),
                Err(error) => problem("log key", error.to_string()),
            },
        ];
        checks.push(self.temporary_files());
        checks.push(self.permissions()?);
        checks.push(self.modules_check());
        checks.push(self.defaults_check());
        checks.extend(self.providers_check());
        let mut findings = Vec::new();
        let verified = self.verify(&VerifyOptions::default(), &mut Silent, &mut |finding| {
            findings.push(finding);
            Ok(())
        })?;
        checks.push(orphans(verified.orphans));
        checks.push(match findings.first() {
            None => ok(
                "verify",
                format!("{} events, root {}", verified.events, verified.root),
            ),
            Some(first) => problem(
                "verify",
                format!(
                    "{} findings, the first: {}: {}; run verify to see all",
                    findings.len(),
                    first.object,
                    first.detail
                ),
            ),
        });
        Ok(checks)
    }

    fn temporary_files(&self) -> Check {
        if self.swept == 0 {
            return ok("temporary files", "none".to_owned());
        }
        let detail = format!("{} removed: an interrupted put left them", self.swept);
        Check {
            check: "temporary files",
            health: Health::Note,
            detail,
        }
    }

    /// Files of a home are the owner's alone.
    fn permissions(&self) -> Result<Check, AppError> {
        let home = &self.context.home;
        let mut open = Vec::new();
        let fixed = [
            home.folder().to_owned(),
            home.ledger(),
            home.config(),
            home.keys(),
            home.cache(),
            home.artifacts(),
        ];
        for path in fixed {
            note_open(&path, &mut open)?;
        }
        for found in self.artifacts.list()? {
            match found {
                Found::Artifact(digest) => note_open(&self.artifacts.path(digest), &mut open)?,
                Found::Stray(path) => note_open(&path, &mut open)?,
            }
        }
        Ok(match open.first() {
            None => ok("permissions", "owner only".to_owned()),
            Some(first) => problem(
                "permissions",
                format!(
                    "{} paths are open to others, the first: {first}; run chmod -R go= on the home",
                    open.len()
                ),
            ),
        })
    }

    /// Every registered module can be loaded; stale compiled code is made again.
    fn modules_check(&mut self) -> Check {
        let modules: Vec<_> = self.catalog.all().map(|one| one.module.clone()).collect();
        let count = modules.len();
        for module in modules {
            if let Err(error) = self.load_any(&module) {
                return problem("modules", error.to_string());
            }
        }
        let notices = self.take_notices();
        match notices.first() {
            None => ok("modules", format!("{count} registered, all loadable")),
            Some(first) => Check {
                check: "modules",
                health: Health::Note,
                detail: first.clone(),
            },
        }
    }

    fn defaults_check(&self) -> Check {
        let defaults = match self.defaults() {
            Ok(defaults) => defaults,
            Err(error) => return problem("defaults", error.to_string()),
        };
        for label in [&defaults.interpreter, &defaults.policy] {
            if self.catalog.find(label.as_str()).is_err() {
                let detail = format!("config.toml names {label}, which is not registered");
                return problem("defaults", detail);
            }
        }
        ok(
            "defaults",
            format!("{} and {}", defaults.interpreter, defaults.policy),
        )
    }
}

impl Session {
    /// Every provider of the configuration could be asked. A key that is not in this
    /// environment is no fault of the home.
    fn providers_check(&self) -> Vec<Check> {
        // A configuration that cannot be read is told beside the defaults.
        let Ok(config) = Config::load(&self.context.home) else {
            return Vec::new();
        };
        let checked = config.providers.iter().map(|(name, provider)| {
            let (health, detail) = match record::fitness(&self.context, name, provider) {
                Ok(url) => (Health::Ok, url),
                Err(Unfit::Key(detail)) => (Health::Note, detail),
                Err(Unfit::Configuration(detail)) => (Health::Problem, detail),
            };
            Check {
                check: "provider",
                health,
                detail: format!("{name}: {detail}"),
            }
        });
        checked.collect()
    }
}

fn ok(check: &'static str, detail: String) -> Check {
    Check {
        check,
        health: Health::Ok,
        detail,
    }
}

fn problem(check: &'static str, detail: String) -> Check {
    Check {
        check,
        health: Health::Problem,
        detail,
    }
}

/// A crash between an artifact and its event leaves the artifact; that is no damage.
fn orphans(count: u64) -> Check {
    if count == 0 {
        return ok("orphans", "every artifact is named by an event".to_owned());
    }
    let detail = format!(
        "{count} artifacts that no event names: stored outputs, or what a crash left before its \
         event; they do no harm"
    );
    Check {
        check: "orphans",
        health: Health::Note,
        detail,
    }
}

fn note_open(path: &Path, open: &mut Vec<String>) -> Result<(), AppError> {
    const OTHERS: u32 = 0o077;
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.mode() & OTHERS != 0 => open.push(path.display().to_string()),
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(source) => {
            return Err(AppError::File {
                path: path.to_owned(),
                source,
            });
        }
    }
    Ok(())
}
