//! Measures the time per I/O outside the kernel: the clock is read before and after each system
//! call. Run manually, because timings are not reproducible; `instructions` is the automated test.
//! getrusage(2) would overestimate this time: CPU time is counted in ticks, and a tick that is due
//! while a system call returns fires in user mode.

use crate::{
    load::{
        engine::{
            Engine,
            synchronous::psync::Psync,
            uring::{
                Uring,
                entries::{Nop, Registered, SubmissionEntries},
                ring::{KernelRing, Ring},
                setup::Setup,
            },
        },
        measure::Loop,
        pattern::{
            Pattern,
            io::{Io, Kind},
        },
        source::Unlimited,
        stats::WorkerStats,
    },
    plan::fixture::{resolved, target},
    system::{
        buffers::BufferPool,
        clock::{
            Clock, Monotonic, NS_PER_MS,
            tsc::{self, Tsc},
        },
    },
};
use io_uring::squeue;
use leadline_protocol::job::engine::BufferPages;
use serde_json::json;
use std::{
    cell::Cell,
    io::{self, Write},
    os::fd::OwnedFd,
    rc::Rc,
    sync::atomic::AtomicU64,
};

const FILE_BYTES: u64 = 16 << 20;
/// Number and length of the timings.
const TIMINGS: usize = 100;
const TIMING_NS: u64 = 20 * NS_PER_MS;

/// Sums the time between each return from the kernel and the next system call.
#[derive(Clone)]
struct Stopwatch {
    clock: Rc<Tsc>,
    since_ns: Rc<Cell<u64>>,
    outside_ns: Rc<Cell<u64>>,
}

impl Stopwatch {
    fn new() -> Self {
        Self {
            clock: Rc::new(Tsc::new(tsc::is_trusted())),
            since_ns: Rc::default(),
            outside_ns: Rc::default(),
        }
    }

    fn restart(&self) {
        self.outside_ns.set(0);
        self.since_ns.set(self.clock.now_ns());
    }

    #[inline(always)]
    fn exclude<T>(&self, call: impl FnOnce() -> T) -> T {
        self.outside_ns
            .set(self.outside_ns.get() + self.clock.now_ns() - self.since_ns.get());
        let result = call();
        self.since_ns.set(self.clock.now_ns());
        result
    }

    /// Cost of one clock read in ns, which is included in every system call's time.
    fn reading_ns(&self) -> f64 {
        const READINGS: u64 = 1_000_000;
        let begin_ns = self.clock.now_ns();
        for _ in 0..READINGS {
            std::hint::black_box(self.clock.now_ns());
        }
        (self.clock.now_ns() - begin_ns) as f64 / READINGS as f64
    }
}

struct Timed<T>(T, Stopwatch);

impl Ring for Timed<KernelRing> {
    #[inline(always)]
    unsafe fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: same contract.
        unsafe { self.0.push(entry) }
    }

    #[inline(always)]
    fn queued(&self) -> usize {
        self.0.queued()
    }

    #[inline(always)]
    fn enter(&mut self, reap: bool, at_least: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        self.1.exclude(|| self.0.enter(reap, at_least, timeout_ns))
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

impl Engine for Timed<Psync> {
    #[inline(always)]
    unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8) {
        // SAFETY: same contract.
        self.1
            .exclude(|| unsafe { self.0.submit(slot, io, buffer) })
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

fn ring<N: SubmissionEntries>(
    files: &[OwnedFd],
    pool: &BufferPool,
    stopwatch: &Stopwatch,
) -> Uring<Timed<KernelRing>, N> {
    let setup = Setup {
        buffer: Some(pool.region()),
        ..Setup::default()
    };
    let wrap = |ring| Timed(ring, stopwatch.clone());
    Uring::with_wrapper(files, pool.slots() as u32, &setup, wrap).unwrap()
}

/// Prints quartiles of the time per I/O outside the kernel, for 4 KiB random reads of a cached
/// file.
fn measure<E: Engine>(
    name: &str,
    depth: usize,
    make_engine: impl Fn(&[OwnedFd], &BufferPool, &Stopwatch) -> E,
) {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&vec![0xA5; FILE_BYTES as usize]).unwrap();
    let files = [OwnedFd::from(file)];
    let stopwatch = Stopwatch::new();
    let pool = BufferPool::new(depth, 4096, BufferPages::Mmap).unwrap();
    let job = resolved(json!({
        "rw": "randread", "time_based": true, "targets": [target(0, FILE_BYTES)],
        "size": FILE_BYTES,
    }));
    let engine = make_engine(&files, &pool, &stopwatch);
    let source = Unlimited(Pattern::new(&job, 0));
    let mut work = Loop::new(engine, Tsc::new(tsc::is_trusted()), source, pool, None, 1);
    let stats = WorkerStats::default();
    let reads = &stats.of(Kind::Read).ios;
    let reading_ns = stopwatch.reading_ns();
    let mut timings = Vec::new();
    for _ in 0..TIMINGS {
        let before = reads.get();
        let until_ns = AtomicU64::new(Monotonic.now_ns() + TIMING_NS);
        stopwatch.restart();
        work.run(&until_ns, &stats).unwrap();
        let per_io = stopwatch.outside_ns.get() as f64 / (reads.get() - before) as f64;
        timings.push(per_io - reading_ns / depth as f64);
    }
    timings.sort_by(f64::total_cmp);
    let [low, median, high] = [1, 2, 3].map(|quarter| timings[TIMINGS * quarter / 4]);
    eprintln!("{name:<12} depth {depth:<4} {median:6.1} ns ({low:.1} to {high:.1})");
}

#[test]
#[ignore = "a measurement: cargo test --release -p leadline-runner --lib engine_overhead -- --ignored --nocapture"]
fn measure_time_outside_the_kernel() {
    measure("psync", 1, |files, _, stopwatch| {
        Timed(Psync::new(files), stopwatch.clone())
    });
    for depth in [1, 32, 128] {
        measure("io_uring", depth, ring::<Registered>);
        measure("io_uring_nop", depth, ring::<Nop>);
    }
}
