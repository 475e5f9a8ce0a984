//! Detects busy hosts, on which timing tests are meaningless.

use super::scratch::skip;
use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// Wake-up latency above which a host is considered busy.
const BUSY: Duration = Duration::from_micros(300);
/// Number of attempts before a test is skipped.
const ATTEMPTS: usize = 5;

/// Serializes timing tests.
pub(crate) fn exclusive() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Repeats `attempt` until it returns no error. An error fails the test only if the host was not
/// busy during that attempt; if the host is always busy, the test is skipped.
pub(crate) fn on_an_idle_host(what: &str, attempt: impl Fn() -> Option<String>) {
    let _guard = exclusive();
    let mut last = String::new();
    for _ in 0..ATTEMPTS {
        let (error, late) = with_wake_up_latency(&attempt);
        match error {
            None => return,
            Some(error) if late < BUSY => panic!("{what}: {error} (the host is not busy)"),
            Some(error) => last = format!("{error}; wake-ups were {} µs late", late.as_micros()),
        }
    }
    skip(&format!("{what}: the host is too busy: {last}"));
}

/// Result of `attempt`, and the highest wake-up latency of a sleeping thread during it.
fn with_wake_up_latency<T>(attempt: impl FnOnce() -> T) -> (T, Duration) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            let step = Duration::from_millis(1);
            let mut worst = Duration::ZERO;
            while !is_over.load(Ordering::Relaxed) {
                let begin = Instant::now();
                std::thread::sleep(step);
                worst = worst.max(begin.elapsed().saturating_sub(step));
            }
            worst
        });
        let result = attempt();
        is_over.store(true, Ordering::Relaxed);
        (result, sleeper.join().unwrap())
    })
}
