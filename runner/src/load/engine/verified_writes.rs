//! Prepares the blocks written by a job that uses `verify`, and records the last write to each
//! block. With `verify_backlog`, also checks the blocks that the job reads back.

use crate::load::{
    data::Data,
    engine::is_retryable,
    pattern::io::{Io, Kind},
    verify::{check::check, written_blocks::WrittenBlocks},
};
use std::slice;

pub(crate) struct VerifiedWrites {
    blocks: WrittenBlocks,
    /// New data for each write (`refill_buffers`).
    data: Option<Data>,
    slots: Vec<Slot>,
    read_back: Option<ReadBackChecks>,
}

/// How to check reads. All of the job's reads come from `verify_backlog`.
#[derive(Clone, Copy)]
pub(crate) struct ReadBackChecks {
    /// Whether reads bypass the page cache.
    pub are_direct: bool,
    /// Whether a bad block ends the job.
    pub are_fatal: bool,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    io: Io,
    /// Whether the loop submits the I/O again.
    is_retried: bool,
    /// Destination of a read.
    buffer: *const u8,
}

impl VerifiedWrites {
    /// `slots`: maximum number of I/Os in flight.
    pub(crate) fn new(
        blocks: WrittenBlocks,
        data: Option<Data>,
        slots: usize,
        read_back: Option<ReadBackChecks>,
    ) -> Self {
        Self {
            blocks,
            data,
            slots: vec![Slot::default(); slots],
            read_back,
        }
    }

    pub(crate) fn into_blocks(self) -> WrittenBlocks {
        self.blocks
    }

    /// Prepares a write that is about to be submitted.
    #[inline]
    pub(crate) fn prepare(&mut self, slot: u32, io: &Io, buffer: &mut [u8]) {
        let slot = &mut self.slots[slot as usize];
        if slot.is_retried {
            self.blocks.complete(&slot.io);
        }
        *slot = Slot {
            io: *io,
            ..Slot::default()
        };
        if let Some(data) = &mut self.data {
            data.fill(buffer);
        }
        self.blocks.begin(io, buffer);
    }

    /// Records a read that is about to be submitted.
    #[inline]
    pub(crate) fn read(&mut self, slot: u32, io: &Io, buffer: *mut u8) {
        let slot = &mut self.slots[slot as usize];
        slot.io = *io;
        slot.buffer = buffer;
    }

    /// Records the result of a slot's I/O, and returns it, or -EILSEQ for a bad block that ends the
    /// job. After a failed write, the contents of its blocks are unknown.
    ///
    /// # Safety
    /// The buffer of a read must still be valid for the length of the I/O, and nothing else may
    /// access it.
    #[inline]
    pub(crate) unsafe fn complete(&mut self, slot: u32, result: i32) -> i32 {
        let slot = &mut self.slots[slot as usize];
        let is_complete = result == slot.io.len as i32;
        if slot.io.kind != Kind::Write {
            if let Some(checks) = self.read_back
                && slot.io.kind == Kind::Read
                && is_complete
            {
                let (io, buffer) = (slot.io, slot.buffer);
                // SAFETY: guaranteed by the caller; the kernel has filled the buffer.
                let data = unsafe { slice::from_raw_parts(buffer, io.len as usize) };
                if !self.check(&io, data, checks.are_direct) && checks.are_fatal {
                    // The error that fio returns for a bad block.
                    return -libc::EILSEQ;
                }
            }
            return result;
        }
        if is_complete {
            self.blocks.complete(&slot.io);
        } else {
            slot.is_retried = is_retryable(result);
        }
        result
    }

    /// Checks blocks that were read back. Returns false if one is bad.
    fn check(&mut self, io: &Io, data: &[u8], is_direct: bool) -> bool {
        let mut is_good = true;
        let interval = self.blocks.interval();
        let mut offset = io.offset;
        for block in data.chunks_exact(interval as usize) {
            if let Some(expected) = self.blocks.expected(io.target, offset) {
                let finding = check(self.blocks.format(), block, offset, expected).err();
                is_good &= finding.is_none();
                // The page cache returns good data even if the device has corrupted it, so a block
                // read from the cache is checked again after the measurement.
                if is_direct || finding.is_some() {
                    self.blocks.record_check(io.target, offset, finding);
                }
            }
            offset += interval;
        }
        is_good
    }
}
