//! Runs with jobs that use different layers: one job's counters must not affect the verdict on
//! another job. Also block sizes and sparse images for which the counters alone are misleading.

use crate::{
    scratch::{
        Disk, Loop, Mounted, directory, image,
        program::{report, report_in_root},
        run, skip,
    },
    situations::{findings, kinds, sentence},
};
use rustix::fs::{Advice, fadvise};
use serde_json::{Value, json};
use std::{
    fs::{File, create_dir},
    path::Path,
};

const MIB: u64 = 1 << 20;

fn has_finding(result: &Value, code: &str) -> bool {
    findings(result).contains(&code)
}

/// A disk with a tmpfs mounted below its directory, and a cold file of 64 MiB.
struct DiskAndMemory {
    _memory: Mounted,
    disk: Disk,
}

impl DiskAndMemory {
    fn new() -> Option<Self> {
        let disk = Disk::ext4()?;
        let at = disk.at.join("memory");
        create_dir(&at).unwrap();
        let mount = [
            "-t",
            "tmpfs",
            "-o",
            "size=64m",
            "none",
            at.to_str().unwrap(),
        ];
        run("mount", &mount).map_err(|error| skip(&error)).ok()?;
        let storage = Self {
            _memory: Mounted::existing(&at),
            disk,
        };
        cold(&storage.disk.at.join("cold"), 64 * MIB);
        image(&storage.disk.at.join("warm"), 32 * MIB);
        image(&at.join("f"), 16 * MIB);
        Some(storage)
    }

    fn run(&self, jobs: [Value; 2]) -> Value {
        let timed = |mut job: Value, name: &str| {
            job["name"] = json!(name);
            job["runtime"] = json!("1s");
            job["time_based"] = json!(1);
            let file = self.disk.at.join(job["filename"].as_str().unwrap());
            job["filename"] = json!(file);
            job
        };
        let [one, two] = jobs;
        let jobs = json!({"jobs": [timed(one, "one"), timed(two, "two")]});
        report_in_root(&jobs, &self.disk.at)
    }
}

fn cold(path: &Path, bytes: u64) {
    image(path, bytes);
    fadvise(File::open(path).unwrap(), 0, None, Advice::DontNeed).unwrap();
}

fn in_memory(rw: &str) -> Value {
    json!({"filename": "memory/f", "size": "16m", "rw": rw, "bs": "4k", "direct": 0, "rate_iops": 20_000})
}

fn direct_reads(block: &str) -> Value {
    json!({"filename": "cold", "size": "64m", "rw": "randread", "bs": block, "direct": 1, "iodepth": 4})
}

/// Neither job triggers readahead, so only the direct reads reach the disk.
#[test]
fn direct_reads_alongside_memory_reads_are_not_readahead() {
    let Some(storage) = DiskAndMemory::new() else {
        return;
    };
    let warm = json!({"filename": "warm", "size": "32m", "rw": "randread", "bs": "4k", "direct": 0,
        "invalidate": 0, "ioengine": "psync", "rate_iops": 20_000});
    for (memory, block) in [(in_memory("randread"), "4k"), (warm, "64k")] {
        let result = storage.run([memory, direct_reads(block)]);
        let verdict = &result["verdict"]["read"];
        assert!(!sentence(verdict).contains("eadahead"), "{verdict}");
        let kinds = kinds(verdict);
        let is_wrong = |kind: &&str| ["readahead", "amplified"].contains(kind);
        assert!(!kinds.iter().any(is_wrong), "{verdict}");
    }
}

#[test]
fn memory_writes_alongside_direct_reads_stay_in_memory() {
    let Some(storage) = DiskAndMemory::new() else {
        return;
    };
    let result = storage.run([in_memory("randwrite"), direct_reads("4k")]);
    let write = &result["verdict"]["write"];
    assert_eq!(write["class"], "no_device", "{write}");
    assert_eq!(write["shares"]["page_cache"], 1.0, "{write}");
    assert_eq!(result["verdict"]["read"]["class"], "device", "{result}");
    assert!(!has_finding(&result, "direct_io_fallback"), "{result}");
}

#[test]
fn job_without_io_makes_the_layer_unknown() {
    let Some(storage) = DiskAndMemory::new() else {
        return;
    };
    let null = json!({"filename": "warm", "size": "32m", "rw": "randread", "bs": "4k", "ioengine": "null", "rate_iops": 20_000});
    let result = storage.run([null, direct_reads("4k")]);
    let verdict = &result["verdict"]["read"];
    assert_eq!(verdict["class"], "unknown", "{verdict}");
    assert!(
        sentence(verdict).contains("job one performs no I/O"),
        "{verdict}"
    );
}

/// Each read causes one request to the loop device, regardless of whether the image has data at
/// that offset.
#[test]
fn reads_of_a_sparse_image_are_not_split() {
    let directory = directory();
    let path = directory.path().join("image");
    image(&path, 16 * MIB);
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(64 * MIB)
        .unwrap();
    let Some(device) = Loop::attach(&path, &["--direct-io=on"]) else {
        return;
    };
    let job = json!({"filename": device.0, "size": "64m", "rw": "randread", "bs": "4k", "direct": 1, "number_ios": 4000});
    let result = report(&job);
    let verdict = &result["verdict"]["read"];
    assert!(!kinds(verdict).contains(&"split"), "{verdict}");
}

/// The file's pages stay dirty until the end, and nothing is written to the device.
#[test]
fn rewrites_without_a_sync_do_not_reach_the_device() {
    let Some(disk) = Disk::ext4() else { return };
    let path = disk.at.join("f");
    cold(&path, 8 * MIB);
    let job = json!({"filename": path, "size": "8m", "rw": "write", "bs": "64k", "direct": 0, "ioengine": "psync", "loops": 4});
    // Retry if a sync in another test wrote all dirty pages of the host.
    let result = (0..10)
        .map(|_| report_in_root(&job, &disk.at))
        .find(|result| result["report"]["device"]["write_bytes"] == 0)
        .expect("a run without a sync of the host");
    let verdict = &result["verdict"]["write"];
    assert_eq!(verdict["shares"]["device"], 0.0, "{verdict}");
    let sentence = sentence(verdict);
    assert!(sentence.contains("none of the 32 MiB"), "{sentence}");
}

/// Each read transfers at least one page, but less than four times its size.
#[test]
fn unaligned_reads_of_varying_sizes_reach_the_device() {
    let Some(disk) = Disk::ext4() else { return };
    let path = disk.at.join("f");
    cold(&path, 256 * MIB);
    let job = json!({"filename": path, "size": "256m", "rw": "randread", "direct": 0, "ioengine": "psync",
        "bsrange": "1000-9000", "bs_unaligned": 1, "number_ios": 1000});
    let result = report_in_root(&job, &disk.at);
    let verdict = &result["verdict"]["read"];
    // Each I/O reads at most 3 of the 65,536 pages, so few pages are read twice.
    let share = verdict["shares"]["device"].as_f64().unwrap();
    let bound = verdict["uncertainty"].as_f64().unwrap();
    assert!(share + bound >= 0.93 && share >= 0.8, "{verdict}");
}

/// The kernel reads a page before a partial write to it and before a write through a mapping.
#[test]
fn writes_that_need_cold_pages_read_them_first() {
    let Some(disk) = Disk::ext4() else { return };
    let path = disk.at.join("f");
    for (block, engine, is_found) in [
        ("2k", "psync", true),
        ("4k", "mmap", true),
        ("4k", "psync", false),
    ] {
        cold(&path, 64 * MIB);
        let job = json!({"filename": path, "size": "64m", "rw": "randwrite", "bs": block, "direct": 0,
            "ioengine": engine, "number_ios": 3000, "fadvise_hint": "random"});
        let result = report_in_root(&job, &disk.at);
        let found = has_finding(&result, "read_before_write");
        assert_eq!(found, is_found, "{block} {engine}: {result}");
    }
}
