//! The state of one job while its workers run.

use crate::{
    load::{histogram::Histogram, stats::WorkerStats, worker::progress::Stage},
    run::worker_pool::{Worker, WorkerPool},
};
use leadline_protocol::{job::keyword::ExitWhat, plan::job::TimingOptions};
use std::{collections::BTreeSet, sync::atomic::Ordering};

/// A job's counters, and its scheduled end.
pub(crate) struct JobState {
    /// I/Os that completed in the measured window.
    pub completed: Completed,
    /// I/Os that completed before the measured window.
    pub ramp_ios: u64,
    /// Sum of the latencies of `completed`, in ns.
    pub lat_sum_ns: u64,
    /// Scheduled end (CLOCK_MONOTONIC, in ns).
    pub end_ns: u64,
    /// Whether all its workers are done.
    pub is_done: bool,
}

/// A worker's schedule, and its statistics for the measured window.
pub(crate) struct MeasuredState<'a> {
    pub job: usize,
    /// Scheduled start and end (CLOCK_MONOTONIC, in ns).
    pub start_ns: u64,
    pub end_ns: u64,
    pub is_done: bool,
    pub stats: &'a WorkerStats,
}

/// Names of the directions in a worker's statistics.
pub(crate) const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];

/// Number and bytes of completed reads, writes or trims.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Completed {
    pub ios: u64,
    pub bytes: u64,
}

impl WorkerPool {
    /// Scheduled time of the job's first I/O (CLOCK_MONOTONIC, in ns).
    pub(crate) fn begin_ns(&self, job: usize) -> u64 {
        let workers = self.workers_of(job);
        let begins = workers.map(|worker| worker.schedule.begin_ns.load(Ordering::Acquire));
        begins.min().unwrap_or(0)
    }

    /// Scheduled start of the job's measured window (CLOCK_MONOTONIC, in ns).
    pub(crate) fn measure_start_ns(&self, job: usize) -> u64 {
        let workers = self.workers_of(job);
        let starts = workers.map(|worker| worker.schedule.ramp_end_ns.load(Ordering::Acquire));
        starts.max().unwrap_or(0)
    }

    pub(crate) fn job_state(&self, job: usize) -> JobState {
        let mut state = JobState {
            completed: Completed::default(),
            ramp_ios: 0,
            lat_sum_ns: 0,
            end_ns: 0,
            is_done: true,
        };
        for worker in self.workers_of(job) {
            let [read, write, trim, _] = &worker.progress.measure.directions;
            for stats in [read, write, trim] {
                state.completed.ios += stats.ios.get();
                state.completed.bytes += stats.bytes.get();
                let sums = stats.latencies().map(Histogram::sum_ns);
                state.lat_sum_ns = state.lat_sum_ns.wrapping_add(sums[0]).wrapping_add(sums[1]);
            }
            let ramp = &worker.progress.ramp.directions[..DIRECTIONS.len()];
            state.ramp_ios += ramp.iter().map(|stats| stats.ios.get()).sum::<u64>();
            let end_ns = worker.schedule.end_ns.load(Ordering::Acquire);
            state.end_ns = state.end_ns.max(end_ns);
            state.is_done &= worker.progress.stage() == Stage::Done;
        }
        state
    }

    /// Ends the measurement of a job.
    pub(crate) fn end_job(&self, job: usize, now_ns: u64) {
        for worker in self.workers_of(job) {
            worker.schedule.end_ns.store(now_ns, Ordering::Release);
        }
    }

    /// Ends the jobs selected by `exit_what` when a worker of a job with `exitall` is done (fio
    /// libfio.c, `fio_terminate_threads`). Returns the jobs that this call ended, by index.
    /// `applied`: workers whose end has already been applied, which does not end jobs that start
    /// later.
    pub(crate) fn apply_exitall(&self, applied: &mut BTreeSet<usize>, now_ns: u64) -> Vec<usize> {
        let mut ended = Vec::new();
        for (index, worker) in self.workers.iter().enumerate() {
            let timing = &self.jobs[worker.job].timing;
            let is_done = worker.progress.stage() == Stage::Done;
            if timing.exitall && is_done && applied.insert(index) {
                let others = self
                    .workers
                    .iter()
                    .filter(|other| ends_with(other, self, timing));
                ended.extend(
                    others
                        .filter(|other| other.end(now_ns))
                        .map(|other| other.job),
                );
            }
        }
        ended
    }

    /// Progress in the measured window by worker: whether it is done, and its completed reads,
    /// writes and trims.
    pub(crate) fn completed_by_worker(&self) -> impl Iterator<Item = (bool, [Completed; 3])> {
        self.workers.iter().map(|worker| {
            let [read, write, trim, _] = &worker.progress.measure.directions;
            let completed = [read, write, trim].map(|stats| Completed {
                ios: stats.ios.get(),
                bytes: stats.bytes.get(),
            });
            (worker.progress.stage() == Stage::Done, completed)
        })
    }

    /// The state of each worker, in worker order. A worker that is done has no I/O after this call.
    pub(crate) fn measured_workers(&self) -> impl Iterator<Item = MeasuredState<'_>> {
        self.workers.iter().map(|worker| MeasuredState {
            job: worker.job,
            start_ns: worker.schedule.ramp_end_ns.load(Ordering::Acquire),
            end_ns: worker.schedule.end_ns.load(Ordering::Acquire),
            is_done: worker.progress.stage() == Stage::Done,
            stats: &worker.progress.measure,
        })
    }

    /// Indices of the workers' jobs, in worker order.
    pub(crate) fn jobs_by_worker(&self) -> impl Iterator<Item = usize> {
        self.workers.iter().map(|worker| worker.job)
    }

    fn workers_of(&self, job: usize) -> impl Iterator<Item = &Worker> {
        self.workers.iter().filter(move |worker| worker.job == job)
    }
}

/// Whether the end of a job with these options ends a worker that is not yet done.
fn ends_with(worker: &Worker, pool: &WorkerPool, timing: &TimingOptions) -> bool {
    let stage = worker.progress.stage();
    let is_ended = match timing.exit_what {
        ExitWhat::Group => pool.jobs[worker.job].timing.exit_group == timing.exit_group,
        ExitWhat::Stonewall => stage > Stage::Waiting,
        ExitWhat::All => true,
    };
    is_ended && stage != Stage::Done
}

impl Worker {
    /// Ends the worker now, even if it has not started. Returns false if its end has passed.
    fn end(&self, now_ns: u64) -> bool {
        let schedule = &self.schedule;
        schedule.ramp_end_ns.fetch_min(now_ns, Ordering::AcqRel);
        schedule.end_ns.fetch_min(now_ns, Ordering::AcqRel) > now_ns
    }
}
