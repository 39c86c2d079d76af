//! From a module's bytes to compiled code: from the cache where it holds, else by
//! compiling. A module that this program did not bring is compiled in a child.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use model::Digest;
use runtime::compile::{CompileLimits, serve_compile};
use runtime::{CacheKey, Compiled, CompilerCommand};
use store::Home;

use super::released::is_released;
use crate::context::random;
use crate::error::{AppError, ModuleFailure};

/// The hidden command that makes this program a compiling process.
const COMPILE_COMMAND: &str = "compile-module";

/// Answers one compiling job; what `reread compile-module` does.
pub fn compile_child(input: &mut dyn Read, output: &mut dyn Write) -> Result<(), AppError> {
    serve_compile(input, output).map_err(|error| AppError::Usage(error.to_string()))
}

/// Makes the key that guards a home's cache of compiled code.
pub(crate) fn create_cache_key(home: &Home) -> Result<(), AppError> {
    home.write_file(&key_path(home), &random::<32>()?)?;
    Ok(())
}

fn key_path(home: &Home) -> PathBuf {
    home.keys().join("cache.key")
}

/// Compiles the modules of one home.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compiler<'a> {
    pub(crate) home: &'a Home,
    pub(crate) program: &'a Path,
}

/// Compiled code, and something that people should know about how it was had.
pub(crate) type WithNotice = (Compiled, Option<String>);

impl Compiler<'_> {
    /// Returns the compiled code of verified bytes. The cache is a convenience: what
    /// does not match is made again and said, and what cannot be kept is only said.
    pub(crate) fn load(
        &self,
        name: &str,
        sha256: Digest,
        bytes: &[u8],
    ) -> Result<WithNotice, AppError> {
        let mut notice = None;
        match self.cached(sha256) {
            Ok(Some(compiled)) => return Ok((compiled, None)),
            Ok(None) => {}
            Err(why) => {
                notice = Some(format!(
                    "compiled code of {name} was not used and made again: {why}"
                ));
            }
        }
        let compiled = self.compile(name, sha256, bytes)?;
        if let Err(why) = self.keep(&compiled) {
            notice = Some(format!("compiled code of {name} was not kept: {why}"));
        }
        Ok((compiled, notice))
    }

    fn compile(&self, name: &str, sha256: Digest, bytes: &[u8]) -> Result<Compiled, AppError> {
        let failed = |source| ModuleFailure::Compile {
            name: name.to_owned(),
            source,
        };
        if is_released(sha256) {
            return runtime::compile(bytes).map_err(|error| Box::new(failed(error.into())).into());
        }
        let command = CompilerCommand {
            program: self.program.to_owned(),
            args: vec![OsString::from(COMPILE_COMMAND)],
            limits: CompileLimits::STANDARD,
        };
        command
            .compile(bytes)
            .map_err(|error| Box::new(failed(error)).into())
    }

    fn entry_path(&self, sha256: Digest) -> PathBuf {
        self.home.cache().join(format!("{}.code", sha256.to_hex()))
    }

    fn cached(&self, sha256: Digest) -> Result<Option<Compiled>, String> {
        self.owner_only()?;
        let path = self.entry_path(sha256);
        let entry = match fs::read(&path) {
            Ok(entry) => entry,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        Compiled::open(entry, &self.key()?, sha256)
            .map(Some)
            .map_err(|error| format!("{}: {error}", path.display()))
    }

    fn keep(&self, compiled: &Compiled) -> Result<(), String> {
        self.owner_only()?;
        let entry = compiled
            .seal(&self.key()?)
            .map_err(|error| error.to_string())?;
        self.home
            .write_file(&self.entry_path(compiled.module()), &entry)
            .map_err(|error| error.to_string())
    }

    fn key(&self) -> Result<CacheKey, String> {
        let path = key_path(self.home);
        let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let key: [u8; 32] = bytes.as_slice().try_into().map_err(|_error| {
            format!(
                "{}: expected 32 bytes, found {}",
                path.display(),
                bytes.len()
            )
        })?;
        Ok(CacheKey::from_bytes(key))
    }

    /// A folder that others can write is not read from.
    fn owner_only(&self) -> Result<(), String> {
        let folder = self.home.cache();
        match fs::symlink_metadata(&folder) {
            Ok(metadata) => {
                let owner = rustix::process::geteuid().as_raw();
                if !metadata.is_dir() || metadata.uid() != owner || metadata.mode() & 0o022 != 0 {
                    return Err(format!(
                        "{} is not a folder that only its owner can write",
                        folder.display()
                    ));
                }
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir_all(&folder)
                .and_then(|()| fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)))
                .map_err(|error| format!("{}: {error}", folder.display())),
            Err(error) => Err(format!("{}: {error}", folder.display())),
        }
    }
}
