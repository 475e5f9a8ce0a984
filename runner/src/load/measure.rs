//! THE measuring loop, the same for every engine. It knows I/Os, an engine, a clock and a gate, and nothing of options:
//! submit what is due, commit, reap what is complete, and sleep only when nothing was to be submitted.
//!
//! One clock reading stands between reaping and submitting: the moment a batch is reaped is the moment just before the
//! next is submitted. `docs/measurement.md` says what that adds to a latency. I/Os that were submitted together and are
//! reaped together have the same latency and are counted as one.

#[cfg(test)]
pub(crate) mod exact;
#[cfg(test)]
pub(crate) mod tests;

use crate::load::engine::Engine;
use crate::load::ledger::{Ledger, NOT_YET, Times};
use crate::load::pattern::{Io, Kind};
use crate::system::buffers::BufferPool;
use crate::system::clock::Clock;
use leadline_protocol::report::Decision;
use std::io;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// I/Os drawn from the pattern at once: enough to make the call free, few enough to stay in L1.
pub const DRAW: usize = 64;

/// Says which I/Os come next, and when.
pub trait Source {
    /// Fills `out` with the next I/Os and tells how many; 0 when the work is done.
    fn draw(&mut self, out: &mut [Io]) -> usize;
    /// How many of these, which are the next, may be submitted now.
    fn due(&mut self, next: &[Io], since_begin_ns: u64) -> usize;
    /// When the first that was not due is, in ns since the clone began; `None` when all were, or it waits for those in flight.
    fn next_due_ns(&self) -> Option<u64>;
    /// The next of the I/Os that were found due goes into this slot.
    #[inline]
    fn starts(&mut self, _slot: u32) {}
    /// The I/O in this slot, a sync too, is complete: where I/Os have an intended start, its latency from there on is counted.
    #[inline]
    fn completes(&mut self, _slot: u32, _kind: Kind, _since_begin_ns: u64, _ledger: &Ledger) {}
}

/// Why the loop returned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stop {
    /// The time was over.
    Until,
    /// There was nothing left to do, and all of it is complete.
    Finished,
    /// An I/O failed.
    Failed(IoError),
}

/// An I/O that failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct IoError {
    /// Which.
    pub io: Io,
    /// errno(3); 0 when it moved fewer bytes than asked.
    pub errno: i32,
}

/// One clone at work.
pub struct Loop<E, C, S> {
    engine: E,
    clock: C,
    source: S,
    buffers: Option<BufferPool>,
    /// By slot: what is in flight there, and what is known of its moments.
    ios: Box<[Io]>,
    times: Box<[Times]>,
    /// Numbers of slots: those from `top` on have no I/O, the `batch` before them went with the last call. A stack, because the
    /// buffer that came back last is the likeliest to be in the processor's cache.
    idle: Box<[u32]>,
    top: usize,
    batch: usize,
    /// Slots whose I/O the kernel could not take now (EAGAIN) or gave up for a signal (EINTR): submitted again.
    again: Vec<u32>,
    drawn: [Io; DRAW],
    next: usize,
    end: usize,
    begin_ns: u64,
    now_ns: u64,
    /// When the `batch` was submitted.
    submitted_ns: u64,
    batch_limit: usize,
    /// As `batch_limit`, as long as I/Os linger.
    linger_limit: usize,
    /// Whether something stayed in flight when the last batch had been handed over.
    lingers: bool,
    /// Once the whole depth is in flight, so many must be complete before more is submitted.
    complete_min: usize,
    /// Whether that is being waited for.
    waits: bool,
    failed: Option<IoError>,
}

/// I/Os submitted at once while the target answers later: a device that would idle until the last of a whole batch is
/// prepared begins with the first. Where all come back at once (page cache), only the whole batch counts.
const LINGER_BATCH: usize = 2;

const NO_IO: Io = Io {
    offset: 0,
    len: 0,
    target: 0,
    kind: Kind::Read,
};

impl<E: Engine, C: Clock, S: Source> Loop<E, C, S> {
    /// A loop that keeps as many I/Os in flight as there are buffers, submits at most `batch_limit` at once (`None`: as the
    /// target answers), and submits again after the whole depth was in flight when `complete_min` of them are complete.
    pub fn new(
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
            ios: vec![NO_IO; depth].into(),
            times: vec![Times::default(); depth].into(),
            idle: (0..depth as u32).collect(),
            top: 0,
            batch: 0,
            again: Vec::with_capacity(depth),
            drawn: [NO_IO; DRAW],
            next: 0,
            end: 0,
            begin_ns,
            now_ns: begin_ns,
            submitted_ns: begin_ns,
            batch_limit: batch_limit.unwrap_or(depth).clamp(1, depth),
            linger_limit: batch_limit.unwrap_or(LINGER_BATCH).clamp(1, depth),
            lingers: false,
            complete_min: (complete_min as usize).clamp(1, depth),
            waits: false,
            buffers: Some(buffers),
            failed: None,
        }
    }

    /// Does I/O until the time that `until_ns` tells, or the work is done. To be called again for the next phase: I/Os in
    /// flight are carried over, and count for the phase in which they are reaped; what is reaped at the border or later
    /// belongs to the next.
    ///
    /// What a turn does is inlined, and jumps through no table: a kernel that guards against speculation (Safe RET, retpolines)
    /// comes back with the processor's memory of return addresses spoiled, so that each return across a system call would be
    /// mispredicted. That was a fifth of an empty entry's time (`docs/performance.md`).
    ///
    /// # Errors
    /// What a system call says that concerns no single I/O.
    pub fn run(&mut self, until_ns: &AtomicU64, ledger: &Ledger) -> io::Result<Stop> {
        self.now_ns = self.clock.now_ns();
        while self.now_ns < until_ns.load(Relaxed) {
            self.reap(ledger);
            if let Some(error) = self.failed {
                return Ok(Stop::Failed(error));
            }
            let submitted = self.submit();
            ledger.in_flight.set(self.top as u64);
            if submitted > 0 {
                self.engine.commit(self.top)?;
            } else if self.top == 0 && self.next == self.end {
                return Ok(Stop::Finished);
            } else {
                self.rest(until_ns)?;
            }
            self.now_ns = self.clock.now_ns();
        }
        Ok(Stop::Until)
    }

    /// Takes back what is complete when the last phase is over: it was waited for, so it counts. Tells of an I/O that
    /// failed.
    #[cold]
    pub fn reap_last(&mut self, ledger: &Ledger) -> Option<IoError> {
        self.reap(ledger);
        self.failed
    }

    /// Waits until nothing is in flight, or `until_ns` is over. What completes here is outside the measured window.
    /// Tells whether the kernel gave everything back.
    pub fn drain(&mut self, until_ns: u64) -> bool {
        let discarded = Ledger::default();
        while self.in_flight() > 0 && self.clock.now_ns() < until_ns {
            // Waiting with a limit: a device that hangs must not hang us.
            if self
                .engine
                .wait(1, Some(DRAIN_STEP_NS))
                .is_err()
            {
                break;
            }
            self.now_ns = self.clock.now_ns();
            self.reap_last(&discarded);
        }
        self.in_flight() == 0
    }

    /// Takes back what is complete. Where that is one batch, and all there is (page cache), its I/Os went through the same
    /// moments, which nobody need have written down. What lingers was taken by the kernel when the call that handed it over
    /// returned.
    #[inline(always)]
    fn reap(&mut self, ledger: &Ledger) {
        let times = Times {
            start_ns: self.submitted_ns,
            taken_ns: NOT_YET,
        };
        let batch = mem::take(&mut self.batch);
        if batch > 0 {
            self.lingers = self.engine.ready() < self.in_flight();
            if batch == self.top && !self.lingers {
                return self.take_back::<true>(times, ledger);
            }
            let taken_ns = if self.lingers { self.now_ns } else { NOT_YET };
            self.write_down(batch, Times { taken_ns, ..times });
        }
        self.take_back::<false>(times, ledger);
    }

    /// What the I/Os of the last batch went through, for when they are reaped.
    #[inline(never)]
    fn write_down(&mut self, batch: usize, times: Times) {
        for &number in &self.idle[self.top - batch..self.top] {
            self.times[number as usize] = times;
        }
    }

    /// Takes back what is complete: `TOGETHER` where all of it went through these moments, otherwise each through those of its slot.
    #[inline(always)]
    fn take_back<const TOGETHER: bool>(&mut self, together: Times, ledger: &Ledger) {
        // In locals: for the sake of the rare branches the compiler would load and store our fields for each I/O.
        let (ios, idle, now_ns, mut top) =
            (&self.ios[..], &mut self.idle[..], self.now_ns, self.top);
        let mut run = Run {
            times: together,
            ..Run::default()
        };
        while let Some((number, result)) = self.engine.pop() {
            let io = &ios[number as usize];
            let times = if TOGETHER {
                together
            } else {
                self.times[number as usize]
            };
            if result == io.len as i32 {
                run.add(io, times, now_ns, ledger);
                self.source.completes(
                    number,
                    io.kind,
                    now_ns.saturating_sub(self.begin_ns),
                    ledger,
                );
            } else if is_put_off(result) {
                self.times[number as usize] = Times {
                    taken_ns: times.taken_ns.min(now_ns),
                    ..times
                };
                self.again.push(number);
                continue;
            } else {
                ledger.errors.add(1);
                self.failed.get_or_insert(IoError {
                    io: *io,
                    errno: -result.min(0),
                });
            }
            top -= 1;
            idle[top] = number;
        }
        self.top = top;
        if run.n > 0 {
            run.record(now_ns, ledger);
        }
    }

    /// Submits what is due, and tells how many I/Os that are. After it, all that is not idle is in flight.
    #[inline(always)]
    fn submit(&mut self) -> usize {
        let again = if self.again.is_empty() {
            0
        } else {
            self.submit_again()
        };
        let mut room = self.room().saturating_sub(again);
        while room > 0 {
            let due = self.due(room);
            if due == 0 {
                break;
            }
            self.submit_next(due);
            room -= due;
        }
        if self.batch > 0 {
            self.waits = self.top == self.ios.len();
        }
        again + self.batch
    }

    /// How many I/Os may be submitted now.
    #[inline(always)]
    fn room(&self) -> usize {
        if self.waits && self.top + self.complete_min > self.ios.len() {
            return 0;
        }
        let limit = if self.lingers && self.top > 0 {
            self.linger_limit
        } else {
            self.batch_limit
        };
        limit.min(self.ios.len() - self.top)
    }

    #[cold]
    fn submit_again(&mut self) -> usize {
        let pool = self
            .buffers
            .as_ref()
            .expect("buffers live as long as the loop");
        for &number in &self.again {
            // SAFETY: as in `submit_next`; the kernel has given the slot back.
            unsafe {
                self.engine
                    .submit(number, &self.ios[number as usize], pool.slot(number))
            };
        }
        let again = self.again.len();
        self.again.clear();
        again
    }

    /// How many I/Os from `next` on are due, at most `room`; draws some when there are none.
    #[inline]
    fn due(&mut self, room: usize) -> usize {
        if self.next == self.end {
            (self.next, self.end) = (0, self.source.draw(&mut self.drawn));
        }
        let next = &self.drawn[self.next..self.end.min(self.next + room)];
        self.source
            .due(next, self.now_ns.saturating_sub(self.begin_ns))
    }

    /// Submits so many I/Os from `next` on, in as many free slots.
    #[inline]
    fn submit_next(&mut self, n: usize) {
        let pool = self
            .buffers
            .as_ref()
            .expect("buffers live as long as the loop");
        let ios = &mut self.ios[..];
        for (io, &number) in self.drawn[self.next..self.next + n]
            .iter()
            .zip(&self.idle[self.top..self.top + n])
        {
            ios[number as usize] = *io;
            self.source.starts(number);
            // SAFETY: the slot has no I/O in flight, so nobody else uses its buffer; the pool outlives the I/O, because
            // `drop` leaks it when something is still in flight; every slot is as large as the job's largest I/O.
            unsafe { self.engine.submit(number, io, pool.slot(number)) };
        }
        self.top += n;
        self.submitted_ns = self.now_ns;
        (self.batch, self.next) = (self.batch + n, self.next + n);
    }

    /// Sleeps for a completion, for the next I/O to be due, or for the end.
    fn rest(&mut self, until_ns: &AtomicU64) -> io::Result<()> {
        let due_ns = self
            .source
            .next_due_ns()
            .map(|due_ns| (self.begin_ns + due_ns).min(until_ns.load(Relaxed)));
        let in_flight = self.top;
        if in_flight == 0 {
            self.clock.sleep_until(due_ns.unwrap_or(self.now_ns));
        } else {
            let missing = self.complete_min.saturating_sub(self.ios.len() - in_flight);
            let at_least = if self.waits {
                missing.clamp(1, in_flight)
            } else {
                1
            };
            self.engine.wait(
                at_least as u32,
                due_ns.map(|due_ns| due_ns.saturating_sub(self.now_ns)),
            )?;
        }
        Ok(())
    }

    /// Sleeps until the moment from which due times count, so that all clones begin together.
    pub fn begin_at(&mut self, begin_ns: u64) {
        self.clock.sleep_until(begin_ns);
        self.begin_ns = begin_ns;
    }

    /// What its engine chose.
    pub fn decisions(&self) -> Vec<Decision> {
        self.engine.decisions()
    }

    /// Where the buffers are.
    #[cfg(test)]
    pub fn buffer_address(&self) -> usize {
        self.buffers
            .as_ref()
            .map_or(0, |pool| pool.slot(0) as usize)
    }

    /// When the last phase ended, in ns of the clock.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }
}

/// How long `drain` sleeps at most before it looks at the time again.
const DRAIN_STEP_NS: u64 = 50_000_000;

impl<E, C, S> Loop<E, C, S> {
    /// I/Os that the engine has.
    #[inline(always)]
    fn in_flight(&self) -> usize {
        self.top - self.again.len()
    }
}

impl<E, C, S> Drop for Loop<E, C, S> {
    fn drop(&mut self) {
        if self.in_flight() > 0 {
            // The kernel still owns buffers: they are leaked rather than given to somebody else.
            mem::forget(self.buffers.take());
        }
    }
}

/// The kernel could not take it now, or gave it up for a signal: it is submitted again.
#[cold]
fn is_put_off(result: i32) -> bool {
    result == -libc::EAGAIN || result == -libc::EINTR
}

/// Consecutive completions with the same moments.
#[derive(Default)]
struct Run {
    kind: Kind,
    times: Times,
    n: u64,
    bytes: u64,
}

impl Run {
    #[inline]
    fn add(&mut self, io: &Io, times: Times, now_ns: u64, ledger: &Ledger) {
        if self.times != times || self.kind != io.kind {
            if self.n > 0 {
                self.record(now_ns, ledger);
            }
            *self = Self {
                kind: io.kind,
                times,
                n: 0,
                bytes: 0,
            };
        }
        self.n += 1;
        self.bytes += u64::from(io.len);
    }

    #[inline]
    fn record(&self, now_ns: u64, ledger: &Ledger) {
        ledger
            .tally(self.kind)
            .record(self.times, now_ns, self.n, self.bytes);
    }
}
