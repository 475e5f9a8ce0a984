//! Tests the ring on real files, and compares it with psync.

pub(crate) mod scripted_ring;

use crate::{
    load::{
        engine::{
            synchronous::psync::Psync,
            uring::{
                entries::{Nop, Plain, Registered},
                *,
            },
        },
        measure::{Loop, exit::LoopExit},
        source::Source,
        stats::WorkerStats,
    },
    system::buffers::BufferPool,
};
use leadline_protocol::job::engine::BufferPages;
use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    sync::atomic::AtomicU64,
    time::Duration,
};

static FOREVER: AtomicU64 = AtomicU64::new(u64::MAX);

/// A list of I/Os that are all due immediately.
pub(crate) struct List(pub std::vec::IntoIter<Io>);

impl Source for List {
    fn draw(&mut self, out: &mut [Io]) -> usize {
        out.iter_mut()
            .zip(&mut self.0)
            .map(|(slot, io)| *slot = io)
            .count()
    }

    fn due(&mut self, next: &[Io], _since_begin_ns: u64) -> usize {
        next.len()
    }

    fn next_due_ns(&self) -> Option<u64> {
        None
    }
}

pub(crate) fn blocks(kind: Kind, blocks: u64) -> impl Iterator<Item = Io> + Clone {
    (0..blocks).map(move |block| Io {
        offset: block * 4096,
        len: 4096,
        target: 0,
        kind,
    })
}

fn sync(kind: Kind) -> Io {
    Io {
        kind,
        ..Io::default()
    }
}

pub(crate) fn is_mapped(address: usize) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let bounds = |line: &str| {
        let (low, high) = line.split_once(' ')?.0.split_once('-')?;
        Some(usize::from_str_radix(low, 16).ok()?..usize::from_str_radix(high, 16).ok()?)
    };
    maps.lines()
        .filter_map(bounds)
        .any(|range| range.contains(&address))
}

fn pool(depth: usize) -> BufferPool {
    BufferPool::new(depth, 4096, BufferPages::Mmap).unwrap()
}

/// Result of a run: statistics, exit, and file contents.
struct Run {
    stats: WorkerStats,
    exit: LoopExit,
    content: Vec<u8>,
}

impl Run {
    fn ios(&self, kind: Kind) -> u64 {
        self.stats.of(kind).ios.get()
    }

    fn assert_content(&self, blocks: usize) {
        assert_eq!(self.content.len(), blocks * 4096);
        assert!(self.content.iter().all(|&byte| byte == 0xA5));
    }
}

/// Runs I/Os on a file with these contents. Buffers are filled with 0xA5.
fn run<E: Engine>(
    make_engine: impl Fn(&[OwnedFd]) -> E,
    content: &[u8],
    ios: Vec<Io>,
    depth: usize,
) -> Run {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    let opened: File = OpenOptions::new()
        .read(true)
        .write(true)
        .open(file.path())
        .unwrap();
    let files = [OwnedFd::from(opened)];
    let mut pool = pool(depth);
    (0..depth as u32).for_each(|slot| pool.write_buffer_mut(slot).fill(0xA5));
    let stats = WorkerStats::default();
    let source = List(ios.into_iter());
    let mut work = Loop::new(make_engine(&files), Monotonic, source, pool, None, 1);
    let exit = work.run(&FOREVER, &stats).unwrap();
    assert!(work.drain(u64::MAX));
    let mut content = Vec::new();
    file.reopen().unwrap().read_to_end(&mut content).unwrap();
    Run {
        stats,
        exit,
        content,
    }
}

fn uring(files: &[OwnedFd]) -> Uring<KernelRing, Plain> {
    Uring::new(files, 64, &Setup::default()).unwrap()
}

fn sq_polling() -> Setup {
    Setup {
        polling: Polling {
            submissions: true,
            device: false,
        },
        ..Setup::default()
    }
}

#[test]
fn writes_complete_with_polling_and_spinning() {
    let spinning = Setup {
        spin_ns: 50_000,
        ..Setup::default()
    };
    for setup in [sq_polling(), spinning] {
        let mut ios: Vec<Io> = blocks(Kind::Write, 100).collect();
        ios.push(sync(Kind::Sync));
        let engine = |files: &[OwnedFd]| Uring::<_, Plain>::new(files, 8, &setup).unwrap();
        let run = run(engine, &[], ios, 8);
        assert_eq!(run.exit, LoopExit::Finished);
        assert_eq!((run.ios(Kind::Write), run.ios(Kind::Sync)), (100, 1));
        run.assert_content(100);
    }
}

/// A forged write does not reach the file, even though the file descriptor permits writes.
#[test]
fn a_read_only_ring_rejects_writes() {
    let setup = Setup {
        only_reads: true,
        ..Setup::default()
    };
    let engine = |files: &[OwnedFd]| Uring::<_, Plain>::new(files, 8, &setup).unwrap();
    let content = vec![1; 64 * 4096];
    for kind in [Kind::Write, Kind::Sync] {
        let run = run(engine, &content, blocks(kind, 1).collect(), 8);
        let LoopExit::Failed(error) = run.exit else {
            panic!("{kind:?}: {:?}", run.exit);
        };
        assert_eq!(error.errno, libc::EACCES, "{kind:?}");
        assert_eq!(run.content, content, "{kind:?}");
    }
    let reads: Vec<Io> = blocks(Kind::Read, 64).collect();
    let run = run(engine, &content, reads, 8);
    assert_eq!((run.exit, run.ios(Kind::Read)), (LoopExit::Finished, 64));
}

#[test]
fn refilling_does_not_overrun_the_polling_thread() {
    let setup = Setup {
        spin_ns: 1_000_000,
        ..sq_polling()
    };
    let reads: Vec<Io> = blocks(Kind::Read, 64).cycle().take(400_000).collect();
    for depth in [2, 32] {
        let engine = |files: &[OwnedFd]| Uring::<_, Plain>::new(files, depth, &setup).unwrap();
        let run = run(engine, &vec![1; 64 * 4096], reads.clone(), depth as usize);
        assert_eq!(run.exit, LoopExit::Finished);
        assert_eq!(run.ios(Kind::Read), 400_000);
        assert_eq!(run.stats.errors.get(), 0);
    }
}

#[test]
fn writes_from_registered_buffers_reach_the_file() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let opened: File = OpenOptions::new().write(true).open(file.path()).unwrap();
    let mut pool = BufferPool::new(8, 4096, BufferPages::Thp).unwrap();
    (0..8).for_each(|slot| pool.write_buffer_mut(slot).fill(0x5A));
    let setup = Setup {
        buffer: Some(pool.region()),
        ..Setup::default()
    };
    let engine = Uring::<_, Registered>::new(&[opened.into()], 8, &setup).unwrap();
    let ios: Vec<Io> = blocks(Kind::Write, 64).collect();
    let stats = WorkerStats::default();
    let mut work = Loop::new(engine, Monotonic, List(ios.into_iter()), pool, None, 1);
    assert_eq!(work.run(&FOREVER, &stats).unwrap(), LoopExit::Finished);
    let mut content = Vec::new();
    file.read_to_end(&mut content).unwrap();
    assert_eq!(content.len(), 64 * 4096);
    assert!(content.iter().all(|&byte| byte == 0x5A));
}

#[test]
fn no_op_entries_are_counted_and_do_not_access_the_file() {
    for device in [false, true] {
        let setup = Setup {
            polling: Polling {
                device,
                submissions: false,
            },
            ..Setup::default()
        };
        let writes = blocks(Kind::Write, 50);
        let ios = blocks(Kind::Read, 100).chain(writes).collect();
        let engine = |files: &[OwnedFd]| Uring::<_, Nop>::new(files, 16, &setup).unwrap();
        let run = run(engine, &[7; 4096], ios, 16);
        assert_eq!(run.exit, LoopExit::Finished);
        assert_eq!(run.ios(Kind::Read), 100);
        assert_eq!(run.stats.of(Kind::Write).bytes.get(), 50 * 4096);
        assert_eq!(run.content, [7; 4096]);
    }
}

#[test]
fn writes_and_syncs_are_counted_by_both_engines() {
    let mut ios: Vec<Io> = blocks(Kind::Write, 100).collect();
    ios.extend([sync(Kind::Sync), sync(Kind::Datasync)]);
    let uring = run(uring, &[], ios.clone(), 8);
    let psync = run(Psync::new, &[], ios, 1);
    for run in [uring, psync] {
        assert_eq!(run.exit, LoopExit::Finished);
        assert_eq!((run.ios(Kind::Write), run.ios(Kind::Sync)), (100, 2));
        assert_eq!(run.stats.of(Kind::Write).bytes.get(), 409_600);
        run.assert_content(100);
    }
}

#[test]
fn every_read_has_a_latency_at_any_depth() {
    let reads: Vec<Io> = blocks(Kind::Read, 64).cycle().take(1000).collect();
    for depth in [1, 7, 64] {
        let run = run(uring, &vec![1; 64 * 4096], reads.clone(), depth);
        assert_eq!(run.exit, LoopExit::Finished);
        assert_eq!(run.ios(Kind::Read), 1000);
        let latencies = run.stats.of(Kind::Read).latencies();
        let mut counts = [0; leadline_protocol::histogram::BUCKETS];
        latencies.iter().for_each(|lat| lat.add_to(&mut counts));
        assert_eq!(counts.iter().sum::<u64>(), 1000);
        assert!(latencies.iter().all(|lat| lat.min_ns() != Some(0)));
    }
}

#[test]
fn reads_past_the_end_report_an_error_with_the_offset() {
    let run = run(uring, &[0; 4096], blocks(Kind::Read, 2).collect(), 2);
    let LoopExit::Failed(error) = run.exit else {
        panic!("{:?}", run.exit);
    };
    assert_eq!((error.io.offset, error.errno), (4096, 0));
    assert_eq!(run.stats.errors.get(), 1);
}

#[test]
fn an_asynchronous_completion_is_reaped_among_inline_completions() {
    // A write to a full pipe completes when the pipe is read. Reads of a cached page complete
    // inline.
    let (mut reader, writer) = std::io::pipe().unwrap();
    let capacity = rustix::pipe::fcntl_getpipe_size(&writer).unwrap();
    (&writer).write_all(&vec![0; capacity]).unwrap();
    let mut cached = tempfile::NamedTempFile::new().unwrap();
    cached.write_all(&[1; 4096]).unwrap();
    let files: Vec<OwnedFd> = vec![cached.reopen().unwrap().into(), writer.into()];
    let write = Io {
        offset: 0,
        len: 4096,
        target: 1,
        kind: Kind::Write,
    };
    let reads = blocks(Kind::Read, 1).cycle().take(8_000_000);
    let ios: Vec<Io> = std::iter::once(write).chain(reads).collect();
    let stats = WorkerStats::default();
    let source = List(ios.into_iter());
    let mut work = Loop::new(uring(&files), Monotonic, source, pool(4), None, 1);
    let until_ns = AtomicU64::new(Monotonic.now_ns() + 300_000_000);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            reader.read_exact(&mut vec![0; capacity]).unwrap();
            std::thread::sleep(Duration::from_secs(1));
        });
        work.run(&until_ns, &stats).unwrap();
    });
    assert!(stats.of(Kind::Read).ios.get() > 1000);
    assert_eq!(
        stats.of(Kind::Write).ios.get(),
        1,
        "the write was not reaped within 250 ms of its completion"
    );
    assert!(work.drain(u64::MAX));
}

/// A source whose remaining I/Os are due in the distant future, so the loop wakes up at the end of
/// the phase.
struct UnfinishedSource(List);

impl Source for UnfinishedSource {
    fn draw(&mut self, out: &mut [Io]) -> usize {
        self.0.draw(out)
    }

    fn due(&mut self, next: &[Io], since_begin_ns: u64) -> usize {
        self.0.due(next, since_begin_ns)
    }

    fn next_due_ns(&self) -> Option<u64> {
        Some(u64::MAX / 2)
    }
}

#[test]
fn closing_the_ring_cancels_hung_io_and_keeps_its_memory() {
    // Reads from an empty pipe stay in flight until the ring is closed.
    let (reader, mut writer) = std::io::pipe().unwrap();
    let files: Vec<OwnedFd> = vec![reader.try_clone().unwrap().into()];
    let stats = WorkerStats::default();
    let ios: Vec<Io> = blocks(Kind::Read, 4).collect();
    let source = UnfinishedSource(List(ios.into_iter()));
    let mut work = Loop::new(uring(&files), Monotonic, source, pool(4), None, 1);
    let until_ns = AtomicU64::new(Monotonic.now_ns() + 20_000_000);
    assert_eq!(work.run(&until_ns, &stats).unwrap(), LoopExit::TimeUp);
    let address = work.buffer_address();
    assert!(!work.drain(Monotonic.now_ns() + 20_000_000));
    drop(work);
    assert!(is_mapped(address));
    assert_eq!(stats.of(Kind::Read).ios.get(), 0);
    // Rings are closed in the background. After that, nothing else reads from the pipe.
    std::thread::sleep(Duration::from_millis(200));
    writer.write_all(&[7; 4096]).unwrap();
    let mut bytes = vec![0; 4096];
    (&reader).read_exact(&mut bytes).unwrap();
    assert!(bytes.iter().all(|&byte| byte == 7));
}
