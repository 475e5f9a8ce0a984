//! Counts the arrivals of jobs with `rate_iops`, to distinguish a backlog from a slow rate. The
//! arrival schedules are pure and seeded, so they are computed again here.

use crate::{
    load::{pattern::io::Io, rate::arrival_schedule::ArrivalSchedule},
    run::worker_pool::WorkerPool,
};
use leadline_protocol::{
    job::direction::PerDirection, plan::job::ResolvedJob, report::arrivals::ArrivalReport,
};

/// Older readings are thinned out above this number. Quarters of a window are then found within
/// 0.1 % of its length.
const MAX_READINGS: usize = 4096;
const QUARTERS: u64 = 4;

/// The jobs with `rate_iops`.
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
    /// Whether the job is running.
    is_active: bool,
}

#[derive(Clone, Copy, Debug)]
struct Reading {
    at_ns: u64,
    /// Arrivals since the start of the workers.
    due: u64,
    /// Completed I/Os in the measured window.
    completed: u64,
}

/// Arrivals of one worker and direction.
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

    /// Number of arrivals until `now_ns`, which must not decrease.
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
    /// Must be called when the schedules of the workers are set.
    pub(super) fn new(jobs: &[ResolvedJob], pool: &WorkerPool) -> Self {
        let monitors = jobs.iter().enumerate().filter_map(|(index, job)| {
            let has_rate = job.timing.rate_iops != PerDirection::same(None);
            let has_bytes = job.timing.rate != PerDirection::same(None);
            (has_rate && !has_bytes).then(|| Monitor::new(index, job, pool))
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

    /// `None` for a job without `rate_iops`. The job must have ended.
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
        self.is_active = !state.is_done;
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
        })
    }
}
