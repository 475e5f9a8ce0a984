//! The state of one job while its workers run.

use crate::{
    load::worker::progress::Stage,
    run::worker_pool::{Worker, WorkerPool},
};
use std::sync::atomic::Ordering;

/// A job while it runs.
pub(crate) struct JobState {
    /// In the measured window.
    pub completed: Completed,
    /// Scheduled end (CLOCK_MONOTONIC, in ns).
    pub end_ns: u64,
    /// Whether all its workers are done.
    pub is_done: bool,
}

/// Completed reads, writes and trims.
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
            end_ns: 0,
            is_done: true,
        };
        for worker in self.workers_of(job) {
            let [read, write, trim, _] = &worker.progress.measure.directions;
            for stats in [read, write, trim] {
                state.completed.ios += stats.ios.get();
                state.completed.bytes += stats.bytes.get();
            }
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

    /// Returns true if a worker of a job with `exitall` is done, and others are not.
    pub(crate) fn is_exitall_due(&self) -> bool {
        let is_done = |worker: &Worker| worker.progress.stage() == Stage::Done;
        let mut workers = self.workers.iter();
        workers.any(|worker| self.jobs[worker.job].timing.exitall && is_done(worker))
            && !self.is_done()
    }

    /// Ends all jobs, including those that have not started.
    pub(crate) fn end_all(&self, now_ns: u64) {
        for worker in &self.workers {
            let schedule = &worker.schedule;
            for end_ns in [&schedule.ramp_end_ns, &schedule.end_ns] {
                end_ns.fetch_min(now_ns, Ordering::AcqRel);
            }
        }
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

    /// Indices of the workers' jobs, in worker order.
    pub(crate) fn jobs_by_worker(&self) -> impl Iterator<Item = usize> {
        self.workers.iter().map(|worker| worker.job)
    }

    fn workers_of(&self, job: usize) -> impl Iterator<Item = &Worker> {
        self.workers.iter().filter(move |worker| worker.job == job)
    }
}
