//! What the runner counts is what the kernel counted for its process: /proc/PID/io, to the byte.

use std::io::Read;
use std::path::Path;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use serde_json::{Value, json};

use super::scratch;
use super::scratch::program::{report, start, with};

const BYTES: u64 = 16 << 20;

/// The report of a run and what the kernel counted for its process in all: by name, as in /proc/PID/io.
fn counted(job: &Value, root: &Path) -> (Value, impl Fn(&str) -> u64 + use<>) {
    let root = root.to_str().unwrap();
    let mut child = start(job, &["--json", "--target-root", root]);
    let mut told = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut told).unwrap();
    // A process that has ended keeps its counters until somebody takes its exit code.
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(Pid::from_child(&child)), ended).unwrap();
    let io = std::fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap();
    assert!(child.wait().unwrap().success());
    let report = serde_json::from_slice(&told).unwrap();
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
fn bytes_are_those_of_the_process() {
    let directory = scratch::directory();
    let image = directory.path().join("image");
    scratch::image(&image, BYTES);
    let Some(device) = scratch::Loop::attach(&image, &[]) else {
        return;
    };
    for engine in ["io_uring", "psync"] {
        let on_a_file = json!({"name": "counts", "filename": directory.path().join("t1"), "size": BYTES, "rw": "randread",
            "bs": "4k", "iodepth": 16, "direct": 1, "ioengine": engine});
        // Lays the file out, and brings the program itself into the page cache.
        report(&on_a_file);
        let (told, io) = counted(&on_a_file, directory.path());
        assert_eq!(
            (told["report"]["read"]["bytes"].as_u64(), io("read_bytes")),
            (Some(BYTES), BYTES),
            "{engine}"
        );
        // To a device: a filesystem writes metadata of its own.
        let raw = with(&on_a_file, json!({"rw": "randwrite", "filename": device.0}));
        let (told, io) = counted(&raw, directory.path());
        assert_eq!(
            (told["report"]["write"]["bytes"].as_u64(), io("write_bytes")),
            (Some(BYTES), BYTES),
            "{engine}"
        );
    }
}
