//! Emits one sample per interval while the workers run, and enforces phase boundaries and stops.
//! Runs on the thread that starts the workers; it only reads their statistics.

mod arrivals;
pub(crate) mod layers;
pub(crate) mod limits;
pub(crate) mod min_rates;
mod overload;
pub(crate) mod pauses;
mod reading;
pub(crate) mod silence;
pub(crate) mod steady_state;
pub(crate) mod totals;
mod worker_windows;

use crate::{
    analysis::{gauge::sample_gauge, level_changes::Levels},
    run::{
        event_sink::EventSink,
        observers::Observers,
        sampler::{
            arrivals::Arrivals,
            layers::PhaseLayers,
            limits::Limits,
            pauses::Pauses,
            reading::{Reading, sample_between},
            silence::{Silence, waits_for_writeback},
            steady_state::SteadyStates,
            totals::IoTotals,
            worker_windows::WorkerWindows,
        },
        stop_signal::StopSignal,
        worker_pool::{StartTimes, WorkerPool},
    },
    system::{
        clock::{Clock, Monotonic, NS_PER_MS, NS_PER_SECOND, wall_ms},
        probes::Counters,
        target::device_watch::DeviceWatch,
    },
};
use leadline_protocol::{
    event::EventBody,
    phase::{Phase, PhaseState},
    plan::job::ResolvedJob,
    problem::Problem,
};
use std::{
    collections::BTreeSet,
    ops::Range,
    thread::{park_timeout, sleep},
    time::Duration,
};

/// Maximum time between two checks of the stop flag, in ns.
const POLL_NS: u64 = 50 * NS_PER_MS;
/// Maximum time to wait for the device counters to include the last I/O, in ns.
const COUNTER_WAIT_NS: u64 = NS_PER_MS;
/// Interval at which a worker that is blocked past its phase boundary is woken, in ns.
const WAKE_INTERVAL_NS: u64 = NS_PER_MS / 2;
/// How long a worker may stay blocked in a system call after its end time, in ns. After that, the
/// run continues without the worker.
const BLOCKED_NS: u64 = 5 * NS_PER_SECOND;
/// Same as above, but after a stop request, which must complete within a second.
const BLOCKED_AFTER_STOP_NS: u64 = 700 * NS_PER_MS;

/// The measured window.
pub(crate) struct MeasuredWindow {
    /// Counters at the start of the window.
    pub before: Counters,
    /// Counters at the end of the window.
    pub after: Counters,
    /// Whether a stop was requested.
    pub stopped: bool,
    /// Indexes of the jobs that a job with `exitall` ended.
    pub ended_by_exitall: BTreeSet<usize>,
    /// Start of the window as Unix time in ms.
    pub started_at_ms: u64,
    /// From the first I/O of the run, even in the ramp, to the end (CLOCK_MONOTONIC, in ns).
    pub times_ns: Range<u64>,
    /// One per worker, in worker order.
    pub silences: Vec<Silence>,
    pub pauses: Pauses,
    pub steady_states: SteadyStates,
    pub arrivals: Arrivals,
    pub limits: Limits,
    pub levels: Levels,
    /// The reason to abort the run.
    pub problem: Option<Problem>,
}

pub(crate) struct Sampler<'a, 'b> {
    pub pool: &'a WorkerPool,
    pub jobs: &'a [ResolvedJob],
    pub interval_ns: u64,
    pub observers: &'a mut Observers,
    pub sink: &'a mut EventSink<'b>,
    pub stop: &'a StopSignal,
    /// The devices that the run writes to.
    pub devices: DeviceWatch,
    pub state: State,
}

/// Mutable state of the sampler, initially empty.
pub(crate) struct State {
    /// Whether a stop was requested.
    stopped: bool,
    /// Time at which the workers were stopped, by a request or after an error.
    stopped_ns: Option<u64>,
    silences: Vec<Silence>,
    pauses: Pauses,
    steady_states: SteadyStates,
    arrivals: Arrivals,
    limits: Limits,
    levels: Levels,
    windows: WorkerWindows,
    /// Indexes of the workers whose `exitall` has been applied.
    exited: BTreeSet<usize>,
    ended_by_exitall: BTreeSet<usize>,
    /// Whether the runner was paused since the last sample.
    has_paused: bool,
    /// Time of the next device check.
    check_ns: u64,
    problem: Option<Problem>,
}

impl State {
    pub(crate) fn new() -> Self {
        Self {
            stopped: false,
            stopped_ns: None,
            silences: Vec::new(),
            pauses: Pauses::new(),
            steady_states: SteadyStates::default(),
            arrivals: Arrivals::default(),
            limits: Limits::default(),
            levels: Levels::default(),
            windows: WorkerWindows::default(),
            exited: BTreeSet::new(),
            ended_by_exitall: BTreeSet::new(),
            has_paused: false,
            check_ns: 0,
            problem: None,
        }
    }
}

impl Sampler<'_, '_> {
    /// Starts the workers and samples until all of them are done.
    pub(crate) fn run(mut self) -> MeasuredWindow {
        self.pool.wait_until_ready();
        // Start the window before any worker does I/O, so that it includes every I/O, no matter how
        // long the start takes.
        if self.pool.has_ramp() {
            self.observers.targets.start_ramp();
        } else {
            self.observers.targets.start();
        }
        let mut before = self.observers.probes.read();
        let StartTimes {
            begin_ns,
            measure_ns,
        } = self.pool.start();
        self.state.steady_states = SteadyStates::new(self.jobs, self.pool);
        self.state.arrivals = Arrivals::new(self.jobs, self.pool);
        self.state.limits = Limits::new(self.jobs, self.pool);
        if measure_ns > begin_ns {
            self.sample_phase(Phase::Ramp, before, begin_ns, measure_ns);
            before = self.observers.probes.read();
            self.observers.targets.start();
        }
        let (before, after, started_at_ms) =
            self.sample_phase(Phase::Measure, before, measure_ns, u64::MAX);
        self.state.limits.check_latencies(self.pool);
        MeasuredWindow {
            before,
            after,
            stopped: self.state.stopped,
            ended_by_exitall: self.state.ended_by_exitall,
            started_at_ms,
            times_ns: begin_ns..Monotonic.now_ns(),
            silences: self.state.silences,
            pauses: self.state.pauses,
            steady_states: self.state.steady_states,
            arrivals: self.state.arrivals,
            limits: self.state.limits,
            levels: self.state.levels,
            problem: self.state.problem,
        }
    }

    /// Samples from `start_ns` until `end_ns`, or until all workers are done. The phase events have
    /// the times of the phase boundaries, not those at which the counters are read. `before`:
    /// counters at the start. Returns the counters at the start and end, and the Unix time of the
    /// start in ms.
    fn sample_phase(
        &mut self,
        phase: Phase,
        mut before: Counters,
        start_ns: u64,
        end_ns: u64,
    ) -> (Counters, Counters, u64) {
        self.state.silences.clear();
        before.at_ns = before.at_ns.max(start_ns);
        self.sleep_until(start_ns);
        let started_at_ms = wall_ms();
        let begin_ns = start_ns.min(Monotonic.now_ns());
        self.sink.phase_at(phase, PhaseState::Begin, begin_ns);
        let start = Reading {
            counters: before.clone(),
            totals: IoTotals::default(),
        };
        let mut last = start.clone();
        let mut last_residency = None;
        let dirty_bytes = self.observers.targets.dirty_bytes_at_start();
        let mut layers = PhaseLayers::new(self.sink.now_ms(), dirty_bytes);
        let mut interval = 1;
        loop {
            let next_ns = self.extend_last_window(start_ns + interval * self.interval_ns);
            let is_running = self.sleep_until(next_ns.min(end_ns));
            let boundary_ns = end_ns.min(Monotonic.now_ns());
            let counters = if is_running {
                self.observers.probes.read()
            } else {
                self.final_counters()
            };
            let totals = IoTotals::of(self.pool.stats(phase));
            let residency = if is_running || phase != Phase::Measure {
                self.observers.targets.poll()
            } else {
                self.observers.targets.end()
            };
            let now = Reading { counters, totals };
            let mut sample = sample_between(phase, &last, &now, residency);
            last_residency = residency.or(last_residency);
            let phase_so_far = sample_between(phase, &start, &now, last_residency);
            let (in_sample, so_far) =
                layers.push(self.sink.now_ms(), &now.totals, &phase_so_far, residency);
            sample.gauge = Some(sample_gauge(&phase_so_far, so_far, self.jobs));
            if is_running {
                self.note_silence(phase, [&last, &now], boundary_ns);
            }
            sample.silent_ms = Some(self.silent_ms());
            sample.steady_states = self.state.steady_states.take_progress();
            if phase == Phase::Measure {
                self.state.windows.emit(self.pool, self.jobs, self.sink);
                self.state.arrivals.read(self.pool, Monotonic.now_ns());
                // The last window has the same length as the others.
                let next_ns = start_ns + (interval + 1) * self.interval_ns;
                if self.state.stopped_ns.is_none() {
                    self.state.arrivals.end_overloaded_jobs(self.pool, next_ns);
                }
                self.state.levels.push(self.sink.now_ms(), &sample);
                self.observers
                    .targets
                    .push_sample(self.sink.now_ms(), &sample, in_sample);
            }
            self.sink.emit(EventBody::Sample(Box::new(sample)));
            last = now;
            if !is_running || Monotonic.now_ns() >= end_ns {
                self.sink.phase_at(phase, PhaseState::End, boundary_ns);
                return (before, last.counters, started_at_ms);
            }
            // Intervals that were missed (SIGSTOP, an overloaded host) are skipped, resulting in
            // one longer window.
            let elapsed_ns = Monotonic.now_ns().saturating_sub(start_ns);
            interval = (elapsed_ns / self.interval_ns + 1).max(interval + 1);
        }
    }

    /// Records which workers had no completions in the window. Not called for the window in which
    /// all workers finish, because finished workers have no I/O in flight.
    fn note_silence(&mut self, phase: Phase, window: [&Reading; 2], now_ns: u64) {
        let has_paused = std::mem::take(&mut self.state.has_paused);
        let [last, now] = window.map(|reading| &reading.counters);
        let is_writing = |device: &str| Counters::has_written(last, now, device);
        let workers = self.pool.stats_by_job(phase);
        for (number, (job, stats)) in workers.enumerate() {
            let is_exempt = has_paused || waits_for_writeback(stats, job, is_writing);
            if number == self.state.silences.len() {
                self.state.silences.push(Silence::default());
            }
            self.state.silences[number].push(now_ns, stats, is_exempt);
        }
    }

    /// Current silence of the worker that has been silent the longest, in ms.
    fn silent_ms(&self) -> f64 {
        let silences = self.state.silences.iter();
        let longest_ns = silences.map(Silence::current_ns).max();
        longest_ns.unwrap_or(0) as f64 / NS_PER_MS as f64
    }

    /// Extends the last window of the run by any remainder of less than half an interval: rates
    /// based on a few I/Os would be meaningless.
    fn extend_last_window(&self, next_ns: u64) -> u64 {
        match self.pool.end_ns().checked_sub(next_ns) {
            Some(remaining_ns) if remaining_ns < self.interval_ns / 2 => next_ns + self.interval_ns,
            _ => next_ns,
        }
    }

    /// Sleeps until `due_ns` while enforcing phase boundaries and stops. Returns false as soon as
    /// every worker is done, or has been blocked for too long after its end time.
    fn sleep_until(&mut self, mut due_ns: u64) -> bool {
        loop {
            let is_done = self.pool.is_done();
            let now_ns = Monotonic.now_ns();
            if self.state.stopped_ns.is_none() && self.state.steady_states.check(self.pool, now_ns)
            {
                due_ns = self.extend_last_window(due_ns);
            }
            if is_done {
                return false;
            }
            if self.state.stopped_ns.is_none() {
                self.check_jobs(now_ns);
            }
            if self.are_blocked(now_ns) {
                return false;
            }
            if !self.state.stopped && self.stop.is_requested() {
                self.state.stopped = true;
                self.stop_workers(now_ns);
            }
            self.check_devices(now_ns);
            if self.pool.has_failed() || self.state.problem.is_some() {
                self.stop_workers(now_ns);
            }
            self.pool
                .wake_late_workers(now_ns.saturating_sub(WAKE_INTERVAL_NS));
            if now_ns >= due_ns {
                return true;
            }
            let boundary_ns = self.pool.next_boundary_ns(now_ns).unwrap_or(u64::MAX);
            let wake_ns = boundary_ns.saturating_add(WAKE_INTERVAL_NS);
            let second_ns = self.state.steady_states.due_ns().max(now_ns);
            let until_ns = due_ns.min(wake_ns).min(second_ns).min(now_ns + POLL_NS);
            park_timeout(Duration::from_nanos(until_ns - now_ns));
            self.state.has_paused |= self.state.pauses.check(until_ns, Monotonic.now_ns());
        }
    }

    /// Applies `exitall` and the limits that end the run.
    fn check_jobs(&mut self, now_ns: u64) {
        let ended = self.pool.apply_exitall(&mut self.state.exited, now_ns);
        self.state.ended_by_exitall.extend(ended);
        if self.state.limits.check(self.pool, now_ns) {
            self.stop_workers(now_ns);
        }
    }

    /// Checks once per second that the devices have not changed since the guard admitted them for
    /// writing.
    fn check_devices(&mut self, now_ns: u64) {
        if now_ns < self.state.check_ns {
            return;
        }
        self.state.check_ns = now_ns + NS_PER_SECOND;
        let problem = self.devices.check().err();
        self.state.problem = self.state.problem.take().or(problem);
    }

    fn stop_workers(&mut self, now_ns: u64) {
        self.state.stopped_ns.get_or_insert(now_ns);
        self.pool.stop();
    }

    /// Whether the workers that are not done have been blocked for too long after their end time.
    fn are_blocked(&self, now_ns: u64) -> bool {
        let limit_ns = match self.state.stopped_ns {
            Some(stopped_ns) => stopped_ns + BLOCKED_AFTER_STOP_NS,
            None => self.pool.end_ns().saturating_add(BLOCKED_NS),
        };
        now_ns >= limit_ns
    }

    /// Counters after the last I/O. The kernel wakes the worker before it updates the device
    /// counters (blk_mq_end_request completes the bio first).
    fn final_counters(&mut self) -> Counters {
        let begin = self.observers.probes.read();
        let mut last = begin.clone();
        loop {
            let device = Counters::window(&begin, &last).device;
            let is_busy = device.is_some_and(|device| device.in_flight > 0);
            if !is_busy || last.at_ns >= begin.at_ns + COUNTER_WAIT_NS {
                return last;
            }
            sleep(Duration::from_nanos(COUNTER_WAIT_NS / 10));
            last = self.observers.probes.read();
        }
    }
}
