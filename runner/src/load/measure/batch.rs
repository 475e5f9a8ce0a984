//! A batch of consecutive completions that have the same times and are counted together.

use crate::load::{
    pattern::io::{Io, Kind},
    stats::{IoTimes, WorkerStats},
};

#[derive(Default)]
pub(crate) struct CompletionBatch {
    kind: Kind,
    times: IoTimes,
    n: u64,
    bytes: u64,
}

impl CompletionBatch {
    pub(crate) fn new(times: IoTimes) -> Self {
        Self {
            times,
            ..Self::default()
        }
    }

    /// Adds a completion. If its kind or times differ, records the batch and starts a new one.
    #[inline]
    pub(crate) fn add(&mut self, io: &Io, times: IoTimes, now_ns: u64, stats: &WorkerStats) {
        if self.times != times || self.kind != io.kind {
            self.record(now_ns, stats);
            *self = Self {
                kind: io.kind,
                ..Self::new(times)
            };
        }
        self.n += 1;
        self.bytes += u64::from(io.len);
    }

    #[inline]
    pub(crate) fn record(&self, now_ns: u64, stats: &WorkerStats) {
        if self.n > 0 {
            stats
                .of(self.kind)
                .record(self.times, now_ns, self.n, self.bytes);
        }
    }
}
