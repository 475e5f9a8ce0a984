//! The workers of all jobs: starts them together, wakes them at phase boundaries, and stops them.

mod flow_groups;
pub(crate) mod job_state;

use crate::{
    load::{
        measure::{exit::LoopExit, unfinished::UnfinishedIo},
        slot_priorities::SlotPriorities,
        stats::WorkerStats,
        worker::{
            self,
            progress::{Progress, Stage},
            schedule::{NO_LIMIT_NS, Schedule},
            start_barrier::StartBarrier,
            task::{WorkerError, WorkerOutcome, WorkerTask},
        },
    },
    run::{
        open_targets::OpenTargets,
        sampler::silence::{MIN_SILENCE_NS, Silence},
        target_observers::TargetObservers,
        worker_pool::flow_groups::flow_groups,
    },
    system::{
        clock::{Clock, Monotonic, NS_PER_MS},
        layers::StoredFile,
    },
};
use leadline_protocol::{
    phase::Phase,
    plan::{
        job::{ResolvedJob, TimingOptions},
        window::window_begin_ms,
    },
};
use std::{
    io,
    iter::repeat_with,
    ops::Range,
    os::unix::thread::JoinHandleExt,
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread::{Builder, JoinHandle},
    time::Duration,
};

/// Time between setting the schedules and the first I/O, in ns: long enough for all workers to
/// start waiting for it.
const HEAD_START_NS: u64 = 5 * NS_PER_MS;
/// Maximum time for a worker to wait for its last I/Os and close its files after its last phase.
const RESULT_TIMEOUT: Duration = Duration::from_secs(2);
/// Signal that interrupts a worker's system call but has no other effect.
const WAKE_SIGNAL: i32 = libc::SIGUSR1;
/// Linux truncates thread names to 15 bytes.
const MAX_THREAD_NAME: usize = 15;

type WorkerResult = Result<WorkerOutcome, WorkerError>;

pub(crate) struct WorkerPool {
    workers: Vec<Worker>,
    jobs: Vec<Arc<ResolvedJob>>,
    barrier: Arc<Barrier>,
}

struct Worker {
    job: usize,
    progress: Arc<Progress>,
    schedule: Arc<Schedule>,
    layers: Vec<Arc<StoredFile>>,
    handle: JoinHandle<()>,
    result: Receiver<WorkerResult>,
}

/// A worker at the end of the run.
pub(crate) struct FinishedWorker {
    /// Index of the job in the run.
    pub job: usize,
    pub progress: Arc<Progress>,
    /// Storage layers of the worker's targets; empty if unknown.
    pub layers: Vec<Arc<StoredFile>>,
    pub result: WorkerResult,
    /// Periods without completions (CLOCK_MONOTONIC, in ns).
    pub silences: Vec<Range<u64>>,
}

impl FinishedWorker {
    /// Whether an I/O had been in flight for a long time at the end.
    pub(crate) fn has_hung(&self) -> bool {
        let outcome = self.result.as_ref().ok();
        let unfinished = outcome.into_iter().flat_map(|outcome| &outcome.unfinished);
        unfinished.into_iter().any(|io| io.age_ns >= MIN_SILENCE_NS)
    }
}

/// CLOCK_MONOTONIC times in ns.
pub(crate) struct StartTimes {
    /// Time of the first I/O.
    pub begin_ns: u64,
    /// Start of the measured window.
    pub measure_ns: u64,
}

impl WorkerPool {
    /// Starts a thread per worker. The workers prepare and wait at the barrier.
    ///
    /// # Errors
    /// Returns an error if a thread cannot be started. Threads that already started wait at the
    /// barrier until the process exits.
    pub(crate) fn spawn(
        jobs: &[ResolvedJob],
        open: OpenTargets,
        observers: &TargetObservers,
    ) -> io::Result<Self> {
        signal_hook::flag::register(WAKE_SIGNAL, Arc::new(AtomicBool::new(false)))?;
        let mut pool = Self {
            workers: Vec::new(),
            jobs: jobs.iter().cloned().map(Arc::new).collect(),
            barrier: Arc::new(Barrier::new(open.workers.len() + 1)),
        };
        let schedules: Vec<Arc<Schedule>> = jobs.iter().map(|_| Arc::default()).collect();
        let by_path = observers.layers_by_path();
        let mut flows = flow_groups(jobs, &open).into_iter();
        for (index, opened) in open.workers.into_iter().enumerate() {
            let job = pool.jobs[opened.job].clone();
            let name = format!("{}.{}", job.name, opened.number);
            let barrier = pool.barrier.clone();
            let progress = Arc::new(Progress::default());
            let shared_progress = progress.clone();
            let schedule = schedules[opened.job].clone();
            let shared_schedule = schedule.clone();
            let paths = opened.targets.iter();
            let layers = paths.map(|target| by_path.get(target.target.path.as_str()).cloned());
            let layers: Vec<_> = layers.collect::<Option<_>>().unwrap_or_default();
            let shared_layers = layers.clone();
            let flow = flows.next().flatten();
            let priorities = job.command_priorities.as_ref();
            let priorities = priorities.map(|_| Arc::new(SlotPriorities::new(job.in_flight())));
            let (handle, result) = start(&name, move || WorkerTask {
                job,
                flow,
                priorities,
                number: opened.number,
                index,
                files: opened.targets.into_iter().map(|target| target.fd).collect(),
                layers: shared_layers,
                barrier: StartBarrier::new(shared_progress.clone(), barrier),
                progress: shared_progress,
                schedule: shared_schedule,
            })?;
            pool.workers.push(Worker {
                job: opened.job,
                progress,
                schedule,
                layers,
                handle,
                result,
            });
        }
        Ok(pool)
    }

    /// Returns when all workers are ready. No worker does I/O before [`Self::start`].
    pub(crate) fn wait_until_ready(&self) {
        self.barrier.wait();
    }

    /// Sets the schedules and releases the workers. Call [`Self::wait_until_ready`] first.
    pub(crate) fn start(&self) -> StartTimes {
        let begin_ns = Monotonic.now_ns() + HEAD_START_NS;
        let mut measure_ns = None;
        for worker in &self.workers {
            let timing = &self.jobs[worker.job].timing;
            let begin_ns = begin_ns + timing.startdelay_ms * NS_PER_MS;
            let ramp_end_ns = begin_ns + timing.ramp_ms * NS_PER_MS;
            let runtime_ns = timing.runtime_ms.map(|ms| ms * NS_PER_MS);
            let end_ns = ramp_end_ns + runtime_ns.unwrap_or(NO_LIMIT_NS);
            worker.set_schedule(begin_ns, ramp_end_ns, end_ns);
            measure_ns = Some(measure_ns.map_or(ramp_end_ns, |first: u64| first.min(ramp_end_ns)));
        }
        self.barrier.wait();
        StartTimes {
            begin_ns,
            measure_ns: measure_ns.unwrap_or(begin_ns),
        }
    }

    /// Whether the workers start before the measured window.
    pub(crate) fn has_ramp(&self) -> bool {
        window_begin_ms(self.jobs.iter().map(Arc::as_ref)) > 0
    }

    /// The next time at or after `now_ns` at which a worker must leave a phase; `None` if all
    /// workers are done.
    pub(crate) fn next_boundary_ns(&self, now_ns: u64) -> Option<u64> {
        let boundaries = self.workers.iter().filter_map(Worker::boundary_ns);
        boundaries.map(|boundary_ns| boundary_ns.max(now_ns)).min()
    }

    /// Scheduled end of the last measurement.
    pub(crate) fn end_ns(&self) -> u64 {
        let ends = self.workers.iter();
        ends.map(|worker| worker.schedule.end_ns.load(Ordering::Acquire))
            .max()
            .unwrap_or(0)
    }

    /// Wakes workers that are blocked past the end of their phase.
    pub(crate) fn wake_late_workers(&self, now_ns: u64) {
        for worker in &self.workers {
            if worker
                .boundary_ns()
                .is_some_and(|boundary_ns| boundary_ns <= now_ns)
            {
                worker.wake();
            }
        }
    }

    /// Ends all phases now.
    pub(crate) fn stop(&self) {
        for worker in &self.workers {
            worker.set_schedule(0, 0, 0);
        }
        self.wake_late_workers(Monotonic.now_ns());
    }

    /// `phase`: ramp or measure.
    pub(crate) fn stats(&self, phase: Phase) -> impl Iterator<Item = &WorkerStats> {
        let progress = self.workers.iter().map(|worker| &worker.progress);
        progress.map(move |progress| match phase {
            Phase::Ramp => &progress.ramp,
            _ => &progress.measure,
        })
    }

    /// Whether a worker failed, or an I/O error was fatal.
    pub(crate) fn has_failed(&self) -> bool {
        let mut stats = self.stats(Phase::Ramp).chain(self.stats(Phase::Measure));
        self.workers
            .iter()
            .any(|worker| worker.progress.has_failed())
            || stats.any(|stats| stats.fatal_errors.get() > 0)
    }

    pub(crate) fn is_done(&self) -> bool {
        let mut workers = self.workers.iter();
        workers.all(|worker| worker.progress.stage() == Stage::Done)
    }

    /// Like [`Self::stats`], with each worker's job.
    pub(crate) fn stats_by_job(
        &self,
        phase: Phase,
    ) -> impl Iterator<Item = (&ResolvedJob, &WorkerStats)> {
        let jobs = self.workers.iter();
        let jobs = jobs.map(|worker| self.jobs[worker.job].as_ref());
        jobs.zip(self.stats(phase))
    }

    /// Waits for the workers. If a worker is still blocked in a system call, its result is taken
    /// from its shared statistics. `times_ns`: from the first I/O of the run to the end of the
    /// measurement.
    pub(crate) fn finish(
        self,
        times_ns: Range<u64>,
        silences: Vec<Silence>,
    ) -> Vec<FinishedWorker> {
        let Self { workers, jobs, .. } = self;
        // A run with a single window does not record silences.
        let silences = silences.into_iter().chain(repeat_with(Silence::default));
        let workers = workers.into_iter().zip(silences);
        workers
            .map(|(worker, silence)| {
                let result = worker.result().unwrap_or_else(|| {
                    let timing = &jobs[worker.job].timing;
                    Ok(blocked_outcome(
                        &worker.progress,
                        timing,
                        &times_ns,
                        &silence,
                    ))
                });
                FinishedWorker {
                    job: worker.job,
                    progress: worker.progress,
                    layers: worker.layers,
                    result,
                    silences: silence.finish(),
                }
            })
            .collect()
    }
}

/// The outcome of a worker that is blocked in a system call. Its I/Os have been in flight at least
/// since the sample in which they were first observed.
fn blocked_outcome(
    progress: &Progress,
    timing: &TimingOptions,
    times_ns: &Range<u64>,
    silence: &Silence,
) -> WorkerOutcome {
    let end_ns = times_ns.end;
    let begin_ns = times_ns.start + timing.startdelay_ms * NS_PER_MS;
    let measure_ns = (begin_ns + timing.ramp_ms * NS_PER_MS).min(end_ns);
    let scheduled_ns = timing.runtime_ms.map(|ms| measure_ns + ms * NS_PER_MS);
    let end_ns = scheduled_ns.map_or(end_ns, |scheduled_ns| scheduled_ns.min(end_ns));
    let waiting_since_ns = silence.waiting_since_ns().unwrap_or(end_ns);
    let age_ns = end_ns.saturating_sub(waiting_since_ns);
    let unfinished = UnfinishedIo {
        kind: progress.measure.last_kind(),
        age_ns,
        since_accepted_ns: age_ns,
    };
    WorkerOutcome {
        begin_ns,
        measure_ns,
        end_ns,
        exit: LoopExit::TimeUp,
        cpu: None,
        unfinished: vec![unfinished; progress.measure.in_flight.get() as usize],
        decisions: Vec::new(),
        written: None,
        errors: Vec::new(),
        write_samples: Vec::new(),
    }
}

/// The task and its barrier are created on the new thread, so that no other thread waits for the
/// barrier if the thread cannot be started. The result comes through a channel, because a thread's
/// exit waits for all I/Os in its ring (io_uring_cancel_generic in io_uring/io_uring.c).
fn start(
    name: &str,
    task: impl FnOnce() -> WorkerTask + Send + 'static,
) -> io::Result<(JoinHandle<()>, Receiver<WorkerResult>)> {
    let sampler = std::thread::current();
    let name = name.chars().filter(char::is_ascii_graphic);
    let name = name.take(MAX_THREAD_NAME).collect();
    let (sender, receiver) = channel();
    let handle = Builder::new().name(name).spawn(move || {
        let task = task();
        let result = worker::run(&task);
        drop(task);
        // Fails only if the run has ended without this worker.
        let _ = sender.send(result);
        sampler.unpark();
    })?;
    Ok((handle, receiver))
}

impl Worker {
    /// `None` if the worker is still blocked.
    fn result(&self) -> Option<WorkerResult> {
        let timeout = match self.progress.stage() {
            Stage::Done => RESULT_TIMEOUT,
            _ => Duration::ZERO,
        };
        match self.result.recv_timeout(timeout) {
            Ok(result) => Some(result),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err(WorkerError {
                action: "running a worker",
                error: io::Error::other("its thread panicked"),
            })),
        }
    }

    fn set_schedule(&self, begin_ns: u64, ramp_end_ns: u64, end_ns: u64) {
        self.schedule.begin_ns.store(begin_ns, Ordering::Release);
        self.schedule
            .ramp_end_ns
            .store(ramp_end_ns, Ordering::Release);
        self.schedule.end_ns.store(end_ns, Ordering::Release);
    }

    /// Scheduled end of the current phase; `None` if the worker is done.
    fn boundary_ns(&self) -> Option<u64> {
        let boundary = match self.progress.stage() {
            Stage::Waiting | Stage::Ramp => &self.schedule.ramp_end_ns,
            Stage::Measure => &self.schedule.end_ns,
            Stage::Done => return None,
        };
        Some(boundary.load(Ordering::Acquire))
    }

    fn wake(&self) {
        // SAFETY: the handle is neither joined nor dropped, so the thread ID is valid. A signal to
        // a thread that has ended returns ESRCH.
        let _ = unsafe { libc::pthread_kill(self.handle.as_pthread_t(), WAKE_SIGNAL) };
    }
}
