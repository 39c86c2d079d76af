//! Homes and sources under names that other programs stumble over.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::process::Command;

use serde_json::json;

use crate::support::{Ran, after_init, chat, text};

/// Names that SQLite could take for a URI, a shell for an option, or nobody for text.
fn odd_names() -> Vec<OsString> {
    let mut names = [
        "with space",
        "a?mode=memory",
        "file:x",
        "file:y?mode=ro",
        "per%20cent",
        "a#b",
        "new\nline",
        "-dash",
        "\u{fc}ml\u{e4}ut",
        "a/../b",
    ]
    .map(OsString::from)
    .to_vec();
    names.push(OsString::from_vec(b"no\xfftext".to_vec()));
    names
}

#[test]
fn homes_and_sources_may_have_any_name() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("a")).unwrap();
    let run = |home: &OsStr, arguments: &[&OsStr]| -> Ran {
        let mut option = OsString::from("--home=");
        option.push(home);
        Command::new(env!("CARGO_BIN_EXE_reread"))
            .arg("--json")
            .arg(option)
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .unwrap()
            .into()
    };
    for name in odd_names() {
        let word = |text: &'static str| OsStr::from_bytes(text.as_bytes());
        let made = run(&name, &[word("init")]);
        assert_eq!(made.code, 0, "{made:?}");
        let shown = name.to_string_lossy().into_owned();
        assert_eq!(made.document()["home"], shown);
        assert!(folder.path().join(&name).join("ledger.sqlite3").is_file());

        let source = folder.path().join(&name).with_extension("jsonl");
        std::fs::write(&source, chat("one", "An answer.", "stop").to_string()).unwrap();
        let import = [word("import"), word("exchange"), source.as_os_str()];
        let imported = run(&name, &import);
        assert_eq!(imported.code, 0, "{imported:?}");
        let line = &imported.lines()[0];
        assert_eq!(text(line, "file"), source.display().to_string());
        let read = run(&name, &[word("reinterpret"), word("all")]);
        assert_eq!(read.code, 0, "{read:?}");
        let verified = run(&name, &[word("verify")]).document();
        assert_eq!(verified["verified"]["findings"], json!(0), "{shown}");
        assert_eq!(verified["verified"]["events"], after_init(4));
    }
}
