//! Shares held against independent witnesses: the block device's counters as this test reads them around the run, and fio's own
//! disk statistics for the same job, interleaved.

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
    let fields: Vec<u64> = text.split_ascii_whitespace().map(|field| field.parse().unwrap()).collect();
    (fields[2] * 512, fields[6] * 512)
}

fn device_of(told: &Value) -> String {
    told["jobs"][0]["targets"][0]["device"].as_str().unwrap().into()
}

/// The device's share of the issued bytes as fio's disk statistics have it, in the same state, with the same job.
fn fio_share(target: &Target, rw: &str, direct: u8, device: &str) -> f64 {
    let before = counters(device);
    let output = Command::new("fio")
        .args(["--name=witness", "--size=16m", "--bs=4k", "--iodepth=8", "--ioengine=io_uring", "--output-format=json"])
        .args(["--invalidate=0", &format!("--rw={rw}"), &format!("--direct={direct}")])
        .arg(format!("--filename={}", target.path.display()))
        .output()
        .unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let after = counters(device);
    let disk = &told["disk_util"][0];
    // fio 3.33 tells I/Os and merges, not bytes: random I/Os of one size are as many as their bytes say.
    let (ios, merges, moved) = if rw.ends_with("read") {
        (&disk["read_ios"], &disk["read_merges"], after.0 - before.0)
    } else {
        (&disk["write_ios"], &disk["write_merges"], after.1 - before.1)
    };
    let by_fio = (ios.as_u64().unwrap() + merges.as_u64().unwrap()) as f64 * 4096.0;
    let by_counters = moved as f64;
    assert!((by_fio - by_counters).abs() <= TOLERANCE * BYTES as f64, "fio's statistics and the counters: {by_fio}, {by_counters}");
    (by_fio / BYTES as f64).min(1.0)
}

#[test]
fn shares_are_those_of_independent_witnesses() {
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
        let direction = if rw.ends_with("read") { "read" } else { "write" };
        let ours = told["verdict"][direction]["shares"]["device"].as_f64().unwrap();
        bring_about(state, &target);
        let theirs = fio_share(&target, rw, direct, &device);
        println!("{place:?} {state:?} {rw} direct={direct}: ours {ours:.4}, fio's {theirs:.4}");
        assert!((ours - theirs).abs() <= TOLERANCE, "{place:?} {state:?} {rw} direct={direct}: ours {ours:.4}, fio's {theirs:.4}");
    }
}
