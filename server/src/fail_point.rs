//! Points at which tests kill the server, or make one of its tasks panic. Only debug builds contain
//! them.

#[cfg(debug_assertions)]
use std::sync::atomic::{AtomicBool, Ordering};

/// `kill:NAME` or `panic:NAME`. The named point triggers only once.
#[cfg(debug_assertions)]
const VARIABLE: &str = "LEADLINE_FAIL_POINT";

#[cfg(debug_assertions)]
pub(crate) fn reach(name: &str) {
    static REACHED: AtomicBool = AtomicBool::new(false);
    let Ok(point) = std::env::var(VARIABLE) else {
        return;
    };
    let Some((action, wanted)) = point.split_once(':') else {
        return;
    };
    if wanted != name || REACHED.swap(true, Ordering::Relaxed) {
        return;
    }
    match action {
        "panic" => panic!("fail point {name}"),
        _ => {
            // SIGKILL, because an orderly exit would store and flush pending data.
            let pid = rustix::process::getpid();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

#[cfg(not(debug_assertions))]
pub(crate) fn reach(_name: &str) {}
