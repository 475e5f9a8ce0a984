//! Runs that fail at the end still report their results.

use crate::scratch::{
    self, Loop, Mounted, input,
    program::{run, runner, spawn, start, with},
};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command},
};

fn buffered_write(file: &Path, size: &str) -> Value {
    json!({"name": "write", "filename": file, "size": size, "rw": "write", "bs": "64k", "direct": 0, "fallocate": "none",
        "ioengine": "psync", "end_fsync": 1})
}

fn has_finding(result: &Value, code: &str) -> bool {
    result["findings"]
        .as_array()
        .unwrap()
        .iter()
        .any(|finding| finding["code"] == code)
}

/// A filesystem larger than the tmpfs that holds its image: the page cache accepts more data than
/// the device.
#[test]
fn failed_flush_is_an_io_error() {
    let directory = scratch::directory();
    let small = directory.path().join("small");
    let large = directory.path().join("large");
    std::fs::create_dir(&small).unwrap();
    std::fs::create_dir(&large).unwrap();
    if let Err(reason) = scratch::run(
        "mount",
        &[
            "-t",
            "tmpfs",
            "-o",
            "size=8m",
            "tmpfs",
            small.to_str().unwrap(),
        ],
    ) {
        return scratch::skip(&reason);
    }
    let _memory = Mounted::existing(&small);
    let image = small.join("image");
    std::fs::File::create(&image)
        .unwrap()
        .set_len(64 << 20)
        .unwrap();
    let Some(device) = Loop::attach(&image, &[]) else {
        return;
    };
    scratch::run("mkfs.ext2", &["-q", &device.0]).unwrap();
    let _disk = Mounted::new(&device.0, &large);
    let output = run(&buffered_write(&large.join("t1"), "32m"), &["--json"]);
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        output.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let report = &result["report"];
    assert_eq!(
        (
            report["write"]["ios"].as_u64(),
            report["errors"]["total"].as_u64()
        ),
        (Some(512), Some(1))
    );
    assert_eq!(report["errors"]["first"]["operation"], "sync");
    assert!(
        report["flush"]["duration_ms"].is_null()
            && report["absent"]["flush"]
                .as_str()
                .unwrap()
                .contains("failed")
    );
    assert!(has_finding(&result, "io_errors"), "{}", result["findings"]);
}

/// Starts a run and waits for the first sample. Returns the remaining events.
fn start_until_first_sample(job: &Value) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut child = start(job, &["--events"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap);
    assert!(
        lines.any(|line| line.contains("\"type\":\"sample\"")),
        "ended without a sample"
    );
    (child, lines)
}

#[test]
fn file_that_cannot_be_removed_is_a_finding() {
    let directory = scratch::directory();
    let at = directory.path().to_str().unwrap();
    let mut job = buffered_write(&directory.path().join("t1"), "1m");
    for (option, value) in [
        ("runtime", json!("1s")),
        ("time_based", json!(1)),
        ("unlink", json!(1)),
    ] {
        job[option] = value;
    }
    let (mut child, lines) = start_until_first_sample(&job);
    // Make the directory append-only so that not even root can remove files.
    if let Err(reason) = scratch::run("chattr", &["+a", at]) {
        child.wait().unwrap();
        return scratch::skip(&reason);
    }
    let last = lines.last().unwrap();
    scratch::run("chattr", &["-a", at]).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{last}");
    let result: Value = serde_json::from_str(&last).unwrap();
    assert!(result["report"]["write"]["ios"].as_u64().unwrap() > 0);
    assert!(
        has_finding(&result, "clean_up_failed"),
        "{}",
        result["findings"]
    );
}

#[test]
fn stop_does_not_wait_for_the_flush() {
    let directory = scratch::directory();
    let mut job = buffered_write(&directory.path().join("t1"), "64m");
    for (option, value) in [("runtime", json!("60s")), ("time_based", json!(1))] {
        job[option] = value;
    }
    let (mut child, lines) = start_until_first_sample(&job);
    scratch::run("kill", &["-s", "INT", &child.id().to_string()]).unwrap();
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(
        rest.iter()
            .all(|line| !line.contains("\"phase\":\"flush\"")),
        "a flush phase after a stop"
    );
    let result: Value = serde_json::from_str(rest.last().unwrap()).unwrap();
    assert!(
        result["report"]["flush"]["dirty_bytes"].is_u64()
            && result["report"]["flush"]["duration_ms"].is_null()
    );
    assert!(
        result["report"]["absent"]["flush"]
            .as_str()
            .unwrap()
            .contains("stopped")
    );
}

#[test]
fn job_that_finishes_in_its_ramp_does_not_extend_a_stopped_run() {
    let plain = json!({"ioengine": "null", "size": "1m", "ramp_time": "60s", "runtime": "60s"});
    let jobs = [
        with(&plain, json!({"name": "done"})),
        with(&plain, json!({"name": "on", "time_based": 1})),
    ];
    let (mut child, lines) = start_until_first_sample(&json!({"jobs": jobs}));
    scratch::run("kill", &["-s", "INT", &child.id().to_string()]).unwrap();
    let result: Value = serde_json::from_str(&lines.last().unwrap()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let report = &result["report"];
    assert!(
        report["duration_ms"].as_f64().unwrap() < 1000.0,
        "{}",
        report["duration_ms"]
    );
    assert_eq!(
        (
            &report["jobs"][0]["ended_by"],
            &report["jobs"][1]["ended_by"]
        ),
        (&json!("size"), &json!("signal"))
    );
}

#[test]
fn full_stderr_does_not_change_the_exit_code() {
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut command = runner();
    command.args(["run", "-"]).stderr(full);
    let mut child = input::spawn(&mut command, r#"{"ioengine": "null", "iodepth": 0}"#);
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

/// Arguments of `timeout` that run a program as a user limited to three threads (RLIMIT_NPROC,
/// setrlimit(2)). The limit does not apply to root.
const FEW_THREADS: [&str; 7] = [
    "20",
    "setpriv",
    "--reuid=61234",
    "--regid=61234",
    "--clear-groups",
    "prlimit",
    "--nproc=3:3",
];

fn limited_args<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [
        &FEW_THREADS[..],
        &[env!("CARGO_BIN_EXE_leadline-runner")],
        args,
    ]
    .concat()
}

#[test]
fn thread_limit_is_reported_as_a_problem() {
    if let Err(reason) = scratch::run("timeout", &limited_args(&["host"])) {
        return scratch::skip(&format!("cannot limit threads on this host: {reason}"));
    }
    let job = json!({"name": "many", "ioengine": "null", "size": "1m", "runtime": "1s", "time_based": 1, "numjobs": 8});
    let mut timeout = Command::new("timeout");
    let child = spawn(timeout.args(limited_args(&["run", "-"])), &job);
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{stderr}");
    assert!(stderr.contains("starting threads"), "{stderr}");
}
