//! How many bytes an I/O has: `bs`, `bsrange` or `bssplit`, and the grid of random offsets.

use crate::plan::asked::Asked;
use crate::plan::defaults::said;
use crate::plan::notes::Notes;
use leadline_protocol::format::bytes;
use leadline_protocol::job::value::{PerDirection, Range, RwKind, Split};
use leadline_protocol::plan::resolved::BlockSizes;

/// The largest I/O. The kernel moves at most 2 GiB less a page in one call (MAX_RW_COUNT); half of it is a round figure
/// that fits, and any larger buffer only waits for memory.
pub(crate) const MAX_BLOCK_BYTES: u64 = 1 << 30;

/// The sizes of a job's I/Os.
#[derive(Debug)]
pub(crate) struct Sizes {
    /// Sizes.
    pub bs: PerDirection<BlockSizes>,
    /// Random offsets are multiples of this many bytes.
    pub blockalign: PerDirection<u64>,
    rw: RwKind,
}

impl Sizes {
    /// Settles them; each direction that the job does is checked.
    pub fn settle(asked: &Asked, notes: &mut Notes) -> Self {
        let (bs, option) = block_sizes(asked, notes);
        let blockalign = match &asked.job.blockalign {
            Some(align) => align.map(|align| align.0),
            None => bs.map(|bs| bs.min),
        };
        let sizes = Self {
            bs,
            blockalign,
            rw: asked.rw.kind,
        };
        sizes
            .used()
            .for_each(|(bs, align)| check(bs, align, option, notes));
        // What was refused goes on as one byte, so that no arithmetic meets a zero.
        let bs = sizes.bs.map(|bs| BlockSizes {
            min: bs.min.max(1),
            max: bs.max.max(1),
            split: bs.split.clone(),
        });
        Self {
            bs,
            blockalign: sizes.blockalign.map(|align| (*align).max(1)),
            ..sizes
        }
    }

    /// Sizes and grid of the directions that the job does.
    pub fn used(&self) -> impl Iterator<Item = (&BlockSizes, u64)> {
        let (bs, align, rw) = (&self.bs, &self.blockalign, self.rw);
        let all = [
            (rw.reads(), &bs.read, align.read),
            (rw.writes(), &bs.write, align.write),
            (rw.trims(), &bs.trim, align.trim),
        ];
        all.into_iter()
            .filter(|(used, ..)| *used)
            .map(|(_, bs, align)| (bs, align))
    }

    /// The smallest I/O of the job in bytes: regions are multiples of it.
    pub fn smallest(&self) -> u64 {
        self.used().map(|(bs, _)| bs.min).min().unwrap_or(1)
    }

    /// The largest I/O of the job in bytes.
    pub fn largest(&self) -> u64 {
        self.used().map(|(bs, _)| bs.max).max().unwrap_or(1)
    }
}

/// The sizes, and the option that said them.
fn block_sizes(asked: &Asked, notes: &mut Notes) -> (PerDirection<BlockSizes>, &'static str) {
    let job = asked.job;
    let said: Vec<&str> = [
        ("bs", job.bs.is_some()),
        ("bsrange", job.bsrange.is_some()),
        ("bssplit", job.bssplit.is_some()),
    ]
    .into_iter()
    .filter_map(|(option, said)| said.then_some(option))
    .collect();
    if said.len() > 1 {
        let sentence = format!(
            "{} are said together, and only one of them can count.",
            said.join(" and ")
        );
        notes.invalid(
            "sizes_said_twice",
            said[0],
            sentence,
            "Keep the one that is meant.",
        );
    }
    if let Some(split) = &job.bssplit {
        (split.map(|split| from_split(split, notes)), "bssplit")
    } else if let Some(range) = &job.bsrange {
        (range.map(from_range), "bsrange")
    } else {
        (
            said!(job, bs).map(|bs| BlockSizes {
                min: bs.0,
                max: bs.0,
                split: Vec::new(),
            }),
            "bs",
        )
    }
}

/// The largest is rounded down to a multiple of the smallest, as all sizes are.
fn from_range(range: &Range) -> BlockSizes {
    BlockSizes {
        min: range.min,
        max: range.max - range.max % range.min,
        split: Vec::new(),
    }
}

fn from_split(split: &Split, notes: &mut Notes) -> BlockSizes {
    let entries: Vec<_> = split
        .0
        .iter()
        .copied()
        .filter(|entry| entry.percent > 0)
        .collect();
    let min = entries.iter().map(|entry| entry.bytes).min().unwrap_or(1);
    let max = entries.iter().map(|entry| entry.bytes).max().unwrap_or(1);
    if let Some(odd) = entries.iter().find(|entry| entry.bytes % min != 0) {
        let sentence = format!(
            "{} is no multiple of {}, the smallest size of the split; fio would round it down.",
            bytes(odd.bytes),
            bytes(min)
        );
        notes.invalid(
            "split_not_multiple",
            "bssplit",
            sentence,
            format!("Use multiples of {min} bytes."),
        );
    }
    BlockSizes {
        min,
        max,
        split: if min == max { Vec::new() } else { entries },
    }
}

fn check(bs: &BlockSizes, align: u64, option: &str, notes: &mut Notes) {
    if bs.min == 0 {
        notes.invalid(
            "out_of_range",
            option,
            "An I/O of 0 bytes moves nothing.",
            "Write a size such as bs=4k.",
        );
    }
    if bs.max > MAX_BLOCK_BYTES {
        let sentence = format!(
            "An I/O of {} is more than the kernel moves in one call.",
            bytes(bs.max)
        );
        notes.invalid(
            "out_of_range",
            option,
            sentence,
            format!("Use at most {}.", bytes(MAX_BLOCK_BYTES)),
        );
    }
    if align == 0 && bs.min > 0 {
        notes.invalid(
            "out_of_range",
            "blockalign",
            "Offsets cannot be multiples of 0 bytes.",
            "Leave blockalign out, or write the block size.",
        );
    }
}
