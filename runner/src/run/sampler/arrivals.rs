//! Counts the arrivals in jobs with `rate_iops`, to distinguish a growing backlog from a low rate.
//! Arrival schedules are seeded and deterministic, so the sampler recomputes them.

use crate::{
    load::{pattern::io::Io, rate::arrival_schedule::ArrivalSchedule},
    plan::overload::used_rates,
    run::{
        sampler::overload::{Detector, Mark},
        worker_pool::WorkerPool,
    },
    system::clock::NS_PER_MS,
};
use leadline_protocol::{
    job::direction::PerDirection,
    plan::job::ResolvedJob,
    report::arrivals::{ArrivalReport, Growth, Overload, growth},
};

/// Maximum number of readings; beyond it, older readings are thinned out. This number locates the
/// quarters of a window to within 0.1 % of its length.
const MAX_READINGS: usize = 4096;
const QUARTERS: u64 = 4;

/// Monitors jobs that have `rate_iops` in every direction they use. If one direction has no rate,
/// its completed I/Os would hide the other direction's backlog.
#[derive(Default)]
pub(crate) struct Arrivals {
    monitors: Vec<Monitor>,
}

struct Monitor {
    job: usize,
    counters: Vec<DueCounter>,
    /// Start of the measured window (CLOCK_MONOTONIC, in ns).
    start_ns: u64,
    /// Arrivals before the measured window.
    due_at_start: u64,
    readings: Vec<Reading>,
    /// I/Os that completed before the measured window.
    ramp_completed: u64,
    /// `None` if `overload_time` is not set.
    detector: Option<Detector>,
    overload: Option<Overload>,
    /// Whether the job is running.
    is_active: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub at_ns: u64,
    /// Arrivals since the workers started.
    pub due: u64,
    /// Completed I/Os in the measured window.
    pub completed: u64,
}

/// Arrivals for one worker and direction.
struct DueCounter {
    schedule: ArrivalSchedule,
    /// Time of the first I/O (CLOCK_MONOTONIC, in ns).
    begin_ns: u64,
    next_ns: u64,
    count: u64,
}

impl DueCounter {
    fn new(mut schedule: ArrivalSchedule, begin_ns: u64) -> Self {
        let next_ns = schedule.next(&Io::default());
        Self {
            schedule,
            begin_ns,
            next_ns,
            count: 0,
        }
    }

    /// Number of arrivals up to `now_ns`, which must not decrease between calls.
    fn advance(&mut self, now_ns: u64) -> u64 {
        let since_begin_ns = now_ns.saturating_sub(self.begin_ns);
        while self.next_ns <= since_begin_ns {
            self.count += 1;
            self.next_ns = self.schedule.next(&Io::default());
        }
        self.count
    }
}

impl Arrivals {
    /// Must be called when the workers' schedules are set.
    pub(super) fn new(jobs: &[ResolvedJob], pool: &WorkerPool) -> Self {
        let monitors = jobs.iter().enumerate().filter_map(|(index, job)| {
            let has_bytes = job.timing.rate != PerDirection::same(None);
            let mut rates = used_rates(&job.timing.rate_iops, job.pattern.rw);
            let has_all = rates.all(|rate| rate.is_some());
            (has_all && !has_bytes).then(|| Monitor::new(index, job, pool))
        });
        Self {
            monitors: monitors.collect(),
        }
    }

    /// Reads the counters of the jobs in their measured windows.
    pub(super) fn read(&mut self, pool: &WorkerPool, now_ns: u64) {
        for monitor in self.monitors.iter_mut().filter(|monitor| monitor.is_active) {
            monitor.read(pool, now_ns);
        }
    }

    /// Ends the jobs that are overloaded as of `end_ns`.
    pub(super) fn end_overloaded_jobs(&mut self, pool: &WorkerPool, end_ns: u64) {
        for monitor in self.monitors.iter_mut().filter(|monitor| monitor.is_active) {
            if monitor.overload.is_none()
                && monitor.detect()
                && end_ns < pool.job_state(monitor.job).end_ns
            {
                pool.end_job(monitor.job, end_ns);
            }
        }
    }

    pub(crate) fn is_overloaded(&self, job: usize) -> bool {
        let mut monitors = self.monitors.iter();
        monitors.any(|monitor| monitor.job == job && monitor.overload.is_some())
    }

    /// `None` if the job has no `rate_iops`. Must be called after the job has ended.
    pub(crate) fn report(&self, job: usize, ramp_completed: u64) -> Option<ArrivalReport> {
        let monitor = self.monitors.iter().find(|monitor| monitor.job == job)?;
        monitor.report(ramp_completed)
    }
}

impl Monitor {
    fn new(index: usize, job: &ResolvedJob, pool: &WorkerPool) -> Self {
        let begin_ns = pool.begin_ns(index);
        let workers = 0..job.numjobs;
        let schedules = workers.flat_map(|worker| ArrivalSchedule::per_direction(job, worker));
        let counters = schedules.flatten();
        let start_ns = pool.measure_start_ns(index);
        let mut counters: Vec<DueCounter> = counters
            .map(|schedule| DueCounter::new(schedule, begin_ns))
            .collect();
        let due_at_start = counters.iter_mut().map(|due| due.advance(start_ns)).sum();
        Self {
            job: index,
            counters,
            start_ns,
            due_at_start,
            readings: Vec::new(),
            ramp_completed: 0,
            detector: job.timing.overload.map(Detector::new),
            overload: None,
            is_active: true,
        }
    }

    fn read(&mut self, pool: &WorkerPool, now_ns: u64) {
        let state = pool.job_state(self.job);
        let at_ns = now_ns.min(state.end_ns);
        if at_ns < self.start_ns {
            return;
        }
        let due = self.counters.iter_mut().map(|due| due.advance(at_ns)).sum();
        if self.readings.len() == MAX_READINGS {
            let mut index = 0;
            self.readings.retain(|_| {
                index += 1;
                index % 2 == 0
            });
        }
        self.readings.push(Reading {
            at_ns,
            due,
            completed: state.completed.ios,
        });
        self.ramp_completed = state.ramp_ios;
        self.is_active = !state.is_done;
    }

    /// Whether the job is overloaded at the last reading. Considers both its last seconds and the
    /// growth of its backlog over the whole window, as load–latency curves do.
    fn detect(&mut self) -> bool {
        let (Some(detector), Some(last)) = (&mut self.detector, self.readings.last()) else {
            return false;
        };
        let found = detector.push(Mark {
            at_ns: last.at_ns,
            backlog: last
                .due
                .saturating_sub(self.ramp_completed + last.completed),
            due: last.due,
            completed: last.completed,
        });
        let window = found.and_then(|_| self.report(self.ramp_completed));
        let growth = window.and_then(|window| growth(window.due, &window.backlog));
        if growth.is_some_and(|(_, growth)| growth == Growth::Continuous) {
            let after_ms = (last.at_ns - self.start_ns) / NS_PER_MS;
            self.overload = found.map(|overload| Overload {
                after_ms,
                ..overload
            });
        }
        self.overload.is_some()
    }

    fn report(&self, ramp_completed: u64) -> Option<ArrivalReport> {
        let last = self.readings.last()?;
        let backlog = |due: u64, completed: u64| (due).saturating_sub(ramp_completed + completed);
        let mut quarters = vec![backlog(self.due_at_start, 0)];
        let length_ns = last.at_ns - self.start_ns;
        for quarter in 1..=QUARTERS {
            let end_ns = self.start_ns + length_ns * quarter / QUARTERS;
            let reading = self
                .readings
                .iter()
                .take_while(|reading| reading.at_ns <= end_ns);
            let reading = reading.last().unwrap_or(last);
            quarters.push(backlog(reading.due, reading.completed));
        }
        Some(ArrivalReport {
            due: last.due - self.due_at_start,
            backlog: quarters,
            overload: self.overload,
        })
    }
}
