//! The house rules that no compiler checks: who may depend on whom, and how long
//! a file may be.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const FILE_LINES_MAX: usize = 500;

/// What each crate of the host may depend on, of the others.
const LAYERS: [(&str, &[&str]); 7] = [
    ("model", &[]),
    ("store", &["model"]),
    ("runtime", &["model"]),
    ("capture", &["model"]),
    ("app", &["model", "store", "runtime", "capture"]),
    ("web", &["model", "app"]),
    ("cli", &["model", "app", "web"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The names in a manifest's `[dependencies]`; those of tests may go anywhere.
fn dependencies(manifest: &str) -> Vec<String> {
    manifest
        .lines()
        .skip_while(|line| line.trim() != "[dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split(['.', '=', ' ']).next())
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn no_crate_of_the_host_depends_on_one_above_or_beside_it() {
    let allowed: BTreeMap<_, _> = LAYERS.into_iter().collect();
    let mut seen = 0;
    for entry in fs::read_dir(root().join("host")).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let layer = allowed
            .get(name.as_str())
            .unwrap_or_else(|| panic!("{name} has no layer"));
        for dependency in dependencies(&manifest) {
            let ours = allowed.contains_key(dependency.as_str());
            assert!(
                !ours || layer.contains(&dependency.as_str()),
                "{name} depends on {dependency}"
            );
        }
        seen += 1;
    }
    assert!(seen >= 6, "only {seen} crates were looked at");
}

#[test]
fn the_layering_test_reads_manifests() {
    let manifest = "[package]\nname = \"x\"\n\n[dependencies]\nmodel.workspace = true\n\
                    store = { path = \"y\" }\n\n[dev-dependencies]\napp.workspace = true\n";
    assert_eq!(dependencies(manifest), ["model", "store"]);
}

#[test]
fn only_the_command_line_knows_environment_variables_exits_and_anyhow() {
    for (name, _) in LAYERS.iter().filter(|(name, _)| *name != "cli") {
        let Ok(manifest) = fs::read_to_string(root().join("host").join(name).join("Cargo.toml"))
        else {
            continue;
        };
        let used = dependencies(&manifest);
        assert!(
            !used.contains(&"anyhow".to_owned()),
            "{name} depends on anyhow"
        );
        assert!(!used.contains(&"clap".to_owned()), "{name} depends on clap");
    }
}

#[test]
fn interpreters_see_nothing_of_the_host() {
    for manifest in files(&root().join("interpreters"), "Cargo.toml") {
        let text = fs::read_to_string(&manifest).unwrap();
        assert!(
            !text.contains("host/"),
            "{} names the host",
            manifest.display()
        );
    }
}

#[test]
fn no_source_file_passes_500_lines() {
    let mut seen = 0;
    for folder in ["host", "interpreters", "tests"] {
        for file in files(&root().join(folder), ".rs") {
            let lines = fs::read_to_string(&file).unwrap().lines().count();
            assert!(
                lines <= FILE_LINES_MAX,
                "{} has {lines} lines",
                file.display()
            );
            seen += 1;
        }
    }
    assert!(seen > 50, "only {seen} files were looked at");
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    for manifest in files(&root().join("host"), "Cargo.toml") {
        let text = fs::read_to_string(&manifest).unwrap();
        assert!(
            text.contains("[lints]\nworkspace = true"),
            "{}",
            manifest.display()
        );
    }
}

/// Returns the files below a folder whose names end so, build results left out.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else {
        return found;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.file_name().is_some_and(|name| name == "target") {
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.to_str().is_some_and(|name| name.ends_with(ending)) {
            found.push(path);
        }
    }
    found
}
