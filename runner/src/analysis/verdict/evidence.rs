//! The numbers behind a verdict: what one direction issued, and what each layer counted in the same
//! window.

pub(crate) mod counters;
pub(crate) mod targets;

use crate::analysis::verdict::{
    evidence::{
        counters::{Counted, backing_storage_bytes, device, lower_devices, own_bytes},
        targets::{
            bytes_without_device, encoded_share, falls_back, no_device, residency, unwritten_share,
        },
    },
    metadata::metadata_reason,
};
use leadline_protocol::{
    counters::Residency,
    evidence::{
        target::TargetReport,
        transition::{Direction, ServedBy},
    },
    plan::{job::ResolvedJob, window::late_ramps},
    report::Report,
};
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    pub direction: Direction,
    /// I/Os completed in the window.
    pub ios: u64,
    pub bytes: u64,
    /// The part of `bytes` that was issued to targets without a block device.
    pub bytes_without_device: u64,
    pub iops: f64,
    /// Whether all jobs of this direction use direct I/O.
    pub direct: bool,
    /// Whether direct I/O goes through the page cache on some target.
    pub falls_back: bool,
    /// Whether a loop device under a target uses the page cache of its backing file.
    pub is_loop_cached: bool,
    /// Upper bound of the bytes read from or written to the storage of those backing files, past
    /// their page cache; `None` if there is none, or if their residency is unknown.
    pub backing_storage_bytes: Option<u64>,
    /// The filesystem or engine, if no target of this direction has a block device.
    pub no_device: Option<String>,
    /// Counters of the device under the targets, or the reason why they are missing.
    pub device: Result<Counted, String>,
    /// Counters of the physical devices, if they differ from that device.
    pub lower_devices: Option<Counted>,
    /// Bytes that this process read from storage, or wrote and that are not dirty anymore; or the
    /// reason why they are unknown.
    pub own_bytes: Result<u64, String>,
    /// Page cache of the regions at the start and the end of the window.
    pub residency: Option<(Residency, Residency)>,
    pub region_bytes: u64,
    /// Share of the regions in extents without data, before the run; `None` if not reported.
    pub unwritten_share: Option<f64>,
    /// Share of the regions that is inline, compressed or encrypted, before or after the run.
    pub encoded_share: f64,
    /// Reason why the filesystem writes metadata in addition to the issued writes; `None` if it
    /// does not.
    pub metadata_reason: Option<&'static str>,
    /// Upper bound of the bytes in flight at a window boundary.
    pub in_flight_bytes: u64,
    /// Time of the last transition if it led to memory, in ms since the start of the run.
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
            falls_back: targets.iter().any(|target| falls_back(direction, target)),
            is_loop_cached: targets
                .iter()
                .any(|target| target.direct.loop_direct_io == Some(false)),
            backing_storage_bytes: backing_storage_bytes(direction, report, &targets),
            no_device: no_device(&jobs),
            device: device(direction, report),
            lower_devices: lower_devices(direction, report),
            own_bytes: own_bytes(direction, report, residency, direct),
            residency,
            region_bytes: targets.iter().map(|target| target.region_bytes).sum(),
            unwritten_share: unwritten_share(&targets),
            encoded_share: encoded_share(&targets),
            metadata_reason: jobs.iter().find_map(|job| metadata_reason(job, &targets)),
            in_flight_bytes: jobs.iter().map(|job| in_flight_bytes(direction, job)).sum(),
            transition_ms: transition_to_memory_ms(direction, report),
        };
        if let Some(late) = late_ramps(all).find(|job| direction.is_used_by(job)) {
            evidence.invalidate_counters(&late.name);
        }
        Some(evidence)
    }

    fn invalidate_counters(&mut self, late_job: &str) {
        let reason = format!(
            "all counters include I/O of the ramp of {late_job}, which ended after the start of the measurement"
        );
        self.device = Err(reason.clone());
        self.own_bytes = Err(reason);
        self.transition_ms = None;
    }

    pub(crate) fn has_no_counters(&self) -> bool {
        self.device.is_err() && self.own_bytes.is_err()
    }

    /// Bytes issued to targets with a block device.
    pub(crate) fn issued_to_devices(&self) -> u64 {
        self.bytes.saturating_sub(self.bytes_without_device)
    }

    /// 0 if the device was not counted.
    pub(crate) fn device_bytes(&self) -> u64 {
        self.device.as_ref().map_or(0, |device| device.bytes)
    }

    /// Device I/Os per issued I/O; `None` if the device was not counted.
    pub(crate) fn ios_ratio(&self) -> Option<f64> {
        let device = self.device.as_ref().ok()?;
        Some(device.ios as f64 / self.ios as f64)
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
            ("own_bytes", self.own_bytes.as_ref().ok().copied()),
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

fn in_flight_bytes(direction: Direction, job: &ResolvedJob) -> u64 {
    let sizes = direction.select(&job.pattern.bs.read, &job.pattern.bs.write);
    u64::from(job.in_flight()) * u64::from(job.numjobs) * sizes.max
}

fn transition_to_memory_ms(direction: Direction, report: &Report) -> Option<f64> {
    let mut transitions = report.transitions.iter();
    let last = transitions.rfind(|transition| transition.direction == direction)?;
    (last.to == ServedBy::Memory).then_some(last.t_ms)
}
