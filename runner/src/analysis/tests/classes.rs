//! Verdict classes of known cases.

use crate::{analysis::tests::*, plan::fixture::target as planned};
use leadline_protocol::verdict::VerdictClass;

#[test]
fn classes_of_known_cases() {
    use VerdictClass::{
        Amplified, DeferredWrite, Device, Merged, Mixed, NoDevice, PageCache, Readahead, Unknown,
    };
    let (read, rand, write) = ("read", "randread", "randwrite");
    for (name, rw, direct, issued, counted, class) in [
        (
            "experiment 000, first run",
            rand,
            false,
            (2560, 4),
            (1121, 4484),
            Mixed,
        ),
        (
            "experiment 000, second run",
            rand,
            false,
            (2560, 4),
            (0, 0),
            PageCache,
        ),
        (
            "experiment 000, direct",
            rand,
            true,
            (2560, 4),
            (2560, 10240),
            Device,
        ),
        (
            "experiment 003, readahead",
            read,
            false,
            (262_144, 4),
            (4156, 1_048_576),
            Readahead,
        ),
        (
            "experiment 003, direct",
            read,
            true,
            (262_144, 4),
            (258_171, 1_032_684),
            Device,
        ),
        (
            "experiment 002, cached writes",
            write,
            false,
            (4_740_000, 8),
            (1170, 285_480),
            DeferredWrite,
        ),
        (
            "warm with a little metadata",
            rand,
            false,
            (100_000, 4),
            (200, 3200),
            PageCache,
        ),
        (
            "large reads are split",
            read,
            true,
            (1000, 1024),
            (4000, 1_024_000),
            Device,
        ),
        (
            "cold random reads, no readahead",
            rand,
            false,
            (100_000, 4),
            (99_500, 398_000),
            Device,
        ),
        (
            "unused readahead",
            rand,
            false,
            (10_000, 4),
            (10_000, 320_000),
            Amplified,
        ),
        (
            "metadata of a small run",
            rand,
            false,
            (100, 4),
            (120, 2000),
            Device,
        ),
        (
            "half in memory",
            rand,
            false,
            (10_000, 4),
            (5000, 20_000),
            Mixed,
        ),
        (
            "buffered writes, all written back",
            "write",
            false,
            (10_000, 4),
            (90, 39_000),
            Merged,
        ),
        (
            "buffered writes, partly written back",
            "write",
            false,
            (10_000, 4),
            (70, 30_000),
            Mixed,
        ),
        (
            "adjacent direct reads, merged",
            read,
            true,
            (10_000, 4),
            (1250, 40_000),
            Merged,
        ),
        (
            "direct reads without device I/O",
            rand,
            true,
            (10_000, 4),
            (0, 0),
            NoDevice,
        ),
        (
            "direct reads, half without device I/O",
            rand,
            true,
            (10_000, 4),
            (5000, 20_000),
            Mixed,
        ),
        (
            "direct writes",
            write,
            true,
            (10_000, 4),
            (10_100, 40_100),
            Device,
        ),
        ("too few", rand, true, (3, 4), (0, 0), Unknown),
        (
            "few large reads",
            read,
            true,
            (4, 65_536),
            (1024, 262_144),
            Device,
        ),
    ] {
        let verdict = verdict_of(&one_direction(rw, direct, issued, counted));
        assert_eq!(verdict.class, class, "{name}: {}", verdict.sentence);
    }
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
    let mut report = report(
        stats(7000, 28_672_000),
        stats(3000, 12_288_000),
        Some(counts),
    );
    report.storage = Some(StorageIo {
        read_bytes: 28_672_000,
        write_bytes: 12_288_000,
        ..StorageIo::default()
    });
    report.targets[0].residency.end.as_mut().unwrap().dirty = Some(12_280_000);
    let verdicts = analyze(&report, &[job], &HostFacts::default()).0;
    assert_eq!(verdicts.read.unwrap().class, VerdictClass::Device);
    assert_eq!(verdicts.write.unwrap().class, VerdictClass::DeferredWrite);
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
        let verdict = verdict_of(&run);
        assert_eq!(verdict.class, VerdictClass::NoDevice);
        assert!(verdict.sentence.contains(text), "{}", verdict.sentence);
        assert!(
            text != "tmpfs" || !codes(&run.0, &run.1).contains(&"device_counters_missing".into())
        );
    }
}
