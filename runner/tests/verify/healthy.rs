//! Healthy storage must not cause false alarms.

use super::{BLOCK, LENGTH, job, outcome::Outcome, scratch};
use serde_json::{Value, json};
use std::path::Path;

/// Options of each kind of job with each of the last `engines` engines, and the minimum number of
/// blocks that must be checked.
fn combinations(engines: usize) -> Vec<(Value, u64)> {
    let all = LENGTH / BLOCK;
    let all_engines = [
        json!({"ioengine": "psync", "direct": 0}),
        json!({"ioengine": "psync", "direct": 1}),
        json!({"ioengine": "io_uring", "direct": 1, "iodepth": 32}),
        json!({"ioengine": "io_uring", "direct": 0, "iodepth": 8}),
    ];
    let shapes = [
        (json!({}), all),
        (json!({"rw": "write"}), all),
        (json!({"norandommap": 1}), 1),
        (json!({"rw": "randrw"}), 1),
        (json!({"rw": "rw", "rwmixread": 30}), 1),
        (json!({"loops": 2}), all),
        (json!({"rw": "write", "io_size": LENGTH * 2}), all),
        (json!({"bsrange": "1k-16k", "verify_interval": 1024}), all),
        (json!({"bssplit": "4k/50:64k/50"}), all),
        (json!({"bs": "64k", "verify_interval": 512}), LENGTH / 512),
        (
            json!({"numjobs": 4, "size": LENGTH / 4, "offset_increment": LENGTH / 4}),
            1,
        ),
        (json!({"offset": LENGTH / 2, "size": LENGTH / 2}), all / 2),
        (json!({"number_ios": 100}), 100),
        (json!({"end_fsync": 1, "refill_buffers": 1}), all),
        (
            json!({"ramp_time": "100ms", "runtime": "300ms", "time_based": 1, "rate_iops": 2000}),
            1,
        ),
        (json!({"fsync": 16, "randseed": 42}), all),
        (json!({"verify_backlog": 16}), all),
        (
            json!({"rw": "write", "verify_backlog": 100, "verify_backlog_batch": 7, "loops": 3}),
            all,
        ),
        (
            json!({"norandommap": 1, "verify_backlog": 8, "fsync": 3, "refill_buffers": 1}),
            1,
        ),
        (json!({"bssplit": "4k/50:64k/50", "verify_backlog": 5}), all),
        (
            json!({"verify_backlog": 30, "ramp_time": "100ms", "runtime": "300ms", "time_based": 1,
                "rate_iops": 2000}),
            1,
        ),
    ];
    let mut combinations = Vec::new();
    for engine in all_engines.into_iter().rev().take(engines) {
        for (shape, min) in &shapes {
            let mut changes = engine.clone();
            let fields = changes.as_object_mut().unwrap();
            fields.extend(shape.as_object().unwrap().clone());
            combinations.push((changes, *min));
        }
    }
    combinations
}

fn check(path: &Path, root: &Path, engines: usize) {
    let mut failed = Vec::new();
    for (changes, min_checked) in combinations(engines) {
        let job = job(path, changes.clone());
        if let Some(alarm) = Outcome::in_root(&job, root).false_alarms(min_checked) {
            failed.push(format!("{changes}: {alarm}"));
            continue;
        }
        // Run `verify_only` once per kind of job, with only one of the engines.
        if min_checked < LENGTH / BLOCK || changes["iodepth"] != 32 {
            continue;
        }
        let mut only = job;
        only["verify_only"] = json!(1);
        if let Some(alarm) = Outcome::in_root(&only, root).false_alarms(min_checked) {
            failed.push(format!("verify_only after {changes}: {alarm}"));
        }
    }
    assert!(
        failed.is_empty(),
        "{} failed:\n{}",
        failed.len(),
        failed.join("\n")
    );
}

#[test]
fn healthy_file_causes_no_false_alarms() {
    let directory = scratch::directory();
    let file = directory.path().join("data");
    scratch::image(&file, LENGTH);
    check(&file, directory.path(), 4);
}

#[test]
fn healthy_device_causes_no_false_alarms() {
    let directory = scratch::directory();
    let image = directory.path().join("image");
    scratch::image(&image, LENGTH);
    let Some(device) = scratch::Loop::attach(&image, &[]) else {
        return;
    };
    check(Path::new(&device.0), directory.path(), 2);
}
