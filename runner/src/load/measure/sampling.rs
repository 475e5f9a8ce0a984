//! Tracks which I/Os are looked up before they are submitted.

use crate::{
    load::{layer_sampler::LayerSampler, pattern::io::Io, stats::WorkerStats},
    system::clock::Clock,
};

pub(crate) struct Sampling {
    /// `None` if no I/O is looked up.
    sampler: Option<LayerSampler>,
    /// Number of I/Os to submit before the next lookup.
    skip: usize,
}

impl Default for Sampling {
    fn default() -> Self {
        Self {
            sampler: None,
            skip: usize::MAX,
        }
    }
}

impl Sampling {
    pub(crate) fn new(sampler: LayerSampler) -> Self {
        Self {
            sampler: Some(sampler),
            skip: 0,
        }
    }

    /// Starts a phase. Its first I/O is looked up.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        if let Some(sampler) = &mut self.sampler {
            sampler.begin(now_ns);
            self.skip = 0;
        }
    }

    /// Whether one of the next `n` I/Os is looked up.
    #[inline(always)]
    pub(crate) fn is_due(&mut self, n: usize) -> bool {
        let is_due = self.skip < n;
        if !is_due {
            self.skip -= n;
        }
        is_due
    }

    /// Looks up the chosen I/Os among the next I/Os. Must be called after `is_due`.
    #[cold]
    #[inline(never)]
    pub(crate) fn look_up(&mut self, next: &[Io], stats: &WorkerStats, clock: &impl Clock) {
        while let Some(sampler) = &mut self.sampler
            && self.skip < next.len()
        {
            self.skip += 1 + sampler.sample(&next[self.skip], stats, || clock.now_ns());
        }
        self.skip -= next.len();
    }

    pub(crate) fn take(&mut self) -> Option<LayerSampler> {
        self.sampler.take()
    }
}
