//! Tests of `overload_time`.

use crate::plan::tests::{accepted, merge, plan, resolved_job};
use leadline_protocol::plan::job::OverloadOptions;
use serde_json::{Value, json};

/// 1,000 reads per second at a queue depth of 1. `null` in `changes` removes an option.
fn job(changes: &Value) -> Value {
    let job = json!({"filename": "full", "direct": 1, "rw": "randread", "ioengine": "io_uring",
        "runtime": "60s", "time_based": 1, "rate_iops": 1000, "overload_time": 5});
    let mut job = merge(job, changes);
    let options = job.as_object_mut().unwrap();
    options.retain(|_, value| !value.is_null());
    job
}

/// Code and detail of each problem. All of the problems must refer to `overload_time`.
fn problems(changes: &Value) -> Vec<(String, String)> {
    let problems = plan(job(changes)).problems.into_iter();
    problems
        .map(|problem| {
            let field = problem.field.as_deref();
            assert_eq!(field, Some("jobs[0].overload_time"), "{changes}");
            (problem.code, problem.detail)
        })
        .collect()
}

#[test]
fn times_below_a_second_and_above_an_hour_are_rejected() {
    for time in [
        "1us",
        "500us",
        "1ms",
        "999ms",
        "999999us",
        "3600001ms",
        "61m",
        "2h",
        "365d",
    ] {
        let found = problems(&json!({"overload_time": time}));
        assert!(
            matches!(&found[..], [(code, _)] if code == "out_of_range"),
            "{time}: {found:?}"
        );
    }
    for time in ["1s", "1000ms", "1500ms", "5", "3600", "1h", "60m"] {
        accepted(job(&json!({"overload_time": time})));
    }
}

#[test]
fn overload_time_requires_rate_iops() {
    for changes in [
        json!({"rate_iops": null}),
        json!({"rate_iops": 0}),
        // A rate in bytes does not determine the number of arrivals.
        json!({"rate_iops": null, "rate": "1m"}),
        // Only writes have a rate, but the job reads.
        json!({"rate_iops": ",1000"}),
        json!({"rate_iops": "0,1000"}),
        json!({"rate_iops": "1000,", "rw": "randwrite"}),
    ] {
        let found = problems(&changes);
        assert!(
            matches!(&found[..], [(code, detail)] if code == "missing_rate" && detail.contains("no I/O is due")),
            "{changes}: {found:?}"
        );
    }
    // Only one direction has a rate: completed I/Os of the other direction would hide its backlog.
    for rate in ["1000,", ",1000", "0,1000"] {
        let found = problems(&json!({"rw": "randrw", "rate_iops": rate}));
        assert!(
            matches!(&found[..], [(code, detail)] if code == "missing_rate" && detail.contains("each direction")),
            "{rate}: {found:?}"
        );
    }
    for (rw, rate) in [
        ("randread", "1000,"),
        ("randwrite", ",1000"),
        ("randrw", "1000"),
        ("randrw", "1000,500"),
    ] {
        accepted(job(&json!({"rw": rw, "rate_iops": rate})));
    }
}

#[test]
fn all_problems_are_reported_together() {
    let found = problems(&json!({"overload_time": "1ms", "rate_iops": null}));
    let codes: Vec<&str> = found.iter().map(|(code, _)| code.as_str()).collect();
    assert_eq!(codes, ["out_of_range", "missing_rate"]);
}

#[test]
fn zero_disables_overload_detection() {
    for changes in [
        json!({"overload_time": 0}),
        json!({"overload_time": null}),
        json!({"overload_time": 0, "rate_iops": null}),
        json!({"overload_time": "0s", "rate_iops": null, "rate": "1m"}),
    ] {
        assert_eq!(
            resolved_job(job(&changes)).timing.overload,
            None,
            "{changes}"
        );
    }
}

/// The limit is one second of arrivals or four times the total queue depth of all workers,
/// whichever is larger.
#[test]
fn limit_depends_on_rate_and_queue_depth() {
    for (changes, backlog, duration_ms) in [
        (json!({}), 1000, 5000),
        (json!({"overload_time": "1500ms"}), 1000, 1500),
        (json!({"numjobs": 3}), 3000, 5000),
        (json!({"rate_iops": 10, "iodepth": 32}), 128, 5000),
        (
            json!({"rate_iops": 10, "iodepth": 32, "numjobs": 2}),
            256,
            5000,
        ),
        // Only reads are issued, so the write rate is ignored.
        (json!({"rate_iops": "100,9000"}), 100, 5000),
        (json!({"rw": "randrw", "rate_iops": "100,300"}), 400, 5000),
    ] {
        let overload = resolved_job(job(&changes)).timing.overload;
        let expected = OverloadOptions {
            backlog,
            duration_ms,
        };
        assert_eq!(overload, Some(expected), "{changes}");
    }
}
