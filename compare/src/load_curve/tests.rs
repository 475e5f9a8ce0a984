//! Points and curves, whose expected classes were written by an author who had not seen the code,
//! and curves of simulated devices.

mod devices;

use crate::load_curve::{
    curve::{knee, summarize},
    point::Point,
    rates, sentence,
};
use leadline_protocol::study::load_curve::{CurveState, LoadCurve, PointClass};
use serde_json::{Value, json};

fn cases(name: &str) -> Vec<Value> {
    let cases: Value = serde_json::from_str(include_str!("cases.json")).unwrap();
    cases[name].as_array().unwrap().clone()
}

fn point(case: &Value) -> Point {
    let count = |name: &str| case[name].as_u64().unwrap_or_default();
    let backlog = case["backlog"].as_array().cloned().unwrap_or_default();
    let in_flight = case["in_flight_mean"].as_f64();
    Point {
        step: 1,
        offered: case["offered"].as_f64().unwrap_or_default(),
        is_missing: !matches!(case["status"].as_str(), None | Some("done")),
        is_disturbed: case["findings"]
            .as_array()
            .is_some_and(|found| !found.is_empty()),
        seconds: 0.0,
        due: count("due"),
        completed: count("completed"),
        is_cut_short: case["is_cut_short"].as_bool().unwrap_or_default(),
        backlog: backlog.iter().filter_map(Value::as_u64).collect(),
        in_flight: in_flight.zip(case["iodepth"].as_f64()),
        latencies: None,
        p99_ms: case["p99_ms"].as_f64(),
    }
}

#[test]
fn points_are_classified_by_the_growth_of_their_backlog() {
    for case in cases("points") {
        let class = point(&case["point"]).class();
        assert_eq!(class.as_str(), case["class"], "{case}");
    }
}

#[test]
fn curves_have_a_saturation_point_and_a_knee() {
    for case in cases("curves") {
        let points: Vec<Point> = case["points"]
            .as_array()
            .unwrap()
            .iter()
            .map(point)
            .collect();
        let expected = &case["expected"];
        let classes: Vec<&str> = points.iter().map(|point| point.class().as_str()).collect();
        assert_eq!(json!(classes), expected["classes"], "{case}");
        let summary = summarize(&points);
        assert_eq!(summary.state.as_str(), expected["state"], "{case}");
        let number = |name: &str| expected[name].as_f64();
        assert_eq!(summary.saturation, number("saturation"), "{case}");
        assert_eq!(summary.upper, number("upper"), "{case}");
        if let Some(limit_ms) = case["limit_p99_ms"].as_f64() {
            let knee = knee(&points, &summary, limit_ms);
            let expected = &expected["knee"];
            assert_eq!(knee.state.as_str(), expected["state"], "{case}");
            assert_eq!(knee.rate, expected["rate"].as_f64(), "{case}");
            if let Some(slow) = expected["above_limit_at_low_rates"].as_array() {
                let slow: Vec<f64> = slow.iter().filter_map(Value::as_f64).collect();
                assert_eq!(knee.slow_at, slow, "{case}");
            }
        }
    }
}

/// A run that ended early is overloaded, even if the last window changes the shape of its backlog,
/// unless its result is missing or disturbed.
#[test]
fn runs_that_ended_early_are_overloaded() {
    let cut_short = Point {
        is_cut_short: true,
        due: 7000,
        completed: 3400,
        backlog: vec![0, 1800, 1700, 2700, 3600],
        ..Point::default()
    };
    let class_with = |change: fn(&mut Point)| {
        let mut point = cut_short.clone();
        change(&mut point);
        point.class()
    };
    assert_eq!(class_with(|_| ()), PointClass::Overloaded);
    assert_eq!(
        class_with(|point| point.is_missing = true),
        PointClass::Missing
    );
    assert_eq!(
        class_with(|point| point.is_disturbed = true),
        PointClass::Disturbed
    );
    assert_eq!(
        class_with(|point| point.completed = 9),
        PointClass::Inconsistent
    );
}

fn curve(rates: Option<Vec<u64>>) -> LoadCurve {
    LoadCurve {
        rates,
        seconds: None,
        ramp_seconds: 2,
        p99_limit_ms: None,
        max_bytes: None,
        base: json!({"numjobs": "1", "iodepth": 32}),
    }
}

#[test]
fn rates_are_derived_from_the_probe() {
    let curve = curve(None);
    for case in cases("rates") {
        let planned = rates::planned(&curve, case["probe"].as_f64().unwrap());
        assert_eq!(planned.is_none(), case["rejected"].is_string(), "{case}");
        let planned = planned.unwrap_or_default();
        if let Some(expected) = case["rates"].as_array() {
            let expected: Vec<f64> = expected.iter().filter_map(Value::as_f64).collect();
            assert_eq!(planned, expected, "{case}");
            let seconds = planned.iter().map(|rate| curve.seconds_at(*rate));
            assert_eq!(
                json!(seconds.collect::<Vec<_>>()),
                case["seconds"],
                "{case}"
            );
        }
    }
}

/// A run at this rate on a device that completes at most `capacity` I/Os per second.
fn measured(rate: f64, capacity: f64) -> Point {
    let due = (rate * 10.0) as u64;
    let backlog: Vec<u64> = (0..=4)
        .map(|quarter| ((rate - capacity).max(0.0) * 2.5 * f64::from(quarter)) as u64)
        .collect();
    Point {
        offered: rate,
        due,
        completed: due - backlog[4],
        backlog,
        ..Point::default()
    }
}

/// The rates of a curve, in the order of the runs.
fn simulate_curve(curve: &LoadCurve, probe_iops: f64, capacity: f64) -> Vec<Point> {
    let planned = rates::planned(curve, probe_iops).unwrap();
    let mut points = Vec::new();
    while let Some(rate) = rates::next(curve, &planned, &points) {
        points.push(measured(rate, capacity));
        assert!(
            points.len() <= planned.len() + rates::MAX_EXTRA + 8,
            "endless"
        );
    }
    points
}

/// A device that completes 1,000 I/Os per second: at a nominal rate of 1,010, only 9,945 Poisson
/// arrivals were due in 10 s, and all of them completed.
#[test]
fn the_bracket_uses_actual_arrival_rates() {
    let run = |offered: f64, due: u64, backlog: [u64; 5]| Point {
        offered,
        seconds: 10.0,
        due,
        completed: due - (backlog[4] - backlog[0]),
        backlog: backlog.to_vec(),
        ..Point::default()
    };
    let points = [
        run(950.0, 9_600, [3; 5]),
        run(1010.0, 9_945, [4; 5]),
        run(1060.0, 10_700, [20, 190, 370, 540, 720]),
        run(1300.0, 12_900, [20, 750, 1500, 2200, 2920]),
    ];
    let summary = summarize(&points);
    assert_eq!(summary.state, CurveState::Found);
    assert_eq!(summary.saturation, Some(1010.0), "nominal");
    assert_eq!(summary.bracket(&points), (Some(994.5), Some(1070.0)));
}

/// At a high depth, the backlog of a slow overload never fills the queue. I/Os that are submitted
/// on time wait for the device, not for the runner.
#[test]
fn a_slowly_growing_backlog_is_not_attributed_to_the_runner() {
    let at_depth_256 = |latencies| Point {
        offered: 1040.0,
        seconds: 5.0,
        due: 5_257,
        completed: 4_999,
        backlog: vec![110, 170, 240, 300, 368],
        in_flight: Some((235.0 * 0.9, 256.0)),
        latencies,
        ..Point::default()
    };
    let on_time = at_depth_256(Some((230e6, 231e6)));
    assert_eq!(on_time.class(), PointClass::Overloaded);
    assert!(!on_time.is_limited_by_generator());
    let late = at_depth_256(Some((1e6, 230e6)));
    assert!(late.is_limited_by_generator());
    assert!(at_depth_256(None).is_limited_by_generator(), "unknown");

    let points = [late];
    let summary = summarize(&points);
    assert_eq!(summary.state, CurveState::GeneratorLimited);
    let text = sentence(&curve(None), &points, &summary, (None, None), None);
    assert_eq!(
        text,
        "The saturation point was not reached: the runner could not submit all I/Os on time at any rate."
    );
}

#[test]
fn rates_stop_increasing_after_a_repeated_overload() {
    let points = simulate_curve(&curve(None), 10_000.0, 9_700.0);
    let offered: Vec<f64> = points.iter().map(|point| point.offered).collect();
    let rising = [
        1000.0, 2500.0, 5000.0, 7000.0, 8000.0, 9000.0, 9500.0, 10_000.0, 10_000.0,
    ];
    assert_eq!(offered[..9], rising);
    let summary = summarize(&points);
    let (low, high) = (summary.saturation.unwrap(), summary.upper.unwrap());
    // 10,000 is more than 5 % above 9,500, so one rate in between follows.
    // Its backlog grows by 500 of 97,500, which is not a significant overload in 10 s.
    assert_eq!(offered[9..], [9750.0], "{offered:?}");
    assert_eq!((low, high), (9750.0, 10_000.0));
}

#[test]
fn a_coarse_bracket_is_bisected() {
    let points = simulate_curve(&curve(Some(vec![1000, 4000, 8000, 16_000])), 0.0, 9_000.0);
    let summary = summarize(&points);
    assert_eq!(summary.state, CurveState::Found);
    let (low, high) = (summary.saturation.unwrap(), summary.upper.unwrap());
    assert!(
        low <= 9000.0 && high > 9000.0 && high / low <= 1.05,
        "{low} {high}"
    );
}

#[test]
fn curves_correct_an_inaccurate_probe() {
    let down = simulate_curve(&curve(None), 100_000.0, 3_000.0);
    assert_eq!(summarize(&down).state, CurveState::Found, "{down:?}");
    let up = simulate_curve(&curve(None), 1_000.0, 2_000.0);
    let summary = summarize(&up);
    assert_eq!(summary.state, CurveState::Found, "{up:?}");
    assert!(summary.saturation <= Some(2000.0) && summary.upper > Some(2000.0));
    let endless = simulate_curve(&curve(None), 1_000.0, 1e9);
    assert_eq!(summarize(&endless).state, CurveState::NotReached);
    assert_eq!(
        endless.last().map(Point::class),
        Some(PointClass::Sustained)
    );
}

#[test]
fn two_missing_runs_end_the_curve() {
    let curve = curve(Some(vec![100, 200, 300, 400]));
    let planned = rates::planned(&curve, 0.0).unwrap();
    let missing = |offered| Point {
        offered,
        is_missing: true,
        ..Point::default()
    };
    let points = [missing(100.0), missing(200.0)];
    assert_eq!(rates::next(&curve, &planned, &points[..1]), Some(200.0));
    assert_eq!(rates::next(&curve, &planned, &points), None);
}
