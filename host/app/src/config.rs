//! `config.toml`: what runs when nothing else is named, and the providers.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use capture::client::Timeouts;
use capture::provider::Settings;
use model::bounds::NAME_BYTES_MAX;
use model::event::home::Defaults;
use model::exchange;
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
    /// The providers that can be asked, by name.
    #[serde(default)]
    pub providers: BTreeMap<String, Provider>,
}

/// A table `[providers.NAME]`.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table with `base_url` and `dialect`"
)]
pub struct Provider {
    /// What paths are put after, such as `https://api.example.com/v1`.
    base_url: String,
    /// The wire dialect.
    dialect: String,
    /// The environment variable that holds the key; none when no key is sent.
    key_env: Option<String>,
    /// The header that carries the key, in place of the dialect's.
    key_header: Option<String>,
    /// The path in place of the dialect's.
    path: Option<String>,
    /// Further headers.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Certificates in PEM that are trusted beside the system's; a relative path
    /// starts at the home.
    ca_file: Option<PathBuf>,
    /// How long connecting may take, with the TLS handshake.
    connect_timeout_ms: Option<NonZeroU32>,
    /// How long nothing may come.
    read_timeout_ms: Option<NonZeroU32>,
    /// How long an attempt may take.
    timeout_ms: Option<NonZeroU32>,
    /// How long is waited at most between two attempts.
    retry_wait_max_ms: Option<u32>,
}

impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A URL or a header that people wrote may hold a credential.
        f.debug_struct("Provider")
            .field("dialect", &self.dialect)
            .finish_non_exhaustive()
    }
}

impl Provider {
    /// Returns the dialect's own name.
    pub(crate) fn dialect(&self, provider: &str) -> Result<&'static str, AppError> {
        exchange::dialect(&self.dialect).ok_or_else(|| {
            AppError::Usage(format!(
                "config.toml, provider {provider}: unknown dialect {:?}: expected one of {}",
                self.dialect,
                exchange::DIALECTS.join(", ")
            ))
        })
    }

    /// Returns how requests are made.
    pub(crate) fn settings(&self, dialect: &'static str) -> Settings<'_> {
        Settings {
            dialect,
            base_url: &self.base_url,
            path: self.path.as_deref(),
            key_header: self.key_header.as_deref(),
            headers: &self.headers,
        }
    }

    /// Returns the path of requests, `/` while the table makes no URL.
    pub(crate) fn endpoint(&self, dialect: &'static str) -> String {
        self.settings(dialect)
            .target()
            .map_or_else(|_error| "/".to_owned(), |target| target.endpoint())
    }

    /// Returns the name of the variable that holds the key.
    pub(crate) fn key_env(&self) -> Option<&str> {
        self.key_env.as_deref()
    }

    /// Returns the file of further certificates.
    pub(crate) fn ca_file(&self, home: &Home) -> Option<PathBuf> {
        self.ca_file.as_ref().map(|file| home.folder().join(file))
    }

    /// Returns how long things may take: 10 s to connect, 5 min of silence and 15 min
    /// in all, unless the table says otherwise.
    pub(crate) fn timeouts(&self) -> Timeouts {
        let or = |value: Option<NonZeroU32>, default: u32| {
            Duration::from_millis(value.map_or(default, NonZeroU32::get).into())
        };
        Timeouts {
            connect: or(self.connect_timeout_ms, 10_000),
            read: or(self.read_timeout_ms, 300_000),
            total: or(self.timeout_ms, 900_000),
        }
    }

    /// Returns how long is waited at most between two attempts: a minute, unless the
    /// table says otherwise.
    pub(crate) fn retry_wait_max(&self) -> Duration {
        Duration::from_millis(self.retry_wait_max_ms.unwrap_or(60_000).into())
    }
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
            let message = without_values(error.message());
            AppError::Usage(format!("{}:{line}: {message}", path.display()))
        })
    }

    /// Finds a provider by its name.
    pub(crate) fn provider(&self, name: &str) -> Result<&Provider, AppError> {
        let found = self
            .providers
            .get(name)
            .filter(|_| name.len() <= NAME_BYTES_MAX);
        found.ok_or_else(|| AppError::Unknown {
            what: "provider",
            name: name.to_owned(),
        })
    }

    /// Returns the text that `init` writes.
    pub(crate) fn text(defaults: &Defaults) -> String {
        format!(
            "# What runs when no interpreter or policy is named.\n\
             [defaults]\n\
             interpreter = \"{}\"\n\
             policy = \"{}\"\n\
             \n\
             # Who can be asked. The key stays in the environment.\n\
             # [providers.example]\n\
             # base_url = \"https://api.example.com/v1\"\n\
             # dialect = \"openai.chat\"\n\
             # key_env = \"EXAMPLE_API_KEY\"\n",
            defaults.interpreter, defaults.policy
        )
    }
}

/// Cuts the texts that a message quotes: one of them may be a credential.
fn without_values(message: &str) -> String {
    let mut shown = String::new();
    for (index, part) in message.split('"').enumerate() {
        shown.push_str(if index % 2 == 0 { part } else { "\u{2026}" });
    }
    shown
}
