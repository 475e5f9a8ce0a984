//! pread(2) and pwrite(2).

use crate::load::{
    engine::synchronous::{Synchronous, Transfer},
    pattern::io::Io,
};
use rustix::io::{Errno, pread, pwrite};
use std::os::fd::{BorrowedFd, OwnedFd};

#[derive(Debug)]
pub(crate) struct Positional;

pub(crate) type Psync = Synchronous<Positional>;

impl Psync {
    /// The files must stay open for the lifetime of the engine.
    pub(crate) fn new(files: &[OwnedFd]) -> Self {
        Self::with(files, Positional)
    }
}

impl Transfer for Positional {
    #[inline(always)]
    fn read(&mut self, file: BorrowedFd<'_>, io: &Io, buffer: &mut [u8]) -> Result<usize, Errno> {
        pread(file, buffer, io.offset)
    }

    #[inline(always)]
    fn write(&mut self, file: BorrowedFd<'_>, io: &Io, buffer: &[u8]) -> Result<usize, Errno> {
        pwrite(file, buffer, io.offset)
    }
}
