//! Linux AIO, without libaio: io_submit(2) passes a batch of I/Os to the kernel, and
//! io_getevents(2) returns completions. Only direct I/O is asynchronous; io_submit(2) performs
//! buffered I/O before it returns. Trims are separate system calls.
//!
//! The kernel maps its completion ring into the process; the context ID is the ring's address. The
//! engine reads only the ring's indices, to skip io_getevents(2) if there are no completions, as
//! QEMU does.

pub(crate) mod context;

use crate::load::{
    engine::{
        Engine,
        libaio::context::{Command, Context, Event, Iocb},
        synchronous::discard,
    },
    pattern::io::{Io, Kind},
    slot_priorities::SlotPriorities,
};
use leadline_protocol::report::Decision;
use std::{
    io,
    os::fd::{AsRawFd, OwnedFd, RawFd},
    sync::Arc,
};

pub(crate) struct Libaio {
    context: Context,
    files: Vec<RawFd>,
    /// Indexed by slot.
    iocbs: Box<[Iocb]>,
    /// Slots to pass to the kernel.
    queued: Vec<u32>,
    /// Addresses of the queued iocbs, as io_submit(2) expects them.
    addresses: Vec<*mut Iocb>,
    /// Completions from the last call to io_getevents(2), and completions for I/Os that the kernel
    /// rejected.
    events: Vec<Event>,
    /// I/Os that the kernel has not returned.
    in_flight: usize,
    /// `None` if all I/Os have the thread's priority.
    priorities: Option<Arc<SlotPriorities>>,
}

impl Libaio {
    /// Creates a context for `slots` I/Os on these files, which must stay open for the lifetime of
    /// the engine.
    ///
    /// # Errors
    /// Returns errors from io_setup(2), such as EAGAIN if the host's contexts would exceed
    /// fs.aio-max-nr.
    pub(crate) fn new(files: &[OwnedFd], slots: u32) -> io::Result<Self> {
        let n = slots as usize;
        Ok(Self {
            context: Context::new(slots)?,
            files: files.iter().map(AsRawFd::as_raw_fd).collect(),
            iocbs: vec![Iocb::default(); n].into(),
            queued: Vec::with_capacity(n),
            addresses: Vec::with_capacity(n),
            events: Vec::with_capacity(n),
            in_flight: 0,
            priorities: None,
        })
    }

    pub(crate) fn set_priorities(&mut self, priorities: Option<Arc<SlotPriorities>>) {
        self.priorities = priorities;
    }

    /// Handles the error of the first queued I/O: its slot completes with that error. If the kernel
    /// is out of resources, the loop submits the I/O again.
    #[cold]
    fn reject(&mut self, error: &io::Error, slot: u32) {
        let errno = error.raw_os_error().unwrap_or(libc::EIO);
        self.events.push(Event::new(slot, -i64::from(errno)));
    }

    /// Fetches the available completions, and waits for at least `at_least`.
    #[inline]
    fn fetch(&mut self, at_least: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        let fetched = self
            .context
            .events(at_least as usize, &mut self.events, timeout_ns)?;
        self.in_flight -= fetched;
        Ok(())
    }
}

impl Engine for Libaio {
    #[inline(always)]
    unsafe fn submit(&mut self, slot: u32, io: &Io, buffer: *mut u8) {
        let file = self.files[usize::from(io.target)];
        let command = match io.kind {
            Kind::Read => Command::Pread,
            Kind::Write => Command::Pwrite,
            Kind::Sync => Command::Fsync,
            Kind::Datasync => Command::Fdsync,
            Kind::Trim => {
                let result = discard(file, io);
                return self.events.push(Event::new(slot, i64::from(result)));
            }
        };
        let mut iocb = Iocb::new(slot, command, file, io, buffer);
        if let Some(priorities) = &self.priorities {
            iocb.set_priority(priorities.get(slot));
        }
        self.iocbs[slot as usize] = iocb;
        self.queued.push(slot);
    }

    fn commit(&mut self, _in_flight: usize) -> io::Result<()> {
        self.addresses.clear();
        for &slot in &self.queued {
            self.addresses.push(&raw mut self.iocbs[slot as usize]);
        }
        let mut next = 0;
        while next < self.addresses.len() {
            // SAFETY: the addresses point to initialized iocbs. The loop keeps the files open,
            // and the buffers valid until the slots are popped.
            match unsafe { self.context.submit(&self.addresses[next..]) } {
                Ok(accepted) => {
                    next += accepted;
                    self.in_flight += accepted;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.reject(&error, self.queued[next]);
                    next += 1;
                }
            }
        }
        self.queued.clear();
        if self.in_flight > 0 && self.context.may_have_events() {
            self.fetch(0, Some(0))?;
        }
        Ok(())
    }

    fn wait(&mut self, at_least: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        if self.events.is_empty() && self.in_flight > 0 {
            self.fetch(at_least.min(self.in_flight as u32), timeout_ns)?;
        }
        Ok(())
    }

    fn decisions(&self) -> Vec<Decision> {
        let (used, reason) = if self.context.has_ring() {
            (
                true,
                "completions are detected in memory; io_getevents is called only if there are any",
            )
        } else {
            (
                false,
                "the kernel's completion ring is not readable: io_getevents is called for every batch",
            )
        };
        vec![Decision {
            name: "aio_ring".into(),
            used,
            reason: reason.into(),
        }]
    }

    #[inline]
    fn ready(&self) -> usize {
        self.events.len()
    }

    #[inline]
    fn pop(&mut self) -> Option<(u32, i32)> {
        self.events.pop().map(|event| event.slot_and_result())
    }
}

impl Drop for Libaio {
    /// io_destroy(2) waits for I/Os in flight, which may never complete. The kernel then destroys
    /// the context when the process exits.
    fn drop(&mut self) {
        if self.in_flight == 0 {
            self.context.destroy();
        }
    }
}
