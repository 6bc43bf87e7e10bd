//! Progress while it runs: one line that changes on a terminal, a line every few seconds elsewhere, on standard error.

use std::io::{IsTerminal, Write as _};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tokio::time::Instant;

use crate::recording::Recorder;
use crate::report::units;

/// How often a line is written where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(2);

/// Shows how the run goes.
#[derive(Debug)]
pub(crate) struct Progress {
    kind: Kind,
    start: Instant,
}

#[derive(Debug)]
enum Kind {
    Quiet,
    Bar(ProgressBar),
    Lines { next: Instant },
}

// === impl Progress ===

impl Progress {
    /// Of a run that takes so long.
    pub(crate) fn new(is_quiet: bool, start: Instant, lasts: Duration) -> Self {
        let kind = if is_quiet {
            Kind::Quiet
        } else if std::io::stderr().is_terminal() {
            let bar = ProgressBar::new(lasts.as_millis() as u64);
            let style = ProgressStyle::with_template("{bar:24} {percent:>3}%  {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━━ "));
            Kind::Bar(bar)
        } else {
            Kind::Lines { next: start + LINE_EVERY }
        };
        Self { kind, start }
    }

    /// Before anything is measured.
    pub(crate) fn warm_up(&mut self, under_way: u64) {
        self.show(|| format!("warming up, {under_way} batches under way"));
    }

    /// What the last `seconds` have brought, and the errors of the whole run.
    pub(crate) fn tick(&mut self, last: &Recorder, seconds: f64, under_way: u64, errors: u64) {
        self.show(|| {
            let batch = last.batch.shown();
            let ms = |quantile| units::milliseconds(batch.value_at_quantile(quantile) as f64 / 1e6);
            let rate = units::count(last.calls as f64 / seconds);
            let (p50, p99) = (ms(0.5), ms(0.99));
            format!("{under_way} under way, {rate} calls/s, p50 {p50}, p99 {p99}, {errors} errors")
        });
    }

    /// The load has ended; batches under way are waited for.
    pub(crate) fn finish(&mut self) {
        if let Kind::Bar(bar) = &self.kind {
            bar.finish_and_clear();
        }
        self.kind = Kind::Quiet;
    }

    fn show(&mut self, message: impl FnOnce() -> String) {
        let now = Instant::now();
        match &mut self.kind {
            Kind::Quiet => {}
            Kind::Bar(bar) => {
                bar.set_position((now - self.start).as_millis() as u64);
                bar.set_message(message());
            }
            Kind::Lines { next } if now >= *next => {
                *next = now + LINE_EVERY;
                writeln!(std::io::stderr(), "{:>6.1} s  {}", (now - self.start).as_secs_f64(), message()).ok();
            }
            Kind::Lines { .. } => {}
        }
    }
}
