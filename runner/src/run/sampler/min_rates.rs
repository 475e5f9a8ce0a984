//! Checks `rate_min` and `rate_iops_min`: each worker's rates in every `rate_cycle`, except in the
//! first two seconds (fio backend.c, `__check_min_rate`).

use crate::{
    run::worker_pool::{
        WorkerPool,
        job_state::{Completed, DIRECTIONS},
    },
    system::clock::{NS_PER_MS, NS_PER_SECOND},
};
use leadline_protocol::{
    format::count,
    plan::job::{MinRate, ResolvedJob},
    report::limit::ViolatedLimit,
};

/// Initial part of the measured window that is not checked, in ns.
const GRACE_NS: u64 = 2 * NS_PER_SECOND;

/// The workers in jobs with a minimum rate.
#[derive(Default)]
pub(crate) struct MinRates {
    monitors: Vec<Monitor>,
}

struct Monitor {
    /// Index of the worker in the run.
    worker: usize,
    job: usize,
    rates: MinRate,
    /// Start of the next cycle that is checked (CLOCK_MONOTONIC, in ns).
    begin_ns: u64,
    /// Counters at the start of the cycle; `None` before the first cycle.
    last: Option<[Completed; 3]>,
}

impl MinRates {
    /// Must be called when the workers' schedules are set.
    pub(super) fn new(jobs: &[ResolvedJob], pool: &WorkerPool) -> Self {
        let workers = pool.jobs_by_worker().enumerate();
        let monitors = workers.filter_map(|(worker, job)| {
            Some(Monitor {
                worker,
                job,
                rates: jobs[job].timing.min_rate?,
                begin_ns: pool.measure_start_ns(job) + GRACE_NS,
                last: None,
            })
        });
        Self {
            monitors: monitors.collect(),
        }
    }

    /// Returns the job and its violated limit if a worker is too slow.
    pub(super) fn check(
        &mut self,
        pool: &WorkerPool,
        now_ns: u64,
    ) -> Option<(usize, ViolatedLimit)> {
        if self.monitors.is_empty() {
            return None;
        }
        let all: Vec<(bool, [Completed; 3])> = pool.completed_by_worker().collect();
        let mut violated = None;
        for monitor in &mut self.monitors {
            let (is_done, completed) = all[monitor.worker];
            if !is_done {
                let limit = monitor.observe(completed, now_ns);
                violated = violated.or(limit.map(|limit| (monitor.job, limit)));
            }
        }
        violated
    }
}

impl Monitor {
    fn observe(&mut self, completed: [Completed; 3], now_ns: u64) -> Option<ViolatedLimit> {
        if now_ns < self.begin_ns {
            return None;
        }
        let elapsed_ns = now_ns - self.begin_ns;
        let Some(last) = self.last else {
            self.restart(completed, now_ns);
            return None;
        };
        if elapsed_ns < u64::from(self.rates.cycle_ms) * NS_PER_MS {
            return None;
        }
        self.restart(completed, now_ns);
        let per_second = |count: u64| {
            (u128::from(count) * u128::from(NS_PER_SECOND) / u128::from(elapsed_ns)) as u64
        };
        let bytes = &self.rates.bytes;
        let ios = &self.rates.ios;
        let minima = [
            (bytes.read, ios.read),
            (bytes.write, ios.write),
            (bytes.trim, ios.trim),
        ];
        let directions = DIRECTIONS
            .iter()
            .zip(minima)
            .zip(last.iter().zip(completed));
        for ((direction, (min_bytes, min_ios)), (last, now)) in directions {
            // As in fio, a direction without I/Os is not checked.
            if now.ios == 0 {
                continue;
            }
            let checks = [
                ("rate_min", min_bytes, now.bytes - last.bytes, "bytes/s"),
                ("rate_iops_min", min_ios, now.ios - last.ios, "IOPS"),
            ];
            for (option, min, count, unit) in checks {
                let Some(min) = min else { continue };
                let rate = per_second(count);
                if rate < min {
                    return Some(violated(option, direction, rate, min, unit));
                }
            }
        }
        None
    }

    fn restart(&mut self, completed: [Completed; 3], now_ns: u64) {
        self.last = Some(completed);
        self.begin_ns = now_ns;
    }
}

fn violated(option: &str, direction: &str, rate: u64, min: u64, unit: &str) -> ViolatedLimit {
    let summary = format!(
        "A worker's {direction}s reached {} {unit} in a rate_cycle, less than {option}={min}.",
        count(rate)
    );
    ViolatedLimit {
        option: option.into(),
        direction: direction.into(),
        limit: min,
        value: rate,
        summary,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leadline_protocol::job::direction::PerDirection;

    fn monitor(bytes: Option<u64>, ios: Option<u64>) -> Monitor {
        Monitor {
            worker: 0,
            job: 1,
            rates: MinRate {
                bytes: PerDirection::same(bytes),
                ios: PerDirection::same(ios),
                cycle_ms: 1000,
            },
            begin_ns: 2 * NS_PER_SECOND,
            last: None,
        }
    }

    /// 1,000-byte reads.
    fn reads(ios: u64) -> [Completed; 3] {
        let bytes = ios * 1000;
        [
            Completed { ios, bytes },
            Completed::default(),
            Completed::default(),
        ]
    }

    /// The summary for the first cycle that is too slow. `ios`: cumulative I/Os, one entry per
    /// second.
    fn summary(mut monitor: Monitor, ios: &[u64]) -> Option<String> {
        let seconds = ios.iter().enumerate();
        let mut violated = seconds.filter_map(|(second, ios)| {
            monitor.observe(reads(*ios), second as u64 * NS_PER_SECOND)
        });
        violated.next().map(|limit| limit.summary)
    }

    #[test]
    fn every_cycle_after_the_start_is_checked() {
        let slow = summary(monitor(None, Some(100)), &[0, 1, 2, 102, 201, 301]);
        let expected =
            "A worker's reads reached 99 IOPS in a rate_cycle, less than rate_iops_min=100.";
        assert_eq!(slow.as_deref(), Some(expected));
        let fast = summary(monitor(None, Some(100)), &[0, 0, 0, 100, 200, 300]);
        assert_eq!(fast, None);
        let slow = summary(monitor(Some(100_000), None), &[0, 50, 100, 150]);
        assert!(
            slow.unwrap()
                .contains("50,000 bytes/s in a rate_cycle, less than rate_min=100000")
        );
    }

    #[test]
    fn directions_without_ios_are_not_checked() {
        assert_eq!(summary(monitor(None, Some(100)), &[0, 0, 0, 0, 0]), None);
    }

    #[test]
    fn cycles_are_not_shorter_than_requested() {
        let mut monitor = monitor(None, Some(100));
        assert!(monitor.observe(reads(1), 2 * NS_PER_SECOND).is_none());
        assert!(
            monitor
                .observe(reads(1), 2 * NS_PER_SECOND + 999 * NS_PER_MS)
                .is_none()
        );
        assert!(monitor.observe(reads(1), 3 * NS_PER_SECOND).is_some());
    }
}
