//! Paced I/Os on a target that takes as long as the test says, by a clock that the target moves.

use crate::load::engine::Engine;
use crate::load::measure::{Loop, Stop};
use crate::load::worker::paced::*;
use crate::plan::fixture::{resolved, same};
use crate::run::build::direction;
use crate::system::buffers::BufferPool;
use crate::system::clock::{Clock, MILLISECOND_NS};
use leadline_protocol::job::value::BufferPages;
use leadline_protocol::report::DirectionStats;
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::sync::atomic::AtomicU64;

/// The time, which only sleeping and I/O move.
#[derive(Clone, Default)]
struct Hands(Rc<Cell<u64>>);

impl Clock for Hands {
    fn now_ns(&self) -> u64 {
        self.0.get()
    }
    fn sleep_until(&self, due_ns: u64) {
        self.0.set(self.0.get().max(due_ns));
    }
}

/// Takes 1 ms for an I/O, and half a second for the tenth.
struct Stalling {
    hands: Hands,
    ios: u64,
    done: Option<u32>,
}

impl Engine for Stalling {
    unsafe fn submit(&mut self, slot: u32, _io: &Io, _buffer: *mut u8) {
        self.ios += 1;
        self.hands
            .0
            .set(self.hands.0.get() + if self.ios == 10 { 500 } else { 1 } * MILLISECOND_NS);
        self.done = Some(slot);
    }
    fn ready(&self) -> usize {
        usize::from(self.done.is_some())
    }
    fn pop(&mut self) -> Option<(u32, i32)> {
        self.done.take().map(|slot| (slot, 4096))
    }
}

/// Takes 10 ms for an I/O, however many are side by side, and notes when each began.
struct SideBySide {
    hands: Hands,
    /// Slot, result, and when it will be complete, in ns.
    in_flight: VecDeque<(u32, i32, u64)>,
    begun_ms: Rc<RefCell<Vec<u64>>>,
}

impl Engine for SideBySide {
    unsafe fn submit(&mut self, slot: u32, io: &Io, _buffer: *mut u8) {
        self.begun_ms
            .borrow_mut()
            .push(self.hands.now_ns() / MILLISECOND_NS);
        self.in_flight.push_back((
            slot,
            io.len as i32,
            self.hands.now_ns() + 10 * MILLISECOND_NS,
        ));
    }
    fn wait(&mut self, _at_least: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        let end_ns = timeout_ns.map_or(u64::MAX, |timeout_ns| self.hands.now_ns() + timeout_ns);
        self.hands.sleep_until(self.in_flight[0].2.min(end_ns));
        Ok(())
    }
    fn ready(&self) -> usize {
        self.in_flight
            .iter()
            .filter(|(.., done_ns)| *done_ns <= self.hands.now_ns())
            .count()
    }
    fn pop(&mut self) -> Option<(u32, i32)> {
        let (slot, result, _) = *self
            .in_flight
            .front()
            .filter(|(.., done_ns)| *done_ns <= self.hands.now_ns())?;
        self.in_flight.pop_front();
        Some((slot, result))
    }
}

/// When the I/Os of a job begin that may have four in flight, in ms.
fn begun_ms(different: Value) -> Vec<u64> {
    let (job, ledger, hands) = (resolved(different), Ledger::default(), Hands::default());
    let (pattern, pace) = (Pattern::new(&job, 0), Pace::new(&job, 0).expect("a limit"));
    let begun_ms: Rc<RefCell<Vec<u64>>> = Rc::default();
    let engine = SideBySide {
        hands: hands.clone(),
        in_flight: VecDeque::new(),
        begun_ms: begun_ms.clone(),
    };
    let mut work = Loop::new(
        engine,
        hands,
        Paced::new(pattern, pace, 4, &ledger),
        BufferPool::new(4, 4096, BufferPages::Mmap).unwrap(),
        None,
        1,
    );
    assert_eq!(
        work.run(&AtomicU64::new(u64::MAX), &ledger).unwrap(),
        Stop::Finished
    );
    begun_ms.take()
}

/// What is counted of a job that goes through its 256 blocks.
fn counted(different: Value) -> DirectionStats {
    let (job, ledger, hands) = (resolved(different), Ledger::default(), Hands::default());
    let (pattern, pace) = (Pattern::new(&job, 0), Pace::new(&job, 0).expect("a limit"));
    let engine = Stalling {
        hands: hands.clone(),
        ios: 0,
        done: None,
    };
    let mut work = Loop::new(
        engine,
        hands,
        Paced::new(pattern, pace, 1, &ledger),
        BufferPool::new(1, 4096, BufferPages::Mmap).unwrap(),
        None,
        1,
    );
    assert_eq!(
        work.run(&AtomicU64::new(u64::MAX), &ledger).unwrap(),
        Stop::Finished
    );
    direction(&[ledger.tally(Kind::Read)], 1)
}

#[test]
fn a_stall_shows_from_the_intended_start_in_all_that_had_to_wait() {
    let stats = counted(json!({"rate_iops": same(&json!(100))}));
    let ms = |ns: u64| ns / MILLISECOND_NS;
    let (service, intended) = (&stats.lat_ns, stats.intended_lat_ns.as_ref().unwrap());
    assert_eq!((stats.ios, service.count, intended.count), (256, 256, 256));
    // One I/O in 256 was slow, and 55 more came late: each of them 9 ms less than the one before.
    assert_eq!(
        (ms(service.max.unwrap()), ms(service.percentiles["99"])),
        (500, 1)
    );
    assert_eq!(
        (ms(intended.max.unwrap()), ms(intended.percentiles["50"])),
        (500, 1)
    );
    let late: u64 = (0..56).map(|place| 500 - 9 * place).sum();
    assert_eq!(
        intended.mean.unwrap() * 256.0 / MILLISECOND_NS as f64,
        (late + (256 - 56)) as f64
    );
}

#[test]
fn a_target_that_keeps_up_has_the_same_latency_from_both() {
    let stats = counted(json!({"rate_iops": same(&json!(100)), "number_ios": 9}));
    assert_eq!(stats.intended_lat_ns, Some(stats.lat_ns));
}

#[test]
fn without_a_rate_nothing_is_intended() {
    assert_eq!(counted(json!({"thinktime_us": 1000})).intended_lat_ns, None);
    let writes_only =
        json!({"thinktime_us": 1000, "rate_iops": {"read": null, "write": 10, "trim": null}});
    assert_eq!(counted(writes_only).intended_lat_ns, None);
}

#[test]
fn a_pause_begins_when_nothing_is_in_flight_any_more() {
    let thinking = |blocks: u32| {
        begun_ms(json!({"thinktime_us": 5000, "thinktime_blocks": blocks, "number_ios": 4}))
    };
    assert_eq!(
        thinking(1),
        [0, 15, 30, 45],
        "one after the other, whatever the depth"
    );
    assert_eq!(thinking(2), [0, 0, 15, 15]);
    assert_eq!(thinking(3), [0, 0, 0, 15]);
    let synced = json!({"rw": "write", "fsync": 2, "thinktime_us": 5000, "thinktime_blocks": 2, "number_ios": 4});
    assert_eq!(
        begun_ms(synced),
        [0, 0, 0, 15, 15, 15],
        "a sync is no block, and is waited for too"
    );
}
