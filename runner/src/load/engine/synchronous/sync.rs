//! read(2) and write(2), after an lseek(2) unless the file is already at the offset of the I/O. As
//! in fio, sequential I/O thus needs one system call, and random I/O needs two.

use crate::load::{
    engine::synchronous::{Synchronous, Transfer},
    pattern::io::Io,
};
use rustix::{
    fs::{SeekFrom, seek},
    io::{Errno, read, write},
};
use std::os::fd::{BorrowedFd, OwnedFd};

/// Position of a file whose last I/O failed.
const UNKNOWN: u64 = u64::MAX;

/// Positions of the files, indexed by target. No other thread uses the workers' descriptors.
#[derive(Debug)]
pub(crate) struct Positions(Vec<u64>);

pub(crate) type Sync = Synchronous<Positions>;

impl Sync {
    /// The files must stay open for the lifetime of the engine.
    ///
    /// # Errors
    /// Returns errors from lseek(2).
    pub(crate) fn new(files: &[OwnedFd]) -> Result<Self, Errno> {
        let starts = files.iter().map(|file| seek(file, SeekFrom::Start(0)));
        let positions = starts.collect::<Result<_, _>>()?;
        Ok(Self::with(files, Positions(positions)))
    }
}

impl Positions {
    #[inline(always)]
    fn transfer(
        &mut self,
        file: BorrowedFd<'_>,
        io: &Io,
        call: impl FnOnce() -> Result<usize, Errno>,
    ) -> Result<usize, Errno> {
        let position = &mut self.0[usize::from(io.target)];
        if *position != io.offset {
            *position = UNKNOWN;
            seek(file, SeekFrom::Start(io.offset))?;
        }
        let result = call();
        *position = match result {
            Ok(moved) => io.offset + moved as u64,
            Err(_) => UNKNOWN,
        };
        result
    }
}

impl Transfer for Positions {
    #[inline(always)]
    fn read(&mut self, file: BorrowedFd<'_>, io: &Io, buffer: &mut [u8]) -> Result<usize, Errno> {
        self.transfer(file, io, || read(file, buffer))
    }

    #[inline(always)]
    fn write(&mut self, file: BorrowedFd<'_>, io: &Io, buffer: &[u8]) -> Result<usize, Errno> {
        self.transfer(file, io, || write(file, buffer))
    }
}
