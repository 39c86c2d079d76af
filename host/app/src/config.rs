//! `config.toml`: what runs when nothing else is named.

use std::io;

use model::event::home::Defaults;
use model::name::Label;
use serde::Deserialize;
use store::Home;

use crate::error::AppError;
use crate::files;

/// A configuration that people write, in bytes.
const CONFIG_BYTES_MAX: usize = 1 << 20;

/// The configuration of a home.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table [defaults]")]
pub struct Config {
    /// The interpreter and the policy that run when nothing else is named.
    pub defaults: ConfigDefaults,
}

/// The table `[defaults]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table with `interpreter` and `policy`"
)]
pub struct ConfigDefaults {
    /// The interpreter.
    pub interpreter: Label,
    /// The policy.
    pub policy: Label,
}

impl Config {
    /// Reads a home's configuration.
    pub(crate) fn load(home: &Home) -> Result<Self, AppError> {
        let path = home.config();
        let text = match files::read_text(&path, CONFIG_BYTES_MAX) {
            Ok(text) => text,
            Err(AppError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Err(AppError::Usage(format!(
                    "{} is missing: expected a table [defaults] with `interpreter` and `policy`",
                    path.display()
                )));
            }
            Err(error) => return Err(error),
        };
        toml::from_str(&text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map_or(1, |before| before.matches('\n').count() + 1);
            AppError::Usage(format!("{}:{line}: {}", path.display(), error.message()))
        })
    }

    /// Returns the text that `init` writes.
    pub(crate) fn text(defaults: &Defaults) -> String {
        format!(
            "# What runs when no interpreter or policy is named.\n\
             [defaults]\n\
             interpreter = \"{}\"\n\
             policy = \"{}\"\n",
            defaults.interpreter, defaults.policy
        )
    }
}
