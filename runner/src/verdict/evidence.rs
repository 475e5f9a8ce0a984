//! The numbers behind a verdict: what one direction issued, and what its device counted meanwhile.

use std::collections::BTreeMap;

use crate::plan::{Mode, ResolvedJob};
use crate::report::{DeviceReport, DirStats, MemoryReport, Report};

/// The directions that have a verdict.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Direction {
    /// Reads.
    Read,
    /// Writes.
    Write,
}

impl Direction {
    /// `reads` or `writes`.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
        }
    }
}

/// What the device under the targets counted, in one direction.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    /// Its name.
    pub name: String,
    /// I/Os completed.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// I/Os merged into those before they reached it.
    pub merges: u64,
}

/// The numbers of one direction.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    /// Which.
    pub direction: Direction,
    /// I/Os issued and completed in the window.
    pub ios: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// I/Os a second.
    pub iops: f64,
    /// Whether every job of this direction went past the page cache.
    pub direct: bool,
    /// The filesystem or engine that has no block device, where that is so for every job of this direction.
    pub deviceless: Option<String>,
    /// What the device counted; or why that is not known.
    pub device: Result<Counted, String>,
    /// Dirty memory and writeback at the beginning and the end, in bytes.
    pub dirty: Option<(u64, u64)>,
}

impl Evidence {
    /// The numbers of a direction; `None` when nothing was done in it.
    pub fn of(direction: Direction, report: &Report, jobs: &[ResolvedJob]) -> Option<Self> {
        let DirStats { ios, bytes, iops, .. } = *match direction {
            Direction::Read => &report.read,
            Direction::Write => &report.write,
        };
        if ios == 0 {
            return None;
        }
        let goes = |job: &&ResolvedJob| match direction {
            Direction::Read => job.rw.reads(),
            Direction::Write => job.rw.writes(),
        };
        let jobs: Vec<&ResolvedJob> = jobs.iter().filter(goes).collect();
        Some(Self {
            direction,
            ios,
            bytes,
            iops,
            direct: jobs.iter().all(|job| job.direct),
            deviceless: deviceless(&jobs),
            device: counted(direction, report),
            dirty: report.memory.map(dirty),
        })
    }

    /// Bytes that the device moved for each byte issued; 0 where it is not known.
    pub fn bytes_ratio(&self) -> f64 {
        self.device.as_ref().map_or(0.0, |device| device.bytes as f64 / self.bytes.max(1) as f64)
    }

    /// I/Os that the device completed for each one issued; 0 where it is not known.
    pub fn ios_ratio(&self) -> f64 {
        self.device.as_ref().map_or(0.0, |device| device.ios as f64 / self.ios as f64)
    }

    /// By name, for the report.
    pub fn numbers(&self) -> BTreeMap<String, u64> {
        let mut numbers = vec![("issued_ios", self.ios), ("issued_bytes", self.bytes)];
        if let Ok(device) = &self.device {
            numbers.extend([("device_ios", device.ios), ("device_bytes", device.bytes), ("device_merges", device.merges)]);
        }
        if let (Direction::Write, Some((start, end))) = (self.direction, self.dirty) {
            numbers.extend([("dirty_start_bytes", start), ("dirty_end_bytes", end)]);
        }
        numbers.into_iter().map(|(name, number)| (name.to_owned(), number)).collect()
    }
}

fn deviceless(jobs: &[&ResolvedJob]) -> Option<String> {
    if jobs.iter().all(|job| job.mode == Mode::Null) {
        return Some("ioengine=null".into());
    }
    let mut targets = jobs.iter().flat_map(|job| &job.targets);
    let filesystem = jobs.first()?.targets.first()?.filesystem.clone();
    targets.all(|target| target.device.is_none()).then(|| filesystem.unwrap_or_else(|| "the target".into()))
}

fn counted(direction: Direction, report: &Report) -> Result<Counted, String> {
    let Some(DeviceReport { name, counts, .. }) = &report.device else {
        return Err(report.absent.get("device").cloned().unwrap_or_else(|| "the device's counters are missing".into()));
    };
    let (ios, bytes, merges) = match direction {
        Direction::Read => (counts.read_ios, counts.read_bytes, counts.read_merges),
        Direction::Write => (counts.write_ios, counts.write_bytes, counts.write_merges),
    };
    Ok(Counted { name: name.clone(), ios, bytes, merges })
}

fn dirty(memory: MemoryReport) -> (u64, u64) {
    (memory.start.dirty + memory.start.writeback, memory.end.dirty + memory.end.writeback)
}
