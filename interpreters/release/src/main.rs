//! Builds the released components from this workspace, and keeps or compares
//! their bytes.
//!
//! `release write` replaces what is in `released/`; `release check` names every
//! component whose bytes are not the ones that are kept.

mod build;
mod component;
mod hashes;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use component::World;
use hashes::Entry;

/// What is released: labels, which are also names of packages, and worlds.
const RELEASED: [(&str, World); 10] = [
    ("attempt-interpretation-v1", World::Interpreter),
    ("attempt-interpretation-v2", World::Interpreter),
    ("attempt-interpretation-v3", World::Interpreter),
    ("attempt-policy-v1", World::Policy),
    ("attempt-policy-v2", World::Policy),
    ("attempt-policy-v3", World::Policy),
    ("task-acceptance-v1", World::Acceptance),
    ("task-acceptance-v2", World::Acceptance),
    ("text-check-v1", World::Check),
    ("token-pricing-v1", World::Pricing),
];

const USAGE: &str = "usage: cargo run -p release -- check|write";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        ["write"] => built().and_then(|built| write(&built)),
        ["check"] => built().and_then(|built| check(&built)),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(report) => {
            // A reader that went away does not change what was found.
            let _ignored = io::stdout().write_all(report.as_bytes());
            ExitCode::SUCCESS
        }
        Err(report) => {
            let _ignored = writeln!(io::stderr(), "{report}");
            ExitCode::FAILURE
        }
    }
}

/// One component as this workspace builds it.
struct Built {
    entry: Entry,
    bytes: Vec<u8>,
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn released() -> PathBuf {
    workspace().join("released")
}

fn built() -> Result<Vec<Built>, String> {
    let labels = RELEASED.map(|(label, _)| label);
    let modules = build::modules(&workspace(), &labels)?;
    let mut built = Vec::new();
    for ((label, world), module) in RELEASED.into_iter().zip(modules) {
        let bytes = component::of_module(label, &module)?;
        component::check_world(label, world, &bytes)?;
        let sha256 = hashes::sha256(&bytes);
        let world = world.name();
        let entry = Entry {
            label: label.to_owned(),
            world: world.to_owned(),
            sha256,
        };
        built.push(Built { entry, bytes });
    }
    Ok(built)
}

fn write(built: &[Built]) -> Result<String, String> {
    let folder = released();
    fs::create_dir_all(&folder).map_err(|error| at(&folder, &error))?;
    for component in built {
        let path = component_path(&component.entry.label);
        fs::write(&path, &component.bytes).map_err(|error| at(&path, &error))?;
    }
    let entries: Vec<&Entry> = built.iter().map(|component| &component.entry).collect();
    let path = hashes_path();
    fs::write(&path, hashes::table(&entries)).map_err(|error| at(&path, &error))?;
    Ok(report(built))
}

fn check(built: &[Built]) -> Result<String, String> {
    let path = hashes_path();
    let kept = fs::read_to_string(&path).map_err(|error| at(&path, &error))?;
    let kept = hashes::entries(&kept)?;
    let mut findings = Vec::new();
    for component in built {
        let label = &component.entry.label;
        let path = component_path(label);
        let file = fs::read(&path).map_err(|error| at(&path, &error))?;
        let row = kept.iter().find(|entry| entry.label == *label);
        let expected = row.map_or("no row", |entry| entry.sha256.as_str());
        let found = &component.entry.sha256;
        if expected != found {
            findings.push(format!(
                "{label}: HASHES expects {expected}, the source builds to {found}"
            ));
        }
        let file = hashes::sha256(&file);
        if expected != file {
            findings.push(format!(
                "{label}: HASHES expects {expected}, the released file hashes to {file}"
            ));
        }
        if row.is_some_and(|entry| entry.world != component.entry.world) {
            findings.push(format!(
                "{label}: HASHES names another world than {}",
                component.entry.world
            ));
        }
    }
    let unknown = |entry: &&Entry| RELEASED.iter().all(|(label, _)| *label != entry.label);
    for entry in kept.iter().filter(unknown) {
        findings.push(format!(
            "{}: HASHES has it, the source has not",
            entry.label
        ));
    }
    if findings.is_empty() {
        Ok(report(built))
    } else {
        Err(findings.join("\n"))
    }
}

fn report(built: &[Built]) -> String {
    let line = |component: &Built| {
        let Entry { label, sha256, .. } = &component.entry;
        format!("{label} {} bytes {sha256}\n", component.bytes.len())
    };
    built.iter().map(line).collect()
}

fn component_path(label: &str) -> PathBuf {
    released().join(format!("{label}.wasm"))
}

fn hashes_path() -> PathBuf {
    workspace().join("HASHES")
}

fn at(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}
