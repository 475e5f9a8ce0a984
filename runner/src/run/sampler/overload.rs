//! Detects that I/Os arrive faster than the storage completes them. If so, continuing the run
//! yields no new information. Performs no I/O.
//!
//! Pauses, slow starts, throttling and devices that have become slower do not end a run early.

use leadline_protocol::{
    plan::job::OverloadOptions,
    report::arrivals::{Overload, SIGNIFICANT},
};
use std::collections::VecDeque;

const NS_PER_MS: u64 = 1_000_000;
/// Number of parts into which the period is divided. The backlog must grow in each of them.
const PARTS: usize = 5;
/// If a part has fewer completed I/Os than this share of the mean, it contains a pause.
const MIN_SHARE_OF_MEAN: f64 = 0.5;
/// If the completion rate is below this share of the best earlier rate, the storage has slowed
/// down, possibly temporarily.
const MIN_SHARE_OF_BEST: f64 = 0.9;

/// A job's counters at one time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// CLOCK_MONOTONIC, in ns.
    pub at_ns: u64,
    /// I/Os that are due but not complete.
    pub backlog: u64,
    /// Arrivals so far.
    pub due: u64,
    /// Completed I/Os so far.
    pub completed: u64,
}

pub(super) struct Detector {
    options: OverloadOptions,
    /// Length of a part.
    part_ns: u64,
    /// The start of the measured window; 0 before the first reading.
    start_ns: u64,
    /// Counters at the boundaries of the most recent parts.
    marks: VecDeque<Mark>,
    /// Highest completion rate of any earlier period, in I/Os per ns.
    best: f64,
}

impl Detector {
    pub(super) fn new(options: OverloadOptions) -> Self {
        Self {
            options,
            part_ns: options.duration_ms * NS_PER_MS / PARTS as u64,
            start_ns: 0,
            marks: VecDeque::with_capacity(PARTS + 1),
            best: 0.0,
        }
    }

    /// Adds a reading. Returns the last period if the job was overloaded during it. Times must
    /// increase.
    pub(super) fn push(&mut self, mark: Mark) -> Option<Overload> {
        if self.start_ns == 0 {
            self.start_ns = mark.at_ns;
        }
        if let Some(last) = self.marks.back() {
            let elapsed_ns = mark.at_ns - last.at_ns;
            if elapsed_ns < self.part_ns {
                return None;
            }
            // The time between the readings cannot be evaluated: the runner was paused, or the
            // readings are too far apart.
            if elapsed_ns > self.part_ns * 3 / 2 {
                self.marks.clear();
            }
        }
        self.marks.push_back(mark);
        if self.marks.len() <= PARTS {
            return None;
        }
        let overload = self.evaluate();
        self.marks.pop_front();
        overload
    }

    /// `None` unless all conditions are met; see `docs/measurement.md`.
    fn evaluate(&mut self) -> Option<Overload> {
        let (first, last) = (*self.marks.front()?, *self.marks.back()?);
        let elapsed_ns = last.at_ns - first.at_ns;
        let completed = last.completed.saturating_sub(first.completed);
        let rate = completed as f64 / elapsed_ns as f64;
        let best = self.best;
        self.best = best.max(rate);
        let due = last.due.saturating_sub(first.due);
        let growth = last.backlog.saturating_sub(first.backlog);
        let is_above_limit = self
            .marks
            .iter()
            .all(|mark| mark.backlog > self.options.backlog);
        let parts = || self.marks.iter().zip(self.marks.iter().skip(1));
        let is_rising = parts().all(|(begin, end)| end.backlog > begin.backlog);
        let is_significant = growth as f64 > SIGNIFICANT * (due as f64).sqrt();
        let is_served = parts().all(|(begin, end)| {
            let completed = end.completed.saturating_sub(begin.completed) as f64;
            let elapsed_ns = (end.at_ns - begin.at_ns) as f64;
            completed > 0.0 && completed >= MIN_SHARE_OF_MEAN * rate * elapsed_ns
        });
        let is_best = rate >= MIN_SHARE_OF_BEST * best;
        let is_overloaded = is_above_limit && is_rising && is_significant && is_served && is_best;
        is_overloaded.then(|| Overload {
            after_ms: (last.at_ns - self.start_ns) / NS_PER_MS,
            period_ms: elapsed_ns / NS_PER_MS,
            limit: self.options.backlog,
            backlog_at_start: first.backlog,
            backlog_at_end: last.backlog,
            due,
            completed,
        })
    }
}

#[cfg(test)]
mod tests;
