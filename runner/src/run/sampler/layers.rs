//! Estimates which layers served the I/Os in each sample and in the phase so far, based on the
//! workers' lookups.

use crate::{
    analysis::{
        layer_shares::SharesByDirection,
        sampled_reads::SampledReads,
        sampled_writes::{PhaseWrites, WriteReading, WriteWindow},
    },
    run::sampler::totals::IoTotals,
};
use leadline_protocol::{counters::Residency, sample::Sample};

pub(crate) struct PhaseLayers {
    last_reads: SampledReads,
    writes: PhaseWrites,
}

/// Lookups in one sample.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LayersInSample {
    /// `None` if reads cannot be looked up, for example on a pipe.
    pub reads: Option<SampledReads>,
    /// The write window that ended with this sample, if any.
    pub writes: Option<WriteWindow>,
}

impl PhaseLayers {
    /// `now_ms`: start of the phase, in ms since the start of the run. `dirty_bytes`: the targets'
    /// dirty bytes at that time.
    pub(crate) fn new(now_ms: f64, dirty_bytes: Option<u64>) -> Self {
        Self {
            last_reads: SampledReads::default(),
            writes: PhaseWrites::new(WriteReading {
                at_ms: now_ms,
                dirty_bytes,
                ..WriteReading::default()
            }),
        }
    }

    /// `phase_so_far`: totals of all samples in the phase. `residency`: present if it was read at
    /// the end of this sample.
    pub(crate) fn push(
        &mut self,
        now_ms: f64,
        totals: &IoTotals,
        phase_so_far: &Sample,
        residency: Option<Residency>,
    ) -> (LayersInSample, SharesByDirection) {
        let reads = totals.sampled_reads;
        let in_sample = reads.since(&self.last_reads);
        self.last_reads = reads;
        let writes = self.writes.push(WriteReading {
            at_ms: now_ms,
            sampled: totals.sampled_writes,
            dirty_bytes: residency.and_then(|residency| residency.pending_write_bytes()),
            by_process: phase_so_far.storage.map(|storage| storage.write_bytes),
        });
        let is_looked_up = reads.samples > 0;
        let in_sample = LayersInSample {
            reads: is_looked_up.then_some(in_sample),
            writes,
        };
        let so_far = SharesByDirection {
            read: is_looked_up.then(|| reads.shares()),
            write: self.writes.so_far(),
        };
        (in_sample, so_far)
    }
}
