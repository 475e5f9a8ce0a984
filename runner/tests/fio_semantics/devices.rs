//! Writes to a whole device in fio and in the runner: `fill_device` ends at the end of the device.

use crate::scratch::{
    self, Loop,
    program::{JSON, report_of, runner},
};
use serde_json::{Value, json};
use std::{path::Path, process::Command};

/// Not a multiple of every block size.
const LENGTH: u64 = (1 << 20) + 2048;

/// Number of reads, bytes read, number of writes, and bytes written.
type Counts = [u64; 4];

fn fio(device: &str, options: &[(&str, &str)]) -> Counts {
    let options = options
        .iter()
        .map(|(name, value)| format!("--{name}={value}"));
    let output = Command::new("fio")
        .args(["--name=job", "--ioengine=psync", "--output-format=json"])
        .arg(format!("--filename={device}"))
        .args(options)
        .output()
        .unwrap();
    assert!(output.status.success());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let job = &document["jobs"][0];
    counts(job, ["total_ios", "io_bytes"])
}

/// Discards the device, then runs the job on it. The device's image must be in `root`.
fn leadline(device: &str, root: &Path, options: &[(&str, &str)]) -> Counts {
    scratch::run("blkdiscard", &["-f", device]).unwrap();
    let mut job = json!({"name": "job", "ioengine": "psync", "direct": 0, "filename": device});
    for (name, value) in options {
        job[*name] = json!(value);
    }
    let result = report_of(runner().args(JSON).arg("--target-root").arg(root), &job);
    counts(&result["report"], ["ios", "bytes"])
}

fn counts(result: &Value, names: [&str; 2]) -> Counts {
    let count = |direction: &str, name: &str| result[direction][name].as_u64().unwrap();
    let [ios, bytes] = names;
    [
        count("read", ios),
        count("read", bytes),
        count("write", ios),
        count("write", bytes),
    ]
}

#[test]
fn fill_device_writes_as_much_as_in_fio() {
    if let Err(error) = scratch::run("fio", &["--version"]) {
        return scratch::skip(&error);
    }
    let directory = scratch::directory();
    let image = directory.path().join("image");
    scratch::image(&image, LENGTH);
    let Some(device) = Loop::attach(&image, &[]) else {
        return;
    };
    for options in [
        &[("rw", "write"), ("bs", "64k")][..],
        &[("rw", "write"), ("bs", "48k")],
        &[("rw", "write"), ("bs", "64k"), ("size", "256k")],
        &[("rw", "write"), ("bs", "64k"), ("io_size", "512k")],
        &[("rw", "write"), ("bs", "64k"), ("offset", "512k")],
        &[("rw", "write"), ("bs", "64k"), ("loops", "2")],
        &[("rw", "randwrite"), ("bs", "64k")],
    ] {
        for name in ["fill_device", "fill_fs"] {
            let options = [options, &[(name, "1")]].concat();
            let expected = fio(&device.0, &options);
            assert!(expected[2] > 0, "{options:?}");
            let found = leadline(&device.0, directory.path(), &options);
            assert_eq!(found, expected, "{options:?}");
        }
    }
}
