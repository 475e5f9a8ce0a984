//! Classes that depend on more evidence than device counters.

use crate::analysis::tests::*;
use leadline_protocol::{evidence::target::BackingFile, verdict::VerdictClass};

const READS: (u64, u64) = (10_000, 4);

fn reads(direct: bool, counted: (u64, u64)) -> (Report, Vec<ResolvedJob>) {
    one_direction("randread", direct, READS, counted)
}

fn writes(direct: bool, counted: (u64, u64)) -> (Report, Vec<ResolvedJob>) {
    one_direction("randwrite", direct, READS, counted)
}

/// `text`: part of the sentence.
pub(super) fn check(name: &str, run: &(Report, Vec<ResolvedJob>), class: VerdictClass, text: &str) {
    let verdict = verdict_of(run);
    assert_eq!(verdict.class, class, "{name}: {}", verdict.sentence);
    assert!(
        verdict.sentence.contains(text),
        "{name}: {}",
        verdict.sentence
    );
    let sum: f64 = verdict.shares.values().sum();
    assert!(
        verdict.shares.is_empty() || (sum - 1.0).abs() < 1e-9,
        "{name}: shares add up to {sum}"
    );
}

#[test]
fn extents_without_data() {
    let empty = |share: u64| {
        move |target: &mut TargetReport| {
            let before = target.extents.before.as_mut().unwrap();
            before.hole = target.region_bytes * share / 100;
            before.written = target.region_bytes - before.hole;
        }
    };
    check(
        "all holes, direct",
        &with_target(reads(true, (0, 0)), empty(100)),
        VerdictClass::Unwritten,
        "never written",
    );
    check(
        "all holes, buffered",
        &with_target(reads(false, (5, 20)), empty(100)),
        VerdictClass::Unwritten,
        "zeros",
    );
    let half = with_target(reads(true, (5000, 20_000)), empty(50));
    check(
        "half of it holes",
        &half,
        VerdictClass::Mixed,
        "50.0 % never written",
    );
    check(
        "writes to holes",
        &with_target(writes(true, (10_000, 40_000)), empty(100)),
        VerdictClass::Device,
        "reached vda",
    );
    let compressed = |target: &mut TargetReport| {
        target.extents.before.as_mut().unwrap().encoded = target.region_bytes
    };
    check(
        "compressed",
        &with_target(reads(false, (300, 1200)), compressed),
        VerdictClass::Mixed,
        "97.0 % from the filesystem",
    );
    let warm = |target: &mut TargetReport| {
        compressed(target);
        target.residency.start.as_mut().unwrap().cached = target.region_bytes;
    };
    check(
        "compressed and warm",
        &with_target(reads(false, (0, 0)), warm),
        VerdictClass::PageCache,
        "IOPS from memory",
    );
}

#[test]
fn process_counters_exclude_foreign_io() {
    let own = |read_kib: u64| {
        move |report: &mut Report| report.storage.as_mut().unwrap().read_bytes = read_kib * KIB
    };
    check(
        "foreign reads",
        &with(reads(true, (30_000, 120_000)), own(40_000)),
        VerdictClass::Foreign,
        "78.1 MiB for other programs",
    );
    check(
        "warm, with foreign reads",
        &with(reads(false, (20_000, 80_000)), own(0)),
        VerdictClass::PageCache,
        "0 of 10,000 reads reached vda",
    );
    check(
        "half warm, with foreign reads",
        &with(reads(false, (20_000, 80_000)), own(20_000)),
        VerdictClass::Mixed,
        "50.0 % from memory",
    );
    check(
        "unused readahead of this process",
        &with(reads(false, (20_000, 80_000)), own(80_000)),
        VerdictClass::Amplified,
        "2.0 bytes per byte",
    );
    check(
        "foreign writes",
        &writes(true, (30_000, 120_000)),
        VerdictClass::Foreign,
        "for other programs",
    );
    let fsynced = with_job(writes(true, (30_000, 120_000)), json!({"fsync": 1}));
    check(
        "journal",
        &fsynced,
        VerdictClass::Amplified,
        "3.0 bytes per byte",
    );
    let btrfs = with_target(writes(true, (20_000, 80_000)), |target| {
        target.filesystem = Some("btrfs".into())
    });
    check(
        "copy on write",
        &btrfs,
        VerdictClass::Amplified,
        "2.0 bytes per byte",
    );
    let deferred = with(writes(false, (30_000, 120_000)), |report| {
        report.targets[0].residency.end.as_mut().unwrap().dirty = Some(39_000 * KIB);
    });
    check(
        "dirty data, with foreign writes",
        &deferred,
        VerdictClass::DeferredWrite,
        "only 2.5 %",
    );
    let before = with(writes(false, (10_000, 40_000)), |report| {
        let residency = &mut report.targets[0].residency;
        residency.start.as_mut().unwrap().dirty = Some(20_000 * KIB);
        residency.end.as_mut().unwrap().dirty = Some(40_000 * KIB);
    });
    check(
        "older dirty data written first",
        &before,
        VerdictClass::Mixed,
        "50.0 % stayed in memory",
    );
}

#[test]
fn loop_device_backed_by_page_cache() {
    let on_loop = |run: (Report, Vec<ResolvedJob>), disk_kib: u64, cached: bool| {
        with(run, |report| {
            let device = report.device.as_mut().unwrap();
            device.name = "loop0".into();
            let counts = &mut device.physical_devices[0].counts;
            (counts.read_ios, counts.read_bytes, counts.write_bytes) =
                (disk_kib / 4, disk_kib * KIB, disk_kib * KIB);
            report.targets[0].direct.loop_direct_io = Some(!cached);
            report.targets[0].direct.reads_past_cache = Some(!cached);
        })
    };
    check(
        "cached loop, warm",
        &on_loop(reads(true, (10_000, 40_000)), 0, true),
        VerdictClass::PageCache,
        "0 of 10,000 reads reached vda",
    );
    check(
        "cached loop, cold",
        &on_loop(reads(true, (10_000, 40_000)), 41_000, true),
        VerdictClass::Device,
        "reached loop0",
    );
    let with_backing = |run: (Report, Vec<ResolvedJob>), cached_kib: u64, dirty_kib: u64| {
        with_target(on_loop(run, 41_000, true), |target| {
            let at = |dirty: u64| Residency {
                cached: cached_kib * KIB,
                dirty: Some(dirty),
                writeback: Some(0),
                ..Residency::default()
            };
            target.backing = Some(BackingFile {
                path: "/images/one".into(),
                allocated_bytes: 40 << 20,
                start: Some(at(0)),
                end: Some(at(dirty_kib * KIB)),
            });
        })
    };
    let warm = with_backing(reads(true, (10_000, 40_000)), 40 << 10, 0);
    check(
        "cached loop, warm, with foreign reads",
        &warm,
        VerdictClass::PageCache,
        "0 of 10,000 reads reached vda",
    );
    let written = with_backing(writes(true, (10_000, 40_000)), 0, 40_000);
    check(
        "cached loop, written, with foreign writes",
        &written,
        VerdictClass::DeferredWrite,
        "none of the 39.1 MiB reached vda",
    );
    let each_half = |run: (Report, Vec<ResolvedJob>), is_one_file: bool| {
        with(run, |report| {
            let mut other = report.targets[0].clone();
            other.path = "/data/other".into();
            if let (false, Some(backing)) = (is_one_file, &mut other.backing) {
                backing.path = "/images/two".into();
            }
            report.targets.push(other);
        })
    };
    let two_images = each_half(
        with_backing(writes(true, (10_000, 40_000)), 0, 20_000),
        false,
    );
    check(
        "two cached loops, written",
        &two_images,
        VerdictClass::DeferredWrite,
        "none of the 39.1 MiB reached vda",
    );
    let one_image = each_half(
        with_backing(writes(true, (10_000, 40_000)), 0, 20_000),
        true,
    );
    check(
        "two files on a cached loop, written",
        &one_image,
        VerdictClass::Mixed,
        "50.0 % of the bytes reached vda",
    );
    let half_warm = each_half(
        with_backing(reads(true, (10_000, 40_000)), 20 << 10, 0),
        true,
    );
    check(
        "two files on a cached loop, half warm",
        &half_warm,
        VerdictClass::Mixed,
        "from memory",
    );
    let cold = with_backing(reads(true, (10_000, 40_000)), 0, 0);
    check(
        "cached loop, cold",
        &cold,
        VerdictClass::Device,
        "reached loop0",
    );
    assert!(
        verdict_of(&cold).uncertainty < 0.001
            && verdict_of(&on_loop(reads(true, (10_000, 40_000)), 41_000, true)).uncertainty > 0.9
    );
    check(
        "loop with direct I/O",
        &on_loop(reads(true, (10_000, 40_000)), 40_000, false),
        VerdictClass::Device,
        "loop0",
    );
    check(
        "loop on a sparse file",
        &on_loop(reads(true, (10_000, 40_000)), 0, false),
        VerdictClass::NoDevice,
        "from the filesystem",
    );
    check(
        "cached loop, written",
        &on_loop(writes(true, (10_000, 40_000)), 0, true),
        VerdictClass::DeferredWrite,
        "reached vda",
    );
}

#[test]
fn missing_counters() {
    let without_storage = |report: &mut Report| {
        report.storage = None;
        report
            .absent
            .insert("storage".into(), "/proc/self/io cannot be read".into());
    };
    check(
        "not attributable",
        &with(reads(true, (30_000, 120_000)), without_storage),
        VerdictClass::Unknown,
        "cannot be distinguished",
    );
    let weak = with(reads(true, (10_000, 40_000)), without_storage);
    check(
        "possibly foreign",
        &weak,
        VerdictClass::Device,
        "cannot be distinguished: /proc/self/io cannot be read.",
    );
    assert!((verdict_of(&weak).uncertainty - 1.0).abs() < 1e-9);
    check(
        "no device reads",
        &with(reads(false, (0, 0)), without_storage),
        VerdictClass::PageCache,
        "0 of 10,000 reads reached vda.",
    );
    assert!(verdict_of(&with(reads(false, (0, 0)), without_storage)).uncertainty < 0.001);
    let uncounted = |run| {
        with(run, |report: &mut Report| {
            report.device = None;
            report
                .absent
                .insert("device".into(), "/sys cannot be read".into());
        })
    };
    check(
        "process counters only",
        &uncounted(reads(true, (10_000, 40_000))),
        VerdictClass::Device,
        "39.1 MiB moved by this process",
    );
    check(
        "process counters only, from memory",
        &uncounted(reads(false, (0, 0))),
        VerdictClass::PageCache,
        "Device I/O was not counted",
    );
    let blind = with(uncounted(reads(false, (0, 0))), without_storage);
    check(
        "no counters",
        &blind,
        VerdictClass::Unknown,
        "/sys cannot be read",
    );
    assert!(verdict_of(&blind).shares.is_empty());
    assert!(codes(&blind.0, &blind.1).contains(&"device_counters_missing".into()));
    let no_cachestat = with_target(writes(false, (10_000, 40_000)), |target| {
        target.residency = ResidencyReport::default()
    });
    check(
        "dirty data unknown",
        &no_cachestat,
        VerdictClass::Device,
        "cannot be distinguished",
    );
}

#[test]
fn ramp_within_the_window() {
    let with_late_job = |late: Value| {
        let (report, jobs) = reads(true, (30_000, 120_000));
        let late = with_job((report.clone(), jobs.clone()), late).1;
        (report, [jobs, late].concat())
    };
    let mixed = VerdictClass::Amplified;
    check(
        "no ramp",
        &with_late_job(json!({"name": "late"})),
        mixed,
        "3.0 bytes",
    );
    let run = with_late_job(json!({"name": "late", "ramp_ms": 5000}));
    check(
        "ramp of one job",
        &run,
        VerdictClass::Unknown,
        "include I/O of the ramp of late",
    );
    assert!(!codes(&run.0, &run.1).contains(&"amplification".into()));
    check(
        "startdelay only",
        &with_late_job(json!({"name": "late", "startdelay_ms": 5000})),
        mixed,
        "",
    );
    check(
        "ramp of writes",
        &with_late_job(json!({"name": "late", "ramp_ms": 5000, "rw": "write"})),
        mixed,
        "",
    );
    check(
        "ramp without a device",
        &with_late_job(json!({"name": "late", "ramp_ms": 5000, "mode": "null"})),
        mixed,
        "",
    );
    let (report, mut jobs) = with_late_job(json!({"name": "late", "ramp_ms": 5000}));
    jobs[0].timing.startdelay_ms = 5000;
    check("ramp and delay end together", &(report, jobs), mixed, "");
}
