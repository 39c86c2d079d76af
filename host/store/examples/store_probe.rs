//! Does one thing with the store and tells each success on standard output, so that
//! tests can trace it, starve it and kill it.

use std::error::Error;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use model::event::home::HomePreregistered;
use model::event::{Event, Scope};
use model::{Digest, EventId, LedgerId, Timestamp};
use store::{Artifacts, Home, Ledger, LedgerError};

type Outcome = Result<(), Box<dyn Error>>;

const USAGE: &str = "store_probe put|group|create|append|record|home PATH COUNT";

fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or(USAGE);
    let (verb, path) = (next()?, PathBuf::from(next()?));
    let count: u32 = next()?.parse()?;
    match verb.as_str() {
        "put" => put(&path, count),
        "group" => group(&path, count),
        "create" => create(&path, count),
        "append" => append(&path, count),
        "record" => record(&path, count),
        "home" => home(&path),
        _ => Err(USAGE.into()),
    }
}

/// Says that something is durable.
fn tell(text: &str) -> Outcome {
    writeln!(io::stdout(), "{text}")?;
    Ok(())
}

fn body(number: u32) -> Vec<u8> {
    format!("body {number}").into_bytes()
}

fn note(digest: Digest, number: u32) -> Result<Event, Box<dyn Error>> {
    let mut random = [0; 10];
    getrandom::fill(&mut random).map_err(|error| error.to_string())?;
    let at = Timestamp::from_millisecond(1_700_000_000_000);
    Ok(Event {
        ledger: LedgerId::new(at, [7; 10]),
        id: EventId::new(at, random),
        at,
        actor: "operator".parse()?,
        cause: None,
        scope: Scope::default(),
        body: HomePreregistered {
            expected_sha256: digest,
            note: number.to_string(),
        }
        .into(),
        sig: None,
    })
}

/// Puts bodies one after the other.
fn put(root: &Path, count: u32) -> Outcome {
    let (artifacts, _) = Artifacts::open(root)?;
    for number in 0..count {
        tell(&artifacts.put(&body(number))?.to_hex())?;
    }
    Ok(())
}

/// Puts bodies in one group.
fn group(root: &Path, count: u32) -> Outcome {
    let (artifacts, _) = Artifacts::open(root)?;
    let bodies: Vec<_> = (0..count).map(body).collect();
    let group: Vec<_> = bodies.iter().map(Vec::as_slice).collect();
    for digest in artifacts.put_all(&group)? {
        tell(&digest.to_hex())?;
    }
    Ok(())
}

/// Creates a ledger of so many events.
fn create(path: &Path, count: u32) -> Outcome {
    let notes: Vec<_> = (0..count)
        .map(|number| note(Digest::of(&body(number)), number))
        .collect::<Result<_, _>>()?;
    Ledger::create::<LedgerError>(path, |writer| {
        notes
            .iter()
            .try_for_each(|note| writer.append(note).map(drop))
    })?;
    tell("created")
}

/// Appends events, each in a transaction of its own.
fn append(path: &Path, count: u32) -> Outcome {
    let mut ledger = Ledger::open(path)?;
    for number in 0..count {
        let event = note(Digest::of(&body(number)), number)?;
        let mut writer = ledger.writer()?;
        let seq = writer.append(&event)?;
        writer.commit()?;
        tell(&seq.to_string())?;
    }
    Ok(())
}

/// Puts bodies and appends an event that names each.
fn record(folder: &Path, count: u32) -> Outcome {
    let home = Home::at(folder);
    let mut ledger = Ledger::open(&home.ledger())?;
    let (artifacts, _) = Artifacts::open(home.artifacts())?;
    for number in 0..count {
        let digest = artifacts.put(&body(number))?;
        let mut writer = ledger.writer()?;
        let seq = writer.append(&note(digest, number)?)?;
        writer.commit()?;
        tell(&format!("{seq} {}", digest.to_hex()))?;
    }
    Ok(())
}

/// Makes a home with one of everything, and keeps it open until its input ends.
fn home(folder: &Path) -> Outcome {
    let home = Home::at(folder);
    home.create_folders()?;
    home.write_file(&home.config(), b"")?;
    let (artifacts, _) = Artifacts::open(home.artifacts())?;
    let digest = artifacts.put(&body(0))?;
    let first = note(digest, 0)?;
    let mut ledger =
        Ledger::create::<LedgerError>(&home.ledger(), |writer| writer.append(&first).map(drop))?;
    let mut writer = ledger.writer()?;
    writer.append(&note(digest, 1)?)?;
    writer.commit()?;
    tell("open")?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
