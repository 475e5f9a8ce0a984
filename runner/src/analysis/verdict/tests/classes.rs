//! The one word, the sentence and the shares.

use crate::analysis::verdict::tests::*;
use crate::plan::fixture::target as planned;
use leadline_protocol::evidence::{BackingFile, Direction, ServedBy, Transition};
use leadline_protocol::phase::Phase;
use leadline_protocol::report::PhaseTime;
use leadline_protocol::verdict::VerdictClass;
use serde_json::json;

#[test]
fn known_cases_have_their_class() {
    use VerdictClass::{
        Amplified, DeferredWrite, Device, Merged, Mixed, NoDevice, PageCache, Readahead, Unknown,
    };
    let (read, rand, write) = ("read", "randread", "randwrite");
    for (name, rw, direct, issued, counted, class) in [
        (
            "seed 000, first run",
            rand,
            false,
            (2560, 4),
            (1121, 4484),
            Mixed,
        ),
        (
            "seed 000, second run",
            rand,
            false,
            (2560, 4),
            (0, 0),
            PageCache,
        ),
        (
            "seed 000, direct",
            rand,
            true,
            (2560, 4),
            (2560, 10240),
            Device,
        ),
        (
            "seed 003, readahead",
            read,
            false,
            (262_144, 4),
            (4156, 1_048_576),
            Readahead,
        ),
        (
            "seed 003, direct",
            read,
            true,
            (262_144, 4),
            (258_171, 1_032_684),
            Device,
        ),
        (
            "seed 002, cached writes",
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
            "readahead of more than is used",
            rand,
            false,
            (10_000, 4),
            (10_000, 320_000),
            Amplified,
        ),
        (
            "a small run's metadata is no amplification",
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
            "buffered writes that reached the disk in time",
            "write",
            false,
            (10_000, 4),
            (90, 39_000),
            Merged,
        ),
        (
            "buffered writes that did in part",
            "write",
            false,
            (10_000, 4),
            (70, 30_000),
            Mixed,
        ),
        (
            "direct reads of neighbours, joined",
            read,
            true,
            (10_000, 4),
            (1250, 40_000),
            Merged,
        ),
        (
            "direct reads that asked no device",
            rand,
            true,
            (10_000, 4),
            (0, 0),
            NoDevice,
        ),
        (
            "direct reads that did in part",
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
        ("too few to tell", rand, true, (3, 4), (0, 0), Unknown),
        (
            "few, and large",
            read,
            true,
            (4, 65_536),
            (1024, 262_144),
            Device,
        ),
    ] {
        let verdict = verdict_of(&one_way(rw, direct, issued, counted));
        assert_eq!(verdict.class, class, "{name}: {}", verdict.sentence);
    }
}

/// A case with more evidence than counts, its class, and a part of its sentence.
fn check(name: &str, told: &(Report, Vec<ResolvedJob>), class: VerdictClass, word: &str) {
    let verdict = verdict_of(told);
    assert_eq!(verdict.class, class, "{name}: {}", verdict.sentence);
    assert!(
        verdict.sentence.contains(word),
        "{name}: {}",
        verdict.sentence
    );
    let sum: f64 = verdict.shares.values().sum();
    assert!(
        verdict.shares.is_empty() || (sum - 1.0).abs() < 1e-9,
        "{name}: shares add up to {sum}"
    );
}

const READS: (u64, u64) = (10_000, 4);

fn reads(direct: bool, counted: (u64, u64)) -> (Report, Vec<ResolvedJob>) {
    one_way("randread", direct, READS, counted)
}

fn writes(direct: bool, counted: (u64, u64)) -> (Report, Vec<ResolvedJob>) {
    one_way("randwrite", direct, READS, counted)
}

#[test]
fn extents_tell_zeros_from_memory() {
    let empty = |share: u64| {
        move |target: &mut TargetReport| {
            let before = target.extents.before.as_mut().expect("told");
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
        "50.0 % were never written",
    );
    check(
        "holes are written like all",
        &with_target(writes(true, (10_000, 40_000)), empty(100)),
        VerdictClass::Device,
        "went to vda",
    );
    let compressed = |target: &mut TargetReport| {
        target.extents.before.as_mut().expect("told").encoded = target.region_bytes
    };
    check(
        "compressed",
        &with_target(reads(false, (300, 1200)), compressed),
        VerdictClass::Mixed,
        "97.0 % from the filesystem",
    );
    let warm = |target: &mut TargetReport| {
        compressed(target);
        target.residency.start.as_mut().expect("told").cached = target.region_bytes;
    };
    check(
        "compressed and warm",
        &with_target(reads(false, (0, 0)), warm),
        VerdictClass::PageCache,
        "came from memory",
    );
}

#[test]
fn the_process_tells_ours_from_others() {
    let own = |read_kib: u64| {
        move |report: &mut Report| {
            report.storage.as_mut().expect("told").read_bytes = read_kib * KIB
        }
    };
    check(
        "a neighbour reads",
        &with(reads(true, (30_000, 120_000)), own(40_000)),
        VerdictClass::Foreign,
        "78.1 MiB for others",
    );
    check(
        "warm beside a neighbour",
        &with(reads(false, (20_000, 80_000)), own(0)),
        VerdictClass::PageCache,
        "0 of 10,000 reads reached vda",
    );
    check(
        "half warm beside a neighbour",
        &with(reads(false, (20_000, 80_000)), own(20_000)),
        VerdictClass::Mixed,
        "50.0 % from memory",
    );
    check(
        "read too much by ourselves",
        &with(reads(false, (20_000, 80_000)), own(80_000)),
        VerdictClass::Amplified,
        "2.0 bytes",
    );
    check(
        "a neighbour writes",
        &writes(true, (30_000, 120_000)),
        VerdictClass::Foreign,
        "for others",
    );
    let fsynced = with_job(writes(true, (30_000, 120_000)), json!({"fsync": 1}));
    check(
        "a journal of our own",
        &fsynced,
        VerdictClass::Amplified,
        "3.0 bytes for each byte",
    );
    let btrfs = with_target(writes(true, (20_000, 80_000)), |target| {
        target.filesystem = Some("btrfs".into())
    });
    check(
        "copy on write",
        &btrfs,
        VerdictClass::Amplified,
        "2.0 bytes",
    );
    let deferred = with(writes(false, (30_000, 120_000)), |report| {
        report.targets[0]
            .residency
            .end
            .as_mut()
            .expect("told")
            .dirty = Some(39_000 * KIB);
    });
    check(
        "writes in memory beside a neighbour's",
        &deferred,
        VerdictClass::DeferredWrite,
        "only 2.5 %",
    );
    let before = with(writes(false, (10_000, 40_000)), |report| {
        let residency = &mut report.targets[0].residency;
        residency.start.as_mut().expect("told").dirty = Some(20_000 * KIB);
        residency.end.as_mut().expect("told").dirty = Some(40_000 * KIB);
    });
    check(
        "older writes went first",
        &before,
        VerdictClass::Mixed,
        "50.0 % stayed in memory",
    );
}

#[test]
fn memory_beneath_the_device_is_memory() {
    let on_loop = |told: (Report, Vec<ResolvedJob>), leaf_kib: u64, cached: bool| {
        with(told, |report| {
            let device = report.device.as_mut().expect("counted");
            device.name = "loop0".into();
            let counts = &mut device.physical_devices[0].counts;
            (counts.read_ios, counts.read_bytes, counts.write_bytes) =
                (leaf_kib / 4, leaf_kib * KIB, leaf_kib * KIB);
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
        "came from loop0",
    );
    let seen = |told: (Report, Vec<ResolvedJob>), cached_kib: u64, waiting_kib: u64| {
        with_target(on_loop(told, 41_000, true), |target| {
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
                end: Some(at(waiting_kib * KIB)),
            });
        })
    };
    let warm = seen(reads(true, (10_000, 40_000)), 40 << 10, 0);
    check(
        "cached loop, warm, while others read the disk",
        &warm,
        VerdictClass::PageCache,
        "0 of 10,000 reads reached vda",
    );
    let taken = seen(writes(true, (10_000, 40_000)), 0, 40_000);
    check(
        "cached loop, written, while others write",
        &taken,
        VerdictClass::DeferredWrite,
        "none of the 39.1 MiB had reached vda",
    );
    let each_half = |told: (Report, Vec<ResolvedJob>), is_one_file: bool| {
        with(told, |report| {
            let mut other = report.targets[0].clone();
            other.path = "/data/other".into();
            if let (false, Some(backing)) = (is_one_file, &mut other.backing) {
                backing.path = "/images/two".into();
            }
            report.targets.push(other);
        })
    };
    let two_images = each_half(seen(writes(true, (10_000, 40_000)), 0, 20_000), false);
    check(
        "two cached loops, written",
        &two_images,
        VerdictClass::DeferredWrite,
        "none of the 39.1 MiB had reached vda",
    );
    let one_image = each_half(seen(writes(true, (10_000, 40_000)), 0, 20_000), true);
    check(
        "two files on a cached loop, written",
        &one_image,
        VerdictClass::Mixed,
        "50.0 % of the bytes reached vda in time",
    );
    let half_warm = each_half(seen(reads(true, (10_000, 40_000)), 20 << 10, 0), true);
    check(
        "two files on a cached loop, half warm",
        &half_warm,
        VerdictClass::Mixed,
        "from memory",
    );
    let cold = seen(reads(true, (10_000, 40_000)), 0, 0);
    check(
        "cached loop, cold",
        &cold,
        VerdictClass::Device,
        "came from loop0",
    );
    assert!(
        verdict_of(&cold).uncertainty < 0.001
            && verdict_of(&on_loop(reads(true, (10_000, 40_000)), 41_000, true)).uncertainty > 0.9
    );
    check(
        "loop past the cache",
        &on_loop(reads(true, (10_000, 40_000)), 40_000, false),
        VerdictClass::Device,
        "loop0",
    );
    check(
        "loop on a sparse file",
        &on_loop(reads(true, (10_000, 40_000)), 0, false),
        VerdictClass::NoDevice,
        "by itself",
    );
    check(
        "cached loop, written",
        &on_loop(writes(true, (10_000, 40_000)), 0, true),
        VerdictClass::DeferredWrite,
        "reached vda",
    );
}

#[test]
fn what_is_missing_makes_the_verdict_weaker_and_is_said() {
    let alone = |report: &mut Report| {
        report.storage = None;
        report
            .absent
            .insert("storage".into(), "/proc/self/io cannot be read".into());
    };
    check(
        "nobody tells whose",
        &with(reads(true, (30_000, 120_000)), alone),
        VerdictClass::Unknown,
        "whose they are",
    );
    let weak = with(reads(true, (10_000, 40_000)), alone);
    check(
        "may be others'",
        &weak,
        VerdictClass::Device,
        "cannot be told from ours: /proc/self/io cannot be read.",
    );
    assert!((verdict_of(&weak).uncertainty - 1.0).abs() < 1e-9);
    check(
        "nothing was read by anybody",
        &with(reads(false, (0, 0)), alone),
        VerdictClass::PageCache,
        "0 of 10,000 reads reached vda.",
    );
    assert!(verdict_of(&with(reads(false, (0, 0)), alone)).uncertainty < 0.001);
    let uncounted = |told| {
        with(told, |report: &mut Report| {
            report.device = None;
            report
                .absent
                .insert("device".into(), "/sys cannot be read".into());
        })
    };
    check(
        "the process alone tells",
        &uncounted(reads(true, (10_000, 40_000))),
        VerdictClass::Device,
        "this process had 39.1 MiB moved",
    );
    check(
        "and of memory too",
        &uncounted(reads(false, (0, 0))),
        VerdictClass::PageCache,
        "The device itself was not counted",
    );
    let blind = with(uncounted(reads(false, (0, 0))), alone);
    check(
        "nobody tells",
        &blind,
        VerdictClass::Unknown,
        "/sys cannot be read",
    );
    assert!(verdict_of(&blind).shares.is_empty());
    assert!(codes(&blind.0, &blind.1).contains(&"device_counters_absent".into()));
    let no_cachestat = with_target(writes(false, (10_000, 40_000)), |target| {
        target.residency = ResidencyReport::default()
    });
    check(
        "dirty memory is not told",
        &no_cachestat,
        VerdictClass::Device,
        "cannot be told from ours",
    );
}

#[test]
fn a_ramp_within_the_window_makes_its_direction_unknown() {
    let beside = |late: Value| {
        let (report, jobs) = reads(true, (30_000, 120_000));
        let late = with_job((report.clone(), jobs.clone()), late).1;
        (report, [jobs, late].concat())
    };
    let mixed = VerdictClass::Amplified;
    check(
        "as if there were no other job",
        &beside(json!({"name": "late"})),
        mixed,
        "3.0 bytes",
    );
    let told = beside(json!({"name": "late", "ramp_ms": 5000}));
    check(
        "a ramp that others do not have",
        &told,
        VerdictClass::Unknown,
        "hold I/O of late's ramp too",
    );
    assert!(!codes(&told.0, &told.1).contains(&"more_than_asked".into()));
    check(
        "a delay only",
        &beside(json!({"name": "late", "startdelay_ms": 5000})),
        mixed,
        "",
    );
    check(
        "of writes",
        &beside(json!({"name": "late", "ramp_ms": 5000, "rw": "write"})),
        mixed,
        "",
    );
    check(
        "of no device",
        &beside(json!({"name": "late", "ramp_ms": 5000, "mode": "null"})),
        mixed,
        "",
    );
    let (report, mut jobs) = beside(json!({"name": "late", "ramp_ms": 5000}));
    jobs[0].timing.startdelay_ms = 5000;
    check("ramp and delay end together", &(report, jobs), mixed, "");
}

#[test]
fn a_run_that_warms_its_own_cache_says_since_when() {
    let turned = with(
        one_way("randread", false, (1_000_000, 4), (10_000, 40_000)),
        |report| {
            report.phases = vec![PhaseTime {
                phase: Phase::Measure,
                start_ms: 500.0,
                duration_ms: 30_000.0,
                bytes: None,
            }];
            report.transitions = vec![Transition {
                t_ms: 3_700.0,
                direction: Direction::Read,
                from: ServedBy::Device,
                to: ServedBy::Memory,
            }];
        },
    );
    check(
        "turned",
        &turned,
        VerdictClass::PageCache,
        "Memory answered from 3.2 s on.",
    );
    assert_eq!(verdict_of(&turned).transition_ms, Some(3_700.0));
}

#[test]
fn the_sentence_says_it_to_anybody() {
    let check = |rw, direct, issued, counted, want: &str| {
        assert_eq!(
            verdict_of(&one_way(rw, direct, issued, counted)).sentence,
            want
        )
    };
    check(
        "randread",
        false,
        (25_600_000, 4),
        (0, 0),
        "853,333 IOPS came from memory: 0 of 25,600,000 reads reached vda.",
    );
    check(
        "randread",
        true,
        (300_000, 4),
        (300_012, 1_200_048),
        "10,000 IOPS came from vda: it counted 300,012 reads for 300,000 issued.",
    );
    check(
        "randread",
        false,
        (2560, 4),
        (1121, 4484),
        "43.8 % of the bytes came from vda, 56.2 % from memory: 1,121 of 2,560 reads reached vda.",
    );
    check(
        "read",
        false,
        (262_144, 4),
        (4156, 1_048_576),
        "8,738 IOPS came through readahead: vda had read the bytes before they were asked for, in 4,156 reads of 252 KiB for 262,144 issued.",
    );
    check(
        "randwrite",
        false,
        (3_000_000, 4),
        (100, 120_000),
        "100,000 IOPS went into memory: only 1.0 % of the 11.4 GiB had reached vda when the measurement ended.",
    );
    check(
        "randwrite",
        false,
        (3_000_000, 4),
        (0, 0),
        "100,000 IOPS went into memory: none of the 11.4 GiB had reached vda when the measurement ended.",
    );
    check(
        "randwrite",
        false,
        (3_000_000, 4),
        (10, 1200),
        "100,000 IOPS went into memory: under 0.1 % of the 11.4 GiB had reached vda when the measurement ended.",
    );
}

#[test]
fn shares_and_evidence_can_be_checked() {
    let verdict = verdict_of(&one_way("randread", false, (2560, 4), (1121, 4484)));
    assert!(
        (verdict.shares["device"] - 0.4379).abs() < 0.0001
            && (verdict.shares["page_cache"] - 0.5621).abs() < 0.0001
    );
    // One I/O of 4 KiB can be in flight at a border.
    assert!((verdict.uncertainty - 1.0 / 2560.0).abs() < 1e-9);
    let number = |name: &str| verdict.evidence[name];
    assert_eq!(
        [
            number("issued_ios"),
            number("device_ios"),
            number("own_bytes")
        ],
        [2560, 1121, 4484 * KIB]
    );
    let at_depth = |engine: &str| {
        let told = one_way("randread", false, (2560, 4), (1121, 4484));
        verdict_of(&with_job(told, json!({"iodepth": 64, "ioengine": engine}))).uncertainty
    };
    assert!((at_depth("io_uring") - 64.0 / 2560.0).abs() < 1e-9);
    assert!(
        (at_depth("psync") - 1.0 / 2560.0).abs() < 1e-9,
        "psync does one I/O at a time"
    );
}

#[test]
fn what_has_no_device_asked_none() {
    let mut bare = planned(0, 1 << 20);
    (bare.device, bare.filesystem) = (None, Some("tmpfs".into()));
    for (different, word) in [
        (json!({"mode": "null", "ioengine": "null"}), "runner alone"),
        (json!({"targets": [bare]}), "tmpfs"),
    ] {
        let told = (
            report(dir(1000, 4_096_000), DirectionStats::default(), None),
            vec![resolved(different)],
        );
        let verdict = verdict_of(&told);
        assert_eq!(verdict.class, VerdictClass::NoDevice);
        assert!(verdict.sentence.contains(word), "{}", verdict.sentence);
        assert!(
            word != "tmpfs" || !codes(&told.0, &told.1).contains(&"device_counters_absent".into())
        );
    }
}

#[test]
fn both_directions_are_judged_apart() {
    let counts = DeviceCounts {
        read_ios: 7000,
        read_bytes: 28_672_000,
        write_ios: 2,
        write_bytes: 8192,
        ..DeviceCounts::default()
    };
    let job =
        resolved(json!({"rw": "randrw", "rwmixread": 70, "direct": false, "mode": "buffered"}));
    let mut report = report(dir(7000, 28_672_000), dir(3000, 12_288_000), Some(counts));
    report.storage = Some(StorageIo {
        read_bytes: 28_672_000,
        write_bytes: 12_288_000,
        ..StorageIo::default()
    });
    report.targets[0].residency.end.as_mut().unwrap().dirty = Some(12_280_000);
    let verdicts = judge(&report, &[job], &HostFacts::default()).0;
    assert_eq!(verdicts.read.unwrap().class, VerdictClass::Device);
    assert_eq!(verdicts.write.unwrap().class, VerdictClass::DeferredWrite);
}
