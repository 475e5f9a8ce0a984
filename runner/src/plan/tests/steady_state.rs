//! Tests of `steadystate` and its options.

use crate::plan::tests::{plan, resolved_job};
use serde_json::{Value, json};

fn job(changes: &Value) -> Value {
    let mut job = json!({"filename": "full", "direct": 1, "runtime": "60s", "time_based": 1});
    for (name, value) in changes.as_object().unwrap() {
        job[name] = value.clone();
    }
    job
}

#[test]
fn option_names_and_defaults_match_fio() {
    let steady_state = |changes| {
        let resolved = resolved_job(job(&changes));
        serde_json::to_value(resolved.timing.steady_state).unwrap()
    };
    assert_eq!(steady_state(json!({})), Value::Null);
    assert_eq!(steady_state(json!({"ss_dur": 0})), Value::Null);
    assert_eq!(steady_state(json!({"steadystate": "iops:5%"})), Value::Null);
    assert_eq!(
        steady_state(json!({"ss_dur": 10})),
        json!({"criterion": "iops_slope", "limit": 0.01, "is_percent": true, "duration_s": 10, "ramp_s": 0, "interval_s": 1})
    );
    assert_eq!(
        steady_state(json!({"ss": "bw:1m", "ss_dur": "1m", "ss_ramp": "2500ms"})),
        json!({"criterion": "bw", "limit": 1_048_576.0, "is_percent": false, "duration_s": 60, "ramp_s": 3, "interval_s": 1})
    );
    assert_eq!(
        steady_state(json!({"ss": "lat:5%", "ss_dur": "5m", "ss_interval": 10})),
        json!({"criterion": "lat", "limit": 5.0, "is_percent": true, "duration_s": 300, "ramp_s": 0, "interval_s": 10})
    );
}

#[test]
fn values_without_an_effect_are_rejected() {
    for (changes, field) in [
        (json!({"ss_dur": "1500ms"}), "steadystate_duration"),
        (json!({"ss_dur": "1s"}), "steadystate_duration"),
        (json!({"ss_dur": "2d"}), "steadystate_duration"),
        (
            json!({"ss_dur": 10, "ss_interval": "500ms"}),
            "steadystate_check_interval",
        ),
        (
            json!({"ss_dur": 10, "ss_interval": "1500ms"}),
            "steadystate_check_interval",
        ),
        // fio 3.42: "ss_duration must be multiple of ss_check_interval".
        (
            json!({"ss_dur": 10, "ss_interval": 3}),
            "steadystate_duration",
        ),
        (
            json!({"ss_dur": 10, "ss_interval": 10}),
            "steadystate_duration",
        ),
        (
            json!({"ss_dur": 10, "ss_interval": 20}),
            "steadystate_duration",
        ),
        (json!({"ss": "iops:0%", "ss_dur": 10}), "steadystate"),
        (json!({"ss": "iops:-5", "ss_dur": 10}), "steadystate"),
        (
            json!({"ss_dur": 10, "ss_ramp": "366d"}),
            "steadystate_ramp_time",
        ),
    ] {
        let problems = plan(job(&changes)).problems;
        let fields: Vec<_> = problems.iter().map(|problem| &problem.field).collect();
        assert_eq!(fields, [&Some(format!("jobs[0].{field}"))], "{changes}");
    }
}

#[test]
fn plan_reports_jobs_that_may_end_before_steady_state() {
    let codes = |changes| {
        let findings = plan(job(&changes)).findings;
        let codes = findings.into_iter().map(|finding| finding.code);
        codes.collect::<Vec<_>>()
    };
    assert_eq!(codes(json!({"ss_dur": 30, "ss_ramp": 30})), [""; 0]);
    assert_eq!(
        codes(json!({"ss_dur": 30, "ss_ramp": 31})),
        ["steady_state_unreachable"]
    );
    assert_eq!(
        codes(json!({"ss_dur": 30, "time_based": 0})),
        ["steady_state_limited_by_size"]
    );
    assert_eq!(codes(json!({"ss": "iops:5%"})), ["option_unused"]);
    assert_eq!(codes(json!({"ss_ramp": 5})), ["option_unused"]);
    assert_eq!(codes(json!({"ss_interval": 5})), ["option_unused"]);
    assert_eq!(
        codes(json!({"ss_dur": 30, "rate_iops": 100})),
        ["steady_state_with_rate"]
    );
    let workers = json!({"ss_dur": 10, "numjobs": 2, "rw": "randread"});
    assert_eq!(codes(workers), ["fio_difference"]);
}

#[test]
fn the_duration_is_an_upper_bound() {
    let estimate = plan(job(&json!({"ss_dur": 10}))).estimate;
    assert_eq!(estimate.seconds, Some(60.0));
    assert_eq!(
        estimate.seconds_note.as_deref(),
        Some("This is an upper bound: the run ends early at steady state.")
    );
}
