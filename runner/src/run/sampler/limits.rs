//! Limits that end a run when they are violated: `rate_min`, `rate_iops_min` and `max_latency`. The
//! report contains the first violation.

use crate::{
    load::stats::{IoStats, WorkerStats},
    run::{
        sampler::min_rates::MinRates,
        worker_pool::{WorkerPool, job_state::DIRECTIONS},
    },
    system::clock::NS_PER_US,
};
use leadline_protocol::{
    format::latency, phase::Phase, plan::job::ResolvedJob, report::limit::ViolatedLimit,
};

#[derive(Default)]
pub(crate) struct Limits {
    min_rates: MinRates,
    /// `max_latency` in ns, by job and direction; empty if no job sets it.
    max_latencies_ns: Vec<[Option<u64>; 3]>,
    violated: Option<(usize, ViolatedLimit)>,
}

impl Limits {
    /// Must be called when the workers' schedules are set.
    pub(super) fn new(jobs: &[ResolvedJob], pool: &WorkerPool) -> Self {
        let all = jobs.iter().map(max_latency_ns);
        let is_limited = jobs.iter().any(|job| job.timing.max_latency_us.is_some());
        Self {
            min_rates: MinRates::new(jobs, pool),
            max_latencies_ns: if is_limited {
                all.collect()
            } else {
                Vec::new()
            },
            violated: None,
        }
    }

    /// Checks all limits while the workers run. Returns true if one was violated.
    pub(super) fn check(&mut self, pool: &WorkerPool, now_ns: u64) -> bool {
        let min_rate = self.min_rates.check(pool, now_ns);
        self.violated = self.violated.take().or(min_rate);
        self.check_latencies(pool)
    }

    /// Checks only latencies. Also used after the last I/O. Returns true if a limit was violated.
    pub(super) fn check_latencies(&mut self, pool: &WorkerPool) -> bool {
        if self.violated.is_none() && !self.max_latencies_ns.is_empty() {
            let workers = pool.jobs_by_worker().zip(pool.stats(Phase::Measure));
            self.violated = workers
                .filter_map(|(job, stats)| {
                    let limit = slow_io(stats, &self.max_latencies_ns[job])?;
                    Some((job, limit))
                })
                .next();
        }
        self.violated.is_some()
    }

    pub(crate) fn violated(&self, job: usize) -> Option<&ViolatedLimit> {
        let (violated, limit) = self.violated.as_ref()?;
        (*violated == job).then_some(limit)
    }

    pub(crate) fn are_violated(&self) -> bool {
        self.violated.is_some()
    }
}

fn max_latency_ns(job: &ResolvedJob) -> [Option<u64>; 3] {
    let Some(limits) = &job.timing.max_latency_us else {
        return [None; 3];
    };
    [limits.read, limits.write, limits.trim].map(|us| us.map(|us| us * NS_PER_US))
}

fn slow_io(stats: &WorkerStats, limits_ns: &[Option<u64>; 3]) -> Option<ViolatedLimit> {
    let directions = stats.directions.iter().zip(DIRECTIONS).zip(limits_ns);
    let mut slow = directions.filter_map(|((stats, direction), limit_ns)| {
        let limit_ns = (*limit_ns)?;
        let max_ns = max_ns(stats);
        (max_ns > limit_ns).then(|| violated(direction, max_ns, limit_ns))
    });
    slow.next()
}

fn max_ns(stats: &IoStats) -> u64 {
    let latencies = stats.latencies().map(|latencies| latencies.max_ns());
    latencies[0].max(latencies[1])
}

fn violated(direction: &str, max_ns: u64, limit_ns: u64) -> ViolatedLimit {
    ViolatedLimit {
        option: "max_latency".into(),
        direction: direction.into(),
        limit: limit_ns / NS_PER_US,
        value: max_ns.div_ceil(NS_PER_US),
        summary: format!(
            "A {direction} took {}, more than max_latency={}.",
            latency(max_ns as f64),
            latency(limit_ns as f64)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        load::{pattern::io::Kind, stats::IoTimes, stats::NOT_ACCEPTED},
        plan::fixture::resolved,
    };
    use serde_json::json;

    fn limits_ns(max_latency_us: serde_json::Value) -> [Option<u64>; 3] {
        max_latency_ns(&resolved(json!({"max_latency_us": max_latency_us})))
    }

    #[test]
    fn latencies_above_their_direction_limit_are_found() {
        let limits = limits_ns(json!({"read": 10, "write": null, "trim": 30}));
        let latency = |kind, accepted_ns, ns: u64| {
            let stats = WorkerStats::default();
            let times = IoTimes {
                start_ns: 5,
                accepted_ns,
            };
            stats.of(kind).record(times, 5 + ns, 1, 4096);
            slow_io(&stats, &limits)
        };
        for accepted_ns in [NOT_ACCEPTED, 7] {
            assert_eq!(latency(Kind::Read, accepted_ns, 10_000), None);
            let slow = latency(Kind::Read, accepted_ns, 10_001).expect("too slow");
            assert_eq!((slow.limit, slow.value), (10, 11));
            assert_eq!(
                slow.summary,
                "A read took 10.0 µs, more than max_latency=10.0 µs."
            );
            assert_eq!(latency(Kind::Write, accepted_ns, 10_001), None);
            assert_eq!(latency(Kind::Sync, accepted_ns, 1_000_000), None);
            assert_eq!(
                latency(Kind::Trim, accepted_ns, 30_001).map(|limit| limit.direction),
                Some("trim".into())
            );
        }
    }

    #[test]
    fn jobs_without_max_latency_have_no_limit() {
        assert_eq!(limits_ns(json!(null)), [None; 3]);
    }
}
