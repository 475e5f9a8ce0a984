//! Verdict classes and modifiers of known cases.

use crate::{analysis::tests::*, plan::fixture::target as planned};
use ModifierKind::{Amplified, Deferred, Merged, Readahead, Split};
use VerdictClass::{DeferredWrite, Device, Mixed, NoDevice, PageCache, Unwritten};

/// Name, pattern, direct, issued I/Os and the size of each in KiB, I/Os and KiB counted by the
/// device, class, modifiers.
type Case<'a> = (
    &'a str,
    &'a str,
    bool,
    (u64, u64),
    (u64, u64),
    VerdictClass,
    &'a [ModifierKind],
);

fn check_all(cases: &[Case]) {
    for (name, rw, direct, issued, counted, class, modifiers) in cases {
        let run = one_direction(rw, *direct, *issued, *counted);
        check(name, &run, *class, modifiers, "");
    }
}

#[test]
#[rustfmt::skip]
fn reads() {
    let (seq, rand) = ("read", "randread");
    check_all(&[
        ("experiment 000, first run", rand, false, (2560, 4), (1121, 4484), Mixed, &[]),
        ("experiment 000, second run", rand, false, (2560, 4), (0, 0), PageCache, &[]),
        ("experiment 000, direct", rand, true, (2560, 4), (2560, 10_240), Device, &[]),
        ("experiment 003, readahead", seq, false, (262_144, 4), (4156, 1_048_576), Device, &[Readahead]),
        ("experiment 003, direct", seq, true, (262_144, 4), (258_171, 1_032_684), Device, &[]),
        ("warm with a little metadata", rand, false, (100_000, 4), (200, 3200), PageCache, &[]),
        ("large reads are split", seq, true, (1000, 1024), (4000, 1_024_000), Device, &[Split]),
        ("a few large reads", seq, true, (4, 65_536), (1024, 262_144), Device, &[Split]),
        ("cold random reads, no readahead", rand, false, (100_000, 4), (99_500, 398_000), Device, &[]),
        ("unused readahead", rand, false, (10_000, 4), (10_000, 320_000), Device, &[Amplified]),
        ("metadata in a small run", rand, false, (100, 4), (120, 2000), Device, &[]),
        ("half in memory", rand, false, (10_000, 4), (5000, 20_000), Mixed, &[]),
        ("adjacent direct reads, merged", seq, true, (10_000, 4), (1250, 40_000), Device, &[Merged]),
        ("direct reads of holes", rand, true, (10_000, 4), (0, 0), Unwritten, &[]),
        ("direct reads, half of them of holes", rand, true, (10_000, 4), (5000, 20_000), Mixed, &[]),
        ("three direct reads", rand, true, (3, 4), (3, 12), Device, &[]),
    ]);
}

#[test]
#[rustfmt::skip]
fn writes() {
    let (seq, rand) = ("write", "randwrite");
    check_all(&[
        ("experiment 002, cached writes", rand, false, (4_740_000, 8), (1170, 285_480), DeferredWrite, &[Deferred]),
        ("buffered writes, all written back", seq, false, (10_000, 4), (90, 40_000), Device, &[Merged]),
        ("buffered writes, nearly all written back", seq, false, (10_000, 4), (90, 39_000), Device, &[Merged, Deferred]),
        ("buffered writes, partly written back", seq, false, (10_000, 4), (70, 30_000), Mixed, &[Merged, Deferred]),
        ("direct writes", rand, true, (10_000, 4), (10_100, 40_100), Device, &[]),
    ]);
}

#[test]
fn both_directions() {
    let counts = DeviceCounts {
        read_ios: 7000,
        read_bytes: 28_672_000,
        write_ios: 2,
        write_bytes: 8192,
        ..DeviceCounts::default()
    };
    let job =
        resolved(json!({"rw": "randrw", "rwmixread": 70, "direct": false, "mode": "buffered"}));
    let (read, write) = (stats(7000, 28_672_000), stats(3000, 12_288_000));
    let mut report = report(read.clone(), write.clone(), Some(counts));
    report.storage = Some(StorageIo {
        read_bytes: 28_672_000,
        write_bytes: 12_288_000,
        ..StorageIo::default()
    });
    report.targets[0].residency.end.as_mut().unwrap().dirty = Some(12_280_000);
    let layers = JobLayers {
        page_bytes: 4096,
        cache_block_bytes: Some(4096),
        read: Some(estimate_of(true, false, 28_672_000, 28_672_000)),
        write: Some(estimate_of(false, false, 12_288_000, 8192)),
    };
    report.jobs = vec![job_report(read, write, layers)];
    let verdicts = analyze(&report, &[job], &HostFacts::default()).0;
    assert_eq!(verdicts.read.unwrap().class, Device);
    assert_eq!(verdicts.write.unwrap().class, DeferredWrite);
}

#[test]
fn jobs_are_weighted_by_their_ios() {
    let merged = |first: u64, second: u64| {
        let run = one_direction("randread", true, (first + second, 4), (0, 0));
        let (mut report, jobs) = with(run, |report| {
            let device = report.device.as_mut().unwrap();
            device.counts.read_bytes = first * 4 * KIB;
            report.storage.as_mut().unwrap().read_bytes = first * 4 * KIB;
        });
        let job = |ios: u64, layer| {
            let layers = JobLayers {
                page_bytes: 4096,
                cache_block_bytes: Some(4096),
                read: Some(exact(&[(layer, 1.0)])),
                write: None,
            };
            job_report(stats(ios, ios * 4 * KIB), DirectionStats::default(), layers)
        };
        report.jobs = vec![
            job(first, StorageLayer::Device),
            job(second, StorageLayer::Unwritten),
        ];
        verdict_of(&(report, [jobs.clone(), jobs].concat())).shares["device"]
    };
    assert!((merged(1000, 3000) - 0.25).abs() < 1e-9);
    assert!((merged(3000, 1000) - 0.75).abs() < 1e-9);
}

#[test]
fn a_job_without_samples_is_unknown() {
    let (mut report, jobs) = one_direction("randread", true, (10_000, 4), (10_000, 40_000));
    let other = job_report(
        stats(5000, 5000 * 4 * KIB),
        DirectionStats::default(),
        JobLayers::default(),
    );
    report.jobs[0].read = stats(5000, 5000 * 4 * KIB);
    report.jobs.push(other);
    // Remove the counters, which could prove that the other job used the device.
    report.storage = None;
    report.device = None;
    let run = (report, [jobs.clone(), jobs].concat());
    check(
        "half of the I/O sampled",
        &run,
        VerdictClass::Unknown,
        &[],
        "",
    );
}

#[test]
fn targets_without_device() {
    let mut bare = planned(0, 1 << 20);
    (bare.device, bare.filesystem) = (None, Some("tmpfs".into()));
    for (fields, text) in [
        (json!({"mode": "null", "ioengine": "null"}), "runner alone"),
        (json!({"targets": [bare]}), "tmpfs"),
    ] {
        let run = (
            report(stats(1000, 4_096_000), DirectionStats::default(), None),
            vec![resolved(fields)],
        );
        check(text, &run, NoDevice, &[], text);
        assert!(
            text != "tmpfs" || !codes(&run.0, &run.1).contains(&"device_counters_missing".into())
        );
    }
}
