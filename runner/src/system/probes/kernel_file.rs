//! A procfs or sysfs file that is opened once and then read repeatedly with pread(2), without
//! resolving its path again.

use std::{fs::File, io, os::unix::fs::FileExt, path::Path};

#[derive(Debug)]
pub(crate) struct KernelFile {
    file: File,
    buffer: Vec<u8>,
}

impl KernelFile {
    /// `bytes`: maximum length to read. Reads one byte to check that the file is readable, because
    /// some files can be opened but not read.
    pub(crate) fn open(path: &Path, bytes: usize) -> io::Result<Self> {
        let mut file = Self {
            file: File::open(path)?,
            buffer: vec![0; bytes],
        };
        file.file.read_at(&mut file.buffer[..1], 0)?;
        Ok(file)
    }

    /// The current contents; `None` if the file can no longer be read, for example because the
    /// device was removed.
    pub(crate) fn read(&mut self) -> Option<&str> {
        let length = self.file.read_at(&mut self.buffer, 0).ok()?;
        std::str::from_utf8(&self.buffer[..length]).ok()
    }
}
