//! System calls and structures of Linux AIO (linux/aio_abi.h, fs/aio.c).

use crate::load::pattern::io::Io;
use std::{
    ffi::c_long,
    io,
    os::fd::RawFd,
    ptr,
    sync::atomic::{AtomicU32, Ordering},
};

/// AIO_RING_MAGIC in fs/aio.c.
const RING_MAGIC: u32 = 0xa10a_10a1;

/// IOCB_FLAG_IOPRIO in linux/aio_abi.h: `aio_reqprio` is valid.
const FLAG_PRIORITY: u32 = 1 << 1;

/// IOCB_CMD_* in linux/aio_abi.h.
#[derive(Clone, Copy, Debug)]
#[repr(u16)]
pub(crate) enum Command {
    Pread = 0,
    Pwrite = 1,
    Fsync = 2,
    Fdsync = 3,
}

/// `struct iocb`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Iocb {
    data: u64,
    /// Two u32 values, whose order depends on the byte order; both are 0.
    key_and_flags: u64,
    opcode: u16,
    priority: i16,
    file: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    result_file: u32,
}

impl Iocb {
    /// Syncs do not use `buffer`.
    #[inline(always)]
    pub(crate) fn new(slot: u32, command: Command, file: RawFd, io: &Io, buffer: *mut u8) -> Self {
        let is_sync = matches!(command, Command::Fsync | Command::Fdsync);
        Self {
            data: u64::from(slot),
            opcode: command as u16,
            file: file.cast_unsigned(),
            // The kernel rejects a sync with a buffer, a length or an offset.
            buffer: if is_sync {
                0
            } else {
                buffer.expose_provenance() as u64
            },
            bytes: if is_sync { 0 } else { u64::from(io.len) },
            offset: if is_sync { 0 } else { io.offset.cast_signed() },
            ..Self::default()
        }
    }

    /// 0 selects the thread's priority.
    pub(crate) fn set_priority(&mut self, priority: u16) {
        if priority > 0 {
            self.priority = priority.cast_signed();
            self.flags |= FLAG_PRIORITY;
        }
    }
}

/// `struct io_event`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Event {
    data: u64,
    object: u64,
    result: i64,
    result2: i64,
}

impl Event {
    pub(crate) fn new(slot: u32, result: i64) -> Self {
        Self {
            data: u64::from(slot),
            object: 0,
            result,
            result2: 0,
        }
    }

    #[inline(always)]
    pub(crate) fn slot_and_result(self) -> (u32, i32) {
        (self.data as u32, self.result as i32)
    }
}

/// The start of `struct aio_ring`.
#[repr(C)]
struct Ring {
    id: u32,
    events: u32,
    head: AtomicU32,
    tail: AtomicU32,
    magic: u32,
}

/// An AIO context. Must be used by only one thread.
#[derive(Debug)]
pub(crate) struct Context {
    id: usize,
    /// Null if the memory at the context's address is not a ring.
    ring: *const Ring,
}

impl Context {
    /// # Errors
    /// Returns errors from io_setup(2).
    pub(crate) fn new(slots: u32) -> io::Result<Self> {
        let mut id: usize = 0;
        // SAFETY: io_setup(2) writes the ID to a local variable.
        check(unsafe { libc::syscall(libc::SYS_io_setup, c_long::from(slots), &raw mut id) })?;
        let ring: *const Ring = ptr::with_exposed_provenance(id);
        // SAFETY: the kernel maps a ring of at least a page at the address of the context. A
        // program that emulates the system call also returns an address.
        let is_ring = unsafe { (*ring).magic } == RING_MAGIC;
        Ok(Self {
            id,
            ring: if is_ring { ring } else { ptr::null() },
        })
    }

    pub(crate) fn has_ring(&self) -> bool {
        !self.ring.is_null()
    }

    /// False only if no I/O has completed.
    #[inline]
    pub(crate) fn may_have_events(&self) -> bool {
        // SAFETY: the ring is null or mapped until `destroy`. The kernel modifies the indices, so
        // they are atomics.
        match unsafe { self.ring.as_ref() } {
            Some(ring) => ring.head.load(Ordering::Relaxed) != ring.tail.load(Ordering::Acquire),
            None => true,
        }
    }

    /// Returns the number of I/Os that the kernel accepted, at least 1.
    ///
    /// # Errors
    /// Returns the error of the first I/O if the kernel accepted none.
    ///
    /// # Safety
    /// The iocbs must be initialized. Their files must stay open and their buffers valid until the
    /// I/Os complete.
    pub(crate) unsafe fn submit(&self, iocbs: &[*mut Iocb]) -> io::Result<usize> {
        let n = iocbs.len() as c_long;
        // SAFETY: the slice contains `n` pointers to iocbs.
        let accepted =
            check(unsafe { libc::syscall(libc::SYS_io_submit, self.id, n, iocbs.as_ptr()) })?;
        if accepted == 0 {
            return Err(io::Error::from_raw_os_error(libc::EAGAIN));
        }
        Ok(accepted as usize)
    }

    /// Appends completions up to the capacity of `events`, and returns their number. Waits for
    /// `at_least` completions, a signal or the timeout.
    ///
    /// # Errors
    /// Returns errors from io_getevents(2) except EINTR.
    pub(crate) fn events(
        &self,
        at_least: usize,
        events: &mut Vec<Event>,
        timeout_ns: Option<u64>,
    ) -> io::Result<usize> {
        const NS_PER_SECOND: u64 = 1_000_000_000;
        let timeout = timeout_ns.map(|ns| libc::timespec {
            tv_sec: (ns / NS_PER_SECOND) as libc::time_t,
            tv_nsec: (ns % NS_PER_SECOND) as c_long,
        });
        let spare = events.spare_capacity_mut();
        // SAFETY: the kernel writes at most `spare.len()` events to the spare capacity.
        let result = check(unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.id,
                at_least as c_long,
                spare.len() as c_long,
                spare.as_mut_ptr(),
                timeout.as_ref().map_or(ptr::null(), ptr::from_ref),
            )
        });
        let fetched = match result {
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => 0,
            result => result? as usize,
        };
        // SAFETY: the kernel has initialized this many events.
        unsafe { events.set_len(events.len() + fetched) };
        Ok(fetched)
    }

    /// Waits for I/Os in flight. The context must not be used afterward.
    pub(crate) fn destroy(&mut self) {
        self.ring = ptr::null();
        // SAFETY: io_destroy(2) takes the ID of the context. Errors are not possible.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.id) };
    }
}

fn check(result: c_long) -> io::Result<c_long> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}
