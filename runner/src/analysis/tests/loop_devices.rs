//! Verdicts for targets on loop devices.

use crate::analysis::tests::{
    evidence::{reads, writes},
    *,
};
use ModifierKind::Deferred;
use StorageLayer::{LowerCache, Unwritten};
use leadline_protocol::evidence::target::BackingFile;

type Run = (Report, Vec<ResolvedJob>);

/// The target's device is loop0, backed by a file on vda, which transferred `disk_kib`.
fn on_loop(run: Run, disk_kib: u64, cached: bool) -> Run {
    with(run, |report| {
        let device = report.device.as_mut().unwrap();
        device.name = "loop0".into();
        let counts = &mut device.physical_devices[0].counts;
        (counts.read_ios, counts.read_bytes) = (disk_kib / 4, disk_kib * KIB);
        (counts.write_ios, counts.write_bytes) = (disk_kib / 4, disk_kib * KIB);
        let direct = &mut report.targets[0].direct;
        direct.loop_direct_io = Some(!cached);
        direct.reads_past_cache = Some(!cached);
    })
}

#[test]
fn loop_device_backed_by_page_cache() {
    let lower = |run, share: f64| {
        with_layers(
            run,
            exact(&[(LowerCache, share), (StorageLayer::Device, 1.0 - share)]),
        )
    };
    let all = (10_000, 40_000);
    for (name, disk_kib, share, class, text) in [
        (
            "warm",
            0,
            1.0,
            VerdictClass::LowerCache,
            "0 of 10,000 reads reached vda",
        ),
        (
            "warm, with foreign reads",
            41_000,
            1.0,
            VerdictClass::LowerCache,
            "0 of 10,000 reads reached vda",
        ),
        ("cold", 41_000, 0.0, VerdictClass::Device, "reached loop0"),
        (
            "half warm",
            20_000,
            0.5,
            VerdictClass::Mixed,
            "50.0 % of the reads from vda, 50.0 % from memory below loop0",
        ),
    ] {
        let run = lower(on_loop(reads(true, all), disk_kib, true), share);
        check(name, &run, class, &[], text);
    }
    let written = verdict_of(&lower(on_loop(writes(true, all), 0, true), 1.0));
    assert_eq!(written.class, VerdictClass::LowerCache);
    assert!(written.sentence.contains("0 of 10,000 writes reached vda"));
    let partly = verdict_of(&lower(on_loop(writes(true, all), 20_000, true), 0.5));
    assert_eq!(partly.class, VerdictClass::Mixed);
    assert!(
        partly
            .sentence
            .contains("50.0 % of the writes reached vda, 50.0 % stayed in memory below loop0"),
        "{}",
        partly.sentence
    );
}

#[test]
fn writes_in_the_memory_below_a_loop_device_are_deferred() {
    let run = on_loop(writes(true, (10_000, 40_000)), 0, true);
    let verdict = verdict_of(&with_layers(run, exact(&[(LowerCache, 1.0)])));
    assert_eq!(kinds(&verdict), [Deferred], "{}", verdict.sentence);
}

/// A loop device backed by a tmpfs file: no disk is below it, and its dirty pages are unknown.
fn on_tmpfs(run: Run) -> Run {
    let run = with(on_loop(run, 0, true), |report| {
        let device = report.device.as_mut().unwrap();
        device.physical_devices[0].name = device.name.clone();
        device.physical_devices[0].counts = device.counts;
        report.targets[0].region_bytes = 4 << 20;
        report.targets[0].backing = Some(BackingFile {
            path: "/memory/image".into(),
            allocated_bytes: 40 << 20,
            start: Some(Residency::default()),
            end: Some(Residency::default()),
        });
    });
    with_layers(run, exact(&[(LowerCache, 1.0)]))
}

#[test]
fn a_loop_device_on_a_tmpfs_writes_into_memory() {
    // Each block is written multiple times.
    let run = on_tmpfs(writes(true, (10_000, 40_000)));
    let verdict = verdict_of(&run);
    assert_eq!(verdict.class, VerdictClass::LowerCache);
    let text = "into memory below loop0: 0 of 10,000 writes reached a disk.";
    assert!(verdict.sentence.ends_with(text), "{}", verdict.sentence);
}

#[test]
fn no_commit_rate_is_reported_for_a_log_in_memory() {
    let log = |on: fn(Run) -> Run| {
        let job =
            json!({"fdatasync": 1, "direct": false, "iodepth": 1, "numjobs": 1, "rw": "write"});
        let (report, jobs) = with(
            with_job(on(writes(true, (10_000, 40_000))), job),
            |report| {
                report.sync.ios = 1000;
                report.sync.lat_ns.percentiles = [("99".to_owned(), 8000)].into();
            },
        );
        codes(&report, &jobs).contains(&"log_writes".into())
    };
    assert!(log(|run| run));
    assert!(!log(on_tmpfs));
}

#[test]
fn loop_device_with_direct_io() {
    check(
        "with data",
        &on_loop(reads(true, (10_000, 40_000)), 40_000, false),
        VerdictClass::Device,
        &[],
        "loop0",
    );
    let verdict = verdict_of(&holes_below_a_loop_device());
    assert_eq!(verdict.class, VerdictClass::Unwritten);
    let text = "0 of 10,000 reads reached vda";
    assert!(verdict.sentence.contains(text), "{}", verdict.sentence);
}

/// loop0 read all data from holes in its backing file.
fn holes_below_a_loop_device() -> Run {
    let run = on_loop(reads(true, (10_000, 40_000)), 0, false);
    with_layers(run, exact(&[(Unwritten, 1.0)]))
}

#[test]
fn holes_below_a_loop_device_are_not_amplification() {
    assert_eq!(kinds(&verdict_of(&holes_below_a_loop_device())), []);
}
