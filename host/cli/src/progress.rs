//! A progress bar, only on a terminal.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shows progress on standard error when that is a terminal.
#[derive(Debug)]
pub(crate) struct Bar {
    shown: bool,
    bar: Option<ProgressBar>,
}

impl Bar {
    pub(crate) fn new(quiet: bool) -> Self {
        Self {
            shown: !quiet && std::io::stderr().is_terminal(),
            bar: None,
        }
    }
}

impl app::Progress for Bar {
    fn begin(&mut self, what: &'static str, steps: Option<u64>) {
        if !self.shown {
            return;
        }
        let bar = match steps {
            Some(steps) => ProgressBar::new(steps),
            None => ProgressBar::no_length(),
        };
        let template = if steps.is_some() {
            "{msg} {wide_bar} {human_pos}/{human_len} {per_sec} eta {eta}"
        } else {
            "{msg} {human_pos} {per_sec}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(what);
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
        self.bar = Some(bar);
    }

    fn advance(&mut self, steps: u64) {
        if let Some(bar) = &self.bar {
            bar.inc(steps);
        }
    }

    fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
