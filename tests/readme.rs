//! The README's commands run as they are printed.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::root;

/// The commands in the code blocks of a part of the README.
fn commands(readme: &str, heading: &str) -> Vec<String> {
    let mut inside = false;
    readme
        .split(heading)
        .nth(1)
        .unwrap()
        .lines()
        .take_while(|line| !line.starts_with("## "))
        .filter(|line| {
            if line.starts_with("```") {
                inside = !inside;
                return false;
            }
            inside && !line.is_empty()
        })
        .map(str::to_owned)
        .collect()
}

/// Runs a script as a reader would and returns what it prints.
fn printed(script: &str, home: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_reread")).parent().unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", binary.display());
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", script])
        .current_dir(root())
        .env("PATH", &path)
        .env("REREAD_HOME", home)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_commands_of_finished_work_run_as_printed_and_complete_the_task() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    printed("reread init", &home);
    let script = commands(&readme, "\n## Finished work\n").join("\n");
    let said = printed(&script, &home);
    let listed = said.lines().last().unwrap();
    assert!(
        listed.ends_with("completed  next none               Say which birds"),
        "{said}"
    );
}

#[test]
fn the_commands_of_the_tour_run_as_printed() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let tour = commands(&readme, "\n## Tour\n");
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let mut ran = 0;
    for command in &tour {
        // Building is what made this test; the two names are set for it.
        if command.starts_with("cargo build") || command.starts_with("export ") {
            continue;
        }
        printed(command, &home);
        ran += 1;
    }
    assert!(ran >= 12, "only {ran} commands were found");
}

#[test]
fn the_readme_names_every_command() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_reread"))
        .arg("--help")
        .output()
        .unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let listed: Vec<_> = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(listed.len() >= 20, "{listed:?}");
    for command in listed {
        assert!(
            readme.contains(&format!("`{command}")),
            "the README does not name {command}"
        );
    }
}
