//! The artifacts: every file read whole, every reference answered.

use model::Digest;
use store::artifacts::Found;
use store::{ArtifactError, Artifacts};

use super::Findings;
use super::history::References;
use crate::error::AppError;
use crate::progress::Progress;

/// What the artifact folders were found to hold.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) artifacts: u64,
    pub(super) bytes: u64,
    pub(super) orphans: u64,
}

pub(super) fn walk(
    artifacts: &Artifacts,
    references: &References,
    progress: &mut dyn Progress,
    findings: &mut Findings<'_>,
) -> Result<Files, AppError> {
    let mut wanted = references.kept.clone();
    // The first event that names an artifact stands for all of them.
    wanted.sort_unstable();
    wanted.dedup_by_key(|(digest, _)| *digest);
    let found = artifacts.list()?;
    progress.begin("verifying artifacts", u64::try_from(found.len()).ok());
    let mut files = Files::default();
    let mut present: Vec<Digest> = Vec::new();
    for entry in found {
        match entry {
            Found::Stray(path) => {
                let object = format!("file {}", path.display());
                findings.add(object, "stray", "it is no artifact, but lies among them")?;
            }
            Found::Artifact(digest) => {
                present.push(digest);
                let named = wanted
                    .binary_search_by_key(&digest, |(digest, _)| *digest)
                    .is_ok();
                files.orphans += u64::from(!named);
                match artifacts.check(digest) {
                    Ok(length) => {
                        files.artifacts += 1;
                        files.bytes += length;
                    }
                    Err(error) => report(digest, &error, findings)?,
                }
            }
        }
        progress.advance(1);
    }
    progress.end();
    present.sort_unstable();
    for (digest, seq) in wanted {
        let gone = present.binary_search(&digest).is_err();
        if gone && !references.erased.contains(&digest) {
            let detail = format!("the bytes are missing; event {seq} names them");
            findings.add(format!("artifact {digest}"), "missing", detail)?;
        }
    }
    Ok(files)
}

fn report(
    digest: Digest,
    error: &ArtifactError,
    findings: &mut Findings<'_>,
) -> Result<(), AppError> {
    let code = match error {
        ArtifactError::Corrupt { .. } => "corrupt",
        ArtifactError::Missing(_) => "missing",
        ArtifactError::NotAFile(_) | ArtifactError::TooLarge { .. } | ArtifactError::Io { .. } => {
            "unreadable"
        }
    };
    findings.add(format!("artifact {digest}"), code, error.to_string())
}
