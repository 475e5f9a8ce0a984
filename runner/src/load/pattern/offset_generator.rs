//! Generates the offset of the next I/O in a target's region. Sequential I/Os wrap around at the
//! end of the region, and random I/Os select a slot. Each direction has a separate position, as in
//! fio. No I/O extends beyond the region.

use crate::load::pattern::{
    direction::DirectionState,
    io::{Io, Kind},
    offset_distribution::OffsetDistribution,
};
use leadline_protocol::plan::{job::StridedZones, target::Target};
use rand::Rng;

#[derive(Clone, Debug)]
pub(crate) struct OffsetGenerator {
    /// Offset of the region in the target, in bytes.
    begin: u64,
    /// Length of the region in bytes.
    len: u64,
    /// Position of the next sequential I/O in the region, indexed by `Kind`. A position outside the
    /// region wraps around.
    positions: [i64; 3],
    /// Indexed by `DirectionState::distribution_index`.
    distributions: [OffsetDistribution; 3],
    zones: Option<Zones>,
}

/// Strided zones in a sequential workload (fio io_u.c, `setup_strided_zone_mode`).
#[derive(Clone, Debug)]
struct Zones {
    options: StridedZones,
    /// Start of the current zone in the region, in bytes.
    begin: u64,
    /// Bytes transferred in the current zone, by all directions.
    bytes: u64,
}

impl Zones {
    /// Returns the start of an I/O that would otherwise start at `position`. As in fio, when an I/O
    /// starts a new zone, only its direction moves there.
    fn enter(&mut self, position: i64, region: u64) -> i64 {
        let mut position = position;
        if self.bytes >= self.options.size {
            self.bytes = 0;
            self.begin += self.options.range + self.options.skip;
            if self.begin >= region {
                self.begin = 0;
            }
            position = self.begin.cast_signed();
        }
        if position >= (self.begin + self.options.range).cast_signed() {
            position = self.begin.cast_signed();
        }
        position
    }
}

impl OffsetGenerator {
    pub(crate) fn new(
        target: &Target,
        directions: &[DirectionState; 3],
        repeats: bool,
        zones: Option<StridedZones>,
        rng: &mut impl Rng,
    ) -> Self {
        let distribution = |direction: &DirectionState| {
            if !repeats && direction.uses_random_map() {
                return OffsetDistribution::each_block_once(target.size / direction.align);
            }
            // Number of aligned offsets at which the largest I/O fits. The plan rejects smaller
            // regions.
            let largest = direction.sizes.max.max(direction.sequential_sizes().max);
            let slots = target.size.saturating_sub(largest) / direction.align + 1;
            let align = direction.align;
            OffsetDistribution::new(&direction.distribution, slots, align, repeats, rng)
        };
        Self {
            begin: target.offset,
            len: target.size,
            positions: directions
                .each_ref()
                .map(|direction| if direction.is_backward() { -1 } else { 0 }),
            distributions: directions.each_ref().map(distribution),
            zones: zones.map(|options| Zones {
                options,
                begin: 0,
                bytes: 0,
            }),
        }
    }

    /// Bytes per pass. Excludes a tail shorter than the smallest I/O (`smallest` bytes).
    pub(crate) fn bytes_per_pass(&self, smallest: u64) -> u64 {
        self.len - self.len % smallest
    }

    /// Offset in the target and length of the next I/O. The length is below `max_len` for a
    /// sequential I/O at the end of the region, and for a random I/O that ends at an already
    /// accessed block.
    #[inline]
    pub(crate) fn next(
        &mut self,
        kind: Kind,
        direction: &mut DirectionState,
        max_len: u64,
        rng: &mut impl Rng,
    ) -> (u64, u64) {
        if let Some(zones) = &mut self.zones {
            let position = &mut self.positions[kind as usize];
            *position = zones.enter(*position, self.len);
        }
        let sequential = if direction.next_is_random(rng) {
            None
        } else {
            self.sequential(kind, direction, max_len)
        };
        let (start, len) = sequential.unwrap_or_else(|| self.restart(direction, max_len, rng));
        if let Some(zones) = &mut self.zones {
            zones.bytes += len;
        }
        self.positions[kind as usize] = if direction.repeats_offset {
            start.cast_signed()
        } else {
            (start + len).cast_signed() + direction.gap
        };
        (self.begin + start, len)
    }

    /// Fills `out` with random I/Os. `at` creates an I/O from its offset in the target.
    #[inline]
    pub(crate) fn fill_random(
        &mut self,
        direction: &DirectionState,
        out: &mut [Io],
        at: impl Fn(u64) -> Io,
        rng: &mut impl Rng,
    ) {
        let begin = self.begin;
        let align = direction.align;
        self.distributions[direction.distribution_index].fill(
            out,
            |slot| at(begin + slot * align),
            rng,
        );
    }

    /// Fills the start of `out` with the next sequential I/Os of the smallest size, up to the end
    /// of the region, and returns their number. The gap must not be negative.
    #[inline]
    pub(crate) fn fill_sequential(
        &mut self,
        direction: &DirectionState,
        out: &mut [Io],
        at: impl Fn(u64) -> Io,
    ) -> usize {
        let len = direction.sizes.min;
        let stride = len + direction.gap.cast_unsigned();
        let position = &mut self.positions[at(0).kind as usize];
        let start = position.cast_unsigned();
        let Some(space) = self
            .len
            .checked_sub(start)
            .and_then(|left| left.checked_sub(len))
        else {
            return 0;
        };
        let fitting = usize::try_from(space / stride + 1).unwrap_or(usize::MAX);
        let filled = out.len().min(fitting);
        let mut offset = self.begin + start;
        for io in &mut out[..filled] {
            *io = at(offset);
            offset += stride;
        }
        *position = (offset - self.begin).cast_signed();
        filled
    }

    fn sequential(
        &self,
        kind: Kind,
        direction: &DirectionState,
        max_len: u64,
    ) -> Option<(u64, u64)> {
        let start = u64::try_from(self.positions[kind as usize]).ok()?;
        let space = self.len.checked_sub(start)?;
        if max_len <= space {
            return Some((start, max_len));
        }
        let len = direction.sequential_sizes().fit(max_len, space)?;
        Some((start, len))
    }

    /// Offset and length of a random I/O, or of the first I/O of a sequential pass.
    fn restart(&mut self, direction: &DirectionState, len: u64, rng: &mut impl Rng) -> (u64, u64) {
        if direction.is_random() {
            let distribution = &mut self.distributions[direction.distribution_index];
            return distribution.next_extent(len, direction.align, rng);
        }
        if direction.is_backward() {
            let last = self.len - len;
            return (last - last % direction.sizes.min, len);
        }
        (0, len)
    }
}
