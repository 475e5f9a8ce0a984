//! Writes that are looked up at the end of the measurement.

use crate::load::pattern::io::Io;
use rand::{RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};

/// Maximum number of samples. When it is reached, half of them are removed.
const CAPACITY: usize = 2048;

#[derive(Clone, Copy, Debug)]
pub(crate) struct WriteSample {
    pub io: Io,
    /// Number of I/Os that the sample represents.
    pub weight: u64,
    /// Number of the worker's syncs that completed before the write.
    pub syncs_before: u64,
    /// Whether all pages were already dirty; if so, earlier writes to them did not reach the device
    /// separately.
    pub was_dirty: bool,
}

pub(super) struct WriteSamples {
    samples: Vec<WriteSample>,
    /// One of every `stride` samples is kept, chosen at random.
    stride: u64,
    /// Number of samples to skip before the next one is kept.
    before: u64,
    /// Number of samples in the current group after the kept one.
    after: u64,
    rng: Xoshiro256PlusPlus,
}

impl WriteSamples {
    /// `is_used`: whether the job writes.
    pub(super) fn new(seed: u64, is_used: bool) -> Self {
        let capacity = if is_used { CAPACITY } else { 0 };
        Self {
            samples: Vec::with_capacity(capacity),
            stride: 1,
            before: 0,
            after: 0,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    pub(super) fn clear(&mut self) {
        self.samples.clear();
        self.stride = 1;
        self.before = 0;
        self.after = 0;
    }

    pub(super) fn push(&mut self, sample: WriteSample) {
        if self.before > 0 {
            self.before -= 1;
            return;
        }
        if self.samples.len() == CAPACITY {
            self.halve();
        }
        let weight = sample.weight * self.stride;
        self.samples.push(WriteSample { weight, ..sample });
        let chosen = self.rng.random_range(0..self.stride);
        self.before = self.after + chosen;
        self.after = self.stride - 1 - chosen;
    }

    /// Removes one of every two samples at random. The remaining samples represent twice as many
    /// I/Os.
    fn halve(&mut self) {
        let mut kept = 0;
        for pair in 0..self.samples.len() / 2 {
            let chosen = 2 * pair + usize::from(self.rng.random::<bool>());
            let mut sample = self.samples[chosen];
            sample.weight *= 2;
            self.samples[kept] = sample;
            kept += 1;
        }
        self.samples.truncate(kept);
        self.stride *= 2;
    }

    pub(super) fn into_samples(self) -> Vec<WriteSample> {
        self.samples
    }
}
