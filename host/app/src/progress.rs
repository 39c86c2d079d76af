//! How long work says how far it is.

/// Is told about long work as it goes on.
pub trait Progress {
    /// Work of so many steps begins; none when the number is not known.
    fn begin(&mut self, what: &'static str, steps: Option<u64>);

    /// So many more steps are done.
    fn advance(&mut self, steps: u64);

    /// The work is done.
    fn end(&mut self);
}

/// Says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&mut self, _what: &'static str, _steps: Option<u64>) {}

    fn advance(&mut self, _steps: u64) {}

    fn end(&mut self) {}
}
