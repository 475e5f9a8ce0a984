//! Runs uninterruptible system calls on a separate thread, so neither a stop request nor the end of
//! a run has to wait for hung storage.

use std::{
    io,
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread::{Builder, sleep},
    time::{Duration, Instant},
};

const STOP_POLL: Duration = Duration::from_millis(20);

/// Returns the result of `work`, or `None` if the stop flag is set before or during it. If the work
/// is already running, its thread continues until the kernel returns.
///
/// # Errors
/// Returns an error if the thread cannot be started or `work` panics.
pub(crate) fn run_unless_stopped<T: Send + 'static>(
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Option<T>> {
    run_with_grace(stop, Duration::ZERO, work)
}

/// Like `run_unless_stopped`, but waits for running work until `grace` after a stop.
///
/// # Errors
/// Returns an error if the thread cannot be started or `work` panics.
pub(crate) fn run_with_grace<T: Send + 'static>(
    stop: &AtomicBool,
    grace: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Option<T>> {
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    finish_with_grace(stop, grace, work)
}

/// Like `run_with_grace`, but starts the work even after a stop.
///
/// # Errors
/// Returns an error if the thread cannot be started or `work` panics.
pub(crate) fn finish_with_grace<T: Send + 'static>(
    stop: &AtomicBool,
    grace: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Option<T>> {
    wait_with_grace(&start("cancellable", work)?, stop, grace)
}

/// Waits for a result from another thread, until `grace` after a stop.
///
/// # Errors
/// Returns an error if the thread exited without a result.
pub(crate) fn wait_with_grace<T>(
    results: &Receiver<T>,
    stop: &AtomicBool,
    grace: Duration,
) -> io::Result<Option<T>> {
    let mut stopped: Option<Instant> = None;
    loop {
        match results.recv_timeout(STOP_POLL) {
            Ok(result) => return Ok(Some(result)),
            Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("thread panicked")),
            Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => {
                if stopped.get_or_insert_with(Instant::now).elapsed() >= grace {
                    return Ok(None);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Timeout for work on storage that was not responding at the end of the measurement.
pub(crate) const HUNG_TIMEOUT: Duration = Duration::from_millis(100);

/// Returns the result of `work`, or `None` if it takes too long, panics, or its thread cannot be
/// started. A running thread continues until the kernel returns.
pub(crate) fn run_with_timeout<T: Send + 'static>(
    timeout: Duration,
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    start(name, work).ok()?.recv_timeout(timeout).ok()
}

/// Number of `ExitBlocker`s.
static EXIT_BLOCKERS: AtomicUsize = AtomicUsize::new(0);

/// Makes `wait_for_exit_blockers` wait while it exists. Used for work that restores a file and
/// continues after a stop: if the process exited first, FUSE would drop requests that its server
/// has not read (`request_wait_answer` in fs/fuse/dev.c).
pub(crate) struct ExitBlocker(());

impl ExitBlocker {
    pub(crate) fn new() -> Self {
        EXIT_BLOCKERS.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for ExitBlocker {
    fn drop(&mut self) {
        EXIT_BLOCKERS.fetch_sub(1, Ordering::Release);
    }
}

/// Waits up to `timeout` until there are no `ExitBlocker`s.
pub(crate) fn wait_for_exit_blockers(timeout: Duration) {
    let end = Instant::now() + timeout;
    while EXIT_BLOCKERS.load(Ordering::Acquire) > 0 && Instant::now() < end {
        sleep(STOP_POLL);
    }
}

/// Starts a thread. The channel receives its result, and is disconnected if the thread panics.
fn start<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Receiver<T>> {
    let (sender, receiver) = channel();
    Builder::new()
        .name(name.into())
        .spawn(move || drop(sender.send(work())))?;
    Ok(receiver)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn returns_the_result_of_finished_work() {
        let result = run_unless_stopped(&AtomicBool::new(false), || 7);
        assert_eq!(result.unwrap(), Some(7));
    }

    #[test]
    fn stop_request_does_not_wait_for_the_work() {
        let stop = Arc::new(AtomicBool::new(false));
        let stop_in_thread = stop.clone();
        let (_never, forever) = channel::<()>();
        let work = move || {
            stop_in_thread.store(true, Ordering::Relaxed);
            forever.recv().is_ok()
        };
        assert_eq!(run_unless_stopped(&stop, work).unwrap(), None);
        let not_started = run_unless_stopped(&stop, || panic!("must not start"));
        assert!(not_started.unwrap().is_none());
    }

    #[test]
    fn exit_waits_for_work_that_restores_files() {
        let restored = Arc::new(AtomicBool::new(false));
        let restored_in_thread = restored.clone();
        let blocker = ExitBlocker::new();
        let work = move || {
            let _blocker = blocker;
            sleep(Duration::from_millis(100));
            restored_in_thread.store(true, Ordering::Relaxed);
        };
        assert_eq!(run_with_timeout(Duration::ZERO, "restore", work), None);
        wait_for_exit_blockers(Duration::from_secs(10));
        assert!(restored.load(Ordering::Relaxed));
    }

    #[test]
    fn panic_is_an_error() {
        assert!(
            run_unless_stopped(&AtomicBool::new(false), || panic!("expected by the test")).is_err()
        );
    }
}
