//! Checks `rate_min` and `rate_iops_min`: the rates of each worker per `rate_cycle`, after a start of
//! two seconds (fio backend.c, `__check_min_rate`).

use crate::{
    run::worker_pool::{WorkerPool, job_state::Completed},
    system::clock::{MILLISECOND_NS, SECOND_NS},
};
use leadline_protocol::{
    plan::job::{MinRate, ResolvedJob},
    problem::Problem,
};

/// Start of the measured window that is not checked.
const SETTLE_NS: u64 = 2 * SECOND_NS;
const DIRECTIONS: [&str; 3] = ["reads", "writes", "trims"];

/// The workers of jobs with a minimum rate.
#[derive(Default)]
pub(crate) struct MinRates {
    monitors: Vec<Monitor>,
}

struct Monitor {
    /// Index of the worker in the run.
    worker: usize,
    job: usize,
    name: String,
    rates: MinRate,
    /// Start of the next cycle that is checked (CLOCK_MONOTONIC, in ns).
    begin_ns: u64,
    /// Counters at the start of the cycle; `None` before the first cycle.
    last: Option<[Completed; 3]>,
}

impl MinRates {
    /// Must be called when the schedules of the workers are set.
    pub(super) fn new(jobs: &[ResolvedJob], pool: &WorkerPool) -> Self {
        let workers = pool.jobs_by_worker().enumerate();
        let monitors = workers.filter_map(|(worker, job)| {
            Some(Monitor {
                worker,
                job,
                name: jobs[job].name.clone(),
                rates: jobs[job].timing.min_rate?,
                begin_ns: pool.measure_start_ns(job) + SETTLE_NS,
                last: None,
            })
        });
        Self {
            monitors: monitors.collect(),
        }
    }

    /// Returns a problem if a worker was too slow.
    pub(super) fn check(&mut self, pool: &WorkerPool, now_ns: u64) -> Option<Problem> {
        if self.monitors.is_empty() {
            return None;
        }
        let all: Vec<(bool, [Completed; 3])> = pool.completed_by_worker().collect();
        let mut problem = None;
        for monitor in &mut self.monitors {
            let (is_done, completed) = all[monitor.worker];
            if !is_done {
                problem = problem.or(monitor.observe(completed, now_ns));
            }
        }
        problem
    }
}

impl Monitor {
    fn observe(&mut self, completed: [Completed; 3], now_ns: u64) -> Option<Problem> {
        if now_ns < self.begin_ns {
            return None;
        }
        let elapsed_ns = now_ns - self.begin_ns;
        let Some(last) = self.last else {
            self.restart(completed, now_ns);
            return None;
        };
        if elapsed_ns < u64::from(self.rates.cycle_ms) * MILLISECOND_NS {
            return None;
        }
        self.restart(completed, now_ns);
        let per_second = |count: u64| {
            (u128::from(count) * u128::from(SECOND_NS) / u128::from(elapsed_ns)) as u64
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
                    return Some(self.problem(option, direction, rate, min, unit));
                }
            }
        }
        None
    }

    fn restart(&mut self, completed: [Completed; 3], now_ns: u64) {
        self.last = Some(completed);
        self.begin_ns = now_ns;
    }

    fn problem(&self, option: &str, direction: &str, rate: u64, min: u64, unit: &str) -> Problem {
        let detail = format!(
            "The {direction} of a worker of {} reached {rate} {unit}, less than {option}={min}.",
            self.name
        );
        let field = format!("jobs[{}].{option}", self.job);
        let mut problem = Problem::environment(
            "rate_not_reached",
            option,
            detail,
            format!("Lower {option}, or find out why the storage is slow."),
        );
        problem.field = Some(field);
        problem
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
            name: "db".into(),
            rates: MinRate {
                bytes: PerDirection::same(bytes),
                ios: PerDirection::same(ios),
                cycle_ms: 1000,
            },
            begin_ns: 2 * SECOND_NS,
            last: None,
        }
    }

    /// Reads of 1,000 bytes.
    fn reads(ios: u64) -> [Completed; 3] {
        let bytes = ios * 1000;
        [
            Completed { ios, bytes },
            Completed::default(),
            Completed::default(),
        ]
    }

    /// The detail of the problem of the first cycle that is too slow. `ios`: totals at full
    /// seconds.
    fn detail(mut monitor: Monitor, ios: &[u64]) -> Option<String> {
        let seconds = ios.iter().enumerate();
        let mut problems = seconds
            .filter_map(|(second, ios)| monitor.observe(reads(*ios), second as u64 * SECOND_NS));
        problems.next().map(|problem| {
            assert_eq!(problem.code, "rate_not_reached");
            problem.detail
        })
    }

    #[test]
    fn every_cycle_after_the_start_is_checked() {
        let slow = detail(monitor(None, Some(100)), &[0, 1, 2, 102, 201, 301]);
        let expected = "The reads of a worker of db reached 99 IOPS, less than rate_iops_min=100.";
        assert_eq!(slow.as_deref(), Some(expected));
        let fast = detail(monitor(None, Some(100)), &[0, 0, 0, 100, 200, 300]);
        assert_eq!(fast, None);
        let slow = detail(monitor(Some(100_000), None), &[0, 50, 100, 150]);
        assert!(
            slow.unwrap()
                .contains("50000 bytes/s, less than rate_min=100000")
        );
    }

    #[test]
    fn directions_without_ios_are_not_checked() {
        assert_eq!(detail(monitor(None, Some(100)), &[0, 0, 0, 0, 0]), None);
    }

    #[test]
    fn cycles_are_not_shorter_than_requested() {
        let mut monitor = monitor(None, Some(100));
        assert!(monitor.observe(reads(1), 2 * SECOND_NS).is_none());
        assert!(
            monitor
                .observe(reads(1), 2 * SECOND_NS + 999 * MILLISECOND_NS)
                .is_none()
        );
        assert!(monitor.observe(reads(1), 3 * SECOND_NS).is_some());
    }
}
