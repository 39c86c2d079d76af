//! Tells the program which commit it was built from, where that is known.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // Everything that goes into the program, and what tells that a commit was made.
    for part in [
        "host",
        "wit",
        "interpreters/released",
        "Cargo.toml",
        "Cargo.lock",
    ] {
        println!("cargo::rerun-if-changed={}", root.join(part).display());
    }
    for part in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git_path(&root, part) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    if let Some(commit) = git(&root, &["rev-parse", "HEAD"]) {
        println!("cargo::rustc-env=REREAD_COMMIT={commit}");
        if let Some(changes) = git(&root, &["status", "--porcelain"]) {
            println!("cargo::rustc-env=REREAD_DIRTY={}", !changes.is_empty());
        }
    }
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(arguments)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn git_path(root: &Path, name: &str) -> Option<PathBuf> {
    let path = root.join(git(root, &["rev-parse", "--git-path", name])?);
    path.exists().then_some(path)
}
