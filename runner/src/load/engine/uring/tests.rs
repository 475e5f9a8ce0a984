//! The ring on real files, and beside psync.

use crate::load::engine::psync::Psync;
use crate::load::engine::uring::entries::{Nop, Plain, Registered};
use crate::load::engine::uring::*;
use crate::load::ledger::Ledger;
use crate::load::measure::{IoError, Loop, Source, Stop};
use crate::system::buffers::BufferPool;
use crate::system::clock::{Clock, Monotonic};
use leadline_protocol::job::value::BufferPages;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicU64;

/// A list of I/Os, all due at once.
pub struct List(pub std::vec::IntoIter<Io>);

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

pub fn blocks(kind: Kind, blocks: u64) -> impl Iterator<Item = Io> + Clone {
    (0..blocks).map(move |block| Io {
        offset: block * 4096,
        len: 4096,
        target: 0,
        kind,
    })
}

/// Whether memory is mapped at this address.
pub fn is_mapped(address: usize) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let bounds = |line: &str| {
        let (low, high) = line.split_once(' ')?.0.split_once('-')?;
        Some(usize::from_str_radix(low, 16).ok()?..usize::from_str_radix(high, 16).ok()?)
    };
    maps.lines()
        .filter_map(bounds)
        .any(|range| range.contains(&address))
}

/// Does the I/Os on a file with this content through `engine`, and returns what was counted.
fn check<E: Engine>(
    make: impl Fn(&[OwnedFd]) -> E,
    content: &[u8],
    ios: Vec<Io>,
    depth: usize,
) -> (Ledger, Stop, Vec<u8>) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    let files: Vec<OwnedFd> = vec![
        OpenOptions::new()
            .read(true)
            .write(true)
            .open(file.path())
            .unwrap()
            .into(),
    ];
    let mut pool = BufferPool::new(depth, 4096, BufferPages::Mmap).unwrap();
    (0..depth as u32).for_each(|slot| pool.bytes_mut(slot).fill(0xA5));
    let ledger = Ledger::default();
    let mut work = Loop::new(
        make(&files),
        Monotonic,
        List(ios.into_iter()),
        pool,
        None,
        1,
    );
    let stop = work.run(&AtomicU64::new(u64::MAX), &ledger).unwrap();
    assert!(work.drain(u64::MAX));
    let mut after = Vec::new();
    file.reopen().unwrap().read_to_end(&mut after).unwrap();
    (ledger, stop, after)
}

fn uring(files: &[OwnedFd]) -> Uring<KernelRing, Plain> {
    Uring::new(files, 64, &Setup::default()).unwrap()
}

/// Writes and syncs 100 blocks with a ring of this setup, and compares what arrived.
fn writes_arrive(setup: Setup) {
    let ios: Vec<Io> = blocks(Kind::Write, 100)
        .chain([Io {
            offset: 0,
            len: 0,
            target: 0,
            kind: Kind::Sync,
        }])
        .collect();
    let (ledger, stop, after) = check(
        |files| Uring::<_, Plain>::new(files, 8, &setup).unwrap(),
        &[],
        ios,
        8,
    );
    assert_eq!(
        (
            stop,
            ledger.tally(Kind::Write).ios.get(),
            ledger.tally(Kind::Sync).ios.get()
        ),
        (Stop::Finished, 100, 1)
    );
    assert!(after.len() == 409_600 && after.iter().all(|&byte| byte == 0xA5));
}

#[test]
fn with_a_thread_that_submits_and_spinning_writes_arrive_too() {
    writes_arrive(Setup {
        polling: Polling {
            submissions: true,
            device: false,
        },
        ..Setup::default()
    });
    writes_arrive(Setup {
        spin_ns: 50_000,
        ..Setup::default()
    });
}

#[test]
fn a_thread_that_submits_is_not_outrun_by_who_sees_at_once_what_is_complete() {
    let setup = Setup {
        polling: Polling {
            submissions: true,
            device: false,
        },
        spin_ns: 1_000_000,
        ..Setup::default()
    };
    let reads: Vec<Io> = blocks(Kind::Read, 64).cycle().take(400_000).collect();
    for depth in [2, 32] {
        let engine = |files: &[OwnedFd]| Uring::<_, Plain>::new(files, depth, &setup).unwrap();
        let (ledger, stop, _) = check(engine, &vec![1; 64 * 4096], reads.clone(), depth as usize);
        assert_eq!(
            (
                stop,
                ledger.tally(Kind::Read).ios.get(),
                ledger.errors.get()
            ),
            (Stop::Finished, 400_000, 0)
        );
    }
}

#[test]
fn registered_buffers_hold_what_is_written() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let files: Vec<OwnedFd> = vec![
        OpenOptions::new()
            .write(true)
            .open(file.path())
            .unwrap()
            .into(),
    ];
    let mut pool = BufferPool::new(8, 4096, BufferPages::Thp).unwrap();
    (0..8).for_each(|slot| pool.bytes_mut(slot).fill(0x5A));
    let setup = Setup {
        buffer: Some(pool.region()),
        ..Setup::default()
    };
    let engine = Uring::<_, Registered>::new(&files, 8, &setup).unwrap();
    let source = List(blocks(Kind::Write, 64).collect::<Vec<_>>().into_iter());
    let ledger = Ledger::default();
    let mut work = Loop::new(engine, Monotonic, source, pool, None, 1);
    assert_eq!(
        work.run(&AtomicU64::new(u64::MAX), &ledger).unwrap(),
        Stop::Finished
    );
    let mut after = Vec::new();
    file.read_to_end(&mut after).unwrap();
    assert!(after.len() == 64 * 4096 && after.iter().all(|&byte| byte == 0x5A));
}

#[test]
fn entries_that_do_nothing_are_counted_like_others() {
    for device in [false, true] {
        let setup = Setup {
            polling: Polling {
                device,
                submissions: false,
            },
            ..Setup::default()
        };
        let ios = blocks(Kind::Read, 100)
            .chain(blocks(Kind::Write, 50))
            .collect();
        let (ledger, stop, after) = check(
            |files| Uring::<_, Nop>::new(files, 16, &setup).unwrap(),
            &[7; 4096],
            ios,
            16,
        );
        assert_eq!(
            (
                stop,
                ledger.tally(Kind::Read).ios.get(),
                ledger.tally(Kind::Write).bytes.get()
            ),
            (Stop::Finished, 100, 50 * 4096)
        );
        assert_eq!(after, [7; 4096], "nothing was touched");
    }
}

#[test]
fn writes_arrive_and_are_counted_by_both_engines() {
    let ios: Vec<Io> = blocks(Kind::Write, 100)
        .chain(blocks(Kind::Sync, 1))
        .chain(blocks(Kind::Datasync, 1))
        .collect();
    let ios: Vec<Io> = ios
        .into_iter()
        .map(|io| {
            if matches!(io.kind, Kind::Write) {
                io
            } else {
                Io { len: 0, ..io }
            }
        })
        .collect();
    let expect = |(ledger, stop, after): (Ledger, Stop, Vec<u8>)| {
        assert_eq!(stop, Stop::Finished);
        assert_eq!(
            (
                ledger.tally(Kind::Write).ios.get(),
                ledger.tally(Kind::Write).bytes.get(),
                ledger.tally(Kind::Sync).ios.get()
            ),
            (100, 409_600, 2)
        );
        assert!(after.len() == 409_600 && after.iter().all(|&byte| byte == 0xA5));
    };
    expect(check(uring, &[], ios.clone(), 8));
    expect(check(Psync::new, &[], ios, 1));
}

#[test]
fn every_read_has_a_latency_of_its_own_at_any_depth() {
    for depth in [1, 7, 64] {
        let (ledger, stop, _) = check(
            uring,
            &vec![1; 64 * 4096],
            blocks(Kind::Read, 64).cycle().take(1000).collect(),
            depth,
        );
        assert_eq!(
            (stop, ledger.tally(Kind::Read).ios.get()),
            (Stop::Finished, 1000)
        );
        let mut counts = [0; leadline_protocol::histogram::BUCKETS];
        ledger
            .tally(Kind::Read)
            .lats()
            .iter()
            .for_each(|lat| lat.add_to(&mut counts));
        assert_eq!(counts.iter().sum::<u64>(), 1000);
        assert!(
            ledger
                .tally(Kind::Read)
                .lats()
                .iter()
                .all(|lat| lat.min_ns() != Some(0))
        );
    }
}

#[test]
fn a_read_past_the_end_is_an_error_that_names_its_place() {
    let (ledger, stop, _) = check(uring, &[0; 4096], blocks(Kind::Read, 2).collect(), 2);
    assert!(
        matches!(
            stop,
            Stop::Failed(IoError {
                io: Io { offset: 4096, .. },
                errno: 0
            })
        ),
        "{stop:?}"
    );
    assert_eq!(ledger.errors.get(), 1);
}

#[test]
fn an_io_that_completes_late_is_reaped_while_others_complete_at_once() {
    // A write to a full pipe completes when somebody reads; reads of a cached page complete at once.
    let (mut reader, writer) = std::io::pipe().unwrap();
    let room = rustix::pipe::fcntl_getpipe_size(&writer).unwrap();
    (&writer).write_all(&vec![0; room]).unwrap();
    let mut hot = tempfile::NamedTempFile::new().unwrap();
    hot.write_all(&[1; 4096]).unwrap();
    let files: Vec<OwnedFd> = vec![hot.reopen().unwrap().into(), writer.into()];
    let late = Io {
        offset: 0,
        len: 4096,
        target: 1,
        kind: Kind::Write,
    };
    let ios: Vec<Io> = std::iter::once(late)
        .chain(blocks(Kind::Read, 1).cycle().take(8_000_000))
        .collect();
    let ledger = Ledger::default();
    let mut work = Loop::new(
        uring(&files),
        Monotonic,
        List(ios.into_iter()),
        BufferPool::new(4, 4096, BufferPages::Mmap).unwrap(),
        None,
        1,
    );
    let until_ns = AtomicU64::new(Monotonic.now_ns() + 300_000_000);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(50));
            reader.read_exact(&mut vec![0; room]).unwrap();
            std::thread::sleep(std::time::Duration::from_secs(1));
        });
        work.run(&until_ns, &ledger).unwrap();
    });
    assert!(ledger.tally(Kind::Read).ios.get() > 1000);
    assert_eq!(
        ledger.tally(Kind::Write).ios.get(),
        1,
        "the late one was not reaped within 250 ms of being done"
    );
    assert!(work.drain(u64::MAX));
}

/// A list that goes on later, so that its user wakes up when time is over.
struct Waking(List);

impl Source for Waking {
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
fn io_that_never_completes_is_cancelled_with_its_ring_and_keeps_its_memory() {
    // Reads of an empty pipe: the kernel holds them until the ring is gone.
    let (reader, mut writer) = std::io::pipe().unwrap();
    let files: Vec<OwnedFd> = vec![reader.try_clone().unwrap().into()];
    let ledger = Ledger::default();
    let ios: Vec<Io> = blocks(Kind::Read, 4).collect();
    let source = Waking(List(ios.into_iter()));
    let mut work = Loop::new(
        uring(&files),
        Monotonic,
        source,
        BufferPool::new(4, 4096, BufferPages::Mmap).unwrap(),
        None,
        1,
    );
    let until_ns = AtomicU64::new(Monotonic.now_ns() + 20_000_000);
    assert_eq!(work.run(&until_ns, &ledger).unwrap(), Stop::Until);
    let address = work.buffer_address();
    assert!(
        !work.drain(Monotonic.now_ns() + 20_000_000),
        "nobody writes"
    );
    drop(work);
    assert!(is_mapped(address) && ledger.tally(Kind::Read).ios.get() == 0);
    // Rings end in the background; after that nobody is left to read but us.
    std::thread::sleep(std::time::Duration::from_millis(200));
    writer.write_all(&[7; 4096]).unwrap();
    let mut got = vec![0; 4096];
    (&reader).read_exact(&mut got).unwrap();
    assert!(got.iter().all(|&byte| byte == 7));
}
