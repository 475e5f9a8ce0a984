//! Block sizes from `bs`, `bsrange` or `bssplit`, and the alignment of random offsets.

use crate::plan::{issues::Issues, job_request::JobRequest};
use leadline_protocol::{
    format::bytes,
    job::{
        direction::PerDirection,
        range::MAX_BLOCK_BYTES,
        rw::RwKind,
        size::{SizeRange, Split},
    },
    plan::job::BlockSizes,
};

/// Block sizes and alignment for each direction, in bytes.
#[derive(Debug)]
pub(crate) struct JobBlockSizes {
    pub bs: PerDirection<BlockSizes>,
    /// Alignment of random offsets.
    pub blockalign: PerDirection<u64>,
    /// Sizes of sequential I/Os in a random pattern, if they differ.
    pub sequential: Option<BlockSizes>,
    rw: RwKind,
}

impl JobBlockSizes {
    pub(crate) fn resolve(request: &JobRequest, issues: &mut Issues) -> Self {
        let (given, option) = block_sizes(request, issues);
        let (bs, sequential) = sizes_by_randomness(request, given);
        let blockalign = match &request.job.blockalign {
            Some(align) => align.map(|align| align.0),
            None => bs.map(|bs| bs.min),
        };
        let mut sizes = Self {
            bs,
            blockalign,
            sequential,
            rw: request.rw.kind,
        };
        check_unaligned(request, issues);
        for (bs, align) in sizes.used() {
            check(bs, align, option, issues);
        }
        // Sizes of 0, which are rejected, become 1 to avoid divisions by zero.
        let not_zero = |bs: &BlockSizes| BlockSizes {
            min: bs.min.max(1),
            max: bs.max.max(1),
            ..bs.clone()
        };
        sizes.bs = sizes.bs.map(not_zero);
        sizes.sequential = sizes.sequential.as_ref().map(not_zero);
        sizes.blockalign = sizes.blockalign.map(|align| (*align).max(1));
        sizes
    }

    /// Sizes and alignment of the directions that the pattern uses.
    pub(crate) fn used(&self) -> impl Iterator<Item = (&BlockSizes, u64)> {
        let bs = &self.bs;
        let align = &self.blockalign;
        let read = self.rw.reads().then_some((&bs.read, align.read));
        let write = self.rw.writes().then_some((&bs.write, align.write));
        let trim = self.rw.trims().then_some((&bs.trim, align.trim));
        let sequential = self.sequential.as_ref().map(|bs| (bs, bs.min));
        [read, write, trim, sequential].into_iter().flatten()
    }

    /// The job's smallest I/O. Region lengths are multiples of it.
    pub(crate) fn smallest(&self) -> u64 {
        self.used().map(|(bs, _)| bs.min).min().unwrap_or(1)
    }

    pub(crate) fn largest(&self) -> u64 {
        self.used().map(|(bs, _)| bs.max).max().unwrap_or(1)
    }
}

/// Block sizes, and the option that sets them.
fn block_sizes(
    request: &JobRequest,
    issues: &mut Issues,
) -> (PerDirection<BlockSizes>, &'static str) {
    let job = request.job;
    let bs = job.bs.as_ref().map(|_| "bs");
    let range = job.bsrange.as_ref().map(|_| "bsrange");
    let split = job.bssplit.as_ref().map(|_| "bssplit");
    let given: Vec<&str> = [bs, range, split].into_iter().flatten().collect();
    if given.len() > 1 {
        let detail = format!("{} are mutually exclusive.", given.join(" and "));
        let remedy = "Keep one of them.";
        issues.invalid("conflicting_options", given[0], detail, remedy);
    }
    let unaligned = job.bs_unaligned();
    if let Some(split) = &job.bssplit {
        let sizes = split.map(|split| from_split(split, unaligned, issues));
        (sizes, "bssplit")
    } else if let Some(range) = &job.bsrange {
        (range.map(|range| from_range(range, unaligned)), "bsrange")
    } else {
        let fixed = job.bs().map(|bs| BlockSizes {
            min: bs.0,
            max: bs.0,
            split: Vec::new(),
            unaligned: false,
        });
        (fixed, "bs")
    }
}

/// Applies `bs_is_seq_rand`: the size of reads applies to sequential I/Os, and the size of writes
/// to random ones (fio io_u.c, `get_next_buflen`). Returns the sizes by direction, and those of
/// sequential I/Os in a random pattern.
fn sizes_by_randomness(
    request: &JobRequest,
    bs: PerDirection<BlockSizes>,
) -> (PerDirection<BlockSizes>, Option<BlockSizes>) {
    let job = request.job;
    if !job.bs_is_seq_rand() {
        return (bs, None);
    }
    if !request.rw.kind.is_random() {
        return (PerDirection::same(bs.read), None);
    }
    let percent = job.percentage_random();
    let is_mixed = request.rw.modifier.is_some_and(|ios| ios > 1)
        || [percent.read, percent.write, percent.trim]
            .iter()
            .any(|percent| percent.0 < 100);
    let sequential = (is_mixed && bs.read != bs.write).then_some(bs.read);
    (PerDirection::same(bs.write), sequential)
}

fn check_unaligned(request: &JobRequest, issues: &mut Issues) {
    if request.job.bs_unaligned() && request.direct && !request.is_null() {
        issues.invalid(
            "conflicting_options",
            "bs_unaligned",
            "bs_unaligned requires direct=0: direct I/O must be aligned to device blocks.",
            "Set direct=0, or remove bs_unaligned.",
        );
    }
}

/// The maximum is rounded down to a multiple of the minimum, unless sizes are unaligned.
fn from_range(range: &SizeRange, unaligned: bool) -> BlockSizes {
    let rest = if unaligned { 0 } else { range.max % range.min };
    BlockSizes {
        min: range.min,
        max: range.max - rest,
        split: Vec::new(),
        unaligned: unaligned && range.min < range.max,
    }
}

fn from_split(split: &Split, unaligned: bool, issues: &mut Issues) -> BlockSizes {
    let mut entries = split.0.clone();
    entries.retain(|entry| entry.percent > 0);
    let sizes = || entries.iter().map(|entry| entry.bytes);
    let min = sizes().min().unwrap_or(1);
    let max = sizes().max().unwrap_or(1);
    if let Some(odd) = sizes().find(|size| size % min != 0 && !unaligned) {
        let detail = format!(
            "{} is not a multiple of {}, the smallest size in bssplit.",
            bytes(odd),
            bytes(min)
        );
        let remedy =
            format!("Use multiples of {min} bytes, or bs_unaligned=1; fio would round down.");
        issues.invalid("split_not_multiple", "bssplit", detail, remedy);
    }
    if min == max {
        entries.clear();
    }
    BlockSizes {
        min,
        max,
        split: entries,
        unaligned: unaligned && min < max,
    }
}

fn check(bs: &BlockSizes, align: u64, option: &str, issues: &mut Issues) {
    let mut out_of_range = |option: &str, detail: String, remedy: &str| {
        issues.invalid("out_of_range", option, detail, remedy);
    };
    if bs.min == 0 {
        let detail = format!("{option} must be greater than 0 bytes.");
        out_of_range(option, detail, "Use a size such as bs=4k.");
    }
    if bs.max > MAX_BLOCK_BYTES {
        let detail = format!("{option} must be at most {}.", bytes(MAX_BLOCK_BYTES));
        out_of_range(option, detail, "Use a smaller block size.");
    }
    if align == 0 && bs.min > 0 {
        let detail = "blockalign must be greater than 0 bytes.".into();
        out_of_range(
            "blockalign",
            detail,
            "Remove blockalign, or use the block size.",
        );
    }
}
