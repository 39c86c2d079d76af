//! Work on every core, in pages, with the results in order.

use std::num::NonZeroUsize;

use crate::error::AppError;

/// Computes something of every item of a page.
pub(crate) fn map<T: Sync, R: Send, E: Send>(
    work: &[T],
    compute: impl Fn(&T) -> Result<R, E> + Sync,
    lost: impl Fn(AppError) -> E,
) -> Vec<Result<R, E>> {
    map_and(work, compute, lost, || ()).0
}

/// Does so, and something else on this thread meanwhile. `lost` makes an error for
/// the items of a worker that stopped early.
pub(crate) fn map_and<T: Sync, R: Send, E: Send, M>(
    work: &[T],
    compute: impl Fn(&T) -> Result<R, E> + Sync,
    lost: impl Fn(AppError) -> E,
    meanwhile: impl FnOnce() -> M,
) -> (Vec<Result<R, E>>, M) {
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let share = work.len().div_ceil(threads).max(1);
    let compute = &compute;
    std::thread::scope(|scope| {
        let workers: Vec<_> = work
            .chunks(share)
            .map(|chunk| {
                let worker = scope.spawn(move || chunk.iter().map(compute).collect::<Vec<_>>());
                (chunk.len(), worker)
            })
            .collect();
        let done = meanwhile();
        let results = workers
            .into_iter()
            .flat_map(|(count, worker)| {
                worker.join().unwrap_or_else(|_| {
                    let stopped = || AppError::Damage("a worker stopped early".to_owned());
                    let stopped = || Err(lost(stopped()));
                    std::iter::repeat_with(stopped).take(count).collect()
                })
            })
            .collect();
        (results, done)
    })
}
