//! Shares held against an independent witness: fio does the same job in the same state, and this test reads the block device's
//! counters around it.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::places::{Place, Places, Target};
use crate::run;
use crate::state::{BYTES, State, bring_about};

/// How far a share may be from the witness's.
const TOLERANCE: f64 = 0.02;

/// Sectors read from and written to a device since the system started, in bytes.
fn counters(device: &str) -> (u64, u64) {
    let text = fs::read_to_string(format!("/sys/class/block/{device}/stat")).unwrap();
    let fields: Vec<u64> = text
        .split_ascii_whitespace()
        .map(|field| field.parse().unwrap())
        .collect();
    (fields[2] * 512, fields[6] * 512)
}

fn device_of(told: &Value) -> String {
    told["jobs"][0]["targets"][0]["device"]
        .as_str()
        .unwrap()
        .into()
}

/// The device's share of the issued bytes when fio does the same job in the same state. fio's own disk statistics are read every
/// 250 ms and lack the last part of a run as short as these, so that the counters are read here.
fn fio_share(target: &Target, rw: &str, direct: u8, device: &str) -> f64 {
    let before = counters(device);
    let output = Command::new("fio")
        .args([
            "--name=witness",
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
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let direction = if rw.ends_with("read") {
        "read"
    } else {
        "write"
    };
    let issued = told["jobs"][0][direction]["io_bytes"].as_u64().unwrap();
    assert_eq!(issued, BYTES, "fio did the same job");
    let moved = if direction == "read" {
        after.0 - before.0
    } else {
        after.1 - before.1
    };
    (moved as f64 / issued as f64).min(1.0)
}

#[test]
fn shares_are_those_of_an_independent_witness() {
    let Some(places) = Places::make() else { return };
    let cases = [
        (Place::Ext4, State::Cold, "randread", 1),
        (Place::Ext4, State::Cold, "randread", 0),
        (Place::Ext4, State::HalfWarm, "randread", 0),
        (Place::Ext4, State::Warm, "randread", 0),
        (Place::Ext4, State::HalfSparse, "randread", 1),
        (Place::Ext4, State::Cold, "randwrite", 1),
        (Place::Ext4, State::Cold, "randwrite", 0),
        (Place::Xfs, State::HalfWarm, "randread", 0),
        (Place::Btrfs, State::Cold, "randread", 1),
    ];
    for (place, state, rw, direct) in cases {
        let target = places.target(place);
        bring_about(state, &target);
        let job = json!({"name": "shares", "filename": target.path, "size": "16m", "bs": "4k", "iodepth": 8, "rw": rw, "direct": direct,
            "invalidate": 0});
        let told = run::report(&job, places.root());
        let device = device_of(&told);
        let direction = if rw.ends_with("read") {
            "read"
        } else {
            "write"
        };
        let ours = told["verdict"][direction]["shares"]["device"]
            .as_f64()
            .unwrap();
        bring_about(state, &target);
        let theirs = fio_share(&target, rw, direct, &device);
        println!("{place:?} {state:?} {rw} direct={direct}: ours {ours:.4}, fio's {theirs:.4}");
        assert!(
            (ours - theirs).abs() <= TOLERANCE,
            "{place:?} {state:?} {rw} direct={direct}: ours {ours:.4}, fio's {theirs:.4}"
        );
    }
}
