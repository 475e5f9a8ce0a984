//! Searches for the highest number of I/Os in flight whose latencies are within `latency_target`
//! (fio io_u.c, `lat_target_success`, `__lat_target_failed`). Pure; times are arguments.

#[cfg(test)]
mod tests;

use leadline_protocol::plan::job::LatencyTargetOptions;

const NS_PER_US: u64 = 1000;
/// The limit increases after this many successful tests at the highest depth below it.
const STABLE_TESTS: u32 = 3;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Progress {
    Searching,
    /// The depth was found; the last test runs at this depth.
    LastTest,
    /// The last test has ended.
    Found,
    /// An I/O was too slow although it was the only one in flight.
    Impossible,
}

#[derive(Clone, Debug)]
pub(crate) struct DepthSearch {
    options: LatencyTargetOptions,
    /// `iodepth`.
    max: u32,
    depth: u32,
    low: u32,
    high: u32,
    stable: u32,
    progress: Progress,
    /// Whether the I/Os in flight must complete before the next test.
    quiesces: bool,
    /// Start of the test, in ns.
    begin_ns: u64,
    ios: u64,
    slow_ios: u64,
}

impl DepthSearch {
    /// As in fio, the first test has one I/O in flight (`lat_target_init`).
    pub(crate) fn new(options: LatencyTargetOptions, max: u32) -> Self {
        Self {
            options,
            max,
            depth: 1,
            low: 1,
            high: max,
            stable: 0,
            progress: Progress::Searching,
            quiesces: false,
            begin_ns: 0,
            ios: 0,
            slow_ios: 0,
        }
    }

    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    pub(crate) fn progress(&self) -> Progress {
        self.progress
    }

    /// Whether no I/O may be submitted until those in flight have completed.
    pub(crate) fn quiesces(&self) -> bool {
        self.quiesces
    }

    /// Starts the next test once nothing is in flight.
    pub(crate) fn resume(&mut self, now_ns: u64) {
        self.quiesces = false;
        self.restart(now_ns);
    }

    /// Counts a completed I/O.
    pub(crate) fn complete(&mut self, latency_ns: u64, now_ns: u64) {
        self.ios += 1;
        if latency_ns <= self.options.target_us.saturating_mul(NS_PER_US) || self.is_done() {
            return;
        }
        if self.options.percentile < 100.0 {
            self.slow_ios += 1;
        } else if self.quiesces {
            // As in fio, I/Os that were submitted before the depth changed are ignored.
        } else if self.depth == 1 {
            self.progress = Progress::Impossible;
        } else {
            self.fail(now_ns);
        }
    }

    /// Ends the test if its time is up (`lat_target_check`).
    pub(crate) fn check(&mut self, now_ns: u64) {
        let window_ns = self.options.window_us.saturating_mul(NS_PER_US);
        if self.quiesces || self.is_done() || now_ns.saturating_sub(self.begin_ns) < window_ns {
            return;
        }
        // A test in which no I/O completes fails.
        let fast = self.ios.saturating_sub(self.slow_ios) as f64;
        if self.ios > 0 && fast * 100.0 / self.ios as f64 >= self.options.percentile {
            self.succeed(now_ns);
        } else {
            self.fail(now_ns);
        }
    }

    fn is_done(&self) -> bool {
        matches!(self.progress, Progress::Found | Progress::Impossible)
    }

    fn restart(&mut self, now_ns: u64) {
        self.begin_ns = now_ns;
        self.ios = 0;
        self.slow_ios = 0;
    }

    fn fail(&mut self, now_ns: u64) {
        // As in fio, the test continues if the depth cannot decrease (`lat_target_check`).
        if self.depth == 1 {
            return;
        }
        self.high = self.depth;
        if self.depth == self.low {
            self.low -= 1;
        }
        self.depth = u32::midpoint(self.depth, self.low).max(1);
        self.stable = 0;
        self.quiesces = true;
        self.restart(now_ns);
    }

    fn succeed(&mut self, now_ns: u64) {
        let last = self.depth;
        self.low = last;
        // The depth cannot increase further below this limit, although a higher depth may be fast
        // enough.
        if last + 1 == self.high {
            self.stable += 1;
            if self.stable >= STABLE_TESTS {
                self.high += 1;
                self.stable = 0;
            }
        }
        // Doubles until the first failure, then bisects.
        let next = if self.high == self.max {
            last.saturating_mul(2)
        } else {
            u32::midpoint(last, self.high)
        };
        self.depth = next.min(self.max);
        self.restart(now_ns);
        if self.options.continues || self.depth != last {
            return;
        }
        if self.progress == Progress::LastTest {
            self.progress = Progress::Found;
        } else {
            self.progress = Progress::LastTest;
            self.quiesces = true;
        }
    }
}
