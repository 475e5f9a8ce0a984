//! The numbers behind a verdict: I/O issued in one direction, and each layer's counters in the same
//! window.

pub(crate) mod counters;
pub(crate) mod targets;
pub(crate) mod workload;

use crate::analysis::{
    estimate::{PartEstimate, merged, unknown},
    verdict::{
        evidence::{
            counters::{
                ChargedBytes, Counted, charged, device, lower_devices, own_bytes, process_bytes,
            },
            targets::{
                backing_dirty_bytes, bytes_without_device, encoded_share, is_every_device_counted,
                no_device, null_job, residency, unwritten_share,
            },
        },
        metadata::metadata_reason,
    },
};
use leadline_protocol::{
    counters::Residency,
    evidence::{
        target::TargetReport,
        transition::{Direction, ServedBy},
    },
    plan::{job::ResolvedJob, window::late_ramps},
    report::{
        JobReport, Report,
        layers::{LayerEstimate, Share},
    },
};
use std::collections::BTreeMap;

/// Maximum difference between the share of zeros in a random sample and in the region.
const MAX_HOLE_DIFFERENCE: f64 = 0.1;

#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    pub direction: Direction,
    /// I/Os that completed in the window.
    pub ios: u64,
    pub bytes: u64,
    /// The part of `bytes` that was issued to targets without a block device.
    pub bytes_without_device: u64,
    pub iops: f64,
    /// Whether all jobs that use this direction use direct I/O.
    pub direct: bool,
    /// Whether any job that uses this direction uses direct I/O.
    pub has_direct_jobs: bool,
    /// Whether the device counters include every I/O below the page caches. They do not include a
    /// loop device's I/O if the disk under it is also a target's device.
    pub is_every_device_counted: bool,
    /// Whether any target is on a loop device.
    pub is_on_loop: bool,
    /// Whether a loop device under a target uses the page cache of its backing file.
    pub is_loop_cached: bool,
    /// Whether a device under a target serves reads of unwritten blocks itself.
    pub is_mapping_sparse: bool,
    /// Name of a job whose engine performs no I/O, if other jobs in the run perform I/O.
    pub null_job: Option<String>,
    /// The filesystem or engine, if no target in this direction has a block device.
    pub no_device: Option<String>,
    /// Counters of the targets' device, or why they are missing.
    pub device: Result<Counted, String>,
    /// Counters of the physical devices, if they differ from that device.
    pub lower_devices: Option<Counted>,
    /// Counters of the run's control group; a lower bound for buffered writes, because the kernel
    /// charges the group that owns the file. `None` if the run had no group.
    pub charged: Option<ChargedBytes>,
    /// Bytes that this process read from storage, or that it wrote and that are no longer dirty; or
    /// why they are unknown.
    pub own_bytes: Result<u64, String>,
    /// Page cache residency of the regions at the start and end of the window.
    pub residency: Option<(Residency, Residency)>,
    pub region_bytes: u64,
    /// Share of the regions in extents without data, before the run; `None` if not reported.
    pub unwritten_share: Option<f64>,
    /// Share of the regions that was inline, compressed or encrypted, before or after the run.
    pub encoded_share: f64,
    /// Why the filesystem writes metadata in addition to the issued writes; `None` if it does not.
    pub metadata_reason: Option<&'static str>,
    /// Layers of the sampled I/Os; `None` if no I/O was sampled.
    pub estimate: Option<LayerEstimate>,
    /// Bytes that this process read from storage; for writes, bytes that it dirtied or wrote
    /// directly. `Err` explains why they are unknown.
    pub process_bytes: Result<u64, String>,
    /// Dirty bytes in the backing files of cached loop devices at the end; `None` if unknown.
    pub backing_dirty_bytes: Option<u64>,
    /// Size of a memory page, in bytes.
    pub page_bytes: u64,
    /// Smallest part of a page that can be read into the page cache separately, in bytes.
    pub cache_block_bytes: u64,
    /// Smallest and largest block size, in bytes.
    pub smallest_block: u64,
    pub largest_block: u64,
    /// See [`workload::is_every_read_counted`].
    pub is_every_read_counted: bool,
    /// Whether all I/Os have the same size.
    pub has_one_block_size: bool,
    /// See [`workload::may_overwrite_itself`].
    pub may_overwrite_itself: bool,
    /// Upper bound on the I/Os in flight at a window boundary.
    pub in_flight_ios: u64,
    /// Time of the last transition if it was to memory, in ms since the start of the run.
    pub transition_ms: Option<f64>,
}

impl Evidence {
    /// `None` if the direction had no I/O.
    pub(crate) fn of(direction: Direction, report: &Report, all: &[ResolvedJob]) -> Option<Self> {
        let stats = direction.select(&report.read, &report.write);
        if stats.ios == 0 {
            return None;
        }
        let jobs: Vec<&ResolvedJob> = all.iter().filter(|job| direction.is_used_by(job)).collect();
        let is_used =
            |target: &&TargetReport| jobs.iter().any(|job| target.jobs.contains(&job.name));
        let targets: Vec<&TargetReport> = report.targets.iter().filter(is_used).collect();
        let residency = residency(&targets);
        let direct = jobs.iter().all(|job| job.direct);
        let mut evidence = Self {
            direction,
            ios: stats.ios,
            bytes: stats.bytes,
            bytes_without_device: bytes_without_device(direction, report, all),
            iops: stats.iops,
            direct,
            has_direct_jobs: jobs.iter().any(|job| job.direct),
            is_every_device_counted: is_every_device_counted(report, &targets),
            is_on_loop: targets
                .iter()
                .any(|target| target.direct.loop_direct_io.is_some()),
            is_loop_cached: targets
                .iter()
                .any(|target| target.direct.loop_direct_io == Some(false)),
            is_mapping_sparse: targets
                .iter()
                .any(|target| target.direct.sparse_mapping.is_some()),
            null_job: null_job(&jobs),
            no_device: no_device(&jobs),
            device: device(direction, report),
            lower_devices: lower_devices(direction, report),
            charged: charged(direction, report),
            own_bytes: own_bytes(direction, report, residency, direct),
            residency,
            region_bytes: targets.iter().map(|target| target.region_bytes).sum(),
            unwritten_share: unwritten_share(&targets),
            encoded_share: encoded_share(&targets),
            metadata_reason: jobs.iter().find_map(|job| metadata_reason(job, &targets)),
            estimate: estimate(direction, report),
            process_bytes: process_bytes(direction, report),
            backing_dirty_bytes: backing_dirty_bytes(&targets),
            page_bytes: page_bytes(report),
            cache_block_bytes: cache_block_bytes(report),
            smallest_block: workload::smallest_block(direction, &jobs),
            largest_block: workload::largest_block(direction, &jobs),
            has_one_block_size: workload::has_one_block_size(direction, &jobs),
            is_every_read_counted: workload::is_every_read_counted(
                report,
                &jobs,
                &targets,
                (cache_block_bytes(report) == page_bytes(report)).then(|| page_bytes(report)),
            ),
            may_overwrite_itself: workload::may_overwrite_itself(stats.bytes, &jobs, &targets),
            in_flight_ios: jobs.iter().map(|job| in_flight_ios(job)).sum(),
            transition_ms: transition_to_memory_ms(direction, report),
        };
        if let Some(late) = late_ramps(all).find(|job| direction.is_used_by(job)) {
            evidence.invalidate_counters(&late.name);
        }
        Some(evidence)
    }

    fn invalidate_counters(&mut self, late_job: &str) {
        let reason = format!(
            "all counters include I/O from the ramp of job {late_job}, which ended after the measurement started"
        );
        self.device = Err(reason.clone());
        self.charged = None;
        self.own_bytes = Err(reason.clone());
        self.process_bytes = Err(reason);
        self.is_every_read_counted = false;
        self.transition_ms = None;
    }

    /// Minimum number of bytes transferred for an I/O that needs the device.
    pub(crate) fn min_transfer(&self) -> f64 {
        let block = self.cache_block_bytes;
        let bytes = match self.direction {
            Direction::Write => self.bytes / self.ios,
            Direction::Read if self.direct && self.encoded_share == 0.0 => self.smallest_block,
            Direction::Read if self.has_direct_jobs => self.smallest_block.min(block),
            Direction::Read => block,
        };
        bytes.max(1) as f64
    }

    /// Minimum ratio of transferred bytes to issued bytes, for I/Os that need the device. A
    /// partial-page buffered read transfers the whole page, or the missing blocks of the page.
    pub(crate) fn expansion(&self) -> f64 {
        let ratio = self.cache_block_bytes as f64 / self.largest_block as f64;
        match self.has_direct_jobs {
            true => 1.0,
            false if self.cache_block_bytes < self.page_bytes => ratio,
            false => ratio.max(1.0),
        }
    }

    /// Bytes of the regions that were dirty or under writeback at the end; `None` if unknown.
    pub(crate) fn dirty_end_bytes(&self) -> Option<u64> {
        self.residency
            .and_then(|(_, end)| end.pending_write_bytes())
    }

    pub(crate) fn dirty_start_bytes(&self) -> u64 {
        let start = self
            .residency
            .and_then(|(start, _)| start.pending_write_bytes());
        start.unwrap_or(0)
    }

    /// Whether the device counters include the reads that returned zeros: holes in a loop device's
    /// image are read through that device, unlike holes in the target file. `unwritten`: share of
    /// zeros.
    pub(crate) fn are_zeros_counted(&self, unwritten: f64) -> bool {
        let holes = self.unwritten_share.unwrap_or(0.0) + MAX_HOLE_DIFFERENCE;
        self.is_on_loop && unwritten > holes
    }

    /// Bytes issued to targets with a block device.
    pub(crate) fn issued_to_devices(&self) -> u64 {
        self.bytes.saturating_sub(self.bytes_without_device)
    }

    /// Numbers for the report; unknown ones are omitted.
    pub(crate) fn numbers(&self) -> BTreeMap<String, u64> {
        let device = self.device.as_ref().ok();
        let lower = self.lower_devices.as_ref();
        let start = self.residency.map(|(start, _)| start);
        let end = self.residency.map(|(_, end)| end);
        let unwritten = |share: f64| (share * self.region_bytes as f64).round() as u64;
        let numbers = [
            ("issued_ios", Some(self.ios)),
            ("issued_bytes", Some(self.bytes)),
            ("device_ios", device.map(|device| device.ios)),
            ("device_bytes", device.map(|device| device.bytes)),
            ("device_merges", device.map(|device| device.merges)),
            ("lower_device_ios", lower.map(|lower| lower.ios)),
            ("lower_device_bytes", lower.map(|lower| lower.bytes)),
            (
                "cgroup_device_bytes",
                self.charged.map(|charged| charged.device),
            ),
            (
                "cgroup_lower_device_bytes",
                lower.and(self.charged).map(|charged| charged.lower),
            ),
            ("own_bytes", self.own_bytes.as_ref().ok().copied()),
            (
                "sampled_ios",
                self.estimate.as_ref().map(|estimate| estimate.samples),
            ),
            ("cached_start_bytes", start.map(|start| start.cached)),
            ("cached_end_bytes", end.map(|end| end.cached)),
            (
                "dirty_start_bytes",
                start.and_then(Residency::pending_write_bytes),
            ),
            (
                "dirty_end_bytes",
                end.and_then(Residency::pending_write_bytes),
            ),
            ("unwritten_bytes", self.unwritten_share.map(unwritten)),
        ];
        let known = |(name, number): (&str, Option<u64>)| Some((name.to_owned(), number?));
        numbers.into_iter().filter_map(known).collect()
    }
}

fn in_flight_ios(job: &ResolvedJob) -> u64 {
    if job.in_flight() > 1 {
        u64::from(job.in_flight()) * u64::from(job.numjobs)
    } else {
        0
    }
}

/// Page size of most hosts, used if no job has sampled layers.
const PAGE_BYTES: u64 = 4096;

fn page_bytes(report: &Report) -> u64 {
    let layers = report.jobs.iter().filter_map(|job| job.layers.as_ref());
    layers
        .map(|layers| layers.page_bytes)
        .max()
        .unwrap_or(PAGE_BYTES)
}

fn cache_block_bytes(report: &Report) -> u64 {
    let layers = report.jobs.iter().filter_map(|job| job.layers.as_ref());
    let known = layers.filter_map(|layers| layers.cache_block_bytes);
    known.min().unwrap_or_else(|| page_bytes(report))
}

fn layers_of(direction: Direction, job: &JobReport) -> Option<&LayerEstimate> {
    job.layers.as_ref()?.of(direction)
}

/// The combined estimate of all jobs. The layers of a job without an estimate are unknown.
fn estimate(direction: Direction, report: &Report) -> Option<LayerEstimate> {
    let ios = |job: &JobReport| direction.select(&job.read, &job.write).ios;
    let of_job = |job| layers_of(direction, job);
    let jobs = report.jobs.iter().filter(|job| ios(job) > 0);
    if jobs.clone().all(|job| of_job(job).is_none()) {
        return None;
    }
    merged(jobs.map(|job| {
        let estimate = of_job(job).cloned();
        let overwritten = direction.select(None, Some(Share::UNKNOWN));
        let unknown = || LayerEstimate {
            overwritten,
            ..unknown()
        };
        PartEstimate {
            ios: ios(job),
            bytes: direction.select(&job.read, &job.write).bytes,
            estimate: estimate.unwrap_or_else(unknown),
        }
    }))
}

fn transition_to_memory_ms(direction: Direction, report: &Report) -> Option<f64> {
    let mut transitions = report.transitions.iter();
    let last = transitions.rfind(|transition| transition.direction == direction)?;
    (last.to == ServedBy::Memory).then_some(last.t_ms)
}
