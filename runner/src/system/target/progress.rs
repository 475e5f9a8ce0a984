//! Progress of a phase, counted in bytes.

use leadline_protocol::phase::{Phase, PhaseChange, PhaseState};
use std::time::{Duration, Instant};

const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// Reports `PhaseState::Progress` every 100 ms, and once all bytes are done.
pub(crate) struct Progress<'a> {
    phase: Phase,
    report: &'a mut dyn FnMut(PhaseChange),
    done: u64,
    total: u64,
    last: Instant,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(phase: Phase, total: u64, report: &'a mut dyn FnMut(PhaseChange)) -> Self {
        Self {
            phase,
            report,
            done: 0,
            total,
            last: Instant::now(),
        }
    }

    pub(crate) fn add(&mut self, bytes: u64, path: &str) {
        self.done += bytes;
        if self.last.elapsed() < REPORT_INTERVAL && self.done != self.total {
            return;
        }
        self.last = Instant::now();
        (self.report)(PhaseChange {
            phase: self.phase,
            state: PhaseState::Progress,
            done_bytes: Some(self.done),
            total_bytes: Some(self.total),
            planned_ms: None,
            note: Some(path.into()),
        });
    }
}
