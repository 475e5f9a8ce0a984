//! Access pattern: kind, target, offset and size of each I/O. Pure and seeded: the same job always
//! generates the same list.
//!
//! A worker draws its I/Os in batches. `direction_mix` chooses the direction, `size_distribution`
//! the size, `file_chooser` the target, and `offset_generator` the offset; `sync_interval` inserts
//! syncs between writes. There are no allocations after `new`. `rate` decides when an I/O is due,
//! and `data` generates the data to write.

pub(crate) mod direction;
pub(crate) mod direction_mix;
pub(crate) mod file_chooser;
pub(crate) mod io;
pub(crate) mod offset_distribution;
pub(crate) mod offset_generator;
pub(crate) mod permutation;
pub(crate) mod random_map;
pub(crate) mod shuffle_bag;
pub(crate) mod size_distribution;
pub(crate) mod sync_interval;
#[cfg(test)]
pub(crate) mod tests;

use crate::load::pattern::{
    direction::DirectionState,
    direction_mix::DirectionMix,
    file_chooser::FileChooser,
    io::{Io, Kind},
    offset_generator::OffsetGenerator,
    sync_interval::SyncInterval,
};
use leadline_protocol::plan::job::ResolvedJob;
use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
use std::mem;

/// Multiplier that gives each worker a distinct seed: an odd number with irregular bits (L'Ecuyer).
const WORKER_STRIDE: u64 = 0xd134_2543_de82_ef95;

/// One worker's I/Os, generated on demand.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    rng: Xoshiro256PlusPlus,
    mix: DirectionMix,
    /// Reads, writes and trims, indexed by `Kind`.
    directions: [DirectionState; 3],
    /// Indexed by target.
    offsets: Vec<OffsetGenerator>,
    targets: FileChooser,
    syncs: SyncInterval,
    /// The last trim of `rw=trimwrite`.
    last_trim: Io,
    /// Bytes left to transfer; `u64::MAX` if unlimited.
    bytes_left: u64,
    ios_left: u64,
    /// Size of the smallest I/O in bytes.
    smallest: u64,
    bulk: Option<Bulk>,
}

/// A list that is generated in bulk because all I/Os have the same size, in bytes.
#[derive(Clone, Copy, Debug)]
enum Bulk {
    /// The I/Os differ only in direction and random offset.
    Random(u64),
    /// All I/Os have the same direction, and each follows the last one at a higher offset.
    Sequential(u64),
}

impl Pattern {
    pub(crate) fn new(job: &ResolvedJob, worker: u32) -> Self {
        let options = &job.pattern;
        let worker_seed = WORKER_STRIDE.wrapping_mul(u64::from(worker));
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(options.randseed.wrapping_add(worker_seed));
        let directions = DirectionState::all(job);
        let offsets: Vec<OffsetGenerator> = job
            .targets_of(worker)
            .map(|(_, target)| {
                OffsetGenerator::new(
                    target,
                    &directions,
                    options.norandommap,
                    options.zones,
                    &mut rng,
                )
            })
            .collect();
        let mix = DirectionMix::new(job, &mut rng);
        let used = || mix.kinds().iter().map(|kind| &directions[*kind as usize]);
        let smallest = used().map(|direction| direction.smallest()).min();
        let smallest = smallest.unwrap_or(1);
        let syncs = SyncInterval::new(options.fsync, options.fdatasync);
        let first = &directions[mix.kinds()[0] as usize];
        let has_bulk = offsets.len() == 1 && !mix.is_sequenced() && options.zones.is_none();
        let is_random = used()
            .all(|direction| direction.is_uniformly_random() && direction.has_same_blocks(first));
        let bulk = if !has_bulk {
            None
        } else if is_random {
            Some(Bulk::Random(smallest))
        } else if mix.kinds().len() == 1 && first.is_uniformly_sequential() && syncs.is_disabled() {
            Some(Bulk::Sequential(smallest))
        } else {
            None
        };
        let bytes_per_pass = offsets.iter().map(|offset| offset.bytes_per_pass(smallest));
        Self {
            bulk,
            mix,
            targets: FileChooser::new(options.file_service.clone(), bytes_per_pass, &mut rng),
            directions,
            offsets,
            syncs,
            last_trim: Io::default(),
            bytes_left: if job.timing.time_based {
                u64::MAX
            } else {
                job.io_size_of(worker)
            },
            // `number_ios` is per pass, as in fio.
            ios_left: job
                .timing
                .number_ios
                .map_or(u64::MAX, |ios| ios.saturating_mul(job.timing.loops)),
            smallest,
            rng,
        }
    }

    /// Fills `out` with the next I/Os and returns their number; 0 when all work is done (`io_size`
    /// bytes or `number_ios` I/Os). Syncs count neither as I/Os nor as bytes.
    pub(crate) fn draw(&mut self, out: &mut [Io]) -> usize {
        match self.bulk {
            Some(Bulk::Random(len)) => return self.draw_random(len, out),
            Some(Bulk::Sequential(len)) => {
                let filled = self.draw_sequential(len, out);
                if filled > 0 {
                    return filled;
                }
                // The next I/O is shorter or starts a new pass, or there is none.
            }
            None => {}
        }
        for (filled, slot) in out.iter_mut().enumerate() {
            match self.next() {
                Some(io) => *slot = io,
                None => return filled,
            }
        }
        out.len()
    }

    /// Not inlined, because that would add instructions to other jobs (`worker/instructions`).
    #[inline(never)]
    fn draw_random(&mut self, len: u64, out: &mut [Io]) -> usize {
        let mut filled = 0;
        while filled < out.len() {
            if let Some(sync) = self.take_due_sync() {
                out[filled] = sync;
                filled += 1;
                continue;
            }
            let drawn = self.draw_random_until_sync(len, &mut out[filled..]);
            if drawn == 0 {
                break;
            }
            filled += drawn;
        }
        filled
    }

    /// Draws random I/Os; if all of them are writes, stops at the next sync.
    #[inline]
    fn draw_random_until_sync(&mut self, len: u64, out: &mut [Io]) -> usize {
        let kinds = self.mix.kinds();
        let kind = kinds[0];
        let is_mixed = kinds.len() > 1;
        let left = self.full_ios_left(len).min(self.syncs.writes_left());
        let n = out.len().min(left);
        let out = &mut out[..n];
        let direction = &self.directions[kind as usize];
        self.offsets[0].fill_random(direction, out, bulk_io(kind, len), &mut self.rng);
        if is_mixed {
            out.iter_mut().for_each(|io| io.kind = self.mix.next());
        }
        if !self.syncs.is_disabled() {
            let writes = out.iter().filter(|io| io.kind == Kind::Write);
            writes.for_each(|io| self.syncs.count_write(io.target));
        }
        self.count_bulk(n, len);
        n
    }

    /// Draws sequential I/Os of full size, up to the end of the region.
    #[inline(never)]
    fn draw_sequential(&mut self, len: u64, out: &mut [Io]) -> usize {
        let kind = self.mix.kinds()[0];
        let n = out.len().min(self.full_ios_left(len));
        let direction = &self.directions[kind as usize];
        let n = self.offsets[0].fill_sequential(direction, &mut out[..n], bulk_io(kind, len));
        self.count_bulk(n, len);
        n
    }

    /// Number of full `len`-byte I/Os left in the list.
    fn full_ios_left(&self, len: u64) -> usize {
        let left = self.ios_left.min(self.bytes_left / len);
        usize::try_from(left).unwrap_or(usize::MAX)
    }

    fn count_bulk(&mut self, n: usize, len: u64) {
        self.ios_left -= n as u64;
        if self.bytes_left != u64::MAX {
            self.bytes_left -= n as u64 * len;
        }
    }

    fn next(&mut self) -> Option<Io> {
        if let Some(sync) = self.take_due_sync() {
            return Some(sync);
        }
        let kind = self.mix.next();
        if self.mix.is_trimwrite() && kind == Kind::Write {
            return self.write_trimmed();
        }
        let direction = &mut self.directions[kind as usize];
        let max_len = direction.next_size(self.bytes_left, &mut self.rng)?;
        self.ios_left = self.ios_left.checked_sub(1)?;
        let target = self.targets.next(&mut self.rng);
        let (offset, len) = self.offsets[target].next(kind, direction, max_len, &mut self.rng);
        self.count(kind, target, len);
        // The plan limits block sizes to 1 GiB, and a worker's targets to 65,535.
        let io = Io {
            offset,
            len: len as u32,
            target: target as u16,
            kind,
        };
        if kind == Kind::Trim {
            self.last_trim = io;
        }
        Some(io)
    }

    /// Returns the write to the block that was just trimmed; `None` if it was already returned. As
    /// in fio, only trims count toward bytes and I/Os.
    #[cold]
    fn write_trimmed(&mut self) -> Option<Io> {
        let trim = mem::take(&mut self.last_trim);
        if trim.len == 0 {
            return None;
        }
        self.syncs.count_write(trim.target);
        Some(Io {
            kind: Kind::Write,
            ..trim
        })
    }

    /// As in fio, a sync that is due after the last I/O is dropped.
    #[inline]
    fn take_due_sync(&mut self) -> Option<Io> {
        let sync = self.syncs.take_due()?;
        let has_more = self.ios_left > 0 && self.bytes_left >= self.smallest;
        has_more.then_some(sync)
    }

    fn count(&mut self, kind: Kind, target: usize, len: u64) {
        self.bytes_left -= len;
        self.mix.count(kind, len);
        self.targets.add_bytes(target, len);
        if kind == Kind::Write {
            self.syncs.count_write(target as u16);
        }
    }
}

/// Creates an I/O in a bulk list from its offset.
fn bulk_io(kind: Kind, len: u64) -> impl Fn(u64) -> Io {
    move |offset| Io {
        offset,
        len: len as u32,
        target: 0,
        kind,
    }
}
