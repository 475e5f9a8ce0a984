//! Tests of the depth gauge.

use crate::{
    analysis::{
        gauge::{
            IoModes,
            counters::{DirectionCounters, GaugeCounters},
            gauges, sample_gauge,
        },
        layer_shares::{LayerShares, SharesByDirection, SharesOrReason},
    },
    plan::fixture::resolved,
};
use leadline_protocol::{
    counters::{DeviceFlow, StorageIo},
    gauge::{ForeignSource, Gauge, LayerFlow},
    sample::Sample,
    verdict::{Layer, Modifier, ModifierKind, Verdict, VerdictClass, Verdicts},
};
use serde_json::json;
use std::collections::BTreeMap;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const NOTHING: LayerFlow = LayerFlow { ios: 0, bytes: 0 };
const BUFFERED: IoModes = IoModes {
    direct_reads: false,
    direct_writes: false,
    direct_trims: false,
    null: false,
};
const DIRECT: IoModes = IoModes {
    direct_reads: true,
    direct_writes: true,
    direct_trims: true,
    null: false,
};

fn flow(ios: u64, bytes: u64) -> LayerFlow {
    LayerFlow::new(ios, bytes)
}

fn device(ios: u64, bytes: u64) -> DeviceFlow {
    DeviceFlow {
        ios,
        bytes,
        merges: 0,
    }
}

/// Issued I/O, and the device's counters in the same direction.
fn direction(issued: LayerFlow, counted: DeviceFlow) -> DirectionCounters {
    DirectionCounters {
        issued,
        device: Some(counted),
        physical_devices: Some(counted),
        shares: None,
    }
}

/// Reads on a device that also received a few journal writes.
fn reads(issued: LayerFlow, counted: DeviceFlow) -> GaugeCounters {
    GaugeCounters {
        read: direction(issued, counted),
        write: direction(NOTHING, device(77, 77 * 4 * KIB)),
        trim: direction(NOTHING, device(0, 0)),
        ..GaugeCounters::default()
    }
}

fn writes(issued: LayerFlow, counted: DeviceFlow) -> GaugeCounters {
    GaugeCounters {
        read: direction(NOTHING, device(0, 0)),
        write: direction(issued, counted),
        trim: direction(NOTHING, device(0, 0)),
        ..GaugeCounters::default()
    }
}

fn storage(read_bytes: u64, write_bytes: u64) -> Option<StorageIo> {
    Some(StorageIo {
        read_bytes,
        write_bytes,
        ..StorageIo::default()
    })
}

fn verdict(class: VerdictClass, shares: &[(&str, f64)], own_bytes: Option<u64>) -> Verdict {
    Verdict {
        class,
        sentence: String::new(),
        shares: shares
            .iter()
            .map(|(layer, share)| ((*layer).into(), *share))
            .collect(),
        byte_shares: BTreeMap::new(),
        modifiers: Vec::new(),
        uncertainty: 0.0,
        transition_ms: None,
        evidence: own_bytes
            .map(|own| ("own_bytes".into(), own))
            .into_iter()
            .collect(),
        proof: Vec::new(),
    }
}

fn read_verdict(class: VerdictClass, shares: &[(&str, f64)]) -> Verdicts {
    Verdicts {
        read: Some(verdict(class, shares, None)),
        write: None,
    }
}

fn write_verdict(class: VerdictClass, own_bytes: Option<u64>) -> Verdicts {
    Verdicts {
        read: None,
        write: Some(verdict(
            class,
            &[("page_cache", 1.0), ("device", 0.0)],
            own_bytes,
        )),
    }
}

fn with_modifier(mut verdicts: Verdicts, kind: ModifierKind) -> Verdicts {
    let modifier = Modifier {
        kind,
        factor: None,
        bytes: None,
    };
    for verdict in [&mut verdicts.read, &mut verdicts.write] {
        verdict
            .iter_mut()
            .for_each(|verdict| verdict.modifiers.push(modifier));
    }
    verdicts
}

fn total(counters: &GaugeCounters, modes: IoModes) -> Gauge {
    gauges(counters, modes, &Verdicts::default()).total
}

fn shares(page_cache: f64, filesystem: f64, device: f64) -> Option<SharesOrReason> {
    Some(Ok(LayerShares {
        page_cache,
        filesystem,
        device,
        unknown: 0.0,
    }))
}

fn note(gauge: &Gauge, layer: Layer) -> &str {
    gauge.notes.get(&layer).map_or("", String::as_str)
}

#[test]
fn gauges_without_verdict() {
    let direct_read = reads(flow(262_144, GIB), device(262_140, GIB));
    let filling = reads(flow(2560, 2560 * 4 * KIB), device(1121, 1121 * 4 * KIB));
    let warm = reads(flow(853_333, 853_333 * 4 * KIB), device(0, 0));
    let mut readahead = reads(flow(262_144, GIB), device(4156, GIB));
    readahead.read.device = Some(DeviceFlow {
        merges: 27,
        ..device(4156, GIB)
    });
    let deferred = writes(
        flow(1_580_000, 1_580_000 * 8 * KIB),
        device(402, 402 * 244 * KIB),
    );
    let mut amplified = writes(
        flow(10_000, 10_000 * 4 * KIB),
        device(10_000, 10_000 * 4 * KIB),
    );
    amplified.write.physical_devices = Some(device(21_400, 26_000 * 4 * KIB));
    let unwritten = reads(
        flow(1_103_656, 1_103_656 * 4 * KIB),
        device(231, 231 * 4 * KIB),
    );
    use Layer::{Filesystem, PageCache};
    for (name, counters, modes, layer, expected) in [
        ("direct", direct_read, DIRECT, PageCache, "bypassed"),
        (
            "cache fills",
            filling,
            BUFFERED,
            PageCache,
            "56 % served from memory",
        ),
        (
            "all from memory",
            warm,
            BUFFERED,
            PageCache,
            "served from memory",
        ),
        (
            "readahead",
            readahead,
            BUFFERED,
            PageCache,
            "readahead: one read served 63",
        ),
        (
            "deferred writes",
            deferred,
            BUFFERED,
            PageCache,
            "in memory, not yet written",
        ),
        (
            "amplified",
            amplified,
            DIRECT,
            Filesystem,
            "amplified 2.6 × by the journal, metadata or other programs",
        ),
        (
            "unwritten extents",
            unwritten,
            DIRECT,
            Filesystem,
            "returned zeros: holes or unwritten blocks",
        ),
    ] {
        let gauge = total(&counters, modes);
        assert_eq!(
            gauge.served_by, None,
            "{name}: bytes do not reveal the layer"
        );
        assert!(gauge.served_by_unknown.is_some(), "{name}");
        assert_eq!(note(&gauge, layer), expected, "{name}");
    }
}

#[test]
fn unused_directions_are_omitted() {
    let gauge = total(&reads(flow(1, 4 * KIB), device(0, 0)), BUFFERED);
    assert_eq!(gauge.reached, Some(NOTHING));
}

#[test]
fn merged_ios_count_as_past_the_cache() {
    let mut counters = reads(flow(100, 400 * KIB), device(60, 400 * KIB));
    counters.read.device = Some(DeviceFlow {
        merges: 40,
        ..device(60, 400 * KIB)
    });
    let gauge = total(&counters, BUFFERED);
    assert_eq!(gauge.past_cache.unwrap().ios, 100);
}

#[test]
fn flows_are_unknown_without_device_counters() {
    let counters = GaugeCounters {
        read: DirectionCounters {
            issued: flow(100, 400 * KIB),
            ..DirectionCounters::default()
        },
        ..GaugeCounters::default()
    };
    let gauge = total(&counters, BUFFERED);
    assert_eq!(gauge.past_cache, None);
    assert_eq!(gauge.reached, None);
    assert_eq!(gauge.served_by, None);
    assert_eq!(note(&gauge, Layer::Device), "not counted");
    assert_eq!(
        total(&counters, DIRECT).past_cache,
        Some(flow(100, 400 * KIB))
    );
}

#[test]
fn null_engine_reaches_no_layer() {
    let modes = IoModes {
        null: true,
        ..BUFFERED
    };
    let gauge = total(&reads(flow(9, 9), device(0, 0)), modes);
    assert_eq!(gauge.served_by, Some(Layer::Application));
    assert_eq!(gauge.past_cache, Some(NOTHING));
    assert_eq!(gauge.reached, Some(NOTHING));
    assert_eq!(note(&gauge, Layer::Application), "no I/O (ioengine=null)");
}

/// A half-cached file: the kernel reads 25 KiB per miss, so the device transfers more bytes than
/// were issued although memory serves two of three I/Os.
#[test]
fn the_serving_layer_depends_on_ios_not_bytes() {
    let mut counters = reads(flow(3000, 12_000 * KIB), device(1000, 25_000 * KIB));
    assert_eq!(total(&counters, BUFFERED).served_by, None);
    counters.read.shares = shares(0.67, 0.0, 0.33);
    assert_eq!(total(&counters, BUFFERED).served_by, Some(Layer::PageCache));
    counters.read.shares = None;
    let verdicts = read_verdict(
        VerdictClass::Mixed,
        &[("page_cache", 0.67), ("device", 0.33)],
    );
    let gauge = gauges(&counters, BUFFERED, &verdicts);
    assert_eq!(gauge.total.served_by, Some(Layer::PageCache));
    assert_eq!(gauge.read.unwrap().served_by, Some(Layer::PageCache));
}

/// 512-byte writes to different pages: a quarter of the pages were written back, so the device
/// wrote twice the issued bytes.
#[test]
fn partial_pages_do_not_increase_the_device_share() {
    let issued = flow(4000, 2000 * KIB);
    let mut counters = writes(issued, device(1000, 4000 * KIB));
    counters.write.shares = shares(0.75, 0.0, 0.25);
    assert_eq!(total(&counters, BUFFERED).served_by, Some(Layer::PageCache));
    counters.write.shares = Some(Err("dirty pages cannot be counted"));
    let gauge = total(&counters, BUFFERED);
    assert_eq!(gauge.served_by, None);
    assert_eq!(
        gauge.served_by_unknown.as_deref(),
        Some("dirty pages cannot be counted")
    );
}

#[test]
fn a_direction_with_unknown_layers_makes_the_total_unknown() {
    let mut counters = GaugeCounters {
        write: direction(flow(50, 200 * KIB), device(60, 240 * KIB)),
        ..reads(flow(100, 400 * KIB), device(100, 400 * KIB))
    };
    counters.read.shares = shares(0.0, 0.0, 1.0);
    counters.write.shares = Some(Err("too few I/Os were looked up"));
    let report = gauges(&counters, BUFFERED, &Verdicts::default());
    assert_eq!(report.read.unwrap().served_by, Some(Layer::Device));
    assert_eq!(report.write.unwrap().served_by, None);
    assert_eq!(
        report.total.served_by_unknown.as_deref(),
        Some("too few I/Os were looked up")
    );
}

#[test]
fn trims_that_the_device_did_not_discard_were_served_by_the_filesystem() {
    let trims = |discarded| GaugeCounters {
        trim: direction(flow(100, 400 * KIB), discarded),
        ..GaugeCounters::default()
    };
    let discarded = total(&trims(device(100, 400 * KIB)), DIRECT);
    assert_eq!(discarded.served_by, Some(Layer::Device));
    let freed = total(&trims(device(0, 0)), DIRECT);
    assert_eq!(freed.served_by, Some(Layer::Filesystem));
}

#[test]
fn verdicts_identify_the_layer() {
    let warm = reads(flow(1000, GIB), device(0, 0));
    let holes = read_verdict(
        VerdictClass::Unwritten,
        &[("unwritten", 1.0), ("device", 0.0)],
    );
    let gauge = gauges(&warm, BUFFERED, &holes).total;
    assert_eq!(gauge.served_by, Some(Layer::Filesystem));
    assert_eq!(
        note(&gauge, Layer::Filesystem),
        "returned zeros: never written"
    );

    let fell_back = read_verdict(
        VerdictClass::PageCache,
        &[("page_cache", 1.0), ("device", 0.0)],
    );
    let gauge = gauges(&warm, DIRECT, &fell_back).total;
    assert_eq!(gauge.served_by, Some(Layer::PageCache));
    assert!(!gauge.bypassed);
    assert_eq!(note(&gauge, Layer::PageCache), "served from memory");
}

#[test]
fn dirty_bytes_are_shown() {
    let mut counters = writes(flow(1000, GIB), device(10, 100 * MIB));
    counters.pending_bytes = 924 * MIB;
    let gauge = total(&counters, BUFFERED);
    assert_eq!(
        note(&gauge, Layer::PageCache),
        "924 MiB in memory, not yet written"
    );
}

#[test]
fn foreign_reads_are_separate() {
    let mut counters = reads(flow(1000, 4 * MIB), device(4000, 64 * MIB));
    counters.storage = storage(4 * MIB, 0);
    let report = gauges(&counters, BUFFERED, &Verdicts::default());
    assert_eq!(report.total.reached, Some(flow(250, 4 * MIB)));
    let foreign = report.total.foreign.unwrap();
    assert_eq!(
        flow(foreign.ios, foreign.bytes),
        flow(3750 + 77, 60 * MIB + 77 * 4 * KIB)
    );
    assert_eq!(foreign.source, ForeignSource::OtherPrograms);
    assert_eq!(
        note(&report.total, Layer::Device),
        "+ 60.3 MiB by other programs"
    );
    let of_reads = report.read.unwrap().foreign.unwrap();
    assert_eq!(flow(of_reads.ios, of_reads.bytes), flow(3750, 60 * MIB));
}

#[test]
fn direct_reads_reach_the_device_as_issued() {
    let mut counters = reads(flow(1000, 4 * MIB), device(1100, 8 * MIB));
    counters.storage = storage(4 * MIB, 0);
    assert_eq!(total(&counters, DIRECT).reached, Some(flow(1000, 4 * MIB)));
}

#[test]
fn foreign_reads_below_the_noise_floor_are_excluded() {
    let mut counters = reads(flow(900, GIB), device(60, 3 * MIB));
    counters.read.device = Some(DeviceFlow {
        merges: 12,
        ..device(60, 3 * MIB)
    });
    counters.storage = storage(0, 0);
    let gauge = total(&counters, BUFFERED);
    assert_eq!(gauge.past_cache, Some(NOTHING));
    assert_eq!(gauge.reached, Some(NOTHING));
    assert_eq!(gauge.foreign, None);
}

#[test]
fn mirror_reads_exclude_foreign_io_on_both_disks() {
    let mut counters = reads(flow(1000, 4 * MIB), device(2000, 16 * MIB));
    counters.read.physical_devices = Some(device(4000, 32 * MIB));
    counters.storage = storage(4 * MIB, 0);
    assert_eq!(
        total(&counters, BUFFERED).reached,
        Some(flow(1000, 8 * MIB))
    );
}

#[test]
fn foreign_io_depends_on_the_evidence() {
    let foreign = |own_bytes| {
        let verdicts = write_verdict(VerdictClass::Device, own_bytes);
        with_modifier(verdicts, ModifierKind::Foreign)
    };
    let many_writes = writes(flow(1, MIB), device(9, 99 * MIB));
    let only_foreign_writes = GaugeCounters {
        read: direction(flow(1, MIB), device(0, 0)),
        write: direction(NOTHING, device(9, 99 * MIB)),
        ..GaugeCounters::default()
    };
    let few_reads = reads(flow(1, 4 * KIB), device(9, 3 * MIB));
    let many_reads = reads(flow(1, MIB), device(9, 99 * MIB));
    for (name, counters, storage, verdicts, expected) in [
        (
            "filesystem writes are attributed to the run",
            many_writes,
            storage(0, MIB),
            Verdicts::default(),
            None,
        ),
        (
            "writes separated by the verdict",
            many_writes,
            storage(0, MIB),
            foreign(Some(MIB)),
            Some(98 * MIB),
        ),
        (
            "writes in a run that only reads",
            only_foreign_writes,
            storage(MIB, 0),
            Verdicts::default(),
            Some(99 * MIB),
        ),
        (
            "below the floor",
            few_reads,
            storage(4 * KIB, 0),
            Verdicts::default(),
            None,
        ),
        (
            "without process counters",
            many_reads,
            None,
            Verdicts::default(),
            None,
        ),
    ] {
        let counters = GaugeCounters {
            storage,
            ..counters
        };
        let foreign = gauges(&counters, BUFFERED, &verdicts).total.foreign;
        assert_eq!(foreign.map(|foreign| foreign.bytes), expected, "{name}");
    }
}

/// 7.5 GiB of buffered writes, all still dirty at the end of the window. The device wrote 70 MiB in
/// 560 I/Os.
fn deferred(verdicts: &Verdicts) -> Gauge {
    let issued = flow(983_040, 15 * GIB / 2);
    let counters = GaugeCounters {
        storage: storage(0, issued.bytes),
        pending_bytes: issued.bytes,
        ..writes(issued, device(560, 70 * MIB))
    };
    let report = gauges(&counters, BUFFERED, verdicts);
    let write = report.write.unwrap();
    assert_eq!(write, report.total, "the only direction");
    write
}

#[test]
fn deferred_writes_stay_in_memory() {
    let gauge = deferred(&write_verdict(VerdictClass::DeferredWrite, Some(0)));
    assert_eq!(gauge.past_cache, Some(NOTHING));
    assert_eq!(gauge.reached, Some(NOTHING));
    assert_eq!(gauge.served_by, Some(Layer::PageCache));
    let foreign = gauge.foreign.unwrap();
    assert_eq!(flow(foreign.ios, foreign.bytes), flow(560, 70 * MIB));
    assert_eq!(foreign.source, ForeignSource::OtherProgramsOrFilesystem);
    assert_eq!(
        note(&gauge, Layer::Device),
        "+ 70 MiB by other programs or the filesystem"
    );
}

#[test]
fn some_deferred_writes_reach_the_device() {
    let gauge = deferred(&write_verdict(VerdictClass::DeferredWrite, Some(14 * MIB)));
    assert_eq!(gauge.past_cache, Some(flow(112, 14 * MIB)));
    assert_eq!(gauge.reached, Some(flow(112, 14 * MIB)));
    assert_eq!(gauge.foreign.unwrap().bytes, 56 * MIB);
}

#[test]
fn device_writes_are_attributed_to_the_run() {
    let all = Some(flow(560, 70 * MIB));
    let more_than_counted = deferred(&write_verdict(VerdictClass::DeferredWrite, Some(80 * MIB)));
    assert_eq!(more_than_counted.reached, all);
    assert_eq!(more_than_counted.foreign, None);
    assert_eq!(note(&more_than_counted, Layer::Device), "");
    let unknown = deferred(&write_verdict(VerdictClass::DeferredWrite, None));
    assert_eq!(unknown.reached, all);
    let of_filesystem = with_modifier(
        write_verdict(VerdictClass::Device, Some(0)),
        ModifierKind::Amplified,
    );
    let of_filesystem = deferred(&of_filesystem);
    assert_eq!(of_filesystem.reached, all);
}

#[test]
fn total_is_the_sum_of_both_directions() {
    let counters = GaugeCounters {
        write: direction(flow(50, 200 * KIB), device(60, 240 * KIB)),
        ..reads(flow(100, 400 * KIB), device(100, 400 * KIB))
    };
    let mixed = IoModes {
        direct_writes: false,
        ..DIRECT
    };
    let report = gauges(&counters, mixed, &Verdicts::default());
    assert_eq!(report.total.issued, flow(150, 600 * KIB));
    assert_eq!(report.total.past_cache, Some(flow(160, 640 * KIB)));
    assert_eq!(report.total.reached, Some(flow(160, 640 * KIB)));
    assert!(report.read.unwrap().bypassed);
    assert!(!report.total.bypassed);
    assert_eq!(report.trim, None);
}

#[test]
fn gauge_is_computed_from_a_sample() {
    let none = json!({"ios": 0, "bytes": 0, "lat_ns": []});
    let counts = json!({
        "read_ios": 15, "read_bytes": 15 * 4096, "read_merges": 0, "read_ticks_ms": 0,
        "write_ios": 0, "write_bytes": 0, "write_merges": 0, "write_ticks_ms": 0,
        "discard_ios": 0, "discard_bytes": 0, "flush_ios": 0, "in_flight": 0, "busy_ms": 0
    });
    let sample: Sample = serde_json::from_value(json!({
        "phase": "measure", "window_ms": 100.0, "in_flight": 0, "errors": 0,
        "read": {"ios": 15, "bytes": 15 * 4096, "lat_ns": []},
        "write": none, "trim": none, "sync": none,
        "device": counts, "physical_devices": counts,
        "storage": {"read_bytes": 15 * 4096, "write_bytes": 0, "cancelled_write_bytes": 0}
    }))
    .unwrap();
    let jobs = [resolved(json!({"rw": "randread", "direct": true}))];
    let sampled = SharesByDirection {
        read: shares(0.0, 0.0, 1.0),
        write: None,
    };
    let gauge = sample_gauge(&sample, sampled, &jobs);
    assert_eq!(gauge.issued, flow(15, 15 * 4096));
    assert_eq!(gauge.reached, Some(flow(15, 15 * 4096)));
    assert!(gauge.bypassed);
    assert_eq!(gauge.served_by, Some(Layer::Device));
}
