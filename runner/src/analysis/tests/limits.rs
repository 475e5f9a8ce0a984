//! Tests that process and device counters limit the sampled shares.

use crate::analysis::tests::*;
use StorageLayer::{Device, LowerCache, PageCache, Unknown};

pub(super) type Run = (Report, Vec<ResolvedJob>);

const ISSUED: (u64, u64) = (10_000, 4);

/// 40,000 KiB of reads. This process read `process_kib` from the device, and other programs read
/// the rest of `device_kib`.
pub(super) fn reads(direct: bool, process_kib: u64, device_kib: u64) -> Run {
    let run = one_direction("randread", direct, ISSUED, (device_kib / 4, device_kib));
    with(run, |report| {
        report.storage.as_mut().unwrap().read_bytes = process_kib * KIB
    })
}

/// 40,000 KiB of buffered writes, which dirtied `dirtied_kib`.
pub(super) fn writes(dirtied_kib: u64, device_kib: u64) -> Run {
    let run = one_direction("randwrite", false, ISSUED, (device_kib / 4, device_kib));
    with(run, |report| {
        report.storage.as_mut().unwrap().write_bytes = dirtied_kib * KIB;
    })
}

pub(super) fn with_all_ios_from(run: Run, layer: StorageLayer) -> Run {
    with_layers(run, exact(&[(layer, 1.0)]))
}

pub(super) fn share_of(verdict: &Verdict, layer: StorageLayer) -> f64 {
    verdict.shares.get(layer.as_str()).copied().unwrap_or(0.0)
}

pub(super) fn assert_share(verdict: &Verdict, layer: StorageLayer, expected: f64) {
    let found = share_of(verdict, layer);
    assert!(
        (found - expected).abs() < 0.005,
        "{layer:?} found {found}, expected {expected}: {:?}: {}",
        verdict.shares,
        verdict.sentence
    );
}

pub(super) fn assert_contains(verdict: &Verdict, text: &str) {
    assert!(verdict.sentence.contains(text), "{}", verdict.sentence);
}

pub(super) fn assert_class(run: &Run, class: VerdictClass) -> Verdict {
    let verdict = verdict_of(run);
    assert_eq!(
        verdict.class, class,
        "{:?}: {}",
        verdict.shares, verdict.sentence
    );
    verdict
}

#[test]
fn a_neighbor_that_reads_the_same_file_fills_the_page_cache() {
    // No data was cached when it was looked up, but this process read only some of it from the
    // device.
    let verdict = assert_class(
        &with_all_ios_from(reads(false, 10_000, 40_000), Device),
        VerdictClass::Mixed,
    );
    assert_share(&verdict, Device, 0.25);
    assert_share(&verdict, PageCache, 0.75);
    let verdict = assert_class(
        &with_all_ios_from(reads(false, 0, 40_000), Device),
        VerdictClass::PageCache,
    );
    assert_share(&verdict, PageCache, 1.0);
}

#[test]
fn a_neighbor_on_the_same_device_has_no_effect() {
    let alone = verdict_of(&reads(true, 40_000, 40_000));
    let verdict = assert_class(
        &with_all_ios_from(reads(true, 40_000, 400_000), Device),
        VerdictClass::Device,
    );
    assert_eq!(verdict.shares, alone.shares);
    assert_eq!(verdict.uncertainty, alone.uncertainty);
    let verdict = assert_class(
        &with_all_ios_from(reads(false, 0, 400_000), PageCache),
        VerdictClass::PageCache,
    );
    assert_share(&verdict, Device, 0.0);
}

#[test]
fn streams_over_the_same_file_read_each_page_once() {
    let run = one_direction("read", false, ISSUED, (160, 20_000));
    let verdict = assert_class(&with_all_ios_from(run, Device), VerdictClass::Mixed);
    assert_share(&verdict, Device, 0.5);
    assert_share(&verdict, PageCache, 0.5);
}

#[test]
fn each_small_read_from_the_device_transfers_a_page() {
    let run = with(reads(false, 20_000, 20_000), |report| {
        report.read = stats(10_000, 10_000 * 512)
    });
    let sizes = same(&json!({"min": 512, "max": 512, "split": []}));
    let run = with_all_ios_from(with_job(run, json!({"bs": sizes})), Device);
    let verdict = assert_class(&run, VerdictClass::Mixed);
    assert_share(&verdict, Device, 0.5);
}

/// A sample in which half of the I/Os were served by the device (±0.2).
fn half_sampled(run: Run, other: StorageLayer) -> Run {
    let half = share(0.3, 0.5, 0.7);
    with_layers(run, sampled(&[(Device, half), (other, half)]))
}

#[test]
fn counted_reads_replace_a_small_sample() {
    let counted = with_job(
        reads(false, 16_000, 16_000),
        json!({"fadvise_hint": "random"}),
    );
    let verdict = assert_class(&half_sampled(counted, PageCache), VerdictClass::Mixed);
    let found = share_of(&verdict, Device);
    assert!((found - 0.4).abs() <= verdict.uncertainty.max(0.005));
    // Up to 1 MiB of the 39 MiB may be metadata.
    assert!(verdict.uncertainty < 0.03, "{}", verdict.uncertainty);
}

#[test]
fn readahead_makes_counters_an_upper_limit() {
    let read_ahead = verdict_of(&half_sampled(reads(false, 40_000, 40_000), PageCache));
    assert!((read_ahead.uncertainty - 0.2).abs() < 1e-9);
    assert_share(&read_ahead, Device, 0.5);
    let limited = verdict_of(&half_sampled(reads(false, 16_000, 16_000), PageCache));
    assert_share(&limited, Device, 0.4);
}

#[test]
fn a_sample_that_is_too_small_is_unknown() {
    let wide = share(0.1, 0.5, 0.9);
    let run = with_layers(
        reads(false, 80_000, 80_000),
        sampled(&[(Device, wide), (PageCache, wide)]),
    );
    let verdict = assert_class(&run, VerdictClass::Unknown);
    assert_contains(
        &verdict,
        "sampled reads and the counters, the error bound is ±40.0 %",
    );
}

#[test]
fn ios_in_flight_at_the_boundaries_are_not_disputed() {
    let unknown = |engine: &str| {
        let run = with_job(
            reads(true, 39_800, 39_800),
            json!({"iodepth": 64, "ioengine": engine}),
        );
        share_of(&verdict_of(&with_all_ios_from(run, Device)), Unknown)
    };
    assert_eq!(unknown("io_uring"), 0.0, "64 of 10,000");
    assert!(
        (unknown("psync") - 0.005).abs() < 1e-9,
        "psync executes one I/O at a time"
    );
}

#[test]
fn a_loop_device_in_memory_needs_no_disk() {
    let on_loop = |disk_kib: u64, cached: bool| {
        let run = with(reads(true, 40_000, 40_000), |report| {
            let device = report.device.as_mut().unwrap();
            device.name = "loop0".into();
            device.physical_devices[0].counts.read_bytes = disk_kib * KIB;
            report.targets[0].direct.loop_direct_io = Some(!cached);
        });
        verdict_of(&with_all_ios_from(run, Device))
    };
    assert_eq!(on_loop(0, true).class, VerdictClass::LowerCache);
    assert_share(&on_loop(10_000, true), LowerCache, 0.75);
    assert_share(&on_loop(40_000, true), Device, 1.0);
}

#[test]
fn a_mapped_device_may_serve_reads_itself() {
    let on_dm = |disk_kib: u64, mapping: Option<&str>| {
        let run = with(reads(true, 40_000, 40_000), |report| {
            let device = report.device.as_mut().unwrap();
            device.name = "dm-0".into();
            device.physical_devices[0].counts.read_bytes = disk_kib * KIB;
            report.targets[0].device = Some("dm-0".into());
            report.targets[0].direct.sparse_mapping = mapping.map(Into::into);
        });
        verdict_of(&with_all_ios_from(run, Device))
    };
    for mapping in [None, Some("thin")] {
        assert_share(&on_dm(40_000, mapping), Device, 1.0);
        assert_eq!(on_dm(20_000, mapping).class, VerdictClass::Unknown);
        assert_eq!(on_dm(0, mapping).class, VerdictClass::Unknown);
    }
    assert_contains(
        &on_dm(20_000, None),
        "dm-0 transferred 39.1 MiB, but the devices below it transferred 19.5 MiB",
    );
    assert_share(&on_dm(80_000, None), Device, 1.0);
    let beside_a_neighbor = on_dm(80_000, Some("thin"));
    assert_eq!(beside_a_neighbor.class, VerdictClass::Unknown);
}

#[test]
fn the_control_group_reveals_reads_that_a_thin_device_served() {
    let on_thin = |disk_kib: u64, charged_kib: [u64; 2]| {
        let run = with(reads(true, 40_000, 40_000), |report| {
            let device = report.device.as_mut().unwrap();
            device.name = "dm-0".into();
            device.physical_devices[0].counts.read_bytes = disk_kib * KIB;
            report.targets[0].device = Some("dm-0".into());
            report.targets[0].direct.sparse_mapping = Some("thin".into());
            let [device, disk] = charged_kib.map(|kib| kib * KIB);
            charge(report, true, &[("dm-0", device), ("vda", disk)]);
        });
        verdict_of(&with_all_ios_from(run, Device))
    };
    let shared_disk = on_thin(80_000, [40_000, 40_000]);
    assert_share(&shared_disk, Device, 1.0);
    let half = on_thin(80_000, [40_000, 20_000]);
    assert_eq!(
        half.class,
        VerdictClass::Unknown,
        "reads that the thin device served"
    );
    assert_eq!(half.evidence["cgroup_lower_device_bytes"], 20_000 * KIB);
    assert_contains(
        &half,
        "charged for 39.1 MiB on dm-0 and 19.5 MiB on the devices below it, and dm-0 transferred 39.1 MiB",
    );
    assert_eq!(on_thin(80_000, [40_000, 0]).class, VerdictClass::Unknown);
    assert_eq!(on_thin(80_000, [0, 0]).class, VerdictClass::Unknown);
    assert_eq!(
        on_thin(80_000, [40_000, 80_000]).class,
        VerdictClass::Unknown
    );
    assert_share(&on_thin(40_000, [40_000, 0]), Device, 1.0);
}

/// A write dirties its whole folio, so sampled pages can be dirty again after their own data was
/// written back.
#[test]
fn large_folios_hide_which_pages_are_dirty() {
    let unclear = assert_class(
        &with_all_ios_from(writes(640_000, 40_000), PageCache),
        VerdictClass::Unknown,
    );
    assert!(unclear.shares.is_empty());
    let nothing_written = with_all_ios_from(writes(640_000, 0), PageCache);
    assert_class(&nothing_written, VerdictClass::DeferredWrite);
    let small_folios = with_all_ios_from(writes(40_000, 40_000), PageCache);
    let verdict = assert_class(&small_folios, VerdictClass::DeferredWrite);
    assert_share(&verdict, PageCache, 1.0);
}

/// `overwritten`: share of writes that overwrote dirty pages. At the end, all data is on the
/// device.
fn with_overwrites(run: Run, overwritten: f64) -> Run {
    let mut estimate = exact(&[(Device, 1.0)]);
    estimate.overwritten = Some(Share::exact(overwritten));
    let clean = with_target(run, |target| {
        target.residency.end.as_mut().unwrap().dirty = Some(0)
    });
    with_layers(clean, estimate)
}

/// Shrinks the region, so every block is written multiple times.
fn with_small_region(run: Run) -> Run {
    with_target(run, |target| target.region_bytes = 4 << 20)
}

#[test]
fn overwritten_pages_do_not_reach_the_device() {
    let mostly = with_overwrites(with_small_region(writes(4000, 4000)), 0.9);
    let verdict = assert_class(&mostly, VerdictClass::DeferredWrite);
    assert_share(&verdict, Device, 0.1);
    assert_share(&verdict, PageCache, 0.9);
    // The device also wrote for other programs.
    let half = with_overwrites(with_small_region(writes(20_000, 80_000)), 0.5);
    let verdict = assert_class(&half, VerdictClass::Mixed);
    assert_share(&verdict, Device, 0.5);
}

#[test]
fn blocks_that_are_written_once_are_not_overwritten() {
    let once = with_overwrites(writes(40_000, 40_000), 0.9);
    let verdict = assert_class(&once, VerdictClass::Device);
    assert_share(&verdict, Device, 1.0);
}

#[test]
fn pages_that_were_dirty_before_the_run_are_not_lost_writes() {
    let run = with_overwrites(with_small_region(writes(20_000, 40_000)), 0.5);
    let run = with_target(run, |target| {
        target.residency.start.as_mut().unwrap().dirty = Some(20_000 * KIB)
    });
    let verdict = verdict_of(&run);
    // Either the run or an earlier program dirtied the pages.
    assert_eq!(verdict.class, VerdictClass::Unknown, "{:?}", verdict.shares);
}

#[test]
fn data_that_was_discarded_in_memory_did_not_reach_the_device() {
    // The pages are gone, because the file was truncated; the device wrote nothing.
    let gone = |device_kib: u64| {
        with_target(
            with_all_ios_from(writes(40_000, device_kib), Device),
            |target| target.residency.end.as_mut().unwrap().dirty = Some(0),
        )
    };
    let verdict = assert_class(&gone(0), VerdictClass::DeferredWrite);
    assert_share(&verdict, Device, 0.0);
    assert_share(&verdict, PageCache, 1.0);
    let partly = verdict_of(&gone(20_000));
    assert!(share_of(&partly, Device) <= 0.5, "{:?}", partly.shares);
    assert_ne!(partly.class, VerdictClass::Device);
}

#[test]
fn dirty_pages_at_the_end_are_not_on_the_device() {
    // The device wrote for other programs.
    let run = writes(40_000, 400_000);
    let part = exact(&[(PageCache, 0.3), (Device, 0.7)]);
    let verdict = assert_class(&with_layers(run, part), VerdictClass::Mixed);
    assert_share(&verdict, PageCache, 0.3);
    assert_share(&verdict, Device, 0.7);
}
