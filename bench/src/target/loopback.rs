//! A loop device over a file of random data. The device is told to go away as soon as nobody holds it (autoclear), and
//! the file has no name any more: whatever ends the bench, nothing is left behind.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::NamedTempFile;

use super::file::fill;
use super::{DEVICE_MIB, Target, need_root, system};
use crate::work::Work;

/// A loop device.
pub struct Loopback {
    path: PathBuf,
    /// Holding it open is what keeps it.
    _held: File,
}

impl Loopback {
    /// Over a new file in `folder`; `direct` makes the device's own I/O bypass that filesystem's page cache.
    ///
    /// # Errors
    /// What losetup(8) or the system says.
    pub fn new(folder: &Path, direct: bool) -> Result<Self> {
        need_root("a loop device")?;
        let mut image = NamedTempFile::new_in(folder)?;
        fill(image.as_file_mut(), DEVICE_MIB)?;
        image.as_file().sync_all()?;
        let name = image
            .path()
            .to_str()
            .context("the folder's name is not UTF-8")?;
        let direct_io = format!("--direct-io={}", if direct { "on" } else { "off" });
        let path = PathBuf::from(system("losetup", &["--find", "--show", &direct_io, name])?);
        let held = File::open(&path);
        system("losetup", &["--detach", &path.to_string_lossy()])?;
        Ok(Self { _held: held?, path })
    }
}

impl Target for Loopback {
    fn path(&self) -> &Path {
        &self.path
    }

    fn prepare(&self, _work: &Work) -> Result<()> {
        Ok(())
    }
}
