//! Where in its region the next I/O of a target lies. Sequential I/Os follow on and start over at the end; random
//! ones take slots of the region. Each direction has a position of its own, as in fio. No I/O leaves the region.

use crate::load::pattern::chooser::Chooser;
use crate::load::pattern::lane::Lane;
use crate::load::pattern::{Io, Kind};
use leadline_protocol::plan::resolved::Target;
use rand::Rng;

/// The region of one target and where the clone stands in it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Where the region begins in the target, in bytes.
    begin: u64,
    /// Bytes of the region.
    len: u64,
    /// By `Kind`: where the next sequential I/O would begin, from the beginning of the region; outside of it: start over.
    follow: [i64; 3],
    /// By `Lane::chooser`.
    choosers: [Chooser; 3],
}

impl Place {
    /// The beginning of a target's region.
    pub fn new(target: &Target, lanes: &[Lane; 3], repeats: bool, rng: &mut impl Rng) -> Self {
        let mut chooser = |lane: &Lane| {
            // Slots are the aligned offsets at which the largest I/O still fits; the plan refuses regions without one.
            let slots = target.size.saturating_sub(lane.sizes.max) / lane.align + 1;
            Chooser::new(&lane.distribution, slots, repeats, rng)
        };
        let [read, write, trim] = lanes;
        Self {
            begin: target.offset,
            len: target.size,
            follow: [read, write, trim].map(|lane| if lane.is_backwards() { -1 } else { 0 }),
            choosers: [chooser(read), chooser(write), chooser(trim)],
        }
    }

    /// Bytes that one pass moves in I/Os of `smallest` bytes: a tail that is shorter is never reached.
    pub fn bytes_per_pass(&self, smallest: u64) -> u64 {
        self.len - self.len % smallest
    }

    /// Offset in the target and length of the next I/O of `wanted` bytes; it is shorter where a sequential one meets
    /// the end of the region.
    #[inline]
    pub fn next(
        &mut self,
        kind: Kind,
        lane: &mut Lane,
        wanted: u64,
        rng: &mut impl Rng,
    ) -> (u64, u64) {
        let follows = if lane.jumps(rng) {
            None
        } else {
            self.follow_on(kind, lane, wanted)
        };
        let (start, len) = follows.unwrap_or_else(|| (self.begin_anew(lane, wanted, rng), wanted));
        self.follow[kind as usize] = (start + len).cast_signed() + lane.gap;
        (self.begin + start, len)
    }

    /// The next I/Os of a lane that only jumps; `at` makes one of its offset in the target.
    #[inline]
    pub fn jumps(
        &mut self,
        lane: &Lane,
        out: &mut [Io],
        at: impl Fn(u64) -> Io,
        rng: &mut impl Rng,
    ) {
        let (begin, align) = (self.begin, lane.align);
        self.choosers[lane.chooser].fill(out, |slot| at(begin + slot * align), rng);
    }

    fn follow_on(&self, kind: Kind, lane: &Lane, wanted: u64) -> Option<(u64, u64)> {
        let start = u64::try_from(self.follow[kind as usize]).ok()?;
        let len = lane.sizes.fit(wanted, self.len.checked_sub(start)?)?;
        Some((start, len))
    }

    fn begin_anew(&mut self, lane: &Lane, wanted: u64, rng: &mut impl Rng) -> u64 {
        if lane.is_random() {
            self.choosers[lane.chooser].next(rng) * lane.align
        } else if lane.is_backwards() {
            let last = self.len - wanted;
            last - last % lane.sizes.min
        } else {
            0
        }
    }
}
