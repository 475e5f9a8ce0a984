//! Lock of the data directory: two servers on the same data would start the same runs.

use anyhow::Context;
use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};
use std::{
    fs::File,
    io::{Read, Seek, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    time::{Duration, Instant},
};

/// The lock of a killed server is held until the runner that it was starting has called exec.
const WAIT: Duration = Duration::from_secs(1);
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// Released when dropped.
pub(crate) struct DataDirLock {
    /// Contains the address of the server. Locked for servers of earlier versions.
    file: File,
    /// Cannot be removed and created again, unlike the file.
    _directory: File,
}

impl DataDirLock {
    pub(crate) async fn acquire(data_dir: &Path) -> anyhow::Result<Self> {
        let path = data_dir.join("lock");
        let mut file = File::options()
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
                Err(Errno::WOULDBLOCK) => {
                    let mut address = String::new();
                    file.read_to_string(&mut address)?;
                    let open = match address.trim() {
                        "" => "stop it".into(),
                        address => format!("open {address}"),
                    };
                    anyhow::bail!(
                        "{} is in use by another server: {open}, or choose another --data-dir",
                        data_dir.display(),
                    )
                }
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
