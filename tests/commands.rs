//! The command line itself: help, JSON, pipes, names, and what is said to whom.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::ledger::row_count;
use crate::recording_support::{Provider, REQUEST, call_once, chat_reply, home_with};
use crate::support::{INIT_EVENTS, Ran, TestHome, V1, V2, after_init, chat, root, text};

/// Runs this program without a home.
fn reread(arguments: &[&str]) -> Ran {
    Command::new(env!("CARGO_BIN_EXE_reread"))
        .args(arguments)
        .env("REREAD_HOME", "/nonexistent")
        .output()
        .unwrap()
        .into()
}

/// Runs a pipeline in bash; `$REREAD` is this program over a home.
fn pipeline(home: &TestHome, script: &str) -> Ran {
    Command::new("bash")
        .args(["-c", script])
        .env("REREAD", env!("CARGO_BIN_EXE_reread"))
        .env("REREAD_HOME", home.path())
        .current_dir(home.path().parent().unwrap())
        .output()
        .unwrap()
        .into()
}

/// The options and commands of each command, as the completion script for bash has
/// them. Its names have no dashes.
fn completed() -> BTreeMap<String, Vec<String>> {
    let script = reread(&["completions", "bash"]).stdout;
    let lines: Vec<_> = script.lines().map(str::trim).collect();
    let pairs = lines.iter().zip(&lines[1..]);
    pairs
        .filter_map(|(name, options)| {
            let name = name.strip_suffix(')')?;
            let options = options.strip_prefix("opts=\"")?.strip_suffix('"')?;
            let options = options.split(' ').map(str::to_owned);
            Some((name.to_owned(), options.collect()))
        })
        .collect()
}

/// Every command, as the help lists them.
fn commands() -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut looked_at = 0;
    while let Some(words) = commands.get(looked_at).cloned() {
        looked_at += 1;
        let arguments: Vec<_> = words.iter().map(String::as_str).chain(["-h"]).collect();
        let help = reread(&arguments).stdout;
        let listed = help
            .lines()
            .skip_while(|line| *line != "Commands:")
            .skip(1)
            .take_while(|line| line.starts_with("  "))
            .filter_map(|line| line.split_whitespace().next());
        commands.extend(listed.map(|word| [&words[..], &[word.to_owned()]].concat()));
    }
    commands
}

/// What only the program itself starts.
const HIDDEN: [&str; 3] = ["compile-module", "demo-forge", "demo-provider"];

#[test]
fn every_command_has_help_that_names_each_of_its_options_and_commands() {
    let mut completed = completed();
    let mut options_seen = 0;
    for words in commands() {
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let name = [&["reread"][..], &words].concat().join("-");
        let options = completed.remove(&name.replace('-', "__subcmd__")).unwrap();
        for (flag, help) in [("-h", "short"), ("--help", "long")] {
            let ran = reread(&[&words[..], &[flag]].concat());
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{words:?}");
            for option in options
                .iter()
                .filter(|name| !HIDDEN.contains(&name.as_str()))
            {
                let named = ran
                    .stdout
                    .split(|c: char| !(c.is_alphanumeric() || c == '-'));
                assert!(
                    named.into_iter().any(|word| word == option),
                    "the {help} help of {words:?} does not name {option}"
                );
                options_seen += 1;
            }
            assert!(ran.stdout.contains("Usage: reread"), "{words:?}");
        }
    }
    let left: Vec<_> = completed.into_keys().collect();
    let hidden = HIDDEN.map(|name| format!("reread-{name}").replace('-', "__subcmd__"));
    assert_eq!(left, hidden);
    assert!(options_seen > 400, "only {options_seen} options were seen");
}

#[test]
fn completions_and_manual_pages_are_made_for_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = reread(&["completions", shell]);
        assert_eq!(script.code, 0, "{shell}");
        for word in ["reinterpret", "who-read", "allow-older"] {
            assert!(script.stdout.contains(word), "{shell} lacks {word}");
        }
        let document = reread(&["completions", shell, "--json"]).document();
        assert_eq!(text(&document, "completions"), script.stdout);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let made = reread(&["man", path]);
    assert_eq!(
        (made.code, made.stdout.as_str(), made.stderr.as_str()),
        (0, "", "")
    );
    for words in commands() {
        let name = [&["reread".to_owned()][..], &words].concat();
        let page = folder.path().join(format!("{}.1", name.join("-")));
        let name = page.display().to_string();
        let page = fs::read_to_string(page).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(page.contains(".SH SYNOPSIS"), "{name}");
    }
    let document = reread(&["man", path, "--json"]).document();
    assert_eq!(document, json!({ "manual_pages": path }));
    let missing = format!("{path}/missing");
    let refused = reread(&["man", &missing, "--json"]).refused(2);
    let message = format!("{missing}: No such file or directory (os error 2)");
    assert_eq!(refused, ("file".to_owned(), message));
}

#[test]
fn what_is_not_promised_is_told() {
    let limits = reread(&["limits"]);
    assert_eq!((limits.code, limits.stderr.as_str()), (0, ""));
    let start = "What Reread does not promise\n\n";
    assert!(limits.stdout.starts_with(start), "{}", limits.stdout);
    for promise in [
        "nor that what a model said is true",
        "It is not authentication.",
        "can rewrite all of history. Only a",
        "Nothing derived ever stands in for them.",
        "They are not encrypted",
    ] {
        assert!(limits.stdout.contains(promise), "{promise}");
    }
    let document = reread(&["limits", "--json"]).document();
    assert_eq!(text(&document, "limits"), limits.stdout);
    let version = reread(&["--version"]);
    assert_eq!(version.code, 0);
    assert!(version.stdout.starts_with("reread "), "{version:?}");
}

#[test]
fn unknown_commands_and_options_are_usage_errors_in_both_forms() {
    for (arguments, message) in [
        (vec!["nope"], "unrecognized subcommand 'nope'"),
        (vec!["log", "--nope"], "unexpected argument '--nope' found"),
        (vec!["state", "nope"], "unrecognized subcommand 'nope'"),
        (vec!["log", "extra"], "unexpected argument 'extra' found"),
        (
            vec!["log", "--after", "-1"],
            "unexpected argument '-1' found",
        ),
        (
            vec!["log", "--limit", "many"],
            "invalid value 'many' for '--limit <N>': invalid digit found in string",
        ),
        (
            vec!["reinterpret", "all", "--status", "done"],
            "invalid value 'done' for '--status <STATUS>'",
        ),
        (
            vec!["show"],
            "the following required arguments were not provided:\n  <ID>",
        ),
        (
            vec!["completions", "csh"],
            "invalid value 'csh' for '<SHELL>'",
        ),
    ] {
        let plain = reread(&arguments);
        assert_eq!(
            (plain.code, plain.stdout.as_str()),
            (2, ""),
            "{arguments:?}"
        );
        let start = format!("error: {message}\n");
        assert!(plain.stderr.starts_with(&start), "{}", plain.stderr);
        let (code, found) = reread(&[&arguments[..], &["--json"]].concat()).refused(2);
        assert_eq!(code, "usage");
        assert!(found.starts_with(&format!("{message}\n")), "{found}");
    }
    let nothing = reread(&[]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (2, ""));
    assert!(nothing.stderr.contains("Usage: reread [OPTIONS] <COMMAND>"));
}

/// Runs a command line with `--json` and asserts that only JSON lines are printed.
fn prints_json(home: &TestHome, command: &str, code: i32) {
    let ran: Ran = home
        .command(&[&["--json"], &command.split(' ').collect::<Vec<_>>()[..]].concat())
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap()
        .into();
    assert_eq!(ran.code, code, "{command}: {ran:?}");
    let lines = ran.lines();
    assert!(lines.iter().all(Value::is_object), "{command}");
    if code == 0 {
        assert!(!lines.is_empty(), "{command} printed nothing");
    } else {
        assert!(lines.is_empty(), "{command}: {ran:?}");
        assert_eq!(ran.error()["exit_code"], code);
    }
}

#[test]
fn every_command_prints_json_lines_and_nothing_else_when_asked_to() {
    let provider = Provider::start(&json!([chat_reply()]));
    let home = home_with(&provider.url(), "openai.chat", "");
    let request = home.write("request.json", REQUEST);
    let made = call_once(&home, REQUEST);
    let made = text(&made, "call");
    let receipts = home.path().with_file_name("receipts");
    let file = home.write_exchanges("one.jsonl", &[chat("one", "All of it.", "stop")]);
    let criteria = home.write("criteria", b"it is there\n");
    let module = home.write("module.wasm", b"no module");
    let pages = home.path().with_file_name("pages");
    fs::create_dir(&pages).unwrap();
    let [file, criteria, module, pages, request, receipts] =
        [file, criteria, module, pages, request, receipts]
            .map(|path| path.to_str().unwrap().to_owned());
    let imported = home.must(&["import", "exchange", &file]).lines();
    let (call, attempt) = (text(&imported[0], "call"), text(&imported[0], "attempt"));
    let shown = home.must(&["show", attempt]).document();
    let sha = text(&shown["response"], "sha256");
    let create = format!("task create t --output o --criteria {criteria}");
    let task = home.must(&create.split(' ').collect::<Vec<_>>()).document();
    let task = text(&task, "task");
    let fixtures = root().join("tests/fixtures").display().to_string();
    let done = format!(
        "demo\ndemo acceptance\ndemo-provider --receipts {receipts} --body {file}\npreregister {criteria}\n\
         call run --provider kestrel --request {request}\nrecover {made}\nredecide {made}\n\
         finalize {made}\nstate open\ncheck run --task {task} --output o --artifact {sha} -- true\n\
         derive {file} --from {sha} --tool t\n{create}\ntask show {task}\ntask list\nimport exchange {file}\n\
         import har {fixtures}/chat.har\nimport vcr {fixtures}/chat.yaml\n\
         import openai-batch {fixtures}/batch.jsonl\n\
         interpret {attempt}\ninterpret all\nreinterpret attempt {attempt}\n\
         reinterpret call {call}\nreinterpret all\nreinterpret all --dry-run\n\
         cost attempt {attempt} --prices {fixtures}/prices.json\n\
         cost call {call} --prices {fixtures}/prices.json\n\
         cost all --prices {fixtures}/prices.json\n\
         state\nimpact\ndiff --from attempt-interpretation-v1 --to attempt-interpretation-v3\nstate call {call}\nstate task {task}\nshow {call}\nlog\noutput {attempt}\n\
         output {attempt} --store\nartifact cat {sha}\nmodule list\n\
         module show attempt-interpretation-v2\nwho-read {sha}\n\
         reads-of attempt-interpretation-v2\nverify\nverify --replay\ncheckpoint\n\
         checkpoint --key\nrebuild\ndoctor\nlimits\ncompletions fish\nman {pages}"
    );
    for command in done.lines() {
        prints_json(&home, command, 0);
    }
    let refused = format!("init\ncompile-module\nshow nope\nman {pages}/nope");
    for command in refused.lines() {
        prints_json(&home, command, 2);
    }
    prints_json(&home, &format!("module add {module}"), 7);
    prints_json(&home, &format!("resume {made}"), 4);
    let accept = format!("accept --task {task} --output o --artifact {sha} --policy nope");
    prints_json(&home, &accept, 5);
    let forge = format!("demo-forge --task {task} --output o --artifact {sha}");
    prints_json(&home, &forge, 0);
    // Every command of the help was among them.
    for words in commands() {
        let name = words.join(" ");
        let mut run = done
            .lines()
            .chain(refused.lines())
            .chain(["module add", "resume", "accept"]);
        assert!(
            run.any(|line| line.starts_with(&name)),
            "{name} was not run"
        );
    }
}

#[test]
fn a_reader_that_has_seen_enough_ends_what_only_prints_and_stops_no_work() {
    let home = TestHome::new();
    let lines: Vec<_> = (0..600)
        .map(|number| chat(&format!("{number}"), "An answer.", "stop"))
        .collect();
    home.write_exchanges("many.jsonl", &lines);
    let first = |command: &str| {
        let script = format!("\"$REREAD\" {command} | head -n 1; echo ${{PIPESTATUS[0]}}");
        let ran = pipeline(&home, &script);
        assert_eq!(ran.stderr, "", "{command}");
        let lines: Vec<_> = ran.stdout.lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 2, "{command}: {lines:?}");
        assert_eq!(lines[1], "0", "{command}");
        lines[0].clone()
    };
    // The work is done to its end although nobody reads of it any more.
    first("--json import exchange many.jsonl");
    assert_eq!(row_count(&home), after_init(2 * 600));
    first("--json reinterpret all");
    assert_eq!(row_count(&home), after_init(4 * 600));
    for command in ["log", "--json log"] {
        assert!(first(command).contains("home.created"), "{command}");
    }
    first("--json --quiet interpret all");
    first("--json --quiet reads-of attempt-interpretation-v2");
    first("completions bash");

    // What was found is told by the exit code all the same.
    fs::remove_dir_all(home.path().join("artifacts/sha256")).unwrap();
    let script = "\"$REREAD\" verify | true; echo ${PIPESTATUS[0]}";
    let ran = pipeline(&home, script);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("3\n", ""));
    let script = "\"$REREAD\" --json import exchange many.jsonl --strict | true; \
                  echo ${PIPESTATUS[0]}";
    let ran = pipeline(&home, script);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("4\n", ""));
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let home = TestHome::new();
    for command in ["log", "--json log", "state", "module list", "limits"] {
        let ran = pipeline(&home, &format!("\"$REREAD\" {command} >/dev/full"));
        assert_eq!(ran.code, 1, "{command}");
        assert!(
            ran.stderr.contains("No space left on device"),
            "{command}: {}",
            ran.stderr
        );
    }
}

#[test]
fn quiet_silences_talk_and_neither_data_nor_errors() {
    let (home, _) = TestHome::importing(&[chat("one", "All of it.", "stop")]);
    for (command, talk) in [
        (vec!["interpret", "all"], "1 read, 0 refused\n"),
        (
            vec!["reads-of", "attempt-interpretation-v1"],
            "0 readings\n",
        ),
        (
            vec!["checkpoint"],
            "note: keep this where this home's owner cannot write; only a checkpoint seen \
             elsewhere catches a rewritten history\n",
        ),
    ] {
        let normal: Ran = home.command(&command).output().unwrap().into();
        let quiet: Ran = home
            .command(&command)
            .arg("--quiet")
            .output()
            .unwrap()
            .into();
        assert_eq!((normal.code, normal.stderr.as_str()), (0, talk));
        assert_eq!((quiet.code, quiet.stderr.as_str()), (0, ""));
        assert_eq!(quiet.stdout, normal.stdout);
    }
    let refused: Ran = home
        .command(&["show", "nope", "--quiet"])
        .output()
        .unwrap()
        .into();
    let said = "error: unknown id: nope\n\nhint: `reread log` shows what there is, `reread state \
                open` what is left to do\n";
    assert_eq!((refused.code, refused.stderr.as_str()), (2, said));
}

#[test]
fn the_actor_is_recorded_and_a_text_that_is_no_name_is_refused() {
    let (home, imported) = TestHome::importing(&[chat("one", "All of it.", "stop")]);
    let call = ["reinterpret", "call", text(&imported[0], "call")];
    let named = ["--actor", "Ada Lovelace (reviews)"];
    home.must(&[&call[..], &V2, &named].concat());
    let actors: Vec<_> = home
        .must(&["log", "--after", &INIT_EVENTS.to_string()])
        .lines()
        .iter()
        .map(|event| text(event, "actor").to_owned())
        .collect();
    assert_eq!(actors, ["operator", "operator", named[1], named[1]]);
    let long = "n".repeat(513);
    for (actor, shown) in [
        ("", ""),
        ("two\nlines", "two\nlines"),
        ("\u{1b}[2J", "\u{1b}[2J"),
        (long.as_str(), &long[..80]),
    ] {
        let (code, message) = home.refuses(&["log", "--actor", actor], 2);
        assert_eq!(code, "usage");
        let expected = format!(
            "expected an actor's name of 1 to 512 bytes without control characters, found {shown:?}"
        );
        assert_eq!(message, expected);
    }
}

#[test]
fn what_a_provider_says_moves_no_cursor_and_makes_no_line() {
    let reason = "stop\u{1b}[2J\nforged \u{9b}1m line";
    let (home, imported) = TestHome::importing(&[chat("one", "A \u{1b}[2J\nB", reason)]);
    let attempt = text(&imported[0], "attempt");
    let printed: Ran = home
        .command(&["interpret", attempt])
        .output()
        .unwrap()
        .into();
    assert_eq!(printed.stdout.lines().count(), 1, "{printed:?}");
    let written = "reason stop\\u{1b}[2J\\nforged \\u{9b}1m line error";
    assert!(printed.stdout.contains(written), "{printed:?}");
    // In JSON and in the log it is what it was; the output is data and stays exact.
    let read = home.must(&["interpret", attempt]).document();
    assert_eq!(read["reading"]["provider_reason"], reason);
    let output: Ran = home.command(&["output", attempt]).output().unwrap().into();
    assert_eq!(output.stdout, "A \u{1b}[2J\nB");
    let name = "no\u{1b}[2Jsuch";
    let refused: Ran = home
        .command(&["module", "show", name])
        .output()
        .unwrap()
        .into();
    let said = "error: unknown module: no\\u{1b}[2Jsuch\n";
    assert!(refused.stderr.starts_with(said), "{refused:?}");
}

#[test]
fn the_demo_needs_a_folder_of_its_own() {
    let home = TestHome::missing();
    let file = home.write("file", b"mine");
    let beside = file.parent().unwrap();
    let path = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let (file, full) = (path(&file), path(beside));
    let refused = reread(&["demo", "--dir", &full, "--json"]).refused(2);
    let message = format!("{full} is not empty: the demo needs a folder of its own");
    assert_eq!(refused, ("usage".to_owned(), message));
    let refused = reread(&["demo", "--dir", &file, "--json"]).refused(2);
    let message = format!("{file}: Not a directory (os error 20)");
    assert_eq!(refused, ("file".to_owned(), message));
    assert_eq!(fs::read_dir(beside).unwrap().count(), 1);
}

#[test]
fn a_reason_for_a_step_back_that_is_empty_long_or_of_two_lines_is_refused() {
    let (home, imported) = TestHome::importing(&[chat("one", "All of it.", "stop")]);
    let call = ["reinterpret", "call", text(&imported[0], "call")];
    home.must(&[&call[..], &V2].concat());
    let long = "r".repeat(100_000);
    for (reason, found) in [("", "none"), ("two\nlines", "one"), (&long, "100000")] {
        let option = format!("--allow-older={reason}");
        for of in [&call[..], &["reinterpret", "all"]] {
            let refused = home.refuses(&[of, &V1, &[option.as_str()]].concat(), 2);
            let message = format!(
                "--allow-older: expected 1 to 512 bytes without control characters, found {found}"
            );
            assert_eq!(refused, ("usage".to_owned(), message));
        }
    }
}
