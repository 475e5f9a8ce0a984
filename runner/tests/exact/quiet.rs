//! Whether this host lets a test be on time: a bound of a millisecond says nothing where sleeping for one takes three.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::scratch::skip;

/// A host on which threads wake up this late is busy: the runner's threads do so too.
const LATE: Duration = Duration::from_micros(300);
/// How often something is tried before the host is said to be busy.
const TRIES: usize = 5;

/// Tests about time run one after the other.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tries until what is tried is right (`None`). What was wrong counts only where the host was on time meanwhile; where it
/// never is, the test is skipped.
pub fn on_an_idle_host(what: &str, attempt: impl Fn() -> Option<String>) {
    let _alone = alone();
    let mut last = String::new();
    for _ in 0..TRIES {
        let (wrong, late) = watched(&attempt);
        match wrong {
            None => return,
            Some(wrong) if late < LATE => panic!("{what}: {wrong} (and threads woke up on time)"),
            Some(wrong) => last = format!("{wrong}; threads woke up {} µs late", late.as_micros()),
        }
    }
    skip(&format!("{what}: this host is too busy: {last}"));
}

/// Does it, and tells how late a sleeping thread woke up at worst meanwhile.
fn watched<T>(attempt: impl FnOnce() -> T) -> (T, Duration) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let step = Duration::from_millis(1);
            let mut worst = Duration::ZERO;
            while !over.load(Ordering::Relaxed) {
                let begin = Instant::now();
                std::thread::sleep(step);
                worst = worst.max(begin.elapsed().saturating_sub(step));
            }
            worst
        });
        let result = attempt();
        over.store(true, Ordering::Relaxed);
        (result, watch.join().unwrap())
    })
}
