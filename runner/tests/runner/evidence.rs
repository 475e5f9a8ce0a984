//! Target facts in reports, checked with files whose extents and cached pages are known.

use crate::scratch::{self, Disk, locked_pages::LockedPages, program::report};
use rustix::fs::{Advice, fadvise};
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    os::unix::fs::FileExt,
    path::Path,
};

const MIB: u64 = 1 << 20;

/// Runs a job with changed options (by default, 16 MiB of direct reads) and returns its target's
/// report.
fn target_of(path: &Path, changes: Value) -> Value {
    let mut job =
        json!({"filename": path, "size": "16m", "rw": "randread", "bs": "64k", "direct": 1});
    changes
        .as_object()
        .unwrap()
        .iter()
        .for_each(|(name, value)| job[name] = value.clone());
    report(&job)["report"]["targets"][0].clone()
}

/// Writes incompressible data.
fn write_random_data(path: &Path, bytes: u64) {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let data: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    })
    .take(bytes as usize / 8)
    .flatten()
    .collect();
    fs::write(path, data).unwrap();
}

/// Returns the nonzero byte counts by extent kind.
fn kinds(extents: &Value) -> Vec<(String, u64)> {
    let all = extents
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, _)| *name != "count");
    all.map(|(name, bytes)| (name.clone(), bytes.as_u64().unwrap()))
        .filter(|(_, bytes)| *bytes > 0)
        .collect()
}

fn check_kinds(extents: &Value, want: &[(&str, u64)]) {
    assert_eq!(
        kinds(extents),
        want.iter()
            .map(|(name, mib)| (name.to_string(), mib * MIB))
            .collect::<Vec<_>>()
    );
}

fn sync(path: &Path) {
    File::open(path).unwrap().sync_all().unwrap();
}

#[test]
fn extents_are_reported_by_kind() {
    for make in ["mkfs.ext4 -q", "mkfs.xfs -q -f", "mkfs.btrfs -q -f"] {
        let Some(disk) = Disk::new(make, "defaults", true) else {
            continue;
        };
        let read = |name: &str| target_of(&disk.file(name), json!({"fallocate": "none"}));
        write_random_data(&disk.file("full"), 16 * MIB);
        sync(&disk.file("full"));
        let full = read("full");
        check_kinds(&full["extents"]["before"], &[("written", 16)]);
        assert_eq!(
            (&full["state"]["written_share"], &full["state"]["existed"]),
            (&json!(1.0), &json!(true)),
            "{make}"
        );

        File::create(disk.file("sparse"))
            .unwrap()
            .set_len(16 * MIB)
            .unwrap();
        check_kinds(&read("sparse")["extents"]["before"], &[("hole", 16)]);

        scratch::run(
            "fallocate",
            &["-l", "16M", disk.file("allocated").to_str().unwrap()],
        )
        .unwrap();
        let half = File::options()
            .write(true)
            .open(disk.file("allocated"))
            .unwrap();
        half.write_all_at(&vec![7; 4 * MIB as usize], 4 * MIB)
            .unwrap();
        let allocated = read("allocated");
        check_kinds(
            &allocated["extents"]["before"],
            &[("written", 4), ("unwritten", 12)],
        );
        assert_eq!(
            allocated["state"]["written_share"],
            json!(0.25),
            "{make}: dirty pages"
        );
    }
}

#[test]
fn dirty_pages_are_counted_before_the_flush() {
    let Some(disk) = Disk::ext4() else { return };
    let target = target_of(
        &disk.file("new"),
        json!({"rw": "write", "direct": 0, "fallocate": "none", "end_fsync": 1}),
    );
    check_kinds(&target["extents"]["before"], &[("hole", 16)]);
    check_kinds(&target["extents"]["after"], &[("delayed", 16)]);
    assert_eq!(
        target["residency"]["end"]["dirty"],
        json!(16 * MIB),
        "{}",
        target["residency"]
    );
    assert_eq!(
        (&target["state"]["existed"], &target["residency"]["initial"]),
        (&json!(false), &json!(null))
    );
}

#[test]
fn btrfs_compression_and_checksums_use_the_page_cache() {
    let Some(disk) = Disk::new("mkfs.btrfs -q -f", "compress-force=zstd", true) else {
        return;
    };
    let packed = disk.file("packed");
    fs::write(&packed, vec![b'a'; 16 * MIB as usize]).unwrap();
    sync(&packed);
    let target = target_of(&packed, json!({}));
    check_kinds(&target["extents"]["before"], &[("encoded", 16)]);
    assert_eq!(
        target["direct"]["reads_past_cache"],
        json!(false),
        "{}",
        target["direct"]
    );
    assert_eq!(target["filesystem"], "btrfs");
    assert!(
        target["mount_options"]
            .as_str()
            .unwrap()
            .contains("compress-force=zstd"),
        "{target}"
    );

    let plain = disk.file("plain");
    File::create(&plain).unwrap();
    scratch::run("chattr", &["+C", plain.to_str().unwrap()]).unwrap();
    write_random_data(&plain, 16 * MIB);
    sync(&plain);
    let target = target_of(&plain, json!({"rw": "randwrite"}));
    assert_eq!(
        (
            &target["direct"]["reads_past_cache"],
            &target["direct"]["writes_past_cache"]
        ),
        (&json!(true), &json!(true))
    );
}

/// Checks the rules of `probes/direct_io.rs` on the running kernel.
#[test]
fn direct_writes_use_the_page_cache_as_reported() {
    for (make, options) in [
        ("mkfs.ext4 -q", "defaults"),
        ("mkfs.xfs -q -f", "defaults"),
        ("mkfs.btrfs -q -f", "defaults"),
        ("mkfs.btrfs -q -f", "nodatacow"),
    ] {
        let Some(disk) = Disk::new(make, options, true) else {
            continue;
        };
        let job = json!({"filename": disk.file("f"), "size": "64m", "rw": "write", "bs": "1m", "direct": 1, "ioengine": "psync"});
        // If a direct write goes through the page cache, the kernel drops its pages afterward, but
        // includes them in the host-wide count of dirtied pages. The minimum of multiple runs
        // excludes pages dirtied by other programs.
        let reports: Vec<Value> = (0..4).map(|_| report(&job)["report"].clone()).collect();
        let dirtied = reports
            .iter()
            .map(|report| report["writeback"]["dirtied_bytes"].as_u64().unwrap())
            .min()
            .unwrap();
        let direct = &reports[0]["targets"][0]["direct"];
        let bypassed = direct["writes_past_cache"].as_bool().unwrap();
        assert_eq!(
            bypassed,
            dirtied < 48 * MIB,
            "{make} {options}: {dirtied} dirtied, {direct}"
        );
    }
}

#[test]
fn half_cached_file_is_shown_in_the_residency_map() {
    let Some(disk) = Disk::ext4() else { return };
    let path = disk.file("half");
    write_random_data(&path, 16 * MIB);
    sync(&path);
    let file = File::open(&path).unwrap();
    fadvise(&file, 0, None, Advice::DontNeed).unwrap();
    let locked = LockedPages::of(&file, 8 * MIB);
    let target = target_of(&path, json!({"invalidate": 0}));
    drop(locked);
    let found = &target["residency"]["initial"];
    let start = &target["residency"]["start"];
    assert_eq!(found["cached"], json!(8 * MIB), "{found}");
    assert_eq!(
        (found, found["dirty"].as_u64()),
        (start, Some(0)),
        "unchanged"
    );
    let map: Vec<u64> = serde_json::from_value(target["map"]["start"].clone()).unwrap();
    assert_eq!(
        (map.len(), target["map"]["cell_bytes"].as_u64()),
        (128, Some(16 * MIB / 128))
    );
    assert!(
        map[..64].iter().all(|&percent| percent == 100)
            && map[64..].iter().all(|&percent| percent == 0),
        "{map:?}"
    );
    assert_eq!(target["state"]["cached_share"], json!(0.5));
    let dropped = target_of(&path, json!({}));
    assert_eq!(
        dropped["residency"]["start"]["cached"],
        json!(0),
        "invalidate=1"
    );
}

#[test]
fn cached_loop_device_is_reported() {
    let Some(disk) = Disk::new("mkfs.ext4 -q", "defaults", false) else {
        return;
    };
    let direct = target_of(&disk.file("f"), json!({}))["direct"].clone();
    assert_eq!(direct["reads_past_cache"], json!(false), "{direct}");
    assert!(
        direct["reasons"][0].as_str().unwrap().contains("loop"),
        "{direct}"
    );
    assert!(direct["offset_align"].as_u64().unwrap() >= 512);
    assert_eq!(
        direct["loop_direct_io"],
        json!(false),
        "{}",
        disk.device.name()
    );
}

#[test]
fn device_has_residency_and_no_extents() {
    let directory = scratch::directory();
    let image = directory.path().join("image");
    scratch::image(&image, 32 * MIB);
    let Some(device) = scratch::Loop::attach(&image, &["--direct-io=on"]) else {
        return;
    };
    let _locked = LockedPages::of(&File::open(&device.0).unwrap(), 16 * MIB);
    let target = target_of(Path::new(&device.0), json!({"direct": 0, "rw": "read"}));
    assert_eq!(
        (&target["kind"], &target["region_bytes"]),
        (&json!("device"), &json!(16 * MIB))
    );
    assert_eq!(
        target["residency"]["end"]["cached"],
        json!(16 * MIB),
        "{}",
        target["residency"]
    );
    assert_eq!(
        (&target["extents"]["before"], &target["filesystem"]),
        (&json!(null), &json!(null))
    );
    assert!(
        target["absent"]["extents"]
            .as_str()
            .unwrap()
            .contains("device"),
        "{target}"
    );
}

#[test]
fn missing_facts_on_tmpfs_have_a_reason() {
    let directory = scratch::directory();
    if let Err(error) = scratch::run(
        "mount",
        &["-t", "tmpfs", "none", directory.path().to_str().unwrap()],
    ) {
        return scratch::skip(&error);
    }
    let mounted = scratch::Mounted::existing(directory.path());
    let target = target_of(
        &directory.path().join("f"),
        json!({"direct": 0, "invalidate": 0}),
    );
    drop(mounted);
    assert_eq!(
        (&target["filesystem"], &target["device"]),
        (&json!("tmpfs"), &json!(null))
    );
    assert!(
        target["absent"]["extents"]
            .as_str()
            .unwrap()
            .contains("does not report extents"),
        "{target}"
    );
    assert_eq!(target["direct"]["reads_past_cache"], json!(false));
    assert_eq!(target["residency"]["end"]["cached"], json!(16 * MIB));
}

#[test]
fn overlapping_regions_count_once() {
    let Some(disk) = Disk::ext4() else { return };
    write_random_data(&disk.file("f"), 8 * MIB);
    let _locked = LockedPages::of(&File::open(disk.file("f")).unwrap(), 8 * MIB);
    let job = |name: &str, changes: Value| {
        let mut job = json!({"name": name, "filename": disk.file("f"), "size": "4m", "rw": "read", "bs": "64k", "direct": 0});
        changes
            .as_object()
            .unwrap()
            .iter()
            .for_each(|(name, value)| job[name] = value.clone());
        job
    };
    let both = report(
        &json!({"jobs": [job("a", json!({"numjobs": 2, "offset_increment": "4m"})), job("b", json!({"offset": "2m"}))]}),
    );
    let targets = both["report"]["targets"].as_array().unwrap();
    assert_eq!(targets.len(), 1);
    assert_eq!(
        (&targets[0]["jobs"], &targets[0]["region_bytes"]),
        (&json!(["a", "b"]), &json!(8 * MIB))
    );
    assert_eq!(targets[0]["residency"]["end"]["cached"], json!(8 * MIB));
}

#[test]
fn transition_to_memory_is_detected() {
    let Some(disk) = Disk::ext4() else { return };
    let job = json!({"filename": disk.file("f"), "size": "8m", "rw": "randread", "bs": "4k", "direct": 0, "rate_iops": 4000, "runtime": "3s", "time_based": 1});
    let fetched = |report: &Value| report["storage"]["read_bytes"].as_u64().unwrap();
    // Retry if the host evicted pages, so that some blocks were fetched twice.
    let report = (0..4)
        .map(|_| report(&job)["report"].clone())
        .find(|report| fetched(report) < 9 * MIB)
        .expect("the host evicted pages in every attempt");
    assert!(
        fetched(&report) >= 8 * MIB,
        "some blocks were never fetched"
    );
    let transitions = report["transitions"].as_array().unwrap();
    assert_eq!(
        (
            transitions.len(),
            &transitions[0]["from"],
            &transitions[0]["to"]
        ),
        (1, &json!("device"), &json!("memory")),
        "{transitions:?}"
    );
}

#[test]
fn disabled_probes_are_the_reason_for_missing_counters() {
    let Some(disk) = Disk::ext4() else { return };
    let result = report(
        &json!({"filename": disk.file("f"), "size": "16m", "rw": "randread", "direct": 1, "probes": 0}),
    );
    let report = &result["report"];
    assert_eq!(report["read"]["ios"], json!(4096));
    for name in [
        "device",
        "memory",
        "cpu",
        "pressure",
        "storage",
        "writeback",
    ] {
        assert_eq!(report[name], json!(null), "{name}");
    }
    for name in [
        "device",
        "physical_devices",
        "memory",
        "cpu",
        "storage",
        "residency",
        "writeback",
    ] {
        assert_eq!(report["absent"][name], "disabled by probes=0", "{name}");
    }
    assert_eq!(
        (&report["targets"], &result["verdict"]["read"]["class"]),
        (&json!([]), &json!("unknown"))
    );
}
