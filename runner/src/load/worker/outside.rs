//! What an I/O takes outside of the kernel: the clock is read on both sides of each system call. To be looked at, since a
//! time is no test; instructions are tracked instead (`instructions`). getrusage(2) tells more: it counts by the tick, and
//! ticks that come due in the kernel's way out of a call strike behind it.

use crate::load::engine::Engine;
use crate::load::engine::psync::Psync;
use crate::load::engine::ring::{KernelRing, Ring};
use crate::load::engine::uring::entries::{Entries, Nop, Registered};
use crate::load::engine::uring::{Setup, Uring};
use crate::load::ledger::Ledger;
use crate::load::measure::Loop;
use crate::load::pattern::{Io, Kind, Pattern};
use crate::load::worker::Unpaced;
use crate::plan::fixture::{resolved, target};
use crate::system::buffers::BufferPool;
use crate::system::clock::tsc::Tsc;
use crate::system::clock::{Clock, MILLISECOND_NS, Monotonic};
use io_uring::squeue;
use leadline_protocol::job::value::BufferPages;
use serde_json::json;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::atomic::AtomicU64;

const MIB: u64 = 1 << 20;
/// Stretches whose median counts, and how long each is.
const STRETCHES: usize = 100;
const STRETCH_NS: u64 = 20 * MILLISECOND_NS;

/// Adds up the time between a return from the kernel and the next way into it.
#[derive(Clone)]
struct Watch {
    clock: Rc<Tsc>,
    since_ns: Rc<Cell<u64>>,
    outside_ns: Rc<Cell<u64>>,
}

impl Watch {
    fn new() -> Self {
        Self {
            clock: Rc::new(Tsc::new()),
            since_ns: Rc::default(),
            outside_ns: Rc::default(),
        }
    }

    #[inline(always)]
    fn around<T>(&self, call: impl FnOnce() -> T) -> T {
        self.outside_ns
            .set(self.outside_ns.get() + self.clock.now_ns() - self.since_ns.get());
        let result = call();
        self.since_ns.set(self.clock.now_ns());
        result
    }

    /// What one of its own readings adds to each stretch outside, in ns.
    fn reading_ns(&self) -> f64 {
        const READINGS: u64 = 1_000_000;
        let begin_ns = self.clock.now_ns();
        for _ in 0..READINGS {
            std::hint::black_box(self.clock.now_ns());
        }
        (self.clock.now_ns() - begin_ns) as f64 / READINGS as f64
    }
}

struct Watched<T>(T, Watch);

impl Ring for Watched<KernelRing> {
    #[inline(always)]
    unsafe fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: handed on as it came.
        unsafe { self.0.push(entry) }
    }
    #[inline(always)]
    fn queued(&self) -> usize {
        self.0.queued()
    }
    #[inline(always)]
    fn enter(&mut self, finish: bool, at_least: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        self.1.around(|| self.0.enter(finish, at_least, timeout_ns))
    }
    #[inline(always)]
    fn ready(&self) -> usize {
        self.0.ready()
    }
    #[inline(always)]
    fn pop(&mut self) -> Option<(u64, i32)> {
        self.0.pop()
    }
}

impl Engine for Watched<Psync> {
    #[inline(always)]
    unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8) {
        // SAFETY: handed on as it came.
        self.1.around(|| unsafe { self.0.submit(slot, io, buffer) })
    }
    #[inline(always)]
    fn ready(&self) -> usize {
        self.0.ready()
    }
    #[inline(always)]
    fn pop(&mut self) -> Option<(u32, i32)> {
        self.0.pop()
    }
}

fn ring<N: Entries>(
    files: &[OwnedFd],
    pool: &BufferPool,
    watch: &Watch,
) -> Uring<Watched<KernelRing>, N> {
    let setup = Setup {
        buffer: Some(pool.region()),
        ..Setup::default()
    };
    Uring::around(files, pool.slots() as u32, &setup, |ring| {
        Watched(ring, watch.clone())
    })
    .unwrap()
}

/// Quartiles of ns outside of the kernel for an I/O, of 4 KiB random reads of a file in memory.
fn measure<E: Engine>(
    depth: usize,
    make: impl Fn(&[OwnedFd], &BufferPool, &Watch) -> E,
) -> [f64; 3] {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&vec![0xA5; 16 * MIB as usize]).unwrap();
    let files = [OwnedFd::from(File::try_clone(&file).unwrap())];
    let (watch, ledger) = (Watch::new(), Ledger::default());
    let pool = BufferPool::new(depth, 4096, BufferPages::Mmap).unwrap();
    let job = resolved(
        json!({"rw": "randread", "time_based": true, "targets": [target(0, 16 * MIB)], "size": 16 * MIB}),
    );
    let engine = make(&files, &pool, &watch);
    let mut work = Loop::new(
        engine,
        Tsc::new(),
        Unpaced(Pattern::new(&job, 0)),
        pool,
        None,
        1,
    );
    let reading_ns = watch.reading_ns();
    let stretch = |_| {
        let (before, begin_ns) = (ledger.tally(Kind::Read).ios.get(), Monotonic.now_ns());
        watch.outside_ns.set(0);
        watch.since_ns.set(watch.clock.now_ns());
        work.run(&AtomicU64::new(begin_ns + STRETCH_NS), &ledger)
            .unwrap();
        let ios = ledger.tally(Kind::Read).ios.get() - before;
        watch.outside_ns.get() as f64 / ios as f64 - reading_ns / depth as f64
    };
    let mut each: Vec<f64> = (0..STRETCHES).map(stretch).collect();
    each.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| each[STRETCHES * quarter / 4])
}

#[test]
#[ignore = "a measurement: cargo test --release -p leadline-runner --lib outside -- --ignored --nocapture"]
fn ns_outside_of_the_kernel() {
    let tell = |name: &str, [low, median, high]: [f64; 3]| {
        eprintln!("{name:<32} {median:6.1} ns ({low:.1} to {high:.1})")
    };
    tell(
        "psync",
        measure(1, |files, _, watch| {
            Watched(Psync::new(files), watch.clone())
        }),
    );
    for depth in [1, 32, 128] {
        tell(
            &format!("io_uring, depth {depth}"),
            measure(depth, ring::<Registered>),
        );
        tell(
            &format!("empty entries, depth {depth}"),
            measure(depth, ring::<Nop>),
        );
    }
}
