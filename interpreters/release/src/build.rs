//! Builds the shims, so that the bytes do not depend on where that happens.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::hashes;

const TARGET: &str = "wasm32-unknown-unknown";

/// The memory that a module starts with: four pages, of which the first is the
/// stack. A host that keeps memory mapped between runs clears all that an earlier
/// run has used of these pages, and maps the ones behind them again each time:
/// more would slow small bodies down, and fewer those of 64 KB.
const MEMORY: [&str; 2] = [
    "-Clink-arg=-zstack-size=65536",
    "-Clink-arg=--initial-memory=262144",
];

/// Builds these packages and returns their core modules, in order.
pub(crate) fn modules(workspace: &Path, packages: &[&str]) -> Result<Vec<Vec<u8>>, String> {
    let workspace = absolute(workspace)?;
    check_toolchain(&workspace)?;
    let target_folder = env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| workspace.join("target"), PathBuf::from)
        .join("components");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(&workspace)
        .args(["build", "--release", "--locked", "--target", TARGET])
        .arg("--target-dir")
        .arg(&target_folder);
    for package in packages {
        cargo.args(["--package", package]);
    }
    // Everything that could reach the bytes from outside is fixed or removed.
    cargo
        .env(
            "RUSTFLAGS",
            format!("{} {}", remapping(&workspace)?, MEMORY.join(" ")),
        )
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_BUILD_RUSTFLAGS")
        .env_remove("RUSTC_WRAPPER")
        .env_remove("RUSTC_WORKSPACE_WRAPPER");
    let status = cargo
        .status()
        .map_err(|error| format!("cargo did not start: {error}"))?;
    if !status.success() {
        return Err(format!("cargo build ended with {status}"));
    }
    let folder = target_folder.join(TARGET).join("release");
    packages
        .iter()
        .map(|package| {
            let path = folder.join(format!("{}.wasm", package.replace('-', "_")));
            fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
        })
        .collect()
}

/// Checks that the compiler is the one that the table names.
fn check_toolchain(workspace: &Path) -> Result<(), String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .current_dir(workspace)
        .arg("--version")
        .output()
        .map_err(|error| format!("rustc did not start: {error}"))?;
    let found = String::from_utf8_lossy(&output.stdout);
    // Such as `rustc 1.95.0 (59807616e 2026-04-14)`.
    let name: Vec<&str> = found.split_whitespace().take(2).collect();
    if name.join("-") == hashes::TOOLCHAIN {
        return Ok(());
    }
    Err(format!(
        "expected the toolchain {}, found `{}`",
        hashes::TOOLCHAIN,
        found.trim()
    ))
}

/// Takes the two folders that reach the bytes out of them.
fn remapping(workspace: &Path) -> Result<String, String> {
    let cargo_home = match env::var_os("CARGO_HOME") {
        Some(folder) => PathBuf::from(folder),
        None => env::home_dir()
            .ok_or("neither CARGO_HOME nor a home folder is known")?
            .join(".cargo"),
    };
    // Cargo hands the paths to the compiler as they are written, links included.
    let mut flags = Vec::new();
    for (folder, name) in [(cargo_home.as_path(), "/cargo"), (workspace, "/src")] {
        let folder = folder
            .to_str()
            .filter(|folder| !folder.contains([' ', '=']))
            .ok_or_else(|| format!("{}: spaces and `=` cannot be remapped", folder.display()))?;
        flags.push(format!("--remap-path-prefix={folder}={name}"));
    }
    Ok(flags.join(" "))
}

fn absolute(folder: &Path) -> Result<PathBuf, String> {
    fs::canonicalize(folder).map_err(|error| format!("{}: {error}", folder.display()))
}
