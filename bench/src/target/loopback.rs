//! A loop device backed by a file of random data. It is detached as soon as it is closed
//! (autoclear), and the file is unlinked, so nothing is left behind.

use super::{
    file::fill,
    interface::Target,
    system::{require_root, system},
};
use crate::work::Work;
use anyhow::{Context, Result};
use std::{
    fs::File,
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

pub struct Loopback {
    path: PathBuf,
    /// Open descriptor that keeps the device attached.
    _open: File,
}

impl Loopback {
    /// If `direct` is true, the device bypasses the page cache of `folder`'s filesystem.
    pub fn new(folder: &Path, mib: u64, direct: bool) -> Result<Self> {
        require_root("a loop device")?;
        let mut image = NamedTempFile::new_in(folder)?;
        fill(image.as_file_mut(), mib)?;
        image.as_file().sync_all()?;
        let name = image
            .path()
            .to_str()
            .context("the path of the loop image is not UTF-8")?;
        let direct_io = format!("--direct-io={}", if direct { "on" } else { "off" });
        let path = PathBuf::from(system("losetup", &["--find", "--show", &direct_io, name])?);
        let open = File::open(&path);
        system("losetup", &["--detach", &path.to_string_lossy()])?;
        Ok(Self { _open: open?, path })
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
