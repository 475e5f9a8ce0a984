//! io_uring: I/Os are entries in a ring that the kernel shares; one system call hands over a whole batch.
//!
//! How it submits and waits: everything that is due is put into the ring, one enter hands it over, everything that is
//! complete is reaped, and only when nothing is does it sleep, for one completion. So the asked depth is refilled at
//! once and an I/O that the page cache answers costs no second call. Completions are worked on in the submitter's own
//! context (DEFER_TASKRUN) where the kernel can; files and the ring itself are registered, which saves a lookup each.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};

use super::{Engine, psync};
use crate::clock::SECOND_NS;
use crate::pattern::{Io, Kind};
use crate::report::Choice;

/// The most entries of a ring (IORING_MAX_ENTRIES, io_uring/io_uring.h).
pub const MAX_ENTRIES: u32 = 32_768;

/// Does I/O through a ring.
pub struct Uring {
    ring: IoUring,
    files: Vec<RawFd>,
    /// Trims, which are a system call here: done before `submit` returns.
    done: VecDeque<(u32, i32)>,
}

impl Uring {
    /// A ring for `slots` I/Os on these files, which must stay open as long as it lives. To be made by the thread that
    /// will use it. Tells what it chose and why.
    ///
    /// # Errors
    /// What io_uring_setup(2) or io_uring_register(2) says.
    pub fn new(files: &[OwnedFd], slots: u32) -> io::Result<(Self, Vec<Choice>)> {
        let entries = slots.clamp(1, MAX_ENTRIES);
        // With TASKRUN_FLAG the kernel says that completions wait to be worked on, and the next enter sees to them: without
        // it, an I/O that completes late would wait as long as others complete at once.
        let (ring, deferred) = match builder().setup_defer_taskrun().setup_taskrun_flag().build(entries) {
            Ok(ring) => (ring, true),
            // Before Linux 6.1 the flags are unknown: EINVAL.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => (IoUring::builder().build(entries)?, false),
            Err(error) => return Err(error),
        };
        let files: Vec<RawFd> = files.iter().map(AsRawFd::as_raw_fd).collect();
        ring.submitter().register_files(&files)?;
        let registered_ring = ring.submitter().register_ring_fd().is_ok();
        let choice = |name: &str, used: bool, yes: &str, no: &str| Choice {
            name: name.into(),
            used,
            reason: if used { yes } else { no }.into(),
        };
        let choices = vec![
            choice("registered_files", true, "saves the kernel a reference and a lookup per I/O", ""),
            choice(
                "single_issuer",
                deferred,
                "one thread submits, so the kernel need not lock",
                "this kernel does not know it (before 6.1)",
            ),
            choice(
                "deferred_task_work",
                deferred,
                "completions do not interrupt the submitter",
                "this kernel does not know it (before 6.1)",
            ),
            choice(
                "registered_ring",
                registered_ring,
                "saves the kernel a lookup per system call",
                "this kernel does not know it (before 5.18)",
            ),
        ];
        Ok((Self { ring, files, done: VecDeque::with_capacity(slots as usize) }, choices))
    }

    fn entry(io: &Io, buffer: *mut u8) -> squeue::Entry {
        let file = Fixed(u32::from(io.target));
        match io.kind {
            Kind::Read => opcode::Read::new(file, buffer, io.len).offset(io.offset).build(),
            Kind::Write => opcode::Write::new(file, buffer, io.len).offset(io.offset).build(),
            Kind::Datasync => opcode::Fsync::new(file).flags(FsyncFlags::DATASYNC).build(),
            Kind::Sync | Kind::Trim => opcode::Fsync::new(file).build(),
        }
    }
}

fn builder() -> io_uring::Builder {
    let mut builder = IoUring::builder();
    builder.setup_single_issuer();
    builder
}

impl Engine for Uring {
    #[inline]
    unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8) {
        if io.kind == Kind::Trim {
            self.done.push_back((slot, psync::discard(self.files[usize::from(io.target)], io)));
            return;
        }
        let entry = Self::entry(io, buffer).user_data(u64::from(slot));
        // SAFETY: the caller keeps the buffer valid until the slot is reaped, and the files are registered.
        // There are as many entries as slots, and a slot has at most one I/O, so the ring cannot be full.
        unsafe { self.ring.submission().push(&entry) }.expect("one entry per slot");
    }

    #[inline]
    fn commit(&mut self) -> io::Result<()> {
        loop {
            match self.ring.submit() {
                Ok(_) if self.ring.submission().is_empty() => return Ok(()),
                Ok(_) => {}
                Err(error) => match error.raw_os_error() {
                    Some(libc::EINTR) => {}
                    // The kernel has no memory for requests, or the completion ring is full: reap first, then again.
                    Some(libc::EAGAIN | libc::EBUSY) => return Ok(()),
                    _ => return Err(error),
                },
            }
        }
    }

    #[inline]
    fn wait(&mut self, at_least: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        if !self.done.is_empty() {
            return Ok(());
        }
        let waited = match timeout_ns {
            None => self.ring.submit_and_wait(at_least as usize),
            Some(ns) => {
                let timeout = Timespec::new().sec(ns / SECOND_NS).nsec((ns % SECOND_NS) as u32);
                self.ring.submitter().submit_with_args(at_least as usize, &SubmitArgs::new().timespec(&timeout))
            }
        };
        match waited {
            Ok(_) => Ok(()),
            // A signal, the timeout, or a full completion ring: the loop looks at what there is.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EINTR | libc::ETIME | libc::EAGAIN | libc::EBUSY)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    #[inline]
    fn reap(&mut self, mut complete: impl FnMut(u32, i32)) {
        self.ring.completion().for_each(|entry| complete(entry.user_data() as u32, entry.result()));
        self.done.drain(..).for_each(|(slot, result)| complete(slot, result));
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::{Read, Write};
    use std::os::fd::OwnedFd;
    use std::sync::atomic::AtomicU64;

    use super::super::ledger::Ledger;
    use super::super::measure::{IoError, Loop, Source, Stop};
    use super::super::psync::Psync;
    use super::*;
    use crate::buffer::Pool;
    use crate::clock::{Clock, Monotonic};

    /// A list of I/Os, all due at once.
    struct List(std::vec::IntoIter<Io>);

    impl Source for List {
        fn draw(&mut self, out: &mut [Io]) -> usize {
            out.iter_mut().zip(&mut self.0).map(|(slot, io)| *slot = io).count()
        }
        fn due_ns(&mut self, _io: &Io, _since_begin_ns: u64) -> u64 {
            0
        }
    }

    fn blocks(kind: Kind, blocks: u64) -> impl Iterator<Item = Io> + Clone {
        (0..blocks).map(move |block| Io { offset: block * 4096, len: 4096, target: 0, kind })
    }

    /// Does the I/Os on a file with this content through `engine`, and returns what was counted.
    fn check<E: Engine>(make: impl Fn(&[OwnedFd]) -> E, content: &[u8], ios: Vec<Io>, depth: usize) -> (Ledger, Stop, Vec<u8>) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content).unwrap();
        let files: Vec<OwnedFd> = vec![OpenOptions::new().read(true).write(true).open(file.path()).unwrap().into()];
        let mut pool = Pool::new(depth, 4096).unwrap();
        (0..depth as u32).for_each(|slot| pool.bytes_mut(slot).fill(0xA5));
        let ledger = Ledger::default();
        let mut work = Loop::new(make(&files), Monotonic, List(ios.into_iter()), pool, usize::MAX, 1);
        let stop = work.run(&AtomicU64::new(u64::MAX), &ledger).unwrap();
        assert!(work.drain(u64::MAX));
        let mut after = Vec::new();
        file.reopen().unwrap().read_to_end(&mut after).unwrap();
        (ledger, stop, after)
    }

    fn uring(files: &[OwnedFd]) -> Uring {
        Uring::new(files, 64).unwrap().0
    }

    #[test]
    fn writes_arrive_and_are_counted_by_both_engines() {
        let ios: Vec<Io> = blocks(Kind::Write, 100).chain(blocks(Kind::Sync, 1)).chain(blocks(Kind::Datasync, 1)).collect();
        let ios: Vec<Io> =
            ios.into_iter().map(|io| if matches!(io.kind, Kind::Write) { io } else { Io { len: 0, ..io } }).collect();
        let expect = |(ledger, stop, after): (Ledger, Stop, Vec<u8>)| {
            assert_eq!(stop, Stop::Finished);
            assert_eq!((ledger.write.ios.get(), ledger.write.bytes.get(), ledger.sync.ios.get()), (100, 409_600, 2));
            assert!(after.len() == 409_600 && after.iter().all(|&byte| byte == 0xA5));
        };
        expect(check(uring, &[], ios.clone(), 8));
        expect(check(Psync::new, &[], ios, 1));
    }

    #[test]
    fn every_read_has_a_latency_of_its_own_at_any_depth() {
        for depth in [1, 7, 64] {
            let (ledger, stop, _) = check(uring, &vec![1; 64 * 4096], blocks(Kind::Read, 64).cycle().take(1000).collect(), depth);
            assert_eq!((stop, ledger.read.ios.get()), (Stop::Finished, 1000));
            let mut counts = [0; crate::histogram::BUCKETS];
            ledger.read.lat.add_to(&mut counts);
            assert_eq!(counts.iter().sum::<u64>(), 1000);
            assert!(ledger.read.lat.min_ns() > Some(0));
        }
    }

    #[test]
    fn a_read_past_the_end_is_an_error_that_names_its_place() {
        let (ledger, stop, _) = check(uring, &[0; 4096], blocks(Kind::Read, 2).collect(), 2);
        assert!(matches!(stop, Stop::Failed(IoError { io: Io { offset: 4096, .. }, errno: 0 })), "{stop:?}");
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
        let late = Io { offset: 0, len: 4096, target: 1, kind: Kind::Write };
        let ios: Vec<Io> = std::iter::once(late).chain(blocks(Kind::Read, 1).cycle().take(4_000_000)).collect();
        let ledger = Ledger::default();
        let mut work = Loop::new(uring(&files), Monotonic, List(ios.into_iter()), Pool::new(4, 4096).unwrap(), usize::MAX, 1);
        let until_ns = AtomicU64::new(Monotonic.now_ns() + 300_000_000);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(std::time::Duration::from_millis(50));
                reader.read_exact(&mut vec![0; room]).unwrap();
                std::thread::sleep(std::time::Duration::from_secs(1));
            });
            work.run(&until_ns, &ledger).unwrap();
        });
        assert!(ledger.read.ios.get() > 1000);
        assert_eq!(ledger.write.ios.get(), 1, "the late one was not reaped within 250 ms of being done");
        assert!(work.drain(u64::MAX));
    }
}
