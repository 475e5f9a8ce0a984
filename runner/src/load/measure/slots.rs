//! Numbered slots for I/Os in flight.

use crate::load::{pattern::io::Io, stats::IoTimes};

pub(crate) struct Slots {
    /// Indexed by slot.
    pub ios: Box<[Io]>,
    /// Indexed by slot.
    pub times: Box<[IoTimes]>,
    /// Slot numbers. Slots at index `used` and above are free. The `batch` slots before them were
    /// submitted by the last call. This is a stack because the most recently returned buffer is the
    /// most likely to be in the CPU cache.
    pub order: Box<[u32]>,
    pub used: usize,
    pub batch: usize,
    /// Slots to resubmit because the kernel could not accept the I/O (EAGAIN) or a signal
    /// interrupted it (EINTR).
    pub retries: Vec<u32>,
}

impl Slots {
    pub(crate) fn new(depth: usize) -> Self {
        Self {
            ios: vec![Io::default(); depth].into(),
            times: vec![IoTimes::default(); depth].into(),
            order: (0..depth as u32).collect(),
            used: 0,
            batch: 0,
            retries: Vec::with_capacity(depth),
        }
    }

    pub(crate) fn depth(&self) -> usize {
        self.ios.len()
    }

    /// Number of I/Os in flight, excluding those that are waiting for a retry.
    #[inline(always)]
    pub(crate) fn in_flight(&self) -> usize {
        self.used - self.retries.len()
    }

    /// Stores the times of the last batch until its I/Os are reaped.
    #[inline(never)]
    pub(crate) fn store_times(&mut self, batch: usize, times: IoTimes) {
        for &slot in &self.order[self.used - batch..self.used] {
            self.times[slot as usize] = times;
        }
    }
}
