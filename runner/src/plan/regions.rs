//! Resolves target regions in bytes from sizes, offsets and percentages. A region that does not fit
//! is rejected; fio would silently shrink it. If `filesize` exceeds the file's share of `size`, the
//! region is the whole file, and `size` limits only the bytes transferred, as in fio.

use crate::plan::{
    block_sizes::JobBlockSizes, issues::Issues, job_request::JobRequest, space_budget::SpaceBudget,
    target_paths::TargetPath, zones,
};
use leadline_protocol::{
    format::bytes,
    job::{
        direction::PerDirection, distribution::Distribution, range::MAX_JSON_INTEGER, size::Extent,
    },
    plan::target::TargetKind,
};

/// Default target length for `ioengine=null`: 1 GiB.
const NULL_BYTES: u64 = 1 << 30;

const SMALLER_REGION: &str = "Use a smaller size, offset or offset_increment.";
const SMALLER_OFFSET: &str = "Use a smaller offset or offset_increment.";

#[derive(Clone, Debug)]
pub(crate) struct Region {
    /// Index of the target path.
    pub path: usize,
    /// `None` if all workers share the region.
    pub worker: Option<u32>,
    /// Start of the region in bytes.
    pub begin: u64,
    /// Length in bytes; a multiple of the smallest I/O.
    pub len: u64,
}

impl Region {
    /// End of the region in bytes.
    pub(crate) fn end(&self) -> u64 {
        self.begin + self.len
    }
}

#[derive(Debug)]
pub(crate) struct Regions {
    pub list: Vec<Region>,
    /// Start of the first worker's region in the first target, in bytes.
    pub offset: u64,
    /// Distance between the workers' regions, in bytes.
    pub increment: u64,
}

impl Regions {
    pub(crate) fn of_path(&self, path: usize) -> impl Iterator<Item = &Region> {
        self.list.iter().filter(move |region| region.path == path)
    }
}

/// Returns `None` if there are no valid regions; the problems are added to `issues`.
pub(crate) fn resolve(
    request: &JobRequest,
    sizes: &JobBlockSizes,
    paths: &[TargetPath],
    budget: &SpaceBudget,
    issues: &mut Issues,
) -> Option<Regions> {
    let mut regions = Regions {
        list: Vec::new(),
        offset: 0,
        increment: 0,
    };
    for (index, path) in paths.iter().enumerate() {
        let files = paths.iter().filter(|other| other.worker == path.worker);
        let bounds = RegionBounds::new(request, sizes, path, files.count() as u64, budget);
        let offset = request.job.offset();
        let offset = bounds.extent(&offset, "offset", issues)?;
        let begin = bounds.base.saturating_add(offset);
        let increment = request.job.offset_increment();
        let increment = bounds.extent(&increment, "offset_increment", issues)?;
        if index == 0 {
            regions.offset = begin;
            regions.increment = increment;
        }
        for worker in workers(request, path, increment) {
            let distance = increment.saturating_mul(u64::from(worker.unwrap_or(0)));
            let begin = begin.saturating_add(distance);
            regions.list.push(Region {
                path: index,
                worker,
                begin,
                len: bounds.len(begin, issues)?,
            });
            let last = regions.list.last().expect("a region");
            check_distribution(request, &sizes.blockalign, last.len, issues);
        }
    }
    (!regions.list.is_empty()).then_some(regions)
}

/// Rejects zones of a `zoned_abs` distribution, and blocks of a sequence, beyond the region.
fn check_distribution(
    request: &JobRequest,
    block_bytes: &PerDirection<u64>,
    len: u64,
    issues: &mut Issues,
) {
    let rw = request.rw.kind;
    let distribution = request.job.random_distribution();
    let used = [
        (rw.reads(), &distribution.read, block_bytes.read),
        (rw.writes(), &distribution.write, block_bytes.write),
        (rw.trims(), &distribution.trim, block_bytes.trim),
    ];
    for (_, distribution, block_bytes) in used
        .iter()
        .filter(|(is_used, ..)| *is_used && rw.is_random())
    {
        if let Distribution::Sequence { blocks, .. } = distribution {
            check_sequence(blocks, *block_bytes, len, issues);
        }
        let Distribution::ZonedAbs { zones } = distribution else {
            continue;
        };
        let end = zones
            .iter()
            .map(|zone| zone.size)
            .fold(0, u64::saturating_add);
        if end > len {
            issues.invalid(
                "zones_beyond_region",
                "random_distribution",
                format!(
                    "The zones end at {}, beyond the region of {}.",
                    bytes(end),
                    bytes(len)
                ),
                "Use smaller zones or a larger size.",
            );
        }
    }
}

/// fio fails at the first block beyond the region.
fn check_sequence(blocks: &[u64], block_bytes: u64, len: u64, issues: &mut Issues) {
    let last = blocks.iter().max().copied().unwrap_or(0);
    let end = (last + 1).saturating_mul(block_bytes);
    if end > len {
        issues.invalid(
            "blocks_beyond_region",
            "random_distribution",
            format!(
                "Block {last} of the sequence ends at {}, beyond the region of {}.",
                bytes(end),
                bytes(len)
            ),
            "Use smaller numbers or a larger size.",
        );
    }
}

/// Workers with separate regions in the target, or `None` for a region shared by all workers.
fn workers(request: &JobRequest, path: &TargetPath, increment: u64) -> Vec<Option<u32>> {
    if path.worker.is_none() && increment > 0 && request.numjobs > 1 {
        (0..request.numjobs).map(Some).collect()
    } else {
        vec![path.worker]
    }
}

/// Bounds of the regions in one target, in bytes.
struct RegionBounds<'a> {
    request: &'a JobRequest<'a>,
    path: &'a str,
    /// Length that percentages refer to: the device, or the file after layout; 0 if unknown.
    whole: u64,
    /// Maximum end of a region, in bytes; `None` for files that grow as needed.
    limit: Option<u64>,
    /// The file's `filesize`, in bytes; `None` for devices and appended data.
    filesize: Option<u64>,
    /// Whether the job uses strided zones, which extend to the end of the target.
    has_zones: bool,
    /// Added to `offset`: the file length if the job appends, otherwise 0.
    base: u64,
    /// Number of files that share `size`.
    files: u64,
    smallest_io: u64,
    largest_io: u64,
}

impl<'a> RegionBounds<'a> {
    fn new(
        request: &'a JobRequest,
        sizes: &JobBlockSizes,
        path: &'a TargetPath,
        files: u64,
        budget: &SpaceBudget,
    ) -> Self {
        let (length, _) = budget.projected(&path.facts);
        let filesize = request.filesize();
        let appends = request.job.file_append() && path.kind == TargetKind::File;
        let (whole, limit) = match path.kind {
            TargetKind::Device => (length, Some(length)),
            TargetKind::Null => (filesize.unwrap_or(NULL_BYTES), filesize),
            TargetKind::File | TargetKind::Loop if appends => (filesize.unwrap_or(length), None),
            TargetKind::File | TargetKind::Loop => (filesize.unwrap_or(length), filesize),
        };
        Self {
            request,
            path: &path.facts.canonical,
            whole,
            limit,
            filesize: filesize.filter(|_| path.kind != TargetKind::Device && !appends),
            has_zones: zones::resolve(request.job).is_some(),
            base: if appends { length } else { 0 },
            files,
            smallest_io: sizes.smallest(),
            largest_io: sizes.largest(),
        }
    }

    /// The extent in bytes. Percentages are rounded up to a multiple of `offset_align` or the
    /// smallest I/O, as in fio.
    fn extent(&self, extent: &Extent, option: &str, issues: &mut Issues) -> Option<u64> {
        match *extent {
            Extent::Bytes(bytes) if bytes > MAX_JSON_INTEGER => {
                let detail = format!("{option} must be at most 2^53 - 1.");
                issues.invalid("out_of_range", option, detail, "Use a smaller value.");
                None
            }
            Extent::Bytes(bytes) => Some(bytes),
            Extent::Percent(percent) => {
                let bytes = self.percent(percent, option, issues)?;
                let align = self.request.job.offset_align.map(|align| align.0);
                let align = align.unwrap_or(self.smallest_io).max(1);
                let rounded = bytes.checked_next_multiple_of(align);
                Some(rounded.unwrap_or(u64::MAX))
            }
        }
    }

    fn percent(&self, percent: u8, option: &str, issues: &mut Issues) -> Option<u64> {
        if self.whole == 0 && percent > 0 {
            issues.invalid(
                "percent_of_unknown_size",
                option,
                format!(
                    "{option}={percent}% requires a file with data; {} is missing or empty.",
                    self.path
                ),
                "Use bytes, such as 1g, or set filesize.",
            );
            return None;
        }
        Some((u128::from(self.whole) * u128::from(percent) / 100) as u64)
    }

    /// Length of the region that starts at `begin`, in bytes.
    fn len(&self, begin: u64, issues: &mut Issues) -> Option<u64> {
        let requested = self.requested_len(begin, issues)?;
        let len = requested - requested % self.smallest_io;
        let end = begin.saturating_add(len);
        if self.limit.is_some_and(|limit| begin >= limit) {
            self.reject_offset(begin, issues);
            return None;
        }
        if self.limit.is_some_and(|limit| end > limit) {
            self.reject_region_end(end, issues);
            return None;
        }
        if end > MAX_JSON_INTEGER {
            let detail = format!("The region of {} ends beyond 2^53 - 1 bytes.", self.path);
            issues.invalid("out_of_range", self.end_option(), detail, SMALLER_REGION);
            return None;
        }
        if len < self.largest_io {
            issues.invalid(
                "block_larger_than_region",
                self.size_option(),
                format!(
                    "The block size of {} exceeds the region of {} in {}.",
                    bytes(self.largest_io),
                    bytes(requested),
                    self.path
                ),
                "Use a smaller block size or a larger region.",
            );
            return None;
        }
        Some(len)
    }

    /// `size` is divided by the number of files. If `size` is not set, the region extends to the
    /// end of the target.
    fn requested_len(&self, begin: u64, issues: &mut Issues) -> Option<u64> {
        let rest = self.whole.saturating_sub(begin);
        match self.request.job.size {
            Some(Extent::Bytes(size)) => Some(self.whole_file(begin).max(size / self.files)),
            Some(Extent::Percent(_)) if self.base > 0 => {
                self.reject_appended_percent(issues);
                None
            }
            Some(Extent::Percent(percent)) => {
                Some(self.percent(percent, "size", issues)?.min(rest))
            }
            None if self.base == 0 && rest > 0 => Some(rest),
            None if self.base == 0 && self.whole > 0 => {
                self.reject_offset(begin, issues);
                None
            }
            None => {
                issues.invalid(
                    "missing_size",
                    "size",
                    format!(
                        "size is required, because no size can be derived from {}.",
                        self.path
                    ),
                    "Set a size such as 1g.",
                );
                None
            }
        }
    }

    /// Length from `begin` to `filesize` or, with zones, to the end of the target, in bytes; 0 if
    /// neither applies.
    fn whole_file(&self, begin: u64) -> u64 {
        let whole = self.has_zones.then_some(self.whole);
        self.filesize.or(whole).unwrap_or(0).saturating_sub(begin)
    }

    fn reject_appended_percent(&self, issues: &mut Issues) {
        issues.invalid(
            "percent_of_appended_data",
            "size",
            format!(
                "A size in percent does not apply to data appended to {}.",
                self.path
            ),
            "Use bytes, such as size=1g.",
        );
    }

    fn reject_region_end(&self, end: u64, issues: &mut Issues) {
        let detail = format!(
            "The region of {} ends at {}, but the target is only {}.",
            self.path,
            bytes(end),
            bytes(self.limit.unwrap_or(self.whole))
        );
        issues.invalid(
            "region_beyond_end",
            self.end_option(),
            detail,
            SMALLER_REGION,
        );
    }

    /// Reports a region that starts beyond the end of the target.
    fn reject_offset(&self, begin: u64, issues: &mut Issues) {
        let option = match self.request.job.offset_increment() {
            Extent::Bytes(0) => "offset",
            _ => "offset_increment",
        };
        let detail = format!(
            "The region of {} starts at {}, but the target is only {}.",
            self.path,
            bytes(begin),
            bytes(self.limit.unwrap_or(self.whole))
        );
        issues.invalid("region_beyond_end", option, detail, SMALLER_OFFSET);
    }

    /// The option that causes the region to extend past the end of the target.
    fn end_option(&self) -> &'static str {
        if self.request.job.offset_increment() == Extent::Bytes(0) {
            self.size_option()
        } else {
            "offset_increment"
        }
    }

    /// The option that determines the length of a region.
    fn size_option(&self) -> &'static str {
        let job = self.request.job;
        if job.size.is_some() {
            "size"
        } else if job.filesize.is_some() {
            "filesize"
        } else {
            "bs"
        }
    }
}
