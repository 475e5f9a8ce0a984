//! A pattern with rate limits. Stores the intended start of each I/O until it completes, to measure
//! latency from that time: a stalled target delays the submission of later I/Os, whose latency
//! since submission is short (coordinated omission).

#[cfg(test)]
pub(crate) mod tests;

use crate::load::{
    histogram::Histogram,
    pattern::{
        Pattern,
        io::{Io, Kind},
    },
    rate::{DueTime, RateLimiter},
    source::{Completed, DRAW, Source},
    stats::WorkerStats,
};

pub(crate) struct RateLimited {
    pattern: Pattern,
    limiter: RateLimiter,
    /// Due time of the next I/O, if it was not yet due when last checked. It is stored because the
    /// limiter must be called only once per I/O.
    next: Option<DueTime>,
    /// Time of the last call to `due`.
    now_ns: u64,
    /// Intended starts of the due I/Os, in ns since the worker started, and the number of these
    /// I/Os that were submitted.
    due: Vec<Option<u64>>,
    submitted: usize,
    /// Intended starts by slot.
    intended_ns: Box<[Option<u64>]>,
    in_flight: usize,
}

impl RateLimited {
    /// Enables latencies from the intended start in `stats` for all directions with a rate.
    pub(crate) fn new(
        pattern: Pattern,
        limiter: RateLimiter,
        slots: usize,
        stats: &WorkerStats,
    ) -> Self {
        for kind in [Kind::Read, Kind::Write, Kind::Trim] {
            if limiter.has_rate(kind) {
                let intended_lat = &stats.of(kind).intended_lat;
                intended_lat.get_or_init(Histogram::default);
            }
        }
        Self {
            pattern,
            limiter,
            next: None,
            now_ns: 0,
            due: Vec::with_capacity(DRAW),
            submitted: 0,
            intended_ns: vec![None; slots].into(),
            in_flight: 0,
        }
    }
}

impl Source for RateLimited {
    fn draw(&mut self, out: &mut [Io]) -> usize {
        self.pattern.draw(out)
    }

    fn due(&mut self, next: &[Io], since_begin_ns: u64) -> usize {
        self.now_ns = since_begin_ns;
        self.due.clear();
        self.submitted = 0;
        for io in next {
            if self.next.is_none()
                && self.in_flight + self.due.len() > 0
                && self.limiter.pauses_before(io, since_begin_ns)
            {
                break;
            }
            let due = self
                .next
                .take()
                .unwrap_or_else(|| self.limiter.due(io, since_begin_ns));
            if due.at_ns > since_begin_ns {
                self.next = Some(due);
                break;
            }
            self.due.push(due.intended_ns);
        }
        self.due.len()
    }

    fn next_due_ns(&self) -> Option<u64> {
        // While the worker spins, the loop continues immediately.
        self.next.map(|due| match due.spin_until_ns {
            until_ns if until_ns > self.now_ns => self.now_ns,
            _ => due.at_ns,
        })
    }

    fn on_submit(&mut self, slot: u32) {
        self.intended_ns[slot as usize] = self.due[self.submitted];
        self.submitted += 1;
        self.in_flight += 1;
    }

    fn on_complete(&mut self, slot: u32, completed: &Completed, stats: &WorkerStats) {
        self.in_flight -= 1;
        let intended_ns = self.intended_ns[slot as usize];
        let intended_lat = stats.of(completed.kind).intended_lat.get();
        if let (Some(intended_ns), Some(intended_lat)) = (intended_ns, intended_lat) {
            let lat_ns = completed.since_begin_ns.saturating_sub(intended_ns);
            intended_lat.record(lat_ns, 1);
        }
    }

    fn on_error(&mut self, _slot: u32) {
        self.in_flight -= 1;
    }
}
