//! The modules that come with this program, by the bytes that were released.

use model::Digest;
use model::event::module::ModuleRegistered;
use runtime::Sandbox;

use super::Compiler;
use crate::error::AppError;

/// A module that comes with this program.
#[derive(Debug, Clone, Copy)]
pub struct ReleasedModule {
    /// Its label.
    pub label: &'static str,
    /// Its bytes.
    pub bytes: &'static [u8],
}

macro_rules! released {
    ($($label:literal),+ $(,)?) => {
        /// Every released module.
        pub const RELEASED: &[ReleasedModule] = &[$(ReleasedModule {
            label: $label,
            bytes: include_bytes!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../interpreters/released/",
                $label,
                ".wasm"
            )),
        },)+];
    };
}

released! {
    "attempt-interpretation-v1",
    "attempt-interpretation-v2",
    "attempt-interpretation-v3",
    "attempt-policy-v1",
    "attempt-policy-v2",
    "attempt-policy-v3",
    "task-acceptance-v1",
    "task-acceptance-v2",
    "text-check-v1",
    "token-pricing-v1",
}

/// The interpreter that a new home reads with.
pub const DEFAULT_INTERPRETER: &str = "attempt-interpretation-v2";

/// The policy that a new home decides with.
pub const DEFAULT_POLICY: &str = "attempt-policy-v2";

/// Where the bytes of this hash came from.
pub(super) fn source_of(sha256: Digest) -> &'static str {
    if is_released(sha256) {
        "released"
    } else {
        "added"
    }
}

/// Returns whether these bytes come with this program.
pub(super) fn is_released(sha256: Digest) -> bool {
    RELEASED
        .iter()
        .any(|module| Digest::of(module.bytes) == sha256)
}

impl ReleasedModule {
    /// Compiles the module and asks what it says of itself.
    pub(crate) fn registration(
        &self,
        sandbox: &Sandbox,
        compiler: Compiler<'_>,
    ) -> Result<ModuleRegistered, AppError> {
        let (compiled, _) = compiler.load(self.label, Digest::of(self.bytes), self.bytes)?;
        super::describe(sandbox, self.label, self.bytes, &compiled)
    }
}
