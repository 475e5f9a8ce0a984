//! preadv(2) and pwritev(2), and preadv2(2) and pwritev2(2) with flags, each with one buffer.

use crate::load::{
    engine::synchronous::{Synchronous, Transfer},
    pattern::io::Io,
};
use rustix::io::{Errno, ReadWriteFlags, preadv, preadv2, pwritev, pwritev2};
use std::{
    io::{IoSlice, IoSliceMut},
    os::fd::{BorrowedFd, OwnedFd},
};

#[derive(Debug)]
pub(crate) struct Vectored;

pub(crate) type Pvsync = Synchronous<Vectored>;

impl Pvsync {
    /// The files must stay open for the lifetime of the engine.
    pub(crate) fn new(files: &[OwnedFd]) -> Self {
        Self::with(files, Vectored)
    }
}

impl Transfer for Vectored {
    #[inline(always)]
    fn read(&mut self, file: BorrowedFd<'_>, io: &Io, buffer: &mut [u8]) -> Result<usize, Errno> {
        preadv(file, &mut [IoSliceMut::new(buffer)], io.offset)
    }

    #[inline(always)]
    fn write(&mut self, file: BorrowedFd<'_>, io: &Io, buffer: &[u8]) -> Result<usize, Errno> {
        pwritev(file, &[IoSlice::new(buffer)], io.offset)
    }
}

#[derive(Debug)]
pub(crate) struct Flagged(ReadWriteFlags);

pub(crate) type Pvsync2 = Synchronous<Flagged>;

impl Pvsync2 {
    /// The files must stay open for the lifetime of the engine. `hipri`: poll for the completion of
    /// direct I/O (RWF_HIPRI).
    pub(crate) fn new(files: &[OwnedFd], hipri: bool) -> Self {
        let mut flags = ReadWriteFlags::empty();
        flags.set(ReadWriteFlags::HIPRI, hipri);
        Self::with(files, Flagged(flags))
    }
}

impl Transfer for Flagged {
    #[inline(always)]
    fn read(&mut self, file: BorrowedFd<'_>, io: &Io, buffer: &mut [u8]) -> Result<usize, Errno> {
        preadv2(file, &mut [IoSliceMut::new(buffer)], io.offset, self.0)
    }

    #[inline(always)]
    fn write(&mut self, file: BorrowedFd<'_>, io: &Io, buffer: &[u8]) -> Result<usize, Errno> {
        pwritev2(file, &[IoSlice::new(buffer)], io.offset, self.0)
    }
}
