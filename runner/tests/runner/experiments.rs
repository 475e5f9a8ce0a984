//! Each of the five experiments must reproduce its published result on a small scale. The tests
//! compare counters; they compare speed only between memory and disk.

use crate::scratch::{
    Disk,
    document::{files, has_attached_loop, steps},
};
use serde_json::{Value, json};
use std::{
    path::Path,
    sync::{Mutex, PoisonError},
};

/// Loads an experiment with shorter runtimes and file sizes limited to `max_size`.
fn experiment(name: &str, max_size: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples/experiments")
        .join(name);
    let mut study: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    study["scale"]["max_size"] = json!(max_size);
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

/// Runs only one experiment at a time, because device counters, Buffers and Cached are host-wide.
static EXCLUSIVE: Mutex<()> = Mutex::new(());

/// Runs an experiment on a test disk; returns `None` and reports a skip if none is available.
fn run_experiment(name: &str, max_size: &str) -> Option<Vec<Value>> {
    let _guard = EXCLUSIVE.lock().unwrap_or_else(PoisonError::into_inner);
    let disk = Disk::ext4()?;
    let steps = steps(&experiment(name, max_size), &disk.at);
    assert!(
        files(&disk.at).is_empty(),
        "{name} did not remove {:?}",
        files(&disk.at)
    );
    assert!(!has_attached_loop(&disk.at));
    Some(steps)
}

/// Device I/Os per issued I/O.
fn device_io_ratio(step: &Value, direction: &str) -> f64 {
    let device = step["report"]["device"][format!("{direction}_ios")]
        .as_f64()
        .unwrap();
    device / step["report"][direction]["ios"].as_f64().unwrap()
}

/// Device bytes per issued byte.
fn device_byte_ratio(step: &Value, direction: &str) -> f64 {
    let device = step["report"]["device"][format!("{direction}_bytes")]
        .as_f64()
        .unwrap();
    device / step["report"][direction]["bytes"].as_f64().unwrap()
}

fn iops(step: &Value, direction: &str) -> f64 {
    step["report"][direction]["iops"].as_f64().unwrap()
}

#[test]
fn experiment_000_second_run_from_memory() {
    let Some(steps) = run_experiment("000-page-cache.json", "16m") else {
        return;
    };
    let ratios: Vec<f64> = steps
        .iter()
        .map(|step| device_io_ratio(step, "read"))
        .collect();
    assert!(
        ratios[0] > 0.5 && ratios[1] < 0.02 && ratios[2] > 0.9 && ratios[3] > 0.9,
        "{ratios:?}"
    );
    assert!(iops(&steps[1], "read") > 4.0 * iops(&steps[0], "read").max(iops(&steps[2], "read")));
    assert_eq!(steps[1]["verdict"]["read"]["class"], "page_cache");
    assert_eq!(steps[3]["jobs"][0]["mode"], "raw");
}

#[test]
fn experiment_001_first_write_differs_from_the_second() {
    // The times depend on the disk, but the cause of the difference does not.
    let Some(steps) = run_experiment("001-first-write.json", "16m") else {
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
    assert_eq!(
        append["offset"], append["length"],
        "does not start at the end"
    );
}

#[test]
fn experiment_002_issued_and_device_ios() {
    let Some(steps) = run_experiment("002-buffered-or-not.json", "32m") else {
        return;
    };
    let class = |step: usize, direction: &str| {
        steps[step]["verdict"][direction]["class"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(
        (0.9..1.1).contains(&device_byte_ratio(&steps[0], "read"))
            && device_byte_ratio(&steps[1], "read") < 0.02
    );
    assert!(
        (0.9..1.2).contains(&device_byte_ratio(&steps[2], "write")),
        "{}",
        device_byte_ratio(&steps[2], "write")
    );
    assert_eq!(class(1, "read"), "page_cache");
    // On a busy host, the pages may have been written back before the end of the run.
    let pending = steps[3]["verdict"]["write"]["evidence"]["dirty_end_bytes"].as_u64();
    if pending > Some(20 << 20) {
        assert_eq!(class(3, "write"), "deferred_write");
    }
    // Buffered writes reach the device in larger requests than issued, or have not reached it yet.
    let device = &steps[3]["report"]["device"];
    let request =
        device["write_bytes"].as_f64().unwrap() / device["write_ios"].as_f64().unwrap().max(1.0);
    assert!(
        device["write_ios"].as_u64() < Some(16) || request > 2.0 * 8192.0,
        "{device}"
    );
    for (step, direction) in [(4, "read"), (6, "write")] {
        assert!(
            (0.9..1.1).contains(&device_byte_ratio(&steps[step], direction)),
            "{step}"
        );
    }
    assert!(
        steps[4..]
            .iter()
            .all(|step| step["jobs"][0]["mode"] == "raw")
    );
    // On Linux, block devices use the page cache.
    assert!(iops(&steps[5], "read") > iops(&steps[4], "read"));
}

#[test]
fn experiment_003_readahead() {
    let Some(steps) = run_experiment("003-readahead.json", "32m") else {
        return;
    };
    let ratios: Vec<f64> = steps
        .iter()
        .map(|step| device_io_ratio(step, "read"))
        .collect();
    assert!(
        ratios[0] < 0.1 && (0.9..1.1).contains(&ratios[1]),
        "{ratios:?}"
    );
    assert!((0.9..1.3).contains(&device_byte_ratio(&steps[0], "read")));
    let modifier = &steps[0]["verdict"]["read"]["modifiers"][0];
    assert_eq!(modifier["kind"], "readahead");
    assert_eq!(steps[1]["verdict"]["read"]["class"], "device");
}

#[test]
fn experiment_004_buffers_and_cached() {
    let Some(steps) = run_experiment("004-buffers-and-cached.json", "32m") else {
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
        "cached pages are overwritten: {}",
        grown(3, "cached")
    );
    assert!(
        steps[0]["host"]["dirty_background_bytes"].as_u64()
            < steps[0]["host"]["dirty_bytes"].as_u64()
    );
}
