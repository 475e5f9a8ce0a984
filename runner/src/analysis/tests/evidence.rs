//! Verdicts that depend on evidence other than the device counters.

use crate::analysis::tests::*;
use ModifierKind::{Amplified, Deferred, Foreign};
use StorageLayer::{PageCache, Unknown, Unwritten};

const READS: (u64, u64) = (10_000, 4);

pub(super) fn reads(direct: bool, counted: (u64, u64)) -> (Report, Vec<ResolvedJob>) {
    one_direction("randread", direct, READS, counted)
}

pub(super) fn writes(direct: bool, counted: (u64, u64)) -> (Report, Vec<ResolvedJob>) {
    one_direction("randwrite", direct, READS, counted)
}

#[test]
fn extents_without_data() {
    let empty = |run, percent: u64| {
        let share = percent as f64 / 100.0;
        let layers = exact(&[(Unwritten, share), (StorageLayer::Device, 1.0 - share)]);
        with_layers(
            with_target(run, |target| {
                let before = target.extents.before.as_mut().unwrap();
                before.hole = target.region_bytes * percent / 100;
                before.written = target.region_bytes - before.hole;
            }),
            layers,
        )
    };
    check(
        "all holes, direct",
        &empty(reads(true, (0, 0)), 100),
        VerdictClass::Unwritten,
        &[],
        "never written",
    );
    check(
        "all holes, buffered",
        &empty(reads(false, (5, 20)), 100),
        VerdictClass::Unwritten,
        &[],
        "zeros",
    );
    check(
        "half holes",
        &empty(reads(true, (5000, 20_000)), 50),
        VerdictClass::Mixed,
        &[],
        "50.0 % never written",
    );
    let holes_before = with_target(writes(true, (10_000, 40_000)), |target| {
        let before = target.extents.before.as_mut().unwrap();
        (before.hole, before.written) = (target.region_bytes, 0);
    });
    check(
        "writes to holes",
        &holes_before,
        VerdictClass::Device,
        &[],
        "reached vda",
    );
}

#[test]
fn compressed_data() {
    let compressed = |run| {
        with_target(run, |target: &mut TargetReport| {
            target.extents.before.as_mut().unwrap().encoded = target.region_bytes
        })
    };
    // The file is compressed: one page on the device stores 32 pages of the file.
    let cold = with_layers(
        compressed(reads(false, (300, 1200))),
        exact(&[(StorageLayer::Device, 1.0)]),
    );
    check(
        "cold",
        &cold,
        VerdictClass::Device,
        &[ModifierKind::Readahead],
        "10,000 issued",
    );
    let warm = with_target(compressed(reads(false, (0, 0))), |target| {
        target.residency.start.as_mut().unwrap().cached = target.region_bytes;
    });
    check(
        "warm",
        &warm,
        VerdictClass::PageCache,
        &[],
        "IOPS from memory",
    );
    let written = compressed(writes(true, (300, 1200)));
    check(
        "writes",
        &written,
        VerdictClass::Device,
        &[ModifierKind::Merged],
        "",
    );
}

#[test]
fn process_counters_exclude_foreign_reads() {
    let own = |run, read_kib: u64, cached: f64| {
        let run = with(run, |report: &mut Report| {
            report.storage.as_mut().unwrap().read_bytes = read_kib * KIB
        });
        let layers = exact(&[(PageCache, cached), (StorageLayer::Device, 1.0 - cached)]);
        with_layers(run, layers)
    };
    check(
        "foreign reads",
        &own(reads(true, (30_000, 120_000)), 40_000, 0.0),
        VerdictClass::Device,
        &[Foreign],
        "78.1 MiB for other programs",
    );
    check(
        "warm, with foreign reads",
        &own(reads(false, (20_000, 80_000)), 0, 1.0),
        VerdictClass::PageCache,
        &[Foreign],
        "0 of 10,000 reads reached vda",
    );
    check(
        "half warm, with foreign reads",
        &own(reads(false, (20_000, 80_000)), 20_000, 0.5),
        VerdictClass::Mixed,
        &[Foreign],
        "50.0 % from memory",
    );
    check(
        "unused readahead of this process",
        &own(reads(false, (20_000, 80_000)), 80_000, 0.0),
        VerdictClass::Device,
        &[Amplified],
        "2.0 × the issued bytes",
    );
}

#[test]
fn filesystem_and_foreign_writes() {
    check(
        "foreign writes",
        &writes(true, (30_000, 120_000)),
        VerdictClass::Device,
        &[Foreign],
        "for other programs",
    );
    let fsynced = with_job(writes(true, (30_000, 120_000)), json!({"fsync": 1}));
    check(
        "journal",
        &fsynced,
        VerdictClass::Device,
        &[Amplified],
        "3.0 × the issued bytes",
    );
    let btrfs = with_target(writes(true, (20_000, 80_000)), |target| {
        target.filesystem = Some("btrfs".into())
    });
    check(
        "copy on write",
        &btrfs,
        VerdictClass::Device,
        &[Amplified],
        "2.0 × the issued bytes",
    );
    let deferred = with_target(writes(false, (30_000, 120_000)), |target| {
        target.residency.end.as_mut().unwrap().dirty = Some(39_000 * KIB);
    });
    let in_memory = exact(&[(PageCache, 0.975), (StorageLayer::Device, 0.025)]);
    check(
        "dirty data, with foreign writes",
        &with_layers(deferred, in_memory),
        VerdictClass::DeferredWrite,
        &[Foreign, Deferred],
        "only 2.5 %",
    );
}

/// 20,000 KiB were dirty before the run. The device wrote these and half of the run's data; the
/// other half is still dirty.
fn older_dirty_data() -> (Report, Vec<ResolvedJob>) {
    let run = with_target(writes(false, (10_000, 40_000)), |target| {
        target.residency.start.as_mut().unwrap().dirty = Some(20_000 * KIB);
        target.residency.end.as_mut().unwrap().dirty = Some(20_000 * KIB);
    });
    let half = exact(&[(PageCache, 0.5), (StorageLayer::Device, 0.5)]);
    with_layers(run, half)
}

#[test]
fn older_dirty_data_is_written_first() {
    let verdict = verdict_of(&older_dirty_data());
    assert_eq!(verdict.class, VerdictClass::Mixed, "{}", verdict.sentence);
    assert!(
        verdict.sentence.contains("50.0 % stayed in memory"),
        "{}",
        verdict.sentence
    );
}

#[test]
fn older_dirty_data_is_not_amplification() {
    let kinds = kinds(&verdict_of(&older_dirty_data()));
    assert_eq!(kinds, [Deferred]);
}

fn without_process_counters(report: &mut Report) {
    report.storage = None;
    report
        .absent
        .insert("storage".into(), "/proc/self/io cannot be read".into());
}

fn without_device_counters(run: (Report, Vec<ResolvedJob>)) -> (Report, Vec<ResolvedJob>) {
    with(run, |report: &mut Report| {
        report.device = None;
        report
            .absent
            .insert("device".into(), "/sys cannot be read".into());
    })
}

#[test]
fn missing_process_counters() {
    check(
        "cold",
        &with(reads(true, (10_000, 40_000)), without_process_counters),
        VerdictClass::Device,
        &[],
        "10,000 reads issued, 10,000 seen by the device",
    );
    check(
        "warm",
        &with(reads(false, (0, 0)), without_process_counters),
        VerdictClass::PageCache,
        &[],
        "0 of 10,000 reads reached vda.",
    );
}

/// The device transferred three times the run's bytes. Their origin is unknown, so the device I/Os
/// are not described as parts of the run's I/Os.
#[test]
fn excess_that_cannot_be_attributed_is_not_described() {
    check(
        "direct reads",
        &with(reads(true, (30_000, 120_000)), without_process_counters),
        VerdictClass::Device,
        &[],
        "10,000 reads issued, 30,000 seen by the device",
    );
}

#[test]
fn missing_device_counters() {
    check(
        "cold",
        &without_device_counters(reads(true, (10_000, 40_000))),
        VerdictClass::Device,
        &[],
        "Device I/O was not counted: /sys cannot be read.",
    );
    check(
        "warm",
        &without_device_counters(reads(false, (0, 0))),
        VerdictClass::PageCache,
        &[],
        "Device I/O was not counted: /sys cannot be read.",
    );
    let only_sampled = with(
        without_device_counters(reads(false, (0, 0))),
        without_process_counters,
    );
    check(
        "the sample alone",
        &only_sampled,
        VerdictClass::PageCache,
        &[],
        "Device I/O was not counted",
    );
    assert!(codes(&only_sampled.0, &only_sampled.1).contains(&"device_counters_missing".into()));
}

#[test]
fn missing_samples() {
    for (name, run, text) in [
        (
            "counters alone",
            reads(true, (10_000, 40_000)),
            "no I/O could be looked up",
        ),
        (
            "nothing",
            with(
                without_device_counters(reads(false, (0, 0))),
                without_process_counters,
            ),
            "/sys cannot be read",
        ),
    ] {
        let run = without_layers(run);
        let verdict = verdict_of(&run);
        assert_eq!(verdict.class, VerdictClass::Unknown, "{name}");
        assert!(verdict.sentence.contains(text), "{}", verdict.sentence);
        assert!(verdict.shares.is_empty() && verdict.byte_shares.is_empty());
    }
}

/// If cachestat(2) is not available, the dirty pages are unknown.
fn without_dirty_pages() -> (Report, Vec<ResolvedJob>) {
    let run = with_target(writes(false, (10_000, 40_000)), |target| {
        target.residency = ResidencyReport::default()
    });
    with_layers(run, exact(&[(Unknown, 1.0)]))
}

#[test]
fn unknown_dirty_pages() {
    let verdict = verdict_of(&without_dirty_pages());
    assert_eq!(verdict.class, VerdictClass::Unknown, "{}", verdict.sentence);
    assert!(verdict.shares.is_empty());
}

#[test]
fn unknown_pages_are_not_described_as_uncached() {
    let sentence = verdict_of(&without_dirty_pages()).sentence;
    assert!(
        !sentence.contains("100.0 % of the bytes were not in the page cache"),
        "{sentence}"
    );
}

#[test]
fn ramp_within_the_window() {
    let with_late_job = |late: Value| {
        let (report, jobs) = reads(true, (30_000, 120_000));
        let late = with_job((report.clone(), jobs.clone()), late).1;
        (report, [jobs, late].concat())
    };
    let amplified = |name: &str, run: &(Report, Vec<ResolvedJob>)| {
        check(name, run, VerdictClass::Device, &[Amplified], "3.0 × the");
        assert!(codes(&run.0, &run.1).contains(&"amplification".into()));
    };
    amplified("no ramp", &with_late_job(json!({"name": "late"})));
    let run = with_late_job(json!({"name": "late", "ramp_ms": 5000}));
    // The device counters include I/O from the ramp, but the sample does not.
    check(
        "ramp of one job",
        &run,
        VerdictClass::Device,
        &[],
        "include I/O from the ramp of job late",
    );
    assert!(!codes(&run.0, &run.1).contains(&"amplification".into()));
    for (name, late) in [
        (
            "startdelay only",
            json!({"name": "late", "startdelay_ms": 5000}),
        ),
        (
            "ramp of writes",
            json!({"name": "late", "ramp_ms": 5000, "rw": "write"}),
        ),
        (
            "ramp without a device",
            json!({"name": "late", "ramp_ms": 5000, "mode": "null"}),
        ),
    ] {
        amplified(name, &with_late_job(late));
    }
    let (report, mut jobs) = with_late_job(json!({"name": "late", "ramp_ms": 5000}));
    jobs[0].timing.startdelay_ms = 5000;
    amplified("ramp and delay end together", &(report, jobs));
}
