//! Sequential reads of one target.

use crate::{load::pattern::io::Io, system::layers::StoredFile};
use leadline_protocol::{
    job::keyword::Fadvise,
    plan::{job::ResolvedJob, target::Target},
};
use rustix::param::page_size;
use std::ops::Range;

/// Lookups at the start of a stream.
const MAX_FIRST_LOOKUPS: u64 = 4096;

/// Looks up the place that the stream reaches after `distance` bytes, which its readahead has not
/// reached yet. At the start of the region, it looks up everything up to there.
pub(super) struct Stream {
    region: Range<u64>,
    /// Distance between two I/Os in bytes.
    step: u64,
    /// A multiple of `step`.
    distance: u64,
    /// The stream starts again at the end of the region.
    repeats: bool,
    /// The stream may end before the end of the region, or starts again.
    ends_early: bool,
}

impl Stream {
    /// `None` for random reads, for backward reads, and without readahead: these are looked up in
    /// place.
    pub(super) fn of(job: &ResolvedJob, target: &Target, file: &StoredFile) -> Option<Self> {
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
        Some(Self {
            region: target.offset..target.offset + target.size,
            step,
            distance: ahead.next_multiple_of(step),
            repeats: job.timing.time_based || job.timing.loops > 1,
            ends_early: job.timing.time_based
                || job.timing.loops > 1
                || job.timing.runtime_ms.is_some()
                || job.timing.number_ios.is_some()
                || job.timing.is_io_size_requested,
        })
    }

    /// Upper bound of the I/Os that were looked up and not issued.
    pub(super) fn ios_ahead(&self) -> u64 {
        if self.ends_early {
            self.distance.min(self.region.end - self.region.start) / self.step
        } else {
            0
        }
    }

    /// Calls `add` with the offsets to look up and the number of I/Os that each stands for. A block
    /// in a page that the previous block has read needs no lookup: `touched` gets its size.
    pub(super) fn look_up(
        &self,
        io: &Io,
        mut add: impl FnMut(u64, u64),
        mut touched: impl FnMut(u64),
    ) {
        let mut visit = |offset: u64, ios: u64| {
            if starts_page(offset, u64::from(io.len)) {
                add(offset, ios);
            } else {
                (0..ios).for_each(|_| touched(u64::from(io.len)));
            }
        };
        if io.offset < self.region.start + self.step {
            self.look_up_start(io, &mut visit);
        }
        let next = io.offset + self.distance;
        if next + u64::from(io.len) <= self.region.end {
            visit(next, 1);
        } else if self.repeats {
            let size = self.region.end - self.region.start;
            let wrapped = (next - self.region.start) % size;
            let offset = self.region.start + wrapped - wrapped % self.step;
            if offset + u64::from(io.len) <= self.region.end {
                visit(offset, 1);
            }
        }
    }

    fn look_up_start(&self, io: &Io, visit: &mut impl FnMut(u64, u64)) {
        let end = (io.offset + self.distance).min(self.region.end);
        let ios = end.saturating_sub(io.offset).div_ceil(self.step);
        let ios_per_lookup = ios.div_ceil(MAX_FIRST_LOOKUPS).max(1);
        for first in (0..ios).step_by(ios_per_lookup as usize) {
            let offset = io.offset + first * self.step;
            if offset + u64::from(io.len) <= self.region.end {
                visit(offset, ios_per_lookup.min(ios - first));
            }
        }
    }
}

/// Whether the range contains the first byte of a page.
fn starts_page(offset: u64, len: u64) -> bool {
    offset.next_multiple_of(page_size() as u64) < offset + len
}
