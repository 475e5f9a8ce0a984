//! Known cases, the seeds' own figures among them: what was issued, what each layer counted, and what follows. Here: the
//! reports that the cases are told with.

pub(crate) mod classes;
pub(crate) mod document;
pub(crate) mod findings;
pub(crate) mod proof;

use crate::analysis::judge;
use crate::plan::fixture::resolved;
use leadline_protocol::counters::{DeviceCounts, Residency, StorageIo};
use leadline_protocol::evidence::{
    CacheMap, DirectFacts, Extents, ExtentsReport, ResidencyReport, TargetReport, TargetState,
};
use leadline_protocol::host::HostFacts;
use leadline_protocol::plan::resolved::{ResolvedJob, TargetKind};
use leadline_protocol::report::{
    DeviceReport, DirectionStats, EndedBy, ErrorReport, PhysicalDeviceReport, Report, SyncStats,
};
use leadline_protocol::verdict::Verdict;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const KIB: u64 = 1024;
const SECONDS: f64 = 30.0;

fn dir(ios: u64, bytes: u64) -> DirectionStats {
    DirectionStats {
        ios,
        bytes,
        iops: ios as f64 / SECONDS,
        bytes_per_second: bytes as f64 / SECONDS,
        ..DirectionStats::default()
    }
}

/// A report of a job on a file on vda.
fn report(read: DirectionStats, write: DirectionStats, counts: Option<DeviceCounts>) -> Report {
    let leaf = |counts| PhysicalDeviceReport {
        name: "vda".into(),
        counts,
        utilization: 50.0,
    };
    let device = |counts| DeviceReport {
        name: "vda".into(),
        counts,
        utilization: 50.0,
        physical_devices: vec![leaf(counts)],
    };
    Report {
        started_at_ms: 0,
        duration_ms: SECONDS * 1000.0,
        ended_by: EndedBy::Runtime,
        phases: Vec::new(),
        read,
        write,
        trim: DirectionStats::default(),
        sync: SyncStats::default(),
        jobs: Vec::new(),
        absent: if counts.is_none() {
            [("device".to_owned(), "/sys cannot be read".to_owned())].into()
        } else {
            BTreeMap::new()
        },
        device: counts.map(device),
        readings: Vec::new(),
        cpu: None,
        memory: None,
        pressure: None,
        storage: None,
        targets: vec![target()],
        gauge: None,
        transitions: Vec::new(),
        writeback: None,
        flush: None,
        requests: None,
        profile: None,
        errors: ErrorReport::default(),
        start_skew_ns: 0,
        achieved_depth: None,
    }
}

/// A file of 40 MiB, written before, with nothing in the page cache.
fn target() -> TargetReport {
    let (region, none) = (
        40 << 20,
        Residency {
            dirty: Some(0),
            writeback: Some(0),
            ..Residency::default()
        },
    );
    let extents = Extents {
        count: 1,
        written: region,
        ..Extents::default()
    };
    TargetReport {
        path: "/data/file".into(),
        kind: TargetKind::File,
        jobs: vec!["job".into()],
        filesystem: Some("ext4".into()),
        mount_point: Some("/data".into()),
        mount_options: Some("rw".into()),
        device: Some("vda".into()),
        region_offset: 0,
        region_bytes: region,
        state: TargetState {
            existed: true,
            written_share: Some(1.0),
            cached_share: Some(0.0),
        },
        residency: ResidencyReport {
            initial: None,
            start: Some(none),
            end: Some(none),
        },
        extents: ExtentsReport {
            before: Some(extents),
            after: Some(extents),
        },
        map: CacheMap::default(),
        backing: None,
        direct: DirectFacts {
            reads_past_cache: Some(true),
            writes_past_cache: Some(true),
            ..DirectFacts::default()
        },
        absent: BTreeMap::new(),
    }
}

/// I/Os of `kib` KiB through or past the page cache, and I/Os and KiB that the device counted in the same direction. All that
/// it moved is this run's, and what it did not get of buffered writes waits in memory.
fn one_way(
    rw: &str,
    direct: bool,
    (ios, kib): (u64, u64),
    (device_ios, device_kib): (u64, u64),
) -> (Report, Vec<ResolvedJob>) {
    let job = resolved(
        json!({"rw": rw, "direct": direct, "mode": if direct { "direct" } else { "buffered" }}),
    );
    let (issued, moved) = (ios * kib * KIB, device_kib * KIB);
    let (flow, nothing) = (dir(ios, issued), DirectionStats::default());
    let mut report = if job.pattern.rw.reads() {
        let counts = DeviceCounts {
            read_ios: device_ios,
            read_bytes: moved,
            ..DeviceCounts::default()
        };
        report(flow, nothing, Some(counts))
    } else {
        let counts = DeviceCounts {
            write_ios: device_ios,
            write_bytes: moved,
            ..DeviceCounts::default()
        };
        report(nothing, flow, Some(counts))
    };
    let written = if job.pattern.rw.reads() { 0 } else { issued };
    report.storage = Some(StorageIo {
        read_bytes: if job.pattern.rw.reads() { moved } else { 0 },
        write_bytes: written,
        ..StorageIo::default()
    });
    let waiting = if direct {
        0
    } else {
        written.saturating_sub(moved)
    };
    report.targets[0]
        .residency
        .end
        .as_mut()
        .expect("told")
        .dirty = Some(waiting);
    (report, vec![job])
}

fn verdict_of((report, jobs): &(Report, Vec<ResolvedJob>)) -> Verdict {
    let verdicts = judge(report, jobs, &HostFacts::default()).0;
    verdicts.read.or(verdicts.write).expect("a verdict")
}

fn codes(report: &Report, jobs: &[ResolvedJob]) -> Vec<String> {
    judge(report, jobs, &HostFacts::default())
        .1
        .into_iter()
        .map(|finding| finding.code)
        .collect()
}

/// The plain file, with what is different about it.
fn with_target(
    mut told: (Report, Vec<ResolvedJob>),
    change: impl FnOnce(&mut TargetReport),
) -> (Report, Vec<ResolvedJob>) {
    change(&mut told.0.targets[0]);
    told
}

/// The same report, changed.
fn with(
    mut told: (Report, Vec<ResolvedJob>),
    change: impl FnOnce(&mut Report),
) -> (Report, Vec<ResolvedJob>) {
    change(&mut told.0);
    told
}

/// A job like the fixture's, with these fields replaced.
fn with_job(told: (Report, Vec<ResolvedJob>), different: Value) -> (Report, Vec<ResolvedJob>) {
    let mut job = serde_json::to_value(&told.1[0]).expect("JSON");
    different
        .as_object()
        .expect("an object")
        .iter()
        .for_each(|(name, value)| job[name] = value.clone());
    (
        told.0,
        vec![serde_json::from_value(job).expect("a resolved job")],
    )
}
