//! Stops a run early, after a signal or a request. Workers do not read this flag:
//! `WorkerPool::stop` ends their schedules.

use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

#[derive(Clone, Debug, Default)]
pub struct StopSignal {
    requested: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

impl StopSignal {
    /// Requests a stop on SIGINT and SIGTERM.
    pub fn on_signals() -> io::Result<Self> {
        let stop = Self::default();
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register_usize(signal, stop.signal.clone(), signal as usize)?;
            signal_hook::flag::register(signal, stop.requested.clone())?;
        }
        Ok(stop)
    }

    /// Ignores SIGXFSZ, so that a write beyond RLIMIT_FSIZE fails instead of killing the process.
    pub(crate) fn ignore_sigxfsz() {
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    }

    /// Has the same effect as SIGTERM.
    pub fn request(&self) {
        self.signal.store(SIGTERM as usize, Ordering::Relaxed);
        self.requested.store(true, Ordering::Relaxed);
    }

    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
    }

    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.requested
    }

    /// 128 + the signal number, as in a shell; `None` if no stop was requested.
    pub fn exit_code(&self) -> Option<u8> {
        self.is_requested()
            .then(|| 128 + self.signal.load(Ordering::Relaxed) as u8)
    }
}
