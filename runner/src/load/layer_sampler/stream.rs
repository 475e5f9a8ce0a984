//! Sequential reads of one target.

use crate::{
    load::{layer_sampler::tally::LayerTally, pattern::io::Io},
    system::layers::{LayerBytes, StoredFile},
};
use leadline_protocol::{
    job::keyword::Fadvise,
    plan::{job::ResolvedJob, target::Target},
    verdict::StorageLayer,
};
use rand::{RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};
use rustix::param::page_size;
use std::{collections::VecDeque, ops::Range};

/// Lookups at the start of a stream.
const MAX_FIRST_LOOKUPS: u64 = 4096;
/// Lookups of all streams of a worker that they have not reached yet. Further ones count at once.
const MAX_PENDING: usize = 2 * MAX_FIRST_LOOKUPS as usize;
/// For each stream, however many there are.
const MIN_PENDING: usize = 16;

/// Looks up the place that the stream reaches after `distance` bytes, which its readahead has not
/// reached yet. At the start of the region, it looks up everything up to there. A lookup counts when
/// the stream reaches its place.
pub(super) struct Stream {
    region: Range<u64>,
    /// Distance between two I/Os in bytes.
    step: u64,
    /// A multiple of `step`.
    distance: u64,
    /// The stream starts again at the end of the region.
    repeats: bool,
    /// Completed passes over the region.
    passes: u64,
    /// Offset of the last I/O in the region.
    last: u64,
    /// Position of the first I/O of the phase.
    origin: u64,
    pending: VecDeque<Lookup>,
    /// Capacity of `pending`.
    max_pending: usize,
    rng: Xoshiro256PlusPlus,
}

/// A lookup of a place ahead.
struct Lookup {
    /// Bytes from the start of the first pass.
    position: u64,
    /// Length of the group of I/Os.
    weight: u64,
    /// I/Os of the group that it stands for.
    ios: u64,
    found: LayerBytes,
}

impl Stream {
    /// `None` for random reads, for backward reads, and without readahead: these are looked up in
    /// place. `targets`: of the worker.
    pub(super) fn of(
        job: &ResolvedJob,
        target: &Target,
        targets: usize,
        file: &StoredFile,
    ) -> Option<Self> {
        let gap = job.pattern.rw_modifier.unwrap_or(0);
        let sizes = &job.pattern.bs.read;
        let is_buffered = !job.direct && job.target.fadvise_hint != Fadvise::Random;
        let readahead = file.readahead_bytes(is_buffered);
        if job.pattern.rw.is_random() || gap < 0 || !job.pattern.rw.reads() || readahead == 0 {
            return None;
        }
        let in_flight = u64::from(job.in_flight()) * sizes.max;
        let step = sizes.max + gap.unsigned_abs();
        let ahead = readahead + 2 * in_flight;
        // At most a pass ahead, less a block: the place of the last block was just read.
        let a_pass = target.size.saturating_sub(step).max(step);
        let max_pending = (MAX_PENDING / targets.max(1)).max(MIN_PENDING);
        Some(Self {
            region: target.offset..target.offset + target.size,
            step,
            distance: ahead.min(a_pass).next_multiple_of(step),
            repeats: job.timing.time_based || job.timing.loops > 1,
            passes: 0,
            last: 0,
            origin: 0,
            pending: VecDeque::with_capacity(max_pending),
            max_pending,
            rng: Xoshiro256PlusPlus::seed_from_u64(job.pattern.randseed),
        })
    }

    fn size(&self) -> u64 {
        self.region.end - self.region.start
    }

    /// Starts a phase.
    pub(super) fn begin(&mut self) {
        self.pending.clear();
        self.passes = 0;
        self.last = 0;
        self.origin = 0;
    }

    /// `read` looks up an offset.
    pub(super) fn look_up(
        &mut self,
        io: &Io,
        weight: u64,
        read: impl Fn(u64) -> LayerBytes,
        tally: &LayerTally,
    ) {
        let offset = io.offset - self.region.start;
        let is_first = self.passes == 0 && self.last == 0 && self.pending.is_empty();
        self.passes += u64::from(offset < self.last);
        self.last = offset;
        let position = self.passes * self.size() + offset;
        self.count_until(position, tally);
        if is_first {
            self.origin = position;
            self.look_up_start(io, weight, position, &read, tally);
        }
        let next = position + self.distance;
        let pass_end = (self.passes + 1) * self.size();
        if next + u64::from(io.len) <= pass_end {
            self.add(io, weight, 1, next, &read, tally);
        } else if self.repeats {
            let wrapped = next - next % self.size() % self.step;
            if wrapped % self.size() + u64::from(io.len) <= self.size() {
                self.add(io, weight, 1, wrapped, &read, tally);
            }
        }
    }

    fn look_up_start(
        &mut self,
        io: &Io,
        weight: u64,
        position: u64,
        read: &impl Fn(u64) -> LayerBytes,
        tally: &LayerTally,
    ) {
        let end = (position + self.distance).min(self.size());
        let ios = end.saturating_sub(position).div_ceil(self.step);
        let ios_per_lookup = ios.div_ceil(MAX_FIRST_LOOKUPS).max(1);
        for first in (0..ios).step_by(ios_per_lookup as usize) {
            let ios_here = ios_per_lookup.min(ios - first);
            let chosen = self.rng.random_range(0..ios_here);
            let place = position + (first + chosen) * self.step;
            if place + u64::from(io.len) <= self.size() {
                self.add(io, weight, ios_here, place, read, tally);
            }
        }
    }

    /// A block in a page that the block before it has read needs no lookup.
    fn add(
        &mut self,
        io: &Io,
        weight: u64,
        ios: u64,
        position: u64,
        read: &impl Fn(u64) -> LayerBytes,
        tally: &LayerTally,
    ) {
        let offset = self.region.start + position % self.size();
        let found = if starts_page(offset, u64::from(io.len)) {
            read(offset)
        } else {
            LayerBytes::all(StorageLayer::PageCache, u64::from(io.len))
        };
        let lookup = Lookup {
            position,
            weight,
            ios,
            found,
        };
        if self.pending.len() == self.max_pending {
            lookup.count(tally);
        } else {
            self.pending.push_back(lookup);
        }
    }

    /// Counts the lookups up to a position.
    fn count_until(&mut self, position: u64, tally: &LayerTally) {
        while let Some(lookup) = self.pending.pop_front_if(|next| next.position <= position) {
            lookup.count(tally);
        }
    }

    /// Counts the lookups that the stream has reached at the end. `ios`: its number of I/Os; `None`
    /// if the worker also has others.
    pub(super) fn finish(&mut self, ios: Option<u64>, tally: &LayerTally) {
        let end = match ios {
            Some(ios) => self.origin + ios.saturating_mul(self.step),
            None => self.passes * self.size() + self.last + self.step,
        };
        self.count_until(end.saturating_sub(1), tally);
    }
}

impl Lookup {
    fn count(&self, tally: &LayerTally) {
        tally.add(self.weight, self.ios, self.found);
    }
}

/// Whether the range contains the first byte of a page.
fn starts_page(offset: u64, len: u64) -> bool {
    offset.next_multiple_of(page_size() as u64) < offset + len
}
