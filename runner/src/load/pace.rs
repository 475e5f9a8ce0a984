//! When the next I/O is due: `rate`, `rate_iops`, `rate_process` and `thinktime`. Pure and seeded; time comes in as a number.
//!
//! A rate is a timetable that is fixed in advance: whatever really happened, I/O n of a direction is due when everything
//! before it would have taken its time, so that a job that was held up catches up, as in fio. What the timetable wanted is
//! told beside what is possible now, so that waiting for a slow target does not hide. Not here: `startdelay` and
//! `runtime` (the loop).

#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod timetable;

use crate::load::pace::timetable::Timetable;
use crate::load::pattern::{Io, Kind};
use leadline_protocol::plan::resolved::ResolvedJob;

const NS_PER_US: u64 = 1000;

/// When the I/Os of one clone are due.
#[derive(Clone, Debug)]
pub struct Pace {
    /// By `Kind`: reads, writes, trims.
    timetables: [Option<Timetable>; 3],
    pause: Option<Pause>,
}

/// When one I/O is due, in ns since the clone began.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Due {
    /// When it may be submitted; what lies in the past is due at once.
    pub at_ns: u64,
    /// When its timetable wants it to start, whatever held the job up; `None` where no rate is asked.
    pub intended_ns: Option<u64>,
}

/// A pause after every so many I/Os.
#[derive(Clone, Debug)]
struct Pause {
    ns: u64,
    every: u32,
    issued: u32,
}

impl Pace {
    /// The pace of a clone; `None` when nothing limits it. Rates are per clone.
    pub fn new(job: &ResolvedJob, clone: u32) -> Option<Self> {
        let timetables = Timetable::all(job, clone);
        let pause = (job.timing.thinktime_us > 0).then(|| Pause {
            ns: job.timing.thinktime_us.saturating_mul(NS_PER_US),
            every: job.timing.thinktime_blocks.max(1),
            issued: 0,
        });
        (pause.is_some() || timetables.iter().any(Option::is_some))
            .then_some(Self { timetables, pause })
    }

    /// Whether I/Os of this kind have an intended start.
    pub fn intends(&self, kind: Kind) -> bool {
        self.timetables
            .get(kind as usize)
            .is_some_and(Option::is_some)
    }

    /// Whether the pause comes before this I/O: it begins when nothing is in flight any more, as in fio (backend.c,
    /// handle_thinktime).
    pub fn rests_before(&self, io: &Io) -> bool {
        self.pause.as_ref().is_some_and(Pause::is_next) && !is_sync(io)
    }

    /// When this I/O is due. Must be asked exactly once for each I/O, in order, when the one before was submitted; where the pause
    /// comes before it, when that begins. Syncs are always due.
    pub fn due(&mut self, io: &Io, now_ns: u64) -> Due {
        if is_sync(io) {
            return Due {
                at_ns: now_ns,
                intended_ns: None,
            };
        }
        let intended_ns = self.timetables[io.kind as usize]
            .as_mut()
            .map(|timetable| timetable.take(io));
        let rested_ns = self.pause.as_mut().map_or(0, |pause| pause.take(now_ns));
        Due {
            at_ns: intended_ns.unwrap_or(0).max(rested_ns),
            intended_ns,
        }
    }
}

fn is_sync(io: &Io) -> bool {
    matches!(io.kind, Kind::Sync | Kind::Datasync)
}

impl Pause {
    /// Whether a round of `every` I/Os is full.
    fn is_next(&self) -> bool {
        self.issued == self.every
    }

    /// When the next I/O is due: after a full round, one pause from now.
    fn take(&mut self, now_ns: u64) -> u64 {
        let rest = self.is_next();
        self.issued = if rest { 1 } else { self.issued + 1 };
        if rest {
            now_ns.saturating_add(self.ns)
        } else {
            0
        }
    }
}
