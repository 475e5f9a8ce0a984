//! The ring's answers that real devices give once in a year: a shim in the kernel's place follows a script.

use crate::load::engine::ring::{Polling, Ring};
use crate::load::engine::uring::entries::Plain;
use crate::load::engine::uring::tests::{List, blocks, is_mapped};
use crate::load::engine::uring::{Setup, Uring, entries_for};
use crate::load::ledger::Ledger;
use crate::load::measure::{IoError, Loop, Stop};
use crate::load::pattern::{Io, Kind};
use crate::system::buffers::BufferPool;
use crate::system::clock::Virtual;
use Answer::{Fails, Takes};
use io_uring::squeue;
use leadline_protocol::job::value::BufferPages;
use proptest::prelude::*;
use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::sync::atomic::AtomicU64;
use std::vec::IntoIter;

/// What one enter does.
#[derive(Clone, Copy, Debug)]
enum Answer {
    /// Takes so many entries and completes so many of all that it has.
    Takes(usize, usize),
    /// Fails with this errno(3).
    Fails(i32),
}

/// Takes and completes everything: what follows when the script is over.
const ALL: Answer = Takes(usize::MAX, usize::MAX);

/// A ring that follows a script.
struct Shim {
    script: IntoIter<Answer>,
    /// Results of completions in their order; then whole blocks.
    results: IntoIter<i32>,
    queued: VecDeque<u64>,
    taken: VecDeque<u64>,
    completed: VecDeque<(u64, i32)>,
    /// Entries of the completion queue; what does not fit waits in the kernel until a call that asks for completions.
    room: usize,
    overflown: VecDeque<(u64, i32)>,
    /// Entries of the submission queue.
    entries: usize,
    /// Whether a thread polls it: what the last enter took then counts as queued until the next.
    polled: bool,
    untold: usize,
    seen: Rc<Seen>,
}

/// What the shim saw of its user.
#[derive(Default)]
struct Seen {
    enters: Cell<usize>,
    /// Whole blocks that it completed.
    whole: Cell<u64>,
}

impl Ring for Shim {
    unsafe fn push(&mut self, entry: &squeue::Entry) {
        assert!(
            self.untold + self.queued.len() < self.entries,
            "no room for an entry"
        );
        self.queued.push_back(entry.get_user_data());
    }

    fn queued(&self) -> usize {
        self.untold + self.queued.len()
    }

    fn is_served(&self) -> bool {
        self.polled
    }

    fn enter(&mut self, finish: bool, at_least: u32, _timeout_ns: Option<u64>) -> io::Result<()> {
        self.seen.enters.set(self.seen.enters.get() + 1);
        assert!(finish || at_least == 0, "waiting takes GETEVENTS");
        let (takes, completes) = match self.script.next().unwrap_or(ALL) {
            Takes(takes, completes) => (takes, completes),
            Fails(errno) => return Err(io::Error::from_raw_os_error(errno)),
        };
        let takes = takes.min(self.queued.len());
        self.untold = if self.polled { takes } else { 0 };
        self.taken.extend(self.queued.drain(..takes));
        let done = self.taken.drain(..completes.min(self.taken.len()));
        self.overflown
            .extend(done.map(|slot| (slot, self.results.next().unwrap_or(4096))));
        let fit = if finish || self.overflown.len() <= self.room {
            self.room.saturating_sub(self.completed.len())
        } else {
            0
        };
        self.completed
            .extend(self.overflown.drain(..fit.min(self.overflown.len())));
        Ok(())
    }

    fn ready(&self) -> usize {
        self.completed.len()
    }

    fn pop(&mut self) -> Option<(u64, i32)> {
        let popped = self.completed.pop_front();
        self.seen.whole.set(
            self.seen.whole.get() + u64::from(popped.is_some_and(|(_, result)| result == 4096)),
        );
        popped
    }
}

/// What came of some reads.
struct Outcome {
    stop: Stop,
    ledger: Ledger,
    seen: Rc<Seen>,
}

type Work = Loop<Uring<Shim, Plain>, Virtual, List>;

fn work(script: &[Answer], results: &[i32], reads: u64, depth: usize) -> (Work, Rc<Seen>) {
    work_with_room(script, results, reads, depth, usize::MAX)
}

fn work_with_room(
    script: &[Answer],
    results: &[i32],
    reads: u64,
    depth: usize,
    room: usize,
) -> (Work, Rc<Seen>) {
    work_polled(script, results, reads, depth, room, Polling::default())
}

fn shim(
    script: &[Answer],
    results: &[i32],
    depth: usize,
    room: usize,
    polling: Polling,
) -> (Shim, Rc<Seen>) {
    let seen = Rc::new(Seen::default());
    let shim = Shim {
        script: Vec::from(script).into_iter(),
        results: Vec::from(results).into_iter(),
        queued: VecDeque::new(),
        taken: VecDeque::new(),
        completed: VecDeque::new(),
        room,
        overflown: VecDeque::new(),
        entries: entries_for(depth as u32, polling) as usize,
        polled: polling.submissions,
        untold: 0,
        seen: seen.clone(),
    };
    (shim, seen)
}

fn work_polled(
    script: &[Answer],
    results: &[i32],
    reads: u64,
    depth: usize,
    room: usize,
    polling: Polling,
) -> (Work, Rc<Seen>) {
    let (shim, seen) = shim(script, results, depth, room, polling);
    let ios: Vec<Io> = blocks(Kind::Read, reads).collect();
    let engine = Uring::on(shim, Vec::new(), depth as u32, &Setup::default());
    let pool = BufferPool::new(depth, 4096, BufferPages::Mmap).unwrap();
    (
        Loop::new(
            engine,
            Virtual::stepping(10),
            List(ios.into_iter()),
            pool,
            None,
            1,
        ),
        seen,
    )
}

fn check(script: &[Answer], results: &[i32], reads: u64, depth: usize) -> Outcome {
    let (mut work, seen) = work(script, results, reads, depth);
    let ledger = Ledger::default();
    let stop = work.run(&AtomicU64::new(1_000_000), &ledger).unwrap();
    Outcome { stop, ledger, seen }
}

fn all_done(outcome: &Outcome, reads: u64) {
    assert_eq!(
        (
            outcome.stop,
            outcome.ledger.tally(Kind::Read).ios.get(),
            outcome.ledger.errors.get()
        ),
        (Stop::Finished, reads, 0)
    );
    assert_eq!(
        (
            outcome.seen.whole.get(),
            outcome.ledger.tally(Kind::Read).bytes.get()
        ),
        (reads, reads * 4096),
        "what the ring moved is counted"
    );
}

#[test]
fn what_comes_back_at_once_goes_in_whole_batches() {
    let outcome = check(&[], &[], 64, 32);
    all_done(&outcome, 64);
    assert_eq!(outcome.seen.enters.get(), 2);
}

#[test]
fn a_device_that_answers_later_gets_the_rest_in_pairs_and_keeps_the_depth() {
    let later = [
        Takes(usize::MAX, 0),
        Takes(0, 4),
        Takes(usize::MAX, 0),
        Takes(usize::MAX, 0),
        Takes(0, 1),
    ];
    let (mut work, seen) = work(&later, &[], 13, 8);
    let ledger = Ledger::default();
    // 8 in one batch, a wait for 4 of them, the next 4 in two pairs, a wait for one, and the last of 13.
    assert_eq!(
        work.run(&AtomicU64::new(1_000_000), &ledger).unwrap(),
        Stop::Finished
    );
    assert_eq!(
        (ledger.tally(Kind::Read).ios.get(), seen.enters.get()),
        (13, 6)
    );
    assert_eq!(
        ledger.tally(Kind::Read).lat.sum_ns(),
        ledger.tally(Kind::Read).slat.sum_ns() + ledger.tally(Kind::Read).clat.sum_ns()
    );
    assert!(
        ledger.tally(Kind::Read).clat.max_ns() > 0,
        "some were waited for"
    );
}

#[test]
fn a_short_completion_is_an_error_that_names_the_io() {
    let outcome = check(&[], &[4096, 512], 4, 4);
    assert!(
        matches!(
            outcome.stop,
            Stop::Failed(IoError {
                io: Io { len: 4096, .. },
                errno: 0
            })
        ),
        "{:?}",
        outcome.stop
    );
    assert_eq!(
        (
            outcome.ledger.tally(Kind::Read).ios.get(),
            outcome.ledger.errors.get()
        ),
        (3, 1)
    );
}

#[test]
fn a_completion_that_was_put_off_is_submitted_again() {
    for errno in [libc::EAGAIN, libc::EINTR] {
        let outcome = check(&[], &[-errno, 4096, -errno, 4096, -errno], 4, 4);
        all_done(&outcome, 4);
        assert_eq!(outcome.seen.enters.get(), 3);
    }
}

#[test]
fn a_call_that_a_signal_ended_is_made_again() {
    let outcome = check(
        &[Fails(libc::EINTR), Takes(1, 1), Fails(libc::EINTR)],
        &[],
        4,
        4,
    );
    all_done(&outcome, 4);
    assert_eq!(outcome.seen.enters.get(), 4);
}

#[test]
fn without_memory_or_room_for_completions_it_reaps_and_goes_on() {
    for errno in [libc::EAGAIN, libc::EBUSY] {
        all_done(&check(&[Fails(errno), Fails(errno)], &[], 10, 4), 10);
        all_done(
            &check(
                &[Takes(2, 0), Fails(errno), Takes(0, 2), Fails(errno)],
                &[],
                10,
                4,
            ),
            10,
        );
    }
}

#[test]
fn another_error_ends_the_run() {
    let (mut work, _) = work(&[Fails(libc::ENXIO)], &[], 4, 4);
    let error = work
        .run(&AtomicU64::new(1_000_000), &Ledger::default())
        .unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ENXIO));
}

#[test]
fn buffers_stay_mapped_while_the_kernel_owns_them() {
    let hanging: Vec<Answer> = std::iter::once(Takes(usize::MAX, 0))
        .chain(std::iter::repeat_n(Takes(0, 0), 1000))
        .collect();
    let (mut work, _) = work(&hanging, &[], 4, 4);
    let address = work.buffer_address();
    assert_eq!(
        work.run(&AtomicU64::new(1000), &Ledger::default()).unwrap(),
        Stop::Until
    );
    assert!(!work.drain(2000), "the shim never gives them back");
    drop(work);
    assert!(is_mapped(address));
}

#[test]
fn completions_that_found_no_room_come_later_and_are_not_lost() {
    for room in [1, 2, 3] {
        let (mut work, seen) = work_with_room(&[], &[], 40, 8, room);
        let ledger = Ledger::default();
        assert_eq!(
            work.run(&AtomicU64::new(1_000_000), &ledger).unwrap(),
            Stop::Finished
        );
        assert_eq!(
            (ledger.tally(Kind::Read).ios.get(), seen.whole.get()),
            (40, 40),
            "room for {room}"
        );
        assert_eq!(ledger.in_flight.get(), 0);
    }
}

#[test]
fn a_thread_that_tells_late_what_it_took_leaves_room_for_the_next_batch() {
    for depth in [1, 8, 32] {
        let polling = Polling {
            submissions: true,
            device: false,
        };
        let (mut work, seen) = work_polled(&[], &[], 100, depth, usize::MAX, polling);
        let ledger = Ledger::default();
        assert_eq!(
            work.run(&AtomicU64::new(1_000_000), &ledger).unwrap(),
            Stop::Finished
        );
        assert_eq!(
            (ledger.tally(Kind::Read).ios.get(), seen.whole.get()),
            (100, 100),
            "depth {depth}"
        );
    }
}

#[test]
fn what_is_in_flight_when_time_is_over_is_waited_for_and_counts_nowhere() {
    let late = [
        Takes(usize::MAX, 2),
        Takes(usize::MAX, 0),
        Takes(0, 0),
        Takes(0, 0),
        Fails(libc::EINTR),
        Takes(0, 1),
    ];
    let (mut work, seen) = work(&late, &[], 100, 4);
    let ledger = Ledger::default();
    assert_eq!(work.run(&AtomicU64::new(50), &ledger).unwrap(), Stop::Until);
    let counted = ledger.tally(Kind::Read).ios.get();
    assert!(work.drain(1_000_000), "the kernel gives everything back");
    assert_eq!(ledger.tally(Kind::Read).ios.get(), counted);
    assert!(
        seen.whole.get() > counted,
        "{} completed, {counted} counted",
        seen.whole.get()
    );
}

fn any_answer() -> impl Strategy<Value = Answer> {
    let some = (0usize..6, 0usize..6).prop_map(|(takes, completes)| Takes(takes, completes));
    let errno = prop::sample::select(vec![libc::EINTR, libc::EAGAIN, libc::EBUSY]);
    prop_oneof![3 => some, 1 => errno.prop_map(Fails)]
}

proptest! {
    #[test]
    fn whatever_the_kernel_answers_every_io_is_counted_once(
        script in prop::collection::vec(any_answer(), 0..60),
        results in prop::collection::vec(prop::sample::select(vec![4096, 4096, -libc::EAGAIN, -libc::EINTR]), 0..60),
        reads in 1u64..100, depth in 1usize..9, room in 1usize..20,
    ) {
        let (mut work, seen) = work_with_room(&script, &results, reads, depth, room);
        let ledger = Ledger::default();
        prop_assert_eq!(work.run(&AtomicU64::new(1_000_000), &ledger).unwrap(), Stop::Finished);
        let latencies: u64 = ledger.tally(Kind::Read).lats().iter().map(|latencies| latencies.count()).sum();
        prop_assert_eq!((ledger.tally(Kind::Read).ios.get(), latencies), (reads, reads));
        prop_assert_eq!((seen.whole.get(), ledger.errors.get(), ledger.in_flight.get()), (reads, 0, 0));
    }
}
