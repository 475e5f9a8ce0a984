//! Tests `steadystate` in both programs with jobs that use no storage.

use crate::scratch::{
    self,
    program::{events, of_type, report},
};
use leadline_protocol::job::{
    steady_state::{SteadyCriterion, SteadyState},
    value::FioValue,
};
use leadline_stats::steady_state::{Criterion, Limit, SecondsWindow};
use serde_json::{Value, json};
use std::{collections::BTreeMap, process::Command};

/// Options of a job that uses no storage.
fn job(options: &[(&str, &str)]) -> BTreeMap<String, String> {
    let defaults = [
        ("ioengine", "null"),
        ("size", "1g"),
        ("rw", "randread"),
        ("time_based", "1"),
    ];
    let all = defaults.iter().chain(options);
    all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// Returns the first job in fio's JSON output, or `None` if fio is not installed.
fn fio(options: &BTreeMap<String, String>) -> Option<Value> {
    let mut fio = Command::new("fio");
    fio.args(["--name=a", "--output-format=json"]);
    fio.args(
        options
            .iter()
            .map(|(name, value)| format!("--{name}={value}")),
    );
    match fio.output() {
        Ok(output) => {
            let mut result: Value = serde_json::from_slice(&output.stdout).unwrap();
            Some(result["jobs"][0].take())
        }
        Err(error) => {
            scratch::skip(&format!("fio: {error}"));
            None
        }
    }
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is not a number"))
}

/// Returns the value of the criterion and whether it is met, computed from the per-second values in
/// fio's output.
fn evaluate(option: &str, fio: &Value) -> (f64, bool) {
    let test = SteadyState::parse(option).unwrap();
    let series = if test.criterion.is_bandwidth() {
        "bw"
    } else {
        "iops"
    };
    let seconds = fio["data"][series].as_array().unwrap();
    let seconds: Vec<f64> = seconds.iter().map(number).collect();
    let criterion = match test.criterion {
        SteadyCriterion::Iops | SteadyCriterion::Bw | SteadyCriterion::Lat => Criterion::Deviation,
        SteadyCriterion::IopsSlope | SteadyCriterion::BwSlope | SteadyCriterion::LatSlope => {
            Criterion::Slope
        }
    };
    let limit = if test.is_percent {
        Limit::Percent(test.limit)
    } else {
        Limit::Absolute(test.limit)
    };
    let window = SecondsWindow::new(&seconds).unwrap();
    (
        window.value(criterion, limit).unwrap(),
        window.is_steady(criterion, limit),
    )
}

/// Limited rates are steady, and the window excludes ramps.
#[test]
fn both_programs_reach_the_steady_state_of_a_limited_rate() {
    for (option, ramps, seconds) in [
        ("iops:20%", [0, 0], 3.0),
        ("iops:100", [0, 1], 4.0),
        ("bw_slope:10%", [1, 1], 4.0),
    ] {
        let [ramp_time, ss_ramp] = ramps.map(|seconds: u32| seconds.to_string());
        let options = job(&[
            ("rate_iops", "500"),
            ("steadystate", option),
            ("steadystate_duration", "3"),
            ("steadystate_ramp_time", &ss_ramp),
            ("ramp_time", &ramp_time),
            ("runtime", "12"),
        ]);
        let Some(fio) = fio(&options) else { return };
        let steady = &fio["steadystate"];
        assert_eq!(steady["attained"], 1, "{option}");
        // fio checks once per second, counted from the start of the process.
        let fio_seconds = number(&fio["job_runtime"]) / 1000.0;
        assert!(
            (seconds - 1.0..=seconds + 2.0).contains(&fio_seconds),
            "{option}: {fio_seconds} s"
        );
        let (value, is_steady) = evaluate(option, steady);
        let reported = steady["criterion"].as_str().unwrap().trim_end_matches('%');
        // fio rounds values, and computes relative slopes with a truncated mean.
        let error = (value - reported.parse::<f64>().unwrap()).abs();
        assert!(
            error <= 1e-5 + 0.003 * value.abs(),
            "{option}: {value} {reported}"
        );
        assert!(is_steady, "{option}");

        let result = report(&json!(options));
        let job = &result["report"]["jobs"][0];
        let leadline = &job["steady_state"];
        assert_eq!(leadline["attained"], true, "{option} {leadline}");
        assert_eq!(job["ended_by"], "steady_state");
        let attained_s = number(&leadline["attained_s"]);
        assert!(
            (seconds..=seconds + 3.0).contains(&attained_s),
            "{option}: {attained_s} s"
        );
        let duration_s = number(&job["duration_ms"]) / 1000.0;
        assert!((duration_s - attained_s).abs() < 0.2, "{option}");
        for (leadline, fio) in [
            (
                &leadline["window"]["mean_iops"],
                &steady["data"]["iops_mean"],
            ),
            (
                &leadline["window"]["mean_bytes_per_second"],
                &steady["data"]["bw_mean"],
            ),
        ] {
            let ratio = number(leadline) / number(fio);
            assert!((0.8..=1.25).contains(&ratio), "{option}: {leadline} {fio}");
        }
        assert_eq!(leadline["iops"].as_array().unwrap().len(), 3);
    }
}

#[test]
fn both_programs_run_to_the_end_if_steady_state_is_not_reached() {
    // The rates of two consecutive seconds always differ by more than one part in a billion.
    let option = "iops:0.0000001%";
    let options = job(&[("ss", option), ("ss_dur", "2"), ("runtime", "3")]);
    let Some(fio) = fio(&options) else { return };
    assert_eq!(fio["steadystate"]["attained"], 0);
    assert!(number(&fio["job_runtime"]) >= 2900.0);
    assert!(!evaluate(option, &fio["steadystate"]).1);

    let result = report(&json!(options));
    let leadline = &result["report"]["jobs"][0];
    assert_eq!(leadline["steady_state"]["attained"], false);
    assert_eq!(leadline["steady_state"]["attained_s"], Value::Null);
    assert!(number(&leadline["steady_state"]["window"]["value"]) > 0.0);
    assert_eq!(leadline["ended_by"], "runtime");
    let findings = result["findings"].as_array().unwrap();
    let mut codes = findings.iter().map(|finding| &finding["code"]);
    assert!(codes.any(|code| code == "steady_state_not_reached"));

    // The runtime ends before the first window is complete.
    let options = job(&[("ss", option), ("ss_dur", "5"), ("runtime", "2")]);
    let leadline = report(&json!(options));
    let leadline = &leadline["report"]["jobs"][0]["steady_state"];
    assert_eq!(
        (&leadline["attained"], &leadline["window"]),
        (&json!(false), &Value::Null)
    );
    assert_eq!(leadline["iops"].as_array().unwrap().len(), 2);
}

#[test]
fn steady_state_ends_only_its_own_job_and_samples_show_each_second() {
    let steady = job(&[
        ("name", "steady"),
        ("rate_iops", "1000"),
        ("ss", "iops:30%"),
        ("ss_dur", "2"),
        ("runtime", "10"),
        ("numjobs", "2"),
    ]);
    let other = job(&[("name", "other"), ("rate_iops", "1000"), ("runtime", "5")]);
    let events = events(&json!({"jobs": [steady, other]}), &[]);
    let report = &of_type(&events, "report").next().unwrap()["report"];
    let [steady, other] = [0, 1].map(|index| &report["jobs"][index]);
    assert_eq!(steady["ended_by"], "steady_state");
    assert_eq!(other["ended_by"], "runtime");
    assert_eq!(report["ended_by"], "runtime");
    let attained_s = number(&steady["steady_state"]["attained_s"]);
    assert!(number(&steady["duration_ms"]) < attained_s * 1000.0 + 300.0);
    // Both workers are included.
    let mean_iops = number(&steady["steady_state"]["window"]["mean_iops"]);
    assert!((1500.0..=2500.0).contains(&mean_iops), "{mean_iops}");

    let samples = of_type(&events, "sample");
    let progress = samples.filter_map(|sample| sample["steady_states"].as_array());
    let progress: Vec<&Value> = progress.flatten().collect();
    assert_eq!(progress.first().unwrap()["value"], Value::Null);
    assert!(progress.iter().all(|second| second["job"] == 0));
    let attained = progress.iter().filter(|second| second["attained"] == true);
    assert_eq!(attained.count(), 1);
    assert_eq!(progress.last().unwrap()["attained"], true);
    assert!(progress.len() >= 2);
}

/// The last interval must not be only a few microseconds long, because its rate would be
/// meaningless.
#[test]
fn the_last_sample_is_not_short() {
    let job = job(&[
        ("rate_iops", "1000"),
        ("ss", "iops:90%"),
        ("ss_dur", "2"),
        ("runtime", "10"),
    ]);
    let events = events(&json!(job), &[]);
    let last = of_type(&events, "sample").last().unwrap();
    assert!(number(&last["window_ms"]) > 50.0, "{last}");
    let progress = &last["steady_states"][0];
    assert_eq!(progress["attained"], true);
}
