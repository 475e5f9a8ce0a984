//! Runs the loop on real files, and compares the results with the kernel's counters and with an
//! exact list of latencies recorded by wrappers around the engine and the clock.

use crate::{
    load::{
        engine::{
            Engine,
            null::Null,
            synchronous::psync::Psync,
            uring::{
                Uring,
                entries::Plain,
                ring::KernelRing,
                setup::Setup,
                tests::{List, blocks},
            },
        },
        measure::{Loop, exit::LoopExit},
        pattern::io::{Io, Kind},
        stats::WorkerStats,
    },
    run::direction_stats::direction_stats,
    system::{
        buffers::BufferPool,
        clock::{
            Clock,
            tsc::{self, Tsc},
        },
    },
};
use leadline_protocol::{histogram::ERROR, job::engine::BufferPages};
use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    fs::{File, OpenOptions},
    io::{self, Write},
    os::{fd::OwnedFd, unix::fs::OpenOptionsExt},
    rc::Rc,
    sync::atomic::AtomicU64,
};

const BLOCKS: u64 = 1024;
const READS: usize = 20_000;

/// The loop's last clock reading. Latencies are differences of two readings.
#[derive(Clone, Default)]
struct LastReading(Rc<Cell<u64>>);

struct RecordingClock(Tsc, LastReading);

impl Clock for RecordingClock {
    fn now_ns(&self) -> u64 {
        let now_ns = self.0.now_ns();
        self.1.0.set(now_ns);
        now_ns
    }

    fn sleep_until(&self, due_ns: u64) {
        self.0.sleep_until(due_ns);
    }
}

struct RecordingEngine<T> {
    inner: T,
    last: LastReading,
    starts: HashMap<u32, u64>,
    latencies: Rc<RefCell<Vec<u64>>>,
}

impl<E: Engine> Engine for RecordingEngine<E> {
    unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8) {
        self.starts.insert(slot, self.last.0.get());
        // SAFETY: same contract.
        unsafe { self.inner.submit(slot, io, buffer) }
    }

    fn commit(&mut self, in_flight: usize) -> io::Result<()> {
        self.inner.commit(in_flight)
    }

    fn wait(&mut self, at_least: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        self.inner.wait(at_least, timeout_ns)
    }

    fn ready(&self) -> usize {
        self.inner.ready()
    }

    fn pop(&mut self) -> Option<(u32, i32)> {
        let popped = self.inner.pop()?;
        let latency = self.last.0.get() - self.starts[&popped.0];
        self.latencies.borrow_mut().push(latency);
        Some(popped)
    }
}

fn reads() -> List {
    let ios: Vec<Io> = blocks(Kind::Read, BLOCKS).cycle().take(READS).collect();
    List(ios.into_iter())
}

fn pool(depth: usize) -> BufferPool {
    BufferPool::new(depth, 4096, BufferPages::Mmap).unwrap()
}

/// A file that contains data, opened with these flags.
fn file(flags: i32) -> (tempfile::NamedTempFile, Vec<OwnedFd>) {
    // The temporary directory may be on tmpfs, which does not support direct I/O.
    let mut named = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    named.write_all(&vec![1; BLOCKS as usize * 4096]).unwrap();
    named.as_file().sync_all().unwrap();
    let opened: File = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(named.path())
        .unwrap();
    (named, vec![opened.into()])
}

fn ring(files: &[OwnedFd], depth: u32) -> Uring<KernelRing, Plain> {
    Uring::new(files, depth, &Setup::default()).unwrap()
}

fn check_latencies<E: Engine>(name: &str, inner: E, depth: usize) {
    let last = LastReading::default();
    let latencies: Rc<RefCell<Vec<u64>>> = Rc::default();
    let engine = RecordingEngine {
        inner,
        last: last.clone(),
        starts: HashMap::new(),
        latencies: latencies.clone(),
    };
    let stats = WorkerStats::default();
    let clock = RecordingClock(Tsc::new(tsc::is_trusted()), last);
    let mut work = Loop::new(engine, clock, reads(), pool(depth), None, 1);
    let exit = work.run(&AtomicU64::new(u64::MAX), &stats).unwrap();
    assert_eq!(exit, LoopExit::Finished);
    let mut exact = latencies.take();
    exact.sort_unstable();
    let lat = direction_stats(&[stats.of(Kind::Read)], &[], 1).lat_ns;
    assert_eq!((exact.len(), lat.count), (READS, READS as u64), "{name}");
    assert_eq!(lat.min, exact.first().copied(), "{name}");
    assert_eq!(lat.max, exact.last().copied(), "{name}");
    let mean = exact.iter().sum::<u64>() as f64 / READS as f64;
    assert_eq!(lat.mean, Some(mean), "{name}");
    for (percentile, found) in &lat.percentiles {
        let percent_10_000 = (percentile.parse::<f64>().unwrap() * 1e4).round() as usize;
        let rank = (percent_10_000 * READS).div_ceil(1_000_000).max(1);
        let exact = exact[rank - 1] as f64;
        assert!(
            (*found as f64 - exact).abs() <= exact * ERROR,
            "{name}, p{percentile}: {found}, exact {exact}"
        );
    }
}

#[test]
fn percentiles_from_real_runs_match_an_exact_sort() {
    let (_keep, cached) = file(0);
    let (_keep, direct) = file(libc::O_DIRECT);
    check_latencies("null", Null::new(32), 32);
    check_latencies("psync, page cache", Psync::new(&cached), 1);
    check_latencies("psync, direct", Psync::new(&direct), 1);
    for depth in [1, 32] {
        check_latencies("ring, page cache", ring(&cached, depth as u32), depth);
        check_latencies("ring, direct", ring(&direct, depth as u32), depth);
    }
}

/// A counter in /proc/thread-self/io.
fn thread_io(name: &str) -> u64 {
    let io = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    io.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        .unwrap()
        .parse()
        .unwrap()
}

/// I/Os and bytes in the statistics, and the increase in a kernel counter.
fn counts<E: Engine>(engine: E, depth: usize, name: &str) -> (u64, u64, u64) {
    let stats = WorkerStats::default();
    let mut work = Loop::new(
        engine,
        Tsc::new(tsc::is_trusted()),
        reads(),
        pool(depth),
        None,
        1,
    );
    // Reading the counter also increases it.
    let first = thread_io(name);
    let before = thread_io(name);
    let exit = work.run(&AtomicU64::new(u64::MAX), &stats).unwrap();
    assert_eq!(exit, LoopExit::Finished);
    let counted = thread_io(name) - before - (before - first);
    let reads = stats.of(Kind::Read);
    (reads.ios.get(), reads.bytes.get(), counted)
}

/// Compares the minimum of three passes, because the first passes also count the program's page
/// faults and the file's metadata I/O.
fn check_counts<E: Engine>(engine: impl Fn() -> E, depth: usize, name: &str, counted: u64) {
    let passes = (0..3).map(|_| counts(engine(), depth, name));
    let least = passes.min_by_key(|(.., counted)| *counted).unwrap();
    assert_eq!(
        least,
        (READS as u64, READS as u64 * 4096, counted),
        "{name}"
    );
}

#[test]
fn ios_and_bytes_match_the_kernel_counters() {
    let (_keep, cached) = file(0);
    let (_keep, direct) = file(libc::O_DIRECT);
    let ios = READS as u64;
    let bytes = ios * 4096;
    check_counts(|| Psync::new(&cached), 1, "syscr", ios);
    check_counts(|| Psync::new(&cached), 1, "rchar", bytes);
    check_counts(|| Psync::new(&direct), 1, "read_bytes", bytes);
    check_counts(|| ring(&direct, 32), 32, "read_bytes", bytes);
    check_counts(|| Null::new(32), 32, "read_bytes", 0);
}
