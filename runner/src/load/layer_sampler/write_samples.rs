//! Writes that are looked up at the end of the measurement.

use crate::load::pattern::io::Io;

/// Further samples replace every other one.
const CAPACITY: usize = 2048;

#[derive(Clone, Copy, Debug)]
pub(crate) struct WriteSample {
    pub io: Io,
    /// I/Os that it stands for.
    pub weight: u64,
    /// Syncs of the worker that were complete before the write.
    pub syncs_before: u64,
    /// Every page was already dirty, so earlier writes to them did not reach the device separately.
    pub was_dirty: bool,
}

pub(super) struct WriteSamples {
    samples: Vec<WriteSample>,
    /// Every n-th sample is kept.
    stride: u64,
    seen: u64,
}

impl Default for WriteSamples {
    fn default() -> Self {
        Self {
            samples: Vec::with_capacity(CAPACITY),
            stride: 1,
            seen: 0,
        }
    }
}

impl WriteSamples {
    pub(super) fn clear(&mut self) {
        self.samples.clear();
        self.stride = 1;
        self.seen = 0;
    }

    pub(super) fn push(&mut self, sample: WriteSample) {
        let is_kept = self.seen.is_multiple_of(self.stride);
        self.seen += 1;
        if !is_kept {
            return;
        }
        if self.samples.len() == CAPACITY {
            self.halve();
        }
        let weight = sample.weight * self.stride;
        self.samples.push(WriteSample { weight, ..sample });
    }

    /// Removes every other sample; the others stand for twice as many I/Os.
    fn halve(&mut self) {
        let mut index = 0;
        self.samples.retain_mut(|sample| {
            sample.weight *= 2;
            index += 1;
            index % 2 == 1
        });
        self.stride *= 2;
    }

    pub(super) fn into_samples(self) -> Vec<WriteSample> {
        self.samples
    }
}
