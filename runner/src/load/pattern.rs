//! What the next I/O is: kind, target, offset, size. Pure and seeded: the same job gives the same list.
//!
//! A clone draws its I/Os in batches. Each one is put together from small rooms that know one thing each: `mix` the
//! direction, `size` the bytes, `rotation` the file, `place` the offset in it, `cadence` the syncs between writes.
//! After `new` nothing allocates. Not here: when an I/O is due (`pace`), what it writes (`data`).

pub(crate) mod cadence;
pub(crate) mod chooser;
#[cfg(test)]
pub(crate) mod cost;
pub(crate) mod deck;
pub(crate) mod lane;
#[cfg(test)]
pub(crate) mod laws;
pub(crate) mod mix;
pub(crate) mod permutation;
pub(crate) mod place;
pub(crate) mod rotation;
pub(crate) mod size;
#[cfg(test)]
pub(crate) mod tests;

use crate::load::pattern::cadence::Cadence;
use crate::load::pattern::lane::Lane;
use crate::load::pattern::mix::Mix;
use crate::load::pattern::place::Place;
use crate::load::pattern::rotation::Rotation;
use leadline_protocol::plan::resolved::ResolvedJob;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// What an I/O does. As wide as the hole that `Io` would have: copies of an `Io` are then whole words.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[repr(u16)]
pub enum Kind {
    /// Read into the buffer.
    #[default]
    Read = 0,
    /// Write from the buffer.
    Write = 1,
    /// Discard blocks.
    Trim = 2,
    /// fsync.
    Sync = 3,
    /// fdatasync.
    Datasync = 4,
}

/// One I/O.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Io {
    /// Where it begins in the target, in bytes.
    pub offset: u64,
    /// How many bytes; 0 for a sync.
    pub len: u32,
    /// Which of the clone's targets, in the order of [`ResolvedJob::targets_of`].
    pub target: u16,
    /// What it does.
    pub kind: Kind,
}

/// Keeps the seeds of clones apart: an odd number without a pattern (SplitMix64's successor constant, L'Ecuyer).
const CLONE_STRIDE: u64 = 0xd134_2543_de82_ef95;

/// The list of I/Os of one clone, drawn as it is needed.
#[derive(Clone, Debug)]
pub struct Pattern {
    rng: Xoshiro256PlusPlus,
    mix: Mix,
    /// By `Kind`: reads, writes, trims. Directions that the job does not do are never asked.
    lanes: [Lane; 3],
    places: Vec<Place>,
    rotation: Rotation,
    cadence: Cadence,
    /// To move before the end; where nothing bounds it, 2^64 last longer than any device.
    bytes_left: u64,
    ios_left: u64,
    /// Bytes of an I/O, where all differ in nothing but direction and random offset: such a list is drawn many at a time.
    alike: Option<u64>,
}

impl Pattern {
    /// The list of clone number `clone` (from 0).
    pub fn new(job: &ResolvedJob, clone: u32) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(
            job.pattern
                .randseed
                .wrapping_add(CLONE_STRIDE.wrapping_mul(u64::from(clone))),
        );
        let lanes = Lane::all(job);
        let places: Vec<Place> = job
            .targets_of(clone)
            .map(|(_, target)| Place::new(target, &lanes, job.pattern.norandommap, &mut rng))
            .collect();
        let mix = Mix::new(job.pattern.rw, job.pattern.rwmixread, &mut rng);
        let smallest = mix
            .kinds()
            .iter()
            .map(|kind| lanes[*kind as usize].sizes.min)
            .min()
            .unwrap_or(1);
        let cadence = Cadence::new(job.pattern.fsync, job.pattern.fdatasync);
        let first = &lanes[mix.kinds()[0] as usize];
        let is_alike = |kind: &Kind| {
            lanes[*kind as usize].only_jumps() && lanes[*kind as usize].is_like(first)
        };
        let alike = mix.kinds().iter().all(is_alike) && places.len() == 1 && cadence.is_never();
        Self {
            alike: alike.then_some(smallest),
            mix,
            rotation: Rotation::new(places.iter().map(|place| place.bytes_per_pass(smallest))),
            lanes,
            places,
            cadence,
            bytes_left: if job.timing.time_based {
                u64::MAX
            } else {
                job.io_size_of(clone)
            },
            ios_left: job.timing.number_ios.unwrap_or(u64::MAX),
            rng,
        }
    }

    /// Fills `out` with the next I/Os and tells how many there are; 0 when the work is done (`io_size` moved or
    /// `number_ios` reached). Syncs count neither as I/Os nor as bytes.
    pub fn draw(&mut self, out: &mut [Io]) -> usize {
        if let Some(len) = self.alike {
            return self.draw_alike(len, out);
        }
        for (filled, slot) in out.iter_mut().enumerate() {
            match self.next() {
                Some(io) => *slot = io,
                None => return filled,
            }
        }
        out.len()
    }

    /// On its own: inlined, it makes the way of the other jobs longer (`clone/instructions`).
    #[inline(never)]
    fn draw_alike(&mut self, len: u64, out: &mut [Io]) -> usize {
        let left = self.ios_left.min(self.bytes_left / len);
        let n = usize::try_from(left).map_or(out.len(), |left| left.min(out.len()));
        let kinds = self.mix.kinds();
        let (kind, is_mixed) = (kinds[0], kinds.len() > 1);
        let at = |offset| Io {
            offset,
            len: len as u32,
            target: 0,
            kind,
        };
        self.places[0].jumps(&self.lanes[kind as usize], &mut out[..n], at, &mut self.rng);
        if is_mixed {
            out[..n].iter_mut().for_each(|io| io.kind = self.mix.next());
        }
        self.ios_left -= n as u64;
        if self.bytes_left != u64::MAX {
            self.bytes_left -= n as u64 * len;
        }
        n
    }

    fn next(&mut self) -> Option<Io> {
        if let Some(sync) = self.cadence.due() {
            return Some(sync);
        }
        let kind = self.mix.next();
        let lane = &mut self.lanes[kind as usize];
        let wanted = lane.size(self.bytes_left, &mut self.rng)?;
        self.ios_left = self.ios_left.checked_sub(1)?;
        let target = self.rotation.next();
        let (offset, len) = self.places[target].next(kind, lane, wanted, &mut self.rng);
        self.count(kind, target, len);
        // The plan bounds block sizes to 1 GiB and targets of a clone to 65,535.
        Some(Io {
            offset,
            len: len as u32,
            target: target as u16,
            kind,
        })
    }

    fn count(&mut self, kind: Kind, target: usize, len: u64) {
        self.bytes_left -= len;
        self.rotation.moved(target, len);
        if kind == Kind::Write {
            self.cadence.wrote(target as u16);
        }
    }
}
