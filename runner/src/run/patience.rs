//! Waiting for a system call that nothing can interrupt, as long as nobody asks for an end.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

use super::stop::Stop;

/// How often to look whether an end was asked for.
const LOOK: Duration = Duration::from_millis(20);

/// Does the work in a thread of its own and returns what came of it; `None` where an end was asked for meanwhile. The thread goes on
/// until the kernel lets it go.
///
/// # Errors
/// Where the system gives no thread, or the work panicked.
pub fn unless_stopped<T: Send + 'static>(stop: &Stop, work: impl FnOnce() -> T + Send + 'static) -> io::Result<Option<T>> {
    let (tell, told) = channel();
    Builder::new().name("flush".into()).spawn(move || drop(tell.send(work())))?;
    loop {
        match told.recv_timeout(LOOK) {
            Ok(result) => return Ok(Some(result)),
            Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("the thread of the flush panicked")),
            Err(RecvTimeoutError::Timeout) if stop.is_requested() => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_is_told() {
        assert_eq!(unless_stopped(&Stop::default(), || 7).unwrap(), Some(7));
    }

    #[test]
    fn who_asks_for_an_end_does_not_wait() {
        let stop = Stop::default();
        stop.request();
        let (_never, forever) = channel::<()>();
        assert_eq!(unless_stopped(&stop, move || forever.recv().is_ok()).unwrap(), None);
    }

    #[test]
    fn a_panic_is_an_error() {
        assert!(unless_stopped(&Stop::default(), || panic!("as a bug might")).is_err());
    }
}
