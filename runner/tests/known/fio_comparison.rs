//! Compares shares with fio: it runs the same job in the same state, and the test reads the device
//! counters before and after.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::locations::{Location, Locations, Target};
use crate::runner;
use crate::state::{BYTES, State, prepare};

/// Maximum difference of the shares.
const TOLERANCE: f64 = 0.02;
/// I/O of other programs on the device disturbs the counters of single comparisons.
const ATTEMPTS: u32 = 3;

/// Bytes read from and written to a device since boot.
fn counters(device: &str) -> (u64, u64) {
    let text = fs::read_to_string(format!("/sys/class/block/{device}/stat")).unwrap();
    let fields: Vec<u64> = text
        .split_ascii_whitespace()
        .map(|field| field.parse().unwrap())
        .collect();
    (fields[2] * 512, fields[6] * 512)
}

fn device_of(result: &Value) -> String {
    result["jobs"][0]["targets"][0]["device"]
        .as_str()
        .unwrap()
        .into()
}

/// The device's share of the bytes issued by fio. fio reads its disk statistics every 250 ms and misses
/// the end of such short runs, so the counters are read here.
fn fio_share(target: &Target, rw: &str, direct: u8, device: &str) -> f64 {
    let before = counters(device);
    let output = Command::new("fio")
        .args([
            "--name=comparison",
            "--size=16m",
            "--bs=4k",
            "--iodepth=8",
            "--ioengine=io_uring",
            "--output-format=json",
        ])
        .args([
            "--invalidate=0",
            &format!("--rw={rw}"),
            &format!("--direct={direct}"),
        ])
        .arg(format!("--filename={}", target.path.display()))
        .output()
        .unwrap();
    let after = counters(device);
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let direction = if rw.ends_with("read") {
        "read"
    } else {
        "write"
    };
    let issued = result["jobs"][0][direction]["io_bytes"].as_u64().unwrap();
    assert_eq!(issued, BYTES, "fio issued the same bytes");
    let moved = if direction == "read" {
        after.0 - before.0
    } else {
        after.1 - before.1
    };
    (moved as f64 / issued as f64).min(1.0)
}

#[test]
fn shares_match_fio() {
    let Some(locations) = Locations::create() else {
        return;
    };
    let cases = [
        (Location::Ext4, State::Cold, "randread", 1),
        (Location::Ext4, State::Cold, "randread", 0),
        (Location::Ext4, State::HalfWarm, "randread", 0),
        (Location::Ext4, State::Warm, "randread", 0),
        (Location::Ext4, State::HalfSparse, "randread", 1),
        (Location::Ext4, State::Cold, "randwrite", 1),
        (Location::Ext4, State::Cold, "randwrite", 0),
        (Location::Xfs, State::HalfWarm, "randread", 0),
        (Location::Btrfs, State::Cold, "randread", 1),
    ];
    for (location, state, rw, direct) in cases {
        let target = locations.target(location);
        let job = json!({"name": "shares", "filename": target.path, "size": "16m", "bs": "4k", "iodepth": 8, "rw": rw, "direct": direct,
            "invalidate": 0});
        let direction = if rw.ends_with("read") {
            "read"
        } else {
            "write"
        };
        let compare = || {
            prepare(state, &target);
            let result = runner::report(&job, locations.root());
            let share = result["verdict"][direction]["shares"]["device"]
                .as_f64()
                .unwrap();
            prepare(state, &target);
            let fio = fio_share(&target, rw, direct, &device_of(&result));
            println!(
                "{location:?} {state:?} {rw} direct={direct}: share {share:.4}, fio's {fio:.4}"
            );
            (share - fio).abs() <= TOLERANCE
        };
        assert!(
            (0..ATTEMPTS).any(|_| compare()),
            "{location:?} {state:?} {rw} direct={direct}"
        );
    }
}
