//! Compares the device's share of I/O with fio's: fio runs the same job with the target in the same
//! state, and the test reads the device counters before and after.

use crate::{
    scratch::program::report_in_root,
    state::{BYTES, State, prepare},
    test_targets::{Target, TestTarget, TestTargets},
};
use serde_json::{Value, json};
use std::{
    fs,
    io::Seek,
    mem::zeroed,
    process::{Child, Command},
};

/// Maximum difference between the two shares.
const TOLERANCE: f64 = 0.02;
/// Maximum number of attempts to get an undisturbed comparison.
const MAX_ATTEMPTS: usize = 10;
/// `ru_inblock` and `ru_oublock` count units of 512 bytes.
const RUSAGE_BLOCK: u64 = 512;

struct Share {
    /// The device's share of the issued bytes.
    share: f64,
    /// Whether the device read more than the process and its children did.
    disturbed: bool,
}

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

/// The device's share in a fio run. Reads the device's counters directly, because fio reads its
/// disk statistics only every 250 ms and so misses the end of such short runs.
fn fio_share(target: &Target, rw: &str, direct: u8, device: &str) -> Share {
    let mut output = tempfile::tempfile().unwrap();
    let before = counters(device);
    let child = Command::new("fio")
        .args([
            "--name=comparison",
            "--size=16m",
            "--bs=4k",
            "--iodepth=8",
            "--ioengine=io_uring",
            "--invalidate=0",
            "--output-format=json",
        ])
        .arg(format!("--rw={rw}"))
        .arg(format!("--direct={direct}"))
        .arg(format!("--filename={}", target.path.display()))
        .stdout(output.try_clone().unwrap())
        .spawn()
        .unwrap();
    let own_read_bytes = wait(child);
    let after = counters(device);

    output.rewind().unwrap();
    let result: Value = serde_json::from_reader(output).unwrap();
    let direction = direction(rw);
    let issued = result["jobs"][0][direction]["io_bytes"].as_u64().unwrap();
    assert_eq!(issued, BYTES, "fio issued the same number of bytes");
    let (read, written) = (after.0 - before.0, after.1 - before.1);
    let moved = if direction == "read" { read } else { written };
    Share {
        share: (moved as f64 / issued as f64).min(1.0),
        disturbed: read > own_read_bytes,
    }
}

/// Waits for the process and returns the bytes that it and its children read from devices.
fn wait(child: Child) -> u64 {
    let pid = i32::try_from(child.id()).unwrap();
    let mut status = 0;
    // SAFETY: all-zero bytes are a valid rusage.
    let mut usage: libc::rusage = unsafe { zeroed() };
    // SAFETY: both pointers are valid for writes, and the child has not been waited for.
    let waited = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
    assert_eq!((waited, status), (pid, 0), "fio succeeds");
    u64::try_from(usage.ru_inblock).unwrap() * RUSAGE_BLOCK
}

/// The share in the runner's verdict.
fn runner_share(result: &Value, direction: &str) -> Share {
    let report = &result["report"];
    let read_bytes = |source: &str| report[source]["read_bytes"].as_u64().unwrap();
    let share = &result["verdict"][direction]["shares"]["device"];
    Share {
        share: share.as_f64().unwrap(),
        disturbed: read_bytes("device") > read_bytes("storage"),
    }
}

fn direction(rw: &str) -> &'static str {
    if rw.ends_with("read") {
        "read"
    } else {
        "write"
    }
}

#[test]
fn shares_match_fio() {
    let Some(test_targets) = TestTargets::create() else {
        return;
    };
    let cases = [
        (TestTarget::Ext4, State::Cold, "randread", 1),
        (TestTarget::Ext4, State::Cold, "randread", 0),
        (TestTarget::Ext4, State::HalfWarm, "randread", 0),
        (TestTarget::Ext4, State::Warm, "randread", 0),
        (TestTarget::Ext4, State::HalfSparse, "randread", 1),
        (TestTarget::Ext4, State::Cold, "randwrite", 1),
        (TestTarget::Ext4, State::Cold, "randwrite", 0),
        (TestTarget::Xfs, State::HalfWarm, "randread", 0),
        (TestTarget::Btrfs, State::Cold, "randread", 1),
    ];
    for (test_target, state, rw, direct) in cases {
        let target = test_targets.target(test_target);
        let job = json!({"name": "shares", "filename": target.path, "size": "16m", "bs": "4k",
            "iodepth": 8, "rw": rw, "direct": direct, "invalidate": 0});
        let compare = || {
            let locked = prepare(state, &target).lock();
            let result = report_in_root(&job, test_targets.root());
            let leadline = runner_share(&result, direction(rw));
            drop(locked);
            let _locked = prepare(state, &target).lock();
            (
                leadline,
                fio_share(&target, rw, direct, &device_of(&result)),
            )
        };
        // A comparison is inconclusive if another program read from the device during it.
        let (leadline, fio) = (0..MAX_ATTEMPTS)
            .map(|_| compare())
            .find(|(leadline, fio)| !leadline.disturbed && !fio.disturbed)
            .expect("an undisturbed comparison");
        assert!(
            (leadline.share - fio.share).abs() <= TOLERANCE,
            "{test_target:?} {state:?} {rw} direct={direct}: {}, fio's {}",
            leadline.share,
            fio.share
        );
    }
}
