//! The measuring loop, shared by all engines. It submits I/Os that are due, reaps completions, and
//! sleeps only if there is nothing to submit. It does not depend on job options.
//!
//! The clock is read once between reaping and submitting: the time at which a batch is reaped is
//! the start time of the next batch. `docs/measurement.md` describes the effect on latencies. I/Os
//! submitted together and reaped together have the same latency and are counted together.

pub(crate) mod batch;
pub(crate) mod errors;
pub(crate) mod exit;
pub(crate) mod sampling;
pub(crate) mod slots;
pub(crate) mod state;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod unfinished;

use crate::{
    load::{
        engine::{Engine, is_retryable},
        layer_sampler::LayerSampler,
        measure::{
            batch::CompletionBatch,
            errors::{ErrorCount, ErrorLog},
            exit::{IoError, LoopExit},
            sampling::Sampling,
            slots::Slots,
            state::{DrawnIos, Limits, Time},
        },
        pattern::io::Io,
        source::{Completed, DRAW, Source},
        stats::{IoTimes, NOT_ACCEPTED, WorkerStats},
    },
    system::{buffers::BufferPool, clock::Clock},
};
use std::{
    io, mem,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// The measuring loop of one worker.
pub(crate) struct Loop<E, C, S> {
    engine: E,
    clock: C,
    source: S,
    buffers: Option<BufferPool>,
    slots: Slots,
    drawn: DrawnIos,
    limits: Limits,
    time: Time,
    /// Whether I/Os were still in flight after the last batch was reaped.
    is_asynchronous: bool,
    /// Whether the queue was full: submit again only after `complete_min` completions.
    is_full: bool,
    errors: ErrorLog,
    failed: Option<IoError>,
    sampling: Sampling,
}

/// I/Os per submission while completions are asynchronous: few, so the device starts on the first
/// I/Os instead of idling until a full batch is prepared. With inline completions (page cache),
/// full batches are faster.
const ASYNCHRONOUS_BATCH: usize = 2;

impl<E: Engine, C: Clock, S: Source> Loop<E, C, S> {
    /// Creates a loop with a depth of one I/O per buffer. `batch_limit` limits the I/Os per
    /// submission (`None`: adaptive). Once the queue is full, the loop submits again after
    /// `complete_min` completions.
    pub(crate) fn new(
        engine: E,
        clock: C,
        source: S,
        buffers: BufferPool,
        batch_limit: Option<usize>,
        complete_min: u32,
    ) -> Self {
        let depth = buffers.slots();
        let begin_ns = clock.now_ns();
        Self {
            engine,
            clock,
            source,
            buffers: Some(buffers),
            slots: Slots::new(depth),
            drawn: DrawnIos {
                ios: [Io::default(); DRAW],
                next: 0,
                end: 0,
            },
            limits: Limits {
                batch: batch_limit.unwrap_or(depth).clamp(1, depth),
                asynchronous_batch: batch_limit.unwrap_or(ASYNCHRONOUS_BATCH).clamp(1, depth),
                complete_min: (complete_min as usize).clamp(1, depth),
            },
            time: Time {
                begin_ns,
                now_ns: begin_ns,
                submitted_ns: begin_ns,
            },
            is_asynchronous: false,
            is_full: false,
            errors: ErrorLog::default(),
            failed: None,
            sampling: Sampling::default(),
        }
    }

    /// Enables lookups of the layers that serve a sample of the I/Os.
    pub(crate) fn set_sampler(&mut self, sampler: LayerSampler) {
        self.sampling = Sampling::new(sampler);
    }

    /// Makes the loop continue after errors that `errors` tolerates.
    pub(crate) fn set_error_log(&mut self, errors: ErrorLog) {
        self.errors = errors;
    }

    /// Runs one phase, until `until_ns` or until all work is done. I/Os in flight carry over to the
    /// next phase. An I/O is counted in the phase in which it is reaped.
    ///
    /// An iteration is inlined down to the system call and uses no jump table: a kernel with
    /// speculation mitigations (Safe RET, retpolines) overwrites the CPU's return stack buffer, so
    /// each return across a system call is mispredicted (docs/decisions/0011).
    ///
    /// # Errors
    /// Returns errors from the system calls themselves, not from individual I/Os.
    pub(crate) fn run(
        &mut self,
        until_ns: &AtomicU64,
        stats: &WorkerStats,
    ) -> io::Result<LoopExit> {
        self.time.now_ns = self.clock.now_ns();
        self.sampling.begin(self.time.now_ns);
        while self.time.now_ns < until_ns.load(Relaxed) {
            self.reap(stats);
            if let Some(error) = self.failed {
                return Ok(LoopExit::Failed(error));
            }
            let submitted = self.submit(stats);
            stats.in_flight.set(self.slots.used as u64);
            if submitted > 0 {
                self.engine.commit(self.slots.used)?;
            } else if self.slots.used == 0 && self.drawn.next == self.drawn.end {
                return Ok(LoopExit::Finished);
            } else {
                self.sleep(until_ns)?;
            }
            self.time.now_ns = self.clock.now_ns();
        }
        Ok(LoopExit::TimeUp)
    }

    /// Reaps completed I/Os. If these are exactly the last batch and no other I/Os are in flight
    /// (page cache), all of them have the same times, so no times are stored per slot. Asynchronous
    /// I/Os were accepted when the submitting call returned.
    #[inline(always)]
    fn reap(&mut self, stats: &WorkerStats) {
        let times = IoTimes {
            start_ns: self.time.submitted_ns,
            accepted_ns: NOT_ACCEPTED,
        };
        let batch = mem::take(&mut self.slots.batch);
        if batch > 0 {
            self.is_asynchronous = self.engine.ready() < self.slots.in_flight();
            if batch == self.slots.used && !self.is_asynchronous {
                return self.pop_completions::<true>(times, stats);
            }
            let accepted_ns = if self.is_asynchronous {
                self.time.now_ns
            } else {
                NOT_ACCEPTED
            };
            let times = IoTimes {
                accepted_ns,
                ..times
            };
            self.slots.store_times(batch, times);
        }
        self.pop_completions::<false>(times, stats);
    }

    /// Counts all completions: with the times in the arguments if `SAME_TIMES` is set, otherwise
    /// with the times stored in their slots.
    #[inline(always)]
    fn pop_completions<const SAME_TIMES: bool>(&mut self, same: IoTimes, stats: &WorkerStats) {
        // Local variables, because otherwise the rare branches would make the compiler reload
        // fields for each I/O.
        let ios = &self.slots.ios[..];
        let order = &mut self.slots.order[..];
        let now_ns = self.time.now_ns;
        let mut used = self.slots.used;
        let mut batch = CompletionBatch::new(same);
        while let Some((slot, result)) = self.engine.pop() {
            let io = &ios[slot as usize];
            let times = if SAME_TIMES {
                same
            } else {
                self.slots.times[slot as usize]
            };
            if result == io.len as i32 {
                batch.add(io, times, now_ns, stats);
                let completed = Completed {
                    kind: io.kind,
                    since_begin_ns: now_ns.saturating_sub(self.time.begin_ns),
                    lat_ns: now_ns.saturating_sub(times.start_ns),
                };
                self.source.on_complete(slot, &completed, stats);
            } else if is_retryable(result) {
                self.slots.times[slot as usize] = IoTimes {
                    accepted_ns: times.accepted_ns.min(now_ns),
                    ..times
                };
                self.slots.retries.push(slot);
                continue;
            } else {
                let error = IoError {
                    io: *io,
                    errno: -result.min(0),
                };
                stats.errors.add(1);
                if self.errors.tolerate(&error) {
                    self.source.on_error(slot);
                } else {
                    stats.fatal_errors.add(1);
                    self.failed.get_or_insert(error);
                }
            }
            used -= 1;
            order[used] = slot;
        }
        self.slots.used = used;
        batch.record(now_ns, stats);
    }

    /// Submits I/Os that are due, and returns their number. After that, all used slots are in
    /// flight.
    #[inline(always)]
    fn submit(&mut self, stats: &WorkerStats) -> usize {
        let retried = if self.slots.retries.is_empty() {
            0
        } else {
            self.retry()
        };
        let mut space = self.space().saturating_sub(retried);
        while space > 0 {
            let due = self.due(space);
            if due == 0 {
                break;
            }
            self.submit_next(due, stats);
            space -= due;
        }
        if self.slots.batch > 0 {
            self.is_full = self.slots.used == self.slots.depth();
        }
        retried + self.slots.batch
    }

    /// Number of I/Os that may be submitted now.
    #[inline(always)]
    fn space(&self) -> usize {
        let depth = self.slots.depth();
        let used = self.slots.used;
        if self.is_full && used + self.limits.complete_min > depth {
            return 0;
        }
        let limit = if self.is_asynchronous && used > 0 {
            self.limits.asynchronous_batch
        } else {
            self.limits.batch
        };
        limit.min(depth - used)
    }

    #[cold]
    fn retry(&mut self) -> usize {
        let pool = self.buffers.as_ref().expect("taken only by drop");
        for &slot in &self.slots.retries {
            let io = &self.slots.ios[slot as usize];
            // SAFETY: as in `submit_next`, and the kernel has returned the slot.
            unsafe { self.engine.submit(slot, io, pool.slot(slot)) };
        }
        let retried = self.slots.retries.len();
        self.slots.retries.clear();
        retried
    }

    /// Number of upcoming I/Os that are due, at most `max`. Draws more I/Os if none are left.
    #[inline]
    fn due(&mut self, max: usize) -> usize {
        if self.drawn.next == self.drawn.end {
            self.drawn.next = 0;
            self.drawn.end = self.source.draw(&mut self.drawn.ios);
        }
        let end = self.drawn.end.min(self.drawn.next + max);
        let next = &self.drawn.ios[self.drawn.next..end];
        let since_begin_ns = self.time.now_ns.saturating_sub(self.time.begin_ns);
        self.source.due(next, since_begin_ns)
    }

    /// Submits the next `n` I/Os in free slots.
    #[inline]
    fn submit_next(&mut self, n: usize, stats: &WorkerStats) {
        let next = &self.drawn.ios[self.drawn.next..self.drawn.next + n];
        if self.sampling.is_due(next.len()) {
            // The batch starts after the lookups.
            self.sampling.look_up(next, stats, &self.clock);
            self.time.now_ns = self.clock.now_ns();
        }
        let last = &self.drawn.ios[self.drawn.next + n - 1];
        stats.set_submitting((self.slots.used + n) as u64, last.kind);
        let pool = self.buffers.as_ref().expect("taken only by drop");
        let ios = &mut self.slots.ios[..];
        let next = &self.drawn.ios[self.drawn.next..self.drawn.next + n];
        let free = &self.slots.order[self.slots.used..self.slots.used + n];
        for (io, &slot) in next.iter().zip(free) {
            ios[slot as usize] = *io;
            self.source.on_submit(slot);
            // SAFETY: the slot has no I/O in flight, so nothing else accesses its buffer. The pool
            // outlives the I/O, because `drop` leaks it if I/Os are in flight. Every slot is as
            // large as the job's largest I/O.
            unsafe { self.engine.submit(slot, io, pool.slot(slot)) };
        }
        self.slots.used += n;
        self.slots.batch += n;
        self.drawn.next += n;
        self.time.submitted_ns = self.time.now_ns;
    }

    /// Sleeps until a completion, the due time of the next I/O, or the end of the phase.
    fn sleep(&mut self, until_ns: &AtomicU64) -> io::Result<()> {
        let now_ns = self.time.now_ns;
        let due_ns = self
            .source
            .next_due_ns()
            .map(|due_ns| (self.time.begin_ns + due_ns).min(until_ns.load(Relaxed)));
        let in_flight = self.slots.used;
        if in_flight == 0 {
            self.clock.sleep_until(due_ns.unwrap_or(now_ns));
            return Ok(());
        }
        let at_least = if self.is_full {
            let complete = self.slots.depth() - in_flight;
            let missing = self.limits.complete_min.saturating_sub(complete);
            missing.clamp(1, in_flight)
        } else {
            1
        };
        let timeout_ns = due_ns.map(|due_ns| due_ns.saturating_sub(now_ns));
        self.engine.wait(at_least as u32, timeout_ns)
    }

    /// Sleeps until `begin_ns`, the origin of due times, so all workers start together.
    pub(crate) fn begin_at(&mut self, begin_ns: u64) {
        self.clock.sleep_until(begin_ns);
        self.time.begin_ns = begin_ns;
    }

    pub(crate) fn engine(&mut self) -> &mut E {
        &mut self.engine
    }

    /// Takes the counted errors after the last phase.
    pub(crate) fn take_errors(&mut self) -> Vec<ErrorCount> {
        self.errors.take()
    }

    /// Takes the sampler after the last phase.
    pub(crate) fn take_sampler(&mut self) -> Option<LayerSampler> {
        self.sampling.take()
    }

    #[cfg(test)]
    pub(crate) fn buffer_address(&self) -> usize {
        self.buffers
            .as_ref()
            .map_or(0, |pool| pool.slot(0) as usize)
    }

    /// End of the last phase, in ns (`Clock` time).
    pub(crate) fn now_ns(&self) -> u64 {
        self.time.now_ns
    }
}

impl<E, C, S> Drop for Loop<E, C, S> {
    fn drop(&mut self) {
        if self.slots.in_flight() > 0 {
            // The kernel still uses the buffers: leak them so that their memory is not reused.
            mem::forget(self.buffers.take());
        }
    }
}
