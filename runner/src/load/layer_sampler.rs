//! Looks up which layer serves the I/Os in a random sample of a worker's I/Os, just before they are
//! submitted.
//!
//! The I/Os are divided into groups of N consecutive I/Os, and one I/O per group is chosen at
//! random. It represents N I/Os, so the estimate is unbiased for every access pattern. N adapts to
//! the I/O rate, so lookups take at most 0.5 % of the time. Initially, every I/O is looked up until
//! lookups have taken one millisecond.
//!
//! Lookups for a sequential stream run ahead of the stream's readahead, so pages that the stream
//! itself brings into the page cache do not count as cached. Random reads are not part of a stream:
//! if readahead for another read already fetched a page, they are served from memory.
//! `docs/decisions/0016-verdict-from-samples.md` explains the method.

mod interval;
pub(crate) mod layer_sums;
mod stream;
#[cfg(test)]
mod tests;
pub(crate) mod write_samples;

use crate::{
    load::{
        layer_sampler::{
            interval::Interval,
            stream::Stream,
            write_samples::{WriteSample, WriteSamples},
        },
        pattern::io::{Io, Kind},
        stats::WorkerStats,
    },
    system::layers::{StoredFile, lookup::spanned_bytes},
};
use leadline_protocol::{plan::job::ResolvedJob, verdict::StorageLayer};
use std::{ops::Range, sync::Arc};

/// Decorrelates sample selection from the offsets, which are generated from the same `randseed`.
const SEED: u64 = 0x6C61_7965_7273_A5A5;

pub(crate) struct LayerSampler {
    /// Indexed by the worker's targets.
    files: Vec<Arc<StoredFile>>,
    /// Indexed by target; `None` for random reads.
    streams: Vec<Option<Stream>>,
    direct: bool,
    /// Whether a block may be written twice in one pass over the region.
    rewrites: bool,
    /// Total size of the worker's regions, in bytes.
    region_bytes: u64,
    interval: Interval,
    writes: WriteSamples,
}

impl LayerSampler {
    /// `files` must be in the order of the worker's targets.
    pub(crate) fn new(job: &ResolvedJob, worker: u32, files: Vec<Arc<StoredFile>>) -> Self {
        let targets = job.targets_of(worker).zip(&files);
        let regions = job.targets_of(worker).map(|(_, target)| target.size);
        let count = files.len();
        let streams = targets.map(|((_, target), file)| Stream::new(job, target, count, file));
        let seed = job.pattern.randseed ^ u64::from(worker) ^ SEED;
        Self {
            streams: streams.collect(),
            direct: job.direct,
            rewrites: job.may_write_twice(),
            region_bytes: regions.sum(),
            interval: Interval::new(seed),
            writes: WriteSamples::new(seed, job.pattern.rw.writes()),
            files,
        }
    }

    /// Starts a phase. Its first I/O is looked up.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        self.streams.iter_mut().flatten().for_each(Stream::begin);
        self.interval.begin(now_ns);
        self.writes.clear();
    }

    /// Looks up an I/O, and returns how many subsequent I/Os to skip. `clock` returns ns.
    pub(crate) fn sample(
        &mut self,
        io: &Io,
        stats: &WorkerStats,
        clock: impl Fn() -> u64,
    ) -> usize {
        let begin_ns = clock();
        match io.kind {
            Kind::Read => self.look_up_read(io, stats),
            Kind::Write => self.look_up_write(io, stats),
            _ => {}
        }
        self.interval.next(begin_ns, clock())
    }

    fn look_up_read(&mut self, io: &Io, stats: &WorkerStats) {
        let target = usize::from(io.target);
        let file = &self.files[target];
        let layer_sums = &stats.of(Kind::Read).layers;
        let weight = self.interval.length();
        let read = |range: Range<u64>| file.read(range, self.direct);
        match &mut self.streams[target] {
            None => {
                let range = io.offset..io.offset + u64::from(io.len);
                layer_sums.add(weight, 1, read(range));
            }
            Some(stream) => stream.look_up(io, weight, read, layer_sums),
        }
    }

    /// Records a write to look up. Whether its data stayed in memory is determined at the end of
    /// the measurement.
    fn look_up_write(&mut self, io: &Io, stats: &WorkerStats) {
        let range = io.offset..io.offset + u64::from(io.len);
        let file = &self.files[usize::from(io.target)];
        let is_buffered = file.is_buffered(&range, self.direct);
        let before = is_buffered.then(|| file.pages(&range)).flatten();
        // Excludes pages under writeback: their old data reaches the device, and the write makes
        // them dirty again.
        let dirty = before.and_then(|before| before.dirty);
        let was_dirty = dirty.is_some_and(|dirty| dirty >= spanned_bytes(&range));
        self.writes.push(WriteSample {
            io: *io,
            weight: self.interval.length(),
            syncs_before: stats.of(Kind::Sync).ios.get(),
            was_dirty,
        });
        let is_rewrite = self.rewrites || stats.of(Kind::Write).bytes.get() > self.region_bytes;
        let weight = self.interval.length();
        match (file.layer_of_writes(), dirty) {
            (below, _) if !is_buffered => {
                stats.written.add_direct(weight, below, u64::from(io.len));
            }
            (StorageLayer::PageCache, _) => {
                stats.written.add_known(weight, StorageLayer::PageCache);
            }
            (_, None) => stats.written.add_known(weight, StorageLayer::Unknown),
            (_, Some(_)) if was_dirty && is_rewrite => {
                stats.written.add_known(weight, StorageLayer::PageCache);
            }
            (below, Some(dirty)) => {
                let dirtied = spanned_bytes(&range).saturating_sub(dirty);
                stats.written.add_dirtying(weight, below, dirtied);
            }
        }
    }

    /// Ends the last phase, and returns the writes that must be looked up.
    pub(crate) fn finish(mut self, stats: &WorkerStats) -> Vec<WriteSample> {
        let reads = stats.of(Kind::Read);
        let writes = stats.of(Kind::Write).ios.get();
        let is_alone = self.streams.len() == 1 && writes == 0;
        let ios = is_alone.then(|| reads.ios.get());
        for stream in self.streams.iter_mut().flatten() {
            stream.finish(ios, &reads.layers);
        }
        self.writes.into_samples()
    }
}
