//! Looks up which layer serves the I/Os in a random sample of a worker's I/Os, just before they are
//! submitted.
//!
//! The I/Os are divided into groups of N consecutive I/Os, and one I/O per group is chosen at
//! random. It represents N I/Os, so the estimate is unbiased for every access pattern. N adapts to
//! the I/O rate, so that lookups take at most 0.5 % of the time. Initially, every I/O is looked up
//! until lookups have taken one millisecond.
//!
//! Lookups for a sequential stream are ahead of the stream's readahead, so pages that the stream
//! itself brings into the page cache do not count as cached.
//! `docs/decisions/0016-verdict-from-samples.md` explains the method.

mod interval;
mod stream;
pub(crate) mod tally;
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
    system::layers::{StoredFile, lookup::spanned, snapshot::Snapshot},
};
use leadline_protocol::{
    job::{distribution::Distribution, keyword::Fadvise},
    plan::job::ResolvedJob,
};
use rustix::param::page_size;
use std::sync::Arc;

/// Decorrelates sample selection from the offsets, which use the same `randseed`.
const SEED: u64 = 0x6C61_7965_7273_A5A5;

pub(crate) struct LayerSampler {
    /// Indexed by the worker's targets.
    files: Vec<Arc<StoredFile>>,
    /// Indexed by target; `None` for random reads.
    streams: Vec<Option<Stream>>,
    /// Indexed by target: cached pages at the start of the phase, if the worker reads each page
    /// once and at random while readahead adds other pages.
    snapshots: Vec<Option<Snapshot>>,
    needs_snapshots: bool,
    direct: bool,
    interval: Interval,
    writes: WriteSamples,
}

impl LayerSampler {
    /// `files` must be in the order of the worker's targets.
    pub(crate) fn new(job: &ResolvedJob, worker: u32, files: Vec<Arc<StoredFile>>) -> Self {
        let targets = job.targets_of(worker).zip(&files);
        let count = files.len();
        let streams = targets.map(|((_, target), file)| Stream::of(job, target, count, file));
        let seed = job.pattern.randseed ^ u64::from(worker) ^ SEED;
        Self {
            streams: streams.collect(),
            snapshots: Vec::new(),
            needs_snapshots: reads_once(job) && has_readahead(job, &files),
            direct: job.direct,
            interval: Interval::new(seed),
            writes: WriteSamples::new(seed, job.pattern.rw.writes()),
            files,
        }
    }

    /// Starts a phase, whose first I/O is looked up.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        if self.needs_snapshots {
            let snapshots = self.files.iter().map(|file| Snapshot::of(file));
            self.snapshots = snapshots.collect();
        }
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
        let tally = &stats.of(Kind::Read).layers;
        let weight = self.interval.length();
        let snapshot = self.snapshots.get(target).and_then(Option::as_ref);
        let read = |offset: u64| {
            let range = offset..offset + u64::from(io.len);
            file.read(range, self.direct, snapshot)
        };
        match &mut self.streams[target] {
            None => tally.add(weight, 1, read(io.offset)),
            Some(stream) => stream.look_up(io, weight, read, tally),
        }
    }

    /// Records a write to look up. Whether its data stayed in memory is determined at the end of
    /// the measurement.
    fn look_up_write(&mut self, io: &Io, stats: &WorkerStats) {
        let range = io.offset..io.offset + u64::from(io.len);
        let file = &self.files[usize::from(io.target)];
        let is_buffered = file.is_buffered(&range, self.direct);
        let before = is_buffered.then(|| file.pages(&range)).flatten();
        let pending = before.and_then(|before| before.pending_write_bytes());
        self.writes.push(WriteSample {
            io: *io,
            weight: self.interval.length(),
            syncs_before: stats.of(Kind::Sync).ios.get(),
            was_dirty: pending.is_some_and(|pending| pending >= spanned(&range)),
        });
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
/// Whether a random job reads each page at most once.
fn reads_once(job: &ResolvedJob) -> bool {
    let pattern = &job.pattern;
    let sizes = &pattern.bs.read;
    let has_map = pattern.rw.is_random()
        && !pattern.norandommap
        && pattern.random_distribution.read == Distribution::Random;
    let is_shared = job.numjobs > 1 && job.targets.iter().any(|target| target.worker.is_none());
    let repeats = job.timing.time_based || job.timing.loops > 1 || job.timing.is_io_size_requested;
    let has_whole_pages = sizes.min == sizes.max && sizes.min.is_multiple_of(page_size() as u64);
    has_map && !is_shared && !repeats && has_whole_pages
}

/// Whether a job's random reads pass through a page cache that reads ahead.
fn has_readahead(job: &ResolvedJob, files: &[Arc<StoredFile>]) -> bool {
    let is_buffered = !job.direct && job.target.fadvise_hint != Fadvise::Random;
    files
        .iter()
        .any(|file| file.readahead_bytes(is_buffered) > 0)
}
