//! The loop against engines made for it and a virtual clock.

use crate::load::engine::null::Null;
use crate::load::measure::*;
use crate::system::clock::Virtual;
use leadline_protocol::job::value::BufferPages;

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
        out[..n].fill(Io {
            offset: 0,
            len: 4096,
            target: 0,
            kind: Kind::Read,
        });
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
    fn ready(&self) -> usize {
        self.pending.len() + self.inner.ready()
    }
    fn pop(&mut self) -> Option<(u32, i32)> {
        let Some(slot) = self.pending.pop() else {
            return self.inner.pop();
        };
        let errno = if self.pending.is_empty() {
            std::mem::take(&mut self.errno)
        } else {
            self.errno
        };
        Some((slot, -errno))
    }
}

/// Completes one I/O each time it is waited for, however many were wanted, and notes how many are in flight when
/// it is handed the first I/O after that.
#[derive(Default)]
struct OneByOne {
    in_flight: std::collections::VecDeque<u32>,
    done: Option<u32>,
    waited: bool,
    seen: std::rc::Rc<std::cell::RefCell<Vec<usize>>>,
}

impl Engine for OneByOne {
    unsafe fn submit(&mut self, slot: u32, _io: &Io, _buffer: *mut u8) {
        if std::mem::take(&mut self.waited) {
            self.seen.borrow_mut().push(self.in_flight.len());
        }
        self.in_flight.push_back(slot);
    }
    fn wait(&mut self, at_least: u32, _timeout_ns: Option<u64>) -> io::Result<()> {
        assert!(
            (1..=self.in_flight.len()).contains(&(at_least as usize)),
            "what is not in flight never completes"
        );
        (self.done, self.waited) = (self.in_flight.pop_front(), true);
        Ok(())
    }
    fn ready(&self) -> usize {
        usize::from(self.done.is_some())
    }
    fn pop(&mut self) -> Option<(u32, i32)> {
        self.done.take().map(|slot| (slot, 4096))
    }
}

#[test]
fn after_a_full_depth_nothing_is_submitted_until_as_many_are_complete_as_asked() {
    for (complete_min, want) in [(1, 7), (3, 5), (8, 0)] {
        let (ledger, engine) = (Ledger::default(), OneByOne::default());
        let seen = engine.seen.clone();
        let clock = Virtual::stepping(10);
        let mut work = Loop::new(
            engine,
            clock,
            reads(100),
            BufferPool::new(8, 4096, BufferPages::Mmap).unwrap(),
            None,
            complete_min,
        );
        assert_eq!(work.run(&FOREVER, &ledger).unwrap(), Stop::Finished);
        assert_eq!(ledger.tally(Kind::Read).ios.get(), 100);
        assert!(
            seen.borrow().iter().all(|&in_flight| in_flight == want),
            "{complete_min}: {seen:?}"
        );
    }
}

fn looping<E: Engine>(
    engine: E,
    depth: usize,
    source: Reads,
    step_ns: u64,
) -> Loop<E, Virtual, Reads> {
    Loop::new(
        engine,
        Virtual::stepping(step_ns),
        source,
        BufferPool::new(depth, 4096, BufferPages::Mmap).unwrap(),
        None,
        1,
    )
}

fn reads(left: usize) -> Reads {
    Reads {
        left,
        gap_ns: 0,
        due_ns: 0,
        next_due_ns: None,
    }
}

static FOREVER: AtomicU64 = AtomicU64::new(u64::MAX);

#[test]
fn every_io_is_counted_once_at_every_depth() {
    for depth in [1, 3, 32, 100] {
        let ledger = Ledger::default();
        let mut work = looping(Null::new(depth as u32), depth, reads(1000), 10);
        assert_eq!(work.run(&FOREVER, &ledger).unwrap(), Stop::Finished);
        assert_eq!(
            (
                ledger.tally(Kind::Read).ios.get(),
                ledger.tally(Kind::Read).bytes.get()
            ),
            (1000, 4_096_000),
            "depth {depth}"
        );
        assert_eq!(ledger.in_flight.get(), 0);
    }
}

#[test]
fn a_latency_lasts_from_before_submission_until_reaped() {
    let ledger = Ledger::default();
    looping(Null::new(1), 1, reads(10), 100)
        .run(&FOREVER, &ledger)
        .unwrap();
    // One reading of the clock, 100 ns later, lies between submitting and reaping.
    assert_eq!(
        (
            ledger.tally(Kind::Read).at_once.min_ns(),
            ledger.tally(Kind::Read).at_once.max_ns()
        ),
        (Some(100), 100)
    );
    assert_eq!(
        ledger.tally(Kind::Read).lat.count(),
        0,
        "nothing was waited for"
    );
}

#[test]
fn time_ends_a_phase_and_the_next_one_goes_on() {
    let (ramp, measure) = (Ledger::default(), Ledger::default());
    let mut work = looping(Null::new(4), 4, reads(1000), 10);
    assert_eq!(work.run(&AtomicU64::new(500), &ramp).unwrap(), Stop::Until);
    assert_eq!(work.run(&FOREVER, &measure).unwrap(), Stop::Finished);
    assert!(ramp.tally(Kind::Read).ios.get() > 0);
    assert_eq!(
        ramp.tally(Kind::Read).ios.get() + measure.tally(Kind::Read).ios.get(),
        1000
    );
}

#[test]
fn an_io_is_not_submitted_before_it_is_due() {
    let ledger = Ledger::default();
    let mut work = looping(
        Null::new(4),
        4,
        Reads {
            gap_ns: 1_000_000,
            ..reads(100)
        },
        10,
    );
    work.run(&FOREVER, &ledger).unwrap();
    assert_eq!(ledger.tally(Kind::Read).ios.get(), 100);
    assert!(
        work.clock.now_ns() >= 100_000_000,
        "a hundred at one a millisecond take a tenth of a second"
    );
}

#[test]
fn what_the_kernel_could_not_take_is_submitted_again() {
    for errno in [libc::EAGAIN, libc::EINTR] {
        let ledger = Ledger::default();
        let engine = Flaky {
            inner: Null::new(4),
            errno,
            pending: Vec::new(),
        };
        assert_eq!(
            looping(engine, 4, reads(10), 10)
                .run(&FOREVER, &ledger)
                .unwrap(),
            Stop::Finished
        );
        assert_eq!(
            (ledger.tally(Kind::Read).ios.get(), ledger.errors.get()),
            (10, 0)
        );
    }
}

#[test]
fn an_error_ends_the_work_and_is_named() {
    let ledger = Ledger::default();
    let engine = Flaky {
        inner: Null::new(1),
        errno: libc::EIO,
        pending: Vec::new(),
    };
    let stop = looping(engine, 1, reads(10), 10)
        .run(&FOREVER, &ledger)
        .unwrap();
    assert!(
        matches!(
            stop,
            Stop::Failed(IoError {
                errno: libc::EIO,
                io: Io { len: 4096, .. }
            })
        ),
        "{stop:?}"
    );
    assert_eq!(ledger.errors.get(), 1);
}
