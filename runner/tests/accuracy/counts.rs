//! Compares counts, to the byte, with the kernel's I/O accounting of the process (/proc/PID/io).

use super::scratch::{
    self,
    program::{report, start, with},
};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use serde_json::{Value, json};
use std::{io::Read, path::Path};

const BYTES: u64 = 16 << 20;

/// Returns the result of a run, and a function that returns a counter of its process (/proc/PID/io)
/// by name.
fn report_and_counters(job: &Value, root: &Path) -> (Value, impl Fn(&str) -> u64 + use<>) {
    let root = root.to_str().unwrap();
    let mut child = start(job, &["--json", "--target-root", root]);
    let mut stdout = Vec::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_end(&mut stdout)
        .unwrap();
    // A process keeps its counters until it is reaped.
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(Pid::from_child(&child)), ended).unwrap();
    let io = std::fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap();
    assert!(child.wait().unwrap().success());
    let report = serde_json::from_slice(&stdout).unwrap();
    let count = move |name: &str| {
        io.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
            .unwrap()
            .parse()
            .unwrap()
    };
    (report, count)
}

#[test]
fn bytes_match_the_process_counters() {
    let directory = scratch::directory();
    let image = directory.path().join("image");
    scratch::image(&image, BYTES);
    let Some(device) = scratch::Loop::attach(&image, &[]) else {
        return;
    };
    for engine in ["io_uring", "psync"] {
        let on_file = json!({"name": "counts", "filename": directory.path().join("t1"), "size": BYTES, "rw": "randread",
            "bs": "4k", "iodepth": 16, "direct": 1, "ioengine": engine});
        // Create the file and load the program into the page cache.
        report(&on_file);
        // The host may evict pages of the program, which must then be read again.
        let counted = (0..5).map(|_| {
            let (result, io) = report_and_counters(&on_file, directory.path());
            (result["report"]["read"]["bytes"].as_u64(), io("read_bytes"))
        });
        let expected = (Some(BYTES), BYTES);
        let counted: Vec<_> = counted.take_while(|counted| *counted != expected).collect();
        assert!(counted.len() < 5, "{engine}: {counted:?}");
        // Write to a device, because writes to a filesystem include metadata.
        let raw = with(&on_file, json!({"rw": "randwrite", "filename": device.0}));
        let (result, io) = report_and_counters(&raw, directory.path());
        assert_eq!(
            (
                result["report"]["write"]["bytes"].as_u64(),
                io("write_bytes")
            ),
            (Some(BYTES), BYTES),
            "{engine}"
        );
    }
}
