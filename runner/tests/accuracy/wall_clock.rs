//! The wall clock does not affect results. In this test, consecutive readings differ by an hour or
//! more.

use super::{
    busy_host::exclusive,
    scratch::{self, program::runner},
};
use serde_json::{Value, json};
use std::process::Stdio;

/// Replaces the C library's clock_gettime: CLOCK_REALTIME jumps back and forth by hours.
const JUMPING: &str = r"
#define _GNU_SOURCE
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    static int readings;
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_REALTIME) {
        int n = __sync_fetch_and_add(&readings, 1);
        time->tv_sec += 3600 * (n % 2 ? n : -n);
    }
    return result;
}
";

#[test]
fn a_jumping_wall_clock_does_not_affect_results() {
    let _guard = exclusive();
    let directory = scratch::directory();
    let source = directory.path().join("jumping.c");
    let library = directory.path().join("jumping.so");
    std::fs::write(&source, JUMPING).unwrap();
    let compiled = scratch::run(
        "cc",
        &[
            "-shared",
            "-fPIC",
            "-o",
            library.to_str().unwrap(),
            source.to_str().unwrap(),
        ],
    );
    if let Err(error) = compiled {
        return scratch::skip(&format!("no C compiler: {error}"));
    }
    let job = directory.path().join("job.json");
    let plain = json!({"name": "wall", "ioengine": "null", "size": "1g", "rw": "randread", "rate_iops": 2000, "runtime": "1s",
        "time_based": 1, "ramp_time": "200ms"});
    std::fs::write(&job, plain.to_string()).unwrap();
    let output = runner()
        .args(["run", job.to_str().unwrap(), "--events"])
        .env("LD_PRELOAD", &library)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let events: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let accepted_ms = events[0]["at_ms"].as_u64().unwrap();
    let report = &events.last().unwrap()["report"];
    let difference_ms = report["started_at_ms"]
        .as_u64()
        .unwrap()
        .abs_diff(accepted_ms);
    assert!(
        difference_ms > 3_500_000,
        "the clock did not jump: {difference_ms} ms"
    );
    let duration = report["duration_ms"].as_f64().unwrap();
    assert!((1000.0..1050.0).contains(&duration), "{duration} ms");
    assert!(
        (report["read"]["iops"].as_f64().unwrap() / 2000.0 - 1.0).abs() < 0.05,
        "{}",
        report["read"]["iops"]
    );
    let times: Vec<f64> = events
        .iter()
        .map(|event| event["t_ms"].as_f64().unwrap())
        .collect();
    assert!(
        times.is_sorted() && times.last().unwrap() < &5000.0,
        "{times:?}"
    );
}
