//! THE measuring loop, the same for every engine. It knows I/Os, an engine, a clock and a gate, and nothing of options:
//! submit what is due, commit, reap what is complete, and sleep only when nothing was to be submitted.
//!
//! One clock reading stands between reaping and submitting: the moment a batch is reaped is the moment just before the
//! next is submitted. `docs/measurement.md` says what that adds to a latency. I/Os that were submitted together and are
//! reaped together have the same latency and are counted as one.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::Engine;
use super::ledger::{Ledger, NOT_YET, Times};
use crate::buffer::Pool;
use crate::clock::Clock;
use crate::pattern::{Io, Kind};

/// I/Os drawn from the pattern at once: enough to make the call free, few enough to stay in L1.
const DRAW: usize = 64;

/// Says which I/Os come next, and when.
pub trait Source {
    /// Fills `out` with the next I/Os and tells how many; 0 when the work is done.
    fn draw(&mut self, out: &mut [Io]) -> usize;
    /// How many of these, which are the next, may be submitted now.
    fn due(&mut self, next: &[Io], since_begin_ns: u64) -> usize;
    /// When the first that was not due is, in ns since the clone began; `None` when all were.
    fn next_due_ns(&self) -> Option<u64>;
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

#[derive(Clone, Copy, Debug)]
struct Slot {
    io: Io,
    times: Times,
}

/// One clone at work.
pub struct Loop<E, C, S> {
    engine: E,
    clock: C,
    source: S,
    buffers: Option<Pool>,
    slots: Box<[Slot]>,
    free: Vec<u32>,
    /// Slots whose I/O the kernel could not take now (EAGAIN) or gave up for a signal (EINTR): submitted again.
    again: Vec<u32>,
    batch: Vec<u32>,
    drawn: [Io; DRAW],
    next: usize,
    end: usize,
    begin_ns: u64,
    now_ns: u64,
    batch_limit: usize,
    /// As `batch_limit`, as long as I/Os linger.
    linger_limit: usize,
    /// Whether some of the last batch stayed in flight when it had been handed over.
    lingers: bool,
    complete_min: u32,
    failed: Option<IoError>,
}

/// I/Os submitted at once while the target answers later: a device that would idle until the last of a whole batch is
/// prepared begins with the first. Where all come back at once (page cache), only the whole batch counts.
const LINGER_BATCH: usize = 2;

const NO_IO: Io = Io { offset: 0, len: 0, target: 0, kind: Kind::Read };

impl<E: Engine, C: Clock, S: Source> Loop<E, C, S> {
    /// A loop that keeps as many I/Os in flight as there are buffers, submits at most `batch_limit` at once (`None`: as the
    /// target answers) and sleeps for `complete_min` completions.
    pub fn new(engine: E, clock: C, source: S, buffers: Pool, batch_limit: Option<usize>, complete_min: u32) -> Self {
        let depth = buffers.slots();
        let begin_ns = clock.now_ns();
        Self {
            engine,
            clock,
            source,
            slots: vec![Slot { io: NO_IO, times: Times::default() }; depth].into(),
            free: (0..depth as u32).rev().collect(),
            again: Vec::with_capacity(depth),
            batch: Vec::with_capacity(depth),
            drawn: [NO_IO; DRAW],
            next: 0,
            end: 0,
            begin_ns,
            now_ns: begin_ns,
            batch_limit: batch_limit.unwrap_or(depth).clamp(1, depth),
            linger_limit: batch_limit.unwrap_or(LINGER_BATCH).clamp(1, depth),
            lingers: false,
            complete_min: complete_min.clamp(1, depth as u32),
            buffers: Some(buffers),
            failed: None,
        }
    }

    /// Does I/O until the time that `until_ns` tells, or the work is done. To be called again for the next phase: I/Os in
    /// flight are carried over, and count for the phase in which they complete.
    ///
    /// # Errors
    /// What a system call says that concerns no single I/O.
    pub fn run(&mut self, until_ns: &AtomicU64, ledger: &Ledger) -> io::Result<Stop> {
        self.now_ns = self.clock.now_ns();
        while self.now_ns < until_ns.load(Relaxed) {
            let submitted = self.submit();
            ledger.in_flight.set(self.in_flight() as u64);
            if submitted > 0 {
                self.commit(ledger)?;
            } else if self.in_flight() == 0 && self.next == self.end {
                return Ok(Stop::Finished);
            } else {
                self.rest(until_ns)?;
                self.reap(ledger);
            }
            if let Some(error) = self.failed {
                return Ok(Stop::Failed(error));
            }
        }
        Ok(Stop::Until)
    }

    /// Waits until nothing is in flight, or `until_ns` is over. What completes here is outside the measured window.
    /// Tells whether the kernel gave everything back.
    pub fn drain(&mut self, until_ns: u64) -> bool {
        let discarded = Ledger::default();
        while self.in_flight() > 0 && self.clock.now_ns() < until_ns {
            // Waiting with a limit: a device that hangs must not hang us.
            if self.engine.wait(1, Some(DRAIN_STEP_NS)).is_err() {
                break;
            }
            self.now_ns = self.clock.now_ns();
            self.reap(&discarded);
        }
        self.in_flight() == 0
    }

    /// Takes back what is complete; tells of how many I/Os it is the first that is heard since they were submitted.
    #[inline]
    fn reap(&mut self, ledger: &Ledger) -> usize {
        let mut run = Run::default();
        let mut at_once = 0;
        while let Some((number, result)) = self.engine.pop() {
            let slot = &self.slots[number as usize];
            at_once += usize::from(slot.times.taken_ns == NOT_YET);
            if result == slot.io.len as i32 {
                run.add(slot, self.now_ns, ledger);
                self.free.push(number);
            } else {
                self.reap_short(number, result, ledger);
            }
        }
        run.record(self.now_ns, ledger);
        at_once
    }

    /// What did not move all of its bytes: to be submitted again, or an error.
    #[cold]
    fn reap_short(&mut self, number: u32, result: i32, ledger: &Ledger) {
        if result == -libc::EAGAIN || result == -libc::EINTR {
            return self.again.push(number);
        }
        ledger.errors.add(1);
        self.failed.get_or_insert(IoError { io: self.slots[number as usize].io, errno: -result.min(0) });
        self.free.push(number);
    }

    /// Fills the batch with what is due, and tells how many I/Os that are.
    #[inline]
    fn submit(&mut self) -> usize {
        self.batch.clear();
        if !self.again.is_empty() {
            self.submit_again();
        }
        let limit = if self.lingers { self.linger_limit } else { self.batch_limit };
        let mut room = limit.saturating_sub(self.batch.len()).min(self.free.len());
        while room > 0 {
            let due = self.due(room);
            if due == 0 {
                break;
            }
            self.submit_next(due);
            room -= due;
        }
        self.batch.len()
    }

    #[cold]
    fn submit_again(&mut self) {
        let pool = self.buffers.as_ref().expect("buffers live as long as the loop");
        for number in self.again.drain(..) {
            self.batch.push(number);
            // SAFETY: as in `submit_next`; the kernel has given the slot back.
            unsafe { self.engine.submit(number, &self.slots[number as usize].io, pool.slot(number)) };
        }
    }

    /// How many I/Os from `next` on are due, at most `room`; draws some when there are none.
    #[inline]
    fn due(&mut self, room: usize) -> usize {
        if self.next == self.end {
            (self.next, self.end) = (0, self.source.draw(&mut self.drawn));
        }
        let next = &self.drawn[self.next..self.end.min(self.next + room)];
        self.source.due(next, self.now_ns.saturating_sub(self.begin_ns))
    }

    /// Submits so many I/Os from `next` on, in as many free slots.
    #[inline]
    fn submit_next(&mut self, n: usize) {
        let pool = self.buffers.as_ref().expect("buffers live as long as the loop");
        let times = Times { start_ns: self.now_ns, taken_ns: NOT_YET };
        for io in &self.drawn[self.next..self.next + n] {
            let number = self.free.pop().expect("no more are submitted than slots are free");
            self.batch.push(number);
            self.slots[number as usize] = Slot { io: *io, times };
            // SAFETY: the slot has no I/O in flight, so nobody else uses its buffer; the pool outlives the I/O, because
            // `drop` leaks it when something is still in flight; every slot is as large as the job's largest I/O.
            unsafe { self.engine.submit(number, io, pool.slot(number)) };
        }
        self.next += n;
    }

    /// Hands the batch over and takes back what is complete. What came back at once needs no second look at its slot.
    fn commit(&mut self, ledger: &Ledger) -> io::Result<()> {
        self.engine.commit()?;
        self.now_ns = self.clock.now_ns();
        self.lingers = self.reap(ledger) < self.batch.len();
        if self.lingers {
            for &number in &self.batch {
                let times = &mut self.slots[number as usize].times;
                times.taken_ns = times.taken_ns.min(self.now_ns);
            }
        }
        Ok(())
    }

    /// Sleeps for a completion, for the next I/O to be due, or for the end.
    fn rest(&mut self, until_ns: &AtomicU64) -> io::Result<()> {
        let due_ns = self.source.next_due_ns().map(|due_ns| (self.begin_ns + due_ns).min(until_ns.load(Relaxed)));
        if self.in_flight() == 0 {
            self.clock.sleep_until(due_ns.unwrap_or(self.now_ns));
        } else {
            let at_least = if self.free.is_empty() { self.complete_min } else { 1 };
            self.engine.wait(at_least, due_ns.map(|due_ns| due_ns.saturating_sub(self.now_ns)))?;
        }
        self.now_ns = self.clock.now_ns();
        Ok(())
    }

    fn in_flight(&self) -> usize {
        self.slots.len() - self.free.len() - self.again.len()
    }

    /// Sleeps until the moment from which due times count, so that all clones begin together.
    pub fn begin_at(&mut self, begin_ns: u64) {
        self.clock.sleep_until(begin_ns);
        self.begin_ns = begin_ns;
    }

    /// Where the buffers are.
    #[cfg(test)]
    pub fn buffer_address(&self) -> usize {
        self.buffers.as_ref().map_or(0, |pool| pool.slot(0) as usize)
    }

    /// When the last phase ended, in ns of the clock.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }
}

/// How long `drain` sleeps at most before it looks at the time again.
const DRAIN_STEP_NS: u64 = 50_000_000;

impl<E, C, S> Drop for Loop<E, C, S> {
    fn drop(&mut self) {
        if self.free.len() + self.again.len() < self.slots.len() {
            // The kernel still owns buffers: they are leaked rather than given to somebody else.
            std::mem::forget(self.buffers.take());
        }
    }
}

/// Consecutive completions with the same moments.
#[derive(Default)]
struct Run {
    kind: Option<Kind>,
    times: Times,
    n: u64,
    bytes: u64,
}

impl Run {
    #[inline]
    fn add(&mut self, slot: &Slot, now_ns: u64, ledger: &Ledger) {
        if self.kind != Some(slot.io.kind) || self.times != slot.times {
            self.record(now_ns, ledger);
            *self = Self { kind: Some(slot.io.kind), times: slot.times, n: 0, bytes: 0 };
        }
        self.n += 1;
        self.bytes += u64::from(slot.io.len);
    }

    #[inline]
    fn record(&self, now_ns: u64, ledger: &Ledger) {
        if let Some(kind) = self.kind {
            ledger.tally(kind).record(self.times, now_ns, self.n, self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::null::Null;
    use super::*;
    use crate::clock::Virtual;

    /// Reads of 4 KiB, `left` of them, each due `gap_ns` after the last.
    struct Reads {
        left: usize,
        gap_ns: u64,
        due_ns: u64,
        next_due_ns: Option<u64>,
    }

    impl Source for Reads {
        fn draw(&mut self, out: &mut [Io]) -> usize {
            let n = out.len().min(self.left);
            out[..n].fill(Io { offset: 0, len: 4096, target: 0, kind: Kind::Read });
            self.left -= n;
            n
        }

        fn due(&mut self, next: &[Io], since_begin_ns: u64) -> usize {
            let due = next.iter().take_while(|_| {
                let is_due = self.due_ns + self.gap_ns <= since_begin_ns;
                self.due_ns += if is_due { self.gap_ns } else { 0 };
                is_due
            });
            let n = due.count();
            self.next_due_ns = (n < next.len()).then(|| self.due_ns + self.gap_ns);
            n
        }

        fn next_due_ns(&self) -> Option<u64> {
            self.next_due_ns
        }
    }

    /// Gives every first result as `-errno` and does the I/O when it is submitted again.
    struct Flaky {
        inner: Null,
        errno: i32,
        pending: Vec<u32>,
    }

    impl Engine for Flaky {
        unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8) {
            if self.errno != 0 {
                self.pending.push(slot);
            } else {
                // SAFETY: handed on as it came.
                unsafe { self.inner.submit(slot, io, buffer) };
            }
        }
        fn commit(&mut self) -> io::Result<()> {
            Ok(())
        }
        fn wait(&mut self, _at_least: u32, _timeout_ns: Option<u64>) -> io::Result<()> {
            Ok(())
        }
        fn pop(&mut self) -> Option<(u32, i32)> {
            let Some(slot) = self.pending.pop() else {
                self.errno = 0;
                return self.inner.pop();
            };
            Some((slot, -self.errno))
        }
    }

    fn looping<E: Engine>(engine: E, depth: usize, source: Reads, step_ns: u64) -> Loop<E, Virtual, Reads> {
        Loop::new(engine, Virtual::stepping(step_ns), source, Pool::new(depth, 4096).unwrap(), None, 1)
    }

    fn reads(left: usize) -> Reads {
        Reads { left, gap_ns: 0, due_ns: 0, next_due_ns: None }
    }

    static FOREVER: AtomicU64 = AtomicU64::new(u64::MAX);

    #[test]
    fn every_io_is_counted_once_at_every_depth() {
        for depth in [1, 3, 32, 100] {
            let ledger = Ledger::default();
            let mut work = looping(Null::new(depth as u32), depth, reads(1000), 10);
            assert_eq!(work.run(&FOREVER, &ledger).unwrap(), Stop::Finished);
            assert_eq!((ledger.read.ios.get(), ledger.read.bytes.get()), (1000, 4_096_000), "depth {depth}");
            assert_eq!(ledger.in_flight.get(), 0);
        }
    }

    #[test]
    fn a_latency_lasts_from_before_submission_until_reaped() {
        let ledger = Ledger::default();
        looping(Null::new(1), 1, reads(10), 100).run(&FOREVER, &ledger).unwrap();
        // One reading of the clock, 100 ns later, lies between submitting and reaping.
        assert_eq!((ledger.read.lat.min_ns(), ledger.read.lat.max_ns()), (Some(100), 100));
        assert_eq!((ledger.read.slat.max_ns(), ledger.read.clat.max_ns()), (100, 0));
    }

    #[test]
    fn time_ends_a_phase_and_the_next_one_goes_on() {
        let (ramp, measure) = (Ledger::default(), Ledger::default());
        let mut work = looping(Null::new(4), 4, reads(1000), 10);
        assert_eq!(work.run(&AtomicU64::new(500), &ramp).unwrap(), Stop::Until);
        assert_eq!(work.run(&FOREVER, &measure).unwrap(), Stop::Finished);
        assert!(ramp.read.ios.get() > 0);
        assert_eq!(ramp.read.ios.get() + measure.read.ios.get(), 1000);
    }

    #[test]
    fn an_io_is_not_submitted_before_it_is_due() {
        let ledger = Ledger::default();
        let mut work = looping(Null::new(4), 4, Reads { gap_ns: 1_000_000, ..reads(100) }, 10);
        work.run(&FOREVER, &ledger).unwrap();
        assert_eq!(ledger.read.ios.get(), 100);
        assert!(work.clock.now_ns() >= 100_000_000, "a hundred at one a millisecond take a tenth of a second");
    }

    #[test]
    fn what_the_kernel_could_not_take_is_submitted_again() {
        for errno in [libc::EAGAIN, libc::EINTR] {
            let ledger = Ledger::default();
            let engine = Flaky { inner: Null::new(4), errno, pending: Vec::new() };
            assert_eq!(looping(engine, 4, reads(10), 10).run(&FOREVER, &ledger).unwrap(), Stop::Finished);
            assert_eq!((ledger.read.ios.get(), ledger.errors.get()), (10, 0));
        }
    }

    #[test]
    fn an_error_ends_the_work_and_is_named() {
        let ledger = Ledger::default();
        let engine = Flaky { inner: Null::new(1), errno: libc::EIO, pending: Vec::new() };
        let stop = looping(engine, 1, reads(10), 10).run(&FOREVER, &ledger).unwrap();
        assert!(matches!(stop, Stop::Failed(IoError { errno: libc::EIO, io: Io { len: 4096, .. } })), "{stop:?}");
        assert_eq!(ledger.errors.get(), 1);
    }
}
