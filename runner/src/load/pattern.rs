//! Access pattern: kind, target, offset and size of each I/O. Pure and seeded: a job always
//! generates the same list.
//!
//! A worker draws its I/Os in batches. `direction_mix` chooses the direction, `size_distribution`
//! the size, `round_robin` the target, `offset_generator` the offset, and `sync_interval` inserts
//! syncs between writes. There are no allocations after `new`. `rate` decides when an I/O is due,
//! and `data` generates the data to write.

pub(crate) mod direction;
pub(crate) mod direction_mix;
pub(crate) mod io;
pub(crate) mod offset_distribution;
pub(crate) mod offset_generator;
pub(crate) mod permutation;
pub(crate) mod random_map;
pub(crate) mod round_robin;
pub(crate) mod shuffle_bag;
pub(crate) mod size_distribution;
pub(crate) mod sync_interval;
#[cfg(test)]
pub(crate) mod tests;

use crate::load::pattern::{
    direction::DirectionState,
    direction_mix::DirectionMix,
    io::{Io, Kind},
    offset_generator::OffsetGenerator,
    round_robin::RoundRobin,
    sync_interval::SyncInterval,
};
use leadline_protocol::plan::job::ResolvedJob;
use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};

/// Multiplier that gives each worker a distinct seed: an odd number with irregular bits (L'Ecuyer).
const WORKER_STRIDE: u64 = 0xd134_2543_de82_ef95;

/// The I/Os of one worker, generated on demand.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    rng: Xoshiro256PlusPlus,
    mix: DirectionMix,
    /// Reads, writes and trims, indexed by `Kind`.
    directions: [DirectionState; 3],
    /// Indexed by target.
    offsets: Vec<OffsetGenerator>,
    targets: RoundRobin,
    syncs: SyncInterval,
    /// Bytes left to transfer; `u64::MAX` if unlimited.
    bytes_left: u64,
    ios_left: u64,
    /// Size of the smallest I/O in bytes.
    smallest: u64,
    /// The size of all I/Os, if they differ only in direction and random offset. Such a list is
    /// generated in bulk.
    uniform_len: Option<u64>,
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
                OffsetGenerator::new(target, &directions, options.norandommap, &mut rng)
            })
            .collect();
        let mix = DirectionMix::new(job, &mut rng);
        let used = || mix.kinds().iter().map(|kind| &directions[*kind as usize]);
        let smallest = used().map(|direction| direction.sizes.min).min();
        let smallest = smallest.unwrap_or(1);
        let syncs = SyncInterval::new(options.fsync, options.fdatasync);
        let first = &directions[mix.kinds()[0] as usize];
        let is_uniform = offsets.len() == 1
            && !mix.has_rates()
            && syncs.is_never()
            && used().all(|direction| {
                direction.is_uniformly_random() && direction.has_same_blocks(first)
            });
        let bytes_per_pass = offsets.iter().map(|offset| offset.bytes_per_pass(smallest));
        Self {
            uniform_len: is_uniform.then_some(smallest),
            mix,
            targets: RoundRobin::new(bytes_per_pass),
            directions,
            offsets,
            syncs,
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
        if let Some(len) = self.uniform_len {
            return self.draw_uniform(len, out);
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
    fn draw_uniform(&mut self, len: u64, out: &mut [Io]) -> usize {
        let left = self.ios_left.min(self.bytes_left / len);
        let n = usize::try_from(left).map_or(out.len(), |left| left.min(out.len()));
        let out = &mut out[..n];
        let kinds = self.mix.kinds();
        let kind = kinds[0];
        let is_mixed = kinds.len() > 1;
        let at = |offset| Io {
            offset,
            len: len as u32,
            target: 0,
            kind,
        };
        let direction = &self.directions[kind as usize];
        self.offsets[0].fill_random(direction, out, at, &mut self.rng);
        if is_mixed {
            out.iter_mut().for_each(|io| io.kind = self.mix.next());
        }
        self.ios_left -= n as u64;
        if self.bytes_left != u64::MAX {
            self.bytes_left -= n as u64 * len;
        }
        n
    }

    fn next(&mut self) -> Option<Io> {
        if let Some(sync) = self.syncs.take_due()
            && self.has_more()
        {
            return Some(sync);
        }
        let kind = self.mix.next();
        let direction = &mut self.directions[kind as usize];
        let max_len = direction.next_size(self.bytes_left, &mut self.rng)?;
        self.ios_left = self.ios_left.checked_sub(1)?;
        let target = self.targets.next();
        let (offset, len) = self.offsets[target].next(kind, direction, max_len, &mut self.rng);
        self.count(kind, target, len);
        // The plan limits block sizes to 1 GiB, and a worker's targets to 65,535.
        Some(Io {
            offset,
            len: len as u32,
            target: target as u16,
            kind,
        })
    }

    /// As in fio, a sync that is due after the last I/O is dropped.
    #[inline]
    fn has_more(&self) -> bool {
        self.ios_left > 0 && self.bytes_left >= self.smallest
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
