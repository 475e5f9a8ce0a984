//! The five experiments: each must show here what it was published for, in small: by counters, and by speed only where memory
//! stands against a disk. How much faster one write is than another is for an idle disk to show: a time is no test.

mod scratch;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use scratch::Disk;
use scratch::document::{files, is_behind_a_loop, steps};
use serde_json::{Value, json};

/// An experiment as it comes with the server, with files of `most` at most.
fn experiment(name: &str, most: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples/experiments")
        .join(name);
    let mut study: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    study["scale"]["max_size"] = json!(most);
    study["scale"]["free_percent"] = json!(90);
    for job in study["steps"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .flat_map(|step| step["jobs"].as_array_mut().unwrap())
    {
        if job["runtime"].is_string() {
            job["runtime"] = json!("700ms");
        }
    }
    study
}

/// Device, Buffers and Cached are the whole machine's: one experiment at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// The steps of an experiment, done on a disk of the test's own; `None`, said aloud, where that cannot be had.
fn shown(name: &str, most: &str) -> Option<Vec<Value>> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let disk = Disk::ext4()?;
    let steps = steps(&experiment(name, most), &disk.at);
    assert!(
        files(&disk.at).is_empty(),
        "{name} leaves {:?} behind",
        files(&disk.at)
    );
    assert!(!is_behind_a_loop(&disk.at));
    Some(steps)
}

/// I/Os that the device counted for each one issued, in a direction.
fn reached(step: &Value, direction: &str) -> f64 {
    let device = step["report"]["device"][format!("{direction}_ios")]
        .as_f64()
        .unwrap();
    device / step["report"][direction]["ios"].as_f64().unwrap()
}

/// Bytes that the device counted for each one issued, in a direction.
fn bytes_reached(step: &Value, direction: &str) -> f64 {
    let device = step["report"]["device"][format!("{direction}_bytes")]
        .as_f64()
        .unwrap();
    device / step["report"][direction]["bytes"].as_f64().unwrap()
}

fn iops(step: &Value, direction: &str) -> f64 {
    step["report"][direction]["iops"].as_f64().unwrap()
}

#[test]
fn experiment_000_memory_answers_the_second_run() {
    let Some(steps) = shown("000-page-cache.json", "16m") else {
        return;
    };
    let of: Vec<f64> = steps.iter().map(|step| reached(step, "read")).collect();
    assert!(
        of[0] > 0.5 && of[1] < 0.02 && of[2] > 0.9 && of[3] > 0.9,
        "{of:?}"
    );
    assert!(iops(&steps[1], "read") > 4.0 * iops(&steps[0], "read").max(iops(&steps[2], "read")));
    assert_eq!(steps[1]["verdict"]["read"]["class"], "page_cache");
    assert_eq!(steps[3]["jobs"][0]["mode"], "raw");
}

#[test]
fn experiment_001_the_first_write_is_another_test_than_the_second() {
    // That the first write is slower is for an idle disk to show: a time is no test. What makes it so is one.
    let Some(steps) = shown("001-first-write.json", "16m") else {
        return;
    };
    let is_first = |step: &Value| {
        step["findings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|finding| finding["code"] == "initial_write")
    };
    let first: Vec<bool> = steps.iter().map(is_first).collect();
    assert_eq!(first, [true, false, false, true, false]);
    let existed: Vec<&Value> = steps
        .iter()
        .map(|step| &step["jobs"][0]["targets"][0]["existed"])
        .collect();
    assert_eq!(existed, [false, true, true, true, true]);
    let append = &steps[3]["jobs"][0]["targets"][0];
    assert_eq!(append["offset"], append["length"], "it begins at the end");
}

#[test]
fn experiment_002_what_was_asked_and_what_the_storage_saw() {
    let Some(steps) = shown("002-buffered-or-not.json", "32m") else {
        return;
    };
    let class = |step: usize, direction: &str| {
        steps[step]["verdict"][direction]["class"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(
        (0.9..1.1).contains(&bytes_reached(&steps[0], "read"))
            && bytes_reached(&steps[1], "read") < 0.02
    );
    assert!(
        (0.9..1.2).contains(&bytes_reached(&steps[2], "write")),
        "{}",
        bytes_reached(&steps[2], "write")
    );
    assert_eq!(
        (class(1, "read"), class(3, "write")),
        ("page_cache".into(), "deferred_write".into())
    );
    // What the device got of the cached writes came in larger requests than were asked, or not at all yet.
    let device = &steps[3]["report"]["device"];
    let request =
        device["write_bytes"].as_f64().unwrap() / device["write_ios"].as_f64().unwrap().max(1.0);
    assert!(
        device["write_ios"].as_u64() < Some(16) || request > 2.0 * 8192.0,
        "{device}"
    );
    for (step, direction) in [(4, "read"), (6, "write")] {
        assert!(
            (0.9..1.1).contains(&bytes_reached(&steps[step], direction)),
            "{step}"
        );
    }
    assert!(
        steps[4..]
            .iter()
            .all(|step| step["jobs"][0]["mode"] == "raw")
    );
    // On Linux a block device has a cache of its own.
    assert!(iops(&steps[5], "read") > iops(&steps[4], "read"));
}

#[test]
fn experiment_003_few_large_reads_for_many_small_ones() {
    let Some(steps) = shown("003-readahead.json", "32m") else {
        return;
    };
    let of: Vec<f64> = steps.iter().map(|step| reached(step, "read")).collect();
    assert!(of[0] < 0.1 && (0.9..1.1).contains(&of[1]), "{of:?}");
    assert!((0.9..1.3).contains(&bytes_reached(&steps[0], "read")));
    assert_eq!(steps[0]["verdict"]["read"]["class"], "readahead");
    assert_eq!(steps[1]["verdict"]["read"]["class"], "device");
}

#[test]
fn experiment_004_a_device_fills_buffers_and_a_file_cached() {
    let Some(steps) = shown("004-buffers-and-cached.json", "32m") else {
        return;
    };
    let grown = |step: usize, what: &str| {
        let memory = &steps[step]["report"]["memory"];
        memory["end"][what].as_f64().unwrap() - memory["start"][what].as_f64().unwrap()
    };
    let size = steps[0]["report"]["write"]["bytes"].as_f64().unwrap();
    assert!(
        grown(0, "buffers") > 0.5 * size,
        "Buffers grew by {} of {size}",
        grown(0, "buffers")
    );
    assert!(
        grown(1, "buffers") < 0.2 * size
            && grown(2, "cached") > 0.5 * size
            && grown(2, "buffers") < 0.2 * size
    );
    assert!(
        grown(3, "cached").abs() < 0.2 * size,
        "what is cached is written again: {}",
        grown(3, "cached")
    );
    assert!(
        steps[0]["host"]["dirty_background_bytes"].as_u64()
            < steps[0]["host"]["dirty_bytes"].as_u64()
    );
}
