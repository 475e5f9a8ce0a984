//! Tests rate-limited I/Os on simulated targets that advance a virtual clock.

use crate::{
    load::{
        engine::Engine,
        measure::{Loop, exit::LoopExit},
        source::rate_limited::*,
    },
    plan::fixture::{resolved, same},
    run::direction_stats::direction_stats,
    system::{
        buffers::BufferPool,
        clock::{Clock, NS_PER_MS},
    },
};
use leadline_protocol::{job::engine::BufferPages, report::stats::DirectionStats};
use serde_json::{Value, json};
use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    io,
    rc::Rc,
    sync::atomic::AtomicU64,
};

/// A clock that is advanced only by sleeping and I/O.
#[derive(Clone, Default)]
struct SimulatedClock(Rc<Cell<u64>>);

impl Clock for SimulatedClock {
    fn now_ns(&self) -> u64 {
        self.0.get()
    }

    fn sleep_until(&self, due_ns: u64) {
        self.0.set(self.0.get().max(due_ns));
    }
}

/// An engine that takes 1 ms per I/O, and 500 ms for the tenth.
struct StallingEngine {
    clock: SimulatedClock,
    ios: u64,
    completed: Option<u32>,
}

impl Engine for StallingEngine {
    unsafe fn submit(&mut self, slot: u32, _io: &Io, _buffer: *mut u8) {
        self.ios += 1;
        let duration_ms = if self.ios == 10 { 500 } else { 1 };
        let end_ns = self.clock.now_ns() + duration_ms * NS_PER_MS;
        self.clock.sleep_until(end_ns);
        self.completed = Some(slot);
    }

    fn ready(&self) -> usize {
        usize::from(self.completed.is_some())
    }

    fn pop(&mut self) -> Option<(u32, i32)> {
        self.completed.take().map(|slot| (slot, 4096))
    }
}

/// An engine that takes 10 ms per I/O at any depth, and records when each I/O starts.
struct ConcurrentEngine {
    clock: SimulatedClock,
    in_flight: VecDeque<Pending>,
    starts_ms: Rc<RefCell<Vec<u64>>>,
}

struct Pending {
    slot: u32,
    result: i32,
    done_ns: u64,
}

impl Engine for ConcurrentEngine {
    unsafe fn submit(&mut self, slot: u32, io: &Io, _buffer: *mut u8) {
        let now_ns = self.clock.now_ns();
        self.starts_ms.borrow_mut().push(now_ns / NS_PER_MS);
        self.in_flight.push_back(Pending {
            slot,
            result: io.len as i32,
            done_ns: now_ns + 10 * NS_PER_MS,
        });
    }

    fn wait(&mut self, _at_least: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        let end_ns = timeout_ns.map_or(u64::MAX, |timeout_ns| self.clock.now_ns() + timeout_ns);
        self.clock
            .sleep_until(self.in_flight[0].done_ns.min(end_ns));
        Ok(())
    }

    fn ready(&self) -> usize {
        let now_ns = self.clock.now_ns();
        let done = |pending: &&Pending| pending.done_ns <= now_ns;
        self.in_flight.iter().filter(done).count()
    }

    fn pop(&mut self) -> Option<(u32, i32)> {
        if self.ready() == 0 {
            return None;
        }
        let pending = self.in_flight.pop_front()?;
        Some((pending.slot, pending.result))
    }
}

/// Runs a job to completion.
fn run<E: Engine>(options: Value, engine: E, clock: SimulatedClock, depth: usize) -> WorkerStats {
    let job = resolved(options);
    let stats = WorkerStats::default();
    let limiter = RateLimiter::new(&job, 0).expect("a limit");
    let source = RateLimited::new(Pattern::new(&job, 0), limiter, depth, &stats);
    let pool = BufferPool::new(depth, 4096, BufferPages::Mmap).unwrap();
    let mut measuring_loop = Loop::new(engine, clock, source, pool, None, 1);
    let exit = measuring_loop.run(&AtomicU64::new(u64::MAX), &stats);
    assert_eq!(exit.unwrap(), LoopExit::Finished);
    stats
}

/// Start times of all I/Os in ms, at a depth of 4.
fn starts_ms(options: Value) -> Vec<u64> {
    let clock = SimulatedClock::default();
    let starts_ms: Rc<RefCell<Vec<u64>>> = Rc::default();
    let engine = ConcurrentEngine {
        clock: clock.clone(),
        in_flight: VecDeque::new(),
        starts_ms: starts_ms.clone(),
    };
    run(options, engine, clock, 4);
    starts_ms.take()
}

/// Statistics for a job with 256 blocks, on a target that stalls.
fn stats_with_stall(options: Value) -> DirectionStats {
    let clock = SimulatedClock::default();
    let engine = StallingEngine {
        clock: clock.clone(),
        ios: 0,
        completed: None,
    };
    let stats = run(options, engine, clock, 1);
    direction_stats(&[stats.of(Kind::Read)], &[], 1)
}

#[test]
fn intended_latency_includes_the_wait_after_a_stall() {
    let stats = stats_with_stall(json!({"rate_iops": same(&json!(100))}));
    let ms = |ns: u64| ns / NS_PER_MS;
    let service = &stats.lat_ns;
    let intended = stats.intended_lat_ns.as_ref().unwrap();
    assert_eq!((stats.ios, service.count, intended.count), (256, 256, 256));
    // One of 256 I/Os is slow. The next 55 start late; the delay decreases by 9 ms per I/O.
    assert_eq!(ms(service.max.unwrap()), 500);
    assert_eq!(ms(service.percentiles["99"]), 1);
    assert_eq!(ms(intended.max.unwrap()), 500);
    assert_eq!(ms(intended.percentiles["50"]), 1);
    let late: u64 = (0..56).map(|index| 500 - 9 * index).sum();
    let sum_ms = intended.mean.unwrap() * 256.0 / NS_PER_MS as f64;
    assert_eq!(sum_ms, (late + (256 - 56)) as f64);
}

#[test]
fn both_latencies_are_equal_if_the_target_keeps_up() {
    let stats = stats_with_stall(json!({"rate_iops": same(&json!(100)), "number_ios": 9}));
    assert_eq!(stats.intended_lat_ns, Some(stats.lat_ns));
}

#[test]
fn directions_without_a_rate_have_no_intended_latency() {
    let thinktime = stats_with_stall(json!({"thinktime_us": 1000}));
    assert_eq!(thinktime.intended_lat_ns, None);
    let writes_only =
        json!({"thinktime_us": 1000, "rate_iops": {"read": null, "write": 10, "trim": null}});
    assert_eq!(stats_with_stall(writes_only).intended_lat_ns, None);
}

#[test]
fn a_pause_starts_when_nothing_is_in_flight() {
    let starts = |blocks: u32| {
        starts_ms(json!({"thinktime_us": 5000, "thinktime_blocks": blocks, "number_ios": 4}))
    };
    assert_eq!(starts(1), [0, 15, 30, 45], "one at a time at any depth");
    assert_eq!(starts(2), [0, 0, 15, 15]);
    assert_eq!(starts(3), [0, 0, 0, 15]);
    let with_syncs = json!({
        "rw": "write", "fsync": 2, "thinktime_us": 5000, "thinktime_blocks": 2, "number_ios": 4,
    });
    assert_eq!(
        starts_ms(with_syncs),
        [0, 0, 0, 15, 15],
        "a sync is not a block, but the pause waits for it"
    );
}
