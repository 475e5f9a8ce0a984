//! Waiting for a system call that nothing can interrupt, as long as nobody asks for an end.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

/// How often to look whether an end was asked for.
const LOOK: Duration = Duration::from_millis(20);

/// Does the work in a thread of its own and returns what came of it; `None` where an end was asked for before, or meanwhile: then
/// the thread goes on until the kernel lets it go.
///
/// # Errors
/// Where the system gives no thread, or the work panicked.
pub fn run_unless_stopped<T: Send + 'static>(
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Option<T>> {
    let is_stopped = || stop.load(Ordering::Relaxed);
    if is_stopped() {
        return Ok(None);
    }
    let (tell, told) = channel();
    Builder::new()
        .name("patience".into())
        .spawn(move || drop(tell.send(work())))?;
    loop {
        match told.recv_timeout(LOOK) {
            Ok(result) => return Ok(Some(result)),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("its thread panicked"));
            }
            Err(RecvTimeoutError::Timeout) if is_stopped() => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn what_is_done_is_told() {
        assert_eq!(
            run_unless_stopped(&AtomicBool::new(false), || 7).unwrap(),
            Some(7)
        );
    }

    #[test]
    fn who_asks_for_an_end_does_not_wait() {
        let stop = Arc::new(AtomicBool::new(false));
        let (asked, (_never, forever)) = (stop.clone(), channel::<()>());
        let work = move || {
            asked.store(true, Ordering::Relaxed);
            forever.recv().is_ok()
        };
        assert_eq!(run_unless_stopped(&stop, work).unwrap(), None);
        assert!(
            run_unless_stopped(&stop, || panic!("as what is not to begin"))
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn a_panic_is_an_error() {
        assert!(run_unless_stopped(&AtomicBool::new(false), || panic!("as a bug might")).is_err());
    }
}
