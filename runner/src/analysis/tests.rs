//! Synthetic reports for the tests of verdicts and findings in the submodules. Some numbers are
//! those of the published experiments.

mod classes;
mod document;
mod evidence;
mod findings;
mod proof;
mod sentences;

use crate::{analysis::analyze, plan::fixture::resolved};
use leadline_protocol::{
    counters::{DeviceCounts, Residency, StorageIo},
    evidence::target::{
        CacheMap, DirectFacts, Extents, ExtentsReport, ResidencyReport, TargetReport, TargetState,
    },
    host::HostFacts,
    plan::{job::ResolvedJob, target::TargetKind},
    report::{
        EndedBy, ErrorReport, Report,
        device::{DeviceReport, PhysicalDeviceReport},
        stats::{DirectionStats, SyncStats},
    },
    verdict::Verdict,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const KIB: u64 = 1024;
const SECONDS: f64 = 30.0;

fn stats(ios: u64, bytes: u64) -> DirectionStats {
    DirectionStats {
        ios,
        bytes,
        iops: ios as f64 / SECONDS,
        bytes_per_second: bytes as f64 / SECONDS,
        ..DirectionStats::default()
    }
}

/// A job on a file on vda.
fn report(read: DirectionStats, write: DirectionStats, counts: Option<DeviceCounts>) -> Report {
    let physical = |counts| PhysicalDeviceReport {
        name: "vda".into(),
        counts,
        utilization: 50.0,
    };
    let device = |counts| DeviceReport {
        name: "vda".into(),
        counts,
        utilization: 50.0,
        physical_devices: vec![physical(counts)],
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

/// A fully written file of 40 MiB that is not cached.
fn target() -> TargetReport {
    let region = 40 << 20;
    let none = Residency {
        dirty: Some(0),
        writeback: Some(0),
        ..Residency::default()
    };
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

/// Issued I/Os of `kib` KiB, and I/Os and KiB counted by the device in the same direction, without
/// foreign I/O. Buffered writes that did not reach the device are dirty.
fn one_direction(
    rw: &str,
    direct: bool,
    (ios, kib): (u64, u64),
    (device_ios, device_kib): (u64, u64),
) -> (Report, Vec<ResolvedJob>) {
    let job = resolved(
        json!({"rw": rw, "direct": direct, "mode": if direct { "direct" } else { "buffered" }}),
    );
    let issued = ios * kib * KIB;
    let moved = device_kib * KIB;
    let issued_stats = stats(ios, issued);
    let nothing = DirectionStats::default();
    let mut report = if job.pattern.rw.reads() {
        let counts = DeviceCounts {
            read_ios: device_ios,
            read_bytes: moved,
            ..DeviceCounts::default()
        };
        report(issued_stats, nothing, Some(counts))
    } else {
        let counts = DeviceCounts {
            write_ios: device_ios,
            write_bytes: moved,
            ..DeviceCounts::default()
        };
        report(nothing, issued_stats, Some(counts))
    };
    let written = if job.pattern.rw.reads() { 0 } else { issued };
    report.storage = Some(StorageIo {
        read_bytes: if job.pattern.rw.reads() { moved } else { 0 },
        write_bytes: written,
        ..StorageIo::default()
    });
    let dirty = if direct {
        0
    } else {
        written.saturating_sub(moved)
    };
    report.targets[0].residency.end.as_mut().unwrap().dirty = Some(dirty);
    (report, vec![job])
}

fn verdict_of((report, jobs): &(Report, Vec<ResolvedJob>)) -> Verdict {
    let verdicts = analyze(report, jobs, &HostFacts::default()).0;
    verdicts.read.or(verdicts.write).unwrap()
}

fn codes(report: &Report, jobs: &[ResolvedJob]) -> Vec<String> {
    analyze(report, jobs, &HostFacts::default())
        .1
        .into_iter()
        .map(|finding| finding.code)
        .collect()
}

fn with_target(
    mut run: (Report, Vec<ResolvedJob>),
    change: impl FnOnce(&mut TargetReport),
) -> (Report, Vec<ResolvedJob>) {
    change(&mut run.0.targets[0]);
    run
}

fn with(
    mut run: (Report, Vec<ResolvedJob>),
    change: impl FnOnce(&mut Report),
) -> (Report, Vec<ResolvedJob>) {
    change(&mut run.0);
    run
}

/// Replaces fields of the job.
fn with_job(run: (Report, Vec<ResolvedJob>), fields: Value) -> (Report, Vec<ResolvedJob>) {
    let mut job = serde_json::to_value(&run.1[0]).unwrap();
    fields
        .as_object()
        .unwrap()
        .iter()
        .for_each(|(name, value)| job[name] = value.clone());
    (run.0, vec![serde_json::from_value(job).unwrap()])
}
