//! `steady_state.json` contains series of rates with expected results. An author who had not seen
//! this code computed them with exact fractions, based on fio's source (steadystate.c).

use super::*;
use leadline_protocol::job::{steady_state::SteadyState, value::FioValue};
use serde::Deserialize;

/// Start of the measured window.
const START_NS: u64 = 7 * NS_PER_SECOND;

#[derive(Deserialize)]
struct Case {
    name: String,
    option: String,
    ss_dur_s: u32,
    ss_ramp_s: f64,
    /// I/Os or bytes in each second.
    series: Vec<u64>,
    attained_at_s: Option<f64>,
    criterion: Option<f64>,
    slope: Option<f64>,
    max_deviation: Option<f64>,
    mean: Option<f64>,
}

fn monitor(option: &str, duration_s: u32, ramp_s: u32) -> Monitor {
    let options = SteadyStateOptions {
        test: SteadyState::parse(option).expect("an option"),
        duration_s,
        ramp_s,
        interval_s: 1,
    };
    Monitor::new(0, options, START_NS)
}

/// The state of a running job that has completed `ios` I/Os of 1 byte.
fn running(ios: u64) -> JobState {
    JobState {
        completed: Completed { ios, bytes: ios },
        ramp_ios: 0,
        lat_sum_ns: 0,
        end_ns: u64::MAX,
        is_done: false,
    }
}

fn assert_close(name: &str, actual: Option<f64>, expected: Option<f64>) {
    match (actual, expected) {
        (Some(actual), Some(expected)) => assert!(
            (actual - expected).abs() <= 1e-6 * expected.abs().max(1e-3),
            "{name}: {actual} is not {expected}"
        ),
        _ => assert_eq!(actual, expected, "{name}"),
    }
}

#[test]
fn results_match_an_independent_program() {
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("steady_state.json")).expect("a list of cases");
    assert_eq!(cases.len(), 62);
    for case in cases {
        let mut monitor = monitor(&case.option, case.ss_dur_s, case.ss_ramp_s.ceil() as u32);
        let mut total = 0;
        for (second, count) in (1u64..).zip(&case.series) {
            total += count;
            if monitor.is_active {
                monitor.observe(&running(total), START_NS + second * NS_PER_SECOND);
            }
        }
        let report = monitor.report(0);
        let name = &case.name;
        assert_eq!(report.attained_s, case.attained_at_s, "{name}");
        assert_eq!(report.attained, case.attained_at_s.is_some(), "{name}");
        let window = report.window;
        let is_bandwidth = monitor.options.test.criterion.is_bandwidth();
        let mean = window.map(|window| {
            if is_bandwidth {
                window.mean_bytes_per_second
            } else {
                window.mean_iops
            }
        });
        assert_close(name, mean, case.mean);
        assert_close(name, window.and_then(|window| window.value), case.criterion);
        let deviation = window.map(|window| window.max_deviation);
        assert_close(name, deviation, case.max_deviation);
        // A slope needs more than one second.
        if case.ss_dur_s > 1 {
            assert_close(name, window.map(|window| window.slope), case.slope);
        }
    }
}

#[test]
fn counters_are_read_at_the_end_of_each_second() {
    let mut monitor = monitor("iops:1%", 2, 0);
    let mut observe = |ms: u64, ios| {
        let now_ns = START_NS + ms * NS_PER_MS;
        monitor
            .observe(&running(ios), now_ns)
            .map(|progress| progress.value)
    };
    assert_eq!(observe(999, 999), None);
    assert_eq!(observe(1000, 1000), Some(None));
    assert_eq!(observe(1999, 2499), None);
    // 1,500 I/Os in the next second.
    assert_eq!(observe(2000, 2500), Some(Some(20.0)));
    // A late reading is divided by the actual elapsed time, and the next interval starts at that
    // reading.
    assert_eq!(observe(3400, 2500 + 2100), Some(Some(0.0)));
}

#[test]
fn a_late_reading_is_not_followed_by_a_short_interval() {
    let mut monitor = monitor("iops:1%", 10, 0);
    for (at_ms, due_ms) in [
        (1_400, 2_000),
        (2_700, 4_000),
        (4_000, 5_000),
        (9_600, 11_000),
    ] {
        monitor.observe(&running(at_ms), START_NS + at_ms * NS_PER_MS);
        assert_eq!(monitor.due_ns(), START_NS + due_ms * NS_PER_MS);
    }
    let rates = monitor.report(0).iops;
    assert!(rates.iter().all(|rate| (rate - 1000.0).abs() < 1e-9));
}

#[test]
fn only_complete_seconds_of_a_runtime_count() {
    let ended = |ios, end_ms: u64| JobState {
        completed: Completed { ios, bytes: ios },
        ramp_ios: 0,
        lat_sum_ns: 0,
        end_ns: START_NS + end_ms * NS_PER_MS,
        is_done: true,
    };
    // The end of the 2 s runtime is noticed 30 ms late.
    let mut monitor = monitor("iops:1%", 2, 0);
    monitor.observe(&running(1000), START_NS + NS_PER_SECOND);
    let now_ns = START_NS + 2030 * NS_PER_MS;
    let progress = monitor
        .observe(&ended(2000, 2000), now_ns)
        .expect("a second");
    assert_eq!((progress.value, progress.attained), (Some(0.0), true));
    assert_eq!(monitor.report(0).attained_s, Some(2.0));

    // All data is transferred after 1.5 s.
    let mut monitor = self::monitor("iops:1%", 2, 0);
    monitor.observe(&running(1000), START_NS + NS_PER_SECOND);
    let now_ns = START_NS + 1530 * NS_PER_MS;
    assert_eq!(monitor.observe(&ended(1500, 10_000), now_ns), None);
    assert!(!monitor.is_active);
    let report = monitor.report(START_NS);
    assert_eq!((report.attained, report.window), (false, None));
    assert_eq!(report.iops, [1000.0]);
}

#[test]
fn window_times_are_relative_to_the_run_start() {
    let mut monitor = monitor("bw_slope:1%", 3, 1);
    for second in 1..=4 {
        monitor.observe(&running(second * 500), START_NS + second * NS_PER_SECOND);
    }
    let report = monitor.report(START_NS - NS_PER_SECOND);
    let window = report.window.expect("a window");
    assert_eq!((window.start_ms, window.end_ms), (2000.0, 5000.0));
    assert_eq!(report.bytes_per_second, [500.0; 3]);
    assert_eq!(report.attained_s, Some(4.0));
}

#[test]
fn mean_latencies_per_second_are_compared() {
    let attained_s = |option: &str, latencies_ns: &[u64]| {
        let mut monitor = monitor(option, 3, 0);
        let mut state = running(0);
        for (second, lat_ns) in latencies_ns.iter().enumerate() {
            // The rate varies, but the latency does not.
            let ios = 10 * (second as u64 + 1);
            state.completed.ios += ios;
            state.lat_sum_ns += ios * lat_ns;
            let now_ns = START_NS + (second as u64 + 1) * NS_PER_SECOND;
            monitor.observe(&state, now_ns);
            if !monitor.is_active {
                break;
            }
        }
        monitor.attained_s()
    };
    let steady = [900, 500, 100, 100, 101, 100];
    assert_eq!(attained_s("lat:5%", &steady), Some(5.0));
    assert_eq!(attained_s("lat_slope:1%", &steady), Some(5.0));
    assert_eq!(attained_s("iops:5%", &steady), None);
    assert_eq!(attained_s("lat:5%", &[100, 200, 300, 400, 500]), None);
}

/// fio 3.42 with ss_dur=40, ss_interval=10 and ss_ramp=5: the first interval begins at the first
/// check after the ramp, and a slope is per interval (steadystate.c).
#[test]
fn longer_intervals_match_fios_rates_and_slopes() {
    let options = |text: &str| SteadyStateOptions {
        test: SteadyState::parse(text).expect("an option"),
        duration_s: 40,
        ramp_s: 5,
        interval_s: 10,
    };
    // Cumulative I/Os at each check. The first 10 s are not used.
    let totals = [500, 1500, 2540, 3620, 4740];
    let mut monitor = Monitor::new(0, options("iops_slope:5"), START_NS);
    for (number, total) in (1_u64..).zip(totals) {
        for at_s in [number * 10 - 5, number * 10] {
            let now_ns = START_NS + at_s * NS_PER_SECOND;
            let progress = monitor.observe(&running(total), now_ns);
            assert_eq!(progress.is_some(), at_s == number * 10);
        }
    }
    let report = monitor.report(0);
    assert_eq!(report.iops, [100.0, 104.0, 108.0, 112.0]);
    assert_eq!(report.attained_s, Some(50.0));
    let window = report.window.expect("a complete window");
    assert!((window.slope - 4.0).abs() < 1e-9);
    assert!((window.end_ms - window.start_ms - 40_000.0).abs() < 1e-6);
    assert_eq!(
        report.summary,
        "Steady state after 50.0 s: IOPS slope below 5 per 10 s for 40.0 s."
    );
    // A slope of exactly the limit is not below it.
    let mut monitor = Monitor::new(0, options("iops_slope:4"), START_NS);
    for (number, total) in (1_u64..).zip(totals) {
        monitor.observe(&running(total), START_NS + number * 10 * NS_PER_SECOND);
    }
    assert!(!monitor.report(0).attained);
}
