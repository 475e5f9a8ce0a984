//! Situations that the table of cases cannot express: special stacks, other engines, and expected
//! modifiers, findings and sentences.

use crate::scratch::{
    self, Disk, Mounted,
    program::{measuring, report_in_root},
};
use rustix::fs::{Advice, fadvise};
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    io::BufRead,
    path::{Path, PathBuf},
    process::Command,
};

const MIB: u64 = 1 << 20;

pub(crate) fn kinds(verdict: &Value) -> Vec<&str> {
    let modifiers = verdict["modifiers"].as_array().into_iter().flatten();
    modifiers
        .filter_map(|modifier| modifier["kind"].as_str())
        .collect()
}

pub(crate) fn findings(result: &Value) -> Vec<&str> {
    let findings = result["findings"].as_array().into_iter().flatten();
    findings
        .filter_map(|finding| finding["code"].as_str())
        .collect()
}

pub(crate) fn sentence(verdict: &Value) -> &str {
    verdict["sentence"].as_str().unwrap()
}

/// Creates a file that has no pages in the page cache.
fn cold_file(path: &Path, bytes: u64) -> PathBuf {
    scratch::image(path, bytes);
    fadvise(File::open(path).unwrap(), 0, None, Advice::DontNeed).unwrap();
    path.into()
}

// Memory below a loop device

/// No write can reach a disk, because tmpfs has none.
#[test]
fn log_on_a_loop_device_over_tmpfs_is_in_memory() {
    let Some(disk) = Disk::ext4_in_memory() else {
        return;
    };
    for direct in [1, 0] {
        let job = json!({"filename": disk.file("log"), "rw": "write", "bs": "4k", "size": "16m",
            "direct": direct, "fdatasync": 1, "ioengine": "psync", "runtime": "1s", "time_based": 1});
        let result = report_in_root(&job, &disk.at);
        let verdict = &result["verdict"]["write"];
        assert_eq!(verdict["class"], "lower_cache", "{}", sentence(verdict));
        assert_eq!(verdict["shares"]["device"], 0.0, "{verdict}");
        assert!(
            sentence(verdict).ends_with("reached a disk."),
            "{}",
            sentence(verdict)
        );
        assert!(!findings(&result).contains(&"log_writes"), "{result}");
    }
}

/// The same job on a disk: every flush reaches the disk.
#[test]
fn log_on_a_disk_has_the_log_writes_finding() {
    let Some(disk) = Disk::ext4() else { return };
    let job = json!({"filename": disk.file("log"), "rw": "write", "bs": "4k", "size": "16m",
        "direct": 0, "fdatasync": 1, "ioengine": "psync", "number_ios": 1500});
    let result = report_in_root(&job, &disk.at);
    assert_eq!(result["verdict"]["write"]["class"], "device", "{result}");
    assert!(findings(&result).contains(&"log_writes"), "{result}");
}

// overlayfs

struct OverlayOnDisk {
    // Fields are dropped in this order.
    _mounted: Mounted,
    at: tempfile::TempDir,
    disk: Disk,
}

/// An unusual length: if the layers are hidden, the guard rejects a file that is as long as the
/// backing file of another test.
const OVERLAY_BYTES: u64 = 16 * MIB + 5 * 4096;

impl OverlayOnDisk {
    /// If `is_visible` is false, the mount options contain relative paths, so the layers cannot be
    /// found, as in a container.
    fn new(is_visible: bool) -> Option<Self> {
        let disk = Disk::ext4()?;
        for name in ["lower", "upper", "work"] {
            fs::create_dir(disk.file(name)).unwrap();
        }
        cold_file(&disk.file("lower/f"), OVERLAY_BYTES);
        let at = scratch::directory();
        let base = if is_visible {
            format!("{}/", disk.at.display())
        } else {
            String::new()
        };
        let options = format!("lowerdir={base}lower,upperdir={base}upper,workdir={base}work");
        let status = Command::new("mount")
            .current_dir(&disk.at)
            .args(["-t", "overlay", "-o", &options, "none"])
            .arg(at.path())
            .status()
            .unwrap();
        assert!(status.success());
        Some(Self {
            _mounted: Mounted::existing(at.path()),
            at,
            disk,
        })
    }

    fn run(&self, rw: &str, direct: u8) -> Value {
        let job = json!({"filename": self.at.path().join("f"), "rw": rw, "bs": "4k", "size": OVERLAY_BYTES,
            "direct": direct, "ioengine": "psync"});
        report_in_root(&job, self.at.path())
    }
}

fn check_overlay(result: &Value, direction: &str, device: Option<&str>) {
    let verdict = &result["verdict"][direction];
    let text = sentence(verdict);
    assert_eq!(verdict["class"], "device", "{text}");
    assert_eq!(kinds(verdict), [""; 0], "{text}");
    assert!(!findings(result).contains(&"amplification"), "{result}");
    let evidence = &verdict["evidence"];
    let issued = evidence["issued_bytes"].as_u64().unwrap();
    let moved = evidence["own_bytes"].as_u64().unwrap();
    assert!((issued..issued + MIB).contains(&moved), "{evidence}");
    let counted = &result["report"]["device"];
    assert_eq!(counted["name"].as_str(), device, "{counted}");
    if device.is_some() {
        let counted = evidence["device_bytes"].as_u64().unwrap();
        assert!((issued..issued + MIB).contains(&counted), "{evidence}");
        assert!(!findings(result).contains(&"no_device"), "{result}");
    } else {
        let reason = "Device I/O was not counted: no block device is visible below the targets.";
        assert!(text.contains(reason), "{text}");
    }
}

#[test]
fn counts_the_device_below_an_overlay() {
    let Some(overlay) = OverlayOnDisk::new(true) else {
        return;
    };
    let device = overlay.disk.device.name();
    check_overlay(&overlay.run("randread", 1), "read", Some(device));
    check_overlay(&overlay.run("randread", 0), "read", Some(device));
    // The first write copies the file up to the upper layer.
    check_overlay(&overlay.run("randwrite", 1), "write", Some(device));
    check_overlay(&overlay.run("randread", 1), "read", Some(device));
}

#[test]
fn overlay_with_hidden_layers_has_no_amplification() {
    let Some(overlay) = OverlayOnDisk::new(false) else {
        return;
    };
    check_overlay(&overlay.run("randread", 1), "read", None);
    check_overlay(&overlay.run("randwrite", 1), "write", None);
}

// Read-around for page faults

/// Outside of sequential mappings, a page fault reads the pages around the missing one
/// (`do_sync_mmap_readahead` in mm/filemap.c). Later reads of these pages do not need the device,
/// so only major faults wait for it.
#[test]
fn random_reads_of_pages_fetched_by_other_faults_are_from_memory() {
    let Some(disk) = Disk::ext4() else { return };
    let sectors = (4 * MIB / 512).to_string();
    scratch::run("blockdev", &["--setra", &sectors, &disk.device.0]).unwrap();
    let file = cold_file(&disk.file("f"), 64 * MIB);
    let job = json!({"filename": file, "rw": "randread", "bs": "4k", "size": "64m", "direct": 0,
        "ioengine": "mmap", "fadvise_hint": 0, "number_ios": 4000});
    let result = report_in_root(&job, &disk.at);
    let job = &result["report"]["jobs"][0];
    let faults = job["usage"]["major_faults"].as_f64().unwrap() / 4000.0;
    assert!(faults < 0.1, "readahead around faults: {}", job["usage"]);
    let verdict = &result["verdict"]["read"];
    let text = sentence(verdict);
    let bound = verdict["uncertainty"].as_f64().unwrap() + 0.005;
    let device = verdict["shares"]["device"].as_f64().unwrap();
    assert!(device <= faults + bound, "{device}, not {faults}: {text}");
    assert!(
        ["page_cache", "mixed"].contains(&verdict["class"].as_str().unwrap()),
        "{text}"
    );
    assert!(kinds(verdict).contains(&"readahead"), "{verdict}");
    assert!(text.contains("Readahead had fetched the pages"), "{text}");
}

/// Without readahead, each read of a mapped page waits for the device.
#[test]
fn random_reads_of_a_mapping_without_readahead_are_from_the_device() {
    let Some(disk) = Disk::ext4() else { return };
    let file = cold_file(&disk.file("f"), 16 * MIB);
    let job = json!({"filename": file, "rw": "randread", "bs": "4k", "size": "16m", "direct": 0,
        "ioengine": "mmap", "fadvise_hint": "random", "number_ios": 1000});
    let result = report_in_root(&job, &disk.at);
    let faults = &result["report"]["jobs"][0]["usage"]["major_faults"];
    assert!(faults.as_u64().unwrap() >= 1000, "{faults}");
    assert_eq!(result["verdict"]["read"]["class"], "device");
}

// Discarded writes

/// The file is removed, so its pages are discarded. No other program uses the loop device.
#[test]
fn writes_to_a_removed_file_are_not_foreign() {
    let Some(disk) = Disk::ext4() else { return };
    let file = disk.file("f");
    let job = json!({"filename": file, "rw": "randwrite", "bs": "4k", "size": "16m", "direct": 0,
        "ioengine": "psync", "runtime": "1s", "time_based": 1, "norandommap": 1});
    let (mut child, events) = measuring(&job);
    fs::remove_file(&file).unwrap();
    let events = events.lines().map(|line| line.unwrap());
    let results: Vec<Value> = events
        .map(|line| serde_json::from_str(&line).unwrap())
        .filter(|event: &Value| event["type"] == "report")
        .collect();
    assert!(child.wait().unwrap().success());
    let result = &results[0];
    let verdict = &result["verdict"]["write"];
    assert_eq!(verdict["class"], "deferred_write", "{}", sentence(verdict));
    assert!(!kinds(verdict).contains(&"foreign"), "{verdict}");
    assert!(!findings(result).contains(&"foreign_io"), "{result}");
}
