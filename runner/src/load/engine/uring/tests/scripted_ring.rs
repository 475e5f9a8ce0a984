//! Tests rare kernel responses with a ring that follows a script.

use crate::{
    load::{
        engine::uring::{
            Uring,
            entries::Plain,
            entries_for,
            ring::Ring,
            setup::Polling,
            tests::{List, blocks, is_mapped, pool},
        },
        measure::{Loop, exit::LoopExit},
        pattern::io::{Io, Kind},
        stats::WorkerStats,
    },
    system::clock::fixture::VirtualClock,
};
use Response::{Accept, Fail};
use io_uring::squeue;
use proptest::prelude::*;
use std::{cell::Cell, collections::VecDeque, io, rc::Rc, sync::atomic::AtomicU64, vec::IntoIter};

/// Effect of one `enter` call.
#[derive(Clone, Copy, Debug)]
enum Response {
    /// Numbers of entries to accept, and of accepted entries to complete.
    Accept(usize, usize),
    /// Fails with this errno(3).
    Fail(i32),
}

/// The response after the end of the script.
const ACCEPT_ALL: Response = Accept(usize::MAX, usize::MAX);

struct ScriptedRing {
    script: IntoIter<Response>,
    /// Results of the first completions, in order. All later completions return a whole block.
    results: IntoIter<i32>,
    queued: VecDeque<u64>,
    accepted: VecDeque<u64>,
    completed: VecDeque<(u64, i32)>,
    /// Number of completion queue entries. Further completions stay in `overflow` until a call with
    /// GETEVENTS.
    capacity: usize,
    overflow: VecDeque<(u64, i32)>,
    /// Number of submission queue entries.
    entries: usize,
    /// Simulates SQPOLL: entries accepted by the last `enter` count as queued until the next
    /// `enter`.
    is_polled: bool,
    unpublished: usize,
    counts: Rc<Counts>,
}

#[derive(Default)]
struct Counts {
    enters: Cell<usize>,
    /// Number of completions that transferred a whole block.
    whole_blocks: Cell<u64>,
}

impl Ring for ScriptedRing {
    unsafe fn push(&mut self, entry: &squeue::Entry) {
        assert!(self.queued() < self.entries, "the queue is full");
        self.queued.push_back(entry.get_user_data());
    }

    fn queued(&self) -> usize {
        self.unpublished + self.queued.len()
    }

    fn is_polled(&self) -> bool {
        self.is_polled
    }

    fn enter(&mut self, reap: bool, at_least: u32, _timeout_ns: Option<u64>) -> io::Result<()> {
        self.counts.enters.set(self.counts.enters.get() + 1);
        assert!(reap || at_least == 0, "waiting requires GETEVENTS");
        let (accepts, completes) = match self.script.next().unwrap_or(ACCEPT_ALL) {
            Accept(accepts, completes) => (accepts, completes),
            Fail(errno) => return Err(io::Error::from_raw_os_error(errno)),
        };
        let accepts = accepts.min(self.queued.len());
        self.unpublished = if self.is_polled { accepts } else { 0 };
        self.accepted.extend(self.queued.drain(..accepts));
        let completes = completes.min(self.accepted.len());
        for slot in self.accepted.drain(..completes) {
            let result = self.results.next().unwrap_or(4096);
            self.overflow.push_back((slot, result));
        }
        if reap || self.overflow.len() <= self.capacity {
            let space = self.capacity.saturating_sub(self.completed.len());
            let fitting = space.min(self.overflow.len());
            self.completed.extend(self.overflow.drain(..fitting));
        }
        Ok(())
    }

    fn ready(&self) -> usize {
        self.completed.len()
    }

    fn pop(&mut self) -> Option<(u64, i32)> {
        let popped = self.completed.pop_front()?;
        let whole_blocks = self.counts.whole_blocks.get() + u64::from(popped.1 == 4096);
        self.counts.whole_blocks.set(whole_blocks);
        Some(popped)
    }
}

/// A loop on a scripted ring.
struct Case {
    work: Loop<Uring<ScriptedRing, Plain>, VirtualClock, List>,
    counts: Rc<Counts>,
    stats: WorkerStats,
}

/// Test case configuration.
struct Script<'a> {
    responses: &'a [Response],
    results: &'a [i32],
    reads: u64,
    depth: usize,
    capacity: usize,
    polling: Polling,
}

impl Script<'_> {
    fn build(self) -> Case {
        let counts = Rc::<Counts>::default();
        let ring = ScriptedRing {
            script: Vec::from(self.responses).into_iter(),
            results: Vec::from(self.results).into_iter(),
            queued: VecDeque::new(),
            accepted: VecDeque::new(),
            completed: VecDeque::new(),
            capacity: self.capacity,
            overflow: VecDeque::new(),
            entries: entries_for(self.depth as u32, self.polling) as usize,
            is_polled: self.polling.submissions,
            unpublished: 0,
            counts: counts.clone(),
        };
        let ios: Vec<Io> = blocks(Kind::Read, self.reads).collect();
        let source = List(ios.into_iter());
        let engine = Uring::from_ring(ring, Vec::new(), self.depth as u32, 0);
        let clock = VirtualClock::stepping(10);
        Case {
            work: Loop::new(engine, clock, source, pool(self.depth), None, 1),
            counts,
            stats: WorkerStats::default(),
        }
    }
}

fn script<'a>(
    responses: &'a [Response],
    results: &'a [i32],
    reads: u64,
    depth: usize,
) -> Script<'a> {
    Script {
        responses,
        results,
        reads,
        depth,
        capacity: usize::MAX,
        polling: Polling::default(),
    }
}

impl Case {
    fn run(&mut self, until_ns: u64) -> LoopExit {
        let until_ns = AtomicU64::new(until_ns);
        self.work.run(&until_ns, &self.stats).unwrap()
    }

    fn run_to_end(&mut self) -> LoopExit {
        self.run(1_000_000)
    }

    fn ios(&self) -> u64 {
        self.stats.of(Kind::Read).ios.get()
    }

    fn whole_blocks(&self) -> u64 {
        self.counts.whole_blocks.get()
    }

    /// Runs to the end, and checks that every I/O is counted exactly once.
    fn assert_finishes(&mut self, reads: u64) {
        assert_eq!(self.run_to_end(), LoopExit::Finished);
        assert_eq!((self.ios(), self.whole_blocks()), (reads, reads));
        assert_eq!(self.stats.of(Kind::Read).bytes.get(), reads * 4096);
        assert_eq!(self.stats.errors.get(), 0);
        assert_eq!(self.stats.in_flight.get(), 0);
    }
}

#[test]
fn ios_that_complete_inline_are_submitted_in_full_batches() {
    let mut case = script(&[], &[], 64, 32).build();
    case.assert_finishes(64);
    assert_eq!(case.counts.enters.get(), 2);
}

#[test]
fn ios_that_complete_asynchronously_are_replaced_in_pairs() {
    let responses = [
        Accept(usize::MAX, 0),
        Accept(0, 4),
        Accept(usize::MAX, 0),
        Accept(usize::MAX, 0),
        Accept(0, 1),
    ];
    let mut case = script(&responses, &[], 13, 8).build();
    // The calls are: a batch of 8, a wait for 4 of them, the next 4 in two pairs, a wait for one
    // I/O, and the last of the 13 I/Os.
    assert_eq!(case.run_to_end(), LoopExit::Finished);
    assert_eq!((case.ios(), case.counts.enters.get()), (13, 6));
    let reads = case.stats.of(Kind::Read);
    assert_eq!(
        reads.lat.sum_ns(),
        reads.slat.sum_ns() + reads.clat.sum_ns()
    );
    assert!(reads.clat.max_ns() > 0, "some completions were waited for");
}

#[test]
fn a_short_completion_is_an_error_that_identifies_the_io() {
    let mut case = script(&[], &[4096, 512], 4, 4).build();
    let exit = case.run_to_end();
    let LoopExit::Failed(error) = exit else {
        panic!("{exit:?}");
    };
    assert_eq!((error.io.len, error.errno), (4096, 0));
    assert_eq!((case.ios(), case.stats.errors.get()), (3, 1));
}

#[test]
fn retryable_completions_are_submitted_again() {
    for errno in [libc::EAGAIN, libc::EINTR] {
        let results = [-errno, 4096, -errno, 4096, -errno];
        let mut case = script(&[], &results, 4, 4).build();
        case.assert_finishes(4);
        assert_eq!(case.counts.enters.get(), 3);
    }
}

#[test]
fn an_interrupted_call_is_retried() {
    let responses = [Fail(libc::EINTR), Accept(1, 1), Fail(libc::EINTR)];
    let mut case = script(&responses, &[], 4, 4).build();
    case.assert_finishes(4);
    assert_eq!(case.counts.enters.get(), 4);
}

#[test]
fn submission_is_retried_after_reaping() {
    for errno in [libc::EAGAIN, libc::EBUSY] {
        let responses = [Fail(errno), Fail(errno)];
        script(&responses, &[], 10, 4).build().assert_finishes(10);
        let responses = [Accept(2, 0), Fail(errno), Accept(0, 2), Fail(errno)];
        script(&responses, &[], 10, 4).build().assert_finishes(10);
    }
}

#[test]
fn other_errors_end_the_run() {
    let mut case = script(&[Fail(libc::ENXIO)], &[], 4, 4).build();
    let until_ns = AtomicU64::new(1_000_000);
    let error = case.work.run(&until_ns, &case.stats).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ENXIO));
}

#[test]
fn buffers_stay_mapped_while_the_kernel_owns_them() {
    let mut hanging = vec![Accept(0, 0); 1001];
    hanging[0] = Accept(usize::MAX, 0);
    let mut case = script(&hanging, &[], 4, 4).build();
    let address = case.work.buffer_address();
    assert_eq!(case.run(1000), LoopExit::TimeUp);
    assert!(!case.work.drain(2000), "the ring never returns the I/Os");
    drop(case);
    assert!(is_mapped(address));
}

#[test]
fn overflowing_completions_arrive_later() {
    for capacity in [1, 2, 3] {
        let script = Script {
            capacity,
            ..script(&[], &[], 40, 8)
        };
        script.build().assert_finishes(40);
    }
}

#[test]
fn the_queue_has_space_for_entries_that_the_polling_thread_has_not_freed() {
    let polling = Polling {
        submissions: true,
        device: false,
    };
    for depth in [1, 8, 32] {
        let script = Script {
            polling,
            ..script(&[], &[], 100, depth)
        };
        script.build().assert_finishes(100);
    }
}

#[test]
fn ios_in_flight_at_the_end_are_drained_and_not_counted() {
    let responses = [
        Accept(usize::MAX, 2),
        Accept(usize::MAX, 0),
        Accept(0, 0),
        Accept(0, 0),
        Fail(libc::EINTR),
        Accept(0, 1),
    ];
    let mut case = script(&responses, &[], 100, 4).build();
    assert_eq!(case.run(50), LoopExit::TimeUp);
    let counted = case.ios();
    assert!(case.work.drain(1_000_000), "the ring returns all I/Os");
    assert_eq!(case.ios(), counted);
    assert!(case.whole_blocks() > counted);
}

fn any_response() -> impl Strategy<Value = Response> {
    let accept = (0usize..6, 0usize..6).prop_map(|(accepts, completes)| Accept(accepts, completes));
    let errno = prop::sample::select(vec![libc::EINTR, libc::EAGAIN, libc::EBUSY]);
    prop_oneof![3 => accept, 1 => errno.prop_map(Fail)]
}

fn any_result() -> impl Strategy<Value = i32> {
    prop::sample::select(vec![4096, 4096, -libc::EAGAIN, -libc::EINTR])
}

proptest! {
    #[test]
    fn every_io_is_counted_once_for_any_script(
        responses in prop::collection::vec(any_response(), 0..60),
        results in prop::collection::vec(any_result(), 0..60),
        reads in 1u64..100,
        depth in 1usize..9,
        capacity in 1usize..20,
    ) {
        let script = Script { capacity, ..script(&responses, &results, reads, depth) };
        let mut case = script.build();
        case.assert_finishes(reads);
        let latencies = case.stats.of(Kind::Read).latencies();
        let counted: u64 = latencies.iter().map(|latencies| latencies.count()).sum();
        prop_assert_eq!(counted, reads);
    }
}
