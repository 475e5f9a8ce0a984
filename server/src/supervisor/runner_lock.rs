//! Whether the runners of the last server are gone. This server and every runner that it starts hold one lock together, shared:
//! the file is open in each of them, so that the kernel lets it go with the last. The next server waits until it can have it
//! alone.

use rustix::fs::{FlockOperation, flock};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// The file's name in the data directory.
const NAME: &str = "runners";
/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(50);
/// A runner whose server died stops within this time; one that does not is worth a word.
const USUALLY_WITHIN: Duration = Duration::from_secs(2);

/// Waits until nobody of the last server is left, and then holds the lock with all runners that are started from now on.
///
/// # Errors
/// The file cannot be made, or the filesystem keeps no locks.
pub async fn gather(data_dir: &Path) -> std::io::Result<File> {
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(data_dir.join(NAME))?;
    let began = Instant::now();
    let mut told = false;
    while let Err(error) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
        if error != Errno::WOULDBLOCK {
            return Err(error.into());
        }
        if !told && began.elapsed() > USUALLY_WITHIN {
            tracing::warn!(
                "a runner of the last server is still there; nothing starts before it is gone"
            );
            told = true;
        }
        sleep(PAUSE).await;
    }
    flock(&file, FlockOperation::LockShared)?;
    // Programs started from now on have it open as well.
    fcntl_setfd(&file, FdFlags::empty())?;
    Ok(file)
}
