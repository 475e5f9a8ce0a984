//! Lookups for sequential reads from one target.

use crate::{
    load::{layer_sampler::layer_sums::LayerSums, pattern::io::Io},
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

/// Maximum number of lookups at the start of a stream.
const MAX_FIRST_LOOKUPS: u64 = 4096;
/// Maximum number of pending lookups across all of a worker's streams. Further lookups are counted
/// immediately.
const MAX_PENDING: usize = 2 * MAX_FIRST_LOOKUPS as usize;
/// Minimum number of pending lookups per stream, regardless of the number of streams.
const MIN_PENDING: usize = 16;

/// Looks up the offset `distance` bytes ahead of the stream, which readahead has not reached yet.
/// At the start of the region, looks up everything up to that offset. A lookup is pending until the
/// stream reaches its offset, and is then counted.
pub(super) struct Stream {
    region: Range<u64>,
    /// Distance between the starts of two I/Os, in bytes.
    step: u64,
    /// How far to look ahead, in bytes; a multiple of `step`.
    distance: u64,
    /// Whether the stream starts over at the end of the region.
    repeats: bool,
    /// Completed passes over the region.
    passes: u64,
    /// Offset of the last I/O in the region.
    last: u64,
    /// Position of the first I/O in the phase.
    origin: u64,
    pending: VecDeque<Lookup>,
    /// Capacity of `pending`.
    max_pending: usize,
    /// Whether some blocks of a cached page may be missing.
    has_partial_pages: bool,
    rng: Xoshiro256PlusPlus,
}

/// A lookup of an offset that the stream has not reached yet.
struct Lookup {
    /// Bytes from the start of the first pass.
    position: u64,
    /// Length of the I/O group.
    weight: u64,
    /// Number of the group's I/Os that the lookup represents.
    ios: u64,
    found: LayerBytes,
}

impl Stream {
    /// Returns `None` for random reads, for backward reads, and if there is no readahead; such
    /// reads are looked up at their own offset. `targets`: how many targets the worker has.
    pub(super) fn new(
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
        // The lookup is ahead by at most a full pass minus one block, because the last block was
        // just read.
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
            has_partial_pages: file.cache_block_bytes() < page_size() as u64,
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

    /// `read` looks up a range.
    pub(super) fn look_up(
        &mut self,
        io: &Io,
        weight: u64,
        read: impl Fn(Range<u64>) -> LayerBytes,
        layer_sums: &LayerSums,
    ) {
        let offset = io.offset - self.region.start;
        let is_first = self.passes == 0 && self.last == 0 && self.pending.is_empty();
        self.passes += u64::from(offset < self.last);
        self.last = offset;
        let position = self.passes * self.size() + offset;
        self.count_until(position, layer_sums);
        if is_first {
            self.origin = position;
            self.look_up_start(io, weight, position, &read, layer_sums);
        }
        let next = position + self.distance;
        let pass_end = (self.passes + 1) * self.size();
        if next + u64::from(io.len) <= pass_end {
            self.add(io, weight, 1, next, &read, layer_sums);
        } else if self.repeats {
            let wrapped = next - next % self.size() % self.step;
            if wrapped % self.size() + u64::from(io.len) <= self.size() {
                self.add(io, weight, 1, wrapped, &read, layer_sums);
            }
        }
    }

    fn look_up_start(
        &mut self,
        io: &Io,
        weight: u64,
        position: u64,
        read: &impl Fn(Range<u64>) -> LayerBytes,
        layer_sums: &LayerSums,
    ) {
        let end = (position + self.distance).min(self.size());
        let ios = end.saturating_sub(position).div_ceil(self.step);
        let ios_per_lookup = ios.div_ceil(MAX_FIRST_LOOKUPS).max(1);
        for first in (0..ios).step_by(ios_per_lookup as usize) {
            let ios_here = ios_per_lookup.min(ios - first);
            let chosen = self.rng.random_range(0..ios_here);
            let offset = position + (first + chosen) * self.step;
            if offset + u64::from(io.len) <= self.size() {
                self.add(io, weight, ios_here, offset, read, layer_sums);
            }
        }
    }

    /// Adds a lookup.
    fn add(
        &mut self,
        io: &Io,
        weight: u64,
        ios: u64,
        position: u64,
        read: &impl Fn(Range<u64>) -> LayerBytes,
        layer_sums: &LayerSums,
    ) {
        let offset = self.region.start + position % self.size();
        let found = if self.is_read_with_previous_block(offset, u64::from(io.len), read) {
            LayerBytes::all(StorageLayer::PageCache, u64::from(io.len))
        } else {
            read(offset..offset + u64::from(io.len))
        };
        let lookup = Lookup {
            position,
            weight,
            ios,
            found,
        };
        if self.pending.len() == self.max_pending {
            lookup.count(layer_sums);
        } else {
            self.pending.push_back(lookup);
        }
    }

    /// Whether reading the preceding block also reads this one, because both are in the same page.
    fn is_read_with_previous_block(
        &self,
        offset: u64,
        len: u64,
        read: &impl Fn(Range<u64>) -> LayerBytes,
    ) -> bool {
        if starts_page(offset, len) {
            return false;
        }
        let page = offset - offset % page_size() as u64;
        let before = page.max(self.region.start)..offset;
        // If the preceding blocks are in memory, no earlier read fetches the missing blocks.
        !self.has_partial_pages || read(before).lowest() != StorageLayer::PageCache
    }

    /// Counts the lookups up to a position.
    fn count_until(&mut self, position: u64, layer_sums: &LayerSums) {
        while let Some(lookup) = self.pending.pop_front_if(|next| next.position <= position) {
            lookup.count(layer_sums);
        }
    }

    /// At the end of a phase, counts the lookups that the stream has reached. `ios`: the stream's
    /// number of I/Os; `None` if the worker also has other I/Os.
    pub(super) fn finish(&mut self, ios: Option<u64>, layer_sums: &LayerSums) {
        let end = match ios {
            Some(ios) => self.origin + ios.saturating_mul(self.step),
            None => self.passes * self.size() + self.last + self.step,
        };
        self.count_until(end.saturating_sub(1), layer_sums);
    }
}

impl Lookup {
    fn count(&self, layer_sums: &LayerSums) {
        layer_sums.add(self.weight, self.ios, self.found);
    }
}

/// Whether the range contains the first byte of a page.
fn starts_page(offset: u64, len: u64) -> bool {
    offset.next_multiple_of(page_size() as u64) < offset + len
}
