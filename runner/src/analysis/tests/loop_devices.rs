//! Verdicts of targets on loop devices.

use crate::analysis::tests::{
    evidence::{reads, writes},
    *,
};
use ModifierKind::Deferred;
use StorageLayer::{LowerCache, Unwritten};

/// The target's device is loop0, backed by a file on vda, which transferred `disk_kib`.
fn on_loop(
    run: (Report, Vec<ResolvedJob>),
    disk_kib: u64,
    cached: bool,
) -> (Report, Vec<ResolvedJob>) {
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
fn holes_below_a_loop_device() -> (Report, Vec<ResolvedJob>) {
    let run = on_loop(reads(true, (10_000, 40_000)), 0, false);
    with_layers(run, exact(&[(Unwritten, 1.0)]))
}

#[test]
fn holes_below_a_loop_device_are_not_amplification() {
    assert_eq!(kinds(&verdict_of(&holes_below_a_loop_device())), []);
}
