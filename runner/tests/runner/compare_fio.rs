//! `leadline-runner compare` with JSON results from fio.

use crate::scratch;
use crate::scratch::program::{report, runner};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// One direction of a job that ran for a second, with bins as in `json+`.
fn direction(iops: f64, p99_ns: u64) -> Value {
    let ios = iops as u64;
    json!({"total_ios": ios, "io_bytes": 4096 * ios, "iops": iops, "bw_bytes": (iops * 4096.0) as u64, "runtime": 1000,
        "slat_ns": {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0},
        "clat_ns": {"min": 1000, "max": p99_ns, "mean": 2000.0, "stddev": 1.0, "N": ios,
            "percentile": {"50.000000": 1500, "99.000000": p99_ns}, "bins": {"1500": ios - 15, p99_ns.to_string(): 15}},
        "lat_ns": {"min": 1000, "max": p99_ns, "mean": 2000.0, "stddev": 1.0, "N": ios}})
}

fn fio(jobs: &[Value], options: Value) -> Value {
    let none = json!({"total_ios": 0, "io_bytes": 0, "iops": 0.0, "bw_bytes": 0});
    let jobs: Vec<Value> = jobs
        .iter()
        .map(|read| {
            json!({"jobname": "a", "error": 0, "job_runtime": 1000, "job options": options, "read": read,
            "write": none, "trim": none, "sync": {"total_ios": 0}})
        })
        .collect();
    json!({"fio version": "fio-3.33", "timestamp_ms": 5000, "jobs": jobs})
}

fn store(directory: &Path, name: &str, results: &[Value]) -> PathBuf {
    let directory = directory.join(name);
    fs::create_dir(&directory).unwrap();
    for (index, result) in results.iter().enumerate() {
        fs::write(directory.join(format!("{index}.json")), result.to_string()).unwrap();
    }
    directory
}

fn compare(a: &Path, b: &Path, options: &[&str]) -> (Value, Output) {
    let mut command = runner();
    command
        .arg("compare")
        .args([a, b])
        .args(["--format", "json"]);
    let output = command.args(options).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let json: Value = serde_json::from_slice(&output.stdout).expect(&stderr);
    (json["comparison"].clone(), output)
}

fn values(comparison: &Value, metric: &str) -> Value {
    let metrics = comparison["metrics"].as_array().unwrap();
    let found = metrics.iter().find(|found| found["name"] == metric);
    found.map_or(Value::Null, |found| found["values"].clone())
}

#[test]
fn fio_results_are_compared_and_fail_rules() {
    let directory = tempfile::tempdir().unwrap();
    let group = |name: &str, factor: f64| {
        let results: Vec<Value> = (0..8)
            .map(|run| {
                fio(
                    &[direction(factor * (1000.0 + f64::from(run)), 9000)],
                    json!({"rw": "randread"}),
                )
            })
            .collect();
        store(directory.path(), name, &results)
    };
    let (before, after) = (group("before", 1.0), group("after", 0.8));
    let (comparison, output) = compare(&before, &after, &["--fail-if", "read.iops worse than 5%"]);
    assert_eq!(output.status.code(), Some(4), "{comparison}");
    assert_eq!(values(&comparison, "read_iops")[0], json!(1000.0));
    assert_eq!(values(&comparison, "read_lat_p99_ns")[0], json!(9000.0));
    assert_eq!(
        comparison["setting_differences"],
        json!([]),
        "{}",
        comparison["setting_differences"]
    );
}

#[test]
fn jobs_of_one_result_are_summed_and_their_bins_merged() {
    let directory = tempfile::tempdir().unwrap();
    let jobs = [direction(1000.0, 9000), direction(500.0, 20_000)];
    let one = store(directory.path(), "plus", &[fio(&jobs, json!({}))]);
    let mut without_bins = fio(&jobs, json!({}));
    for job in without_bins["jobs"].as_array_mut().unwrap() {
        let latency = job["read"]["clat_ns"].as_object_mut().unwrap();
        latency.remove("bins");
    }
    let other = store(directory.path(), "json", &[without_bins]);
    let (comparison, _) = compare(&one, &other, &[]);
    assert_eq!(values(&comparison, "read_iops"), json!([1500.0, 1500.0]));
    // Of 2,000 I/Os, 1,970 took 1,500 ns and 15 took 9,000 ns. The 1,980th is one of the latter.
    assert_eq!(
        values(&comparison, "read_lat_p99_ns"),
        json!([9000.0, null])
    );
}

#[test]
fn different_fio_options_are_shown() {
    let directory = tempfile::tempdir().unwrap();
    let group = |name: &str, depth: &str, file: &str| {
        let options = json!({"iodepth": depth, "filename": file});
        store(
            directory.path(),
            name,
            &[fio(&[direction(1000.0, 9000)], options)],
        )
    };
    let (comparison, _) = compare(&group("a", "1", "/a"), &group("b", "8", "/b"), &[]);
    let sentence = comparison["comparability"].to_string();
    assert!(
        sentence.contains("fio.iodepth (1 / 8)") && !sentence.contains("filename"),
        "{sentence}"
    );
}

#[test]
fn fio_and_leadline_results_are_compared() {
    let directory = tempfile::tempdir().unwrap();
    let own = report(
        &json!({"ioengine": "null", "size": "1g", "rw": "randread", "direct": 1,
        "runtime": "100ms", "time_based": 1}),
    );
    let own = store(directory.path(), "own", &[own]);
    let foreign = store(
        directory.path(),
        "fio",
        &[fio(&[direction(1000.0, 9000)], json!({}))],
    );
    let (comparison, _) = compare(&own, &foreign, &[]);
    assert_eq!(values(&comparison, "read_iops")[1], json!(1000.0));
    assert_eq!(values(&comparison, "cpu_ns_per_io")[1], Value::Null);
    let differences = comparison["comparability"].to_string();
    for expected in [
        "program (Leadline / fio)",
        "fio.rw (randread / read)",
        "fio.direct (1 / 0)",
    ] {
        assert!(differences.contains(expected), "{differences}");
    }
}

/// The values must match those in fio's output.
#[test]
fn real_fio_results_keep_their_values() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("data");
    let run = Command::new("fio")
        .args([
            "--name=a",
            "--size=4m",
            "--rw=randrw",
            "--bs=4k",
            "--ioengine=psync",
            "--fsync=16",
        ])
        .arg(format!("--filename={}", file.display()))
        .arg("--output-format=json")
        .output();
    let Ok(run) = run else {
        return scratch::skip("fio is not installed");
    };
    let printed: Value = serde_json::from_slice(&run.stdout).unwrap();
    let stored = store(directory.path(), "fio", std::slice::from_ref(&printed));
    let (comparison, _) = compare(&stored, &stored, &[]);
    let job = &printed["jobs"][0];
    for (metric, expected) in [
        ("read_iops", &job["read"]["iops"]),
        ("write_iops", &job["write"]["iops"]),
        ("write_lat_mean_ns", &job["write"]["lat_ns"]["mean"]),
        ("sync_lat_mean_ns", &job["sync"]["lat_ns"]["mean"]),
    ] {
        let value = values(&comparison, metric)[0].as_f64();
        let expected = expected.as_f64().unwrap();
        assert!(
            value.is_some_and(|value| (value / expected - 1.0).abs() < 1e-9),
            "{metric}: {value:?} {expected}"
        );
    }
}

#[test]
fn hosts_of_fio_results_are_unknown() {
    let directory = tempfile::tempdir().unwrap();
    let result = |iops| fio(&[direction(iops, 9000)], json!({}));
    let a = store(directory.path(), "a", &[result(1000.0)]);
    let b = store(directory.path(), "b", &[result(1001.0)]);
    let (comparison, _) = compare(&a, &b, &[]);
    assert_eq!(
        comparison["comparability"]["sentence"],
        "Same test (the host is not recorded in all results)."
    );
}

#[test]
fn rate_limits_in_fio_results_are_reported() {
    let directory = tempfile::tempdir().unwrap();
    let result =
        |iops: f64, limit: &str| fio(&[direction(iops, 9000)], json!({"rate_iops": limit}));
    let a = store(directory.path(), "a", &[result(1024.0, "1k")]);
    let b = store(directory.path(), "b", &[result(500.0, "500")]);
    let (comparison, _) = compare(&a, &b, &[]);
    let text = comparison.to_string();
    assert!(
        text.contains("reached different read rate limits"),
        "{text}"
    );
}

#[test]
fn damaged_and_sequential_results_are_rejected_with_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let mut stonewall = fio(
        &[direction(1000.0, 9000), direction(500.0, 9000)],
        json!({}),
    );
    stonewall["jobs"][0]["groupid"] = json!(0);
    stonewall["jobs"][1]["groupid"] = json!(1);
    let mut negative = fio(&[direction(1000.0, 9000)], json!({}));
    negative["jobs"][0]["read"]["iops"] = json!(-1000.0);
    for (name, document, expected) in [
        ("stonewall", stonewall, "append #1 to select the first"),
        (
            "negative",
            negative,
            "jobs[0].read.iops is not a count or rate",
        ),
    ] {
        let group = store(directory.path(), name, &[document]);
        let output = runner()
            .arg("compare")
            .args([&group, &group])
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    }
}
