//! Writes of a job with `verify`: prepares their blocks, and records the last write to each block.

use crate::load::{
    data::Data,
    engine::is_retryable,
    pattern::io::{Io, Kind},
    verify::written_blocks::WrittenBlocks,
};

pub(crate) struct VerifiedWrites {
    blocks: WrittenBlocks,
    /// New data for each write (`refill_buffers`).
    data: Option<Data>,
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    io: Io,
    /// Whether the loop submits the I/O again.
    is_retried: bool,
}

impl VerifiedWrites {
    /// `slots`: maximum number of I/Os in flight.
    pub(crate) fn new(blocks: WrittenBlocks, data: Option<Data>, slots: usize) -> Self {
        Self {
            blocks,
            data,
            slots: vec![Slot::default(); slots],
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
            is_retried: false,
        };
        if let Some(data) = &mut self.data {
            data.fill(buffer);
        }
        self.blocks.begin(io, buffer);
    }

    /// Skips a read of a mixed job that is about to be submitted.
    #[inline]
    pub(crate) fn skip(&mut self, slot: u32, io: &Io) {
        self.slots[slot as usize].io = *io;
    }

    /// Records the result of a slot's I/O. The blocks of a failed write stay unknown.
    #[inline]
    pub(crate) fn complete(&mut self, slot: u32, result: i32) {
        let slot = &mut self.slots[slot as usize];
        if slot.io.kind != Kind::Write {
            return;
        }
        if result == slot.io.len as i32 {
            self.blocks.complete(&slot.io);
        } else {
            slot.is_retried = is_retryable(result);
        }
    }
}
