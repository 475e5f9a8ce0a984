//! Ends jobs that have reached steady state, which is evaluated once per interval from their
//! workers' counters.

use crate::{
    run::worker_pool::{
        WorkerPool,
        job_state::{Completed, JobState},
    },
    system::clock::{NS_PER_MS, NS_PER_SECOND},
};
use leadline_protocol::{
    plan::job::{ResolvedJob, SteadyStateOptions},
    report::steady_state::{
        Progress, SteadyStateProgress, SteadyStateReport, SteadyWindow, WindowValue, summary,
    },
};
use leadline_stats::steady_state::{Criterion, Limit, SecondsWindow};
use std::collections::VecDeque;

/// The jobs with `steadystate_duration`.
#[derive(Default)]
pub(crate) struct SteadyStates {
    monitors: Vec<Monitor>,
    /// Intervals that have ended since the last sample.
    progress: Vec<SteadyStateProgress>,
}

impl SteadyStates {
    /// Must be called when the workers' schedules are set.
    pub(super) fn new(jobs: &[ResolvedJob], pool: &WorkerPool) -> Self {
        let all = jobs.iter().enumerate();
        let monitors = all.filter_map(|(job, resolved)| {
            let options = resolved.timing.steady_state?;
            Some(Monitor::new(job, options, pool.measure_start_ns(job)))
        });
        Self {
            monitors: monitors.collect(),
            progress: Vec::new(),
        }
    }

    /// Ends the jobs that have reached steady state. Returns true if there are any. `now_ns` must
    /// be later than the time at which the workers were found to be done.
    pub(super) fn check(&mut self, pool: &WorkerPool, now_ns: u64) -> bool {
        let mut has_ended = false;
        for monitor in self.monitors.iter_mut().filter(|monitor| monitor.is_active) {
            if let Some(progress) = monitor.observe(&pool.job_state(monitor.job), now_ns) {
                if progress.attained {
                    pool.end_job(monitor.job, now_ns);
                }
                has_ended |= progress.attained;
                self.progress.push(progress);
            }
        }
        has_ended
    }

    /// End of the next interval; `u64::MAX` if no job is active.
    pub(super) fn due_ns(&self) -> u64 {
        let active = self.monitors.iter().filter(|monitor| monitor.is_active);
        active.map(Monitor::due_ns).min().unwrap_or(u64::MAX)
    }

    pub(super) fn take_progress(&mut self) -> Vec<SteadyStateProgress> {
        std::mem::take(&mut self.progress)
    }

    pub(crate) fn is_attained(&self, job: usize) -> bool {
        let mut monitors = self.monitors.iter();
        monitors.any(|monitor| monitor.job == job && monitor.attained_ns.is_some())
    }

    /// `origin_ns`: start of the run (CLOCK_MONOTONIC, in ns).
    pub(crate) fn report(&self, job: usize, origin_ns: u64) -> Option<SteadyStateReport> {
        let mut monitors = self.monitors.iter();
        let monitor = monitors.find(|monitor| monitor.job == job)?;
        Some(monitor.report(origin_ns))
    }
}

/// One interval of a job. Times are CLOCK_MONOTONIC times in ns.
#[derive(Clone, Copy, Debug)]
struct Interval {
    begin_ns: u64,
    end_ns: u64,
    iops: f64,
    bytes_per_second: f64,
    /// Mean latency of the I/Os that completed; 0 if no I/Os completed, as in fio.
    lat_ns: f64,
}

/// Steady-state detection for one job.
struct Monitor {
    job: usize,
    options: SteadyStateOptions,
    /// Start of the job's measured window.
    start_ns: u64,
    /// Number of the interval that ends next, from 1.
    number: u64,
    /// Time and counters of the last reading.
    last_ns: u64,
    last: Completed,
    last_lat_sum_ns: u64,
    /// The last intervals, at most one window.
    intervals: VecDeque<Interval>,
    attained_ns: Option<u64>,
    /// Whether the job is running.
    is_active: bool,
}

impl Monitor {
    fn new(job: usize, options: SteadyStateOptions, start_ns: u64) -> Self {
        Self {
            job,
            options,
            start_ns,
            number: 1,
            last_ns: start_ns,
            last: Completed::default(),
            last_lat_sum_ns: 0,
            intervals: VecDeque::new(),
            attained_ns: None,
            is_active: true,
        }
    }

    fn interval_ns(&self) -> u64 {
        u64::from(self.options.interval_s) * NS_PER_SECOND
    }

    /// Number of intervals in a window.
    fn length(&self) -> usize {
        (self.options.duration_s / self.options.interval_s) as usize
    }

    fn due_ns(&self) -> u64 {
        self.start_ns + self.number * self.interval_ns()
    }

    /// Evaluates the current interval if it has ended. A job's last interval counts as complete if
    /// the job ran until its scheduled end.
    fn observe(&mut self, state: &JobState, now_ns: u64) -> Option<SteadyStateProgress> {
        let end_ns = now_ns.min(state.end_ns);
        let is_due = end_ns >= self.due_ns();
        let progress = is_due.then(|| self.read(end_ns, state));
        self.is_active &= !state.is_done;
        progress
    }

    fn read(&mut self, now_ns: u64, state: &JobState) -> SteadyStateProgress {
        let completed = state.completed;
        let ramp_end_ns = self.start_ns + u64::from(self.options.ramp_s) * NS_PER_SECOND;
        if self.last_ns >= ramp_end_ns {
            let elapsed_s = (now_ns - self.last_ns) as f64 / NS_PER_SECOND as f64;
            let rate = |now: u64, last: u64| now.saturating_sub(last) as f64 / elapsed_s;
            self.push(Interval {
                begin_ns: self.last_ns,
                end_ns: now_ns,
                iops: rate(completed.ios, self.last.ios),
                bytes_per_second: rate(completed.bytes, self.last.bytes),
                lat_ns: match completed.ios.saturating_sub(self.last.ios) {
                    0 => 0.0,
                    ios => state.lat_sum_ns.wrapping_sub(self.last_lat_sum_ns) as f64 / ios as f64,
                },
            });
        }
        self.last_ns = now_ns;
        self.last = completed;
        self.last_lat_sum_ns = state.lat_sum_ns;
        // Round to the nearest boundary, so that the interval after a late reading is at least half
        // as long as configured.
        let interval_ns = self.interval_ns();
        self.number = (now_ns - self.start_ns + interval_ns / 2) / interval_ns + 1;
        let window = self.window();
        if window.is_some_and(|window| window.is_steady(self.criterion(), self.limit())) {
            self.attained_ns = Some(now_ns);
            self.is_active = false;
        }
        SteadyStateProgress {
            job: self.job as u32,
            value: window.and_then(|window| window.value(self.criterion(), self.limit())),
            attained: self.attained_ns.is_some(),
            summary: self.summary(Progress::NotYet),
        }
    }

    /// `otherwise`: the progress to report if the job has not reached steady state.
    fn summary(&self, otherwise: Progress) -> String {
        let attained_s = self.attained_s().map(Progress::AttainedAfter);
        let value = self.window().map(|window| {
            let value = window.value(self.criterion(), self.limit());
            value.map_or(WindowValue::Undefined, WindowValue::Known)
        });
        summary(
            &self.options,
            attained_s.unwrap_or(otherwise),
            value.unwrap_or(WindowValue::Incomplete),
        )
    }

    /// Seconds from the start of the job's measured window.
    fn attained_s(&self) -> Option<f64> {
        let attained_ns = self.attained_ns?;
        Some((attained_ns - self.start_ns) as f64 / NS_PER_SECOND as f64)
    }

    fn push(&mut self, interval: Interval) {
        if self.intervals.len() == self.length() {
            self.intervals.pop_front();
        }
        self.intervals.push_back(interval);
    }

    fn criterion(&self) -> Criterion {
        if self.options.test.criterion.is_slope() {
            Criterion::Slope
        } else {
            Criterion::Deviation
        }
    }

    fn limit(&self) -> Limit {
        let test = &self.options.test;
        if test.is_percent {
            Limit::Percent(test.limit)
        } else {
            Limit::Absolute(test.limit)
        }
    }

    /// `None` until the window is complete.
    fn window(&self) -> Option<SecondsWindow> {
        let criterion = self.options.test.criterion;
        let values: Vec<f64> = if criterion.is_bandwidth() {
            self.values(|interval| interval.bytes_per_second)
        } else if criterion.is_latency() {
            self.values(|interval| interval.lat_ns)
        } else {
            self.values(|interval| interval.iops)
        };
        let is_complete = values.len() == self.length();
        is_complete.then(|| SecondsWindow::new(&values)).flatten()
    }

    fn values(&self, value: fn(&Interval) -> f64) -> Vec<f64> {
        self.intervals.iter().map(value).collect()
    }

    fn report(&self, origin_ns: u64) -> SteadyStateReport {
        let iops = self.values(|interval| interval.iops);
        let bytes_per_second = self.values(|interval| interval.bytes_per_second);
        let window = self.window().and_then(|window| {
            Some(SteadyWindow {
                start_ms: ms(self.intervals.front()?.begin_ns.saturating_sub(origin_ns)),
                end_ms: ms(self.intervals.back()?.end_ns.saturating_sub(origin_ns)),
                mean_iops: mean(&iops),
                mean_bytes_per_second: mean(&bytes_per_second),
                max_deviation: window.max_deviation,
                slope: window.slope,
                value: window.value(self.criterion(), self.limit()),
            })
        });
        SteadyStateReport {
            test: self.options.test,
            attained: self.attained_ns.is_some(),
            attained_s: self.attained_s(),
            summary: self.summary(Progress::NotReached),
            window,
            iops,
            bytes_per_second,
            lat_ns: self.values(|interval| interval.lat_ns),
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn ms(ns: u64) -> f64 {
    ns as f64 / NS_PER_MS as f64
}

#[cfg(test)]
mod tests;
