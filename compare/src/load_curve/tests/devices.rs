//! Curves of simulated devices with random arrivals. The expected results were written before the
//! simulation: the saturation point is the capacity of the device in every scenario.

use super::curve;
use crate::load_curve::{
    curve::{Summary, summarize},
    point::Point,
    rates, sentence,
};
use leadline_protocol::study::load_curve::{CurveState, PointClass};

const STEPS_PER_SECOND: u64 = 100;
const SECONDS: u64 = 10;
const RUNS: u64 = 40;
/// The `overload_time` of curves.
const OVERLOAD_SECONDS: u64 = 5;

/// Generates uniform random numbers (xorshift64*), without a dependency for tests.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Draws a number of arrivals from an approximate Poisson distribution.
    fn arrivals(&mut self, mean: f64) -> f64 {
        let normal = (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0;
        (mean + normal * mean.sqrt()).max(0.0)
    }
}

/// Capacity of a device in I/Os per second, as a function of the run's index, the time in seconds
/// and the offered rate.
type Capacity = fn(usize, f64, f64) -> f64;

/// Simulates a run in steps. Ends early if the backlog exceeds one second of arrivals and rises for
/// five seconds.
fn measured(random: &mut Random, run: usize, offered: f64, capacity: Capacity) -> Point {
    let step_s = 1.0 / STEPS_PER_SECOND as f64;
    let (mut due, mut completed) = (0.0, 0.0);
    let mut marks = vec![(0.0, 0.0)];
    let mut is_cut_short = false;
    for step in 0..SECONDS * STEPS_PER_SECOND {
        due += random.arrivals(offered * step_s);
        let at_s = step as f64 * step_s;
        completed += (capacity(run, at_s, offered) * step_s).min(due - completed);
        marks.push((due, due - completed));
        let seconds = (0..=OVERLOAD_SECONDS).map(|second| second * STEPS_PER_SECOND);
        let last: Option<Vec<f64>> = seconds
            .map(|back| Some(marks.get((step + 1).checked_sub(back)? as usize)?.1))
            .collect();
        is_cut_short = last.is_some_and(|last| {
            last.iter().all(|backlog| *backlog > offered) && last.is_sorted_by(|a, b| a > b)
        });
        if is_cut_short {
            break;
        }
    }
    let quarter = |quarter: usize| marks[(marks.len() - 1) * quarter / 4].1 as u64;
    let backlog: Vec<u64> = (0..=4).map(quarter).collect();
    let due = due as u64;
    Point {
        offered,
        due,
        completed: due - backlog[4],
        backlog,
        is_cut_short,
        ..Point::default()
    }
}

/// All points of a curve, in the order of the runs.
fn simulate_curve(
    seed: u64,
    given: Option<Vec<u64>>,
    probe: f64,
    capacity: Capacity,
) -> Vec<Point> {
    let curve = curve(given);
    let planned = rates::planned(&curve, probe).unwrap();
    let mut random = Random::new(seed);
    let mut points: Vec<Point> = Vec::new();
    while let Some(rate) = rates::next(&curve, &planned, &points) {
        points.push(measured(&mut random, points.len(), rate, capacity));
        // Each rate may be overloaded and repeated.
        let most = 2 * planned.len() + rates::MAX_EXTRA;
        assert!(points.len() <= most, "endless: {points:?}");
    }
    points
}

/// Simulates the curve once per seed.
fn summaries(given: Option<Vec<u64>>, probe: f64, capacity: Capacity) -> Vec<Summary> {
    let curves = (1..=RUNS).map(|seed| simulate_curve(seed, given.clone(), probe, capacity));
    curves.map(|points| summarize(&points)).collect()
}

/// All curves must have a saturation point within these limits.
fn check_found(summaries: &[Summary], least: f64, most: f64) {
    for summary in summaries {
        assert_eq!(summary.state, CurveState::Found, "{summary:?}");
        let (low, high) = (summary.saturation.unwrap(), summary.upper.unwrap());
        assert!(low >= least && high <= most && low < high, "{summary:?}");
    }
}

#[test]
fn rates_near_the_capacity_bracket_the_saturation_point() {
    // The probe is 5 % too low, exact, or 5 % too high.
    for probe in [9_500.0, 10_000.0, 10_500.0] {
        let summaries = summaries(None, probe, |_, _, _| 10_000.0);
        // At exactly the capacity, the class is random and can differ between two runs at the same
        // rate.
        let certain = summaries.iter().filter(|summary| {
            assert!(
                matches!(summary.state, CurveState::Found | CurveState::Bistable),
                "{summary:?}"
            );
            summary.state == CurveState::Found
        });
        let certain: Vec<Summary> = certain.cloned().collect();
        assert!(certain.len() as u64 >= RUNS * 3 / 4, "{summaries:?}");
        check_found(&certain, 9_000.0, 11_100.0);
    }
}

/// The device completes I/Os in bursts: nothing for 300 ms, then the backlog and new arrivals for
/// 700 ms.
#[test]
fn a_bursty_device_saturates_at_its_mean_rate() {
    let summaries = summaries(None, 7_000.0, |_, at_s, _| {
        if at_s.fract() < 0.3 { 0.0 } else { 10_000.0 }
    });
    let found = summaries.iter().filter(|it| it.state == CurveState::Found);
    let found: Vec<Summary> = found.cloned().collect();
    assert!(found.len() as u64 >= RUNS * 3 / 4, "{summaries:?}");
    // The bursts disturb some runs near the mean, which leaves a wider bracket.
    check_found(&found, 6_300.0, 8_400.0);
    for summary in found {
        assert!(summary.saturation <= Some(7_350.0), "{summary:?}");
        assert!(summary.upper >= Some(7_000.0), "{summary:?}");
    }
}

#[test]
fn rates_are_halved_if_the_first_rate_exceeds_the_capacity() {
    let given = Some(vec![10_000, 20_000, 30_000]);
    let summaries = summaries(given.clone(), 0.0, |_, _, _| 3_100.0);
    check_found(&summaries, 2_500.0, 3_500.0);
    // After a repeated overload, no higher rate runs.
    let points = simulate_curve(1, given, 0.0, |_, _, _| 3_100.0);
    assert!(points.iter().all(|point| point.offered <= 10_000.0));
    assert!(points[0].is_cut_short && points[1].is_cut_short);
    assert_eq!(points[1].offered, 10_000.0);
}

#[test]
fn overloaded_curves_have_no_saturation_point() {
    let given = Some(vec![10_000, 20_000]);
    for seed in 1..=RUNS {
        let points = simulate_curve(seed, given.clone(), 0.0, |_, _, _| 100.0);
        let summary = summarize(&points);
        assert_eq!(summary.state, CurveState::SaturatedAtFirst, "{points:?}");
        assert_eq!(summary.saturation, None);
        let lowest = points.iter().map(|point| point.offered).fold(1e9, f64::min);
        assert_eq!(summary.upper, Some(lowest));
        assert_eq!(lowest, 625.0, "four halvings");
        assert!(points.len() <= 10, "{points:?}");
    }
}

#[test]
fn saturation_point_requires_one_sustained_rate() {
    let given = Some(vec![1_000, 50_000]);
    let summaries = summaries(given, 0.0, |_, _, _| 1_500.0);
    let found = summaries.iter().filter(|it| it.state == CurveState::Found);
    let found: Vec<Summary> = found.cloned().collect();
    // Bisection ends at the capacity, where the class is random.
    assert!(found.len() as u64 >= RUNS * 3 / 4, "{summaries:?}");
    check_found(&found, 1_000.0, 2_000.0);
    for summary in &summaries {
        assert!(summary.saturation >= Some(1_000.0), "{summary:?}");
    }
}

/// Only rates that were sustained at least once are reported as sustained.
#[test]
fn a_bistable_curve_reports_the_highest_sustained_rate() {
    let curve = curve(Some(vec![1_000, 1_500, 50_000]));
    let at = |offered: f64, completed: u64| Point {
        offered,
        due: 10_000,
        completed,
        backlog: (0..=4)
            .map(|quarter| (10_000 - completed) / 4 * quarter)
            .collect(),
        ..Point::default()
    };
    let text = |points: &[Point]| {
        let summary = summarize(points);
        sentence(&curve, points, &summary, summary.bracket(points), None)
    };
    let low = at(1_000.0, 10_000);
    let both = [at(1_500.0, 10_000), at(1_500.0, 6_000), at(50_000.0, 2_000)];
    let all = [&[low][..], &both].concat();
    assert_eq!(
        text(&all),
        "The same rate was both sustained and overloaded: up to 1000 IOPS were always sustained, and up to 1500 IOPS were sometimes sustained."
    );
    assert_eq!(
        text(&both),
        "The same rate was both sustained and overloaded: no rate was always sustained, and up to 1500 IOPS were sometimes sustained."
    );
}

/// In every second run at a rate above 3,000, the device is in a slow state.
#[test]
fn a_device_with_two_states_is_bistable() {
    let given = Some(vec![1_000, 2_000, 4_000, 5_000]);
    let capacity: Capacity = |run, _, offered| {
        if offered > 3_000.0 && run % 2 == 0 {
            2_500.0
        } else {
            8_000.0
        }
    };
    for summary in summaries(given, 0.0, capacity) {
        assert_eq!(summary.state, CurveState::Bistable, "{summary:?}");
        assert!(summary.saturation <= Some(3_000.0), "{summary:?}");
    }
}

/// Garbage collection for 3 s in the third run.
#[test]
fn a_pause_at_a_low_rate_does_not_end_the_curve() {
    let capacity: Capacity = |run, at_s, _| {
        let is_paused = run == 2 && (4.0..7.0).contains(&at_s);
        if is_paused { 0.0 } else { 10_000.0 }
    };
    let given = Some(vec![1_000, 2_000, 4_000, 8_000, 16_000]);
    for seed in 1..=RUNS {
        let points = simulate_curve(seed, given.clone(), 0.0, capacity);
        assert_ne!(points[2].class(), PointClass::Overloaded, "{points:?}");
        let summary = summarize(&points);
        assert_eq!(summary.state, CurveState::Found, "{points:?}");
        assert!(summary.saturation >= Some(9_000.0), "{summary:?}");
    }
}

/// A stopped run has no complete result, so neither its backlog nor its end is used.
#[test]
fn stopped_runs_are_ignored() {
    let given = curve(Some(vec![1_000, 20_000]));
    let planned = rates::planned(&given, 0.0).unwrap();
    let mut random = Random::new(1);
    let sound = measured(&mut random, 0, 1_000.0, |_, _, _| 5_000.0);
    let mut stopped = measured(&mut random, 1, 20_000.0, |_, _, _| 5_000.0);
    assert_eq!(stopped.class(), PointClass::Overloaded);
    stopped.is_missing = true;
    let summary = summarize(&[sound.clone(), stopped.clone()]);
    assert_eq!(summary.state, CurveState::NotReached);
    assert_eq!(rates::next(&given, &planned, &[sound, stopped]), None);
}
