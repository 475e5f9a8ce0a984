//! Tests the loop with test engines and a virtual clock.

pub(crate) mod real_files;

use crate::{
    load::{engine::null::Null, measure::*, pattern::io::Kind},
    system::clock::fixture::VirtualClock,
};
use leadline_protocol::job::engine::BufferPages;
use std::{cell::RefCell, collections::VecDeque, rc::Rc};

/// `left` reads of 4 KiB, each due `gap_ns` after the previous one.
struct Reads {
    left: usize,
    gap_ns: u64,
    due_ns: u64,
    next_due_ns: Option<u64>,
}

impl Source for Reads {
    fn draw(&mut self, out: &mut [Io]) -> usize {
        let n = out.len().min(self.left);
        out[..n].fill(Io {
            len: 4096,
            ..Io::default()
        });
        self.left -= n;
        n
    }

    fn due(&mut self, next: &[Io], since_begin_ns: u64) -> usize {
        let mut n = 0;
        while n < next.len() && self.due_ns + self.gap_ns <= since_begin_ns {
            self.due_ns += self.gap_ns;
            n += 1;
        }
        self.next_due_ns = (n < next.len()).then(|| self.due_ns + self.gap_ns);
        n
    }

    fn next_due_ns(&self) -> Option<u64> {
        self.next_due_ns
    }
}

/// Fails every I/O with `errno` once, and performs it when it is resubmitted.
struct FlakyEngine {
    inner: Null,
    errno: i32,
    pending: Vec<u32>,
}

impl FlakyEngine {
    fn new(slots: u32, errno: i32) -> Self {
        Self {
            inner: Null::new(slots),
            errno,
            pending: Vec::new(),
        }
    }
}

impl Engine for FlakyEngine {
    unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8) {
        if self.errno != 0 {
            self.pending.push(slot);
        } else {
            // SAFETY: same contract.
            unsafe { self.inner.submit(slot, io, buffer) };
        }
    }

    fn ready(&self) -> usize {
        self.pending.len() + self.inner.ready()
    }

    fn pop(&mut self) -> Option<(u32, i32)> {
        let Some(slot) = self.pending.pop() else {
            return self.inner.pop();
        };
        let errno = if self.pending.is_empty() {
            mem::take(&mut self.errno)
        } else {
            self.errno
        };
        Some((slot, -errno))
    }
}

/// Completes one I/O per wait, and records the number of I/Os in flight at the next submission.
#[derive(Default)]
struct OneByOneEngine {
    in_flight: VecDeque<u32>,
    completed: Option<u32>,
    has_waited: bool,
    depths: Rc<RefCell<Vec<usize>>>,
}

impl Engine for OneByOneEngine {
    unsafe fn submit(&mut self, slot: u32, _io: &Io, _buffer: *mut u8) {
        if mem::take(&mut self.has_waited) {
            self.depths.borrow_mut().push(self.in_flight.len());
        }
        self.in_flight.push_back(slot);
    }

    fn wait(&mut self, at_least: u32, _timeout_ns: Option<u64>) -> io::Result<()> {
        assert!(
            (1..=self.in_flight.len()).contains(&(at_least as usize)),
            "waits for more I/Os than are in flight"
        );
        self.completed = self.in_flight.pop_front();
        self.has_waited = true;
        Ok(())
    }

    fn ready(&self) -> usize {
        usize::from(self.completed.is_some())
    }

    fn pop(&mut self) -> Option<(u32, i32)> {
        self.completed.take().map(|slot| (slot, 4096))
    }
}

static FOREVER: AtomicU64 = AtomicU64::new(u64::MAX);

fn reads(left: usize) -> Reads {
    Reads {
        left,
        gap_ns: 0,
        due_ns: 0,
        next_due_ns: None,
    }
}

fn with_complete_min<E: Engine>(
    engine: E,
    depth: usize,
    source: Reads,
    step_ns: u64,
    complete_min: u32,
) -> Loop<E, VirtualClock, Reads> {
    let pool = BufferPool::new(depth, 4096, BufferPages::Mmap).unwrap();
    let clock = VirtualClock::stepping(step_ns);
    Loop::new(engine, clock, source, pool, None, complete_min)
}

fn measuring_loop<E: Engine>(
    engine: E,
    depth: usize,
    source: Reads,
    step_ns: u64,
) -> Loop<E, VirtualClock, Reads> {
    with_complete_min(engine, depth, source, step_ns, 1)
}

#[test]
fn a_full_queue_is_refilled_after_complete_min_completions() {
    for (complete_min, depth) in [(1, 7), (3, 5), (8, 0)] {
        let engine = OneByOneEngine::default();
        let depths = engine.depths.clone();
        let stats = WorkerStats::default();
        let mut work = with_complete_min(engine, 8, reads(100), 10, complete_min);
        assert_eq!(work.run(&FOREVER, &stats).unwrap(), LoopExit::Finished);
        assert_eq!(stats.of(Kind::Read).ios.get(), 100);
        assert!(
            depths.borrow().iter().all(|&seen| seen == depth),
            "{complete_min}: {depths:?}"
        );
    }
}

#[test]
fn every_io_is_counted_once_at_every_depth() {
    for depth in [1, 3, 32, 100] {
        let stats = WorkerStats::default();
        let mut work = measuring_loop(Null::new(depth as u32), depth, reads(1000), 10);
        assert_eq!(work.run(&FOREVER, &stats).unwrap(), LoopExit::Finished);
        let reads = stats.of(Kind::Read);
        assert_eq!(reads.ios.get(), 1000, "depth {depth}");
        assert_eq!(reads.bytes.get(), 4_096_000, "depth {depth}");
        assert_eq!(stats.in_flight.get(), 0);
    }
}

#[test]
fn latency_spans_submission_to_reaping() {
    let stats = WorkerStats::default();
    let mut work = measuring_loop(Null::new(1), 1, reads(10), 100);
    work.run(&FOREVER, &stats).unwrap();
    // The clock is read once between submitting and reaping, 100 ns later.
    let reads = stats.of(Kind::Read);
    assert_eq!(reads.inline_lat.min_ns(), Some(100));
    assert_eq!(reads.inline_lat.max_ns(), 100);
    assert_eq!(reads.lat.count(), 0, "all completions are inline");
}

#[test]
fn a_phase_ends_on_time_and_the_next_phase_continues() {
    let ramp = WorkerStats::default();
    let measure = WorkerStats::default();
    let mut work = measuring_loop(Null::new(4), 4, reads(1000), 10);
    let ramp_exit = work.run(&AtomicU64::new(500), &ramp).unwrap();
    assert_eq!(ramp_exit, LoopExit::TimeUp);
    assert_eq!(work.run(&FOREVER, &measure).unwrap(), LoopExit::Finished);
    let ramp_ios = ramp.of(Kind::Read).ios.get();
    assert!(ramp_ios > 0);
    assert_eq!(ramp_ios + measure.of(Kind::Read).ios.get(), 1000);
}

#[test]
fn no_io_is_submitted_before_it_is_due() {
    let stats = WorkerStats::default();
    let source = Reads {
        gap_ns: 1_000_000,
        ..reads(100)
    };
    let mut work = measuring_loop(Null::new(4), 4, source, 10);
    work.run(&FOREVER, &stats).unwrap();
    assert_eq!(stats.of(Kind::Read).ios.get(), 100);
    assert!(work.clock.now_ns() >= 100_000_000, "100 I/Os at 1 per ms");
}

#[test]
fn retryable_ios_are_submitted_again() {
    for errno in [libc::EAGAIN, libc::EINTR] {
        let stats = WorkerStats::default();
        let mut work = measuring_loop(FlakyEngine::new(4, errno), 4, reads(10), 10);
        assert_eq!(work.run(&FOREVER, &stats).unwrap(), LoopExit::Finished);
        assert_eq!(stats.of(Kind::Read).ios.get(), 10);
        assert_eq!(stats.errors.get(), 0);
    }
}

#[test]
fn an_error_ends_the_run_and_identifies_the_io() {
    let stats = WorkerStats::default();
    let mut work = measuring_loop(FlakyEngine::new(1, libc::EIO), 1, reads(10), 10);
    let exit = work.run(&FOREVER, &stats).unwrap();
    let LoopExit::Failed(error) = exit else {
        panic!("{exit:?}");
    };
    assert_eq!((error.errno, error.io.len), (libc::EIO, 4096));
    assert_eq!(stats.errors.get(), 1);
}
