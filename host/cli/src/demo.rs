//! `demo`: stories, each step in a process of its own, each claim printed with its
//! evidence. What is expected is fixed by its hash before anything runs.

mod acceptance;
mod claims;
mod day_three;
mod days;
mod expected;
mod look;
mod provider;
mod stage;

use std::path::{Path, PathBuf};

use app::AppError;

use crate::exit;
use crate::printer::Printer;
use claims::Claims;
use stage::Stage;

/// Tells a story on a stage.
type Tell = fn(&Stage, &mut Claims<'_>) -> anyhow::Result<()>;

/// Tells the story of three days. Without a folder nothing of it stays.
pub(crate) fn three_days(dir: Option<&Path>, printer: &mut Printer) -> anyhow::Result<u8> {
    run(days::tell, dir, printer)
}

/// Tells the story of finished work. Without a folder nothing of it stays.
pub(crate) fn finished_work(dir: Option<&Path>, printer: &mut Printer) -> anyhow::Result<u8> {
    run(acceptance::tell, dir, printer)
}

fn run(tell: Tell, dir: Option<&Path>, printer: &mut Printer) -> anyhow::Result<u8> {
    let folder = Folder::open(dir)?;
    let stage = Stage::new(folder.path())?;
    let mut claims = Claims::new(printer);
    tell(&stage, &mut claims)?;
    let holds = claims.finish(dir)?;
    Ok(if holds { exit::DONE } else { exit::DAMAGE })
}

/// Serves as the provider of the story.
pub(crate) fn serve(receipts: &Path, body: &Path, printer: &mut Printer) -> anyhow::Result<u8> {
    provider::serve(receipts, body, printer)
}

/// Where the story takes place.
enum Folder {
    Kept(PathBuf),
    Temporary(tempfile::TempDir),
}

impl Folder {
    fn open(dir: Option<&Path>) -> anyhow::Result<Self> {
        let Some(dir) = dir else {
            return Ok(Self::Temporary(
                tempfile::Builder::new().prefix("reread-demo-").tempdir()?,
            ));
        };
        let file = |source| AppError::File {
            path: dir.to_owned(),
            source,
        };
        let empty = match std::fs::read_dir(dir) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                std::fs::create_dir_all(dir).map_err(file)?;
                true
            }
            Err(error) => return Err(file(error).into()),
        };
        if empty {
            Ok(Self::Kept(dir.to_owned()))
        } else {
            let text = format!(
                "{} is not empty: the demo needs a folder of its own",
                dir.display()
            );
            Err(AppError::Usage(text).into())
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Temporary(folder) => folder.path(),
        }
    }
}
