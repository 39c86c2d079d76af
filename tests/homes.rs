//! Homes: where they are looked for, what is refused as one, and what a home can do
//! without.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;

use rusqlite::TransactionBehavior;

use crate::ledger::{Forger, open, row_count, rows};
use crate::support::{INIT_EVENTS, Ran, TestHome, V2, after_init, chat, files_in, text};

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Runs this program without `--home`.
fn bare(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reread"));
    command
        .arg("--json")
        .args(arguments)
        .env_remove("REREAD_HOME");
    command
}

fn ran(command: &mut Command) -> Ran {
    command.output().unwrap().into()
}

#[test]
fn without_a_home_every_command_says_so_and_makes_none() {
    let home = TestHome::missing();
    let id = "01890000-0000-7000-8000-000000000000";
    let expected = format!(
        "no home at {}: expected a file ledger.sqlite3 in it, found none",
        home.path().display()
    );
    for command in [
        vec!["state"],
        vec!["log"],
        vec!["verify"],
        vec!["doctor"],
        vec!["rebuild"],
        vec!["checkpoint"],
        vec!["show", id],
        vec!["interpret", "all"],
        vec!["reinterpret", "all"],
        vec!["import", "exchange", "/dev/null"],
        vec!["module", "list"],
        vec!["task", "list"],
    ] {
        let missing = home.run(&command);
        let refused = missing.refused(2);
        assert_eq!(refused, ("home".to_owned(), expected.clone()));
        let hint = "make one with `reread init`, or name another with --home DIR";
        assert_eq!(missing.error()["hint"], hint);
        assert!(!home.path().exists());
    }
    // A folder without a ledger is none either, and stays as it is.
    fs::create_dir(home.path()).unwrap();
    fs::write(home.path().join("config.toml"), b"").unwrap();
    assert_eq!(home.run(&["verify"]).refused(2).1, expected);
    assert_eq!(files_in(&home.path()).len(), 1);
}

#[test]
fn a_file_is_no_home_and_none_is_made_of_it() {
    let home = TestHome::missing();
    fs::write(home.path(), b"a file").unwrap();
    let path = home.path();
    let path = path.display();
    let expected = format!("no home at {path}: expected a file ledger.sqlite3 in it, found none");
    assert_eq!(home.run(&["state"]).refused(2).1, expected);
    let refused = home.run(&["init"]).refused(2);
    assert_eq!(
        refused,
        ("home".to_owned(), format!("{path} is not a folder"))
    );
    assert_eq!(fs::read(home.path()).unwrap(), b"a file");
}

#[test]
fn init_makes_a_home_in_a_missing_and_in_an_empty_folder_for_its_owner_alone() {
    let deep = TestHome::missing();
    let below = deep.path().join("a/b");
    let made = ran(bare(&["init", "--home"]).arg(&below));
    assert_eq!(made.code, 0, "{made:?}");
    let home = TestHome::missing();
    fs::create_dir(home.path()).unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let created = home.must(&["init"]).document();
    assert_eq!(text(&created, "home"), home.path().to_str().unwrap());
    for folder in [below.as_path(), &home.path()] {
        for name in [
            "",
            "artifacts",
            "artifacts/sha256",
            "cache",
            "keys",
            "packs",
            "spool",
        ] {
            assert_eq!(mode(&folder.join(name)), 0o700, "{name}");
        }
        for name in files_in(folder).into_keys() {
            assert_eq!(mode(&folder.join(&name)), 0o600, "{}", name.display());
        }
    }
    let modules = home.must(&["module", "list"]).lines();
    assert_eq!(modules.len(), created["modules"].as_array().unwrap().len());
    for (index, module) in modules.iter().enumerate() {
        assert_eq!(module["module"], created["modules"][index]);
        assert_eq!(module["source"], "released");
    }
    let key: Ran = home
        .command(&["checkpoint", "--key"])
        .output()
        .unwrap()
        .into();
    assert_eq!(key.stdout.trim_end(), text(&created, "log_key"));
    let doctor = home.must(&["doctor"]).lines();
    assert!(
        doctor.iter().all(|check| check["health"] == "ok"),
        "{doctor:?}"
    );
}

#[test]
fn init_refuses_a_folder_that_holds_something_also_when_it_is_a_home() {
    let home = TestHome::new();
    let expected = format!(
        "{} is not empty: a home is made in a missing or an empty folder",
        home.path().display()
    );
    let refused = home.refuses(&["init"], 2);
    assert_eq!(refused, ("home".to_owned(), expected));
    let hint = "name an empty folder; an interrupted `init` can be removed and run again";
    assert_eq!(home.run(&["init"]).error()["hint"], hint);

    let other = TestHome::missing();
    fs::create_dir(other.path()).unwrap();
    fs::set_permissions(other.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(other.path().join(".hidden"), b"mine").unwrap();
    assert_eq!(other.run(&["init"]).refused(2).0, "home");
    assert_eq!(files_in(&other.path()).len(), 1);
    assert_eq!(mode(&other.path()), 0o755);
}

#[test]
fn the_flag_wins_over_the_variable_and_the_variable_over_the_default() {
    let (one, other) = (TestHome::fresh(), TestHome::fresh());
    let data = tempfile::tempdir().unwrap();
    let ledger = |ran: &Ran| text(&ran.document(), "ledger").to_owned();
    let (ledger_of_one, ledger_of_other) = (
        ledger(&one.must(&["state"])),
        ledger(&other.must(&["state"])),
    );
    let named = ran(bare(&["state"]).env("REREAD_HOME", one.path()));
    assert_eq!(ledger(&named), ledger_of_one);
    let both = ran(bare(&["state", "--home"])
        .arg(other.path())
        .env("REREAD_HOME", one.path()));
    assert_eq!(ledger(&both), ledger_of_other);
    // An empty variable names nothing.
    for variable in [None, Some("")] {
        let mut command = bare(&["state"]);
        command
            .env("XDG_DATA_HOME", data.path())
            .env("HOME", data.path());
        if let Some(value) = variable {
            command.env("REREAD_HOME", value);
        }
        let expected = format!(
            "no home at {}: expected a file ledger.sqlite3 in it, found none",
            data.path().join("reread").display()
        );
        assert_eq!(ran(&mut command).refused(2).1, expected);
    }
    let empty = ran(&mut bare(&["state", "--home", ""]));
    let message = "a value is required for '--home <DIR>' but none was supplied";
    let (code, found) = empty.refused(2);
    assert_eq!(code, "usage");
    assert!(found.starts_with(message), "{found}");
}

#[test]
fn a_ledger_of_a_newer_program_is_refused() {
    let home = TestHome::new();
    open(&home)
        .execute_batch("PRAGMA user_version = 2")
        .unwrap();
    let expected = format!(
        "ledger {}: its tables are of version 2, but this program knows up to 1: use a newer \
         program",
        home.path().join("ledger.sqlite3").display()
    );
    for command in [vec!["state"], vec!["verify"], vec!["rebuild"]] {
        let refused = home.refuses(&command, 4);
        assert_eq!(refused, ("ledger".to_owned(), expected.clone()));
    }
}

#[test]
fn a_home_of_another_format_is_refused() {
    let home = TestHome::new();
    Forger::open(&home)
        .replace(1, "\"format\":\"draft\"", "\"format\":\"later\"")
        .seal();
    let expected = "the home's format is \"later\", but this program reads \"draft\": use the \
                    program that wrote it, or export and import";
    for command in [vec!["state"], vec!["verify"], vec!["reinterpret", "all"]] {
        let refused = home.refuses(&command, 4);
        assert_eq!(refused, ("format".to_owned(), expected.to_owned()));
    }
}

#[test]
fn a_file_that_is_no_ledger_is_refused_and_left_as_it_is() {
    let home = TestHome::new();
    let path = home.path().join("ledger.sqlite3");
    let foreign = TestHome::missing();
    let database = foreign.write("foreign.sqlite3", b"");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection
        .execute_batch("CREATE TABLE notes(text)")
        .unwrap();
    drop(connection);
    let application = "expected application_id 1381131313, found 0";
    for (bytes, detail) in [
        (
            b"not a database at all, but long enough to be read as one".repeat(20),
            "it is not an SQLite file",
        ),
        (Vec::new(), application),
        (fs::read(&database).unwrap(), application),
    ] {
        fs::write(&path, &bytes).unwrap();
        let expected = format!(
            "{} is not a ledger of this program: {detail}",
            path.display()
        );
        for command in [["state"], ["verify"], ["log"]] {
            let refused = home.run(&command).refused(3);
            assert_eq!(refused, ("ledger".to_owned(), expected.clone()));
        }
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
    // A folder in its place is no ledger, and the folder no home.
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(home.run(&["state"]).refused(2).0, "home");
}

#[test]
fn a_ledger_that_another_process_locks_is_waited_for_and_then_given_up() {
    let (home, _) = TestHome::importing(&[chat("1", "one", "stop")]);
    let file = home.write_exchanges("more.jsonl", &[chat("2", "two", "stop")]);
    let file = file.to_str().unwrap().to_owned();
    let before = (rows(&home), home.files());
    let mut other = open(&home);
    let lock = other
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .unwrap();
    // Whoever only looks is not kept waiting.
    assert_eq!(home.event_count(), after_init(2));
    assert_eq!(home.run(&["verify"]).code, 0);
    let expected = format!(
        "ledger {}: another process holds the lock for more than 10s",
        home.path().join("ledger.sqlite3").display()
    );
    let commands = [
        vec!["import", "exchange", &file],
        [&["reinterpret", "all"][..], &V2].concat(),
        vec!["rebuild"],
    ];
    let waiting = commands.map(|command| {
        let mut command = home.command(&command);
        command.arg("--json");
        std::thread::spawn(move || Ran::from(command.output().unwrap()))
    });
    for thread in waiting {
        let ran = thread.join().unwrap();
        assert_eq!(ran.refused(6), ("busy".to_owned(), expected.clone()));
        let hint = "try again when the other process is done";
        assert_eq!(ran.error()["hint"], hint);
    }
    drop(lock);
    assert_eq!(rows(&home), before.0);
    home.must(&["import", "exchange", &file]);
    assert_eq!(row_count(&home), after_init(4));
    // Bytes that were durable before the lock was missed are orphans until then.
    assert_eq!(home.must(&["verify"]).document()["verified"]["orphans"], 0);
}

#[test]
fn a_ledger_that_another_process_keeps_to_itself_is_busy() {
    let home = TestHome::new();
    let other = open(&home);
    other
        .execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
        .unwrap();
    let refused = home.run(&["state"]).refused(6);
    assert_eq!(refused.0, "busy");
    drop(other);
    assert_eq!(home.event_count(), INIT_EVENTS);
}

#[test]
fn without_a_usable_config_only_what_needs_it_is_refused() {
    let (home, imported) = TestHome::importing(&[chat("1", "one", "stop")]);
    let config = home.path().join("config.toml");
    let (attempt, call) = (text(&imported[0], "attempt"), text(&imported[0], "call"));
    let shown = config.display().to_string();
    let missing =
        format!("{shown} is missing: expected a table [defaults] with `interpreter` and `policy`");
    let not_text = format!("{shown}: expected UTF-8, found another byte at place 4");
    let unregistered = |label: &str| format!("unknown module: {label}");
    let toml = |interpreter: &str, policy: &str| {
        format!("[defaults]\ninterpreter = \"{interpreter}\"\npolicy = \"{policy}\"\n").into_bytes()
    };
    let at = |line_and_detail: &str| format!("{shown}:{line_and_detail}");
    let cases: [(Option<Vec<u8>>, &str, String); 8] = [
        (
            Some(b"".to_vec()),
            "usage",
            at("1: missing field `defaults`"),
        ),
        (
            Some(b"# cut\n[defaults\n".to_vec()),
            "usage",
            at("2: unclosed table, expected `]`"),
        ),
        (
            Some(b"defaults = 3\n".to_vec()),
            "usage",
            at("1: invalid type: integer `3`, expected a table with `interpreter` and `policy`"),
        ),
        (
            Some([toml("a", "b"), b"[more]\n".to_vec()].concat()),
            "usage",
            at("4: unknown field `more`, expected `defaults` or `providers`"),
        ),
        (Some(b"abc\xff".to_vec()), "usage", not_text),
        (
            Some(toml("nobody-v1", "attempt-policy-v2")),
            "unknown_name",
            unregistered("nobody-v1"),
        ),
        (
            Some(toml("attempt-interpretation-v2", "nobody-v2")),
            "unknown_name",
            unregistered("nobody-v2"),
        ),
        (None, "usage", missing),
    ];
    for (bytes, code, message) in cases {
        match &bytes {
            Some(bytes) => fs::write(&config, bytes).unwrap(),
            None => fs::remove_file(&config).unwrap(),
        }
        let refused = home.refuses(&["reinterpret", "call", call], 2);
        assert_eq!(refused, (code.to_owned(), message));
        // Whoever looks, or names everything, needs no configuration.
        home.must(&["log"]);
        home.must(&["verify"]);
        home.must(&["show", attempt]);
        let named = ["reinterpret", "call", call, "--dry-run"];
        home.must(&[&named[..], &V2].concat());
        let doctor = home.run(&["doctor"]);
        assert_eq!(doctor.code, 3);
        let checks = doctor.lines();
        let problems: Vec<_> = checks
            .iter()
            .filter(|check| check["health"] == "problem")
            .collect();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0]["check"], "defaults");
    }
}

#[test]
fn without_the_log_key_there_is_no_checkpoint_and_everything_else_goes_on() {
    let (home, imported) = TestHome::importing(&[chat("1", "one", "stop")]);
    let path = home.path().join("keys/log.key");
    let shown = path.display().to_string();
    for (bytes, found) in [(None, "no file"), (Some([7; 31]), "31")] {
        match bytes {
            Some(bytes) => fs::write(&path, bytes).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        let expected = format!("{shown}: expected 32 bytes, found {found}");
        for command in [vec!["checkpoint"], vec!["checkpoint", "--key"]] {
            let refused = home.refuses(&command, 3);
            assert_eq!(refused, ("damage".to_owned(), expected.clone()));
        }
        home.must(&["verify"]);
        home.must(&["reinterpret", "call", text(&imported[0], "call")]);
        let doctor = home.run(&["doctor"]);
        assert_eq!(doctor.code, 3);
        let checks = doctor.lines();
        let problem = checks
            .iter()
            .find(|check| check["health"] == "problem")
            .unwrap();
        assert_eq!(problem["check"], "log key");
        assert_eq!(problem["detail"], *expected);
        fs::write(&path, b"").ok();
    }
}

#[test]
fn compiled_code_is_only_kept_where_only_its_owner_can_write() {
    let (home, imported) = TestHome::importing(&[chat("1", "one", "stop")]);
    let command = ["interpret", text(&imported[0], "attempt")];
    let before = home.must(&command);
    assert_eq!(before.stderr, "");
    let cache = home.path().join("cache");
    // A missing folder is made again, its owner's alone.
    fs::remove_dir_all(&cache).unwrap();
    let again = home.must(&command);
    assert_eq!((&again.stdout, again.stderr.as_str()), (&before.stdout, ""));
    assert_eq!(mode(&cache), 0o700);
    let label = "attempt-interpretation-v2";
    let said = format!(
        "note: compiled code of {label} was not kept: {} is not a folder that only its owner can \
         write\n",
        cache.display()
    );
    for bits in [0o777, 0o720, 0o702] {
        fs::set_permissions(&cache, fs::Permissions::from_mode(bits)).unwrap();
        let entries = files_in(&cache);
        let open = home.must(&command);
        assert_eq!(
            (open.stdout, open.stderr),
            (before.stdout.clone(), said.clone())
        );
        assert_eq!(files_in(&cache), entries);
    }
    // What others put there under the right name is not run.
    for entry in files_in(&cache).into_keys() {
        fs::write(cache.join(entry), b"not code").unwrap();
    }
    assert_eq!(home.must(&command).stdout, before.stdout);
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o700)).unwrap();
    // Without the key that guards it, nothing in it is believed.
    fs::remove_file(home.path().join("keys/cache.key")).unwrap();
    let keyless = home.must(&command);
    assert_eq!(keyless.stdout, before.stdout);
    let said = format!("note: compiled code of {label} was not kept: ");
    assert!(keyless.stderr.starts_with(&said), "{}", keyless.stderr);
    // A folder of others, although nobody else can write it.
    if fs::metadata(&cache).unwrap().uid() == 0 {
        std::os::unix::fs::chown(&cache, Some(12345), None).unwrap();
        let foreign = home.must(&command);
        assert_eq!(foreign.stdout, before.stdout);
        assert!(
            foreign
                .stderr
                .contains("is not a folder that only its owner can")
        );
    } else {
        println!("skipped a cache of another owner: only root can make one");
    }
}

#[test]
fn temporary_files_of_an_interrupted_put_are_swept_and_told() {
    let home = TestHome::new();
    let tmp = home.path().join("artifacts/tmp");
    let left = tmp.join("0123456789abcdef0123456789abcdef");
    let mine = tmp.join("mine.txt");
    fs::write(&left, b"half").unwrap();
    fs::write(&mine, b"mine").unwrap();
    let checks = home.must(&["doctor"]).lines();
    let check = checks
        .iter()
        .find(|check| check["check"] == "temporary files")
        .unwrap();
    assert_eq!(check["health"], "note");
    assert_eq!(check["detail"], "1 removed: an interrupted put left them");
    assert!(!left.exists() && mine.exists());
}
