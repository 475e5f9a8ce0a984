//! The optional measurements (request sizes at the device and the CPU profile), tested with a known
//! workload.

use crate::scratch::{
    self, Disk, Mounted,
    program::{JSON, report, report_with_env, runner, spawn, successful_report},
    skip,
};
use serde_json::{Value, json};
use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};
use tempfile::TempDir;

const MIB: u64 = 1 << 20;

/// Lock for tests that need tracefs: the runner uses the first tracefs that it finds, which another
/// test may have mounted.
static TRACEFS: Mutex<()> = Mutex::new(());

/// A mounted tracefs.
struct Tracefs {
    /// Must be unmounted before the directory is removed.
    _own: Option<Mounted>,
    _directory: TempDir,
    root: PathBuf,
    _lock: MutexGuard<'static, ()>,
}

/// Mounts tracefs for the test unless it is already mounted.
fn tracefs() -> Option<Tracefs> {
    // Ignore poisoning, because the lock protects no data.
    let lock = TRACEFS.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = scratch::directory();
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mounted = mounts.lines().find(|line| line.contains(" - tracefs "));
    let (root, own) = if let Some(line) = mounted {
        (PathBuf::from(line.split(' ').nth(4).unwrap()), None)
    } else {
        let root = directory.path().to_str().unwrap();
        scratch::run("mount", &["-t", "tracefs", "nodev", root])
            .map_err(|error| skip(&format!("no tracefs: {error}")))
            .ok()?;
        let own = Mounted::existing(directory.path());
        (directory.path().into(), Some(own))
    };
    Some(Tracefs {
        _own: own,
        _directory: directory,
        root,
        _lock: lock,
    })
}

fn sizes(report: &Value, device: &str, direction: &str) -> Vec<(u64, u64)> {
    let devices = report["requests"]["devices"].as_array().unwrap();
    let device = devices
        .iter()
        .find(|found| found["name"] == device)
        .unwrap_or_else(|| panic!("{device}: {}", report["requests"]));
    let pair = |size: &Value| {
        (
            size["bytes"].as_u64().unwrap(),
            size["ios"].as_u64().unwrap(),
        )
    };
    device[direction]
        .as_array()
        .unwrap()
        .iter()
        .map(pair)
        .collect()
}

/// A dirty page limit for one device, reset on drop.
struct DirtyLimit(String);

impl DirtyLimit {
    fn new(device: &str, bytes: u64) -> Option<Self> {
        let number = std::fs::read_to_string(format!("/sys/class/block/{device}/dev")).unwrap();
        let limit = Self(format!("/sys/class/bdi/{}", number.trim()));
        let set = limit
            .set("strict_limit", 1)
            .and_then(|()| limit.set("max_bytes", bytes));
        set.map_err(|error| skip(&format!("no dirty limit for {device}: {error}")))
            .ok()
            .map(|()| limit)
    }

    fn set(&self, name: &str, value: u64) -> std::io::Result<()> {
        std::fs::write(format!("{}/{name}", self.0), value.to_string())
    }
}

impl Drop for DirtyLimit {
    fn drop(&mut self) {
        let reset = self
            .set("strict_limit", 0)
            .and_then(|()| self.set("max_ratio", 100));
        reset.unwrap_or_else(|error| skip(&format!("{} keeps its dirty limit: {error}", self.0)));
    }
}

#[test]
fn writer_throttling_time_is_reported() {
    let (Some(_tracing), Some(disk)) = (tracefs(), Disk::ext4()) else {
        return;
    };
    let Some(_limit) = DirtyLimit::new(disk.device.name(), 8 * MIB) else {
        return;
    };
    let job = json!({"filename": disk.file("f"), "size": "200m", "rw": "write", "bs": "1m", "direct": 0, "request_sizes": 1});
    let output = report(&job);
    let throttled_ms = output["report"]["writeback"]["throttled_ms"]
        .as_f64()
        .unwrap();
    assert!(
        throttled_ms > 0.0,
        "200 MiB exceed the limit of 8 MiB: {}",
        output["report"]["writeback"]
    );
    let finding = output["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["code"] == "writeback_throttled")
        .unwrap();
    assert_eq!(
        finding["evidence"]["throttled_ms"],
        json!(throttled_ms),
        "{finding}"
    );
}

#[test]
fn request_sizes_match_the_device_and_the_trace_instance_is_removed() {
    let (Some(tracing), Some(disk)) = (tracefs(), Disk::ext4()) else {
        return;
    };
    let instances = tracing.root.join("instances");
    assert!(instances.is_dir(), "{}", instances.display());
    let job = |changes: Value| {
        let mut job = json!({"filename": disk.file("f"), "size": "16m", "rw": "randread", "bs": "8k", "direct": 1, "request_sizes": 1});
        changes
            .as_object()
            .unwrap()
            .iter()
            .for_each(|(name, value)| job[name] = value.clone());
        let run = spawn(runner().args(JSON), &job);
        let instance = instances.join(format!("leadline-{}", run.id()));
        let report = successful_report(run, &job)["report"].clone();
        assert!(!instance.exists(), "{} was not removed", instance.display());
        report
    };
    let random = job(json!({}));
    let reads = sizes(&random, disk.device.name(), "read");
    let of_8k: u64 = reads
        .iter()
        .filter(|(bytes, _)| *bytes == 8192)
        .map(|(_, ios)| ios)
        .sum();
    assert!(of_8k >= 2000, "2,048 reads of 8 KiB: {reads:?}");
    assert_eq!(
        reads.iter().map(|(_, ios)| ios).sum::<u64>(),
        random["device"]["read_ios"].as_u64().unwrap(),
        "{reads:?}"
    );
    assert_eq!(
        (
            &random["requests"]["lost_events"],
            &random["writeback"]["throttled_ms"]
        ),
        (&json!(0), &json!(0.0))
    );

    let readahead = sizes(
        &job(json!({"rw": "read", "bs": "4k", "direct": 0})),
        disk.device.name(),
        "read",
    );
    let bytes: u64 = readahead.iter().map(|(bytes, ios)| bytes * ios).sum();
    let ios: u64 = readahead.iter().map(|(_, ios)| ios).sum();
    assert!(
        bytes >= 16 * MIB && bytes / ios >= 64 << 10,
        "readahead merges small reads: {readahead:?}"
    );

    assert_eq!(job(json!({"request_sizes": 0}))["requests"], Value::Null);
}

#[test]
fn profile_contains_buffered_read_stacks() {
    if let Err(error) = scratch::run("perf", &["--version"]) {
        return skip(&error);
    }
    let Some(disk) = Disk::ext4() else { return };
    let job = json!({"filename": disk.file("f"), "size": "16m", "rw": "randread", "bs": "4k", "direct": 0, "cache_state": "warm", "runtime": 2,
        "time_based": 1, "profile": 1});
    let report = report(&job)["report"].clone();
    if let Some(reason) = report["absent"]["profile"].as_str() {
        assert!(reason.contains("perf"), "{reason}");
        return skip(reason);
    }
    let profile = &report["profile"];
    let folded = profile["folded"].as_str().unwrap();
    let counts = folded
        .lines()
        .map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap());
    assert_eq!(counts.sum::<u64>(), profile["samples"].as_u64().unwrap());
    // At 199 samples per second, two seconds have up to 398 samples; other load on the host reduces
    // the number.
    assert!(profile["samples"].as_u64().unwrap() > 50, "{profile}");
    assert!(folded.contains("filemap_read"), "{folded}");
}

#[test]
fn missing_perf_has_a_reason() {
    let Some(disk) = Disk::ext4() else { return };
    let job =
        json!({"filename": disk.file("f"), "size": "1m", "rw": "read", "direct": 1, "profile": 1});
    let output = report_with_env(&job, &[("PATH", "/missing")]);
    let report = &output["report"];
    assert_eq!(
        (&report["profile"], &report["read"]["ios"]),
        (&Value::Null, &json!(256))
    );
    assert!(
        report["absent"]["profile"]
            .as_str()
            .unwrap()
            .contains("Install it"),
        "{}",
        report["absent"]
    );
}
