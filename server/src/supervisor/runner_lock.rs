//! Detects runners started by a previous server process. The server and all of its runners share a
//! lock through the same open file, which the runners inherit. The kernel releases the lock when
//! the last of these processes exits. The next server process waits for an exclusive lock.

use rustix::{
    fs::{FlockOperation, flock},
    io::{Errno, FdFlags, fcntl_setfd},
};
use std::{
    fs::File,
    path::Path,
    time::{Duration, Instant},
};
use tokio::time::sleep;

/// File in the data directory.
const FILE_NAME: &str = "runners";
const RETRY_INTERVAL: Duration = Duration::from_millis(50);
/// Runners usually exit within this time after the server has exited.
const WARN_AFTER: Duration = Duration::from_secs(2);

/// Waits until all runners of the previous server have exited, and returns the lock for new runners
/// to inherit.
pub(super) async fn acquire(data_dir: &Path) -> std::io::Result<File> {
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(data_dir.join(FILE_NAME))?;
    let began = Instant::now();
    let mut warned = false;
    while let Err(error) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
        if error != Errno::WOULDBLOCK {
            return Err(error.into());
        }
        if !warned && began.elapsed() > WARN_AFTER {
            tracing::warn!("waiting for the previous server's runners to exit");
            warned = true;
        }
        sleep(RETRY_INTERVAL).await;
    }
    flock(&file, FlockOperation::LockShared)?;
    // Lets child processes inherit the descriptor.
    fcntl_setfd(&file, FdFlags::empty())?;
    Ok(file)
}
