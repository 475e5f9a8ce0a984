//! Synthetic reports for the verdict and finding tests in the submodules. Some numbers come from
//! the published experiments.

mod classes;
mod disputes;
mod document;
mod evidence;
mod findings;
mod limits;
mod loop_devices;
mod modifiers;
mod proof;
mod questions;
mod recipes;
mod sentences;
mod unanswered_questions;

use crate::{
    analysis::analyze,
    plan::fixture::{resolved, same},
};
use leadline_protocol::{
    counters::{ChargedIo, DeviceCounts, Residency, StorageIo},
    evidence::target::{
        CacheMap, DirectFacts, Extents, ExtentsReport, ResidencyReport, TargetReport, TargetState,
    },
    host::HostFacts,
    job::engine::EngineName,
    plan::{job::ResolvedJob, target::TargetKind},
    report::{
        EndedBy, ErrorReport, JobReport, Report,
        device::{CgroupDevice, CgroupReport, DeviceReport, PhysicalDeviceReport},
        layers::{JobLayers, LayerEstimate, LayerShare, Share},
        stats::{DirectionStats, SyncStats},
    },
    verdict::{ModifierKind, StorageLayer, Verdict, VerdictClass},
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

/// Exact shares of the I/Os by layer; the bytes have the same shares. Layers that are not listed
/// have a share of 0.
fn exact(shares: &[(StorageLayer, f64)]) -> LayerEstimate {
    let each: Vec<_> = shares
        .iter()
        .map(|(layer, share)| (*layer, Share::exact(*share)))
        .collect();
    sampled(&each)
}

/// Shares of the I/Os by layer, with intervals. Layers that are not listed have a share of
/// exactly 0.
fn sampled(shares: &[(StorageLayer, Share)]) -> LayerEstimate {
    let layers = StorageLayer::TOP_DOWN.map(|layer| {
        let given = shares.iter().find(|(name, _)| *name == layer);
        let ios = given.map_or(Share::exact(0.0), |(_, share)| *share);
        let bytes = ios.share;
        LayerShare { layer, ios, bytes }
    });
    LayerEstimate {
        samples: 10_000,
        layers: layers.to_vec(),
        overwritten: Some(Share::exact(0.0)),
    }
}

fn share(low: f64, share: f64, high: f64) -> Share {
    Share { share, low, high }
}

fn job_report(read: DirectionStats, write: DirectionStats, layers: JobLayers) -> JobReport {
    JobReport {
        name: "job".into(),
        engine: EngineName::IoUring,
        workers: 1,
        duration_ms: SECONDS * 1000.0,
        ended_by: EndedBy::Runtime,
        read,
        write,
        trim: DirectionStats::default(),
        sync: SyncStats::default(),
        user_ns_per_io: None,
        usage: None,
        system_ns_per_io: None,
        errors: 0,
        decisions: Vec::new(),
        layers: Some(layers),
        stalls: None,
        verify: None,
        steady_state: None,
        latency_target: None,
        violated_limit: None,
        arrivals: None,
    }
}

/// The report of a job with a file on vda, without sampled I/Os.
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
        ended_by: Some(EndedBy::Runtime),
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
        cgroup: None,
        targets: vec![target()],
        gauge: None,
        transitions: Vec::new(),
        level_changes: Vec::new(),
        host_changes: Vec::new(),
        pauses: Vec::new(),
        writeback: None,
        flush: None,
        requests: None,
        profile: None,
        errors: ErrorReport::default(),
        foreign: None,
        start_skew_ns: Some(0),
        achieved_depth: None,
    }
}

/// Sets the bytes that the kernel charged to the run's control group, by device.
fn charge(report: &mut Report, reads: bool, devices: &[(&str, u64)]) {
    let device = |(name, bytes): &(&str, u64)| CgroupDevice {
        device: (*name).into(),
        disk: (*name).into(),
        counts: ChargedIo {
            read_bytes: if reads { *bytes } else { 0 },
            write_bytes: if reads { 0 } else { *bytes },
            ..ChargedIo::default()
        },
    };
    report.cgroup = Some(CgroupReport {
        path: "/sys/fs/cgroup/unit/leadline-run-7".into(),
        devices: devices.iter().map(device).collect(),
    });
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

/// A run with I/O in one direction and no foreign I/O. Arguments: number of issued I/Os and their
/// size in KiB, then I/Os and KiB counted by the device. Every I/O was looked up. The device served
/// as many I/Os as its bytes account for. All other reads came from the page cache or, with direct
/// I/O, from extents without data; all other writes are dirty.
fn one_direction(
    rw: &str,
    direct: bool,
    (ios, kib): (u64, u64),
    (device_ios, device_kib): (u64, u64),
) -> (Report, Vec<ResolvedJob>) {
    let block = json!({"min": kib * KIB, "max": kib * KIB, "split": []});
    let job = resolved(json!({
        "rw": rw, "direct": direct, "mode": if direct { "direct" } else { "buffered" },
        "bs": same(&block), "blockalign": same(&json!(kib * KIB)),
    }));
    let reads = job.pattern.rw.reads();
    let issued = ios * kib * KIB;
    let moved = device_kib * KIB;
    let (read, write) = in_direction(reads, stats(ios, issued));
    let counts = if reads {
        DeviceCounts {
            read_ios: device_ios,
            read_bytes: moved,
            ..DeviceCounts::default()
        }
    } else {
        DeviceCounts {
            write_ios: device_ios,
            write_bytes: moved,
            ..DeviceCounts::default()
        }
    };
    let mut report = report(read, write, Some(counts));
    report.storage = Some(StorageIo {
        read_bytes: if reads { moved } else { 0 },
        write_bytes: if reads { 0 } else { issued },
        ..StorageIo::default()
    });
    let is_deferred = !reads && !direct;
    let target = &mut report.targets[0];
    if is_deferred {
        target.region_bytes = target.region_bytes.max(issued);
        target.residency.end.as_mut().unwrap().dirty = Some(issued.saturating_sub(moved));
    }
    with_layers(
        (report, vec![job]),
        estimate_of(reads, direct, issued, moved),
    )
}

/// See [`one_direction`].
fn estimate_of(reads: bool, direct: bool, issued: u64, moved: u64) -> LayerEstimate {
    let device = (moved as f64 / issued as f64).min(1.0);
    let other = match (reads, direct) {
        (true, true) => StorageLayer::Unwritten,
        (_, false) => StorageLayer::PageCache,
        (false, true) => return exact(&[(StorageLayer::Device, 1.0)]),
    };
    exact(&[(StorageLayer::Device, device), (other, 1.0 - device)])
}

/// Read and write statistics with I/O in only one direction.
fn in_direction(reads: bool, stats: DirectionStats) -> (DirectionStats, DirectionStats) {
    if reads {
        (stats, DirectionStats::default())
    } else {
        (DirectionStats::default(), stats)
    }
}

/// Replaces the layers of the only job's sampled I/Os.
fn with_layers(
    run: (Report, Vec<ResolvedJob>),
    estimate: LayerEstimate,
) -> (Report, Vec<ResolvedJob>) {
    with(run, |report| {
        let of = |stats: &DirectionStats| (stats.ios > 0).then(|| estimate.clone());
        let layers = JobLayers {
            page_bytes: 4096,
            cache_block_bytes: Some(4096),
            read: of(&report.read).map(|found| LayerEstimate {
                overwritten: None,
                ..found
            }),
            write: of(&report.write),
        };
        report.jobs = vec![job_report(
            report.read.clone(),
            report.write.clone(),
            layers,
        )];
    })
}

fn without_layers(run: (Report, Vec<ResolvedJob>)) -> (Report, Vec<ResolvedJob>) {
    with(run, |report| {
        for job in &mut report.jobs {
            job.layers = None;
        }
    })
}

/// The modifier kinds, in verdict order.
fn kinds(verdict: &Verdict) -> Vec<ModifierKind> {
    let kind = |modifier: &leadline_protocol::verdict::Modifier| modifier.kind;
    verdict.modifiers.iter().map(kind).collect()
}

/// `text`: a substring of the sentence.
fn check(
    name: &str,
    run: &(Report, Vec<ResolvedJob>),
    class: VerdictClass,
    modifiers: &[ModifierKind],
    text: &str,
) {
    let verdict = verdict_of(run);
    let sentence = &verdict.sentence;
    assert_eq!(verdict.class, class, "{name}: {sentence}");
    assert_eq!(kinds(&verdict), modifiers, "{name}: {sentence}");
    assert!(sentence.contains(text), "{name}: {sentence}");
    for shares in [&verdict.shares, &verdict.byte_shares] {
        let sum: f64 = shares.values().sum();
        assert!(
            shares.is_empty() || (sum - 1.0).abs() < 1e-9,
            "{name}: {shares:?} add up to {sum}"
        );
    }
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

/// Replaces fields of the run's only job.
fn with_job(run: (Report, Vec<ResolvedJob>), fields: Value) -> (Report, Vec<ResolvedJob>) {
    let mut job = serde_json::to_value(&run.1[0]).unwrap();
    fields
        .as_object()
        .unwrap()
        .iter()
        .for_each(|(name, value)| job[name] = value.clone());
    (run.0, vec![serde_json::from_value(job).unwrap()])
}
