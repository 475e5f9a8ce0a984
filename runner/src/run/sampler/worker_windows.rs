//! Each worker's I/Os between two samples, for fio logs. Reads the live counters without locks.

use crate::{
    load::stats::IoStats,
    run::{event_sink::EventSink, worker_pool::WorkerPool},
    system::clock::{Clock, Monotonic, NS_PER_MS, wall_ms},
};
use leadline_export::fio::logs::worker::{DirectionWindow, WorkerWindow};
use leadline_protocol::{
    histogram::{BUCKETS, sparse},
    plan::job::ResolvedJob,
};
use std::array;

/// The workers' last readings, in worker order.
#[derive(Default)]
pub(crate) struct WorkerWindows {
    last: Vec<Reading>,
}

#[derive(Default)]
struct Reading {
    /// Start of the worker's measured window; 0 before the first reading.
    start_ns: u64,
    at_ns: u64,
    directions: [Totals; 3],
    /// Whether the worker's final window has been emitted.
    has_ended: bool,
}

/// Cumulative counts of one direction.
#[derive(Clone, Default)]
struct Totals {
    bytes: u64,
    latencies: Latencies,
    submissions: Latencies,
    completions: Latencies,
}

#[derive(Clone)]
struct Latencies(Box<[u64; BUCKETS]>);

impl Default for Latencies {
    fn default() -> Self {
        let buckets = vec![0; BUCKETS].into_boxed_slice();
        Self(buckets.try_into().expect("BUCKETS elements"))
    }
}

impl WorkerWindows {
    /// Emits the windows since the last call, if the listener uses them.
    pub(super) fn emit(&mut self, pool: &WorkerPool, jobs: &[ResolvedJob], sink: &mut EventSink) {
        if !sink.uses_windows() {
            return;
        }
        let mut previous_job = None;
        let mut worker = 0;
        for (index, state) in pool.measured_workers().enumerate() {
            worker = if previous_job == Some(state.job) {
                worker + 1
            } else {
                0
            };
            previous_job = Some(state.job);
            if index == self.last.len() {
                self.last.push(Reading::default());
            }
            let last = &mut self.last[index];
            // The schedule is 0 after a stop, so keep the original start.
            if last.start_ns == 0 {
                last.start_ns = state.start_ns;
                last.at_ns = state.start_ns;
            }
            let now_ns = Monotonic.now_ns();
            if last.has_ended || last.start_ns == 0 || now_ns <= last.start_ns {
                continue;
            }
            last.has_ended = state.is_done;
            let is_synchronous = jobs[state.job].ring.ioengine.is_synchronous();
            let end_ns = Some(state.end_ns).filter(|end_ns| *end_ns > last.at_ns);
            let end_ns = end_ns.unwrap_or(now_ns).min(now_ns);
            let [read, write, trim, _] = &state.stats.directions;
            let directions = [read, write, trim].map(|stats| Totals::of(stats, is_synchronous));
            let ms = |ns: u64| ns as f64 / NS_PER_MS as f64;
            sink.window(&WorkerWindow {
                job: state.job,
                worker,
                end_ms: ms(end_ns - last.start_ns),
                ms: ms(end_ns - last.at_ns),
                unix_ms: wall_ms(),
                directions: array::from_fn(|number| {
                    directions[number].since(&last.directions[number])
                }),
            });
            last.at_ns = end_ns;
            last.directions = directions;
        }
    }
}

impl Totals {
    /// As in fio: the system call of a synchronous engine is completion latency, and there is no
    /// submission latency.
    fn of(stats: &IoStats, is_synchronous: bool) -> Self {
        let mut totals = Self::default();
        if stats.ios.get() == 0 {
            return totals;
        }
        totals.bytes = stats.bytes.get();
        for latencies in stats.latencies() {
            latencies.add_to(&mut totals.latencies.0);
        }
        stats.slat.add_to(&mut totals.submissions.0);
        stats.clat.add_to(&mut totals.completions.0);
        if is_synchronous {
            stats.inline_lat.add_to(&mut totals.completions.0);
        } else {
            stats.inline_lat.add_to(&mut totals.submissions.0);
            totals.completions.0[0] += stats.inline_lat.count();
        }
        totals
    }

    fn since(&self, before: &Self) -> DirectionWindow {
        let lat_ns = self.latencies.since(&before.latencies);
        DirectionWindow {
            ios: lat_ns.iter().map(|(_, count)| count).sum(),
            bytes: self.bytes.saturating_sub(before.bytes),
            lat_ns,
            slat_ns: self.submissions.since(&before.submissions),
            clat_ns: self.completions.since(&before.completions),
        }
    }
}

impl Latencies {
    fn since(&self, before: &Self) -> Vec<(u32, u64)> {
        let mut window = Self::default();
        for (bucket, count) in window.0.iter_mut().enumerate() {
            *count = self.0[bucket].saturating_sub(before.0[bucket]);
        }
        sparse(&window.0)
    }
}
