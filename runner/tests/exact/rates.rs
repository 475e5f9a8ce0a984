//! Rates over ten seconds, from one I/O a second to two hundred thousand, all in one run.

use serde_json::{Value, json};

use super::quiet::alone;
use super::scratch;
use super::scratch::program::report;

/// How far a rate may be off, as a share.
const BOUND: f64 = 0.005;
/// From here on the host's processors were the limit, not the runner, in percent.
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

/// Rates in I/Os a second as asked, and what they must come to.
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
    let on_a_file = json!({"rate_iops": 20_000, "ioengine": "io_uring", "filename": file, "size": "16m", "direct": 0, "pre_read": 1});
    vec![
        ios(1, "linear"),
        ios(10, "linear"),
        ios(1000, "linear"),
        ios(200_000, "linear"),
        // Fewer I/Os vary by more than the bound by nature: √n of n.
        ios(200_000, "poisson"),
        (1024.0, job("bytes", json!({"rate": "4m"}), "linear")),
        (20_000.0, job("file", on_a_file, "linear")),
    ]
}

#[test]
fn rates_are_kept_within_half_a_percent_over_ten_seconds() {
    let _alone = alone();
    let directory = scratch::directory();
    let asked = jobs(&directory.path().join("t1"));
    let told = report(&json!({"jobs": asked.iter().map(|(_, job)| job).collect::<Vec<_>>()}));
    let jobs = told["report"]["jobs"].as_array().unwrap();
    let wrong: Vec<String> = asked
        .iter()
        .zip(jobs)
        .map(|((wanted, _), job)| (wanted, job["read"]["iops"].as_f64().unwrap(), &job["name"]))
        .filter(|(wanted, iops, _)| (iops / **wanted - 1.0).abs() > BOUND)
        .map(|(wanted, iops, name)| format!("{name}: {iops} for {wanted}"))
        .collect();
    let busy = told["report"]["cpu"]["host_percent"].as_f64().unwrap();
    if !wrong.is_empty() && busy > BUSY_PERCENT {
        return scratch::skip(&format!(
            "rates on a host that is {busy:.0} % busy: {wrong:?}"
        ));
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
