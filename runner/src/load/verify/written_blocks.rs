//! Tracks the last write to each of a worker's blocks.

use crate::{
    load::{
        pattern::io::Io,
        verify::{checked_blocks::CheckedBlocks, finding::Finding, format::Format},
    },
    plan::verify::TABLE_ENTRY_BYTES,
};
use leadline_protocol::plan::job::{ResolvedJob, VerifyOptions};
use std::hint::black_box;

/// Number of low bits of each write number that the table stores. A lost write is not detected if
/// the number of blocks written between it and the block's previous write is a multiple of 2^24.
const NUMBER_BITS: u32 = 24;
const NUMBER_MASK: u32 = (1 << NUMBER_BITS) - 1;
/// Maximum number of writes in flight that the table counts. If there are more, the block is
/// treated as unknown.
const MAX_IN_FLIGHT: u32 = 127;
const OVERLAPPED: u32 = 1 << 31;
/// Odd multipliers with irregular bits, so the write numbers of different workers and runs do not
/// overlap.
const RUN_MULTIPLIER: u64 = 0xd6e8_feb8_6659_fd93;
const WORKER_STRIDE: u64 = 0xda94_2042_e4dd_58b5;

/// Number of the last write (bits 0 to 23), number of writes in flight (24 to 30), and whether the
/// last writes were concurrent (31).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct BlockEntry(u32);

const _: () = assert!(size_of::<BlockEntry>() as u64 == TABLE_ENTRY_BYTES);

impl BlockEntry {
    fn in_flight(self) -> u32 {
        self.0 >> NUMBER_BITS & MAX_IN_FLIGHT
    }

    fn begin(&mut self, number: u64) {
        let in_flight = self.in_flight();
        let overlapped = if in_flight > 0 { OVERLAPPED } else { 0 };
        let in_flight = (in_flight + 1).min(MAX_IN_FLIGHT);
        self.0 = number as u32 & NUMBER_MASK | in_flight << NUMBER_BITS | overlapped;
    }

    fn complete(&mut self) {
        if (1..MAX_IN_FLIGHT).contains(&self.in_flight()) {
            self.0 -= 1 << NUMBER_BITS;
        }
    }
}

/// One worker's write numbers in one run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Writes {
    /// Number before the first write; different for each worker and run.
    base: u64,
    count: u64,
}

impl Writes {
    /// Position of a write among the worker's writes, from 1; `None` if the write is from another
    /// worker or run.
    pub(crate) fn position(&self, number: u64) -> Option<u64> {
        let position = number.wrapping_sub(self.base);
        (1..=self.count).contains(&position).then_some(position)
    }
}

/// Data that a block must contain.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Expected {
    /// Any write from any run.
    AnyWrite,
    /// Any write by this worker in this run, because the last writes were concurrent.
    Overlapped(Writes),
    /// A write by this worker in this run, identified by the low bits of its position.
    LastWrite(Writes, u32),
}

impl Expected {
    pub(crate) fn accepts(&self, number: u64) -> bool {
        match self {
            Self::AnyWrite => true,
            Self::Overlapped(writes) => writes.position(number).is_some(),
            Self::LastWrite(writes, last) => writes
                .position(number)
                .is_some_and(|position| position as u32 & NUMBER_MASK == *last),
        }
    }
}

/// A block's state in the table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum BlockState {
    /// Not written by this run.
    Untouched,
    /// A write failed, or was still in flight when the run ended.
    Unknown,
    Written(Expected),
}

#[derive(Debug)]
struct TargetBlocks {
    /// Start of the region in the target, in bytes.
    begin: u64,
    entries: Vec<BlockEntry>,
}

/// The last write to every block in one worker's regions.
#[derive(Debug)]
pub(crate) struct WrittenBlocks {
    interval: u64,
    format: Format,
    worker: u32,
    writes: Writes,
    targets: Vec<TargetBlocks>,
    /// Blocks that were checked between writes. They count as untouched until their next write.
    checked: CheckedBlocks,
}

impl WrittenBlocks {
    /// `run` differs between runs.
    pub(crate) fn new(job: &ResolvedJob, options: &VerifyOptions, worker: u32, run: u64) -> Self {
        let interval = options.interval;
        let targets = job.targets_of(worker).map(|(_, target)| {
            let blocks = usize::try_from(target.size / interval).unwrap_or(0);
            let mut entries = vec![BlockEntry(black_box(1)); blocks];
            // Touch all pages here so that the measuring loop causes no page faults.
            entries.fill(BlockEntry::default());
            TargetBlocks {
                begin: target.offset,
                entries,
            }
        });
        let worker_seed = WORKER_STRIDE.wrapping_mul(u64::from(worker));
        Self {
            interval,
            format: Format::new(options, &job.data),
            worker,
            writes: Writes {
                base: run.wrapping_add(worker_seed).wrapping_mul(RUN_MULTIPLIER),
                count: 0,
            },
            targets: targets.collect(),
            checked: CheckedBlocks::default(),
        }
    }

    pub(crate) fn format(&self) -> &Format {
        &self.format
    }

    /// Size of a block in bytes.
    pub(crate) fn interval(&self) -> u64 {
        self.interval
    }

    pub(crate) fn checked(&self) -> &CheckedBlocks {
        &self.checked
    }

    /// What the block at an offset of a target must contain; `None` if this is unknown, or if the
    /// block has not been written since it was last checked.
    pub(crate) fn expected(&self, target: u16, offset: u64) -> Option<Expected> {
        let target = usize::from(target);
        let block = (offset - self.targets[target].begin) / self.interval;
        match self.state(target, block as usize) {
            BlockState::Written(expected) => Some(expected),
            BlockState::Untouched | BlockState::Unknown => None,
        }
    }

    /// Records the result of checking a block, which is not checked again until its next write.
    pub(crate) fn record_check(&mut self, target: u16, offset: u64, finding: Option<Finding>) {
        let interval = self.interval;
        let block = (offset - self.targets[usize::from(target)].begin) / interval;
        if let Some(entry) = self.entry(target, block as usize) {
            *entry = BlockEntry::default();
        }
        self.checked.add(interval, target, offset, finding);
    }

    /// Numbers, prepares and records the blocks of a write.
    #[inline]
    pub(crate) fn begin(&mut self, io: &Io, data: &mut [u8]) {
        let interval = self.interval as usize;
        let first = self.first_block(io);
        let mut offset = io.offset;
        for (index, bytes) in data.chunks_exact_mut(interval).enumerate() {
            let number = self.next_number();
            self.format.prepare(bytes, offset, number, self.worker);
            let position = number.wrapping_sub(self.writes.base);
            if let Some(entry) = self.entry(io.target, first + index) {
                entry.begin(position);
            }
            offset += self.interval;
        }
    }

    /// Records that all bytes of a write were accepted.
    #[inline]
    pub(crate) fn complete(&mut self, io: &Io) {
        let first = self.first_block(io);
        for index in 0..(u64::from(io.len) / self.interval) as usize {
            if let Some(entry) = self.entry(io.target, first + index) {
                entry.complete();
            }
        }
    }

    /// `block`: index in the target's region.
    pub(crate) fn state(&self, target: usize, block: usize) -> BlockState {
        let entry = self.targets[target].entries[block];
        let last = entry.0 & NUMBER_MASK;
        if last == 0 {
            BlockState::Untouched
        } else if entry.in_flight() > 0 {
            BlockState::Unknown
        } else if entry.0 & OVERLAPPED > 0 {
            BlockState::Written(Expected::Overlapped(self.writes))
        } else {
            BlockState::Written(Expected::LastWrite(self.writes, last))
        }
    }

    /// The table stores 0 for blocks that were not written, so numbers whose low bits are 0 are
    /// skipped.
    fn next_number(&mut self) -> u64 {
        self.writes.count += 1;
        if self.writes.count as u32 & NUMBER_MASK == 0 {
            self.writes.count += 1;
        }
        self.writes.base.wrapping_add(self.writes.count)
    }

    fn first_block(&self, io: &Io) -> usize {
        let begin = self.targets[usize::from(io.target)].begin;
        ((io.offset - begin) / self.interval) as usize
    }

    fn entry(&mut self, target: u16, block: usize) -> Option<&mut BlockEntry> {
        self.targets[usize::from(target)].entries.get_mut(block)
    }
}
