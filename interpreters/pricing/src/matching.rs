//! Which row of a table applies.

use alloc::borrow::{Cow, ToOwned as _};
use alloc::format;
use alloc::string::String;

use crate::Request;
use crate::cost::shortened;
use crate::table::{Row, Table};

/// What a table has for a response.
pub(crate) enum Choice<'t, 'a> {
    Row(&'t Row<'a>),
    /// Nothing, and why.
    None(String),
    /// Two rows, by their positions, of which neither is more specific.
    Several(usize, usize),
}

/// Finds the row that names the model most specifically, among those that apply.
pub(crate) fn choose<'t, 'a>(
    table: &'t Table<'a>,
    request: &Request<'_>,
    day: &str,
) -> Choice<'t, 'a> {
    let Some(model) = request.model else {
        return Choice::None("the response names no model".to_owned());
    };
    let mut best: Option<(Rank, usize, &Row<'_>)> = None;
    let mut rival = None;
    let mut named = false;
    for (position, row) in table.rows.iter().enumerate() {
        let Some(rank) = row.rank(model) else {
            continue;
        };
        named = true;
        if !row.applies(request, day) {
            continue;
        }
        match &best {
            Some((highest, _, _)) if rank < *highest => {}
            Some((highest, first, _)) if rank == *highest => {
                rival = rival.or(Some((*first, position)));
            }
            Some(_) | None => {
                best = Some((rank, position, row));
                rival = None;
            }
        }
    }
    match (best, rival) {
        (Some(_), Some((first, second))) => Choice::Several(first, second),
        (Some((_, _, row)), None) => Choice::Row(row),
        (None, _) => {
            let of = if named {
                " of this provider, dialect and day"
            } else {
                ""
            };
            Choice::None(format!("no price for model \"{}\"{of}", shortened(model)))
        }
    }
}

/// How specific a pattern is: exact names before starts, longer before shorter.
type Rank = (bool, usize);

impl Row<'_> {
    /// Returns how specifically the row names a model.
    fn rank(&self, model: &str) -> Option<Rank> {
        let ranks = self.models.iter().filter_map(|pattern| {
            let length = pattern.len();
            match pattern.strip_suffix('*') {
                Some(start) => model.starts_with(start).then_some((false, length)),
                None => (**pattern == *model).then_some((true, length)),
            }
        });
        ranks.max()
    }

    fn applies(&self, request: &Request<'_>, day: &str) -> bool {
        let is = |wanted: &Option<Cow<'_, str>>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        is(&self.provider, request.provider)
            && is(&self.dialect, Some(request.dialect))
            && self.from.as_deref().is_none_or(|from| from <= day)
            && self.until.as_deref().is_none_or(|until| day < until)
    }
}
