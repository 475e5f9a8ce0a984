//! One text of the kernel's, opened once and read again and again from its beginning.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// An open text of procfs or sysfs.
#[derive(Debug)]
pub struct KernelFile {
    file: File,
    buffer: Vec<u8>,
}

impl KernelFile {
    /// Opens a text of which the first `bytes` matter, and reads it once, since some refuse only then.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn open(path: &Path, bytes: usize) -> io::Result<Self> {
        let book = Self {
            file: File::open(path)?,
            buffer: vec![0; bytes],
        };
        book.file.read_at(&mut [0; 1], 0)?;
        Ok(book)
    }

    /// Its text now; `None` when it cannot be read any more (a device that was taken out).
    pub fn read(&mut self) -> Option<&str> {
        let length = self.file.read_at(&mut self.buffer, 0).ok()?;
        std::str::from_utf8(&self.buffer[..length]).ok()
    }
}
