//! The loop on real files, held against what others counted of it: the kernel, and an exact list of the latencies that
//! an engine and a clock around the real ones saw.

use crate::load::engine::Engine;
use crate::load::engine::null::Null;
use crate::load::engine::psync::Psync;
use crate::load::engine::ring::KernelRing;
use crate::load::engine::uring::entries::Plain;
use crate::load::engine::uring::tests::{List, blocks};
use crate::load::engine::uring::{Setup, Uring};
use crate::load::ledger::Ledger;
use crate::load::measure::{Loop, Stop};
use crate::load::pattern::{Io, Kind};
use crate::run::build::direction;
use crate::system::buffers::BufferPool;
use crate::system::clock::Clock;
use crate::system::clock::tsc::Tsc;
use leadline_protocol::histogram::ERROR;
use leadline_protocol::job::value::BufferPages;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::rc::Rc;
use std::sync::atomic::AtomicU64;

const BLOCKS: u64 = 1024;
const READS: usize = 20_000;

/// The moment that the loop was told last; latencies lie between two of them.
#[derive(Clone, Default)]
struct Told(Rc<Cell<u64>>);

struct Noted<T> {
    inner: T,
    told: Told,
    begun: HashMap<u32, u64>,
    latencies: Rc<RefCell<Vec<u64>>>,
}

struct NotedClock(Tsc, Told);

impl Clock for NotedClock {
    fn now_ns(&self) -> u64 {
        self.1.0.set(self.0.now_ns());
        self.1.0.get()
    }
    fn sleep_until(&self, due_ns: u64) {
        self.0.sleep_until(due_ns);
    }
}

impl<E: Engine> Engine for Noted<E> {
    unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8) {
        self.begun.insert(slot, self.told.0.get());
        // SAFETY: handed on as it came.
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
        self.latencies
            .borrow_mut()
            .push(self.told.0.get() - self.begun[&popped.0]);
        Some(popped)
    }
}

fn reads() -> List {
    List(
        blocks(Kind::Read, BLOCKS)
            .cycle()
            .take(READS)
            .collect::<Vec<_>>()
            .into_iter(),
    )
}

/// A file full of data, opened with these flags.
fn file(flags: i32) -> (tempfile::NamedTempFile, Vec<OwnedFd>) {
    // Where direct I/O is possible: the temporary directory may be a tmpfs.
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

fn check_latencies<E: Engine>(name: &str, engine: E, depth: usize) {
    let (told, latencies) = (Told::default(), Rc::new(RefCell::new(Vec::new())));
    let noted = Noted {
        inner: engine,
        told: told.clone(),
        begun: HashMap::new(),
        latencies: latencies.clone(),
    };
    let ledger = Ledger::default();
    let mut work = Loop::new(
        noted,
        NotedClock(Tsc::new(), told),
        reads(),
        BufferPool::new(depth, 4096, BufferPages::Mmap).unwrap(),
        None,
        1,
    );
    assert_eq!(
        work.run(&AtomicU64::new(u64::MAX), &ledger).unwrap(),
        Stop::Finished
    );
    let (mut exact, lat) = (
        latencies.borrow().clone(),
        direction(&[ledger.tally(Kind::Read)], 1).lat_ns,
    );
    exact.sort_unstable();
    assert_eq!((exact.len(), lat.count), (READS, READS as u64), "{name}");
    assert_eq!(
        (lat.min, lat.max),
        (exact.first().copied(), exact.last().copied()),
        "{name}"
    );
    assert_eq!(
        lat.mean,
        Some(exact.iter().sum::<u64>() as f64 / READS as f64),
        "{name}"
    );
    for (percentile, found) in &lat.percentiles {
        let rank =
            ((percentile.parse::<f64>().unwrap() / 100.0 * READS as f64).ceil() as usize).max(1);
        let exact = exact[rank - 1] as f64;
        assert!(
            (*found as f64 - exact).abs() <= exact * ERROR,
            "{name}, p{percentile}: {found} for {exact}"
        );
    }
}

#[test]
fn percentiles_of_live_runs_are_those_of_an_exact_sort() {
    let (_keep, cached) = file(0);
    let (_keep, direct) = file(libc::O_DIRECT);
    check_latencies("null", Null::new(32), 32);
    check_latencies("psync on the page cache", Psync::new(&cached), 1);
    check_latencies("psync, direct", Psync::new(&direct), 1);
    for depth in [1, 32] {
        check_latencies("ring on the page cache", ring(&cached, depth as u32), depth);
        check_latencies("ring, direct", ring(&direct, depth as u32), depth);
    }
}

/// What the kernel counted for this thread so far: by name, as in /proc/thread-self/io.
fn of_this_thread(name: &str) -> u64 {
    let io = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    io.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        .unwrap()
        .parse()
        .unwrap()
}

/// The least of three passes: the kernel counts for a thread whatever it fetches, a page of the program or of the file's map
/// among them, which is there from then on.
fn check_counts<E: Engine>(engine: impl Fn() -> E, depth: usize, name: &str) -> (u64, u64, u64) {
    (0..3)
        .map(|_| counts(engine(), depth, name))
        .min_by_key(|(.., counted)| *counted)
        .unwrap()
}

/// Reads through an engine; I/Os and bytes as the ledger has them, and how much the kernel counted meanwhile.
fn counts<E: Engine>(engine: E, depth: usize, name: &str) -> (u64, u64, u64) {
    let ledger = Ledger::default();
    let mut work = Loop::new(
        engine,
        Tsc::new(),
        reads(),
        BufferPool::new(depth, 4096, BufferPages::Mmap).unwrap(),
        None,
        1,
    );
    // Reading the counters is counted too.
    let looking = of_this_thread(name);
    let before = of_this_thread(name);
    assert_eq!(
        work.run(&AtomicU64::new(u64::MAX), &ledger).unwrap(),
        Stop::Finished
    );
    let counted = of_this_thread(name) - before - (before - looking);
    (
        ledger.tally(Kind::Read).ios.get(),
        ledger.tally(Kind::Read).bytes.get(),
        counted,
    )
}

#[test]
fn ios_and_bytes_are_those_that_the_kernel_counted() {
    let (_keep, cached) = file(0);
    let (_keep, direct) = file(libc::O_DIRECT);
    let (ios, bytes) = (READS as u64, READS as u64 * 4096);
    assert_eq!(
        check_counts(|| Psync::new(&cached), 1, "syscr"),
        (ios, bytes, ios)
    );
    assert_eq!(
        check_counts(|| Psync::new(&cached), 1, "rchar"),
        (ios, bytes, bytes)
    );
    assert_eq!(
        check_counts(|| Psync::new(&direct), 1, "read_bytes"),
        (ios, bytes, bytes)
    );
    assert_eq!(
        check_counts(|| ring(&direct, 32), 32, "read_bytes"),
        (ios, bytes, bytes)
    );
    assert_eq!(
        check_counts(|| Null::new(32), 32, "read_bytes"),
        (ios, bytes, 0)
    );
}
