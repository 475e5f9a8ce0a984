//! Lock on the data directory. It prevents two servers that use the same directory from starting
//! the same runs.

use crate::lock_holder::{LockKind, lock_holder};
use anyhow::Context;
use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};
use std::{
    fs::File,
    io::{Seek, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    time::{Duration, Instant},
};

/// Grace period: a killed server's lock is held until the runner process that it was starting has
/// called exec.
const WAIT: Duration = Duration::from_secs(1);
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// Releases the lock when dropped.
pub(crate) struct DataDirLock {
    /// File with the server's address. It is also locked, because servers from earlier versions
    /// lock only this file.
    file: File,
    /// The lock is on the directory because, unlike a file, it cannot be removed and recreated.
    _directory: File,
}

impl DataDirLock {
    pub(crate) async fn acquire(data_dir: &Path) -> anyhow::Result<Self> {
        let path = data_dir.join("lock");
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)?;
        let directory = File::open(data_dir)?;
        let started = Instant::now();
        loop {
            match try_lock(&directory).and_then(|()| try_lock(&file)) {
                Ok(()) => {
                    return Ok(Self {
                        file,
                        _directory: directory,
                    });
                }
                Err(Errno::WOULDBLOCK) if started.elapsed() < WAIT => {
                    tokio::time::sleep(RETRY_INTERVAL).await;
                }
                Err(Errno::WOULDBLOCK) => anyhow::bail!(in_use_message(data_dir, &path)),
                Err(error) => {
                    return Err(error).with_context(|| format!("locking {}", path.display()));
                }
            }
        }
    }

    pub(crate) fn write_address(&mut self, address: &str) -> anyhow::Result<()> {
        self.file.rewind()?;
        self.file.set_len(0)?;
        writeln!(self.file, "{address}")?;
        Ok(())
    }
}

fn try_lock(file: &File) -> Result<(), Errno> {
    flock(file, FlockOperation::NonBlockingLockExclusive)
}

/// `lock`: the file with the other server's address, unless it was removed.
fn in_use_message(data_dir: &Path, lock: &Path) -> String {
    let holder = lock_holder(data_dir, LockKind::Flock);
    let server = holder.map_or_else(String::new, |holder| format!(" ({holder})"));
    let address = std::fs::read_to_string(lock).unwrap_or_default();
    let remedy = match address.trim() {
        "" => "stop it".into(),
        address => format!("open {address}"),
    };
    format!(
        "{} is in use by another server{server}: {remedy}, or choose another --data-dir",
        data_dir.display()
    )
}
