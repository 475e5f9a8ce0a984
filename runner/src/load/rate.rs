//! Computes when the next I/O is due, from `rate`, `rate_iops`, `rate_process` and `thinktime`.
//! Pure and seeded; the time is an argument.
//!
//! A rate is an arrival schedule that is fixed in advance: a job that falls behind catches up, as
//! in fio. The intended start is returned separately from the due time, so the time spent waiting
//! for a slow target is measured. `startdelay` and `runtime` are part of the worker's schedule.

pub(crate) mod arrival_schedule;
#[cfg(test)]
pub(crate) mod tests;

use crate::load::{
    pattern::io::{Io, Kind},
    rate::arrival_schedule::ArrivalSchedule,
};
use leadline_protocol::plan::job::ResolvedJob;

const NS_PER_US: u64 = 1000;

/// Applies one worker's rates and pauses.
#[derive(Clone, Debug)]
pub(crate) struct RateLimiter {
    /// Reads, writes and trims, indexed by `Kind`.
    schedules: [Option<ArrivalSchedule>; 3],
    thinktime: Option<ThinkTime>,
}

/// Times for one I/O, in ns since the worker started.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct DueTime {
    /// Earliest submission.
    pub at_ns: u64,
    /// Start according to the arrival schedule, regardless of delays; `None` if there is no rate.
    pub intended_ns: Option<u64>,
    /// The worker does not sleep before this time (`thinktime_spin`).
    pub spin_until_ns: u64,
}

/// Inserts a pause after every `every` I/Os, or `iotime_ns` after the last pause.
#[derive(Clone, Debug)]
struct ThinkTime {
    ns: u64,
    spin_ns: u64,
    /// `u32::MAX` if only the time counts.
    every: u32,
    issued: u32,
    /// `u64::MAX` if only the number of I/Os counts.
    iotime_ns: u64,
    /// End of the last pause, in ns since the worker started.
    resumed_ns: u64,
}

impl RateLimiter {
    /// Rates apply to each worker. Returns `None` if the job has no limits.
    pub(crate) fn new(job: &ResolvedJob, worker: u32) -> Option<Self> {
        let schedules = ArrivalSchedule::per_direction(job, worker);
        let timing = &job.timing;
        let thinktime = (timing.thinktime_us > 0).then(|| ThinkTime {
            ns: timing.thinktime_us.saturating_mul(NS_PER_US),
            spin_ns: timing.thinktime_spin_us.saturating_mul(NS_PER_US),
            every: timing
                .thinktime_blocks
                .map_or(u32::MAX, |blocks| blocks.max(1)),
            issued: 0,
            iotime_ns: match timing.thinktime_iotime_us {
                0 => u64::MAX,
                us => us.saturating_mul(NS_PER_US),
            },
            resumed_ns: 0,
        });
        let is_limited = thinktime.is_some() || schedules.iter().any(Option::is_some);
        is_limited.then_some(Self {
            schedules,
            thinktime,
        })
    }

    /// Returns true if I/Os of this kind have an intended start.
    pub(crate) fn has_rate(&self, kind: Kind) -> bool {
        self.schedules
            .get(kind as usize)
            .is_some_and(Option::is_some)
    }

    /// Returns true if this I/O follows a pause. The pause starts when nothing is in flight, as in
    /// fio (backend.c, handle_thinktime).
    pub(crate) fn pauses_before(&self, io: &Io, now_ns: u64) -> bool {
        let thinktime = self.thinktime.as_ref();
        thinktime.is_some_and(|thinktime| thinktime.is_due(now_ns)) && !is_sync(io)
    }

    /// When this I/O is due. Must be called once per I/O, in order, after the previous one was
    /// submitted, or when the pause before it starts. Syncs are always due.
    pub(crate) fn due(&mut self, io: &Io, now_ns: u64) -> DueTime {
        if is_sync(io) {
            return DueTime {
                at_ns: now_ns,
                intended_ns: None,
                spin_until_ns: 0,
            };
        }
        let schedule = self.schedules[io.kind as usize].as_mut();
        let intended_ns = schedule.map(|schedule| schedule.next(io));
        let thinktime = self.thinktime.as_mut();
        let (spin_until_ns, resume_ns) =
            thinktime.map_or((0, 0), |thinktime| thinktime.next(now_ns));
        DueTime {
            at_ns: intended_ns.unwrap_or(0).max(resume_ns),
            intended_ns,
            spin_until_ns,
        }
    }
}

fn is_sync(io: &Io) -> bool {
    matches!(io.kind, Kind::Sync | Kind::Datasync)
}

impl ThinkTime {
    fn is_due(&self, now_ns: u64) -> bool {
        self.issued == self.every || now_ns.saturating_sub(self.resumed_ns) >= self.iotime_ns
    }

    /// If a pause starts now, returns when spinning and the pause end; otherwise, both are 0.
    fn next(&mut self, now_ns: u64) -> (u64, u64) {
        if self.is_due(now_ns) {
            self.issued = 1;
            self.resumed_ns = now_ns.saturating_add(self.ns);
            return (now_ns.saturating_add(self.spin_ns), self.resumed_ns);
        }
        self.issued = self.issued.saturating_add(1);
        (0, 0)
    }
}
