//! The numbers behind a verdict: what one direction issued, and what each layer counted meanwhile.

use crate::plan::phases::late_ramps;
use leadline_protocol::counters::{DeviceCounts, Residency};
use leadline_protocol::evidence::Direction;
use leadline_protocol::evidence::TargetReport;
use leadline_protocol::plan::resolved::{Mode, ResolvedJob};
use leadline_protocol::report::{DirectionStats, Report};
use std::collections::BTreeMap;

/// What a device counted in one direction.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Counted {
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
pub(crate) struct Evidence {
    /// Which.
    pub direction: Direction,
    /// I/Os issued and completed in the window.
    pub ios: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Of those, bytes on targets that have no block device.
    pub bytes_elsewhere: u64,
    /// I/Os a second.
    pub iops: f64,
    /// Whether every job of this direction went past the page cache.
    pub direct: bool,
    /// Whether direct I/O cannot mean here what it says.
    pub falls_back: bool,
    /// Whether a loop device under it goes through the page cache of its backing file.
    pub is_loop_cached: bool,
    /// The most bytes that can have passed the page cache of those backing files; `None` where there is none, or it was not seen.
    pub past_backing: Option<u64>,
    /// The filesystem or engine that has no block device, where that is so for every job of this direction.
    pub deviceless: Option<String>,
    /// What the device under the targets counted; or why that is not known.
    pub device: Result<Counted, String>,
    /// What the physical devices under that one counted, where they are others.
    pub beneath: Option<Counted>,
    /// Bytes that this process had storage move: read, or written and no longer waiting in memory; or why that is not known.
    pub own: Result<u64, String>,
    /// What lay in the page cache of the regions at the beginning and the end.
    pub residency: Option<(Residency, Residency)>,
    /// Bytes of the regions.
    pub region: u64,
    /// Share of the regions in extents without data, before; `None` where the filesystem does not tell.
    pub empty: Option<f64>,
    /// Share of the regions that is inline, compressed or encrypted, before or after.
    pub encoded: f64,
    /// Why the filesystem writes on its own account beside this direction.
    pub metadata: Option<&'static str>,
    /// The most bytes that could be in flight at a border of the window.
    pub in_flight: u64,
    /// Whether the device went over to memory: since when, in ms since the run began.
    pub transition_ms: Option<f64>,
}

impl Evidence {
    /// The numbers of a direction; `None` when nothing was done in it.
    pub fn of(direction: Direction, report: &Report, all: &[ResolvedJob]) -> Option<Self> {
        let DirectionStats {
            ios, bytes, iops, ..
        } = *dir(direction, &report.read, &report.write);
        if ios == 0 {
            return None;
        }
        let jobs: Vec<&ResolvedJob> = all.iter().filter(|job| direction.is_of(job)).collect();
        let targets: Vec<&TargetReport> = report
            .targets
            .iter()
            .filter(|target| jobs.iter().any(|job| target.jobs.contains(&job.name)))
            .collect();
        let residency = residency(&targets);
        let mixed_up = mixed_up(direction, all);
        let direct = jobs.iter().all(|job| job.direct);
        Some(Self {
            direction,
            ios,
            bytes,
            bytes_elsewhere: bytes_elsewhere(direction, report, all),
            iops,
            direct,
            falls_back: targets.iter().any(|target| falls_back(direction, target)),
            is_loop_cached: targets
                .iter()
                .any(|target| target.direct.loop_direct_io == Some(false)),
            past_backing: past_backing(direction, report, &targets),
            deviceless: deviceless(&jobs),
            device: mixed_up
                .clone()
                .map_or_else(|| device(direction, report), Err),
            beneath: beneath(direction, report),
            own: mixed_up
                .clone()
                .map_or_else(|| own(direction, report, residency, direct), Err),
            residency,
            region: targets.iter().map(|target| target.region_bytes).sum(),
            empty: empty(&targets),
            encoded: encoded(&targets),
            metadata: jobs
                .iter()
                .find_map(|job| crate::analysis::verdict::metadata::reason(job, &targets)),
            in_flight: jobs.iter().map(|job| in_flight(direction, job)).sum(),
            transition_ms: turned(direction, report).filter(|_| mixed_up.is_none()),
        })
    }

    /// Whether nobody counted anything.
    pub fn is_blind(&self) -> bool {
        self.device.is_err() && self.own.is_err()
    }

    /// Bytes issued to targets that have a block device.
    pub fn asked(&self) -> u64 {
        self.bytes.saturating_sub(self.bytes_elsewhere)
    }

    /// Bytes that the device moved; 0 where it was not counted.
    pub fn counted_bytes(&self) -> u64 {
        self.device.as_ref().map_or(0, |device| device.bytes)
    }

    /// I/Os that the device completed for each one issued; `None` where it was not counted.
    pub fn ios_ratio(&self) -> Option<f64> {
        self.device
            .as_ref()
            .ok()
            .map(|device| device.ios as f64 / self.ios as f64)
    }

    /// By name, for the report.
    pub fn numbers(&self) -> BTreeMap<String, u64> {
        let mut numbers = vec![("issued_ios", self.ios), ("issued_bytes", self.bytes)];
        if let Ok(device) = &self.device {
            numbers.extend([
                ("device_ios", device.ios),
                ("device_bytes", device.bytes),
                ("device_merges", device.merges),
            ]);
        }
        if let Some(beneath) = &self.beneath {
            numbers.extend([
                ("beneath_ios", beneath.ios),
                ("beneath_bytes", beneath.bytes),
            ]);
        }
        if let Ok(own) = self.own {
            numbers.push(("own_bytes", own));
        }
        if let Some((start, end)) = &self.residency {
            numbers.extend([
                ("cached_start_bytes", start.cached),
                ("cached_end_bytes", end.cached),
            ]);
            let waiting = [("dirty_start_bytes", start), ("dirty_end_bytes", end)];
            numbers.extend(
                waiting
                    .into_iter()
                    .filter_map(|(name, at)| Some((name, unwritten_back(at)?))),
            );
        }
        if let Some(empty) = self.empty {
            numbers.push(("empty_bytes", (empty * self.region as f64).round() as u64));
        }
        numbers
            .into_iter()
            .map(|(name, number)| (name.to_owned(), number))
            .collect()
    }
}

/// The part of this direction.
pub(crate) fn dir<T>(direction: Direction, read: T, write: T) -> T {
    match direction {
        Direction::Read => read,
        Direction::Write => write,
    }
}

/// Bytes in memory that the device does not have yet; `None` where only mincore(2) could be asked.
pub(crate) fn unwritten_back(at: &Residency) -> Option<u64> {
    Some(at.dirty? + at.writeback?)
}

fn deviceless(jobs: &[&ResolvedJob]) -> Option<String> {
    if jobs.iter().all(|job| job.mode == Mode::Null) {
        return Some("ioengine=null".into());
    }
    let mut targets = jobs.iter().flat_map(|job| &job.targets);
    let filesystem = jobs.first()?.targets.first()?.filesystem.clone();
    targets
        .all(|target| target.device.is_none())
        .then(|| filesystem.unwrap_or_else(|| "the target".into()))
}

/// What jobs moved whose targets all lie on no block device.
fn bytes_elsewhere(direction: Direction, report: &Report, jobs: &[ResolvedJob]) -> u64 {
    let pairs = report
        .jobs
        .iter()
        .zip(jobs)
        .filter(|(_, job)| job.targets.iter().all(|target| target.device.is_none()));
    pairs
        .map(|(told, _)| dir(direction, &told.read, &told.write).bytes)
        .sum()
}

fn counted(direction: Direction, name: String, counts: &DeviceCounts) -> Counted {
    let (ios, bytes, merges) = dir(
        direction,
        (counts.read_ios, counts.read_bytes, counts.read_merges),
        (counts.write_ios, counts.write_bytes, counts.write_merges),
    );
    Counted {
        name,
        ios,
        bytes,
        merges,
    }
}

/// Why the counters of the window do not tell of the measured I/O alone, where that is so.
fn mixed_up(direction: Direction, jobs: &[ResolvedJob]) -> Option<String> {
    let late = late_ramps(jobs).find(|job| direction.is_of(job))?;
    Some(format!(
        "all counters hold I/O of {}'s ramp too, which was not over when the measurement began",
        late.name
    ))
}

fn device(direction: Direction, report: &Report) -> Result<Counted, String> {
    let missing = || {
        report
            .absent
            .get("device")
            .cloned()
            .unwrap_or_else(|| "the device's counters are missing".into())
    };
    let device = report.device.as_ref().ok_or_else(missing)?;
    Ok(counted(direction, device.name.clone(), &device.counts))
}

/// The leaves together. They matter where they are not the targets themselves: under a loop, dm or md.
fn beneath(direction: Direction, report: &Report) -> Option<Counted> {
    let device = report.device.as_ref()?;
    let names: Vec<&str> = device
        .physical_devices
        .iter()
        .map(|leaf| leaf.name.as_str())
        .collect();
    if names.is_empty() || device.name.split('+').all(|name| names.contains(&name)) {
        return None;
    }
    let each = device
        .physical_devices
        .iter()
        .map(|leaf| counted(direction, String::new(), &leaf.counts));
    each.reduce(|one, other| Counted {
        ios: one.ios + other.ios,
        bytes: one.bytes + other.bytes,
        merges: one.merges + other.merges,
        ..one
    })
    .map(|sum| Counted {
        name: names.join("+"),
        ..sum
    })
}

/// What the process had read; or what it wrote or dirtied, less what still waited in memory at the end. `/proc/self/io`
/// counts a buffered write when its page becomes dirty, and again only after the page was written back.
fn own(
    direction: Direction,
    report: &Report,
    residency: Option<(Residency, Residency)>,
    direct: bool,
) -> Result<u64, String> {
    let missing = |what: &str, otherwise: &str| {
        report
            .absent
            .get(what)
            .cloned()
            .unwrap_or_else(|| otherwise.into())
    };
    let storage = report
        .storage
        .ok_or_else(|| missing("storage", "the process's own counters are missing"))?;
    if direction == Direction::Read {
        return Ok(storage.read_bytes);
    }
    let dirtied = storage
        .write_bytes
        .saturating_sub(storage.cancelled_write_bytes);
    let waiting =
        residency.and_then(|(start, end)| Some((unwritten_back(&start)?, unwritten_back(&end)?)));
    match waiting {
        Some((start, end)) => Ok((dirtied + start).saturating_sub(end)),
        None if direct => Ok(dirtied),
        None => Err(missing(
            "residency",
            "what waits in memory to be written cannot be told",
        )),
    }
}

fn residency(targets: &[&TargetReport]) -> Option<(Residency, Residency)> {
    let each = targets
        .iter()
        .map(|target| target.residency.start.zip(target.residency.end))
        .collect::<Option<Vec<_>>>()?;
    each.into_iter()
        .reduce(|(start, end), (other_start, other_end)| {
            (sum(start, other_start), sum(end, other_end))
        })
}

fn sum(one: Residency, other: Residency) -> Residency {
    let both = |one: Option<u64>, other: Option<u64>| Some(one? + other?);
    Residency {
        cached: one.cached + other.cached,
        dirty: both(one.dirty, other.dirty),
        writeback: both(one.writeback, other.writeback),
        evicted: both(one.evicted, other.evicted),
        recently_evicted: both(one.recently_evicted, other.recently_evicted),
    }
}

/// Reads: what of the backing files has blocks and was not in memory. Writes: what all devices took, less what waits in memory.
/// Each file once, however many targets lie on it: the devices' counts are those of all together.
fn past_backing(direction: Direction, report: &Report, targets: &[&TargetReport]) -> Option<u64> {
    let cached = targets
        .iter()
        .filter(|target| target.direct.loop_direct_io == Some(false));
    let each = cached
        .map(|target| target.backing.as_ref())
        .collect::<Option<Vec<_>>>()?;
    let files: BTreeMap<&str, _> = each
        .into_iter()
        .map(|backing| (backing.path.as_str(), backing))
        .collect();
    if files.is_empty() {
        return None;
    }
    let taken = report.device.as_ref()?.counts.write_bytes;
    let (mut outside, mut at_start, mut at_end) = (0, 0, 0);
    for backing in files.values() {
        let (start, end) = backing.start.zip(backing.end)?;
        outside += backing.allocated_bytes.saturating_sub(start.cached);
        if direction == Direction::Write {
            at_start += unwritten_back(&start)?;
            at_end += unwritten_back(&end)?;
        }
    }
    Some(dir(
        direction,
        outside,
        (taken + at_start).saturating_sub(at_end),
    ))
}

/// Holes and unwritten extents. Delayed ones have their data in memory.
fn empty(targets: &[&TargetReport]) -> Option<f64> {
    let region: u64 = targets.iter().map(|target| target.region_bytes).sum();
    let each = targets.iter().map(|target| {
        target
            .extents
            .before
            .map(|extents| extents.unwritten + extents.hole)
    });
    let empty = each.sum::<Option<u64>>()?;
    (region > 0).then(|| (empty as f64 / region as f64).min(1.0))
}

fn encoded(targets: &[&TargetReport]) -> f64 {
    let region: u64 = targets.iter().map(|target| target.region_bytes).sum();
    let most = |target: &&TargetReport| {
        let extents = [target.extents.before, target.extents.after];
        extents
            .into_iter()
            .flatten()
            .map(|extents| extents.inline + extents.encoded)
            .max()
            .unwrap_or(0)
    };
    targets.iter().map(most).sum::<u64>() as f64 / region.max(1) as f64
}

fn falls_back(direction: Direction, target: &TargetReport) -> bool {
    dir(
        direction,
        target.direct.reads_past_cache,
        target.direct.writes_past_cache,
    ) == Some(false)
}

fn in_flight(direction: Direction, job: &ResolvedJob) -> u64 {
    let largest = dir(direction, &job.pattern.bs.read, &job.pattern.bs.write).max;
    u64::from(job.in_flight()) * u64::from(job.numjobs) * largest
}

/// The last turn counts: a run that went back to the device did not end in memory.
fn turned(direction: Direction, report: &Report) -> Option<f64> {
    let last = report
        .transitions
        .iter()
        .rfind(|turn| turn.direction == direction)?;
    (last.to == leadline_protocol::evidence::ServedBy::Memory).then_some(last.t_ms)
}
