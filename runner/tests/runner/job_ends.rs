//! Jobs that end because another job ended or because they are too slow.

use crate::scratch;
use crate::scratch::program::{JSON, runner, spawn};
use serde_json::{Value, json};
use std::time::Instant;

/// Runs a job in an empty directory. Returns the exit code, the result and the duration in seconds.
fn run(job: &Value) -> (Option<i32>, Value, f64) {
    let directory = scratch::directory();
    let begin = Instant::now();
    let mut command = runner();
    command
        .args(JSON)
        .arg("--target-root")
        .arg(directory.path());
    let output = spawn(&mut command, job).wait_with_output().unwrap();
    let seconds = begin.elapsed().as_secs_f64();
    let text = if output.stdout.is_empty() {
        &output.stderr
    } else {
        &output.stdout
    };
    let value = serde_json::from_slice(text)
        .unwrap_or_else(|_| json!(String::from_utf8_lossy(text).into_owned()));
    (output.status.code(), value, seconds)
}

fn job(name: &str, options: &Value) -> Value {
    let mut job = json!({
        "name": name, "filename": name, "size": "1m", "direct": 0, "rw": "read",
        "ioengine": "psync", "rate_iops": 50,
    });
    for (option, value) in options.as_object().unwrap() {
        job[option] = value.clone();
    }
    job
}

#[test]
fn exit_what_selects_which_jobs_end() {
    let ended = |exit_what: &str| {
        let short = json!({"exitall": 1, "exit_what": exit_what, "number_ios": 10});
        let endless = json!({"time_based": 1, "runtime": 2});
        let other_group = json!({"new_group": 1, "time_based": 1, "runtime": 2});
        let late = json!({"startdelay": 1, "number_ios": 5});
        let jobs = [
            job("a", &short),
            job("b", &endless),
            job("c", &other_group),
            job("d", &late),
        ];
        let (code, result, _) = run(&json!({"jobs": jobs}));
        assert_eq!(code, Some(0), "{result}");
        let jobs = result["report"]["jobs"].as_array().unwrap();
        let by_exitall = jobs.iter().map(|job| job["ended_by"] == "exitall");
        by_exitall.collect::<Vec<_>>()
    };
    // In fio, a job with new_group starts a group, and the next job joins it.
    assert_eq!(ended("group"), [false, true, false, false]);
    assert_eq!(ended("stonewall"), [false, true, true, false]);
    assert_eq!(ended("all"), [false, true, true, true]);
}

#[test]
fn flow_divides_ios_by_weight() {
    let flow = |weight: u32| {
        let options = json!({"flow": weight, "time_based": 1, "runtime": 1, "rate_iops": 0});
        job(&format!("weight-{weight}"), &options)
    };
    let (code, result, _) = run(&json!({"jobs": [flow(1), flow(3)]}));
    assert_eq!(code, Some(0), "{result}");
    let jobs = &result["report"]["jobs"];
    let ios = [0, 1].map(|job: usize| jobs[job]["read"]["ios"].as_f64().unwrap());
    assert!(ios[0] > 10.0, "{ios:?}");
    assert!((ios[1] / ios[0] - 3.0).abs() < 0.1, "{ios:?}");
}

#[test]
fn exitall_ends_all_jobs_when_the_first_worker_ends() {
    let endless = json!({"time_based": 1, "runtime": 60});
    let short = json!({"exitall": 1, "number_ios": 10});
    let late = json!({"startdelay": 50, "ramp_time": 5, "number_ios": 5});
    let jobs = [job("a", &endless), job("b", &short), job("c", &late)];
    let (code, result, seconds) = run(&json!({"jobs": jobs}));
    assert_eq!(code, Some(0), "{result}");
    assert!(seconds < 20.0, "{seconds} s");
    let jobs = &result["report"]["jobs"];
    assert_eq!(jobs[0]["ended_by"], "exitall");
    assert_eq!(jobs[1]["ended_by"], "number_ios");
    assert_eq!(jobs[2]["ended_by"], "exitall");
    assert_eq!(
        (&jobs[1]["read"]["ios"], &jobs[2]["read"]["ios"]),
        (&json!(10), &json!(0))
    );
}

#[test]
fn worker_below_its_minimum_rate_fails_the_run() {
    let slow = json!({"time_based": 1, "runtime": 30, "rate_iops_min": 40, "thinktime": 100_000});
    let (code, result, seconds) = run(&job("slow", &slow));
    assert_eq!(code, Some(1), "{result}");
    assert!((3.0..15.0).contains(&seconds), "{seconds} s");
    let slow = &result["report"]["jobs"][0];
    assert_eq!(slow["ended_by"], "violated_limit");
    let violated = &slow["violated_limit"];
    assert_eq!(
        (&violated["option"], &violated["limit"]),
        (&json!("rate_iops_min"), &json!(40))
    );
    assert!(violated["value"].as_u64() < Some(40), "{violated}");
    // Results before the violation are kept. Each read takes 100 ms, for at least three seconds.
    assert!(slow["read"]["ios"].as_u64() > Some(5), "{slow}");
    assert_eq!(result["findings"][0]["code"], "violated_limit");
    let fast = json!({"time_based": 1, "runtime": 4, "rate_iops_min": 40});
    let (code, result, _) = run(&job("fast", &fast));
    assert_eq!(code, Some(0), "{result}");
}

#[test]
fn io_above_max_latency_ends_all_jobs_and_fails_the_run() {
    let endless = json!({"time_based": 1, "runtime": 30});
    // No I/O completes within this limit, which is the smallest possible.
    let mut limited = endless.clone();
    limited["max_latency"] = json!("0,1us");
    limited["rw"] = json!("write");
    let jobs = [job("limited", &limited), job("other", &endless)];
    let (code, result, seconds) = run(&json!({"jobs": jobs}));
    assert_eq!(code, Some(1), "{result}");
    assert!(seconds < 15.0, "{seconds} s");
    let report = &result["report"];
    assert_eq!(report["ended_by"], "violated_limit");
    let violated = &report["jobs"][0]["violated_limit"];
    assert_eq!(violated["option"], "max_latency");
    assert_eq!(violated["direction"], "write");
    let max_ns = report["jobs"][0]["write"]["lat_ns"]["max"].as_u64();
    assert!(max_ns > Some(1000), "{report}");
    assert_eq!(report["jobs"][1]["violated_limit"], Value::Null);
    assert_eq!(report["jobs"][1]["ended_by"], "violated_limit");
    // The limit applies only to writes. It also applies to the last I/O.
    let reads = json!({"max_latency": "0,1us", "number_ios": 20});
    assert_eq!(run(&job("reads", &reads)).0, Some(0));
    let last = json!({"max_latency": "1us", "number_ios": 1, "rate_iops": 0});
    let (code, result, _) = run(&job("last", &last));
    assert_eq!(code, Some(1), "{result}");
    assert_eq!(result["report"]["jobs"][0]["read"]["ios"], 1);
}

#[test]
fn latency_target_ends_the_job_at_the_highest_depth() {
    let options = json!({
        "ioengine": "null", "iodepth": 8, "rate_iops": 0, "time_based": 1, "runtime": 20,
        "latency_target": "1s", "latency_window": "50ms", "latency_percentile": 99,
    });
    let (code, result, seconds) = run(&job("a", &options));
    assert_eq!(code, Some(0), "{result}");
    // As in fio, the depths tried are 1, 2, 4, 8, 8 and 8.
    assert!((0.25..10.0).contains(&seconds), "{seconds} s");
    let job = &result["report"]["jobs"][0];
    assert_eq!(job["ended_by"], "latency_target");
    assert_eq!(job["latency_target"]["depths"], json!([8]));
    assert_eq!(job["latency_target"]["attained"], true);
}

#[test]
fn unattained_latency_target_is_reported() {
    let options = json!({
        "ioengine": "null", "iodepth": 8, "rate_iops": 0, "time_based": 1, "runtime": 1,
        "latency_target": "1s", "latency_window": "900ms", "latency_percentile": 99,
    });
    let (code, result, _) = run(&job("a", &options));
    assert_eq!(code, Some(0), "{result}");
    let job = &result["report"]["jobs"][0];
    assert_eq!(job["ended_by"], "runtime");
    assert_eq!(job["latency_target"]["attained"], false);
}
