//! `rebuild`: the caches, made again from the events.

use serde::Serialize;

use crate::context::Session;
use crate::error::AppError;
use crate::progress::Progress;
use crate::projecting::summary;

/// How many calls are projected between two questions to the ledger.
const PAGE: u32 = 1000;

/// What `rebuild` found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Rebuilt {
    /// Calls that were projected again.
    pub calls: u64,
    /// Summaries that were missing or old.
    pub missing: u64,
    /// Summaries that said something else about the same events.
    pub different: u64,
}

impl Session {
    /// Derives every cached projection again, in one transaction.
    pub fn rebuild(&mut self, progress: &mut dyn Progress) -> Result<Rebuilt, AppError> {
        progress.begin("rebuilding", Some(self.count_calls()?));
        let writer = self.ledger.writer()?;
        let mut rebuilt = Rebuilt::default();
        let mut made = Vec::new();
        let mut seq = 0;
        loop {
            let reader = writer.reader();
            let page = reader.calls_after(seq, PAGE)?;
            let Some((last, _)) = page.last() else { break };
            seq = *last;
            let steps = u64::try_from(page.len()).unwrap_or(0);
            for (_, call) in page {
                let Some(fresh) = summary(reader, &reader.of_call(call)?)? else {
                    continue;
                };
                rebuilt.calls += 1;
                let (scope, upto, text) = &fresh;
                match reader.projection(*scope)? {
                    Some(row) if row.seq == *upto && row.value == *text => {}
                    Some(row) if row.seq == *upto => rebuilt.different += 1,
                    _ => rebuilt.missing += 1,
                }
                made.push(fresh);
            }
            progress.advance(steps);
        }
        writer.clear_projections()?;
        for (scope, upto, text) in made {
            writer.cache_projection(scope, upto, &text)?;
        }
        writer.commit_rebuilt()?;
        progress.end();
        Ok(rebuilt)
    }
}
