//! Rates from 1 to 200,000 I/Os per second over 10 s, all in one run.

use super::{
    busy_host::exclusive,
    scratch::{self, program::report},
};
use serde_json::{Value, json};

/// Maximum relative error of a rate.
const MAX_ERROR: f64 = 0.005;
/// Host CPU utilization above which rate errors are attributed to the host, not the runner.
const BUSY_PERCENT: f64 = 95.0;

fn job(name: &str, rate: Value, process: &str) -> Value {
    let mut job = json!({"name": name, "ioengine": "null", "size": "1g", "rw": "randread", "bs": "4k", "iodepth": 16,
        "runtime": "10s", "time_based": 1, "rate_process": process});
    rate.as_object()
        .unwrap()
        .iter()
        .for_each(|(option, value)| job[option] = value.clone());
    job
}

/// Expected I/Os per second, and the jobs.
fn jobs(file: &std::path::Path) -> Vec<(f64, Value)> {
    let ios = |per_second: u64, process: &str| {
        (
            per_second as f64,
            job(
                &format!("{process}-{per_second}"),
                json!({"rate_iops": per_second}),
                process,
            ),
        )
    };
    let on_file = json!({"rate_iops": 20_000, "ioengine": "io_uring", "filename": file, "size": "16m", "direct": 0, "pre_read": 1});
    vec![
        ios(1, "linear"),
        ios(10, "linear"),
        ios(1000, "linear"),
        ios(200_000, "linear"),
        // Lower Poisson rates vary by more than the maximum error: √n of n I/Os.
        ios(200_000, "poisson"),
        (1024.0, job("bytes", json!({"rate": "4m"}), "linear")),
        (20_000.0, job("file", on_file, "linear")),
    ]
}

#[test]
fn rates_are_accurate_to_half_a_percent_over_ten_seconds() {
    let _guard = exclusive();
    let directory = scratch::directory();
    let requested = jobs(&directory.path().join("t1"));
    let result = report(&json!({"jobs": requested.iter().map(|(_, job)| job).collect::<Vec<_>>()}));
    let jobs = result["report"]["jobs"].as_array().unwrap();
    let wrong: Vec<String> = requested
        .iter()
        .zip(jobs)
        .map(|((expected, _), job)| {
            (
                expected,
                job["read"]["iops"].as_f64().unwrap(),
                &job["name"],
            )
        })
        .filter(|(expected, iops, _)| (iops / **expected - 1.0).abs() > MAX_ERROR)
        .map(|(expected, iops, name)| format!("{name}: {iops}, expected {expected}"))
        .collect();
    let busy = result["report"]["cpu"]["host_percent"].as_f64().unwrap();
    if !wrong.is_empty() && busy > BUSY_PERCENT {
        return scratch::skip(&format!(
            "rates on a host that is {busy:.0} % busy: {wrong:?}"
        ));
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
