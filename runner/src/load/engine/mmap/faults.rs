//! Turns SIGBUS into an I/O error. The kernel raises SIGBUS if a page of a mapped file cannot be
//! read or allocated: the device failed, the filesystem is full, or the file was truncated. The
//! handler maps an anonymous page at the address so that the copy can continue, and the worker then
//! reports the I/O as failed (systemd uses the same method, src/basic/sigbus.c).

use rustix::{io::Errno, param::page_size};
use std::{
    cell::Cell,
    ffi::{c_int, c_void},
    mem, ptr,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

thread_local! {
    /// Addresses that this thread is accessing, and whether an access failed. Thread-local
    /// variables with constant initializers and without destructors are safe in signal handlers.
    static ACCESS: Access = const {
        Access {
            begin: Cell::new(0),
            end: Cell::new(0),
            has_failed: Cell::new(false),
        }
    };
}

struct Access {
    begin: Cell<usize>,
    end: Cell<usize>,
    has_failed: Cell<bool>,
}

/// Cached because `page_size` is not async-signal-safe.
static PAGE: AtomicUsize = AtomicUsize::new(4096);

/// An access to mapped memory in progress. One per thread.
pub(crate) struct Guarded;

impl Guarded {
    #[inline(always)]
    pub(crate) fn new(begin: *mut c_void, len: usize) -> Self {
        ACCESS.with(|access| {
            access.begin.set(begin.addr());
            access.end.set(begin.addr() + len);
            access.has_failed.set(false);
        });
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
        Self
    }

    /// Ends the access.
    #[inline(always)]
    pub(crate) fn has_failed(self) -> bool {
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
        ACCESS.with(|access| {
            access.end.set(0);
            access.has_failed.get()
        })
    }
}

/// Installs the signal handler, once per process.
pub(crate) fn install() -> Result<(), Errno> {
    static INSTALLED: OnceLock<Result<(), Errno>> = OnceLock::new();
    *INSTALLED.get_or_init(|| {
        PAGE.store(page_size(), Ordering::Relaxed);
        // SAFETY: zeros are valid for this struct.
        let mut action: libc::sigaction = unsafe { mem::zeroed() };
        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_sigbus;
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: the handler calls only async-signal-safe functions.
        if unsafe { libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()) } < 0 {
            return Err(
                Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL)
            );
        }
        Ok(())
    })
}

extern "C" fn on_sigbus(_signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: the kernel passes a valid siginfo_t with the address of the fault.
    let address = unsafe { (*info).si_addr() }.addr();
    let is_guarded = ACCESS.with(|access| {
        let is_guarded = (access.begin.get()..access.end.get()).contains(&address);
        access.has_failed.set(is_guarded);
        is_guarded
    });
    if !is_guarded || !replace_page(address) {
        // Returning retries the access, which then kills the process as if no handler were
        // installed. SAFETY: signal(2) is async-signal-safe.
        unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
    }
}

fn replace_page(address: usize) -> bool {
    let page = PAGE.load(Ordering::Relaxed);
    // SAFETY: the page belongs to a mapping of this thread's engine. mmap(2) is a plain system call.
    let mapped = unsafe {
        libc::mmap(
            ptr::with_exposed_provenance_mut(address & !(page - 1)),
            page,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
            -1,
            0,
        )
    };
    mapped != libc::MAP_FAILED
}
