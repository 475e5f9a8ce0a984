//! The wish to end a run early, and where it came from.

use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Set by SIGINT, SIGTERM or the program itself; looked at everywhere.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    requested: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

impl Stop {
    /// Follows SIGINT and SIGTERM.
    ///
    /// # Errors
    /// What sigaction(2) says.
    pub fn on_signals() -> io::Result<Self> {
        let stop = Self::default();
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register_usize(signal, stop.signal.clone(), signal as usize)?;
            signal_hook::flag::register(signal, stop.requested.clone())?;
        }
        Ok(stop)
    }

    /// A file that may not grow (RLIMIT_FSIZE) is an error of a write, not the death of the run: SIGXFSZ does nothing.
    pub fn outlive_file_limits(&self) {
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    }

    /// Asks for an end as if by SIGTERM.
    pub fn request(&self) {
        self.signal.store(SIGTERM as usize, Ordering::Relaxed);
        self.requested.store(true, Ordering::Relaxed);
    }

    /// Whether an end was asked for.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
    }

    /// The flag itself, for work that looks at it now and then.
    pub fn flag(&self) -> &AtomicBool {
        &self.requested
    }

    /// 128 + the signal, as shells do; `None` when no end was asked for.
    pub fn exit_code(&self) -> Option<u8> {
        self.is_requested()
            .then(|| 128 + self.signal.load(Ordering::Relaxed) as u8)
    }
}
